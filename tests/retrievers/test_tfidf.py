"""TF-IDF by hand, and beside scikit-learn's TfidfVectorizer over the same words."""

import math
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_collections import made_quote, make_collection

from quoteweave.collection.collection import Collection
from quoteweave.core.records import Filter, Hit, Query, Quote
from quoteweave.core.text.tokens import words
from quoteweave.retrievers.sparse import TfidfRetriever

WORDS = ("grain", "grains", "timber", "harbour", "crane", "the", "鉄道", "Zürich", "1,204")
texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


def search(collection: Collection, question: str, k: int = 100, *, where: Filter | None = None) -> list[Hit]:
    return TfidfRetriever(collection).search([Query(text=question)], k, where=where)[0]


def by_scikit_learn(corpus: Sequence[str], question: str) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    from sklearn.feature_extraction.text import TfidfVectorizer

    if not any(words(text) for text in corpus):
        return np.zeros(len(corpus))
    vectorizer = TfidfVectorizer(analyzer=words)
    documents = vectorizer.fit_transform(corpus)
    scores: np.ndarray[tuple[int], np.dtype[np.float64]] = (documents @ vectorizer.transform([question]).T).toarray()[
        :, 0
    ]
    return scores


@given(st.lists(texts, min_size=1, max_size=12), texts)
def test_scores_are_those_of_scikit_learn(corpus: list[str], question: str) -> None:
    with tempfile.TemporaryDirectory() as folder, make_collection(Path(folder), {"a.txt": corpus}) as collection:
        hits = search(collection, question)
    expected = by_scikit_learn(corpus, question)
    scores = {int(hit.quote.id.rpartition(":")[2]): hit.score for hit in hits}
    assert set(scores) == set(np.flatnonzero(expected))
    assert [scores.get(i, 0.0) for i in range(len(corpus))] == pytest.approx(expected.tolist(), abs=1e-6)
    ranked = [expected[i] for i in scores]
    assert all(before >= after - 1e-6 for before, after in pairwise(ranked))


def test_an_example_by_hand(tmp_path: Path) -> None:
    rare, common = math.log(3 / 2) + 1, 1.0  # ln((1 + 2) / (1 + df)) + 1, of one and of both of two quotes
    with make_collection(tmp_path, {"a.txt": ["grain grain timber", "timber"]}) as collection:
        first, second = search(collection, "grain timber")
    question, longer = math.hypot(rare, common), math.hypot(2 * rare, common)
    assert first.score == pytest.approx((2 * rare * rare + common * common) / (question * longer))
    assert second.score == pytest.approx(common / question)
    assert [first.quote.text, second.quote.text] == ["grain grain timber", "timber"]


def test_a_quote_fits_itself_best_and_by_1(tmp_path: Path) -> None:
    corpus = ["grain by ship from the harbour", "grain", "timber by rail, grain by ship", "ship"]
    with make_collection(tmp_path, {"a.txt": corpus}) as collection:
        for text in corpus:
            best = search(collection, text)[0]
            assert best.quote.text == text
            assert best.score == pytest.approx(1, abs=1e-6)


def test_a_word_may_occur_more_often_than_a_byte_can_count(tmp_path: Path) -> None:
    corpus = ["grain " * 70_000 + "timber", "timber " * 300 + "grain", "ship"]
    with make_collection(tmp_path, {"a.txt": corpus}) as collection:
        hits = search(collection, "grain")
    expected = by_scikit_learn(corpus, "grain")
    assert [hit.score for hit in hits] == pytest.approx(expected[:2].tolist(), rel=1e-5)


def test_words_that_only_headers_have_play_no_part(tmp_path: Path) -> None:
    quotes: list[Quote | str] = [made_quote("Annual report", layout="header"), "grain", "timber"]
    with make_collection(tmp_path, {"a.txt": quotes}) as collection:
        (hit,) = search(collection, "grain in the annual report")
    assert hit.quote.text == "grain"
    assert hit.score == pytest.approx(1)


def test_a_filter_narrows_and_leaves_scores_alone(tmp_path: Path) -> None:
    corpus = {"a.txt": ["grain by ship", "timber"], "b.txt": ["grain by rail", "grain"]}
    with make_collection(tmp_path, corpus) as collection:
        everything = search(collection, "grain by rail")
        within = search(collection, "grain by rail", where=Filter(documents=("b.txt",)))
    assert [(hit.quote, hit.score) for hit in within] == [
        (hit.quote, hit.score) for hit in everything if hit.quote.document == "b.txt"
    ]
