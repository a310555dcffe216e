"""Prepares documents for storing: serialises records and checks that they can be read back, and assigns quote ids."""

import hashlib
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from quoteweave.collection.catalog.stored_words import compressed_words
from quoteweave.collection.records import Origin
from quoteweave.collection.stores.content import SourceStore
from quoteweave.core.errors import DamagedDocument
from quoteweave.core.records import Document, ParsedDocument, Quote, Record


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document that is ready to be stored."""

    document: Document
    record: str
    root: str
    path: str | None
    """The file's path below `root`, where it differs from the name."""
    pages: Sequence[tuple[int, str]]
    """Number and record of each page."""
    quotes: "PackedTexts"
    """The quotes' records, page by page."""
    words: Sequence[tuple[int, bytes]]
    """Number and compressed words of each page; none where the parser gave none."""
    source: str
    """Key of the stored copy of the document's file."""


def prepare_document(
    path: Path, sources: SourceStore, *, name: str, format: str, origin: Origin, parsed: ParsedDocument
) -> PreparedDocument:
    """Everything of a document that can be prepared before it is stored; its file at `path` is copied to `sources` now.

    Each quote's id is prefixed with the document's id: the first 12 hexadecimal digits of SHA-256(name, NUL, content).
    Raises DocumentError where the file cannot be read, DamagedDocument where it has changed since it was parsed or
    where text or boxes cannot be stored, ValueError where `parsed` has pages or quotes twice, or lacks the words of
    some pages.
    """
    document = _document(name, format, origin, parsed)
    return PreparedDocument(
        document=document,
        record=storable_json(document, name),
        root=storable_text(str(origin.root), name),
        path=origin.path,
        pages=[(page.number, storable_json(page, name)) for page in parsed.pages],
        quotes=PackedTexts.of(storable_json(quote, name) for quote in _named_quotes(document, parsed)),
        words=_page_words(document, parsed),
        source=sources.put(path, origin.content),
    )


# How many characters of texts are compressed together.
_BLOCK = 1 << 18


@dataclass(frozen=True, slots=True)
class PackedTexts:
    """Texts without line breaks, compressed, so that very many of them take little memory until they are stored."""

    count: int
    blocks: tuple[bytes, ...]
    """Each block holds some of the texts in UTF-8, one per line, compressed (RFC 1950)."""

    @classmethod
    def of(cls, texts: Iterable[str]) -> "PackedTexts":
        """Pack texts, taken one by one. Raises ValueError for one with a line break."""
        count, size, blocks, block = 0, 0, list[bytes](), list[str]()
        for text in texts:
            if "\n" in text:
                raise ValueError("a text with a line break cannot be packed")
            count, size = count + 1, size + len(text)
            block.append(text)
            if size > _BLOCK:
                blocks.append(_packed(block))
                size, block = 0, []
        return cls(count, (*blocks, *([_packed(block)] if block else [])))

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[str]:
        for block in self.blocks:
            yield from zlib.decompress(block).decode().split("\n")


def _packed(texts: Sequence[str]) -> bytes:
    return zlib.compress("\n".join(texts).encode(), 1)


def document_id(name: str, content: str) -> str:
    """The id of the document of that name; `content` is the SHA-256 of its file."""
    return hashlib.sha256(f"{name}\0{content}".encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _document(name: str, format: str, origin: Origin, parsed: ParsedDocument) -> Document:
    return Document(
        id=document_id(name, origin.content),
        name=name,
        content=origin.content,
        format=format,
        parser=origin.parser,
        pages=len(parsed.pages),
        quotes=len(parsed.quotes),
        metadata=origin.metadata,
        warnings=parsed.warnings,
        ocr_language=parsed.ocr_language,
        ocr_pages=parsed.ocr_pages,
        ocr_pictures=parsed.ocr_pictures,
        linked_files=parsed.linked_files,
    )


def _named_quotes(document: Document, parsed: ParsedDocument) -> Iterator[Quote]:
    """The quotes with the document's id and name, page by page."""
    pages = {page.number for page in parsed.pages}
    if len(pages) < len(parsed.pages):
        raise ValueError(f"the parser of {document.name!r} gave a page twice")
    ids = set()
    for quote in sorted(parsed.quotes, key=lambda quote: quote.page):
        if quote.page not in pages or quote.id in ids:
            raise ValueError(f"the parser of {document.name!r} gave quote {quote.id!r} twice, or on no page")
        ids.add(quote.id)
        yield quote.model_copy(update={"id": f"{document.id}:{quote.id}", "document": document.name})


def _page_words(document: Document, parsed: ParsedDocument) -> list[tuple[int, bytes]]:
    pages = sorted(page.number for page in parsed.pages)
    if parsed.page_words and sorted(words.page for words in parsed.page_words) != pages:
        raise ValueError(f"the parser of {document.name!r} gave the words of other pages than it has")
    return compressed_words(parsed)


def storable_json(record: Record, name: str) -> str:
    """A record as JSON that can be read back. Raises DamagedDocument where it holds values that cannot be stored."""
    # Tried at once, so that no reader meets a bad record: JSON holds neither lone surrogates nor boxes at infinity.
    try:
        text = record.model_dump_json(exclude_defaults=True)
        if type(record).model_validate_json(text) == record:
            return text
    except ValueError:
        pass
    subject = f"quote {record.id}" if isinstance(record, Quote) else f"its {type(record).__name__.lower()} record"
    raise DamagedDocument(f"{name!r} cannot be stored: {subject} holds text or numbers that are not valid")


def storable_text(value: str, name: str) -> str:
    """The text, if it is valid Unicode. Raises DamagedDocument if not."""
    if escape_invalid_unicode(value) != value:
        raise DamagedDocument(f"{name!r} cannot be stored: the path {value!r} is not valid Unicode; rename that folder")
    return value


def escape_invalid_unicode(text: str) -> str:
    """Escape lone surrogates, which are not valid Unicode."""
    return text.encode("utf-8", "backslashreplace").decode()
