"""MaxSim indexes do what every index does, of every kind, and refer to shards that may move or go."""

import gc
import json
import resource
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from made_shards import BEFORE, Among, made_shard, topics

from quoteweave.collection.checksums import seal
from quoteweave.core.errors import CollectionError, StorageError
from quoteweave.index.base import VectorIndex
from quoteweave.index.kinds import MULTI_VECTOR_KINDS
from quoteweave.index.maxsim import index as maxsim_index
from quoteweave.index.maxsim.index import MultiVectorIndex
from quoteweave.testing.vector_fixtures import DIMENSION, brute_force
from quoteweave.testing.vector_index_conformance import VectorIndexTests

if TYPE_CHECKING:
    from quoteweave.core.protocols import Matrix

MAPS = Path("/proc/self/maps")
# Enough for a first stage to leave some out.
ITEMS = 240


class TestExact(VectorIndexTests):
    multi_vector = True
    kind = "exact"

    def make(self, dimension: int) -> VectorIndex:
        return MultiVectorIndex(self.kind, dimension)

    def reopen(self, index: VectorIndex, folder: Path) -> VectorIndex:
        index.save(folder)
        return MultiVectorIndex(self.kind, DIMENSION, folder)


class TestExactOfOneVector(TestExact):
    multi_vector = False


@pytest.mark.parametrize("kind", MULTI_VECTOR_KINDS[1:], scope="class")
class TestTwoStages(TestExact):
    exact = False

    @pytest.fixture(autouse=True)
    def _few_candidates(self, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.kind = kind
        for name, few in (("TIMES_POOLED", 2), ("TIMES_COMPRESSED", 2), ("MIN_WANTED", 1)):
            monkeypatch.setattr(maxsim_index, name, few)


def made_index(kind: str, root: Path) -> MultiVectorIndex:
    """An index of shards that lie as in a collection."""
    index, items = MultiVectorIndex(kind, 64), topics(ITEMS)
    for first in range(1, ITEMS + 1, 60):
        own = {row: items[row] for row in range(first, first + 60)}
        index.add(made_shard(root / "vectors" / "encoder" / f"{first}.npz", own))
    return index


def published(index: MultiVectorIndex, root: Path, generation: str = "000001") -> Path:
    """The folder of the index, built beside its place as a collection builds it."""
    building = root / "indexes" / "encoder.exact" / "building"
    building.mkdir(parents=True)
    index.save(building)
    return building.rename(building.with_name(generation))


def questions() -> "list[Matrix]":
    return [vectors[:3] for vectors in list(topics(ITEMS).values())[::37]]


def test_two_stages_find_most_of_what_exact_search_finds(tmp_path: Path) -> None:
    exact = made_index("exact", tmp_path)
    for kind in MULTI_VECTOR_KINDS[1:]:
        index = made_index(kind, tmp_path)
        for scope, items in ((None, ITEMS), (Among(range(30, 221)), 191)):
            assert index.scored(10, items) < exact.scored(10, items) == items
            found, right = (each.search(questions(), 10, scope) for each in (index, exact))
            shared = [len(np.intersect1d(one.rows, two.rows)) for one, two in zip(found, right, strict=True)]
            assert np.mean(shared) > 9


@pytest.mark.parametrize("kind", MULTI_VECTOR_KINDS)
def test_a_collection_may_be_moved(kind: str, tmp_path: Path) -> None:
    index = made_index(kind, tmp_path / "before")
    expected = [found.rows.tolist() for found in index.search(questions(), 10)]
    folder = published(index, tmp_path / "before")
    (tmp_path / "before").rename(tmp_path / "after")
    moved = MultiVectorIndex(kind, 64, tmp_path / "after" / folder.relative_to(tmp_path / "before"))
    assert [found.rows.tolist() for found in moved.search(questions(), 10)] == expected
    again = MultiVectorIndex(kind, 64, published(moved, tmp_path / "after", "000002"))
    shutil.rmtree(tmp_path / "after" / "indexes" / "encoder.exact" / "000001")
    assert [found.rows.tolist() for found in again.search(questions(), 10)] == expected


def test_exact_search_keeps_no_vectors_of_its_own(tmp_path: Path) -> None:
    index = made_index("exact", tmp_path)
    folder = published(index, tmp_path)
    assert sum(path.stat().st_size for path in folder.iterdir()) < 0.05 * index.items.vector_bytes(index.items.places())


def test_what_was_removed_leaves_the_files(tmp_path: Path) -> None:
    index = made_index("pool2", tmp_path)
    whole = published(index, tmp_path) / "candidates" / "vectors.bin"
    size = whole.stat().st_size
    index.remove(np.arange(1, 181))
    folder = published(index, tmp_path, "000002")
    assert (folder / "candidates" / "vectors.bin").stat().st_size < size / 3
    assert len(json.loads((folder / "files.json").read_text("utf-8"))) == 1


@pytest.mark.parametrize("kind", MULTI_VECTOR_KINDS)
def test_a_shard_that_is_gone_or_cut_short_is_named(kind: str, tmp_path: Path) -> None:
    index = MultiVectorIndex(kind, 64, published(made_index(kind, tmp_path), tmp_path))
    shard = tmp_path / "vectors" / "encoder" / "61.npz"
    content = shard.read_bytes()
    shard.unlink()
    with pytest.raises(CollectionError, match=r"61\.npz is missing"):
        index.search(questions(), 10)
    for size in (0, len(BEFORE), len(content) - 1):
        shard.write_bytes(content[:size])
        with pytest.raises(CollectionError, match=r"61\.npz, which holds vectors of the index, is damaged"):
            index.search(questions(), 10)
    assert index.search(questions(), 3, Among(range(1, 61)))[0].rows.size == 3
    shard.write_bytes(content)
    assert index.search(questions(), 10)[0].rows.size == 10


@pytest.mark.parametrize("kind", MULTI_VECTOR_KINDS[1:])
def test_a_shard_that_cannot_be_compressed_is_named_and_not_added(kind: str, tmp_path: Path) -> None:
    index, shard = MultiVectorIndex(kind, 64), made_shard(tmp_path / "shard.npz", topics(40))
    shard.path.unlink()
    with pytest.raises(CollectionError, match=r"shard\.npz is missing"):
        index.add(shard)
    assert index.rows.tolist() == []


@pytest.mark.parametrize("kind", MULTI_VECTOR_KINDS)
def test_a_damaged_folder_is_refused_when_it_is_opened(kind: str, tmp_path: Path) -> None:
    folder = published(made_index(kind, tmp_path), tmp_path)
    for path in [path for path in folder.rglob("*") if path.is_file() and path.name != "vectors.bin"]:
        content = path.read_bytes()
        for damaged in (b"", content[:-1], content[: len(content) // 2]):
            path.write_bytes(damaged)
            with pytest.raises(CollectionError, match=f"{path.parent.name}.* (damaged|missing)"):
                MultiVectorIndex(kind, 64, folder)
        path.unlink()
        with pytest.raises(CollectionError, match=f"{path.parent.name}.* (damaged|missing)"):
            MultiVectorIndex(kind, 64, folder)
        path.write_bytes(content)
    assert len(MultiVectorIndex(kind, 64, folder).rows) == ITEMS


@pytest.mark.parametrize(
    "files", [[], [["../../x.npz", 0, "<f2", 64, 3, 0, 384]], [["x", 0, "no type", 64, 9, 0, 9]], [1], {}, None]
)
def test_a_table_that_does_not_fit_its_files_is_refused(files: Any, tmp_path: Path) -> None:
    folder = published(made_index("exact", tmp_path), tmp_path)
    (folder / "files.json").write_text(json.dumps(files), "utf-8")
    seal(folder, ["files.json", "items.npy", "checksums.npy"])  # as if it had been written so
    with pytest.raises(CollectionError, match=r"000001 is damaged"):
        MultiVectorIndex("exact", 64, folder)


def test_compressed_vectors_that_were_cut_short_are_named(tmp_path: Path) -> None:
    folder = published(made_index("binary", tmp_path), tmp_path)
    with (folder / "candidates" / "vectors.bin").open("r+b") as file:
        file.truncate(1000)
    with pytest.raises(CollectionError, match=r"vectors\.bin, which holds vectors of the index, is damaged"):
        MultiVectorIndex("binary", 64, folder).search(questions(), 10)


@pytest.mark.parametrize("kind", MULTI_VECTOR_KINDS)
def test_items_without_vectors_are_never_found(kind: str, tmp_path: Path) -> None:
    index, none, one = MultiVectorIndex(kind, 4), np.empty((0, 4), np.float32), np.ones((1, 4), np.float32)
    index.add(made_shard(tmp_path / "some", {1: none, 2: np.concatenate([-one, -one]), 3: none, 4: -2 * one, 5: none}))
    index.add(made_shard(tmp_path / "none", {6: none, 7: none}, dimension=4))
    assert index.rows.tolist() == [2, 4]
    (found,) = index.search([np.concatenate([one, one])], 10)
    assert (found.rows.tolist(), found.scores.tolist()) == ([2, 4], [-8, -16])


@pytest.mark.parametrize("kind", MULTI_VECTOR_KINDS)
def test_a_question_without_vectors_finds_nothing(kind: str, tmp_path: Path) -> None:
    index, some = made_index(kind, tmp_path), questions()[0]
    found = index.search([np.empty((0, 64), np.float32), some, np.empty((0, 64), np.float32)], 5)
    assert [len(one.rows) for one in found] == [0, 5, 0]
    assert found[1].rows.tolist() == index.search([some], 5)[0].rows.tolist()
    assert [len(one.rows) for one in index.search([some, some], 0)] == [0, 0]


def test_changes_after_opening_are_kept_with_what_was_compressed_before(tmp_path: Path) -> None:
    items = topics(ITEMS)
    for kind in ("two-stage", "pool3", "binary"):
        root = tmp_path / kind
        index = MultiVectorIndex(kind, 64, published(made_index(kind, root), root))
        index.remove(np.arange(61, 121))
        index.add(made_shard(root / "vectors" / "encoder" / "anew.npz", {row: items[row] for row in range(61, 121)}))
        again = MultiVectorIndex(kind, 64, published(index, root, "000002"))
        right = made_index(kind, root)
        for opened in (index, again):
            for one, other in zip(opened.search(questions(), 10), right.search(questions(), 10), strict=True):
                assert one.rows.tolist() == other.rows.tolist()


@pytest.mark.parametrize("kind", MULTI_VECTOR_KINDS)
def test_threads_may_search_at_once(kind: str, tmp_path: Path) -> None:
    index = MultiVectorIndex(kind, 64, published(made_index(kind, tmp_path), tmp_path))
    alone = [index.search([query], 7)[0].rows.tolist() for query in questions()]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda query: index.search([query], 7)[0].rows.tolist(), 3 * questions()))
    assert together == 3 * alone


@pytest.mark.skipif(not MAPS.is_file(), reason="which files are mapped is read from /proc")
def test_no_shard_stays_mapped(tmp_path: Path) -> None:
    index = made_index("exact", tmp_path)
    index.search(questions(), 10)
    assert str(tmp_path) not in MAPS.read_text("utf-8")


def test_passing_files_go_with_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "passing").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "passing"))
    index = made_index("binary", tmp_path)
    assert len([*(tmp_path / "passing").rglob("*.bin")]) == 4
    del index
    gc.collect()
    assert [*(tmp_path / "passing").iterdir()] == []


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    index, shard = MultiVectorIndex("pool2", 64), made_shard(tmp_path / "shard", topics(200))
    with _files_of_at_most(2000), pytest.raises(StorageError, match="cannot write"):
        index.add(shard)
    index.add(shard)
    assert len(index.search(questions(), 5)[0].rows) == 5


@contextmanager
def _files_of_at_most(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_shards_in_single_precision_are_searched_too(tmp_path: Path) -> None:
    items = topics(30)
    index = MultiVectorIndex("exact", 64)
    index.add(made_shard(tmp_path / "shard", items, dtype="float32"))
    for query in questions()[:3]:
        (found,), right = index.search([query], 10), brute_force(items, query, 10)
        assert found.rows.tolist() == right.rows.tolist()
        np.testing.assert_allclose(found.scores, right.scores, rtol=1e-6)
