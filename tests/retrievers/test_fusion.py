"""Fusion by ranks and by scores: examples by hand, and what holds whatever is fused."""

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from builders import make_quote
from hypothesis import given
from hypothesis import strategies as st
from made_collections import make_collection

from quoteweave.core.errors import UsageError
from quoteweave.core.records import Filter, Hit, Query
from quoteweave.retrievers.fusion import (
    FUSION_RULES,
    FusedRetriever,
    FusionRule,
    fuse_ranks,
    reciprocal_rank_fusion,
    score_fusion,
)
from quoteweave.retrievers.lexical import LexicalRetriever
from quoteweave.retrievers.sparse import Bm25Retriever, TfidfRetriever

QUOTES = {name: make_quote(name, id=name) for name in "abcdefghij"}
EACH_RULE = pytest.mark.parametrize("rule", FUSION_RULES.values(), ids=list(FUSION_RULES))

scores = st.integers(-400, 400).map(lambda n: n / 4) | st.sampled_from([0.0, 1.0])
rankings = st.dictionaries(st.sampled_from(sorted(QUOTES)), scores, max_size=8).map(
    lambda found: ranking(sorted(found.items(), key=lambda item: -item[1]))
)


def ranking(scored: Sequence[tuple[str, float]]) -> list[Hit]:
    return [Hit(rank=rank, score=score, quote=QUOTES[id]) for rank, (id, score) in enumerate(scored, 1)]


def ids(hits: Sequence[Hit]) -> str:
    return "".join(hit.quote.id for hit in hits)


class Asked:
    """Finds one ranking for every question, and remembers how it was asked."""

    def __init__(self, hits: Sequence[Hit]) -> None:
        self.hits = list(hits)
        self.asked: list[tuple[int, int, Filter | None]] = []

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        self.asked.append((len(queries), k, where))
        return [self.hits[:k] for _ in queries]


def test_ranks_by_hand() -> None:
    first = ranking([("a", 9), ("b", 5), ("c", 4)])
    second = ranking([("b", 0.3), ("d", 0.2), ("a", 0.1)])
    fused = reciprocal_rank_fusion([first, second])
    assert [(hit.rank, hit.quote.id) for hit in fused] == [(1, "b"), (2, "a"), (3, "d"), (4, "c")]
    assert [hit.score for hit in fused] == pytest.approx([1 / 62 + 1 / 61, 1 / 61 + 1 / 63, 1 / 62, 1 / 63])


def test_scores_by_hand() -> None:
    first = ranking([("a", 10), ("b", 8), ("c", 6)])  # 1, 1/2, 0
    second = ranking([("c", -1), ("b", -2), ("d", -5)])  # 1, 3/4, 0
    fused = score_fusion([first, second])
    assert [(hit.quote.id, hit.score) for hit in fused] == [("b", 1.25), ("a", 1.0), ("c", 1.0), ("d", 0.0)]
    weighted = score_fusion([first, second], [1, 3])
    assert [(hit.quote.id, hit.score) for hit in weighted] == [("c", 3.0), ("b", 2.75), ("a", 1.0), ("d", 0.0)]


def test_weights_of_ranks_by_hand() -> None:
    fused = reciprocal_rank_fusion([ranking([("a", 2), ("b", 1)]), ranking([("b", 2), ("c", 1)])], [3, 1])
    assert ids(fused) == "bac"
    assert [hit.score for hit in fused] == pytest.approx([3 / 62 + 1 / 61, 3 / 61, 1 / 62])
    assert (
        ids(reciprocal_rank_fusion([ranking([("a", 2), ("b", 1)]), ranking([("b", 2), ("c", 1)])], [100, 1])) == "abc"
    )


def test_equal_scores_of_a_ranking_all_count_as_found() -> None:
    fused = score_fusion([ranking([("b", 7), ("a", 7)]), ranking([("c", 3)])])
    assert [(hit.quote.id, hit.score) for hit in fused] == [("b", 1.0), ("c", 1.0), ("a", 1.0)]


def test_ties_go_to_the_better_rank_then_to_the_lower_id() -> None:
    assert ids(reciprocal_rank_fusion([ranking([("c", 2), ("a", 1)]), ranking([("b", 2)])])) == "bca"
    crossed = [ranking([("b", 2), ("a", 1)]), ranking([("a", 2), ("b", 1)])]
    assert ids(reciprocal_rank_fusion(crossed)) == ids(reciprocal_rank_fusion(crossed[::-1])) == "ab"


@EACH_RULE
@given(found=rankings)
def test_one_ranking_keeps_its_order(rule: FusionRule, found: list[Hit]) -> None:
    assert ids(rule([found])) == ids(found)


@EACH_RULE
@given(found=st.lists(rankings, max_size=4), data=st.data())
def test_the_order_of_the_rankings_plays_no_part(rule: FusionRule, found: list[list[Hit]], data: st.DataObject) -> None:
    assert rule(data.draw(st.permutations(found))) == rule(found)


@EACH_RULE
@given(found=st.lists(rankings, max_size=4))
def test_every_quote_comes_once_best_first(rule: FusionRule, found: list[list[Hit]]) -> None:
    fused = rule(found)
    assert sorted(ids(fused)) == sorted(set("".join(map(ids, found))))
    assert [hit.rank for hit in fused] == list(range(1, len(fused) + 1))
    assert [hit.score for hit in fused] == sorted((hit.score for hit in fused), reverse=True)


@EACH_RULE
@given(found=st.lists(rankings, min_size=1, max_size=4), weights=st.lists(st.floats(0.1, 10), min_size=4, max_size=4))
def test_what_all_find_first_is_first(rule: FusionRule, found: list[list[Hit]], weights: list[float]) -> None:
    led = [
        ranking([("a", 101.0), *((hit.quote.id, hit.score) for hit in hits if hit.quote.id != "a")]) for hits in found
    ]
    assert ids(rule(led, weights[: len(led)])).startswith("a")


@given(st.lists(st.tuples(rankings, st.sampled_from([0.25, 1, 4]), st.integers(-9, 9)), max_size=4))
def test_what_a_retrievers_scores_range_over_plays_no_part(found: list[tuple[list[Hit], float, int]]) -> None:
    other = [
        [hit.model_copy(update={"score": factor * hit.score + shift}) for hit in hits] for hits, factor, shift in found
    ]
    assert score_fusion(other) == score_fusion([hits for hits, _, _ in found])


@EACH_RULE
def test_nothing_fused_is_nothing(rule: FusionRule) -> None:
    assert rule([]) == []
    assert rule([[], []]) == []
    assert ids(rule([[], ranking([("a", 1)])])) == "a"


@EACH_RULE
@pytest.mark.parametrize("weights", [[1], [1, 2, 3], [1, 0], [1, -1], [1, math.nan], [1, math.inf]])
def test_weights_must_be_one_positive_number_for_each(rule: FusionRule, weights: list[float]) -> None:
    with pytest.raises(UsageError, match="weight"):
        rule([[], []], weights)
    with pytest.raises(UsageError, match="weight"):
        FusedRetriever([Asked([]), Asked([])], rule, weights=weights)


def test_retrievers_are_asked_once_for_all_questions_and_deep_enough() -> None:
    first, second = Asked(ranking([("a", 2), ("b", 1)])), Asked(ranking([("b", 9), ("c", 8)]))
    where = Filter(kind="text")
    fused = FusedRetriever([first, second])
    queries = [Query(text="x"), Query(text="y")]
    assert [ids(hits) for hits in fused.search(queries, 2, where=where)] == ["ba", "ba"]
    fused.search(queries, 250)
    assert first.asked == second.asked == [(2, 100, where), (2, 400, None)]
    assert FusedRetriever([first, second], weights=[5, 1]).search(queries[:1], 1)[0][0].score == pytest.approx(
        5 / 62 + 1 / 61
    )


def test_what_stands_far_down_in_both_can_come_up() -> None:
    first = ranking([("a", 3), ("b", 2), ("c", 1)])
    second = ranking([("d", 3), ("e", 2), ("c", 1)])
    assert ids(FusedRetriever([Asked(first), Asked(second)]).search([Query(text="")], 1)[0]) == "c"


def test_fewer_hits_are_the_beginning_of_more() -> None:
    fused = FusedRetriever([Asked(ranking([(id, 1) for id in "abcdefg"])), Asked(ranking([(id, 1) for id in "gfhia"]))])
    everything = fused.search([Query(text="")], 100)[0]
    for k in range(12):
        assert fused.search([Query(text="")], k) == [everything[:k]]
    assert fused.search([Query(text="")], -1) == [[]]
    assert fused.search([], 5) == []


def test_without_retrievers_it_is_refused() -> None:
    with pytest.raises(UsageError, match="at least one"):
        FusedRetriever([])


@EACH_RULE
def test_over_a_collection(rule: FusionRule, tmp_path_factory: pytest.TempPathFactory) -> None:
    corpus = {"a.txt": ["grain by ship", "timber"], "b.txt": ["grain grain", "crane"]}
    with make_collection(tmp_path_factory.mktemp("fused"), corpus) as collection:
        fused = FusedRetriever([Bm25Retriever(collection), TfidfRetriever(collection)], rule)
        found = fused.search([Query(text="grain"), Query(text=""), Query(text="word " * 10_000)], 10)
        assert [[hit.quote.text for hit in hits] for hits in found] == [["grain grain", "grain by ship"], [], []]
        assert fused.search([Query(text="grain")], 10, where=Filter(documents=())) == [[]]
        with pytest.raises(UsageError, match="no document"):
            fused.search([Query(text="grain")], 10, where=Filter(documents=("c.txt",)))


@given(found=st.lists(rankings, max_size=4))
def test_ids_alone_are_fused_as_quotes_are(found: list[list[Hit]]) -> None:
    fused = fuse_ranks([[hit.quote.id for hit in hits] for hits in found])
    assert list(fused.items()) == [(hit.quote.id, hit.score) for hit in reciprocal_rank_fusion(found)]


def test_fusion_passes_on_how_rare_words_are_as_the_check_of_the_topic_needs_it(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.pdf": ["grain came by sea", "timber"]}) as collection:
        lexical, query = LexicalRetriever(collection), Query(text="grain of zeppelins")
        alone = lexical.explain(query, [])
        fused = FusedRetriever([Bm25Retriever(collection), lexical]).explain(query, [])
        other = FusedRetriever([Bm25Retriever(collection)]).explain(query, [])
    assert alone.rarity
    assert (fused.rarity, fused.variety) == (alone.rarity, alone.variety)
    assert (other.rarity, other.variety) == ({}, None)


@EACH_RULE
@pytest.mark.parametrize("k", [1, 3, 5])
def test_what_each_retriever_adds_is_the_score_of_a_hit_whatever_else_was_asked(rule: FusionRule, k: int) -> None:
    first = Asked(ranking([("a", 10), ("b", 9), ("c", 6), ("d", 2), ("e", 1)]))
    second = Asked(ranking([("b", 9), ("a", 8), ("e", 7), ("f", 3)]))
    fused, query, where = FusedRetriever([first, second], rule, weights=[2, 1], depth=2), Query(text="x"), Filter()
    (hits,) = fused.search([query], k, where=where)
    for other in (1, 5, 100):
        fused.search([query], other, where=where)
    reasons = fused.explain(query, hits, where=where).reasons
    assert [sum(reason.points for reason in reasons[hit.quote.id]) for hit in hits] == pytest.approx(
        [hit.score for hit in hits], abs=0.002
    )
    assert all(reasons[hit.quote.id] for hit in hits)


def test_reasons_are_on_the_scale_of_the_scores_and_say_what_a_retriever_found(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.pdf": ["grain came by sea", "timber"]}) as collection:
        lexical, query = LexicalRetriever(collection), Query(text="grain")
        fused = FusedRetriever([Bm25Retriever(collection), lexical], names=["bm25", "lexical"])
        (hits,) = fused.search([query], 5)
        reasons = fused.explain(query, hits).reasons
        own = lexical.explain(query, hits).reasons
    best = hits[0]
    assert {reason.part for reason in reasons[best.quote.id]} == {"bm25", "lexical"}
    assert sum(reason.points for reason in reasons[best.quote.id]) == pytest.approx(best.score, abs=0.002)
    told = next(reason.detail for reason in reasons[best.quote.id] if reason.part == "lexical")
    assert all(f"{reason.part} {reason.points:.2f}" in told for reason in own[best.quote.id])
