"""The Milvus index does what every index does, whatever documents are called and however much is asked for."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_collections import make_collection, put

from quoteweave.collection.collection import Collection
from quoteweave.collection.unreferenced import MILVUS_POINTER as POINTER
from quoteweave.core.errors import UsageError
from quoteweave.core.records import Filter
from quoteweave.index.base import SearchScope, VectorIndex
from quoteweave.index.milvus import index as milvus
from quoteweave.index.milvus.connection import Milvus
from quoteweave.index.milvus.index import MilvusIndex
from quoteweave.index.milvus.schema import expression
from quoteweave.testing.vector_fixtures import DIMENSION, DOCUMENTS, VectorFixture, make_vectors
from quoteweave.testing.vector_index_conformance import FILTERS, VectorIndexTests

if TYPE_CHECKING:
    from quoteweave.testing.vector_fixtures import Items

HARBOUR, MILL, ROAD = DOCUMENTS
HOSTILE = (
    '" or row >= 0 or document == "',
    "' or row >= 0 or document == '",
    '"] or row >= 0 #',
    "ends with a backslash\\",
    '\\" or row >= 0 or document == \\"',
    "two\nlines\tand\r\ntabs",
    "{name}",
    "%_*",
    "日本語.pdf",
    "𠀀 beyond the first plane.pdf",
    "a" * 300,
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where an embedded Milvus runs for all tests of this module."""
    place = tmp_path_factory.mktemp("place")
    running = Milvus(place)
    yield place
    running.close()


class TestMilvusIndex(VectorIndexTests):
    @pytest.fixture(autouse=True)
    def _place(self, place: Path) -> Iterator[None]:
        self.place = place
        self.opened: list[MilvusIndex] = []
        yield
        for index in self.opened:
            index.close()

    def make(self, dimension: int) -> VectorIndex:
        self.opened.append(MilvusIndex(dimension, database_folder=self.place))
        return self.opened[-1]

    def reopen(self, index: VectorIndex, folder: Path) -> VectorIndex:
        index.save(folder)
        self.opened.append(MilvusIndex(DIMENSION, folder, database_folder=self.place))
        return self.opened[-1]

    @pytest.mark.parametrize("at_once", [7, 16])
    def test_how_much_milvus_gives_at_once_limits_nothing(
        self, vector_fixture: VectorFixture, items: "Items", monkeypatch: pytest.MonkeyPatch, at_once: int
    ) -> None:
        limits = {"MAX_HITS": at_once, "HITS_AT_ONCE": 20, "QUESTIONS_AT_ONCE": 2, "ROWS_AT_ONCE": 5}
        for name, most in limits.items():
            monkeypatch.setattr(milvus, name, most)
        _refuse_more(monkeypatch, hits=at_once, questions=2, rows=5)
        index = self.make(DIMENSION)
        for document in DOCUMENTS:
            index.add(vector_fixture.shard(document, items))
        assert index.rows.tolist() == sorted(items)
        for query in (self.queries(1)[0], 0 * self.queries(1)[0]):
            for k in (at_once, 12, 1000):
                self.check(index, items, query, k)
                self.check(
                    index, items, query, k, scope=SearchScope(vector_fixture.collection, FILTERS["two documents"])
                )
        assert len(index.search(self.queries(5), 1)) == 5
        index.remove(index.rows[:-1])
        self.check(index, {max(items): items[max(items)]}, self.queries(1)[0], 3)

    def test_items_that_are_added_again_are_there_once(
        self, index: VectorIndex, vector_fixture: VectorFixture, items: "Items"
    ) -> None:
        renewed = {**items, **{row: 2 * items[row] for row in vector_fixture.rows(MILL)}}
        index.add(vector_fixture.shard(MILL, renewed))
        assert index.rows.tolist() == sorted(items)
        self.check(index, renewed, self.queries(1)[0], 1000)

    def test_what_a_killed_run_left_is_dropped_and_nothing_else(
        self, vector_fixture: VectorFixture, tmp_path: Path
    ) -> None:
        saved, current = self.make(DIMENSION), self.make(DIMENSION)
        assert isinstance(saved, MilvusIndex)
        assert isinstance(current, MilvusIndex)
        saved.save(tmp_path)
        left, foreign = f"quoteweave_{'0' * 32}", "mine"
        half_dropped = self.place / "collections" / f"quoteweave_{'1' * 32}"
        half_dropped.mkdir()
        with Milvus(self.place).client() as client:
            for name in (left, foreign):
                client.create_collection(name, dimension=2)
            assert current.drop_others([tmp_path, tmp_path / "nowhere"]) >= 1
            names = client.list_collections()
            assert left not in names
            assert not half_dropped.exists()
            assert foreign in names
            assert current.drop_others([tmp_path]) == 0
            client.drop_collection(foreign)
        assert isinstance(self.reopen(saved, tmp_path), MilvusIndex)

    def test_items_of_many_vectors_are_refused(self, vector_fixture: VectorFixture, items: "Items") -> None:
        two = {row: np.concatenate([matrix, matrix]) for row, matrix in items.items()}
        with pytest.raises(ValueError, match="one vector"):
            self.make(DIMENSION).add(vector_fixture.shard(MILL, two))

    def test_a_scope_of_unknown_documents_is_refused(self, index: VectorIndex, vector_fixture: VectorFixture) -> None:
        with pytest.raises(UsageError, match=r"mil\.txt.*did you mean 'mill\.txt'"):
            index.search(
                self.queries(1), 3, SearchScope(vector_fixture.collection, Filter(documents=(MILL, "mil.txt")))
            )

    def test_milvus_has_the_fields_of_each_quote(
        self, index: VectorIndex, vector_fixture: VectorFixture, tmp_path: Path
    ) -> None:
        assert isinstance(index, MilvusIndex)
        (row, *_) = vector_fixture.rows(ROAD)
        (quote,) = vector_fixture.collection.quotes_at([row])
        assert quote is not None
        index.save(tmp_path)
        name = json.loads((tmp_path / POINTER).read_text("utf-8"))["collection"]
        with closing(Milvus(self.place)) as milvus_itself, milvus_itself.client() as client:
            (stored,) = client.get(name, [row])
        stored.pop("vector")
        assert stored == {
            "row": row,
            "quote": quote.id,
            "document": ROAD,
            "document_id": vector_fixture.collection.document(ROAD).id,
            "page": quote.page,
            "kind": quote.kind,
            "layout": quote.layout,
        }


def test_metadata_counts_as_it_is_now(tmp_path: Path, place: Path) -> None:
    with make_collection(tmp_path, {"a": ["grain"], "b": ["timber"]}) as collection:
        index, rows = _index_of(collection, tmp_path, place)
        scope = Filter(metadata={"year": "2024"})
        assert _rows(index, collection, scope) == []
        with collection.writer() as writer:
            writer.set_metadata("b", {"year": "2024"})
        assert _rows(index, collection, scope) == rows["b"]
        index.close()


def test_a_document_that_was_replaced_is_not_found_by_its_name(tmp_path: Path, place: Path) -> None:
    with make_collection(tmp_path, {"a": ["grain"], "b": ["timber"]}) as collection:
        index, rows = _index_of(collection, tmp_path, place)
        with collection.writer() as writer:
            put(writer, tmp_path / "files", "a", [])
        assert _rows(index, collection, Filter(documents=("a", "b"))) == rows["b"]
        index.close()


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20)


@settings(max_examples=15)
@given(st.lists(NAMES | st.sampled_from(HOSTILE), unique=True, min_size=2, max_size=4))
def test_a_name_means_its_document_and_no_other(place: Path, names: list[str]) -> None:
    _names_mean_their_documents(names, place)


def test_a_hostile_name_means_its_document_and_no_other(place: Path) -> None:
    _names_mean_their_documents(HOSTILE, place)


def test_a_name_longer_than_milvus_takes_is_cut_in_milvus_alone(place: Path) -> None:
    _names_mean_their_documents(["é" * 5000, "é" * 5001], place)


def _names_mean_their_documents(names: Sequence[str], place: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with make_collection(folder, {name: [f"of {number}"] for number, name in enumerate(names)}) as collection:
            index, rows = _index_of(collection, folder, place)
            for name, other in zip(names, [*names[1:], names[0]], strict=True):
                assert _rows(index, collection, Filter(documents=(name,))) == rows[name]
                assert _rows(index, collection, Filter(documents=(name, other))) == sorted(rows[name] + rows[other])
                asked = expression(SearchScope(collection, Filter(documents=(name,))))
                assert asked == f'document_id in ["{collection.document(name).id}"]'
            index.close()


def _index_of(collection: Collection, folder: Path, place: Path) -> tuple[MilvusIndex, dict[str, list[int]]]:
    """An index of the collection, and its rows by document."""
    (folder / "vectors").mkdir()
    made, index = VectorFixture(collection, folder / "vectors"), MilvusIndex(DIMENSION, database_folder=place)
    chance = np.random.default_rng(0)
    items = {row: make_vectors(chance, 1, integers=True) for row in collection.select().tolist()}
    rows = {document.name: made.rows(document.name) for document in collection.documents()}
    for name in rows:
        index.add(made.shard(name, items))
    return index, rows


def _rows(index: MilvusIndex, collection: Collection, where: Filter) -> list[int]:
    (found,) = index.search([np.ones((1, DIMENSION), np.float32)], 100, SearchScope(collection, where))
    return sorted(found.rows.tolist())


def _refuse_more(monkeypatch: pytest.MonkeyPatch, *, hits: int, questions: int, rows: int) -> None:
    """Has the client refuse what a server would; the embedded Milvus has no such limits."""
    from pymilvus import MilvusClient

    search, upsert = MilvusClient.search, MilvusClient.upsert

    def searched(self: Any, name: str, *, data: list[Any], limit: int, **more: Any) -> Any:
        assert limit <= hits
        assert len(data) <= questions
        return search(self, name, data=data, limit=limit, **more)

    def upserted(self: Any, name: str, data: list[Any], **more: Any) -> Any:
        assert len(data) <= rows
        return upsert(self, name, data, **more)

    monkeypatch.setattr(MilvusClient, "search", searched)
    monkeypatch.setattr(MilvusClient, "upsert", upserted)
