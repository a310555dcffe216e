"""`bm25` beside rank-bm25's Okapi: same tokens, k1 and b; their formulas differ as `Bm25Retriever` says."""

import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_collections import make_collection
from rank_bm25 import BM25Okapi

from quoteweave.collection.collection import Collection
from quoteweave.core.records import Query
from quoteweave.retrievers.sparse import Bm25Retriever

K1 = 1.5
ROUNDING = 1e-5  # scores are added in float32


class WithLucenesIdf(BM25Okapi):  # type: ignore[misc]
    """rank-bm25's Okapi with the idf that `Bm25Retriever` says it has."""

    def _calc_idf(self, nd: dict[str, int]) -> None:
        self.idf = {word: math.log(1 + (self.corpus_size - n + 0.5) / (n + 0.5)) for word, n in nd.items()}


def _texts(number: int) -> list[str]:
    """Texts of 1 to 40 made words, as frequent as words of a language are; none is in half of the texts."""
    chance = random.Random(7)
    vocabulary = [f"word{i}" for i in range(1500)]
    weights = list(accumulate(1 / (rank + 20) for rank in range(len(vocabulary))))
    return [" ".join(chance.choices(vocabulary, cum_weights=weights, k=chance.randint(1, 40))) for _ in range(number)]


TEXTS = _texts(400)
TOKENS = [text.split() for text in TEXTS]
HAVING = Counter(token for tokens in TOKENS for token in set(tokens))
OKAPI = BM25Okapi(TOKENS)


def _questions(number: int, words: Sequence[int]) -> list[list[str]]:
    chance = random.Random(8)
    long = [tokens for tokens in TOKENS if len(tokens) > 9]
    return [chance.sample(chance.choice(long), chance.choice(words)) for _ in range(number)]


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    with make_collection(tmp_path_factory.mktemp("okapi"), {"a.txt": TEXTS}) as made:
        yield made


def _ranking(collection: Collection, question: Sequence[str]) -> dict[int, float]:
    """The place of each text that is found among all texts, best first, with its score."""
    (hits,) = Bm25Retriever(collection).search([Query(text=" ".join(question))], len(TEXTS))
    return {int(hit.quote.id.rpartition(":")[2]): hit.score for hit in hits}


def _okapi(question: Sequence[str]) -> "np.ndarray[Any, np.dtype[np.float64]]":
    scores: np.ndarray[Any, np.dtype[np.float64]] = OKAPI.get_scores(question)
    return scores


def _lead(question: Sequence[str]) -> float:
    """By how much at most the Okapi scores of two quotes differ that stand the other way round."""
    n = len(TEXTS)
    return (K1 + 1) * sum(math.log((n + 1) / (n - HAVING[token] + 0.5)) for token in question)


def _disorder(ranking: Sequence[int], scores: "np.ndarray[Any, np.dtype[np.float64]]") -> float:
    """The most by which a text is better, by `scores`, than one that stands before it."""
    ranked = scores[list(ranking)]
    return float((np.maximum.accumulate(ranked[::-1])[::-1] - ranked).max())


def test_no_word_is_in_half_of_the_texts() -> None:
    assert max(HAVING.values()) < len(TEXTS) / 2


def test_questions_of_one_word_give_the_same_ranking(collection: Collection) -> None:
    for token in random.Random(9).sample(sorted(HAVING), 150):
        ranking, scores = _ranking(collection, [token]), _okapi([token])
        assert set(ranking) == set(np.flatnonzero(scores))
        assert _disorder(list(ranking), scores) < ROUNDING


def test_questions_of_several_words_give_the_same_ranking_but_where_scores_are_near(collection: Collection) -> None:
    from scipy.stats import kendalltau

    for question in _questions(200, (2, 3, 5)):
        ranking, scores = _ranking(collection, question), _okapi(question)
        assert set(ranking) == set(np.flatnonzero(scores))
        assert _disorder(list(ranking), scores) <= _lead(question) + ROUNDING
        for text, score in ranking.items():
            assert -ROUNDING <= (K1 + 1) * score - scores[text] <= _lead(question) + ROUNDING
        assert kendalltau(list(ranking.values()), scores[list(ranking)]).statistic > 0.9


def test_the_formula_is_all_that_differs(collection: Collection) -> None:
    reference = WithLucenesIdf(TOKENS)
    for question in _questions(200, (1, 2, 3, 5)):
        ranking, scores = _ranking(collection, question), reference.get_scores(question) / (K1 + 1)
        assert set(ranking) == set(np.flatnonzero(scores))
        assert list(ranking.values()) == pytest.approx([scores[text] for text in ranking], abs=ROUNDING)
        assert _disorder(list(ranking), scores) < ROUNDING


def test_a_word_that_most_quotes_have_still_counts_here(tmp_path: Path) -> None:
    texts = ["grain", "grain grain", "grain by ship", "timber"]
    with make_collection(tmp_path, {"a.txt": texts}) as collection:
        (hits,) = Bm25Retriever(collection).search([Query(text="grain")], 4)
    assert [hit.quote.text for hit in hits] == ["grain grain", "grain", "grain by ship"]
    assert hits[-1].score > 0
