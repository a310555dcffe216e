"""Text read off pictures, with the models that come with RapidOCR."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from made_pages import canvas
from PIL import Image, ImageDraw

from quoteweave.core.boxes import inside
from quoteweave.core.errors import UsageError
from quoteweave.documents.sources import ocr as module
from quoteweave.documents.sources.lines import Line, Word
from quoteweave.documents.sources.ocr import RapidOcr
from quoteweave.documents.sources.raw_page import Raster


def written(*texts: tuple[str, float, float]) -> Raster:
    """Text of 14 points on a small page at 144 dpi, each by its top left in points."""
    image = Image.fromarray(canvas((300, 100)))
    draw = ImageDraw.Draw(image)
    for text, x, y in texts:
        draw.text((2 * x, 2 * y), text, fill="black", font_size=28)
    return Raster(np.asarray(image), 2.0)


def test_lines_come_with_words_boxes_in_points_and_a_size() -> None:
    first, second = RapidOcr().read(written(("Depth 290 cm", 20, 15), ("Station D", 20, 60)))
    assert (first.text, second.text) == ("Depth 290 cm", "Station D")
    assert [word.text for word in first.words] == ["Depth", "290", "cm"]
    assert inside((22, 20, 100, 26), first.box) == 1
    assert first.box[3] < second.box[1]
    assert first.size == pytest.approx(14, rel=0.35)
    assert first.upright


def test_a_columns_gap_parts_lines() -> None:
    assert [line.text for line in RapidOcr().read(written(("left", 10, 40), ("right", 220, 40)))] == ["left", "right"]


def test_nothing_is_read_where_nothing_is_written() -> None:
    assert RapidOcr().read(Raster(canvas((50, 50)), 2.0)) == []
    assert RapidOcr().read(Raster(np.zeros((3, 200, 3), dtype=np.uint8), 2.0)) == []


def test_an_unknown_language_is_refused_with_a_way_out() -> None:
    with pytest.raises(UsageError, match=r"'klingon'.*--ocr-language ch"):
        RapidOcr("klingon").read(written(("Depth", 20, 20)))


def test_characters_of_unspaced_scripts_are_put_together_as_the_text_has_them() -> None:
    characters = [Word(c, (10.0 * i, 0, 10.0 * i + 9, 10)) for i, c in enumerate("港口水深ab")]
    joined = module._join_unspaced("港口 水深ab", characters)
    assert [word.text for word in joined] == ["港口", "水深ab"]
    assert joined[1].box == (20, 0, 59, 10)


def test_a_line_whose_words_have_no_boxes_is_parted_by_letters() -> None:
    across = module._run("Depth 290 cm", [[0, 0], [240, 0], [240, 40], [0, 40]], [], 2.0)
    assert across is not None
    assert [(word.text, word.box) for word in across.words] == [
        ("Depth", (0, 0, 50, 20)),
        ("290", (60, 0, 90, 20)),
        ("cm", (100, 0, 120, 20)),
    ]
    down = module._run("left side", [[0, 0], [40, 0], [40, 180], [0, 180]], [], 1.0)
    assert down is not None
    assert [word.box for word in down.words] == [(0, 0, 40, 80), (0, 100, 40, 180)]


def test_a_picture_that_is_repeated_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, asked = module._engine("ch"), list[str]()

    def counted(language: str) -> Callable[..., Any]:
        asked.append(language)
        return engine

    monkeypatch.setattr(module, "_engine", counted)
    monkeypatch.setattr(module, "_remembered", {})
    picture = written(("Depth 290 cm", 20, 15))
    first = RapidOcr().read(picture)
    again = RapidOcr().read(Raster(picture.pixels.copy(), picture.scale))
    assert (again, len(asked)) == (first, 1)
    (larger,) = RapidOcr().read(Raster(picture.pixels, picture.scale / 2))
    assert (larger.box[0], len(asked)) == (2 * first[0].box[0], 2)


def test_no_more_pictures_are_remembered_than_a_process_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_remembered", {})
    monkeypatch.setattr(module, "MAX_REMEMBERED", 2)
    for size in (40, 50, 60):
        RapidOcr().read(Raster(canvas((size, 50)), 2.0))
    assert len(module._remembered) == 2


def test_a_picture_read_while_another_is_being_read_leaves_no_more_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_remembered", {})
    monkeypatch.setattr(module, "MAX_REMEMBERED", 1)

    def meanwhile(self: RapidOcr, picture: Raster) -> list[Line]:
        if picture.scale < 3:  # another is read before this one is done, as another thread would
            self.read(Raster(picture.pixels, picture.scale + 1))
        return []

    monkeypatch.setattr(RapidOcr, "_read", meanwhile)
    for size in (40, 50):
        assert RapidOcr().read(Raster(canvas((size, 50)), 1.0)) == []
    assert len(module._remembered) == 1
