"""The words of pages in the catalogue: rows that come and go with their document's, in the same transaction.

Catalogues of earlier versions lack the table until words are stored, so that nothing has to be made to read, nor to
remove a document on a full disk.
"""

import sqlite3
from collections.abc import Iterable, Iterator

from quoteweave.core.errors import UsageError
from quoteweave.core.packed_words import unpack_words
from quoteweave.core.records import Document, PageWords
from quoteweave.index.checksums import row_checksum

TABLE = """CREATE TABLE IF NOT EXISTS page_words (
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    number INTEGER NOT NULL,
    words BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (document, number)
)"""
_INSERT = "INSERT OR REPLACE INTO page_words VALUES (?1, ?2, ?3, row_checksum(?3, ?1, ?2))"
_IS_PAGE = "SELECT 1 FROM documents JOIN pages ON document = key WHERE name = ? AND number = ?"
_PAGE = """SELECT verified(page_words.checksum, words, document, number)
FROM documents JOIN page_words ON document = key WHERE name = ? AND number = ?"""

WordsRow = tuple[int, bytes, int]
"""Number of a page, its packed words, and the row's checksum."""


def store_words(db: sqlite3.Connection, key: int | None, words: Iterable[PageWords]) -> None:
    """Stores the words of the pages of the document of that key."""
    rows = [(key, page.page, page.packed) for page in words]
    if rows:
        db.execute(TABLE)
        db.executemany(_INSERT, rows)


def words_of_page(db: sqlite3.Connection, name: str, page: int) -> PageWords | None:
    """The words of a page of the document of that name; None where none were stored. Raises UsageError for no page."""
    if db.execute(_IS_PAGE, (name, page)).fetchone() is None:
        raise UsageError(f"{name!r} has no page {page + 1}")
    found = db.execute(_PAGE, (name, page)).fetchone() if _has_table(db) else None
    return None if found is None else PageWords(page=page, packed=found[0])


def read_words(db: sqlite3.Connection, key: int, document: Document) -> list[WordsRow]:
    """Rows of the words of a document's pages, verified: of all pages or, where they were not kept, of none.

    Raises ValueError.
    """
    if not _has_table(db):
        return []
    query = "SELECT number, words, checksum FROM page_words WHERE document = ? ORDER BY number"
    rows = db.execute(query, (key,)).fetchall()
    for number, packed, checksum in rows:
        if checksum != row_checksum(packed, key, number):
            raise ValueError(f"the words of page {number + 1} are not what was written")
        unpack_words(packed)
    if rows and len(rows) != document.pages:
        raise ValueError(f"it has the words of {len(rows)} pages where there should be those of {document.pages}")
    return rows


def all_words(db: sqlite3.Connection) -> Iterator[str]:
    """Of every page its words, a line each. Raises ValueError where they are damaged."""
    for (packed,) in db.execute("SELECT words FROM page_words") if _has_table(db) else ():
        yield "\n".join(text for text, *_ in unpack_words(packed))


def _has_table(db: sqlite3.Connection) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = 'page_words'").fetchone() is not None
