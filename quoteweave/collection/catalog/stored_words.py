"""The words of pages in the catalogue: rows that are stored and removed with their document, in the same transaction.

A page's words are compressed (RFC 1950) with the texts of its quotes as the dictionary, which contain nearly all of
them, so that little more than their places is stored. Catalogues of earlier versions lack the table until words are
stored, because making it could fail on a full disk, and neither reading nor removing a document may need it.
"""

import re
import sqlite3
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Set
from mmap import mmap

from quoteweave.collection.checksums import bytes_checksum, row_checksum
from quoteweave.core.errors import UsageError
from quoteweave.core.records import Document, PageWords, ParsedDocument, Quote
from quoteweave.core.text.packed_words import unpack_words

TABLE = """CREATE TABLE IF NOT EXISTS page_words (
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    number INTEGER NOT NULL,
    words BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (document, number)
)"""
# UTF-8 never contains the first byte. A checksum of the compressed words follows, which identifies a page's words.
_START = b"\xffQWwords"
_HEAD = len(_START) + 8
_INSERT = "INSERT OR REPLACE INTO page_words VALUES (?1, ?2, ?3, row_checksum(?3, ?1, ?2))"
_KEY = "SELECT document FROM documents JOIN pages ON document = key WHERE name = ? AND number = ?"
_PAGE = "SELECT verified(checksum, words, document, number) FROM page_words WHERE document = ? AND number = ?"
_QUOTES = """SELECT page, verified(checksum, record, id, page, kind, layout, image) FROM quotes
WHERE document = ?1 AND page BETWEEN ?2 AND ?3 ORDER BY row"""
_LAST = (1 << 63) - 1

WordsRow = tuple[int, bytes, int]
"""The number of a page, its compressed words, and the row's checksum."""


def compressed_words(parsed: ParsedDocument) -> list[tuple[int, bytes]]:
    """The number and the compressed words of each page whose words the parser gave."""
    texts = _page_texts(parsed.quotes)
    return [(page.page, _compressed(page.packed, texts[page.page])) for page in parsed.page_words]


def store_words(db: sqlite3.Connection, key: int | None, words: Iterable[tuple[int, bytes]]) -> None:
    """Store the compressed words of the pages of the document with that key."""
    rows = [(key, *page) for page in words]
    if rows:
        db.execute(TABLE)
        db.executemany(_INSERT, rows)


def words_of_page(db: sqlite3.Connection, name: str, page: int) -> PageWords | None:
    """The words of a page of the document of that name; None where none were stored.

    Raises UsageError where there is no such page, ValueError where its quotes have changed since.
    """
    key_row = db.execute(_KEY, (name, page)).fetchone()
    if key_row is None:
        raise UsageError(f"{name!r} has no page {page + 1}")
    (key,) = key_row
    words_row = db.execute(_PAGE, (key, page)).fetchone() if _has_table(db) else None
    if words_row is None:
        return None
    return PageWords(page=page, packed=_expanded(words_row[0], _stored_page_texts(db, key, page)[page]))


def read_words(db: sqlite3.Connection, key: int, document: Document) -> list[WordsRow]:
    """Rows of the words of a document's pages, verified: of all pages or, if the words were not stored, of none.

    Raises ValueError where a row is damaged or missing.
    """
    if not _has_table(db):
        return []
    query = "SELECT number, words, checksum FROM page_words WHERE document = ? ORDER BY number"
    rows: list[WordsRow] = db.execute(query, (key,)).fetchall()
    texts = _stored_page_texts(db, key)
    for number, words, checksum in rows:
        if checksum != row_checksum(words, key, number):
            raise ValueError(f"the words of page {number + 1} are not what was written")
        unpack_words(_expanded(words, texts[number]))
    if rows and len(rows) != document.pages:
        raise ValueError(f"it has the words of {len(rows)} pages where there should be those of {document.pages}")
    return rows


def heads_of_words(db: sqlite3.Connection) -> set[bytes]:
    """The first bytes of the compressed words of each page, for `unknown_words`."""
    rows = db.execute("SELECT substr(words, 1, ?) FROM page_words", (_HEAD,)) if _has_table(db) else ()
    return {head for (head,) in rows}


def unknown_words(file_bytes: bytes | mmap, heads: Set[bytes]) -> Iterator[int]:
    """Positions in the bytes of a file at which a page's compressed words begin that have none of these heads."""
    for match in re.finditer(re.escape(_START), file_bytes):
        if file_bytes[match.start() : match.start() + _HEAD] not in heads:
            yield match.start()


def _compressed(packed: bytes, text: bytes) -> bytes:
    packer = zlib.compressobj(zdict=text)
    body = packer.compress(packed) + packer.flush()
    return _START + bytes_checksum(body) + body


def _expanded(words: bytes, text: bytes) -> bytes:
    try:
        return zlib.decompressobj(zdict=text).decompress(words[_HEAD:])
    except zlib.error as error:
        raise ValueError(f"words of a page do not fit its quotes ({error})") from error


def _page_texts(quotes: Iterable[Quote]) -> defaultdict[int, bytes]:
    """The texts of the quotes of each page, without descriptions of pictures, which may change later."""
    texts = defaultdict[int, bytes](bytes)
    for quote in quotes:
        texts[quote.page] += f"{quote.text} {quote.ocr_text or ''} ".encode()
    return texts


def _stored_page_texts(db: sqlite3.Connection, key: int, page: int | None = None) -> defaultdict[int, bytes]:
    """The texts of all pages of a document, or of one page."""
    first, last = (0, _LAST) if page is None else (page, page)
    return _page_texts(Quote.model_validate_json(record) for _, record in db.execute(_QUOTES, (key, first, last)))


def _has_table(db: sqlite3.Connection) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = 'page_words'").fetchone() is not None
