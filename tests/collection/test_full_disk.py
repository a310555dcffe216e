"""On a disk without any room left a collection can be read, and documents can be removed."""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_line import Quoteweave
from forked_programs import run
from killed_processes import in_a_process
from made_collections import changing, made_quote, make_collection, put

from quoteweave.collection import storage_errors as faults
from quoteweave.collection.collection import Collection
from quoteweave.collection.removals import record_removal
from quoteweave.collection.storage_errors import guard_writing
from quoteweave.collection.writer import Writer
from quoteweave.core.errors import StorageError
from quoteweave.index.lexical import current_lexical_index
from quoteweave.index.removal import remove_documents
from quoteweave.index.sync import sync_indexes

WORDS = ["".join(random.Random(seed).choices("abcdefghij", k=6)) for seed in range(3000)]
LARGE = [f"sealing wax {' '.join(random.Random(seed).choices(WORDS, k=60))}" for seed in range(600)]


@pytest.fixture
def disk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A disk of its own, of four megabytes unless a test says how many."""
    folder, size = tmp_path / "disk", f"size={getattr(request, 'param', 4)}m"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", folder], check=False, capture_output=True)
    if mounted.returncode:
        pytest.skip("needs the right to mount a small disk of its own")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a collection of a small and a large document, with its lexical index."""
    folder = tmp_path_factory.mktemp("made")
    collection = make_collection(
        folder, {"small.txt": ["Grain came by sea.", "Timber came from Norway."], "large.txt": LARGE}
    )
    with collection, collection.writer() as writer:
        sync_indexes(collection, writer)
    return folder


@pytest.fixture
def full(disk: Path, made: Path) -> Path:
    """That collection on a disk that is full to the last byte."""
    shutil.copytree(made, disk, dirs_exist_ok=True)
    fill(disk)
    return disk / "collection"


def fill(disk: Path) -> None:
    for size in (4096, 1):
        with suppress(OSError), (disk / f"filler of {size}").open("ab", buffering=0) as file:
            while file.write(b"x" * size):
                pass
    assert os.statvfs(disk).f_bavail == 0


def test_everything_that_reads_works(full: Path, quoteweave: Quoteweave) -> None:
    assert [row["name"] for row in quoteweave("list", "-c", full, "--json").json()] == ["large.txt", "small.txt"]
    assert quoteweave("status", "-c", full).code == 0
    assert quoteweave("search", "timber", "-c", full, "--json").json()["hits"][0]["text"].startswith("Timber")
    answer = quoteweave("ask", "From where came timber?", "-c", full, "--json")
    assert (answer.code, answer.json()["citations"] != []) == (0, True)


def test_so_it_is_where_the_blocks_of_a_disk_are_small(small_blocks: Path) -> None:
    make_collection(small_blocks, {"small.txt": ["Grain came by sea."], "large.txt": LARGE}).close()
    fill(small_blocks)
    filler = max(small_blocks.glob("filler*"), key=lambda path: path.stat().st_size)
    os.truncate(filler, filler.stat().st_size - 16 * 1024)  # room for some of the blocks, and not for all
    for command in (["remove", "large.txt"], ["search", "grain"], ["remove", "small.txt"]):
        # In processes of their own: the system ends one that touches a hole of a mapped file.
        started = [sys.executable, "-m", "quoteweave", *command, "-c", small_blocks / "collection"]
        assert run(started).returncode == 0


def test_nothing_is_left_of_a_document_that_the_disk_refused(
    disk: Path, tmp_path: Path, quoteweave: Quoteweave
) -> None:
    small, large = tmp_path / "small.txt", tmp_path / "large.txt"
    small.write_text("Grain came by sea.")
    large.write_text(f"Sealing wax {' '.join(random.Random(1).choices(WORDS, k=220_000))}")
    assert quoteweave("add", small, "-c", disk / "collection").code == 0
    assert "full" in quoteweave("add", large, "-c", disk / "collection").err
    assert [
        path for path in (disk / "collection").rglob("*") if path.is_file() and b"Sealing" in path.read_bytes()
    ] == []
    assert "left over" not in quoteweave("check", "-c", disk / "collection").out


def test_what_is_mapped_into_memory_is_on_the_disk_before_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = 2**20
    monkeypatch.setattr(
        os, "statvfs", lambda _: SimpleNamespace(f_frsize=1024, f_bavail=free, f_bfree=free, f_blocks=free)
    )
    with make_collection(tmp_path, {"small.txt": ["Grain came by sea."]}) as collection:
        mapped = collection.catalog_path.with_name("catalog.sqlite-shm")
        assert 512 * mapped.stat().st_blocks >= 2**17
    free = 0
    with Collection.open(tmp_path / "collection") as collection:
        with collection.writer() as writer:
            put(writer, tmp_path, "other.txt", [made_quote("Timber came from Norway.")])
            assert not mapped.exists()
        assert len(collection.documents()) == 2
        assert not mapped.exists()


@pytest.mark.parametrize("program", ["", "/nowhere/python"])
def test_where_no_process_can_be_started_collections_are_opened_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    make_small_blocks(monkeypatch)
    monkeypatch.setattr(sys, "executable", program)
    with make_collection(tmp_path, {"small.txt": ["Grain came by sea."]}) as collection:
        assert len(collection.documents()) == 1


def test_where_it_cannot_be_seen_that_room_was_taken_one_process_tries_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_small_blocks(monkeypatch)
    program, log = tmp_path / "python", tmp_path / "log"
    program.write_text(f"#!/bin/sh\necho started >> '{log}'\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        make_collection(tmp_path / name, {"small.txt": ["Grain came by sea."]}).close()
        for _ in range(3):
            with Collection.open(tmp_path / name / "collection") as collection:
                assert len(collection.documents()) == 1
    assert log.read_text().split() == ["started"] * 2


def make_small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have disks look as if they were in blocks of one kilobyte, and had room."""
    room = SimpleNamespace(f_frsize=1024, f_bavail=2**20, f_bfree=2**20, f_blocks=2**20)
    monkeypatch.setattr(os, "statvfs", lambda _: room)


def change_and_die(root: Path) -> None:
    collection = Collection.open(root)
    with collection.writer() as writer:
        writer.set_metadata("small.txt", {"year": "1805"})
        os.kill(os.getpid(), signal.SIGKILL)


def test_what_a_killed_writer_left_in_the_log_is_read_too(full: Path) -> None:
    (full.parent / "filler of 4096").unlink()
    (full / "reserve").unlink()
    assert in_a_process(change_and_die, full) == -signal.SIGKILL
    (full / "catalog.sqlite-shm").unlink()
    fill(full.parent)
    assert (full / "catalog.sqlite-wal").stat().st_size > 0
    with Collection.open(full) as collection:
        assert collection.document("small.txt").metadata == {"year": "1805"}
        assert [len(quotes) for _, _, quotes in collection.iter_documents_quotes()] == [len(LARGE), 2]


@pytest.mark.parametrize(
    ("name", "word", "other"), [("small.txt", "Norway", "sealing"), ("large.txt", "sealing", "Norway")]
)
def test_a_document_is_removed(full: Path, name: str, word: str, other: str, quoteweave: Quoteweave) -> None:
    got = quoteweave("remove", name, "-c", full)
    assert (got.code, got.out) == (0, "removed 1 document\n")
    assert hits(quoteweave, full, word) == []
    assert hits(quoteweave, full, other) != []
    held = [path.name for path in full.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]
    # Rewriting the catalogue takes as much room again, and removing the small document does not free as much.
    assert held == []
    assert ("rewriting it takes" in got.err) == (name == "small.txt")
    for path in full.parent.glob("filler*"):
        path.unlink()
    assert quoteweave("index", "build", "lexical", "-c", full).err == ""
    with Collection.open(full) as collection:
        assert not collection.may_have_traces()


def indexed(collection: Collection) -> list[str]:
    return sorted(name for segment in current_lexical_index(collection).segments.values() for name in segment.names)


def hits(quoteweave: Quoteweave, root: Path, word: str) -> list[object]:
    found: list[object] = quoteweave("search", word, "-c", root, "--json").json()["hits"]
    return found


def test_all_are_removed_at_once(full: Path) -> None:
    with Collection.open(full) as collection:
        assert remove_documents(collection, ["small.txt", "large.txt"]).removed == ("small.txt", "large.txt")
        assert collection.documents() == []


def test_adding_says_that_the_disk_is_full(full: Path, tmp_path: Path) -> None:
    with (
        Collection.open(full) as collection,
        pytest.raises(StorageError, match=r"No space left|the disk is full"),
        collection.writer() as writer,
    ):
        put(writer, tmp_path / "files", "new.txt", [made_quote(text) for text in LARGE])
    with Collection.open(full) as collection:
        assert [document.name for document in collection.documents()] == ["large.txt", "small.txt"]


@pytest.mark.parametrize("disk", [10], indirect=True)
def test_large_documents_are_removed_one_right_after_another(disk: Path) -> None:
    words = [f"{text} {text[::-1]}" for text in LARGE]
    made = {f"{number}.txt": [f"{text} {number}" for text in words] for number in range(3)}
    with make_collection(disk, made) as collection:
        with collection.writer():
            pass
        fill(disk)
        for number in range(3):
            assert remove_documents(collection, [f"{number}.txt"]).removed == (f"{number}.txt",)
            left = [document.name for document in collection.documents()]
            assert left == [f"{later}.txt" for later in range(number + 1, 3)]
            assert indexed(collection) == left


def test_a_lexical_index_that_was_dropped_in_vain_is_made_again(full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(*_: object) -> None:
        raise StorageError("the disk is full")

    monkeypatch.setattr("quoteweave.collection.writer.record_removal", refusing)
    with Collection.open(full) as collection:
        with pytest.raises(StorageError, match=r"^the disk is full$"), collection.writer() as writer:
            writer.remove("large.txt")
        assert indexed(collection) == ["large.txt", "small.txt"]
        with monkeypatch.context() as patched:
            patched.setattr(Writer, "rebuild_lexical", refusing)
            with (
                pytest.raises(StorageError, match="the lexical index, which was dropped to make room"),
                collection.writer() as writer,
            ):
                writer.remove("large.txt")


def test_where_nothing_helps_the_cause_is_named(full: Path) -> None:
    for path in full.parent.glob("filler*"):
        path.unlink()
    with changing(full) as db:  # the lexical index is gone, which would give room
        db.execute("DELETE FROM segments")
    for path in (full / "lexical").iterdir():
        path.unlink()
    (full / "reserve").unlink()
    fill(full.parent)
    assert faults.is_full(full / "catalog.sqlite")
    with Collection.open(full) as collection:
        with pytest.raises(StorageError, match=r"catalog\.sqlite: the disk is full .*make room on that disk"):
            remove_documents(collection, ["large.txt"])
        assert len(collection.documents()) == 2


def test_where_the_disk_has_room_the_folder_for_temporary_files_is_named(tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA max_page_count = 1")
        with pytest.raises(StorageError, match=r"or in the folder for temporary files"), guard_writing(path):
            db.execute("CREATE TABLE a (b)")


def test_a_lexical_index_that_was_dropped_for_room_comes_back_with_the_next_writer(
    tmp_path: Path, quoteweave: Quoteweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = iter(range(4))

    def refusing(db: sqlite3.Connection, name: str) -> None:
        if next(refusals, None) is not None:
            raise StorageError("the disk is full")
        record_removal(db, name)

    def full_again(self: Writer) -> None:
        raise StorageError("the disk is full")

    with make_collection(tmp_path, {"a.txt": ["Grain came by sea."], "b.txt": ["Timber came."]}) as collection:
        with monkeypatch.context() as patched:
            patched.setattr("quoteweave.collection.writer.record_removal", refusing)
            patched.setattr(Writer, "rebuild_lexical", full_again)
            with pytest.raises(StorageError, match=r"removed: b\.txt\. The lexical index was dropped to make room"):
                remove_documents(collection, ["b.txt"])
        root = collection.root
    assert "lexical index" in quoteweave("search", "grain", "-c", root).err
    with Collection.open(root) as collection, collection.writer():
        pass
    assert len(hits(quoteweave, root, "grain")) == 1


@pytest.mark.parametrize(("refused", "stays"), [(0, True), (1, False)])
def test_pages_from_which_adding_resumes_go_only_where_their_room_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: int, stays: bool
) -> None:
    refusals, rebuilds, rebuild = iter(range(4)), iter(range(refused)), Writer.rebuild_lexical

    def refusing(db: sqlite3.Connection, name: str) -> None:
        if next(refusals, None) is not None:
            raise StorageError("the disk is full")
        record_removal(db, name)

    def full_at_first(self: Writer) -> None:
        if next(rebuilds, None) is not None:
            raise StorageError("the disk is full")
        rebuild(self)

    monkeypatch.setattr("quoteweave.collection.writer.record_removal", refusing)
    monkeypatch.setattr(Writer, "rebuild_lexical", full_at_first)
    with make_collection(tmp_path, {"a.txt": ["Grain came by sea."], "b.txt": ["Timber came."]}) as collection:
        pages = collection.unfinished.of("c" * 32)
        with collection.writer() as writer:
            pages.put(0, b"{}", images=())
            writer.remove("b.txt")
            assert (pages.pages() == {0}) == stays
        assert indexed(collection) == ["a.txt"]
