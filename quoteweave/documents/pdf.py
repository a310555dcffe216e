"""PDF files: opened, counted, and read page by page through pdfium. No other code opens a PDF."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from quoteweave.core.errors import DamagedDocument, EncryptedDocument
from quoteweave.documents.page_content import PageContent, PageReader
from quoteweave.documents.pdf_page import Picture, draw, text_lines

DPI = 144.0
# pdfium's code for a missing or wrong password.
_PASSWORD = 4
# What an unreadable page is said to measure, in points: US Letter.
_UNKNOWN_SIZE = (612.0, 792.0)


@contextmanager
def opened(path: Path, password: str | None) -> Iterator[Any]:
    """The pdfium document. Raises EncryptedDocument or DamagedDocument, which say what is wrong with the file."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path, password=password)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == _PASSWORD:
            wrong = "the password given is wrong" if password else "it is encrypted; give its password with --password"
            raise EncryptedDocument(f"{path.name!r}: {wrong}") from error
        message = f"{path.name!r} cannot be opened as a PDF ({error}); is it complete?"
        raise DamagedDocument(message) from error
    try:
        yield document
    finally:
        document.close()


def count_pages(path: Path, password: str | None) -> int:
    """How many pages the file has. Raises what `opened` raises, and DamagedDocument where there is none."""
    with opened(path, password) as document:
        pages = len(document)
    if pages == 0:
        raise DamagedDocument(f"{path.name!r} has no pages")
    return pages


def read_pages(
    path: Path, reader: PageReader, pages: range, *, password: str | None = None
) -> tuple[list[PageContent], list[str]]:
    """Pages of a range, and a warning for each that cannot be read; such a page is kept, empty."""
    contents, warnings = [], []
    with opened(path, password) as document:
        for number in pages:
            try:
                contents.append(_read(document, number, reader))
            except (RuntimeError, ValueError, OverflowError, MemoryError) as error:  # PdfiumError is a RuntimeError
                warnings.append(f"page {number + 1} could not be read: {error}")
                contents.append(PageContent(number, *_UNKNOWN_SIZE, None, "none", ()))
    return contents, warnings


def render_page(path: Path, number: int, *, dpi: float = DPI, password: str | None = None) -> Picture:
    """One page, drawn. Raises what `opened` raises, and DamagedDocument where the page cannot be drawn."""
    import pypdfium2

    with opened(path, password) as document:
        try:
            return draw(document[number], dpi)
        except (pypdfium2.PdfiumError, IndexError) as error:
            raise DamagedDocument(f"{path.name!r}: page {number + 1} cannot be drawn ({error})") from error


def _read(document: Any, number: int, reader: PageReader) -> PageContent:
    page = document[number]
    try:
        label = document.get_page_label(number).strip() or None
        return reader.read(number, draw(page, DPI), lines=text_lines(page), label=label)
    finally:
        page.close()
