"""Conformance tests of a vector index: what any index must do, compared with brute force.

Derive a class from `VectorIndexTests` in a test module and define how an index is made, and how it is saved and opened
again; pytest runs the tests:

    class TestMyIndex(VectorIndexTests):
        def make(self, dimension: int) -> VectorIndex:
            return MyIndex(dimension)

        def reopen(self, index: VectorIndex, folder: Path) -> VectorIndex:
            index.save(folder)
            return MyIndex.open(folder)
"""
# ruff: noqa: D102, S101 - tests say by their names what holds, and hold it by asserting

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quoteweave.core.errors import FingerprintMismatch
from quoteweave.core.records import Filter
from quoteweave.index.base import SearchScope, Shard, VectorIndex
from quoteweave.testing.vector_fixtures import (
    DIMENSION,
    DOCUMENTS,
    VectorFixture,
    brute_force,
    make_vector_fixture,
    make_vectors,
)

if TYPE_CHECKING:
    from quoteweave.core.protocols import Matrix
    from quoteweave.testing.vector_fixtures import Items

HARBOUR, MILL, ROAD = DOCUMENTS
ALL = 1000
FILTERS = {
    "one document": Filter(documents=(MILL,)),
    "two documents": Filter(documents=(ROAD, HARBOUR)),
    "no document": Filter(documents=()),
    "a page": Filter(first_page=1, last_page=1),
    "pages to the end": Filter(first_page=2),
    "pages of a document": Filter(documents=(HARBOUR,), last_page=1),
    "pages that are not there": Filter(first_page=99),
    "images": Filter(kind="image"),
    "texts": Filter(kind="text"),
    "layouts": Filter(layouts=("table", "title")),
    "metadata": Filter(metadata={"year": "2024"}),
    "two pairs of metadata": Filter(metadata={"year": "2024", "team": "roads"}),
    "metadata that no document has": Filter(metadata={"year": "1999"}),
    "all at once": Filter(first_page=0, last_page=3, kind="image", layouts=("table",), metadata={"year": "2024"}),
    "nothing narrowed": Filter(),
}


class VectorIndexTests:
    """The tests that every index must pass. Vectors of whole numbers have many equal scores, and no rounding errors.

    Further tests of a subclass may use its fixtures: `vector_fixture`, the collection, `items` of it, and an `index`.
    """

    exact = True
    """Whether the index finds the same as brute force; one that does not must still find as many."""
    tolerance = 1e-5
    """How far a score may be off, for vectors of length about 3."""
    multi_vector = False
    """Whether items and questions have many vectors, rather than one."""

    def make(self, dimension: int) -> VectorIndex:
        """Make an empty index."""
        raise NotImplementedError

    def reopen(self, index: VectorIndex, folder: Path) -> VectorIndex:
        """The index after it was saved into `folder`, which is empty, and opened from there."""
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def vector_fixture(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VectorFixture]:
        vector_fixture = make_vector_fixture(tmp_path_factory.mktemp("made"))
        with vector_fixture.collection:
            yield vector_fixture

    @pytest.fixture
    def items(self, vector_fixture: VectorFixture) -> "Items":
        """An item of whole numbers for each retrievable quote."""
        return self.items_of(vector_fixture, seed=1)

    @pytest.fixture
    def index(self, vector_fixture: VectorFixture, items: "Items") -> VectorIndex:
        """An index of all items; documents are not added in the order of their rows."""
        index = self.make(DIMENSION)
        for document in (MILL, ROAD, HARBOUR):
            index.add(self.shard(vector_fixture, document, items))
        return index

    def test_it_finds_what_brute_force_finds(self, vector_fixture: VectorFixture) -> None:
        items, index = self.items_of(vector_fixture, seed=2, integers=False), self.make(DIMENSION)
        for document in DOCUMENTS:
            index.add(self.shard(vector_fixture, document, items))
        for query in self.queries(5, integers=False):
            for k in (1, 7, 40):
                self.check(index, items, query, k)

    @pytest.mark.parametrize("k", [1, 2, 3, 5, 8, 13, 21, 34, 55])
    def test_of_equal_scores_the_lower_row_comes_first(self, index: VectorIndex, items: "Items", k: int) -> None:
        for query in self.queries(8):
            self.check(index, items, query, k)

    def test_of_all_scores_equal_the_lowest_rows_come_first(self, index: VectorIndex, items: "Items") -> None:
        for k in (1, 12, ALL):
            self.check(index, items, 0 * self.queries(1)[0], k)

    def test_more_hits_than_items_are_all_items(self, index: VectorIndex, items: "Items") -> None:
        for k in (len(items), len(items) + 1, 10 * ALL):
            self.check(index, items, self.queries(1)[0], k)

    def test_an_empty_index_finds_nothing(self, vector_fixture: VectorFixture) -> None:
        index = self.make(DIMENSION)
        assert index.rows.tolist() == []
        for scope in (
            None,
            SearchScope(vector_fixture.collection, Filter()),
            SearchScope(vector_fixture.collection, FILTERS["no document"]),
        ):
            assert [hits.rows.tolist() for hits in index.search(self.queries(2), 5, scope)] == [[], []]

    def test_no_questions_find_nothing(self, index: VectorIndex) -> None:
        assert index.search([], 5) == []

    @pytest.mark.parametrize("name", [None, "nothing narrowed", "texts", "one document"])
    def test_many_questions_at_once_find_what_each_finds_alone(
        self, index: VectorIndex, vector_fixture: VectorFixture, name: str | None
    ) -> None:
        scope, queries = (
            None if name is None else SearchScope(vector_fixture.collection, FILTERS[name]),
            self.queries(70),
        )
        together = index.search(queries, 9, scope)
        for at in (*range(0, len(queries), 6), len(queries) - 1):
            in_batch, alone = together[at], index.search([queries[at]], 9, scope)[0]
            assert (in_batch.rows.tolist(), in_batch.scores.tolist()) == (alone.rows.tolist(), alone.scores.tolist())

    @pytest.mark.parametrize("name", FILTERS)
    def test_within_a_scope_its_quotes_alone_are_found(
        self, index: VectorIndex, items: "Items", vector_fixture: VectorFixture, name: str
    ) -> None:
        scope = SearchScope(vector_fixture.collection, FILTERS[name])
        for query in self.queries(3):
            for k in (1, 6, ALL):
                self.check(index, items, query, k, scope=scope)

    def test_a_scope_may_hold_quotes_that_are_no_items(self, items: "Items", vector_fixture: VectorFixture) -> None:
        index = self.make(DIMENSION)
        index.add(self.shard(vector_fixture, MILL, items))
        of_mill = {row: items[row] for row in vector_fixture.rows(MILL)}
        for name in ("one document", "two documents", "texts", "metadata"):
            self.check(
                index, of_mill, self.queries(1)[0], 50, scope=SearchScope(vector_fixture.collection, FILTERS[name])
            )

    def test_removed_is_gone(
        self, index: VectorIndex, items: "Items", vector_fixture: VectorFixture, tmp_path: Path
    ) -> None:
        removed = vector_fixture.rows(MILL) + vector_fixture.rows(HARBOUR)[::3]
        remaining = _without(items, removed)
        _remove(index, removed)
        for opened in (index, self.reopened(index, tmp_path)):
            assert opened.rows.tolist() == sorted(remaining)
            for query in self.queries(3):
                for name in ("nothing narrowed", "one document", "two documents"):
                    self.check(opened, remaining, query, 2)
                    self.check(
                        opened, remaining, query, ALL, scope=SearchScope(vector_fixture.collection, FILTERS[name])
                    )

    def test_removing_what_is_not_there_changes_nothing(self, index: VectorIndex, items: "Items") -> None:
        _remove(index, [-1, 0, max(items) + 1, 10**9])
        _remove(index, [])
        assert index.rows.tolist() == sorted(items)
        self.check(index, items, self.queries(1)[0], ALL)

    def test_it_may_be_empty(
        self, index: VectorIndex, items: "Items", vector_fixture: VectorFixture, tmp_path: Path
    ) -> None:
        index.remove(index.rows)
        for empty in (index, self.make(DIMENSION)):
            self.check(empty, {}, self.queries(1)[0], 5)
            opened = self.reopened(empty, tmp_path)
            self.check(opened, {}, self.queries(1)[0], 5)
            opened.add(self.shard(vector_fixture, MILL, items))
            self.check(opened, {row: items[row] for row in vector_fixture.rows(MILL)}, self.queries(1)[0], ALL)

    def test_an_item_that_is_added_again_is_found_by_its_new_vector(
        self, index: VectorIndex, items: "Items", vector_fixture: VectorFixture, tmp_path: Path
    ) -> None:
        renewed = {**items, **{row: self.items_of(vector_fixture, seed=3)[row] for row in vector_fixture.rows(MILL)}}
        _remove(index, vector_fixture.rows(MILL))
        index.add(self.shard(vector_fixture, MILL, renewed))
        for opened in (index, self.reopened(index, tmp_path)):
            assert opened.rows.tolist() == sorted(items)
            for query in self.queries(3):
                self.check(opened, renewed, query, 11)
                self.check(opened, renewed, query, ALL)

    def test_it_is_saved_whole(
        self, index: VectorIndex, items: "Items", vector_fixture: VectorFixture, tmp_path: Path
    ) -> None:
        for opened in (self.reopened(index, tmp_path), index):
            assert opened.rows.tolist() == sorted(items)
            for query in self.queries(4):
                self.check(opened, items, query, 10)
                self.check(opened, items, query, 10, scope=SearchScope(vector_fixture.collection, FILTERS["images"]))

    def test_an_opened_index_can_be_changed_and_saved_elsewhere(
        self, index: VectorIndex, items: "Items", vector_fixture: VectorFixture, tmp_path: Path
    ) -> None:
        opened, remaining = self.reopened(index, tmp_path), dict(items)
        for name in (MILL, HARBOUR):
            _remove(opened, vector_fixture.rows(name))
            remaining = _without(remaining, vector_fixture.rows(name))
            opened = self.reopened(opened, tmp_path)
            self.check(opened, remaining, self.queries(1)[0], ALL)
        opened.add(self.shard(vector_fixture, MILL, items))
        remaining.update({row: items[row] for row in vector_fixture.rows(MILL)})
        for changed in (opened, self.reopened(opened, tmp_path)):
            for query in self.queries(3):
                self.check(changed, remaining, query, 7)

    def test_a_document_without_items_changes_nothing(
        self, index: VectorIndex, items: "Items", vector_fixture: VectorFixture
    ) -> None:
        index.add(self.shard(vector_fixture, MILL, {}))
        self.check(index, items, self.queries(1)[0], 5)

    def test_vectors_of_another_dimension_are_refused(
        self, index: VectorIndex, items: "Items", vector_fixture: VectorFixture
    ) -> None:
        import numpy as np

        _remove(index, vector_fixture.rows(MILL))
        wider = {row: np.ones((1, DIMENSION + 1), np.float32) for row in vector_fixture.rows(MILL)}
        with pytest.raises(ValueError, match=str(DIMENSION + 1)):
            index.add(self.shard(vector_fixture, MILL, wider))
        assert index.rows.tolist() == sorted(_without(items, vector_fixture.rows(MILL)))

    @pytest.mark.parametrize("dimension", [1, DIMENSION - 1, DIMENSION + 1])
    def test_a_question_of_another_dimension_is_refused(self, index: VectorIndex, dimension: int) -> None:
        import numpy as np

        with pytest.raises(FingerprintMismatch, match=str(dimension)):
            index.search([np.ones((1, dimension), np.float32)], 3)

    @pytest.mark.parametrize("seed", range(3))
    def test_after_any_changes_what_is_found_is_what_is_there(
        self, vector_fixture: VectorFixture, seed: int, tmp_path: Path
    ) -> None:
        import numpy as np

        chance, index = np.random.default_rng(seed), self.make(DIMENSION)
        present: dict[int, Matrix] = {}
        for step in range(8):
            document = list(DOCUMENTS)[int(chance.integers(3))]
            rows = [row for row in vector_fixture.rows(document) if row in present]
            if rows:
                gone = [row for row in rows if step % 2 or chance.random() < 0.5]
                _remove(index, gone)
                present = _without(present, gone)
            else:
                anew = self.items_of(vector_fixture, seed=step)
                index.add(self.shard(vector_fixture, document, anew))
                present |= {row: anew[row] for row in vector_fixture.rows(document)}
            if chance.random() < 0.3:
                index = self.reopened(index, tmp_path)
            assert index.rows.tolist() == sorted(present)
            self.check(index, present, self.queries(1)[0], 5)
            self.check(
                index,
                present,
                self.queries(1)[0],
                ALL,
                scope=SearchScope(vector_fixture.collection, FILTERS["two documents"]),
            )

    def check(
        self, index: VectorIndex, items: "Items", query: "Matrix", k: int, *, scope: SearchScope | None = None
    ) -> None:
        """Check that the index finds the best of these items in order; rounding may swap items with close scores."""
        import numpy as np

        (hits,) = index.search([query], k, scope)
        best = brute_force(items, query, len(items), None if scope is None else set(scope.rows.tolist()))
        rows, right = hits.rows.tolist(), dict(zip(best.rows.tolist(), best.scores.tolist(), strict=True))
        assert (hits.rows.dtype.name, hits.scores.dtype.name) == ("int64", "float32")
        assert len(hits.scores) == len(rows) == len(set(rows)) == min(k, len(right))
        assert set(rows) <= set(right)
        np.testing.assert_allclose(hits.scores, [right[row] for row in rows], rtol=0, atol=self.tolerance)
        pairs = list(zip((-hits.scores).tolist(), rows, strict=True))
        assert pairs == sorted(pairs)
        if self.exact:
            np.testing.assert_allclose(hits.scores, best.scores[:k], rtol=0, atol=self.tolerance)
            assert (query % 1).any() or rows == best.rows.tolist()[:k]

    def reopened(self, index: VectorIndex, folder: Path) -> VectorIndex:
        """Do as `reopen`, in a new folder below that one."""
        new = folder / f"saved-{len(list(folder.iterdir()))}"
        new.mkdir()
        return self.reopen(index, new)

    def shard(self, vector_fixture: VectorFixture, document: str, items: "Items") -> Shard:
        """The document's shard, in the number type that such items have on disk."""
        return vector_fixture.shard(document, items, dtype="float16" if self.multi_vector else "float32")

    def items_of(self, vector_fixture: VectorFixture, *, seed: int, integers: bool = True) -> "Items":
        """An item for each retrievable quote, with one vector, or with one to four."""
        import numpy as np

        chance, most = np.random.default_rng(seed), 4 if self.multi_vector else 1
        rows = vector_fixture.collection.select().tolist()
        return {row: make_vectors(chance, int(chance.integers(most)) + 1, integers=integers) for row in rows}

    def queries(self, number: int, *, integers: bool = True) -> "list[Matrix]":
        """Questions with one vector, or with one to three."""
        import numpy as np

        chance, most = np.random.default_rng(number), 3 if self.multi_vector else 1
        return [make_vectors(chance, int(chance.integers(most)) + 1, integers=integers) for _ in range(number)]


def _remove(index: VectorIndex, rows: list[int]) -> None:
    import numpy as np

    index.remove(np.array(rows, np.int64))


def _without(items: "Items", rows: list[int]) -> "dict[int, Matrix]":
    return {row: matrix for row, matrix in items.items() if row not in rows}
