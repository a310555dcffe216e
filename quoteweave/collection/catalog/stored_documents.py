"""Rows of documents, pages and quotes in the catalogue: inserted, and read back as records."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping

from quoteweave.collection.catalog.stored_words import store_words
from quoteweave.collection.prepared import PreparedDocument, storable_json
from quoteweave.collection.segments.builder import SegmentBuilder
from quoteweave.core.records import Page, Quote

_DOCUMENT = """INSERT INTO documents (name, root, path, source, record, checksum)
VALUES (?1, ?2, ?3, ?4, ?5, row_checksum(?5, ?1, ?2, ?3, ?4))"""
_PAGE = "INSERT INTO pages VALUES (?1, ?2, ?3, row_checksum(?3, ?2))"
_QUOTE = """INSERT INTO quotes (id, document, page, kind, layout, image, record, checksum)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, row_checksum(?7, ?1, ?3, ?4, ?5, ?6))"""
_UNTIE = "DELETE FROM shards WHERE document = ? AND fingerprint NOT IN (SELECT value FROM json_each(?))"


def insert_document(db: sqlite3.Connection, one: PreparedDocument, builder: SegmentBuilder) -> None:
    """Insert a document with its pages, words and quotes, whose words the builder counts."""
    name = one.document.name
    key = db.execute(_DOCUMENT, (name, one.root, one.path, one.source, one.record)).lastrowid
    db.executemany(_PAGE, ((key, number, page) for number, page in one.pages))
    store_words(db, key, one.words)
    quotes = inserted_quotes(db, key, ((Quote.model_validate_json(record), record) for record in one.quotes))
    builder.add(name, quotes, [Page.model_validate_json(record) for _, record in one.pages])


def inserted_quotes(
    db: sqlite3.Connection, key: int | None, quotes: Iterable[tuple[Quote, str]]
) -> Iterator[tuple[int, Quote]]:
    """Insert each quote, given with its record, into a document; give it with its row."""
    for quote, record in quotes:
        values = (quote.id, key, quote.page, quote.kind, quote.layout, quote.image, record)
        row = db.execute(_QUOTE, values).lastrowid
        assert row is not None  # noqa: S101 - for the type checker
        yield row, quote


def stored_quotes(db: sqlite3.Connection, name: str) -> Iterator[tuple[int, Quote]]:
    """A document's quotes with their rows, in their order."""
    query = """SELECT row, record FROM checked_quotes
    WHERE document = (SELECT key FROM documents WHERE name = ?) ORDER BY row"""
    for row, record in db.execute(query, (name,)):
        yield row, Quote.model_validate_json(record)


def stored_pages(db: sqlite3.Connection, name: str) -> list[Page]:
    """A document's pages, in order."""
    query = """SELECT record FROM checked_pages
    WHERE document = (SELECT key FROM documents WHERE name = ?) ORDER BY number"""
    return [Page.model_validate_json(record) for (record,) in db.execute(query, (name,))]


def describe_document(
    db: sqlite3.Connection, name: str, words: Mapping[str, str], of_pictures: str, builder: SegmentBuilder
) -> None:
    """Say of image quotes what a vision model wrote of them, and give all quotes of the document new rows.

    `of_pictures` lists, as JSON, the fingerprints of vectors that what is said of pictures does not change.
    """
    (key,) = db.execute("SELECT key FROM documents WHERE name = ?", (name,)).fetchone()
    quotes = [
        quote.model_copy(update={"vlm_text": words.get(quote.id, quote.vlm_text)})
        for _, quote in stored_quotes(db, name)
    ]
    db.execute("DELETE FROM quotes WHERE document = ?", (key,))
    db.execute(_UNTIE, (key, of_pictures))
    builder.add(
        name,
        inserted_quotes(db, key, ((quote, storable_json(quote, name)) for quote in quotes)),
        stored_pages(db, name),
    )
