"""`quoteweave check --removed`: a search of every byte finds what is left of a document, and nothing else."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import Quoteweave
from made_collections import made_quote, make_collection, put, reading

from quoteweave.collection.catalog import database as catalog
from quoteweave.collection.collection import Collection
from quoteweave.collection.segments.builder import SegmentBuilder
from quoteweave.collection.segments.segment import write_segment
from quoteweave.core.errors import StorageError, UsageError
from quoteweave.index.removal import remove_documents
from quoteweave.index.sync import sync_indexes
from quoteweave.maintenance.removal_proof import check_removed

NAME = "letters/zaunkönig.txt"
TEXTS = ["The rotkehlchen sang in the morning.", "The goldammer did not."]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a collection from which the document was removed."""
    tmp_path = tmp_path_factory.mktemp("removed")
    documents = {
        NAME: TEXTS,
        "kept.txt": ["What stays in the morning."],
        "old/letters/zaunkönig.txt": ["An older one."],
    }
    with make_collection(tmp_path, documents) as collection:
        with collection.writer() as writer:
            sync_indexes(collection, writer)
        remove_documents(collection, [NAME])
        return collection.root


@pytest.fixture
def root(prepared: Path, tmp_path: Path) -> Path:
    return shutil.copytree(prepared, tmp_path / "collection")


def test_nothing_is_found_where_nothing_is_left(root: Path) -> None:
    found = check_removed(root, NAME, TEXTS, "ab" * 32)
    assert (found.traces, found.mentions) == ((), ())
    assert found.files == sum(path.is_file() for path in root.rglob("*"))
    assert found.size == sum(path.stat().st_size for path in root.rglob("*") if path.is_file())


def test_words_of_the_folder_itself_are_no_traces(root: Path) -> None:
    text = (
        "A record of the documents: content, format, checksum; images, lexical segments, the catalog of the collection."
    )
    assert check_removed(root, NAME, [*TEXTS, text]).traces == ()
    (root / "left").write_text("the content of the documents, with a rotkehlchen")
    assert check_removed(root, NAME, [*TEXTS, text]).traces[-1].endswith("left holds words of it (rotkehlchen)")


def unseal(path: Path, data: bytes) -> None:
    """Adds bytes to the catalogue as if its last writer had been killed, and left no checksum."""
    path.write_bytes(path.read_bytes() + data)
    path.with_name(f"{path.name}.checksum").unlink()


def leave_segment(root: Path) -> None:
    builder = SegmentBuilder()
    builder.add("x", enumerate([made_quote(text) for text in TEXTS]))
    segment = builder.segment()
    assert segment is not None
    write_segment(root / "lexical", segment)


def leave_cut_parquet(root: Path) -> None:
    """A file of the embedded Milvus that was cut short."""
    path = root / "milvus" / "collections" / "rows.parquet"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"PAR1" + b"\0" * 96)


@pytest.mark.parametrize(
    ("leave", "told"),
    [
        (lambda root: (root / "writer.json").write_text(json.dumps({"x": NAME})), "writer.json holds its name"),
        (lambda root: (root / "note").write_bytes(NAME.encode("utf-16-le")), "note holds its name"),
        (lambda root: (root / "note").write_text(NAME.replace("ö", "o\u0308")), "note holds its name"),
        (lambda root: (root / "note").write_text("letters/zaunk%C3%B6nig.txt"), "note holds its name"),
        (lambda root: (root / "note").write_text("x Rotkehlchen x"), "words of it (rotkehlchen)"),
        (lambda root: (root / "note").write_text("ab" * 32), "the hash of its content"),
        (lambda root: (root / "sources" / ("ab" * 32)).write_text(""), "is referred to by nothing"),
        (lambda root: unseal(root / "catalog.sqlite", b"\0" * 100 + b"goldammer"), "catalog.sqlite holds words of it"),
        (leave_segment, ".seg holds words of it (goldamm, rotkehlchen)"),
        (leave_cut_parquet, "rows.parquet cannot be searched: "),
        (lambda root: (root / "zaunkönig.txt.rotkehlchen").write_text(""), "the path"),
    ],
)
def test_what_is_left_is_told(root: Path, leave: Callable[[Path], object], told: str) -> None:
    leave(root)
    traces = check_removed(root, NAME, TEXTS, "ab" * 32).traces
    assert any(told in trace for trace in traces), traces


def test_a_page_that_is_free_and_not_empty_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = catalog.Catalog.write

    @contextmanager
    def without_room(opened: catalog.Catalog, *, overwrite: bool = True) -> Iterator[sqlite3.Connection]:
        """What is removed cannot be overwritten, which takes room in the log."""
        if overwrite:
            raise StorageError("the disk is full")
        with write(opened, overwrite=False) as db:
            yield db

    with make_collection(tmp_path, {"a.txt": ["text " * 5000], "b.txt": ["other"]}) as collection:
        with collection.writer() as writer, monkeypatch.context() as patch:
            patch.setattr(catalog.Catalog, "write", without_room)
            writer.remove("a.txt")
        path = collection.root
    assert any("is free and not empty" in trace for trace in check_removed(path, "a.txt").traces)
    assert "a removal was not finished; any command that writes does it" in check_removed(path, "a.txt").traces


def test_a_document_that_names_it_in_words_of_its_own_is_no_trace(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"gone.txt": ["one"], "kept.txt": ["see gone.txt"]}) as collection:
        remove_documents(collection, ["gone.txt"])
        root = collection.root
    found = check_removed(root, "gone.txt")
    assert (found.traces, found.mentions) == ((), ("kept.txt",))


def test_a_document_that_is_there_is_not_removed(root: Path) -> None:
    with pytest.raises(UsageError, match=r"'kept\.txt' is in the collection; remove it first"):
        check_removed(root, "kept.txt")


def test_the_command_finishes_what_a_reader_kept_and_searches_for_the_words_of_the_file(
    tmp_path: Path, quoteweave: Quoteweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog, "READERS_MS", 0)
    (tmp_path / "gone.md").write_text("rotkehlchen and goldammer")
    (tmp_path / "kept.md").write_text("what stays")
    root = tmp_path / "c"
    quoteweave("add", tmp_path / "gone.md", tmp_path / "kept.md", "-c", root)
    with reading(root):
        assert "because someone is reading" in quoteweave("remove", "gone.md", "-c", root).err
        got = quoteweave("check", "--removed", "gone.md", "-c", root)
        assert (got.code, "because someone is reading" in got.out) == (1, True)
    got = quoteweave("check", "--removed", "gone.md", "--file", tmp_path / "gone.md", "-c", root, "--json")
    assert (got.code, got.json()["traces"], got.json()["remaining_traces"]) == (0, [], [])
    with Collection.open(root) as collection, collection.writer() as writer:
        put(writer, tmp_path / "files", "again.md", [made_quote("rotkehlchen")])
    got = quoteweave("check", "--removed", "gone.md", "--file", tmp_path / "gone.md", "-c", root)
    assert got.out.startswith("nothing is left of 'gone.md' in ")  # the word is another document's now
    (root / "left").write_text("goldammer")
    got = quoteweave("check", "--removed", "gone.md", "--file", tmp_path / "gone.md", "-c", root)
    assert got.code == 1
    assert f"left: {root / 'left'} holds words of it (goldammer)" in got.out


def test_keys_that_hold_the_name_by_chance_and_pages_being_read_are_no_traces(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"kept.txt": ["One."], "other.txt": ["Two."]}) as collection:
        keys = collection.source_keys()
        unfinished = collection.unfinished.of("ab" * 16)
        unfinished.put(0, b"{}", images=[])
        content = collection.document("kept.txt").content
        root = collection.root
    name = keys["kept.txt"][-8:]
    assert check_removed(root, name).traces == ()
    found = check_removed(root, "gone.txt", [], content)
    assert (found.traces, found.same_content) == ((), ("kept.txt",))
