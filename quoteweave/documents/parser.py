"""Parses a file of any supported format; a long one in ranges of pages, so that processes can share the work."""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from pydantic import Field, TypeAdapter

from quoteweave.collection.stores.content import ImageStore
from quoteweave.collection.stores.unfinished import UnfinishedPages
from quoteweave.core.errors import CollectionError, DamagedDocument, UsageError
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.messages import join_names
from quoteweave.core.records import ParsedDocument, Quote, Record
from quoteweave.documents.assembly import assemble
from quoteweave.documents.formats import Format, sniff
from quoteweave.documents.layout.blocks import text_by_rows
from quoteweave.documents.layout.page import PageContent, PageReader
from quoteweave.documents.layout.unread.letters import is_likely_text
from quoteweave.documents.reflow.csv_tables import parse_csv
from quoteweave.documents.reflow.html import parse_html
from quoteweave.documents.reflow.markdown import parse_markdown
from quoteweave.documents.reflow.restructured_text import parse_restructured_text
from quoteweave.documents.reflow.text_files import parse_text
from quoteweave.documents.sources.image_files import open_image_file
from quoteweave.documents.sources.lines import Line
from quoteweave.documents.sources.ocr import Ocr, RapidOcr
from quoteweave.documents.sources.pdf import NAMES_LEFT_OUT, open_pdf
from quoteweave.documents.sources.raw_page import Raster, RawPage
from quoteweave.documents.worker_pool import WorkerPool, stop_message
from quoteweave.documents.worker_process import extend_time_limit, lacks_memory

# Changed whenever the same file would give other quotes, pages or words of pages.
PARSER_VERSION = "49"
# A file may claim any number of pages without containing them.
MAX_PAGES = 20_000
MAX_WARNINGS = 20
# The size assumed for an unreadable page, in points: US Letter.
UNKNOWN_SIZE = (612.0, 792.0)
# The values of the pixels, in three colours, in a picture of a sheet of A4 or US Letter at 144 dpi.
SHEET_VALUES = 3 * 1224 * 1684
_PAGE = TypeAdapter(PageContent)
_PAGE_HAS = lazy_regex(r"page (?P<page>\d+) (?P<problem>(?P<verb>has|shows) .+?)(?:: (?P<number>[\d,]+))?")

# How a warning of a page is said of one other page, and of several.
_VERBS = {"has": ("has", "have"), "shows": ("does", "do")}


class ParserSettings(Record):
    """Settings that change the quotes parsed from a file.

    >>> add(collection, [Path("reports")], AddOptions(ParserSettings(ocr=False))).updated
    ('port.md',)
    """

    ocr: bool = Field(default=True, description="read what has no text layer by OCR: pages, and pictures on them")
    ocr_language: str = Field(default="ch", description="RapidOCR's name; 'ch' reads Chinese and English")

    @property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits; other settings or another version of the parsers give others."""
        return hashlib.sha256(f"{PARSER_VERSION}|{self.model_dump_json()}".encode()).hexdigest()[:12]


class _TimeExtendingOcr(RapidOcr):
    """Extends the time limit of a page that OCR reads."""

    def read(self, picture: Raster) -> list[Line]:
        """Do as RapidOcr."""
        extend_time_limit(math.ceil(picture.pixels.size / SHEET_VALUES))
        return super().read(picture)


FileStamp = bytes
"""A file's inode, size and modification time in nanoseconds, to detect that it was written; it is small, because one is
kept for each file to be read."""


def file_stamp(path: Path) -> FileStamp:
    """The stamp of a file. Raises OSError."""
    status = path.stat()
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns}".encode()


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read, in the form sent to worker processes; `name` is the document's name."""

    name: str
    path: Path
    settings: ParserSettings
    images: ImageStore
    password: str | None = None
    stamp: FileStamp | None = None
    """The stamp before the file was hashed: while it is the same, the content read is the content that was hashed."""
    skip_names: bool = False
    """Whether labels of pages and bookmarks are left out, because reading them crashes the process."""
    skip_tiles: bool = False
    """Whether no picture is read in tiles, because doing so takes more memory or time than it may."""

    def require_unchanged(self) -> None:
        """Raise DamagedDocument if the file was written since it was hashed, OSError if it is gone."""
        if self.stamp is not None and file_stamp(self.path) != self.stamp:
            raise DamagedDocument(f"{self.path.name!r} changed while it was being read; add it again")

    def reader(self) -> PageReader:
        """The reader of its pages, according to the settings."""
        ocr = _TimeExtendingOcr(self.settings.ocr_language) if self.settings.ocr else None
        return PageReader(self.images, ocr, in_tiles=not self.skip_tiles)


@dataclass(frozen=True, slots=True)
class Inspection:
    """A file's format, and the number of pages that can be read separately; 1 for a file that is read whole."""

    format: Format
    pages: int
    size: int  # bytes


class PagedFile(Protocol):
    """An open file of pages."""

    @property
    def count(self) -> int:
        """The number of pages that the file claims to have."""
        ...

    def read(self, number: int) -> RawPage:
        """A page, drawn, with its text layer. Raises any kind of exception for a damaged page."""
        ...

    def draw(self, number: int) -> Raster:
        """Render a page. Raises any kind of exception for a damaged page."""
        ...


PAGED_FORMATS: Mapping[Format, Callable[[Path, str | None, bool], AbstractContextManager[PagedFile]]] = {
    Format.PDF: lambda path, password, skip_names: open_pdf(path, password, skip_names=skip_names),
    **dict.fromkeys(
        (Format.PNG, Format.JPEG, Format.WEBP, Format.TIFF), lambda path, _password, _skip_names: open_image_file(path)
    ),
}
"""The function that opens files of each format with pages; see `SourceFile` for the password and `skip_names`."""


WHOLE_FORMATS: Mapping[Format, Callable[[Path, ImageStore], ParsedDocument]] = {
    Format.TEXT: lambda path, _images: parse_text(path),
    Format.RESTRUCTURED_TEXT: lambda path, _images: parse_restructured_text(path),
    Format.CSV: lambda path, _images: parse_csv(path),
    Format.MARKDOWN: parse_markdown,
    Format.HTML: parse_html,
}
"""The function that parses files of each format without pages of its own, and stores the pictures they refer to."""


def inspect_file(source: SourceFile) -> Inspection:
    """Inspect a file without reading it. Raises a DocumentError that says why it cannot be read."""
    format = sniff(source.path)
    size = source.path.stat().st_size
    if format not in PAGED_FORMATS:
        return Inspection(format, 1, size)
    with _open(source.path, format, source.password) as pages:
        if pages.count > MAX_PAGES:
            raise DamagedDocument(
                f"{source.path.name!r} says that it has {pages.count} pages; split it if it really has"
            )
        return Inspection(format, pages.count, size)


def read_pages(source: SourceFile, format: Format, numbers: Iterable[int]) -> Iterator[PageContent]:
    """Read some pages of a paged file; a page that cannot be read is empty, with a warning.

    Raises a DocumentError if the file cannot be opened, StorageError when the disk refuses, UsageError for a language
    that OCR does not know, MemoryError if a page needs more memory than there is.
    """
    reader = source.reader()
    with _open(source.path, format, source.password, skip_names=source.skip_names) as opened:
        for number in numbers:
            try:
                yield reader.read(opened.read(number))
            except (CollectionError, UsageError, MemoryError):
                raise  # not caused by this page, or handled by the pool, which limits the memory
            except Exception as error:
                if lacks_memory(error):
                    raise MemoryError(str(error)) from error
                yield empty_page(number, f"could not be read: {str(error) or type(error).__name__}")


def empty_page(number: int, warning: str) -> PageContent:
    """The placeholder for a page that cannot be read; `warning` continues a sentence that begins with "page 3"."""
    return PageContent(number, *UNKNOWN_SIZE, None, "none", (), (f"page {number + 1} {warning}",))


def read_and_keep_pages(
    numbers: Iterable[int], source: SourceFile, format: Format, unfinished: UnfinishedPages
) -> Iterator[int]:
    """Read pages as `read_pages` does, save each as soon as it is read, and yield its number."""
    for page in read_pages(source, format, numbers):
        images = [element.image for element in page.elements if element.image is not None]
        source.require_unchanged()
        unfinished.put(page.number, _page_data(page), images=images)
        yield page.number


def _page_data(page: PageContent) -> bytes:
    """The page as JSON; an empty page if it has lone surrogates or infinite boxes, which JSON cannot hold."""
    try:
        data = _PAGE.dump_json(page)
        if _PAGE.validate_json(data) == page:
            return data
    except ValueError:
        pass
    return _PAGE.dump_json(empty_page(page.number, "could not be read: it holds text or numbers that are not valid"))


def assemble_kept_pages(
    source: SourceFile, unfinished: UnfinishedPages, count: int, lost: Mapping[int, str]
) -> ParsedDocument:
    """Assemble a document of `count` pages from the saved ones; `lost` has the reason for each missing page.

    Raises DamagedDocument if no page could be read, or if saved pages are gone.
    """
    return assemble_document(source, [_kept_page(source, unfinished, number, lost) for number in range(count)])


def _kept_page(source: SourceFile, unfinished: UnfinishedPages, number: int, lost: Mapping[int, str]) -> PageContent:
    if number in lost:
        return empty_page(number, lost[number])
    data = unfinished.get(number)
    if data is None:
        raise DamagedDocument(f"{source.path.name!r}: what was read of page {number + 1} is gone; add it again")
    return _PAGE.validate_json(data)


def read_whole(source: SourceFile, format: Format) -> ParsedDocument:
    """Parse a file without pages of its own. Raises a DocumentError."""
    parsed = WHOLE_FORMATS[format](source.path, source.images)
    if format in (Format.TEXT, Format.RESTRUCTURED_TEXT, Format.CSV):  # these have no pictures for OCR
        return parsed
    ocr = source.reader().ocr
    if ocr is None:
        return _with_unread_pictures(parsed, source.images)
    quotes = tuple(_with_ocr_text(quote, source.images, ocr) for quote in parsed.quotes)
    return _with_ocr_counts(parsed.model_copy(update={"quotes": quotes}), source.settings)


def _with_unread_pictures(parsed: ParsedDocument, images: ImageStore) -> ParsedDocument:
    """Warn of pictures that likely show text, which was not read as OCR is off."""
    keys = {quote.image for quote in parsed.quotes if quote.image is not None and quote.ocr_text is None}
    unread = sum(is_likely_text(_picture(images.path(key))) for key in keys)
    if not unread:
        return parsed
    warning = f"OCR is off, and pictures that may show text were not read: {unread}"
    return parsed.model_copy(update={"warnings": (*parsed.warnings, warning)})


def _with_ocr_text(quote: Quote, images: ImageStore, ocr: Ocr) -> Quote:
    """Add the OCR text of a picture that the file refers to."""
    if quote.image is None or quote.ocr_text is not None:
        return quote
    return quote.model_copy(update={"ocr_text": read_crop(images.path(quote.image), ocr)})


def read_crop(path: Path, ocr: Ocr) -> str:
    """Read a stored picture by OCR, row by row. Raises DamagedDocument for a file that is not a picture."""
    return text_by_rows(ocr.read(_picture(path)))


def _picture(path: Path) -> Raster:
    with open_image_file(path) as opened:
        return opened.draw(0)


def _with_ocr_counts(parsed: ParsedDocument, settings: ParserSettings) -> ParsedDocument:
    """Add how many pages and pictures OCR read, and its language."""
    if not settings.ocr:
        return parsed
    sources = {page.number: page.text_source for page in parsed.pages}
    quotes_read = [quote for quote in parsed.quotes if quote.kind == "image" and quote.ocr_text is not None]
    counts = {
        "ocr_pages": sum(quote.layout == "page" for quote in quotes_read),
        "ocr_pictures": sum(quote.layout != "page" and sources[quote.page] != "ocr" for quote in quotes_read),
    }
    return parsed.model_copy(update={"ocr_language": settings.ocr_language, **counts})


def assemble_document(source: SourceFile, pages: Sequence[PageContent]) -> ParsedDocument:
    """Assemble the pages of a file, in order, into a document; warn if OCR was off and would have found more.

    Raises DamagedDocument where no page could be read.
    """
    if any(NAMES_LEFT_OUT in page.warnings for page in pages):
        pages = _without_names(pages)
    warnings = list(_with_other_pages([warning for page in pages for warning in page.warnings]))
    if all(page.source == "none" and not page.elements for page in pages):
        why = warnings[0] if warnings else "all are empty"
        raise DamagedDocument(f"{source.path.name!r} has no page that can be read ({why})")
    shown = warnings[:MAX_WARNINGS]
    if len(warnings) > MAX_WARNINGS:
        shown.append(f"there are {len(warnings) - MAX_WARNINGS} more warnings, the last of which is: {warnings[-1]}")
    unread = sum(
        page.source == "none" and any(element.found_as == "page" for element in page.elements) for page in pages
    )
    if unread and not source.settings.ocr:
        shown.append(f"OCR is off, and pages without a text layer were not read: {unread}")
    return _with_ocr_counts(assemble(pages, shown), source.settings)


def _with_other_pages(warnings: Sequence[str]) -> Iterator[str]:
    """Join warnings that several pages have: "page 1 has letters …: 3; so have pages 2, 5, 6: 40"."""
    groups: dict[str, list[str]] = {}
    for warning in warnings:
        match = _PAGE_HAS.fullmatch(warning)
        groups.setdefault(match["problem"] if match else warning, []).append(warning)
    for first, *further in groups.values():
        same = [match for match in map(_PAGE_HAS.fullmatch, further) if match]
        if not same:
            yield first
            continue
        number = sum(int(match["number"].replace(",", "")) for match in same if match["number"])
        pages = f"{'page' if len(same) == 1 else 'pages'} {join_names([match['page'] for match in same])}"
        verb = _VERBS[same[0]["verb"]][len(same) > 1]
        yield f"{first}; so {verb} {pages}" + (f": {number:,}" if number else "")


def _without_names(pages: Sequence[PageContent]) -> list[PageContent]:
    """All pages without labels and bookmarks, with one warning: with some labels only, two pages might share one."""
    unnamed: list[PageContent] = []
    for page in pages:
        warnings = [warning for warning in page.warnings if warning != NAMES_LEFT_OUT]
        first = () if unnamed else (NAMES_LEFT_OUT,)
        unnamed.append(replace(page, label=None, bookmarks=(), warnings=(*first, *warnings)))
    return unnamed


class DocumentParser:
    """Parses files in the current process; implements `core.protocols.Parser`."""

    def __init__(self, images: ImageStore, settings: ParserSettings | None = None) -> None:
        self._images = images
        self._settings = settings or ParserSettings()

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same file would give other quotes."""
        return self._settings.fingerprint

    def parse(self, path: Path, password: str | None = None) -> ParsedDocument:
        """Read one file. Raises a DocumentError that says what is wrong with it."""
        source = SourceFile(path.name, path, self._settings, self._images, password)
        inspection = inspect_file(source)
        if inspection.format not in PAGED_FORMATS:
            return read_whole(source, inspection.format)
        return assemble_document(source, list(read_pages(source, inspection.format, range(inspection.pages))))


def render_document_page(path: Path, format: Format, page: int, password: str | None = None) -> Raster | None:
    """Render a page; None for files that have no pages of their own. Raises a DocumentError."""
    if format not in PAGED_FORMATS:
        return None
    with _open(path, format, password) as pages:
        try:
            return pages.draw(page)
        except Exception as error:
            raise DamagedDocument(f"{path.name!r}: page {page + 1} cannot be drawn ({error})") from error


def draw_within_limits(path: Path, format: Format, page: int, password: str | None = None) -> Raster | None:
    """Render a page in a process of its own, with the limits of reading a page.

    This is for pages of which nothing was read: what prevented that would end this process. Raises a DocumentError.
    """
    if format not in PAGED_FORMATS:
        return None
    with WorkerPool(1) as workers:
        outcome = workers.submit(workers.limits, _draw_pages, [page], path, format, password).result()
        if outcome.error is not None:
            raise outcome.error
        if outcome.stop is not None:
            # Unlike the limits of reading, the user cannot change these.
            why = stop_message(outcome.stop, workers.limits, doing="drawing", advice="")
            raise DamagedDocument(f"{path.name!r}: page {page + 1} cannot be drawn: it {why}")
    return outcome.items[0]


def _draw_pages(pages: Iterable[int], path: Path, format: Format, password: str | None) -> Iterator[Raster | None]:
    for page in pages:
        yield render_document_page(path, format, page, password)


def _open(
    path: Path, format: Format, password: str | None, *, skip_names: bool = False
) -> AbstractContextManager[PagedFile]:
    return PAGED_FORMATS[format](path, password, skip_names)
