"""The retriever of every encoder, over plain numpy: what it finds, what it refuses, and what it does not do twice."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from made_collections import made_quote, make_collection, put
from made_vectors import ColourPictures, PlainIndex, plain_index

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import (
    CollectionError,
    FingerprintMismatch,
    IndexMissing,
    ModelFailed,
    QuestionTooLong,
    UsageError,
)
from quoteweave.core.records import Filter, Query, Quote
from quoteweave.index import kinds
from quoteweave.index.base import SearchScope, TopItems
from quoteweave.retrievers import vector
from quoteweave.retrievers.fusion import FusedRetriever, SplitHybrid
from quoteweave.retrievers.spec import RetrieverSpec
from quoteweave.retrievers.vector import PageScope, VectorRetriever
from quoteweave.testing import FakeEncoder

CHART = made_quote("", layout="chart", caption="Grain by ship")
PORT: dict[str, list[Quote | str]] = {
    "a.txt": ["Grain by ship", "Timber by rail", CHART],
    "b.txt": ["Fish by night", made_quote("Grain by rail", page=1), made_quote("Coal", page=1)],
}


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "open_index", plain_index)


@pytest.fixture
def port(tmp_path: Path) -> Iterator[Collection]:
    with make_collection(tmp_path, PORT) as collection:
        yield collection


def built(collection: Collection, encoder: FakeEncoder, spec: RetrieverSpec | None = None) -> VectorRetriever:
    retriever = VectorRetriever(collection, encoder, spec=spec)
    retriever.refresh()
    return retriever


def texts(retriever: VectorRetriever, question: str, k: int = 10, where: Filter | None = None) -> list[str]:
    (hits,) = retriever.search([Query(text=question)], k, where=where)
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    return [hit.quote.all_text() for hit in hits]


@pytest.mark.parametrize("many", [False, True])
def test_quotes_are_ranked_by_inner_product_or_maxsim(port: Collection, many: bool) -> None:
    encoder = FakeEncoder(multi_vector=many)
    (hits,) = built(port, encoder).search([Query(text="grain rail")], 10)
    rows = port.select().tolist()
    views = ["Grain by ship", "Timber by rail", "Grain by ship", "Fish by night", "Grain by rail", "Coal"]
    (question,) = encoder.encode_queries(["grain rail"])
    scores = [float((question @ item.T).max(axis=1).sum()) for item in encoder.encode_queries(views)]
    best = sorted(range(6), key=lambda i: (-round(scores[i], 4), rows[i]))
    assert [hit.quote for hit in hits] == [port.quotes_at(rows)[i] for i in best]
    np.testing.assert_allclose([hit.score for hit in hits], sorted(scores, reverse=True), atol=2e-3 if many else 1e-6)


def test_a_question_of_many_megabytes_is_refused(port: Collection) -> None:
    retriever = built(port, FakeEncoder())
    with pytest.raises(QuestionTooLong):
        texts(retriever, "grain " * 2_000_000)


def test_few_more_than_there_are_and_none(port: Collection) -> None:
    retriever = built(port, FakeEncoder())
    assert len(texts(retriever, "grain", 1)) == 1
    assert len(texts(retriever, "grain", 1000)) == 6
    for k in (0, -1):
        assert retriever.search([Query(text="grain")] * 2, k) == [[], []]
    assert retriever.search([], 5) == []


@pytest.mark.parametrize("blank", ["", " \n\t"])
def test_a_question_without_words_finds_nothing_beside_others_that_do(port: Collection, blank: str) -> None:
    encoder = FakeEncoder()
    found = built(port, encoder).search([Query(text=blank), Query(text="coal"), Query(text=blank)], 1)
    assert [[hit.quote.text for hit in hits] for hits in found] == [[], ["Coal"], []]
    assert encoder.queries == [["coal"]]


@pytest.mark.parametrize("question", ["word " * 10_000, "\x00", "東京の人口", "\ud800"])
def test_odd_questions_are_answered(port: Collection, question: str) -> None:
    assert len(texts(built(port, FakeEncoder()), question, 3)) == 3


@pytest.mark.parametrize(
    ("where", "right"),
    [
        (Filter(), {"Grain by ship", "Timber by rail", "Fish by night", "Grain by rail", "Coal"}),
        (Filter(documents=("b.txt",)), {"Fish by night", "Grain by rail", "Coal"}),
        (Filter(kind="image"), {"Grain by ship"}),
        (Filter(first_page=1), {"Grain by rail", "Coal"}),
        (Filter(documents=()), set()),
    ],
)
def test_a_filter_narrows(port: Collection, where: Filter, right: set[str]) -> None:
    retriever = built(port, FakeEncoder())
    for _ in range(2):
        assert set(texts(retriever, "grain", where=where)) == right


def test_a_filter_holds_for_documents_that_came_since(port: Collection, tmp_path: Path) -> None:
    retriever, images = built(port, FakeEncoder()), Filter(kind="image")
    assert texts(retriever, "wool", where=images) == ["Grain by ship"]
    with port.writer() as writer:
        put(writer, tmp_path, "c.txt", [made_quote("Wool", layout="table")])
    retriever.refresh()
    assert texts(retriever, "wool", where=images) == ["Wool", "Grain by ship"]


def test_a_filter_that_names_no_document_is_refused(port: Collection) -> None:
    with pytest.raises(UsageError, match=r"did you mean 'a\.txt'"):
        built(port, FakeEncoder()).search([Query(text="grain")], 3, where=Filter(documents=("A.txt",)))


def test_rows_alone_are_those_of_the_quotes(port: Collection) -> None:
    retriever, questions = built(port, FakeEncoder()), [Query(text="grain rail"), Query(text=" ")]
    found, nothing = retriever.search_rows(questions, 4)
    hits, none = retriever.search(questions, 4)
    assert port.quotes_at(found.rows.tolist()) == [hit.quote for hit in hits]
    assert found.scores.tolist() == [hit.score for hit in hits]
    assert (len(nothing.rows), none) == (0, [])


def test_a_question_is_encoded_once_though_it_is_asked_often(port: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector, "CACHED_QUESTIONS", 2)
    encoder = FakeEncoder()
    retriever = built(port, encoder)

    def ask(*asked: str) -> None:
        found = retriever.search([Query(text=text) for text in asked], 1)
        assert [hits[0].quote.text.casefold() for hits in found] == list(asked)

    ask("coal", "fish by night", "coal")
    ask("coal")
    ask("fish by night", "timber by rail")
    ask("fish by night", "coal")
    assert encoder.queries == [["coal", "fish by night"], ["timber by rail"], ["coal"]]


def test_what_is_no_vector_of_a_question_is_refused(port: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = FakeEncoder()
    retriever = built(port, encoder)
    encode = encoder.encode_queries
    for spoil, told in [(np.nan, "not finite .* for the question 'grain'"), (None, "gave 0 results for 1 input;")]:
        replies = [] if spoil is None else [encode(["grain"])[0] * spoil]
        monkeypatch.setattr(encoder, "encode_queries", lambda _, replies=replies: replies)
        with pytest.raises(ModelFailed, match=told):
            texts(retriever, "grain")
    monkeypatch.setattr(encoder, "encode_queries", encode)
    assert texts(retriever, "coal")[0] == "Coal"


def test_without_an_index_nothing_is_searched(port: Collection) -> None:
    encoder = FakeEncoder()
    with pytest.raises(IndexMissing, match="build it with: quoteweave index build fake@hnsw@page"):
        texts(VectorRetriever(port, encoder, spec=RetrieverSpec(name="fake", kind="hnsw", unit="page")), "grain")
    built(port, encoder)
    with pytest.raises(FingerprintMismatch, match="checkpoint: 'fake' → '/mine'"):
        texts(VectorRetriever(port, FakeEncoder(settings={"checkpoint": "/mine"})), "grain")
    assert encoder.queries == []


def test_a_search_only_reads_and_says_what_the_index_lacks(port: Collection, tmp_path: Path) -> None:
    encoder = FakeEncoder()
    retriever = built(port, encoder)
    assert retriever.warnings() == ()
    with port.writer() as writer:
        writer.remove("a.txt")
        put(writer, tmp_path, "c.txt", [made_quote("Wool")])
    before = port.indexes()
    assert sorted(texts(retriever, "wool")) == ["Coal", "Fish by night", "Grain by rail"]
    (note,) = retriever.warnings()
    assert note.startswith("the index fake lacks c.txt: nothing is found there until it is built again")
    assert FusedRetriever([retriever, retriever]).warnings() == SplitHybrid(retriever, retriever).warnings() == (note,)
    assert (len(encoder.views), port.indexes()) == (1, before)
    retriever.refresh()
    assert texts(retriever, "wool", 1) == ["Wool"]
    assert retriever.warnings() == ()


def test_while_another_writes_what_was_removed_is_not_found_and_others_take_its_place(
    port: Collection, tmp_path: Path
) -> None:
    retriever = built(port, FakeEncoder())
    with port.writer() as writer:
        writer.remove("a.txt")
        put(writer, tmp_path, "b.txt", [made_quote("Fish by night"), made_quote("Grain by ship")])
        assert texts(retriever, "grain by ship", 2) == []
        writer.remove("b.txt")
        put(writer, tmp_path, "c.txt", [made_quote("Wool")])
        assert texts(retriever, "grain", 3) == []
    with port.writer() as writer:
        retriever.encoder_index.refresh(writer)
        put(writer, tmp_path, "d.txt", [made_quote("wool")] * 9)
        retriever.encoder_index.refresh(writer)
        writer.remove("d.txt")
        assert texts(retriever, "wool", 1) == ["Wool"]
        assert len(retriever.search_rows([Query(text="wool")], 99)[0].rows) == 10


def test_an_empty_collection_gives_nothing(tmp_path: Path) -> None:
    with make_collection(tmp_path, {}) as collection:
        retriever = built(collection, FakeEncoder())
        for where in (None, Filter(kind="text")):
            assert texts(retriever, "grain", where=where) == []
        assert retriever.search_rows([Query(text="grain")], 5)[0].rows.tolist() == []


def test_a_damaged_index_is_told_with_the_command_that_builds_it_anew(port: Collection) -> None:
    retriever = built(port, FakeEncoder())
    (port.indexes()[0].folder / "items.npz").write_bytes(b"")
    with pytest.raises(CollectionError, match="build it anew with: quoteweave index build fake -c"):
        texts(VectorRetriever(port, FakeEncoder()), "grain")
    retriever.refresh()
    assert texts(retriever, "coal", 1) == ["Coal"]


class FromDisk(PlainIndex):
    """An index whose files are opened anew for each search, as the shards of a large one are."""

    def __init__(self, dimension: int, folder: Path | None) -> None:
        super().__init__(dimension, folder)
        self._folder = folder

    def search(self, queries: object, k: int, scope: SearchScope | None = None) -> list[TopItems]:
        if self._folder is not None and not self._folder.exists():
            raise CollectionError(f"{self._folder} is missing")
        return super().search(queries, k, scope)  # type: ignore[arg-type]


def test_an_index_that_is_replaced_while_it_is_searched_is_opened_again(
    port: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        kinds, "open_index", lambda kind, dimension, *, database_folder, folder=None: FromDisk(dimension, folder)
    )
    encoder = FakeEncoder()
    retriever = built(port, encoder)
    encode = encoder.encode_queries

    def and_meanwhile(asked: list[str]) -> list[np.ndarray[tuple[int, int], np.dtype[np.float32]]]:
        with Collection.open(port.root) as other:
            with other.writer() as writer:
                put(writer, tmp_path, "c.txt", [made_quote("Wool")])
            built(other, FakeEncoder())
        return encode(asked)

    monkeypatch.setattr(encoder, "encode_queries", and_meanwhile)
    assert texts(retriever, "wool", 1) == ["Wool"]


def test_a_page_gives_its_quotes_in_order_with_its_score(port: Collection) -> None:
    retriever = built(port, FakeEncoder(), RetrieverSpec(name="fake", unit="page"))
    (hits,) = retriever.search([Query(text="coal")], 10)
    assert [hit.quote.all_text() for hit in hits[:2]] == ["Grain by rail", "Coal"]
    assert hits[0].score == hits[1].score > hits[2].score
    assert len(hits) == 6
    assert texts(retriever, "coal", 1) == ["Grain by rail"]


def test_pages_are_found_when_one_of_their_quotes_passes_the_filter_and_give_no_others(port: Collection) -> None:
    retriever = built(port, FakeEncoder(), RetrieverSpec(name="fake", unit="page"))
    assert texts(retriever, "coal", where=Filter(kind="image")) == ["Grain by ship"]
    assert texts(retriever, "fish", where=Filter(documents=("b.txt",), first_page=1)) == ["Grain by rail", "Coal"]
    assert texts(retriever, "fish", where=Filter(layouts=("table",))) == []


def test_a_page_may_pass_a_filter_that_its_first_quote_does_not(port: Collection) -> None:
    """An index that asks a database narrows by what it knows of a page, which is its first quote."""
    retriever = built(port, FakeEncoder(), RetrieverSpec(name="fake", unit="page"))
    opened = retriever.encoder_index.current()
    assert opened.pages is not None
    scope = PageScope(port, Filter(documents=("a.txt",), kind="image"), opened.pages)
    assert scope.where == Filter(documents=("a.txt",))
    assert scope.rows.tolist() == port.select(scope.where).tolist()[:1]


def test_pages_that_were_removed_give_way_to_others(port: Collection, tmp_path: Path) -> None:
    retriever = built(port, FakeEncoder(), RetrieverSpec(name="fake", unit="page"))
    with port.writer() as writer:
        put(writer, tmp_path, "b.txt", [made_quote("Fish")])
        assert texts(retriever, "coal", 2) == ["Grain by ship", "Timber by rail"]
    retriever.refresh()
    assert texts(retriever, "fish", 1) == ["Fish"]


@pytest.mark.parametrize("many", [False, True])
def test_pictures_of_all_quotes_are_searched_texts_included(tmp_path: Path, many: bool) -> None:
    encoder, pictures = FakeEncoder(reads="image", multi_vector=many), ColourPictures()
    with make_collection(tmp_path, {"a.pdf": ["red", made_quote("lime", layout="chart")]}) as collection:
        retriever = VectorRetriever(collection, encoder, pictures=pictures)
        assert retriever.refresh().items == 2
        assert texts(retriever, "#ff0000", 1) == ["red"]
        assert texts(retriever, "#00ff00", 1) == ["lime"]
        assert texts(retriever, "#ff0000", where=Filter(kind="image")) == ["lime"]
        pages = VectorRetriever(collection, encoder, spec=RetrieverSpec(name="fake", unit="page"), pictures=pictures)
        pages.refresh()
        assert texts(pages, "#ff0000") == ["red", "lime"]


def test_views_of_image_quotes_have_indexes_of_their_own(tmp_path: Path) -> None:
    figure = CHART.model_copy(update={"ocr_text": "tons 2023", "vlm_text": "A bar chart."})
    with make_collection(tmp_path, {"a.pdf": [figure, "Coal"]}) as collection:
        for view, question in [("ocr_text", "tons 2023"), ("vlm_text", "a bar chart")]:
            spec = RetrieverSpec.model_validate({"name": "fake", "view": view})
            retriever = VectorRetriever(collection, FakeEncoder(), spec=spec, pictures=ColourPictures())
            retriever.refresh()
            (hits,) = retriever.search([Query(text=question)], 1)
            assert hits[0].quote.ocr_text == "tons 2023"
            assert hits[0].score == pytest.approx(1)
        assert [state.name for state in collection.indexes()] == ["fake@ocr_text", "fake@vlm_text"]


def test_threads_share_one_opened_index(port: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    retriever, opened, start = built(port, FakeEncoder()), list[Path | None](), threading.Barrier(8)

    def open_index(kind: str, dimension: int, *, database_folder: Path, folder: Path | None = None) -> PlainIndex:
        opened.append(folder)
        return PlainIndex(dimension, folder)

    monkeypatch.setattr(kinds, "open_index", open_index)

    def search(number: int) -> list[str]:
        start.wait()
        return texts(retriever, "coal", 1)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(search, range(8))) == [["Coal"]] * 8
    assert opened == [port.indexes()[0].folder]


def test_threads_search_while_documents_change(port: Collection, tmp_path: Path) -> None:
    retriever, done = built(port, FakeEncoder()), threading.Event()

    def search() -> int:
        asked = 0
        while not done.is_set():
            assert texts(retriever, "coal", 1) == ["Coal"]
            assert texts(retriever, "coal", 1, Filter(documents=("b.txt",))) == ["Coal"]
            asked += 1
        return asked

    with ThreadPoolExecutor(3) as pool:
        searching = [pool.submit(search) for _ in range(3)]
        try:
            for number in range(20):
                with port.writer(wait_s=30) as writer:
                    put(writer, tmp_path, "c.txt", [made_quote(f"Wool {number}")])
                    retriever.encoder_index.refresh(writer)
        finally:
            done.set()
        assert min(thread.result() for thread in searching) > 0
    assert texts(retriever, "wool 19", 1) == ["Wool 19"]
