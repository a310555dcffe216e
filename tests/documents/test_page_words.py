"""The words of pages: in reading order, line by line, each in a box that holds its ink."""

import itertools
import re
from pathlib import Path

import numpy as np
import pypdfium2
import pytest
from made_files import PROSE, half_broken_pdf, one_page_pdf, pdf, renaming_pdf
from made_pages import canvas, ink_words, line, picture, prose, scatter
from PIL import Image, ImageDraw

from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.boxes import share_in
from quoteweave.core.records import PageWord, ParsedDocument
from quoteweave.documents.layout.page import PageReader
from quoteweave.documents.parser import DocumentParser, ParserSettings
from quoteweave.documents.sources.lines import Line
from quoteweave.documents.sources.raw_page import Raster, RawPage
from quoteweave.documents.sources.rendering import render_page

SAMPLES = Path(__file__).parents[2] / "quoteweave" / "samples" / "pdf"
PLAIN = "/MediaBox [0 0 612 792]"


def parsed(path: Path, *, ocr: bool = False) -> ParsedDocument:
    return DocumentParser(ImageStore(path.parent / "images"), ParserSettings(ocr=ocr)).parse(path)


def words_of(path: Path, *, ocr: bool = False) -> tuple[PageWord, ...]:
    """Those of the first page."""
    return parsed(path, ocr=ocr).page_words[0].words


def lines_of(words: tuple[PageWord, ...]) -> list[str]:
    numbers = dict.fromkeys(word.line for word in words)
    return [" ".join(word.text for word in words if word.line == number) for number in numbers]


def drawn(path: Path) -> Raster:
    document = pypdfium2.PdfDocument(path)
    try:
        return render_page(document[0], 144)
    finally:
        document.close()


def dark(pixels: np.ndarray) -> int:
    return int((pixels.min(axis=2) < 128).sum())


UPRIGHT = "BT /F1 20 Tf 100 600 Td (words of a page) Tj ET"
UPWARD = "BT /F1 20 Tf 0 1 -1 0 200 400 Tm (words of a page) Tj ET"
SLANTED = "BT /F1 20 Tf 0.707 0.707 -0.707 0.707 200 400 Tm (words of a page) Tj ET"


@pytest.mark.parametrize("content", [UPRIGHT, UPWARD, SLANTED], ids=["plain", "up", "slanted"])
@pytest.mark.parametrize("turn", [0, 90, 180, 270])
@pytest.mark.parametrize("crop", ["", " /CropBox [50 100 450 700]"])
def test_each_words_ink_lies_in_its_box_on_the_page_as_shown(
    tmp_path: Path, crop: str, turn: int, content: str
) -> None:
    path = one_page_pdf(tmp_path / "a.pdf", content, page=f"{PLAIN}{crop} /Rotate {turn}")
    words, page = words_of(path), drawn(path)
    assert [word.text for word in words] == ["words", "of", "a", "page"]
    inks = [dark(page.cut(word.bbox, margin=1.0)) for word in words]
    assert all(inks)
    # Boxes of slanted words hold parts of their neighbours.
    assert sum(inks) == dark(page.pixels) or content == SLANTED
    height, width = (side / page.scale for side in page.pixels.shape[:2])
    for word in words:
        assert 0 <= word.bbox[0] < word.bbox[2] <= width
        assert 0 <= word.bbox[1] < word.bbox[3] <= height


def test_columns_are_read_one_after_the_other_line_by_line(tmp_path: Path) -> None:
    rows = [
        (72, "the harbour was dredged again in spring"),
        (330, "and the cranes were moved to the quay"),
    ]
    content = "".join(
        f"BT /F1 11 Tf {x} {700 - 14 * row} Td ({text} {row}) Tj ET " for row in range(5) for x, text in rows
    )
    words = words_of(one_page_pdf(tmp_path / "a.pdf", content))
    assert lines_of(words) == [f"{text} {row}" for _, text in rows for row in range(5)]
    assert [word.line for word in words] == sorted(word.line for word in words)
    assert {word.line for word in words} == set(range(10))
    for number in range(10):
        tops = {word.bbox[1] for word in words if word.line == number}
        assert len(tops) == 1  # from ascenders to descenders, so that a line is highlighted evenly


def test_a_hyphenated_word_stands_in_two_lines_though_its_quote_has_it_whole(tmp_path: Path) -> None:
    content = "BT /F1 11 Tf 72 700 Td (the cranes of the har-) Tj 0 -14 Td (bour were moved to the quay) Tj ET"
    found = parsed(one_page_pdf(tmp_path / "a.pdf", content))
    assert [quote.text for quote in found.quotes] == ["the cranes of the harbour were moved to the quay"]
    assert lines_of(found.page_words[0].words) == ["the cranes of the har-", "bour were moved to the quay"]


def test_ligatures_are_letters_as_in_quotes(tmp_path: Path) -> None:
    path = renaming_pdf(tmp_path / "a.pdf", "BT /F1 20 Tf 100 600 Td (AB) Tj ET", {"A": "fb01", "B": "006e"})
    assert [word.text for word in words_of(path)] == ["fin"]


@pytest.mark.parametrize("name", ["harbour-report.pdf", "two-column-paper.pdf", "visitor-guide.pdf"])
def test_the_words_within_a_quote_are_its_text_in_order(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes((SAMPLES / name).read_bytes())
    found = parsed(path)
    assert [page.page for page in found.page_words] == [page.number for page in found.pages]
    said = [_letters(" ".join(word.text for word in page.words)) for page in found.page_words]
    for quote in (quote for quote in found.quotes if quote.kind == "text"):
        # The rest of a word that is hyphenated at the end of a column stands where the next begins.
        assert _letters(quote.text)[:-12] in said[quote.page]
        within = [word for word in found.page_words[quote.page].words if share_in(word.bbox, quote.bbox) > 0.5]
        assert _letters(quote.text)[:12] in _letters("".join(word.text for word in within))


def _letters(text: str) -> str:
    return re.sub(r"[\s-]+", "", text)


def test_a_scan_has_the_words_that_ocr_read_in_boxes_on_their_ink(tmp_path: Path) -> None:
    image = Image.fromarray(canvas((300, 100)))
    for row, text in enumerate(("Depth of the pool", "Station D")):
        ImageDraw.Draw(image).text((40, 30 + 90 * row), text, fill="black", font_size=28)
    path = tmp_path / "a.png"
    image.save(path, dpi=(144, 144))
    words = words_of(path, ocr=True)
    assert lines_of(words) == ["Depth of the pool", "Station D"]
    assert all(word.ocr for word in words)
    pixels = picture(np.asarray(image))
    assert all(dark(pixels.cut(word.bbox)) for word in words)
    assert all(a.bbox[2] <= b.bbox[0] + 4 for a, b in itertools.pairwise(words[:4]))


class CropOcr:
    """Reads two words at the top left of every picture."""

    def read(self, picture: Raster) -> list[Line]:
        return [line("drawn title", 5, 3)]


def test_what_ocr_reads_on_a_picture_follows_that_picture_and_is_placed_on_the_page(tmp_path: Path) -> None:
    above, below = prose(50, 100), prose(50, 600)
    pixels = canvas()
    scatter(pixels, (50, 300, 250, 400))
    ink_words(pixels, [*above, *below])
    image = Image.fromarray(pixels)
    ImageDraw.Draw(image).rectangle((230, 670, 480, 720), fill="white")
    ImageDraw.Draw(image).text((240, 680), "Depth of the pool", fill=(20, 20, 20), font_size=24)
    reader = PageReader(ImageStore(tmp_path / "images"), CropOcr())
    page = reader.read(RawPage(0, picture(np.asarray(image).copy()), lines=[*above, *below]))
    figure = page.elements[1]
    assert (figure.found_as, figure.ocr_text) == ("figure", "drawn title")
    assert page.words is not None
    words = page.words.words
    (first, second) = (word for word in words if word.ocr)
    assert (first.text, second.text, first.line) == ("drawn", "title", second.line)
    assert first.bbox[:2] == pytest.approx((figure.box[0] - 2 + 5, figure.box[1] - 2 + 3), abs=0.1)
    assert lines_of(words) == [*(row.text for row in above), "drawn title", *(row.text for row in below)]


def test_words_of_a_page_that_cannot_be_read_are_none_and_files_without_pages_have_no_words(tmp_path: Path) -> None:
    found = parsed(half_broken_pdf(tmp_path / "a.pdf"))
    assert [(page.page, len(page.words)) for page in found.page_words] == [(0, 0), (1, 6)]
    for name, text in (("a.md", "# One\n\nTwo."), ("a.html", "<p>One"), ("a.txt", "One.")):
        (tmp_path / name).write_text(text)
        assert parsed(tmp_path / name).page_words == ()


def test_every_word_of_a_text_layer_is_kept_once(tmp_path: Path) -> None:
    words = words_of(pdf(tmp_path / "a.pdf", [4 * PROSE]))
    assert [word.text for word in words] == (4 * PROSE).split()
    assert not any(word.ocr for word in words)
