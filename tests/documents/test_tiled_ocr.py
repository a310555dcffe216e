"""A large picture whose small print OCR misses is read in tiles: each word once and whole, each line in one piece."""

import random
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.boxes import hull
from quoteweave.documents.layout import page as layout_page
from quoteweave.documents.layout.unread import tiles
from quoteweave.documents.layout.unread.letters import count_missed
from quoteweave.documents.layout.unread.tiles import OVERLAP, TILE, read_large
from quoteweave.documents.sources.image_files import open_image_file
from quoteweave.documents.sources.lines import Line, Word
from quoteweave.documents.sources.ocr import RapidOcr
from quoteweave.documents.sources.raw_page import Raster, RawPage

SCALE = 2.0
Rectangle = tuple[int, int, int, int]


class ShapesAsWords:
    """Reads each rectangle as a word of its grey value, those at one height as a line; nothing of a large picture."""

    def read(self, picture: Raster) -> list[Line]:
        grey = picture.pixels[:, :, 0]
        if max(grey.shape) > TILE:
            return []
        rows: dict[int, list[Word]] = {}
        for x, y, width, height, _ in cv2.connectedComponentsWithStats((grey < 255).astype(np.uint8))[2][1:].tolist():
            box = (x / SCALE, y / SCALE, (x + width) / SCALE, (y + height) / SCALE)
            rows.setdefault(y, []).append(Word(str(grey[y + height // 2, x + width // 2]), box))
        return [line_of(sorted(words, key=lambda word: word.box)) for words in rows.values()]


def line_of(words: Sequence[Word]) -> Line:
    box = hull(word.box for word in words)
    return Line(tuple(words), box, box[3] - box[1], box[3])


def picture_of(rectangles: Sequence[Rectangle], size: tuple[int, int]) -> Raster:
    """White, with a rectangle of the grey value n for the nth."""
    pixels = np.full((size[1], size[0], 3), 255, dtype=np.uint8)
    for value, (x1, y1, x2, y2) in enumerate(rectangles):
        pixels[y1:y2, x1:x2] = value
    return Raster(pixels, SCALE)


@pytest.mark.parametrize("size", [(900, 5000), (5000, 900), (2500, 2100), (1120, 2040)])
def test_each_word_is_read_once_and_whole_and_lines_go_on_over_tiles(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiles, "count_missed", lambda *_: 500)
    chance, step = random.Random(7), TILE - OVERLAP
    tops = sorted({5, step - 10, step + OVERLAP - 8, *chance.sample(range(40, size[1] - 40, 45), 5)})
    tops = [top for top, before in zip(tops, [-99, *tops], strict=False) if top - before > 30 and top < size[1] - 25]
    rectangles = list[Rectangle]()
    for top in tops:
        left = chance.randrange(5, 60)
        while left + 150 < size[0] and len(rectangles) < 250:
            width = chance.randrange(40, 150)
            rectangles.append((left, top, left + width, top + 20))
            left += width + 10
    lines = read_large(picture_of(rectangles, size), ShapesAsWords())
    boxes = {word.text: word.box for line in lines for word in line.words}
    assert sum(len(line.words) for line in lines) == len(boxes)
    assert boxes == {
        str(value): tuple(edge / SCALE for edge in rectangle) for value, rectangle in enumerate(rectangles)
    }
    rows = {top: [x / SCALE for x, y, *_ in rectangles if y == top] for _, top, *_ in rectangles}
    assert sorted([word.box[0] for word in line.words] for line in lines) == sorted(rows.values())


def test_a_picture_of_which_ocr_misses_nothing_is_read_once() -> None:
    class Counting(ShapesAsWords):
        times = 0

        def read(self, picture: Raster) -> list[Line]:
            self.times += 1
            return super().read(picture)

    ocr = Counting()
    assert read_large(picture_of([(10, 10, 60, 30)], (900, 5000)), ocr) == []
    assert ocr.times == 1


def test_the_picture_of_a_whole_web_page_is_read(tmp_path: Path) -> None:
    texts = [f"Berth {number} was let to the Halden line for {number + 30} weeks." for number in range(1, 9)]
    page = Image.new("RGB", (800, 4600), "white")
    for number, text in enumerate(texts):
        ImageDraw.Draw(page).text((40, 100 + 560 * number), text, fill="black", font=ImageFont.load_default(17))
    page.save(tmp_path / "page.png")
    with open_image_file(tmp_path / "page.png") as frames:
        drawn = frames.draw(0)
    ocr = RapidOcr()
    assert count_missed(drawn, ocr.read(drawn)) > 200
    lines = read_large(drawn, ocr)
    assert [line.text for line in lines] == texts
    assert count_missed(drawn, lines) == 0


@pytest.mark.parametrize("in_tiles", [True, False])
def test_small_print_that_a_limit_leaves_unread_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, in_tiles: bool
) -> None:
    for module in (layout_page, tiles):
        monkeypatch.setattr(module, "count_missed", lambda _, lines, *__: 0 if lines else 500)
    reader = layout_page.PageReader(ImageStore(tmp_path), ShapesAsWords(), in_tiles=in_tiles)
    large, small = (
        reader.read(RawPage(page, picture_of([(10, 10, 60, 30)], (900, height)), []))
        for page, height in enumerate((5000, tiles.MAX_WHOLE))
    )
    assert (f"page 1 {layout_page.WITHOUT_TILES}" in large.warnings) is not in_tiles
    # It is read as a whole in any case.
    assert f"page 2 {layout_page.UNREAD}: 500" in small.warnings
    assert f"page 2 {layout_page.WITHOUT_TILES}" not in small.warnings
