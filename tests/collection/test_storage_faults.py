"""What disks, other programs and other threads do to a collection."""

import shutil
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from made_documents import made_document, origin_of, put, stored_files
from operating_system import no_file_above
from other_user import printed_by_nobody

from quoteweave.collection.collection import Collection
from quoteweave.collection.writer import Writer
from quoteweave.core.errors import CollectionError, CollectionLocked, StorageError

BIG = 1 << 20


def grow_source(collection: Collection, writer: Writer, folder: Path) -> None:
    big = folder / "big.txt"
    writer.put(big, name="big.txt", format="text", origin=origin_of(big), parsed=made_document(["new"]))


def grow_catalog(collection: Collection, writer: Writer, folder: Path) -> None:
    put(writer, folder, "a.txt", made_document(["word " * 1000] * 500), content=b"new")


def grow_image(collection: Collection, writer: Writer, folder: Path) -> None:
    collection.images.put(b"x" * BIG, suffix=".png")


def grow_shard(collection: Collection, writer: Writer, folder: Path) -> None:
    collection.shards.put("f1", "ab", {"vectors": np.zeros(BIG)})


def grow_index(collection: Collection, writer: Writer, folder: Path) -> None:
    def build(folder: Path) -> None:
        (folder / "postings").write_bytes(b"x" * BIG)

    writer.publish("made", "f1", build=build, revision=0)


@pytest.mark.parametrize("grow", [grow_source, grow_catalog, grow_image, grow_shard, grow_index])
def test_a_disk_that_refuses_leaves_what_was_there(
    tmp_path: Path, grow: Callable[[Collection, Writer, Path], None]
) -> None:
    with Collection.create(tmp_path / "c") as collection:
        with collection.writer() as writer:
            put(writer, tmp_path, "a.txt", made_document(["old"]))
        big = tmp_path / "big.txt"
        big.write_bytes(b"x" * BIG)
        with (
            pytest.raises(StorageError, match=r"^cannot write \S+: .*run the same command again.*intact$") as caught,
            collection.writer() as writer,
            no_file_above(BIG // 2),
        ):
            grow(collection, writer, tmp_path)
        assert str(tmp_path / "c") in str(caught.value)
        assert [document.name for document in collection.documents()] == ["a.txt"]
        assert [quote.text for quote in collection.document_quotes("a.txt")] == ["old"]
        assert collection.source_file("a.txt").read_bytes() == b"old"
        with collection.writer() as writer:
            put(writer, tmp_path, "a.txt", made_document(["new"]))
        assert [quote.text for quote in collection.document_quotes("a.txt")] == ["new"]
        kept = {collection.source_file("a.txt")}
        assert set().union(*(stored_files(collection.root / name) for name in ("sources", "images", "vectors"))) == kept
        assert stored_files(collection.root / "indexes") == set()


def test_a_catalogue_that_is_no_database_is_named_with_the_way_out(tmp_path: Path) -> None:
    Collection.create(tmp_path).close()
    for content in (b"not a database" * 1000, b""):
        (tmp_path / "catalog.sqlite").write_bytes(content)
        with pytest.raises(CollectionError, match=r"catalog\.sqlite is damaged.*check -c .* --repair"):
            Collection.open(tmp_path).revision()
    (tmp_path / "catalog.sqlite").unlink()
    with pytest.raises(CollectionError, match=r"catalog\.sqlite is damaged: the file is missing.*check -c .* --repair"):
        Collection.open(tmp_path).revision()


@pytest.mark.parametrize("last_writer", ["ended", "was killed"])
def test_damage_in_the_middle_of_the_catalogue_is_named_before_it_is_read(tmp_path: Path, last_writer: str) -> None:
    with Collection.create(tmp_path / "c") as collection, collection.writer() as writer:
        put(writer, tmp_path, "a.txt", made_document([f"{number} " + "word " * 100 for number in range(200)]))
    path = tmp_path / "c" / "catalog.sqlite"
    data = bytearray(path.read_bytes())
    # Everything but the first pages, which hold the schema and the revision.
    data[20 * 4096 :] = b"\xff" * (len(data) - 20 * 4096)
    path.write_bytes(data)
    if last_writer == "was killed":
        (tmp_path / "c" / "catalog.sqlite.checksum").unlink()
    with pytest.raises(CollectionError, match=r"catalog\.sqlite is damaged"):
        Collection.open(tmp_path / "c").revision()


def test_every_thread_that_reads_a_damaged_catalogue_first_is_told(tmp_path: Path) -> None:
    with Collection.create(tmp_path / "c") as collection, collection.writer() as writer:
        put(writer, tmp_path, "a.txt", made_document([f"{number} " + "word " * 100 for number in range(200)]))
    path = tmp_path / "c" / "catalog.sqlite"
    data = bytearray(path.read_bytes())
    data[-1000] ^= 1
    path.write_bytes(data)

    def told(collection: Collection) -> bool:
        with pytest.raises(CollectionError, match="not what was written"):
            collection.documents()
        return True

    for _ in range(5):
        with Collection.open(tmp_path / "c") as collection, ThreadPoolExecutor(4) as pool:
            assert all(pool.map(told, [collection] * 4))


def test_another_program_that_holds_the_catalogue_is_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sqlite3

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **{**k, "timeout": 0}))
    with Collection.create(tmp_path / "c") as collection, collection.writer() as writer:
        other = connect(tmp_path / "c" / "catalog.sqlite", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(CollectionLocked, match="another program holds"):
            put(writer, tmp_path, "a.txt", made_document(["text"]))
        other.close()
        put(writer, tmp_path, "a.txt", made_document(["text"]))
        assert len(collection.documents()) == 1


READING = """
from pathlib import Path
from quoteweave.core.errors import StorageError
from quoteweave.collection.collection import Collection
"""
READ_ONLY = """
with Collection.open(Path(sys.argv[1])) as collection:
    print([quote.text for quote in collection.document_quotes("a.txt")], len(collection.select()))
    try:
        with collection.writer():
            pass
    except StorageError as error:
        print(error)
"""


def test_a_folder_that_may_not_be_written_can_be_read(tmp_path: Path) -> None:
    # Not under tmp_path, which only its owner may enter.
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "c")
        with Collection.create(root) as collection, collection.writer() as writer:
            put(writer, tmp_path, "a.txt", made_document(["one", "two"]))
        Path(folder).chmod(0o755)
        root.chmod(0o555)
        first, second = printed_by_nobody(READING, READ_ONLY, root)
        root.chmod(0o755)
    assert first == "['one', 'two'] 2"
    assert second.startswith(f"cannot write {root}")


CLOSED = """
try:
    Collection.open(Path(sys.argv[1]))
except CollectionError as error:
    print(error)
"""


def test_a_folder_that_may_not_be_read_is_named_with_the_way_out(tmp_path: Path) -> None:
    # Not under tmp_path, which only its owner may enter.
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "c")
        with Collection.create(root) as collection, collection.writer() as writer:
            put(writer, tmp_path, "a.txt", made_document(["one", "two"]))
        Path(folder).chmod(0o755)
        root.chmod(0)
        said = printed_by_nobody(READING.replace("StorageError", "CollectionError"), CLOSED, root)
        root.chmod(0o755)
    assert said == [f"cannot read {root / 'collection.json'}: Permission denied; allow reading it, then try again"]


def test_a_reader_sees_the_whole_old_or_the_whole_new_document(tmp_path: Path) -> None:
    done = threading.Event()
    seen: set[str] = set()

    def read(collection: Collection) -> None:
        last = 0
        while not done.is_set():
            (text,) = {quote.text for quote in collection.document_quotes("a.txt")}
            assert len(collection.document_quotes("a.txt")) == len(collection.select()) == 20
            ((document, rows, quotes),) = collection.iter_documents_quotes()
            assert len(rows) == document.quotes == 20
            assert len({quote.text for quote in quotes}) == 1
            last, before = collection.revision(), last
            assert last >= before
            seen.add(text)

    with Collection.create(tmp_path / "c") as collection, ThreadPoolExecutor(2) as pool:
        with collection.writer() as writer:
            put(writer, tmp_path, "a.txt", made_document(["0"] * 20))
            readers = [pool.submit(read, collection) for _ in range(2)]
            for version in range(1, 5000):
                put(writer, tmp_path, "a.txt", made_document([str(version)] * 20))
                if len(seen) > 20 or any(reader.done() for reader in readers):
                    break
        done.set()
        for reader in readers:
            reader.result()
    assert len(seen) > 20


def test_a_walk_stays_in_the_state_that_it_began_in(tmp_path: Path) -> None:
    with Collection.create(tmp_path / "c") as collection, collection.writer() as writer:
        for name in ("a.txt", "b.txt"):
            put(writer, tmp_path, name, made_document([f"old {name}"]))
        walk = collection.iter_documents_quotes()
        next(walk)
        put(writer, tmp_path, "b.txt", made_document(["new"]))
        writer.remove("a.txt")
        (document, _, quotes) = next(walk)
        assert (document.name, [quote.text for quote in quotes]) == ("b.txt", ["old b.txt"])
        assert [quote.text for quote in collection.document_quotes("b.txt")] == ["new"]


def test_a_collection_copied_elsewhere_stands_by_itself(tmp_path: Path) -> None:
    with Collection.create(tmp_path / "c") as collection, collection.writer() as writer:
        put(writer, tmp_path, "a.txt", made_document(["text"]))
    (tmp_path / "a.txt").unlink()
    shutil.move(tmp_path / "c", tmp_path / "elsewhere")
    with Collection.open(tmp_path / "elsewhere") as collection:
        assert collection.source_file("a.txt").read_bytes() == b"text"
