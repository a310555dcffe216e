import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from made_documents import made_document, put

from quoteweave.collection.collection import Collection
from quoteweave.collection.records import IndexState
from quoteweave.collection.stores.generations import Generations


def build(text: str, *, fail: bool = False) -> Callable[[Path], None]:
    """Writes two files, and fails between them if told so."""

    def fill(folder: Path) -> None:
        (folder / "one").write_text(text)
        if fail:
            raise RuntimeError("cannot build")
        (folder / "two").write_text(text)

    return fill


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    return Collection.create(tmp_path / "c")


def folders(collection: Collection) -> list[str]:
    root = collection.root / "indexes"
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_dir())


def test_a_published_index_is_current_and_the_one_before_is_gone(collection: Collection) -> None:
    assert collection.index_state("f1") is None
    with collection.writer() as writer:
        first = writer.publish("bm25", "f1", build=build("old"), revision=3)
        assert collection.index_state("f1") == first
        second = writer.publish("bm25", "f1", build=build("new"), revision=4)
    state = collection.index_state("f1")
    assert state == second
    assert (second.name, second.fingerprint, second.revision) == ("bm25", "f1", 4)
    assert second.generation > first.generation
    assert sorted((path.name, path.read_text()) for path in second.folder.iterdir()) == [("one", "new"), ("two", "new")]
    assert folders(collection) == ["f1", f"f1/{second.folder.name}"]


def test_a_build_that_fails_leaves_the_index_before_it(collection: Collection) -> None:
    with collection.writer() as writer:
        first = writer.publish("bm25", "f1", build=build("old"), revision=3)
        for fingerprint in ("f1", "f2"):
            with pytest.raises(RuntimeError, match="cannot build"):
                writer.publish("bm25", fingerprint, build=build("new", fail=True), revision=4)
    assert collection.indexes() == [first]
    assert (first.folder / "two").read_text() == "old"
    assert folders(collection) == ["f1", f"f1/{first.folder.name}"]


def test_what_a_killed_build_left_neither_counts_nor_stays(collection: Collection) -> None:
    (collection.root / "indexes" / "f1" / "000001").mkdir(parents=True)
    (collection.root / "indexes" / "f1" / "building").mkdir()
    (collection.root / "indexes" / "f1" / "building" / "half").write_text("")
    assert collection.index_state("f1") is None
    with collection.writer() as writer:
        state = writer.publish("bm25", "f1", build=build("new"), revision=0)
    assert sorted(path.name for path in state.folder.iterdir()) == ["one", "two"]
    assert folders(collection) == ["f1", f"f1/{state.folder.name}"]


def test_indexes_live_beside_each_other_and_are_dropped_alone(collection: Collection) -> None:
    with collection.writer() as writer:
        writer.publish("faiss", "f2", build=build("two"), revision=0)
        kept = writer.publish("bm25", "f1", build=build("one"), revision=0)
        assert [state.name for state in collection.indexes()] == ["bm25", "faiss"]
        writer.drop_index("f2")
        writer.drop_index("never built")
    assert collection.indexes() == [kept]
    assert folders(collection) == ["f1", f"f1/{kept.folder.name}"]


def test_kinds_of_one_index_share_their_shards_until_the_last_is_dropped(
    tmp_path: Path, collection: Collection
) -> None:
    with collection.writer() as writer:
        put(writer, tmp_path, "a.txt", made_document(["one"]))
        for fingerprint, index in [
            ("f1", "f1.flat"),
            ("f1", "f1.two-stage"),
            ("lexical-1", "lexical-1"),
            ("f2", "f2.x"),
        ]:
            collection.shards.put(fingerprint, "ab", {"vectors": np.zeros(1)})
            writer.keep_shards(fingerprint, {"a.txt": "ab"})
            writer.publish("made", index, build=build("x"), revision=0)
    kept = []
    for index in ("f1.flat", "f1.two-stage", "lexical-1"):
        with collection.writer() as writer:
            writer.drop_index(index)
        kept.append([name for name in ("f1", "lexical-1", "f2") if collection.shards.get(name, "ab")])
    assert kept == [["f1", "lexical-1", "f2"], ["lexical-1", "f2"], ["f2"]]
    assert collection.shard_keys("f1") == {}
    assert collection.shard_keys("f2") == {"a.txt": "ab"}


def test_an_index_that_still_fits_is_carried_to_a_later_revision(collection: Collection) -> None:
    with collection.writer() as writer:
        first = writer.publish("bm25", "f1", build=build("one"), revision=3)
        other = writer.publish("bm25", "f2", build=build("two"), revision=3)
        writer.advance("f1", 5)
        writer.advance("never built", 5)
    assert collection.indexes() == [first.model_copy(update={"revision": 5}), other]


def test_no_generation_number_is_used_twice(collection: Collection) -> None:
    with collection.writer() as writer:
        first = writer.publish("bm25", "f1", build=build("old"), revision=0)
        writer.drop_index("f1")
        assert writer.publish("bm25", "f1", build=build("new"), revision=0).generation > first.generation


def test_an_index_removed_by_hand_is_listed_as_lost(collection: Collection) -> None:
    with collection.writer() as writer:
        state = writer.publish("bm25", "f1", build=build("old"), revision=0)
    shutil.rmtree(state.folder)
    assert collection.index_state("f1") is None
    assert collection.indexes() == [state]


def test_an_index_that_is_replaced_at_this_very_moment_is_there(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collection.writer() as writer:
        writer.publish("bm25", "f1", build=build("old"), revision=0)
        place = Generations.path

        def path(self: Generations, fingerprint: str, generation: int) -> Path:
            monkeypatch.setattr(Generations, "path", place)
            writer.publish("bm25", "f1", build=build("new"), revision=1)
            return place(self, fingerprint, generation)

        reads: list[Callable[[], IndexState | None]] = [
            lambda: collection.index_state("f1"),
            lambda: collection.indexes()[0],
        ]
        for read in reads:
            monkeypatch.setattr(Generations, "path", path)
            state = read()
            assert state is not None
            assert (state.revision, (state.folder / "one").read_text()) == (1, "new")


def test_a_fingerprint_that_would_leave_the_folder_is_refused(collection: Collection) -> None:
    with collection.writer() as writer, pytest.raises(ValueError, match="cannot name a folder"):
        writer.publish("bm25", "../../elsewhere", build=build("x"), revision=0)
