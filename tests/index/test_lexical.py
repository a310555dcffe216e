"""The lexical index beside a collection that changes: up to date, or as it was; and made again where it is damaged."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_collections import made_quote, make_collection, put

from quoteweave.core.errors import CollectionError, CollectionLocked, StorageError
from quoteweave.core.records import Query
from quoteweave.core.tokens import words
from quoteweave.index import lexical
from quoteweave.index.collection import Collection
from quoteweave.retrievers.sparse import Bm25Retriever, LexicalRetriever


def found(retriever: Bm25Retriever, question: str = "grain") -> list[str]:
    return sorted(hit.quote.document for hit in retriever.search([Query(text=question)], 50)[0])


def add(collection: Collection, folder: Path, name: str, text: str) -> None:
    with collection.writer() as writer:
        put(writer, folder / "files", name, [made_quote(text)])


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    with make_collection(tmp_path, {"a": ["grain"], "b": ["grain by ship"]}) as made:
        yield made


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["grain", "timber", "!", None])), max_size=8))
def test_after_any_changes_what_is_found_is_what_is_there(steps: list[tuple[str, str | None]]) -> None:
    present: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder, Collection.create(Path(folder) / "collection") as collection:
        retriever = LexicalRetriever(collection)
        for name, text in steps:
            if text is not None:
                present[name] = text
                add(collection, Path(folder), name, text)
            elif present.pop(name, None) is not None:
                with collection.writer() as writer:
                    writer.remove(name)
            for word in ("grain", "timber"):
                assert found(retriever, word) == [name for name, text in sorted(present.items()) if text == word]


def test_a_removed_quote_is_no_hit_even_where_the_index_still_has_it(collection: Collection) -> None:
    retriever = Bm25Retriever(collection)
    assert found(retriever) == ["a", "b"]
    with collection.writer() as writer:
        writer.remove("a")
        assert found(retriever) == ["b"]
        assert [hit.rank for hit in retriever.search([Query(text="grain")], 2)[0]] == [1]


def test_while_another_writes_the_index_is_read_as_it_was_and_mended_after(
    collection: Collection, tmp_path: Path
) -> None:
    retriever = Bm25Retriever(collection)
    assert found(retriever) == ["a", "b"]
    with Collection.open(collection.root) as other, other.writer() as writer:
        put(writer, tmp_path / "files", "c", [made_quote("grain")])
        assert found(retriever) == ["a", "b"]
        lexical.refresh(other, writer)
        assert found(retriever) == ["a", "b", "c"]
        put(writer, tmp_path / "files", "d", [made_quote("grain")])
        assert found(retriever) == ["a", "b", "c"]
    assert found(retriever) == ["a", "b", "c", "d"]


def test_where_the_folder_cannot_be_written_the_index_is_read_as_it_was(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise StorageError("read-only")

    retriever = Bm25Retriever(collection)
    assert found(retriever) == ["a", "b"]
    add(collection, tmp_path, "c", "grain")
    monkeypatch.setattr(collection, "writer", refused)
    assert found(retriever) == ["a", "b"]


def test_without_any_index_it_is_told_who_holds_the_lock(collection: Collection) -> None:
    with Collection.open(collection.root) as other, other.writer(), pytest.raises(CollectionLocked, match="process"):
        found(Bm25Retriever(collection))
    assert found(Bm25Retriever(collection)) == ["a", "b"]


@pytest.mark.parametrize("what", ["indexes", "vectors"])
def test_what_somebody_removed_is_made_again(collection: Collection, what: str, tmp_path: Path) -> None:
    retriever = Bm25Retriever(collection)
    assert found(retriever) == ["a", "b"]
    shutil.rmtree(collection.root / what)
    add(collection, tmp_path, "c", "grain")
    for each in (retriever, Bm25Retriever(collection)):
        assert found(each) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "name", ["rows.npy", "pages.json", "norms.npy", "quotes/data.csc.index.npy", "quotes/params.index.json"]
)
def test_a_damaged_index_is_named_and_made_again_once_it_is_removed(collection: Collection, name: str) -> None:
    found(Bm25Retriever(collection))
    (state,) = collection.indexes()
    path = state.folder / name
    path.write_bytes(path.read_bytes()[:5])
    with pytest.raises(CollectionError, match="is damaged") as caught:
        found(Bm25Retriever(collection))
    assert str(state.folder) in str(caught.value)
    shutil.rmtree(state.folder)
    assert found(Bm25Retriever(collection)) == ["a", "b"]


def test_a_damaged_shard_is_made_again(collection: Collection, tmp_path: Path) -> None:
    found(Bm25Retriever(collection))
    shards = list((collection.root / "vectors").rglob("*.npz"))
    assert len(shards) == 2
    for shard in shards:
        shard.write_bytes(shard.read_bytes()[:-10])
    add(collection, tmp_path, "c", "timber")
    assert found(Bm25Retriever(collection)) == ["a", "b"]


def test_only_the_words_of_what_changed_are_read_again(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def spy(text: str) -> list[str]:
        read.append(text)
        return words(text)

    found(Bm25Retriever(collection))
    monkeypatch.setattr(lexical, "words", spy)
    add(collection, tmp_path, "c", "grain by rail")
    assert found(Bm25Retriever(collection)) == ["a", "b", "c"]
    assert read == ["grain by rail"]
    read.clear()
    add(collection, tmp_path, "b", "timber")
    with collection.writer() as writer:
        writer.remove("a")
    assert found(Bm25Retriever(collection)) == ["c"]
    assert read == ["timber"]


def test_an_index_that_is_up_to_date_is_left_alone(collection: Collection) -> None:
    retriever = Bm25Retriever(collection)
    found(retriever)
    before = collection.indexes()
    found(retriever)
    found(LexicalRetriever(collection))
    with collection.writer() as writer:
        lexical.refresh(collection, writer)
    assert collection.indexes() == before


def test_the_index_of_an_earlier_version_makes_way_on_first_use(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(lexical, "FINGERPRINT", "lexical-0")
        assert found(Bm25Retriever(collection)) == ["a", "b"]
    assert [state.fingerprint for state in collection.indexes()] == ["lexical-0"]
    assert found(Bm25Retriever(collection)) == ["a", "b"]
    assert [state.fingerprint for state in collection.indexes()] == [lexical.FINGERPRINT]
    assert not list(collection.root.rglob("lexical-0"))


def test_an_index_that_is_replaced_while_it_is_being_read_is_read_again(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Replaced(lexical.LexicalIndex):
        def __init__(self, folder: Path) -> None:
            if not replaced:
                replaced.append(folder)
                with collection.writer() as writer:
                    put(writer, tmp_path / "files", "c", [made_quote("grain")])
                    lexical.refresh(collection, writer)
                assert not folder.exists()
            super().__init__(folder)

    replaced: list[Path] = []
    monkeypatch.setattr(lexical, "LexicalIndex", Replaced)
    assert found(Bm25Retriever(collection)) == ["a", "b", "c"]


def test_an_opened_index_outlives_its_folder(collection: Collection) -> None:
    lexical.refresh_if_free(collection)
    index = lexical.current(collection)
    assert index is not None
    shutil.rmtree(index.folder)
    assert (index.scores("quotes", ["grain"]) > 0).tolist() == [True, True]
    assert (index.scores("pages", ["ship"]) > 0).tolist() == [False, True]
    assert (index.cosines(["ship"]) > 0).tolist() == [False, True]
    assert list(index.pages_numbered("1")) == [0, 1]
    assert lexical.current(collection, index) is None


def test_a_collection_has_no_index_before_the_first_search(collection: Collection) -> None:
    assert lexical.current(collection) is None


def test_headers_and_footers_are_words_of_their_page_but_no_quotes(tmp_path: Path) -> None:
    quotes = [made_quote("Annual report", layout="header"), made_quote("grain"), made_quote("timber", page=1)]
    with make_collection(tmp_path, {"a": quotes}) as collection:
        lexical.refresh_if_free(collection)
        index = lexical.current(collection)
        assert index is not None
        assert index.rows.tolist() == collection.select().tolist()
        assert index.page_of.tolist() == [0, 1]
        assert index.page_count == 2
        assert (index.scores("pages", ["annual"]) > 0).tolist() == [True, False]
        assert index.scores("quotes", ["annual"]).tolist() == [0, 0]
