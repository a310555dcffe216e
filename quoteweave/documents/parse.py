"""Any file that can become quotes does so here; a long one in ranges of pages, so that processes can share it."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from quoteweave.core.records import ParsedDocument, Record
from quoteweave.documents import pdf, picture_files
from quoteweave.documents.formats import Format, sniff
from quoteweave.documents.html import parse_html
from quoteweave.documents.markdown import parse_markdown
from quoteweave.documents.ocr import RapidOcr
from quoteweave.documents.page_content import PageContent, PageReader
from quoteweave.documents.pdf_page import Picture
from quoteweave.documents.plain_text import parse_text
from quoteweave.documents.structure import assemble
from quoteweave.index.images import ImageStore

# Changes whenever the same file would give other quotes.
VERSION = "1"
PAGED = frozenset({Format.PDF, Format.PNG, Format.JPEG, Format.WEBP, Format.TIFF})


class ParserSettings(Record):
    """What changes the quotes that a file gives."""

    ocr: bool = Field(default=True, description="read pages without text, and pictures, by OCR")
    ocr_language: str = Field(default="ch", description="RapidOCR's name; 'ch' reads Chinese and English")

    @property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits; other settings or another version of the parsers give others."""
        return hashlib.sha256(f"{VERSION}|{self.model_dump_json()}".encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read, as worker processes are told of it."""

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


def inspect(source: Source) -> Inspection:
    """Look at a file without reading it. Raises a DocumentError that says why it cannot be read."""
    kind = sniff(source.path)
    if kind is Format.PDF:
        return Inspection(kind, pdf.count_pages(source.path, source.password))
    return Inspection(kind, picture_files.count_frames(source.path) if kind in PAGED else 1)


def read_range(source: Source, kind: Format, pages: range) -> tuple[list[PageContent], list[str]]:
    """Some pages of a paged file, and warnings. Raises a DocumentError."""
    if kind is Format.PDF:
        return pdf.read_pages(source.path, source.reader(), pages, password=source.password)
    return picture_files.read_frames(source.path, source.reader(), pages)


def read_whole(source: Source, kind: Format) -> ParsedDocument:
    """A file without pages of its own. Raises a DocumentError."""
    if kind is Format.MARKDOWN:
        return parse_markdown(source.path, source.images)
    if kind is Format.HTML:
        return parse_html(source.path, source.images)
    return parse_text(source.path)


def put_together(pages: Sequence[PageContent], warnings: Sequence[str], settings: ParserSettings) -> ParsedDocument:
    """The pages of one file, in order, as a document; says so when OCR would have found more."""
    unread = sum(page.source == "none" and any(piece.kind == "page" for piece in page.pieces) for page in pages)
    if unread and not settings.ocr:
        warnings = [*warnings, f"{unread} pages have no text layer and were not read, because OCR is off"]
    return assemble(pages, warnings)


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
        source = Source(path, self._settings, self._images, password)
        found = inspect(source)
        if found.format not in PAGED:
            return read_whole(source, found.format)
        pages, warnings = read_range(source, found.format, range(found.pages))
        return put_together(pages, warnings, self._settings)


def render(path: Path, kind: Format, page: int, password: str | None = None) -> Picture | None:
    """A page as people see it; None for files that have no pages of their own. Raises a DocumentError."""
    if kind is Format.PDF:
        return pdf.render_page(path, page, password=password)
    return picture_files.render_frame(path, page) if kind in PAGED else None
