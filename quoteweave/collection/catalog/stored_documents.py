"""Inserts rows of documents, pages and quotes into the catalogue, and reads them back as records."""

import sqlite3
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

from quoteweave.collection.catalog.stored_words import store_words
from quoteweave.collection.prepared import PackedTexts, PreparedDocument, storable_json
from quoteweave.collection.segments.builder import SegmentBuilder
from quoteweave.core.records import Page, Quote

MAX_IN_MEMORY = 5_000
"""Most quotes of a document that are kept in memory while it is indexed; longer ones are parsed several times."""

_DOCUMENT = """INSERT INTO documents (name, root, path, source, record, checksum)
VALUES (?1, ?2, ?3, ?4, ?5, row_checksum(?5, ?1, ?2, ?3, ?4))"""
_PAGE = "INSERT INTO pages VALUES (?1, ?2, ?3, row_checksum(?3, ?2))"
_QUOTE = """INSERT INTO quotes (id, document, page, kind, layout, image, record, checksum)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, row_checksum(?7, ?1, ?3, ?4, ?5, ?6))"""
_STORED = """SELECT row, record FROM checked_quotes
WHERE document = (SELECT key FROM documents WHERE name = ?) ORDER BY row"""
_UNTIE = "DELETE FROM shards WHERE document = ? AND fingerprint NOT IN (SELECT value FROM json_each(?))"


def insert_document(db: sqlite3.Connection, prepared: PreparedDocument, builder: SegmentBuilder) -> None:
    """Insert a document with its pages, words and quotes; `builder` counts the words of the quotes."""
    name = prepared.document.name
    key = db.execute(_DOCUMENT, (name, prepared.root, prepared.path, prepared.source, prepared.record)).lastrowid
    db.executemany(_PAGE, ((key, number, page) for number, page in prepared.pages))
    store_words(db, key, prepared.words)
    builder.add(
        name,
        _insert_quotes(db, key, prepared.quotes),
        [Page.model_validate_json(record) for _, record in prepared.pages],
    )


class QuotesOfRecords:
    """Quotes with their rows, made from their records whenever they are iterated over.

    All quotes of a document of 200,000 would take 400 MB in memory.
    """

    def __init__(self, rows_and_records: Callable[[], Iterable[tuple[int, str]]]) -> None:
        self._rows_and_records = rows_and_records

    def __iter__(self) -> Iterator[tuple[int, Quote]]:
        for row, record in self._rows_and_records():
            yield row, Quote.model_validate_json(record)


def _insert_quotes(db: sqlite3.Connection, key: int | None, records: PackedTexts) -> Iterable[tuple[int, Quote]]:
    """Insert a document's quotes from their records; return them with their rows, to be iterated over repeatedly."""
    rows, quotes_with_rows = array("q"), list[tuple[int, Quote]]()
    for record in records:
        quote = Quote.model_validate_json(record)
        values = (quote.id, key, quote.page, quote.kind, quote.layout, quote.image, record)
        row = db.execute(_QUOTE, values).lastrowid
        assert row is not None  # noqa: S101 - for the type checker
        rows.append(row)
        if len(records) <= MAX_IN_MEMORY:
            quotes_with_rows.append((row, quote))
    return quotes_with_rows or QuotesOfRecords(lambda: zip(rows, records, strict=True))


def stored_quotes(db: sqlite3.Connection, name: str) -> Iterable[tuple[int, Quote]]:
    """A document's quotes with their rows, in order; they can be iterated over several times."""
    stored = QuotesOfRecords(lambda: db.execute(_STORED, (name,)))
    first_quotes = list(islice(stored, MAX_IN_MEMORY + 1))
    return first_quotes if len(first_quotes) <= MAX_IN_MEMORY else stored


def stored_pages(db: sqlite3.Connection, name: str) -> list[Page]:
    """A document's pages, in order."""
    query = """SELECT record FROM checked_pages
    WHERE document = (SELECT key FROM documents WHERE name = ?) ORDER BY number"""
    return [Page.model_validate_json(record) for (record,) in db.execute(query, (name,))]


def describe_document(
    db: sqlite3.Connection, name: str, descriptions: Mapping[str, str], picture_shards: str, builder: SegmentBuilder
) -> None:
    """Store what a vision model wrote about image quotes, and give all quotes of the document new rows.

    `picture_shards` lists, as JSON, the fingerprints of the vectors that do not depend on these descriptions.
    """
    (key,) = db.execute("SELECT key FROM documents WHERE name = ?", (name,)).fetchone()
    records = PackedTexts.of(
        storable_json(quote.model_copy(update={"vlm_text": descriptions.get(quote.id, quote.vlm_text)}), name)
        for _, quote in stored_quotes(db, name)
    )
    db.execute("DELETE FROM quotes WHERE document = ?", (key,))
    db.execute(_UNTIE, (key, picture_shards))
    builder.add(name, _insert_quotes(db, key, records), stored_pages(db, name))
