"""Detects a file's format: by its first bytes if the format has a signature, else by its suffix.

Text with another suffix, or with none, is plain text: "README", "server.log", "settings.cfg".
Nothing is decompressed or parsed here.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from quoteweave.core.errors import DamagedDocument, DocumentError, UnsupportedFormat
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.documents.reflow.encodings import BOMS, utf_16_without_mark


class Format(StrEnum):
    """The supported formats."""

    PDF = "pdf"
    PNG = "png"
    JPEG = "jpeg"
    WEBP = "webp"
    TIFF = "tiff"
    MARKDOWN = "markdown"
    TEXT = "text"
    RESTRUCTURED_TEXT = "restructuredtext"
    HTML = "html"
    CSV = "csv"


SUFFIXES: Mapping[str, Format] = MappingProxyType(
    {
        ".pdf": Format.PDF,
        ".png": Format.PNG,
        ".jpg": Format.JPEG,
        ".jpeg": Format.JPEG,
        ".webp": Format.WEBP,
        ".tif": Format.TIFF,
        ".tiff": Format.TIFF,
        ".md": Format.MARKDOWN,
        ".markdown": Format.MARKDOWN,
        ".txt": Format.TEXT,
        ".text": Format.TEXT,
        ".rst": Format.RESTRUCTURED_TEXT,
        ".html": Format.HTML,
        ".htm": Format.HTML,
        ".xhtml": Format.HTML,
        ".csv": Format.CSV,
        ".tsv": Format.CSV,
    }
)
"""The suffixes, in lower case, of the files that are read from a folder."""
_TEXT_FORMATS = frozenset({Format.MARKDOWN, Format.TEXT, Format.RESTRUCTURED_TEXT, Format.HTML, Format.CSV})
"""The formats without a signature: text whose format is known from its suffix."""

_NAMED_AS_DOCUMENT = lazy_regex(
    r"(?:README|LICEN[CS]E|COPYING|NOTICE|AUTHORS|CONTRIBUTING|CHANGES|CHANGELOG|NEWS|HISTORY|INSTALL|TODO)(?:[-.][A-Z0-9]+)*"
)


def is_document_name(name: str) -> bool:
    """Whether a file of this name is read from a folder: by its suffix, or because it is a usual name of documents.

    >>> [is_document_name(name) for name in ("a.pdf", "README", "LICENSE-MIT", "METADATA", "a.py")]
    [True, True, True, False, False]
    """
    suffix = Path(name).suffix.lower()
    return suffix in SUFFIXES or (suffix not in ADVICE and _NAMED_AS_DOCUMENT.fullmatch(name) is not None)


def is_document(path: Path) -> bool:
    """Whether a file is read from a folder: by its name; without a document's suffix only if it can be read."""
    if path.suffix.lower() in SUFFIXES:
        return True
    if not is_document_name(path.name):
        return False
    try:
        sniff(path)
    except (DamagedDocument, UnsupportedFormat):
        return False
    except DocumentError:  # reported when the file is read
        return True
    return True


_OFFICE = "save it as PDF in the program that made it, or in LibreOffice"
_PANDOC = "save it as HTML or PDF, as with pandoc"
_PICTURE = "save it as PNG or JPEG"
_ARCHIVE = "unpack it and add the files inside"
_MAIL = "save it as PDF or HTML in the program that opens it"
_PRINT = "open it in the program that made it and save it as PDF"

ADVICE: Mapping[str, str] = MappingProxyType(
    dict.fromkeys((".doc", ".docx", ".odt", ".ppt", ".pptx", ".odp", ".xls", ".xlsx", ".ods", ".rtf"), _OFFICE)
    | dict.fromkeys((".tex", ".adoc", ".org", ".ipynb", ".fb2"), _PANDOC)
    | dict.fromkeys((".gif", ".bmp", ".heic", ".heif", ".avif", ".jp2", ".psd", ".svg"), _PICTURE)
    | dict.fromkeys((".zip", ".gz", ".bz2", ".xz", ".7z", ".rar", ".tar", ".zst"), _ARCHIVE)
    # These look like text files, but their words are encoded.
    | dict.fromkeys((".eml", ".msg", ".mbox", ".mht", ".mhtml"), _MAIL)
    | dict.fromkeys((".pages", ".key", ".numbers", ".vsd", ".vsdx", ".pub", ".xps"), _PRINT)
    | {
        ".epub": "convert it to PDF with Calibre",
        ".mobi": "convert it to PDF with Calibre",
        ".djvu": "convert it to PDF with DjVuLibre (ddjvu)",
        ".ps": "convert it to PDF with Ghostscript (ps2pdf)",
        ".eps": "convert it to PDF with Ghostscript (ps2pdf)",
        ".parquet": "import it, if it is a layout file of MMDocIR",
        ".json": "import it, if it is MinerU's content_list.json",
    }
)
"""How to convert unsupported formats, by suffix in lower case."""

_SIGNATURES = (
    (0, b"\x89PNG\r\n\x1a\n", Format.PNG),
    (0, b"\xff\xd8\xff", Format.JPEG),
    (8, b"WEBP", Format.WEBP),
    (0, b"II*\x00", Format.TIFF),
    (0, b"MM\x00*", Format.TIFF),
    (0, b"II+\x00", Format.TIFF),
    (0, b"MM\x00+", Format.TIFF),
)
_FOREIGN = (
    (30, b"mimetypeapplication/epub+zip", "an EPUB book", ".epub"),
    (30, b"mimetypeapplication/vnd.oasis.opendocument", "an OpenDocument file", ".odt"),
    (0, b"PK\x03\x04", "a ZIP archive", ".zip"),
    (0, b"PK\x05\x06", "a ZIP archive", ".zip"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old or protected Office document", ".doc"),
    (0, b"{\\rtf", "an RTF document", ".rtf"),
    (0, b"AT&TFORM", "a DjVu document", ".djvu"),
    (0, b"%!PS", "a PostScript file", ".ps"),
    (4, b"ftyphei", "a HEIC picture", ".heic"),
    (4, b"ftypmif1", "a HEIC picture", ".heic"),
    (4, b"ftypavif", "an AVIF picture", ".avif"),
    (0, b"GIF8", "a GIF picture", ".gif"),
    (0, b"8BPS", "a Photoshop picture", ".psd"),
    (0, b"\x1f\x8b", "a gzip archive", ".gz"),
    (4, b"1AY&SY", "a bzip2 archive", ".bz2"),
    (0, b"\xfd7zXZ\x00", "an xz archive", ".xz"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", ".7z"),
    (0, b"Rar!\x1a\x07", "a RAR archive", ".rar"),
    (0, b"\x28\xb5\x2f\xfd", "a Zstandard archive", ".zst"),
    (0, b"PAR1", "a Parquet file", ".parquet"),
)
# Suffixes of ZIP and OLE containers, used in messages to name what a file is; containers are not opened.
_ZIPPED = {".docx", ".pptx", ".xlsx", ".odt", ".odp", ".ods", ".epub", ".pages", ".key", ".numbers", ".vsdx", ".xps"}
_OLE = {".doc", ".msg", ".ppt", ".xls", ".docx", ".pptx", ".xlsx", ".vsd", ".pub"}

# The headers that a mail or web archive begins with, and those among them that say that its words are encoded.
_HEADERS = re.compile(rb"(?:From [^\n]*\n)?(?:[\w-]+:[^\n]*\n(?:[ \t][^\n]*\n)*)+")
_ENCODED = re.compile(
    rb"^content-(?:type:\s*multipart/(?!form-data)|transfer-encoding:\s*(?:base64|quoted-printable))",
    re.IGNORECASE | re.MULTILINE,
)

_HEAD = 8192
_PDF_JUNK = 1024
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\b\x1b"))


def sniff(path: Path) -> Format:
    """Detect a file's format. Up to 1,024 bytes of junk may precede a PDF's header.

    Raises UnsupportedFormat, with a way to convert it, for formats that are not read; DamagedDocument for an empty
    file, binary data with a text's name, and a file that is not what its name says; DocumentError if opening it fails.
    An empty file with the suffix of a text lacks nothing, and is one without words.
    """
    try:
        if not path.is_file():  # opening a pipe would block for ever
            raise DocumentError(f"{path.name!r} is not a file")
        with path.open("rb") as stream:
            head = stream.read(_HEAD)
    except OSError as error:
        raise DocumentError(f"{path.name!r} cannot be opened: {error.strerror or error}") from error
    if not head and SUFFIXES.get(path.suffix.lower()) not in _TEXT_FORMATS:
        raise DamagedDocument(f"{path.name!r} is empty")
    suffix = path.suffix.lower()
    format = _format_by_signature(head, suffix)
    if format is not None:
        return format
    return _format_by_suffix(path.name, suffix, head)


def _format_by_signature(head: bytes, suffix: str) -> Format | None:
    for offset, mark, format in _SIGNATURES:
        if head.startswith(mark, offset) and (format is not Format.WEBP or head.startswith(b"RIFF")):
            return format
    # A text may mention PDF headers, so a text file is only taken for a PDF if it begins with one.
    at = head.find(b"%PDF-", 0, _PDF_JUNK + 5)
    return Format.PDF if at == 0 or (at > 0 and SUFFIXES.get(suffix) not in _TEXT_FORMATS) else None


def _format_by_suffix(name: str, suffix: str, head: bytes) -> Format:
    kind, usual = _unsupported_kind(head, suffix)
    expected = SUFFIXES.get(suffix)
    if expected is not None and expected not in _TEXT_FORMATS:
        raise DamagedDocument(f"{name!r} is not {suffix}: it seems to be {kind or _looks_like(head)}; check the file")
    if kind is not None:
        raise UnsupportedFormat(f"{name!r} is {kind}, which is not read; {ADVICE[usual]}")
    if suffix in ADVICE:
        raise UnsupportedFormat(f"{name!r}: {suffix} files are not read; {ADVICE[suffix]}")
    if suffix and expected is None and not _may_be_text(head):
        raise UnsupportedFormat(
            f"{name!r}: {suffix} files are not read, unless they are text; convert it to PDF or HTML"
        )
    if not _may_be_text(head):
        raise DamagedDocument(f"{name!r} is not text but binary data; if it is a document, give it its right name")
    return expected or Format.TEXT


def _unsupported_kind(head: bytes, suffix: str) -> tuple[str | None, str]:
    """Name an unsupported format, with the suffix whose advice applies to it."""
    for offset, mark, kind, usual in _FOREIGN:
        if head.startswith(mark, offset):
            container = _ZIPPED if usual == ".zip" else _OLE if usual == ".doc" else set()
            return (f"a {suffix} file", suffix) if suffix in container else (kind, usual)
    if (headers := _HEADERS.match(head)) and _ENCODED.search(headers.group()):
        return "a mail or web archive", ".eml"
    return None, suffix


def _looks_like(head: bytes) -> str:
    if not _may_be_text(head):
        return "damaged, or other binary data"
    return "an HTML page" if b"<html" in head.lower() or b"<!doctype html" in head.lower() else "text"


def _may_be_text(head: bytes) -> bool:
    """Whether the bytes may be text: in UTF-8 or UTF-16 by a mark, in UTF-16, or with no NUL and few controls."""
    if head.startswith(tuple(BOMS)) or utf_16_without_mark(head):
        return True
    controls = len(head) - len(head.translate(None, _CONTROL))
    return b"\x00" not in head and controls <= len(head) // 20
