"""PDF files: opened, counted, read and drawn page by page through pdfium. No other code opens a PDF."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quoteweave.core.errors import DamagedDocument, EncryptedDocument
from quoteweave.documents.bookmarks import read_bookmarks
from quoteweave.documents.pdf_page import MAX_CHARACTERS, count_undecoded, draw, read_text_layer
from quoteweave.documents.raw_page import Picture, RawPage

DPI = 144.0
# Notes of one page that are looked at.
MOST_NOTES = 1000


@dataclass(frozen=True, slots=True)
class PdfPages:
    """The pages of an open PDF. pdfium raises RuntimeError for one that cannot be loaded."""

    document: Any  # pypdfium2.PdfDocument

    @property
    def count(self) -> int:
        """As the file says, whether it holds them or not."""
        return len(self.document)

    def read(self, number: int) -> RawPage:
        """A page with its text layer, drawn."""
        page = self.document[number]
        try:
            layer = read_text_layer(page)
            drawn = draw(page, DPI)
            unread = (*_left_out(number, layer.left_out), *_undecoded(number, page, drawn), *self._notes(number, page))
            bookmarks, dropped = read_bookmarks(self.document) if number == 0 else ((), ())
            label = self.document.get_page_label(number).strip() or None
            return RawPage(number, drawn, layer.lines, label, (*unread, *dropped), bookmarks)
        finally:
            page.close()

    def _notes(self, number: int, page: Any) -> tuple[str, ...]:
        """What holds text beside the page's own and is not read: notes, filled form fields, and attached files."""
        import pypdfium2.raw as pdfium

        files = pdfium.FPDFDoc_GetAttachmentCount(self.document.raw) if number == 0 else 0
        notes = sum(_holds_text(page.raw, i) for i in range(min(pdfium.FPDFPage_GetAnnotCount(page.raw), MOST_NOTES)))
        said = []
        if files > 0:
            said.append(f"files attached to it were not read: {files}")
        if notes:
            said.append(f"page {number + 1} has notes or filled form fields, whose text was not read: {notes}")
        return tuple(said)

    def draw(self, number: int) -> Picture:
        """A page as it is shown."""
        return draw(self.document[number], DPI)


def _holds_text(page: Any, number: int) -> bool:
    """Whether an annotation says something in words; those of links only describe them."""
    import pypdfium2.raw as pdfium

    annotation = pdfium.FPDFPage_GetAnnot(page, number)
    try:
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        if kind in (pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP):
            return False
        key = b"V" if kind == pdfium.FPDF_ANNOT_WIDGET else b"Contents"
        # Two bytes a character, and two for the end.
        return bool(pdfium.FPDFAnnot_GetStringValue(annotation, key, None, 0) > 2)
    finally:
        pdfium.FPDFPage_CloseAnnot(annotation)


def _left_out(number: int, characters: int) -> tuple[str, ...]:
    if not characters:
        return ()
    return (f"page {number + 1} has more than {MAX_CHARACTERS:,} characters; the other {characters:,} were left out",)


def _undecoded(number: int, page: Any, drawn: Picture) -> tuple[str, ...]:
    count = count_undecoded(page, drawn)
    return (f"page {number + 1} has images that are damaged, or in a form that is not read: {count}",) if count else ()


@contextmanager
def open_pdf(path: Path, password: str | None) -> Iterator[PdfPages]:
    """Raises EncryptedDocument, and DamagedDocument where the file is no PDF, is cut short, has no pages or is gone."""
    import pypdfium2

    document = pypdfium2.PdfDocument(_load(path, password))
    try:
        yield PdfPages(document)
    finally:
        document.close()


def _load(path: Path, password: str | None) -> Any:
    # pypdfium2 does not tell a file without pages from one that cannot be opened, and then reports an older error.
    import pypdfium2.raw as pdfium

    loaded = pdfium.FPDF_LoadDocument(bytes(path), password.encode() if password else None)
    if pdfium.FPDF_GetPageCount(loaded) > 0:
        return loaded
    if loaded:
        pdfium.FPDF_CloseDocument(loaded)
        raise DamagedDocument(f"{path.name!r} has no pages")
    error = pdfium.FPDF_GetLastError()
    if error == pdfium.FPDF_ERR_PASSWORD:
        wrong = "the password given is wrong" if password else "it is encrypted; give its password with --password"
        raise EncryptedDocument(f"{path.name!r}: {wrong}")
    if error == pdfium.FPDF_ERR_SECURITY:
        raise EncryptedDocument(f"{path.name!r} is encrypted in a way that is not read; save it without encryption")
    gone = error == pdfium.FPDF_ERR_FILE
    why = "it is gone, or may not be read" if gone else "it is damaged or incomplete"
    raise DamagedDocument(f"{path.name!r} cannot be opened as a PDF; {why}")
