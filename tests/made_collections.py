"""Small collections made by hand, without any parsing, for the tests of what searches them."""

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path

from builders import make_quote

from quoteweave.collection.catalog.database import Catalog
from quoteweave.collection.collection import Collection
from quoteweave.collection.prepared import PreparedDocument
from quoteweave.collection.records import Origin
from quoteweave.collection.writer import Writer
from quoteweave.core.boxes import Box
from quoteweave.core.records import Document, Layout, Page, PageWord, PageWords, ParsedDocument, Quote


def made_quote(
    text: str,
    *,
    page: int = 0,
    layout: Layout = "paragraph",
    caption: str | None = None,
    unit: str | None = None,
    bbox: Box = (72, 72, 540, 90),
    image: str | None = None,
) -> Quote:
    """A quote that `put` numbers; its page is labelled by its number."""
    return make_quote(
        text, id="", document="", page=page, layout=layout, caption=caption, unit=unit, bbox=bbox, image=image
    )


def put(
    writer: Writer, folder: Path, name: str, quotes: Sequence[Quote], *, metadata: Mapping[str, str] | None = None
) -> Document:
    """Puts a document of these quotes, with a file of their texts in `folder`."""
    prepared = prepare(writer, folder, name, quotes, metadata=metadata)
    writer.store([prepared])
    return prepared.document


def prepare(
    writer: Writer, folder: Path, name: str, quotes: Sequence[Quote], *, metadata: Mapping[str, str] | None = None
) -> PreparedDocument:
    """A document of these quotes, ready to be stored."""
    pages = {quote.page: quote.page_label for quote in quotes}
    parsed = ParsedDocument(
        pages=tuple(
            Page(number=number, label=label, width=612, height=792, text_source="text_layer")
            for number, label in sorted(pages.items())
        ),
        page_words=tuple(_page_words(quotes, number) for number in sorted(pages)),
        quotes=tuple(quote.model_copy(update={"id": f"{quote.page}:{i}"}) for i, quote in enumerate(quotes)),
    )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / hashlib.sha256(name.encode()).hexdigest()
    path.write_text(repr([quote.all_text() for quote in quotes]), "utf-8")
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    origin = Origin(root=folder, content=content, parser="made/1", metadata=metadata or {})
    return writer.prepare(path, name=name, format="text", origin=origin, parsed=parsed)


def _page_words(quotes: Sequence[Quote], page: int) -> PageWords:
    """The words of a page's quotes, each in its quote's box; a quote is a line."""
    lines = tuple((line, quote.text, quote.bbox) for line, quote in enumerate(quotes) if quote.page == page)
    return PageWords(page=page, packed=_packed_lines(lines))


@lru_cache  # most tests of a file make the same documents
def _packed_lines(lines: tuple[tuple[int, str, Box], ...]) -> bytes:
    return PageWords.of(0, (PageWord(word, box, line) for line, text, box in lines for word in text.split())).packed


def make_collection(
    folder: Path, documents: Mapping[str, Sequence[Quote] | Sequence[str] | Sequence[Quote | str]]
) -> Collection:
    """A collection in `folder` of documents by name; a string stands for a paragraph on the first page."""
    collection = Collection.create(folder / "collection")
    quotes = {
        name: [made_quote(quote) if isinstance(quote, str) else quote for quote in given_quotes]
        for name, given_quotes in documents.items()
    }
    with collection.writer() as writer:  # at once: to store one after another takes twice as long
        writer.store(
            [prepare(writer, folder / "files", name, document_quotes) for name, document_quotes in quotes.items()]
        )
    return collection


def stored_collection(
    folder: Path, documents: Mapping[str, Sequence[Quote] | Sequence[str] | Sequence[Quote | str]]
) -> Path:
    """The folder of a collection that `make_collection` makes."""
    make_collection(folder, documents).close()
    return folder / "collection"


@contextmanager
def reading(root: Path) -> Iterator[sqlite3.Connection]:
    """Another's reading of a collection's catalogue, which keeps what is removed meanwhile in its log."""
    with closing(Catalog(root / "catalog.sqlite")) as catalog, catalog.read() as db:
        db.execute("SELECT * FROM documents").fetchall()
        yield db


@contextmanager
def changing(root: Path) -> Iterator[sqlite3.Connection]:
    """A change of a collection's catalogue that no writer would make."""
    with closing(Catalog(root / "catalog.sqlite")) as catalog, catalog.write() as db:
        yield db
