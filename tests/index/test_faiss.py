"""FAISS behind the interface of all indexes: every kind, and what is FAISS's own."""

import shutil
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from operating_system import no_file_above

from quoteweave.core.errors import CollectionError, MissingExtra
from quoteweave.index.base import SearchScope, TopItems, VectorIndex
from quoteweave.index.faiss import search as faiss_search
from quoteweave.index.faiss.index import FaissIndex
from quoteweave.testing.vector_index_conformance import VectorIndexTests

Matrix = npt.NDArray[np.float32]
MANY = 11_000


class FaissTests(VectorIndexTests):
    kind = "flat"

    def make(self, dimension: int) -> VectorIndex:
        return FaissIndex(self.kind, dimension)

    def reopen(self, index: VectorIndex, folder: Path) -> VectorIndex:
        index.save(folder)
        return FaissIndex(self.kind, 8, folder)


class TestFlat(FaissTests):
    pass


class TestHalfPrecision(FaissTests):
    kind = "fp16"


class TestIvfPqBeforeItIsTrained(FaissTests):
    kind = "ivfpq"


class TestHnswThatIsSmall(FaissTests):
    kind = "hnsw"


class TestHnswThroughItsGraph(FaissTests):
    kind = "hnsw"
    exact = False

    @pytest.fixture(autouse=True)
    def _never_compares_all_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(faiss_search, "COST_PER_CANDIDATE", 0)


@pytest.mark.parametrize("kind", ["flat", "fp16"])
class TestByChunks(FaissTests):
    """As large indexes are searched for many questions, or within wide filters."""

    @pytest.fixture(autouse=True)
    def _small_chunks(self, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.kind = kind
        monkeypatch.setattr(faiss_search, "MAX_ONE_BY_ONE", 0)
        monkeypatch.setattr(faiss_search, "MAX_ONE_BY_ONE_IN_HALVES", 0)
        monkeypatch.setattr(faiss_search, "CHUNK", 5)


class Only(SearchScope):
    """A scope of these rows."""

    def __init__(self, rows: npt.NDArray[np.int64]) -> None:
        self.rows = rows


def brute_force(vectors: Matrix, query: Matrix, k: int) -> list[int]:
    scores = (vectors.astype(np.float64) @ query.astype(np.float64)).astype(np.float32)
    return [int(row) for row in np.lexsort((np.arange(len(vectors)), -scores))[:k]]


def index_of(kind: str, vectors: Matrix) -> FaissIndex:
    """An index whose rows are the places of the vectors."""
    index = FaissIndex(kind, vectors.shape[1])
    index.add_vectors(np.arange(len(vectors)), vectors)
    return index


def clustered(number: int, dimension: int = 16) -> Matrix:
    """Vectors of length 1 about 50 centres, as embeddings are; the same ones first for every number."""
    return _all_clustered(dimension)[:number].copy()


@cache
def _all_clustered(dimension: int) -> Matrix:
    chance = np.random.default_rng(0)
    centres = chance.normal(size=(50, dimension))
    vectors = centres[chance.integers(0, 50, MANY)] + chance.normal(size=(MANY, dimension))
    made: Matrix = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return made


def rows_of(found: list[TopItems]) -> list[list[int]]:
    return [one.rows.tolist() for one in found]


def reopened(index: FaissIndex, folder: Path) -> FaissIndex:
    folder.mkdir(parents=True)
    index.save(folder)
    return FaissIndex(index.kind, index.dimension, folder)


# Sums of products of these are exact in double precision, in whatever order, but seldom in single precision.
numbers = st.one_of(st.sampled_from([0.0, 1.0, -1.0]), st.integers(-(2**20), 2**20).map(lambda n: n / 1024))


@given(st.data())
def test_flat_is_brute_force_whatever_the_numbers(data: st.DataObject) -> None:
    shape = st.tuples(st.integers(1, 40), st.just(3))
    vectors = data.draw(arrays(np.float32, shape, elements=numbers))
    queries = data.draw(arrays(np.float32, (5, 3), elements=numbers))
    k = data.draw(st.integers(1, 45))
    passing = np.flatnonzero(data.draw(arrays(np.bool_, len(vectors))))
    index = index_of("flat", vectors)
    for asked in (queries[:1], queries):
        found, within = (index.search([query[None] for query in asked], k, scope) for scope in (None, Only(passing)))
        assert rows_of(found) == [brute_force(vectors, query, k) for query in asked]
        assert rows_of(within) == [passing[brute_force(vectors[passing], query, k)].tolist() for query in asked]


def test_a_score_depends_on_the_question_and_the_vector_alone() -> None:
    chance = np.random.default_rng(1)
    vectors = chance.normal(size=(3000, 385)).astype(np.float32)
    queries = [query[None] for query in chance.normal(size=(70, 385)).astype(np.float32)]
    copies = [7, 1500, 2041, 2998, 2999]
    vectors[copies] = vectors[7]
    queries[:30] = [vectors[7:8] + 0.1 * query for query in queries[:30]]
    index = index_of("flat", vectors)
    together = index.search(queries, 10)
    for query, found in zip(queries, together, strict=True):
        ((alone,), (within,)) = index.search([query], 10), index.search([query], 10, Only(np.sort(found.rows)))
        assert alone.rows.tolist() == found.rows.tolist() == within.rows.tolist()
        assert alone.scores.tolist() == found.scores.tolist() == within.scores.tolist()
    assert all(
        found.rows.tolist()[:5] == copies and len(set(found.scores.tolist()[:5])) == 1 for found in together[:30]
    )


@pytest.mark.parametrize("number", [1, 30])
def test_more_equal_vectors_than_candidates_are_told_apart_by_row(number: int) -> None:
    vectors = clustered(2000, 7)
    vectors[300:1900] = vectors[300]
    queries = [vectors[300:301] + np.float32(0.01 * i) for i in range(number)]
    found = index_of("flat", vectors).search(queries, 12)
    assert rows_of(found) == [brute_force(vectors, query[0], 12) for query in queries]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Gives the folder of a saved index of each kind, large enough to go through a graph or through lists."""

    @cache
    def folder_of(kind: str) -> Path:
        folder = tmp_path_factory.mktemp(kind)
        index_of(kind, clustered(MANY)).save(folder)
        return folder

    return folder_of


@pytest.mark.parametrize(("kind", "at_least"), [("fp16", 0.99), ("hnsw", 0.95), ("ivfpq", 0.6)])
def test_kinds_that_are_not_exact_find_most_of_what_exact_search_finds(
    kind: str, at_least: float, saved: Callable[[str], Path]
) -> None:
    vectors = clustered(MANY)
    queries = [query[None] for query in vectors[::110] + np.float32(0.02)]
    right = index_of("flat", vectors).search(queries, 10)
    index = FaissIndex(kind, 16, saved(kind))
    shared = [len(set(a) & set(b)) for a, b in zip(rows_of(index.search(queries, 10)), rows_of(right), strict=True)]
    assert sum(shared) / (10 * len(queries)) >= at_least
    assert kind != "ivfpq" or sum(shared) < 10 * len(queries)


@pytest.fixture(scope="module", params=["hnsw", "ivfpq"])
def large(request: pytest.FixtureRequest, saved: Callable[[str], Path]) -> tuple[str, Path]:
    return request.param, saved(request.param)


@pytest.mark.parametrize("number", [1, 30])
@pytest.mark.parametrize("every", [2, 40, 1000])
def test_a_filter_hides_nothing_that_passes_it(large: tuple[str, Path], every: int, number: int) -> None:
    kind, folder = large
    index, passing = FaissIndex(kind, 16, folder), np.arange(0, MANY, every)
    queries = [query[None] for query in clustered(number)]
    for k in (5, len(passing), MANY):
        found = index.search(queries, k, Only(passing))
        assert {len(one.rows) for one in found} == {min(k, len(passing))}
        assert set(np.concatenate([one.rows for one in found]).tolist()) <= set(passing.tolist())
    assert [sorted(rows) for rows in rows_of(found)] == [passing.tolist()] * number


def test_what_is_removed_leaves_the_graph_and_the_lists_when_they_are_saved(
    large: tuple[str, Path], tmp_path: Path
) -> None:
    import faiss

    kind, folder = large
    index, vectors = FaissIndex(kind, 16, folder), clustered(MANY)
    gone, queries = np.arange(0, MANY, 3), [query[None] for query in clustered(60)]
    index.remove(gone)
    before = index.search(queries, 10)
    smaller = reopened(index, tmp_path / "smaller")
    assert faiss.read_index(str(tmp_path / "smaller" / "vectors.faiss")).ntotal == MANY - len(gone)
    for found in (before, index.search(queries, 10), smaller.search(queries, 10)):
        assert {len(one.rows) for one in found} == {10}
        assert not set(np.concatenate([one.rows for one in found]).tolist()) & set(gone.tolist())
    (own,) = smaller.search([vectors[1:2]], 1)
    assert own.rows.tolist() == [1]
    smaller.add_vectors(gone, vectors[gone])
    found = reopened(smaller, tmp_path / "whole").search([vectors[3:4], vectors[4:5]], 1)
    assert rows_of(found) == [[3], [4]]
    assert smaller.rows.tolist() == list(range(MANY))


def test_of_equal_codes_the_lower_row_comes_first(large: tuple[str, Path], tmp_path: Path) -> None:
    kind, folder = large
    index, vectors = FaissIndex(kind, 16, folder), clustered(MANY)
    index.add_vectors(np.arange(MANY, MANY + 6), np.repeat(vectors[5:6], 6, axis=0))
    (found,) = index.search([vectors[5:6]], 7)
    assert found.rows.tolist() == [5, *range(MANY, MANY + 6)]


@pytest.mark.parametrize("kind", ["flat", "fp16", "hnsw"])
def test_an_opened_index_outlives_its_folder_until_it_is_changed(kind: str, tmp_path: Path) -> None:
    vectors = clustered(500)
    index = reopened(index_of(kind, vectors), tmp_path / "saved")
    again = reopened(index, tmp_path / "again")
    shutil.rmtree(tmp_path / "saved")
    shutil.rmtree(tmp_path / "again")
    for opened in (index, again):
        assert rows_of(opened.search([vectors[9:10]], 1)) == [[9]]
        opened.remove(np.array([9]))
        assert rows_of(opened.search([vectors[9:10]], 1)) != [[9]]
        with pytest.raises(CollectionError, match=r"vectors\.faiss is missing"):
            opened.add_vectors(np.array([9]), vectors[9:10])


def test_searches_leave_the_vectors_on_disk_as_they_are(tmp_path: Path) -> None:
    index = reopened(index_of("flat", clustered(500)), tmp_path / "saved")
    before = (tmp_path / "saved" / "vectors.faiss").read_bytes()
    index.remove(np.array([3, 4]))
    index.add_vectors(np.array([900]), clustered(1))
    index.search([clustered(1)], 3)
    reopened(index, tmp_path / "changed")
    assert (tmp_path / "saved" / "vectors.faiss").read_bytes() == before


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def overwrite(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def flip(path: Path) -> None:
    """One wrong byte, in the middle of a vector or of a row."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


@pytest.mark.parametrize("kind", ["flat", "fp16", "hnsw", "ivfpq"])
@pytest.mark.parametrize("name", ["vectors.faiss", "items.npz"])
@pytest.mark.parametrize("damage", [cut, empty, overwrite, flip, Path.unlink])
def test_damaged_files_are_named(kind: str, name: str, damage: Any, tmp_path: Path) -> None:
    index = index_of(kind, clustered(50))
    reopened(index, tmp_path / "saved")
    damage(tmp_path / "saved" / name)
    with pytest.raises(CollectionError, match=r"is (damaged|missing)") as caught:
        FaissIndex(kind, 16, tmp_path / "saved")
    assert str(tmp_path / "saved" / name) in str(caught.value)


def test_files_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    reopened(index_of("flat", clustered(50)), tmp_path / "one")
    reopened(index_of("flat", clustered(40)), tmp_path / "other")
    with pytest.raises(CollectionError, match="damaged"):
        FaissIndex("flat", 17, tmp_path / "one")
    shutil.copy(tmp_path / "one" / "vectors.faiss", tmp_path / "other")
    with pytest.raises(CollectionError, match="damaged"):
        FaissIndex("flat", 16, tmp_path / "other")


def test_a_full_disk_is_told_as_the_system_tells_it(tmp_path: Path) -> None:
    index = index_of("flat", clustered(5000))
    with no_file_above(100_000), pytest.raises(OSError, match="too large"):
        index.save(tmp_path)
    assert rows_of(index.search([clustered(1)], 1)) == [[0]]


class FakeGpu:
    """A copy of an index as FAISS makes it on a GPU, which counts how often it is searched, and by how many at once.

    After `fit` searches it is out of memory.
    """

    fit = sys.maxsize

    def __init__(self, index: Any) -> None:
        import faiss

        self.index, self.searches, self.most = faiss.clone_index(index), 0, 0
        self.within: list[int] = []

    def search(self, queries: Matrix, k: int) -> Any:
        self.searches += 1
        if self.searches > self.fit:
            raise RuntimeError("out of memory")
        self.within.append(k)
        for _ in range(2000):  # long enough for another thread to come
            self.most = max(self.most, len(self.within))
        self.within.pop()
        return self.index.search(queries, k)


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> list[FakeGpu]:
    """One GPU, and what is copied to it."""
    import faiss

    made: list[FakeGpu] = []

    def copied(of: Any) -> FakeGpu:
        made.append(FakeGpu(of))
        return made[-1]

    monkeypatch.setattr(faiss, "get_num_gpus", lambda: 1)
    monkeypatch.setattr(faiss, "index_cpu_to_all_gpus", copied, raising=False)
    return made


def test_where_there_is_a_gpu_a_flat_index_is_searched_there(copies: list[FakeGpu]) -> None:
    vectors = clustered(400)
    index, queries = index_of("flat", vectors), [query[None] for query in vectors[:30]]
    right = [TopItems(np.array(brute_force(vectors, query[0], 5)), np.empty(5, np.float32)) for query in queries]
    within = [TopItems(np.array(brute_force(vectors[:90], query[0], 5)), np.empty(5, np.float32)) for query in queries]
    index.add_vectors(np.array([400]), -vectors[:1])
    assert rows_of(index.search(queries, 5)) == rows_of(index.search(queries, 5)) == rows_of(right)
    assert [copy.searches for copy in copies] == [2]
    assert rows_of(index.search(queries, 5, Only(np.arange(90)))) == rows_of(within)
    assert rows_of(index.search([-queries[0]], 1)) == [[400]]
    assert [copy.searches for copy in copies] == [3]


def test_a_graph_is_not_copied_to_a_gpu(copies: list[FakeGpu]) -> None:
    vectors = clustered(400)
    assert rows_of(index_of("hnsw", vectors).search([vectors[:1]], 5)) == [brute_force(vectors, vectors[0], 5)]
    assert copies == []


def test_one_thread_at_a_time_is_on_the_gpu(copies: list[FakeGpu]) -> None:
    vectors, threads = clustered(2000), 8
    index, together = index_of("flat", vectors), Barrier(threads)

    def search(number: int) -> list[list[list[int]]]:
        together.wait()
        return [rows_of(index.search([vectors[number : number + 1]], 5)) for _ in range(40)]

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(threads) as pool:
            found = list(pool.map(search, range(threads)))
    finally:
        sys.setswitchinterval(before)
    assert found == [[[brute_force(vectors, vectors[number], 5)]] * 40 for number in range(threads)]
    assert [(copy.searches, copy.most) for copy in copies] == [(40 * threads, 1)]


def test_a_gpu_that_fills_up_is_given_up_with_a_warning(
    copies: list[FakeGpu], monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    monkeypatch.setattr(FakeGpu, "fit", 2)
    vectors = clustered(400)
    index = index_of("flat", vectors)
    for number in range(5):
        found = index.search([vectors[number : number + 1]], 5)
        assert rows_of(found) == [brute_force(vectors, vectors[number], 5)]
    assert [copy.searches for copy in copies] == [3]
    (warning,) = recwarn
    assert str(warning.message) == (
        "a search on the GPU failed (out of memory); this index is searched on the processor from now on"
    )


def test_where_the_gpu_is_full_the_search_stays_here(monkeypatch: pytest.MonkeyPatch) -> None:
    import faiss

    def full(of: Any) -> None:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(faiss, "get_num_gpus", lambda: 1)
    monkeypatch.setattr(faiss, "index_cpu_to_all_gpus", full, raising=False)
    assert rows_of(index_of("flat", clustered(40)).search([clustered(1)], 1)) == [[0]]


def test_without_faiss_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingExtra, match=r"faiss is not installed.*quoteweave\[models\]"):
        FaissIndex("flat", 3)
