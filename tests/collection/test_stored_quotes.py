"""Quotes that are read repeatedly are given as they are in the catalogue by then."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from made_documents import made_page, made_quote, put

from quoteweave.collection.catalog import recent_reads
from quoteweave.collection.collection import Collection
from quoteweave.collection.filters import select_rows
from quoteweave.core.errors import CollectionError
from quoteweave.core.records import Filter, ParsedDocument

ROWS = [1, 2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Collection.create(tmp_path / "c") as collection, collection.writer() as writer:
        put(writer, tmp_path, "a.txt", parsed("The pier is old.", "A" * 10_000))
    return tmp_path


def parsed(*texts: str) -> ParsedDocument:
    quotes = tuple(made_quote(text, ordinal=at) for at, text in enumerate(texts))
    return ParsedDocument(pages=(made_page(0),), quotes=quotes)


def change(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "c" / "catalog.sqlite")) as db, db:
        db.execute(statement)


def test_quotes_are_the_same_when_they_are_read_again(folder: Path) -> None:
    with Collection.open(folder / "c") as collection:
        first = collection.quotes_at(ROWS)
        assert [quote and quote.text[:16] for quote in first] == ["The pier is old.", "A" * 16]
        assert collection.quotes_at(ROWS) == collection.quotes() == collection.page_quotes("a.txt", 0) == first


def test_a_quote_that_was_removed_is_not_given_again(folder: Path) -> None:
    with Collection.open(folder / "c") as collection:
        collection.quotes_at(ROWS)
        with Collection.open(folder / "c") as other, other.writer() as writer:
            put(writer, folder, "a.txt", parsed("The pier is new."))
        assert collection.quotes_at(ROWS) == [None, None]
        assert [quote.text for quote in collection.quotes(Filter(documents=("a.txt",)))] == ["The pier is new."]


def test_a_row_that_says_something_else_than_before_is_verified(folder: Path) -> None:
    with Collection.open(folder / "c") as collection:
        collection.quotes_at(ROWS)
        change(folder, "UPDATE quotes SET checksum = checksum + 1 WHERE row = 1")
        with pytest.raises(CollectionError, match="is damaged"):
            collection.quotes_at(ROWS)


def test_what_is_kept_is_read_again_after_a_commit(folder: Path) -> None:
    with Collection.open(folder / "c") as collection:
        before, page, revision = collection.segments(), collection.page_quotes("a.txt", 0), collection.revision()
        assert (collection.segments(), collection.revision()) == (before, revision)
        assert collection.unread_files_note() is None
        with Collection.open(folder / "c") as other, other.writer() as writer:
            put(writer, folder, "b.txt", parsed("The quay is new."))
            writer.fail("c.txt", root=folder, reason="it is empty", content=None)
        assert "1 file could not be read" in (collection.unread_files_note() or "")
        assert collection.segments() != before
        assert collection.revision() > revision
        assert collection.page_quotes("a.txt", 0) == page
        assert [quote.text for quote in collection.page_quotes("b.txt", 0)] == ["The quay is new."]


def test_a_page_is_selected_once_while_nothing_is_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    selected = list[Filter | None]()

    def select(db: sqlite3.Connection, where: Filter | None, *, retrievable_only: bool) -> object:
        selected.append(where)
        return select_rows(db, where, retrievable_only=retrievable_only)

    monkeypatch.setattr(recent_reads, "select_rows", select)
    with Collection.open(folder / "c") as collection:
        assert collection.page_quotes("a.txt", 0) == collection.page_quotes("a.txt", 0)
    assert len(selected) == 1
