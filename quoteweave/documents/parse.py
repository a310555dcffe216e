"""Any file that can become quotes does so here; a long one in ranges of pages, so that processes can share it."""

import hashlib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pydantic import Field

from quoteweave.core.errors import CollectionError, DamagedDocument, UsageError
from quoteweave.core.records import ParsedDocument, Quote, Record
from quoteweave.documents.blocks import row_by_row
from quoteweave.documents.formats import Format, sniff
from quoteweave.documents.html import parse_html
from quoteweave.documents.markdown import parse_markdown
from quoteweave.documents.ocr import Ocr, RapidOcr
from quoteweave.documents.page_content import PageContent, PageReader
from quoteweave.documents.pdf import open_pdf
from quoteweave.documents.pdf_page import Picture
from quoteweave.documents.picture_files import open_pictures
from quoteweave.documents.plain_text import parse_text
from quoteweave.documents.structure import assemble
from quoteweave.index.images import ImageStore

# Changes whenever the same file would give other quotes.
VERSION = "2"
PAGED = frozenset({Format.PDF, Format.PNG, Format.JPEG, Format.WEBP, Format.TIFF})
# A file may claim any number of pages without holding them.
MAX_PAGES = 20_000
MAX_WARNINGS = 20
# What an unreadable page is said to measure, in points: US Letter.
UNKNOWN_SIZE = (612.0, 792.0)


class ParserSettings(Record):
    """What changes the quotes that a file gives."""

    ocr: bool = Field(default=True, description="read what has no text layer by OCR: pages, and pictures on them")
    ocr_language: str = Field(default="ch", description="RapidOCR's name; 'ch' reads Chinese and English")

    @property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits; other settings or another version of the parsers give others."""
        return hashlib.sha256(f"{VERSION}|{self.model_dump_json()}".encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read, as worker processes are told of it; `name` is that of its document."""

    name: str
    path: Path
    settings: ParserSettings
    images: ImageStore
    password: str | None = None

    def reader(self) -> PageReader:
        """Reads pages as the settings say."""
        return PageReader(self.images, RapidOcr(self.settings.ocr_language) if self.settings.ocr else None)


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a file is, and how many pages can be read apart from each other; 1 for a file that is read whole."""

    format: Format
    pages: int


class Pages(Protocol):
    """An open file of pages."""

    @property
    def count(self) -> int:
        """How many it says it has."""
        ...

    def read(self, number: int, reader: PageReader) -> PageContent:
        """A page, read into pieces. Raises any kind of exception for a damaged one."""
        ...

    def draw(self, number: int) -> Picture:
        """A page as people see it. Raises any kind of exception for a damaged one."""
        ...


def inspect(source: Source) -> Inspection:
    """Look at a file without reading it. Raises a DocumentError that says why it cannot be read."""
    kind = sniff(source.path)
    if kind not in PAGED:
        return Inspection(kind, 1)
    with _open(source.path, kind, source.password) as pages:
        if pages.count > MAX_PAGES:
            raise DamagedDocument(
                f"{source.path.name!r} says that it has {pages.count} pages; split it if it really has"
            )
        return Inspection(kind, pages.count)


def read_range(source: Source, kind: Format, pages: range) -> tuple[list[PageContent], list[str]]:
    """Some pages of a paged file, and a warning for each that cannot be read; such a page is kept, empty.

    Raises a DocumentError where the file cannot be opened, StorageError when the disk refuses, UsageError for a
    language that OCR does not know.
    """
    contents, warnings, reader = [], [], source.reader()
    with _open(source.path, kind, source.password) as opened:
        for number in pages:
            try:
                contents.append(opened.read(number, reader))
            except (CollectionError, UsageError):
                raise  # not this page's fault
            except Exception as error:
                warnings.append(f"page {number + 1} could not be read: {str(error) or type(error).__name__}")
                contents.append(PageContent(number, *UNKNOWN_SIZE, None, "none", ()))
    return contents, warnings


def read_whole(source: Source, kind: Format) -> ParsedDocument:
    """A file without pages of its own. Raises a DocumentError."""
    if kind is Format.TEXT:
        return parse_text(source.path)
    parsed = (parse_markdown if kind is Format.MARKDOWN else parse_html)(source.path, source.images)
    ocr = source.reader().ocr
    quotes = tuple(_with_ocr_text(quote, source.images, ocr) for quote in parsed.quotes)
    return _with_ocr_counts(parsed.model_copy(update={"quotes": quotes}), source.settings)


def _with_ocr_text(quote: Quote, images: ImageStore, ocr: Ocr | None) -> Quote:
    """What OCR reads on a picture that a file refers to."""
    if ocr is None or quote.image is None or quote.ocr_text is not None:
        return quote
    return quote.model_copy(update={"ocr_text": read_crop(images.path(quote.image), ocr)})


def read_crop(path: Path, ocr: Ocr) -> str:
    """What OCR reads on a stored picture, row by row. Raises DamagedDocument for a file that is no picture."""
    with open_pictures(path) as opened:
        return row_by_row(ocr.read(opened.draw(0)))


def _with_ocr_counts(parsed: ParsedDocument, settings: ParserSettings) -> ParsedDocument:
    """Says how much was read by OCR, and in which language more may be."""
    if not settings.ocr:
        return parsed
    sources = {page.number: page.text_source for page in parsed.pages}
    read = [quote for quote in parsed.quotes if quote.kind == "image" and quote.ocr_text is not None]
    counts = {
        "ocr_pages": sum(quote.layout == "page" for quote in read),
        "ocr_pictures": sum(quote.layout != "page" and sources[quote.page] != "ocr" for quote in read),
    }
    return parsed.model_copy(update={"ocr_language": settings.ocr_language, **counts})


def put_together(source: Source, pages: Sequence[PageContent], warnings: Sequence[str]) -> ParsedDocument:
    """All pages of a file, in order, as a document; says so when OCR would have found more.

    Raises DamagedDocument where no page could be read.
    """
    if all(page.source == "none" and not page.pieces for page in pages):
        why = warnings[0] if warnings else "all are empty"
        raise DamagedDocument(f"{source.path.name!r} has no page that can be read ({why})")
    told = list(warnings[:MAX_WARNINGS])
    if len(warnings) > MAX_WARNINGS:
        told.append(f"{len(warnings) - MAX_WARNINGS} more pages could not be read")
    unread = sum(page.source == "none" and any(piece.kind == "page" for piece in page.pieces) for page in pages)
    if unread and not source.settings.ocr:
        told.append(f"OCR is off, and pages without a text layer were not read: {unread}")
    return _with_ocr_counts(assemble(pages, told), source.settings)


class DocumentParser:
    """The parser of this package, in one process: meets `core.protocols.Parser`."""

    def __init__(self, images: ImageStore, settings: ParserSettings | None = None) -> None:
        self._images = images
        self._settings = settings or ParserSettings()

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same file would give other quotes."""
        return self._settings.fingerprint

    def parse(self, path: Path, password: str | None = None) -> ParsedDocument:
        """Read one file. Raises a DocumentError that says what is wrong with it."""
        source = Source(path.name, path, self._settings, self._images, password)
        found = inspect(source)
        if found.format not in PAGED:
            return read_whole(source, found.format)
        return put_together(source, *read_range(source, found.format, range(found.pages)))


def render(path: Path, kind: Format, page: int, password: str | None = None) -> Picture | None:
    """A page as people see it; None for files that have no pages of their own. Raises a DocumentError."""
    if kind not in PAGED:
        return None
    with _open(path, kind, password) as pages:
        try:
            return pages.draw(page)
        except Exception as error:
            raise DamagedDocument(f"{path.name!r}: page {page + 1} cannot be drawn ({error})") from error


def _open(path: Path, kind: Format, password: str | None) -> AbstractContextManager[Pages]:
    return open_pdf(path, password) if kind is Format.PDF else open_pictures(path)
