"""PDF files: opened, counted, read and drawn page by page through pdfium. No other code opens a PDF."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quoteweave.core.errors import DamagedDocument, EncryptedDocument
from quoteweave.documents.page_content import PageContent, PageReader
from quoteweave.documents.pdf_page import Picture, draw, text_lines

DPI = 144.0


@dataclass(frozen=True, slots=True)
class PdfPages:
    """The pages of an open PDF. pdfium raises RuntimeError for one that cannot be loaded."""

    document: Any  # pypdfium2.PdfDocument

    @property
    def count(self) -> int:
        """As the file says, whether it holds them or not."""
        return len(self.document)

    def read(self, number: int, reader: PageReader) -> PageContent:
        """The text layer and the picture of a page, read into pieces."""
        page = self.document[number]
        try:
            label = self.document.get_page_label(number).strip() or None
            return reader.read(number, draw(page, DPI), lines=text_lines(page), label=label)
        finally:
            page.close()

    def draw(self, number: int) -> Picture:
        """A page as it is shown."""
        return draw(self.document[number], DPI)


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
