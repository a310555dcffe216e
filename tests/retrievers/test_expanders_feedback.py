"""RM3 by hand, and its effect on what word retrievers find."""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_collections import made_quote, make_collection

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import UsageError
from quoteweave.core.protocols import Expander, Expansion
from quoteweave.core.records import Filter, Hit, Query
from quoteweave.core.text.tokens import words
from quoteweave.retrievers.expanders.rm3 import Rm3Expander, relevance_model
from quoteweave.retrievers.lexical import LexicalRetriever
from quoteweave.retrievers.pages.page_fusion import rank_pages
from quoteweave.retrievers.sparse import Bm25Retriever

corpora = st.lists(
    st.lists(st.sampled_from(["grain", "timber", "ship", "harbour", "crane"]), max_size=9).map(" ".join),
    min_size=3,
    max_size=9,
)


class Found:
    """Finds these quotes, with these scores, for every question."""

    def __init__(self, scored: Sequence[tuple[str, float]]) -> None:
        self.hits = [Hit(rank=i, score=score, quote=made_quote(text)) for i, (text, score) in enumerate(scored, 1)]
        self.asked: list[tuple[int, Filter | None]] = []

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        self.asked.append((k, where))
        return [self.hits[:k] for _ in queries]


def expanded(expander: Expander, question: str, where: Filter | None = None) -> str:
    (clause,) = asyncio.run(expander.expand(Query(text=question), where=where)).clauses
    return clause


def test_an_example_by_hand() -> None:
    # Shares 3/4 and 1/4. P(w | R): ship 3/4 × 2/3, grain 3/4 × 1/3 + 1/4 × 1/2, harbour 1/4 × 1/2.
    found = Found([("Grain: ship, ship", 3.0), ("grain harbour", 1.0)])
    model = relevance_model(found.hits, 10)
    assert list(model.items()) == [("ship", 0.5), ("grain", 0.375), ("harbour", 0.125)]
    # Half of the weight is the question's: 50 times; the other half goes to ship 25, grain 18.75, harbour 6.25.
    lines = expanded(Rm3Expander(found), "The grain?").split("\n")
    assert lines == ["The grain?"] * 50 + [" ".join(["ship"] * 25), " ".join(["grain"] * 19), " ".join(["harbour"] * 6)]


def test_alpha_is_the_share_of_the_question() -> None:
    found = Found([("ship", 1.0)])
    for alpha, ships in ((0.2, 80), (0.5, 50), (0.8, 20), (1, 0)):
        counts = Counter(words(expanded(Rm3Expander(found, alpha=alpha), "grain timber")))
        assert counts["ship"] / counts.total() == pytest.approx(1 - alpha, abs=0.005)
        assert counts["grain"] == counts["timber"] == round((100 - ships) / 2)


def test_only_the_heaviest_words_are_taken_and_scaled_to_one() -> None:
    found = Found([("ship ship ship harbour harbour crane", 1.0)])
    assert relevance_model(found.hits, 2) == {"ship": pytest.approx(0.6), "harbour": pytest.approx(0.4)}


def test_scores_that_are_not_positive_count_alike() -> None:
    assert relevance_model(Found([("ship", 0.5), ("crane", -0.5)]).hits, 5) == {"crane": 0.5, "ship": 0.5}


def test_words_are_given_as_they_are_written_most_often_and_counted_by_their_stems() -> None:
    found = Found([("Universities; the university, the universities' harbours in Zürich, 1,204 of them: 鉄道", 1.0)])
    model = relevance_model(found.hits, 10)
    assert list(model) == ["universities", "1204", "harbours", "zurich", "鉄道"]
    assert model["universities"] == pytest.approx(3 / 7)


@given(st.lists(st.text(max_size=40), min_size=1, max_size=3), st.integers(1, 20))
def test_each_word_is_cut_into_its_stem_again(texts: list[str], terms: int) -> None:
    stems = {word for text in texts for word in words(text)}
    model = relevance_model(Found([(text, 1.0) for text in texts]).hits, terms)
    for word in model:
        assert words(word) in [[stem] for stem in stems]
    assert len(model) <= terms
    assert not model or sum(model.values()) == pytest.approx(1)


@settings(max_examples=15)
@given(corpora)
def test_bm25_of_the_clause_is_the_weighted_sum_of_its_words(corpus: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, make_collection(Path(folder), {"a.txt": corpus}) as collection:
        bm25 = Bm25Retriever(collection)
        (found,) = bm25.search([Query(text="grain")], 10)
        clause = expanded(Rm3Expander(bm25), "grain")
        if not found:
            assert clause == "grain"
            return
        weights = {word: probability / 2 for word, probability in relevance_model(found, 10).items()}
        weights["grain"] = weights.get("grain", 0) + 0.5
        total = Counter(words(clause)).total()
        exact = dict.fromkeys(_scores(bm25, " ".join(weights)), 0.0)
        margin = dict(exact)
        for word, weight in weights.items():
            for id, score in _scores(bm25, word).items():
                exact[id] += weight * score
                margin[id] += 0.006 * score  # half a repetition in about a hundred
        for id, score in _scores(bm25, clause).items():
            assert score / 100 == pytest.approx(exact[id], abs=margin[id])
        assert total == pytest.approx(100, abs=5)


def _scores(retriever: Bm25Retriever, question: str) -> dict[str, float]:
    return {hit.quote.id: hit.score for hit in retriever.search([Query(text=question)], 50)[0]}


def test_what_lacks_the_questions_words_is_found_through_feedback(tmp_path: Path) -> None:
    corpus = ["vessel and ship: calls of each ship", "The ship was late.", "The crane was late."]
    with make_collection(tmp_path, {"a.txt": corpus}) as collection:
        bm25 = Bm25Retriever(collection)
        clause = expanded(Rm3Expander(bm25), "vessel")
        hits = bm25.search([Query(text="vessel"), Query(text=clause)], 5)
    assert [[hit.quote.text for hit in each] for each in hits] == [corpus[:1], corpus[:2]]


def test_a_named_figure_weighs_as_much_as_before(tmp_path: Path) -> None:
    pages = [made_quote("tonnes of grain and timber", page=n) for n in range(6)]
    pages.append(made_quote("", page=6, layout="figure", caption="Figure 2: Exports"))
    with make_collection(tmp_path, {"a.pdf": pages}) as collection:
        retriever = LexicalRetriever(collection)
        question = "tonnes of grain in chart II"
        clause = expanded(Rm3Expander(retriever, alpha=0.9), question)
        before, after = retriever.search([Query(text=question), Query(text=clause)], 20)
    assert rank_pages(before)[0].page == rank_pages(after)[0].page == 6  # it has none of the words


def test_the_first_search_is_as_deep_and_narrow_as_asked() -> None:
    found, where = Found([("ship", 2.0), ("crane", 1.0)]), Filter(documents=("a",))
    assert "crane" not in expanded(Rm3Expander(found, quotes=1), "grain", where)
    assert found.asked == [(1, where)]


@pytest.mark.parametrize("question", ["", " \n", "the of", "?!"])
def test_a_question_without_words_is_not_searched_for(question: str) -> None:
    found = Found([("ship", 1.0)])
    assert asyncio.run(Rm3Expander(found).expand(Query(text=question))) == Expansion(
        clauses=(question,), note="Nothing was found to expand the question by."
    )
    assert found.asked == []


@pytest.mark.parametrize("scored", [[], [("", 1.0), ("the !", 1.0)]], ids=["nothing", "no words"])
def test_where_feedback_has_no_words_the_question_stays(scored: list[tuple[str, float]]) -> None:
    got = asyncio.run(Rm3Expander(Found(scored)).expand(Query(text="grain")))
    assert (got.clauses, got.note) == (("grain",), "Nothing was found to expand the question by.")


def test_a_very_long_question_keeps_its_share() -> None:
    question = " ".join(f"word{i}" for i in range(10_000))
    counts = Counter(words(expanded(Rm3Expander(Found([("ship crane", 1.0)])), question)))
    assert (counts["word7"], counts["ship"], counts["crane"]) == (1, 5000, 5000)


def test_questions_and_quotes_in_another_script(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.txt": ["東京都の人口は千四百万人です。", "人口の推移"]}) as collection:
        bm25 = Bm25Retriever(collection)
        clause = expanded(Rm3Expander(bm25), "東京")
        assert [hit.quote.text for hit in bm25.search([Query(text=clause)], 5)[0]] == [
            "東京都の人口は千四百万人です。",
            "人口の推移",
        ]


@pytest.mark.parametrize(("quotes", "terms", "alpha"), [(0, 10, 0.5), (10, 0, 0.5), (10, 10, 0), (10, 10, 1.1)])
def test_numbers_that_make_no_sense_are_refused(quotes: int, terms: int, alpha: float) -> None:
    with pytest.raises(UsageError, match="RM3 takes"):
        Rm3Expander(Found([]), quotes=quotes, terms=terms, alpha=alpha)


def test_without_hits_a_collection_that_is_empty_does_no_harm(tmp_path: Path) -> None:
    with Collection.create(tmp_path / "empty") as collection:
        assert expanded(Rm3Expander(Bm25Retriever(collection)), "grain") == "grain"
