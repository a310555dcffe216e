"""Plain BM25 against bm25s itself, and what retrievers over the lexical index keep: filters, ties, no headers."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_collections import made_quote, make_collection, put

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import QuestionTooLong, UsageError
from quoteweave.core.records import Filter, Hit, Layout, Query, Quote
from quoteweave.core.text.tokens import words
from quoteweave.retrievers.lexical import LexicalRetriever
from quoteweave.retrievers.sparse import NOTHING_THERE, Bm25Retriever, TfidfRetriever

RETRIEVERS = (Bm25Retriever, TfidfRetriever, LexicalRetriever)
EACH = pytest.mark.parametrize("retriever", RETRIEVERS)
WORDS = ("grain", "timber", "harbour", "crane", "the", "!", "鉄道", "Zürich")
LAYOUTS: tuple[Layout, ...] = ("paragraph", "title", "table", "figure", "header", "footer")

texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
quotes = st.builds(
    lambda text, page, layout: made_quote(text, page=page, layout=layout),
    texts,
    st.integers(0, 3),
    st.sampled_from(LAYOUTS),
)
corpora = st.dictionaries(st.sampled_from(["a.txt", "b.txt", "c/d.txt"]), st.lists(quotes, max_size=6))
filters = st.builds(
    lambda documents, pages, kind, layouts: Filter(
        documents=documents, first_page=pages[0], last_page=pages[1], kind=kind, layouts=layouts
    ),
    st.none() | st.lists(st.sampled_from(["a.txt", "b.txt"]), max_size=2).map(tuple),
    st.sampled_from([(None, None), (1, None), (None, 2), (1, 2)]),
    st.sampled_from([None, "text", "image"]),
    st.none() | st.lists(st.sampled_from(LAYOUTS), max_size=3).map(tuple),
)


def search(
    collection: Collection,
    question: str,
    k: int = 100,
    *,
    where: Filter | None = None,
    retriever: type[Bm25Retriever] = Bm25Retriever,
) -> list[Hit]:
    return retriever(collection).search([Query(text=question)], k, where=where)[0]


def found(hits: Sequence[Hit]) -> list[str]:
    return [hit.quote.text for hit in hits]


@EACH
def test_a_question_of_many_megabytes_is_refused(tmp_path: Path, retriever: type[Bm25Retriever]) -> None:
    with make_collection(tmp_path, {"a.txt": ["grain"]}) as collection, pytest.raises(QuestionTooLong):
        search(collection, "grain " * 2_000_000, retriever=retriever)


@settings(max_examples=25)
@given(corpora, texts)
def test_bm25_is_that_of_bm25s_over_the_same_words(corpus: dict[str, list[Quote]], question: str) -> None:
    import bm25s

    with tempfile.TemporaryDirectory() as folder, make_collection(Path(folder), corpus) as collection:
        hits = search(collection, question)
        stored = [q for _, _, of in collection.iter_documents_quotes() for q in of if q.retrievable]
    tokens = [words(quote.text) for quote in stored]
    asked = [word for word in words(question) if any(word in each for each in tokens)]
    scores = np.zeros(len(stored), dtype=np.float32)
    if asked:
        bare = bm25s.BM25()
        bare.index(tokens, show_progress=False)
        scores = bare.get_scores(asked)
    order = [i for i in np.argsort(-scores, kind="stable") if scores[i] > 0]
    assert [hit.quote for hit in hits] == [stored[i] for i in order]
    assert [hit.score for hit in hits] == [float(scores[i]) for i in order]
    assert [hit.rank for hit in hits] == list(range(1, len(order) + 1))


@settings(max_examples=25)
@given(st.lists(quotes, min_size=1, max_size=6), st.lists(quotes, min_size=1, max_size=6), texts, filters)
def test_a_filter_takes_hits_away_and_nothing_else(
    a: list[Quote], b: list[Quote], question: str, where: Filter
) -> None:
    def passes(quote: Quote) -> bool:
        return (
            (where.documents is None or quote.document in where.documents)
            and (where.first_page is None or quote.page >= where.first_page)
            and (where.last_page is None or quote.page <= where.last_page)
            and where.kind in (None, quote.kind)
            and (where.layouts is None or quote.layout in where.layouts)
        )

    with tempfile.TemporaryDirectory() as folder, make_collection(Path(folder), {"a.txt": a, "b.txt": b}) as collection:
        for retriever in RETRIEVERS:
            everything = search(collection, question, retriever=retriever)
            assert all(hit.quote.retrievable for hit in everything)
            narrowed = search(collection, question, where=where, retriever=retriever)
            assert all(passes(hit.quote) for hit in narrowed)
            if retriever is LexicalRetriever and where != Filter(kind=where.kind, layouts=where.layouts):
                continue  # it weighs words by how rare they are among the pages that are searched
            assert [(hit.quote, hit.score) for hit in narrowed] == [
                (hit.quote, hit.score) for hit in everything if passes(hit.quote)
            ]


@EACH
def test_ties_are_broken_alike_whatever_k(retriever: type[Bm25Retriever], tmp_path: Path) -> None:
    corpus = {name: ["grain by ship", "timber", "grain by ship"] for name in "abcdefgh"}
    with make_collection(tmp_path, corpus) as collection:
        everything = search(collection, "grain", retriever=retriever)
        assert [hit.quote.document for hit in everything if hit.quote.text == "grain by ship"] == sorted(2 * "abcdefgh")
        for k in range(1, len(everything) + 3):
            assert search(collection, "grain", k, retriever=retriever) == everything[:k]
        assert search(collection, "grain", 0, retriever=retriever) == []


@EACH
@pytest.mark.parametrize("question", ["", " \n", "the of and", "?!", "Привет", "鉄", "crane " * 10_000])
def test_questions_that_match_nothing_find_nothing(
    retriever: type[Bm25Retriever], question: str, tmp_path: Path
) -> None:
    with make_collection(tmp_path, {"a.txt": ["Grain and timber."]}) as collection:
        assert search(collection, question, retriever=retriever) == []


@EACH
def test_a_very_long_question_finds_its_words(retriever: type[Bm25Retriever], tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.txt": ["grain", "timber"]}) as collection:
        question = " ".join(f"word{i}" for i in range(10_000)) + " timber"
        assert found(search(collection, question, 1, retriever=retriever)) == ["timber"]


@EACH
@pytest.mark.parametrize(
    "corpus", [{}, {"a.txt": []}, {"a.txt": ["!!!", "the and"]}], ids=["none", "empty", "wordless"]
)
def test_collections_without_words_find_nothing(
    retriever: type[Bm25Retriever], corpus: dict[str, list[Quote | str]], tmp_path: Path
) -> None:
    with make_collection(tmp_path, corpus) as collection:
        for question in ("", "grain", "Figure 1", "the chart"):
            assert search(collection, question, retriever=retriever) == []
        is_empty = not any(corpus.values())
        assert retriever(collection).warnings() == ((NOTHING_THERE,) if is_empty else ())


def test_several_questions_are_answered_apart(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.txt": ["grain", "timber"]}) as collection:
        queries = [Query(text="timber"), Query(text="nothing"), Query(text="grain")]
        results = Bm25Retriever(collection).search(queries, 1)
        assert [found(hits) for hits in results] == [["timber"], [], ["grain"]]
        assert Bm25Retriever(collection).search([], 1) == []


@EACH
def test_an_unknown_document_is_refused_with_names_that_are_near(
    retriever: type[Bm25Retriever], tmp_path: Path
) -> None:
    near = r"no document is named 'harbor\.pdf'; did you mean 'reports/harbour\.pdf'"
    where = Filter(documents=("harbor.pdf",))
    corpora: list[dict[str, list[Quote | str]]] = [{"reports/harbour.pdf": ["grain"]}, {}]
    for corpus, message in zip(corpora, (near, r"'harbor\.pdf'"), strict=True):
        with make_collection(tmp_path / str(len(corpus)), corpus) as made, pytest.raises(UsageError, match=message):
            search(made, "grain", where=where, retriever=retriever)


@EACH
def test_metadata_narrows_and_every_pair_must_hold(retriever: type[Bm25Retriever], tmp_path: Path) -> None:
    with Collection.create(tmp_path / "collection") as collection:
        with collection.writer() as writer:
            put(writer, tmp_path, "a", [made_quote("grain a")], metadata={"year": "2023", "port": "x"})
            put(writer, tmp_path, "b", [made_quote("grain b")], metadata={"year": "2023"})
            put(writer, tmp_path, "c", [made_quote("grain c")], metadata={"year": "2024", "port": "x"})
        for metadata, documents in (
            ({"year": "2023"}, ["a", "b"]),
            ({"year": "2023", "port": "x"}, ["a"]),
            ({"port": ""}, []),
            ({}, ["a", "b", "c"]),
        ):
            hits = search(collection, "grain", where=Filter(metadata=metadata), retriever=retriever)
            assert sorted(hit.quote.document for hit in hits) == documents
