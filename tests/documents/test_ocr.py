"""OCR of pictures, with the models that come with RapidOCR."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from made_pages import canvas, line
from PIL import Image, ImageDraw

from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.boxes import share_in
from quoteweave.core.errors import UsageError
from quoteweave.documents.layout.page import PageReader
from quoteweave.documents.sources import ocr
from quoteweave.documents.sources.ocr import RapidOcr
from quoteweave.documents.sources.raw_page import Raster, RawPage


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
    assert share_in((22, 20, 100, 26), first.box) == 1
    assert first.box[3] < second.box[1]
    assert first.size == pytest.approx(14, rel=0.35)
    assert first.upright


def test_a_columns_gap_parts_lines() -> None:
    assert [line.text for line in RapidOcr().read(written(("left", 10, 40), ("right", 220, 40)))] == ["left", "right"]


def test_nothing_is_read_where_nothing_is_written() -> None:
    assert RapidOcr().read(Raster(canvas((50, 50)), 2.0)) == []
    assert RapidOcr().read(Raster(np.zeros((3, 200, 3), dtype=np.uint8), 2.0)) == []


def test_a_sentence_that_the_text_layer_of_a_page_lacks_is_read(images: ImageStore) -> None:
    lines = ("Ninety ships called here in March.", "The Petronella carried 4,310 barrels.")
    shown = written(*((text, 20, y) for text, y in zip(lines, (15, 60), strict=True)))
    layer = [line(lines[0], 20, 15, size=14)]
    text, figure = PageReader(images, RapidOcr()).read(RawPage(0, shown, lines=layer)).elements
    assert (text.text, figure.text, figure.ocr_text) == (lines[0], "", lines[1])


def test_an_unknown_language_is_refused_with_a_way_out() -> None:
    with pytest.raises(UsageError, match=r"'klingon'.*ocr_language ch"):
        RapidOcr("klingon").read(written(("Depth", 20, 20)))


def reading(text: str, quad: list[list[float]], words: list[Any]) -> Any:
    """What RapidOCR gives for a picture with one line; `quad` has its corners in pixels."""
    return SimpleNamespace(txts=[text], scores=[1.0], boxes=np.array([quad]), word_results=[words])


def has_engine_give(monkeypatch: pytest.MonkeyPatch, read: Callable[[], Any]) -> None:
    import rapidocr

    monkeypatch.setattr(rapidocr.RapidOCR, "__call__", lambda *_, **__: read())


def unread(size: int = 50) -> Raster:
    """A picture that no other test has read."""
    return Raster(np.random.default_rng().integers(0, 255, (size, 50, 3), dtype=np.uint8), 1.0)


def test_characters_of_unspaced_scripts_are_put_together_as_the_text_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def corners(left: float, right: float) -> list[list[float]]:
        return [[left, 0], [right, 0], [right, 10], [left, 10]]

    characters = [(c, 1.0, corners(10 * i, 10 * i + 9)) for i, c in enumerate("港口水深ab")]
    has_engine_give(monkeypatch, lambda: reading("港口 水深ab", corners(0, 59), characters))
    (line,) = RapidOcr().read(unread())
    assert [word.text for word in line.words] == ["港口", "水深ab"]
    assert line.words[1].box == (20, 0, 59, 10)


def test_a_line_whose_words_have_no_boxes_is_parted_by_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    has_engine_give(monkeypatch, lambda: reading("Depth 290 cm", [[0, 0], [240, 0], [240, 40], [0, 40]], []))
    (across,) = RapidOcr().read(Raster(unread().pixels, 2.0))
    assert [(word.text, word.box) for word in across.words] == [
        ("Depth", (0, 0, 50, 20)),
        ("290", (60, 0, 90, 20)),
        ("cm", (100, 0, 120, 20)),
    ]
    has_engine_give(monkeypatch, lambda: reading("left side", [[0, 0], [40, 0], [40, 180], [0, 180]], []))
    down = [word for line in RapidOcr().read(unread()) for word in line.words]
    assert [word.box for word in down] == [(0, 0, 40, 80), (0, 100, 40, 180)]


@pytest.fixture
def engine_calls(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What the engine was asked to read so far."""
    import rapidocr

    calls: list[object] = []
    call: Any = rapidocr.RapidOCR.__call__

    def counted(self: object, pixels: object, **named: Any) -> Any:
        calls.append(pixels)
        return call(self, pixels, **named)

    monkeypatch.setattr(rapidocr.RapidOCR, "__call__", counted)
    return calls


def test_a_picture_that_is_repeated_is_read_once(engine_calls: list[object]) -> None:
    picture = written(("Depth 291 cm", 20, 15))
    first = RapidOcr().read(picture)
    again = RapidOcr().read(Raster(picture.pixels.copy(), picture.scale))
    assert (again, len(engine_calls)) == (first, 1)
    (larger,) = RapidOcr().read(Raster(picture.pixels, picture.scale / 2))
    assert (larger.box[0], len(engine_calls)) == (2 * first[0].box[0], 2)


def test_no_more_pictures_are_remembered_than_a_process_has_room_for(
    monkeypatch: pytest.MonkeyPatch, engine_calls: list[object]
) -> None:
    monkeypatch.setattr(ocr, "MAX_CACHED", 2)
    first, second, third = (unread(size) for size in (40, 50, 60))
    for picture in (first, second, third, third, second):
        RapidOcr().read(picture)
    assert len(engine_calls) == 3
    RapidOcr().read(first)
    assert len(engine_calls) == 4


def test_a_picture_read_while_another_is_being_read_leaves_no_more_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "MAX_CACHED", 1)
    pictures, calls = [unread() for _ in range(3)], list[int]()

    def meanwhile() -> Any:
        calls.append(len(calls))
        if len(calls) < len(pictures):  # another is read before this one is done, as another thread would
            assert RapidOcr().read(pictures[len(calls)]) == []
        return SimpleNamespace(txts=None)

    has_engine_give(monkeypatch, meanwhile)
    for picture in (pictures[0], pictures[0]):  # it was done last, and is the one that is remembered
        assert RapidOcr().read(picture) == []
    assert len(calls) == 3
    for picture in pictures[1:]:
        RapidOcr().read(picture)
    assert len(calls) == 5


@pytest.mark.parametrize("sure", [True, False])
def test_a_short_line_that_is_read_unsurely_is_read_again_with_more_room(
    monkeypatch: pytest.MonkeyPatch, *, sure: bool
) -> None:
    from rapidocr.ch_ppocr_rec import TextRecognizer

    widths: list[tuple[int, int]] = []
    recognise: Callable[..., Any] = TextRecognizer.__call__

    def doubting(recognizer: Any, lines: Any) -> Any:
        found = recognise(recognizer, lines)
        width = recognizer.rec_image_shape[2]
        widths.append((width, len(lines.img)))
        # This engine reads another text in narrow pictures, and reports low confidence for one of two lines.
        found.txts = tuple(text if width > 80 or sure else f"{text} in doubt" for text in found.txts)
        found.scores = tuple(
            0.94 if width == 80 and not sure and text.startswith("Depth") else 0.99 for text in found.txts
        )
        return found

    monkeypatch.setattr(TextRecognizer, "__call__", doubting)
    depth = f"Depth {290 + sure}"  # another picture each time, as what was read is remembered
    lines = RapidOcr().read(written((depth, 20, 15), ("Site", 20, 60)))
    assert widths == ([(80, 2)] if sure else [(80, 2), (320, 1)])
    assert [line.text for line in lines] == [depth, "Site" if sure else "Site in doubt"]
