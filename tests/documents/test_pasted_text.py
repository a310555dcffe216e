"""PDFs that show text as pictures beside their text layer: headings, handwriting, words on a coloured ground."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.records import ParsedDocument
from quoteweave.documents.layout.page import DRAWN, UNREAD
from quoteweave.documents.parser import DocumentParser, ParserSettings

BODY = (
    "The council met in March. It was about the repair of the northern quay.",
    "All members agreed that this should be done before the storms of autumn.",
)


def pasted(path: Path, *pages: Image.Image) -> Path:
    """A PDF of pages of 500 by 400 points with the lines of BODY, and a picture of two pixels a point below them."""
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(path), pagesize=(500, 400))
    for shown in pages:
        for row, text in enumerate(BODY):
            canvas.drawString(40, 360 - 14 * row, text)
        canvas.drawInlineImage(shown, 40, 20, shown.width / 2, shown.height / 2)
        canvas.showPage()
    canvas.save()
    return path


def picture(rows: Sequence[str], *, size: int = 24, ground: str = "white") -> Image.Image:
    shown = Image.new("RGB", (840, 300), ground)
    for row, text in enumerate(rows):
        ImageDraw.Draw(shown).text(
            (20, 20 + int(1.6 * size * row)), text, fill="black", font=ImageFont.load_default(size)
        )
    return shown


def handwriting() -> Image.Image:
    """Strokes as high as letters, in rows, that are no letters."""
    chance, shown = random.Random(4), Image.new("RGB", (840, 300), "white")
    for left in range(30, 800, 24):
        for top in (60, 130, 200):
            points = [(left + chance.uniform(0, 18), top + chance.uniform(-18, 18)) for _ in range(4)]
            ImageDraw.Draw(shown).line(points, fill=(20, 20, 90), width=3)
    return shown


def parsed(path: Path, *, ocr: bool) -> ParsedDocument:
    return DocumentParser(ImageStore(path.parent / "images"), ParserSettings(ocr=ocr)).parse(path)


def test_a_heading_whose_words_the_text_has_in_their_order_is_read(tmp_path: Path) -> None:
    document = parsed(pasted(tmp_path / "heading.pdf", picture(["Repair of the northern quay"])), ocr=True)
    assert document.warnings == ()
    assert [quote.ocr_text for quote in document.quotes if quote.kind == "image"] == ["Repair of the northern quay"]


def test_handwriting_beside_the_text_is_a_figure_and_told(tmp_path: Path) -> None:
    document = parsed(pasted(tmp_path / "note.pdf", handwriting()), ocr=True)
    assert [quote.layout for quote in document.quotes if quote.kind == "image"] == ["figure"]
    assert [warning.partition(": ")[0] for warning in document.warnings] == [f"page 1 {UNREAD}"]


WITH_WORDS = picture(["Herring was sold for silver"], ground="lightblue")


@pytest.mark.parametrize(
    ("pages", "told"),
    [
        ([WITH_WORDS], f"page 1 {DRAWN}: 1"),
        ([WITH_WORDS] * 2, f"page 1 {DRAWN}: 1; so does page 2: 1"),
        ([WITH_WORDS] * 3, f"page 1 {DRAWN}: 1; so do pages 2, 3: 2"),
        ([Image.effect_noise((840, 300), 60).convert("RGB")], None),
        ([picture([], ground="lightblue")], None),
    ],
)
def test_without_ocr_pictures_of_words_are_told_once(
    tmp_path: Path, pages: list[Image.Image], told: str | None
) -> None:
    document = parsed(pasted(tmp_path / "pictures.pdf", *pages), ocr=False)
    assert document.warnings == (() if told is None else (told,))
    assert sum(quote.layout == "figure" for quote in document.quotes) == len(pages)


def test_with_ocr_pictures_of_words_are_read_and_not_told(tmp_path: Path) -> None:
    document = parsed(pasted(tmp_path / "pictures.pdf", WITH_WORDS), ocr=True)
    assert document.warnings == ()
    assert [quote.ocr_text for quote in document.quotes if quote.kind == "image"] == ["Herring was sold for silver"]


@pytest.mark.parametrize(("rows", "told"), [(["Herring was sold for silver"], 1), ([], 0)])
def test_pictures_of_words_in_a_text_file_are_told_without_ocr(rows: Sequence[str], told: int, tmp_path: Path) -> None:
    picture(rows).save(tmp_path / "sign.png")
    path = tmp_path / "notes.md"
    path.write_text("# Harbour\n\nThe sign at the quay:\n\n![The sign](sign.png)\n", "utf-8")
    assert len(parsed(path, ocr=False).warnings) == told
    assert parsed(path, ocr=True).warnings == ()
