"""Letters that a PDF's fonts do not identify: read by OCR or reported, and left alone if they read as text."""

from pathlib import Path

from made_files import HELVETICA, PROSE, page_pdf, stream
from made_pages import line

from quoteweave.collection.stores.content import ImageStore
from quoteweave.documents.layout.page import PageContent, PageReader
from quoteweave.documents.sources.lines import Line
from quoteweave.documents.sources.pdf import open_pdf
from quoteweave.documents.sources.raw_page import Raster

GARBLED = "page 1 has a text layer that looks garbled, and was kept as it is"
AS_OTHERS = "page 1 has letters that its fonts do not identify, which may be read as others: {}"
TEXT = PROSE.strip()
HEADING = "Harbour dues in spring"


class Reader:
    """OCR that reads the prose of the page."""

    def read(self, _picture: Raster) -> list[Line]:
        return [line(TEXT, 72, 72)]


def shifted(text: str) -> str:
    """The text by the numbers of its letters in a font that begins elsewhere than ASCII, as subsets do."""
    return "".join(chr(ord(letter) - 29) for letter in text)


def first_page(path: Path, unnamed: str, named: str = "", *, names: str = "", ocr: bool = False) -> PageContent:
    """A page with text in Helvetica below text in a font that names its letters /g33, /g34 and so on."""
    codes, blanks = range(1, 127), (ord(" ") - 29, ord(" "))
    letters = " ".join(f"/g{code} {7 + (code in blanks)} 0 R" for code in codes)
    differences = " ".join(f"/g{code}" for code in codes)
    font = (
        "<</Type /Font /Subtype /Type3 /FontBBox [0 0 500 700] /FontMatrix [.001 0 0 .001 0 0] /FirstChar 1 "
        f"/LastChar 126 /Widths [{'600 ' * len(codes)}] /Encoding <</Differences [1 {differences}]>> "
        f"/CharProcs <<{letters}>> {'/ToUnicode 9 0 R' if names else ''}>>"
    )
    written = f"BT /F2 9 Tf 72 700 Td {unnamed} ET BT /F1 9 Tf 72 500 Td ({named}) Tj ET"
    drawn = ("600 0 0 0 500 700 d1 0 0 500 700 re f", "600 0 0 0 0 0 d1", names)
    wide, fonts = "/MediaBox [0 0 3000 792]", "/Font <</F1 5 0 R /F2 6 0 R>>"
    page_pdf(path, written, HELVETICA, font, *map(stream, drawn), page=wide, resources=fonts)
    with open_pdf(path, None) as pages:
        return PageReader(ImageStore(path.parent / "images"), Reader() if ocr else None).read(pages.read(0))


def drawn(text: str) -> str:
    return f"<{text.encode().hex()}> Tj"


def test_a_page_of_letters_without_names_is_read_by_ocr(tmp_path: Path) -> None:
    for text in (TEXT, HEADING, "1984 2001 2350 4410"):
        content = first_page(tmp_path / "a.pdf", drawn(shifted(text)), ocr=True)
        assert (content.source, content.elements[0].text, content.warnings) == ("ocr", TEXT, ())


def test_a_page_of_letters_without_names_is_told_without_ocr(tmp_path: Path) -> None:
    for text in (TEXT, HEADING, "1984 2001 2350 4410"):
        assert first_page(tmp_path / "a.pdf", drawn(shifted(text))).warnings == (GARBLED,)


def test_letters_without_names_that_read_as_text_are_read(tmp_path: Path) -> None:
    content = first_page(tmp_path / "a.pdf", drawn(TEXT), ocr=True)
    assert (content.source, content.elements[0].text, content.warnings) == ("text_layer", TEXT, ())


def test_a_heading_without_names_is_told(tmp_path: Path) -> None:
    content = first_page(tmp_path / "a.pdf", drawn(shifted(HEADING)), TEXT)
    assert content.warnings == (AS_OTHERS.format(len("".join(HEADING.split()))),)


def test_a_heading_in_characters_of_private_use_is_told(tmp_path: Path) -> None:
    codes = "\n".join(f"<{code:02x}> <{0xF000 + code:04x}>" for code in range(33, 123))
    names = f"begincmap\n1 begincodespacerange <00> <ff> endcodespacerange\n90 beginbfchar\n{codes}\nendbfchar\nendcmap"
    content = first_page(tmp_path / "a.pdf", drawn(HEADING), TEXT, names=names)
    assert content.warnings == (AS_OTHERS.format(len("".join(HEADING.split()))),)


def test_bullets_without_names_are_no_letters(tmp_path: Path) -> None:
    bullets = " 0 -20 Td ".join([drawn("n")] * 9)
    assert first_page(tmp_path / "a.pdf", bullets, TEXT).warnings == ()
