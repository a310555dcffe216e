"""Figures of rankings: by hand, against ir-measures, and what is undefined."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_selection import example, fixed, quote

from quoteweave.core.examples import Prediction, Scope
from quoteweave.core.records import Hit, Quote
from quoteweave.evaluation.metrics.rankings import Rankings, by_score
from quoteweave.evaluation.statistics.aggregates import Row

METRIC = Rankings(cutoffs=(1, 3))


def hits(*quotes: Quote, scope: Scope = "collection") -> Prediction:
    ranked = [Hit(rank=rank, score=1 / rank, quote=one) for rank, one in enumerate(quotes, start=1)]
    return Prediction(example="q", scope=scope, hits=tuple(ranked))


def ids(*names: str, scope: Scope = "collection") -> Prediction:
    return hits(*(quote("text", name) for name in names), scope=scope)


class TestByHand:
    def test_two_of_three_relevant_at_ranks_2_and_3(self) -> None:
        row = METRIC.row(ids("x", "a", "b"), example(gold=["a", "b", "c"]))
        assert row == pytest.approx(
            {
                "relevant": 3,
                **{"recall@1": 0, "recall@3": 2 / 3, "precision@1": 0, "precision@3": 2 / 3},
                **{"hit_rate@1": 0, "hit_rate@3": 1, "map": (1 / 2 + 2 / 3) / 3, "mrr": 1 / 2},
                **{"ndcg@1": 0, "ndcg@3": (0.6309298 + 0.5) / (1 + 0.6309298 + 0.5)},
            }
        )

    def test_ndcg_has_a_linear_gain(self) -> None:
        row = METRIC.row(ids("good", "best"), example(gold={"best": 3, "good": 1, "bad": 0}))
        assert row["ndcg@3"] == pytest.approx((1 + 3 * 0.6309298) / (3 + 0.6309298))

    def test_precision_divides_by_k_where_fewer_were_found(self) -> None:
        assert METRIC.row(ids("a"), example(gold=["a"]))["precision@3"] == pytest.approx(1 / 3)

    def test_nothing_found_is_zero(self) -> None:
        row = METRIC.row(ids(), example(gold=["a"]))
        assert [row[name] for name in ("recall@3", "ndcg@3", "map", "mrr", "hit_rate@3")] == [0] * 5

    def test_an_item_that_comes_twice_counts_where_it_first_stands(self) -> None:
        row = METRIC.row(ids("a", "a", "a", "b"), example(gold=["a", "b"]))
        assert (row["recall@3"], row["map"]) == (1, 1)

    def test_grade_0_is_not_relevant(self) -> None:
        assert METRIC.row(ids("x"), example(gold={"x": 0, "a": 1}))["hit_rate@1"] == 0


class TestKinds:
    def test_each_kind_by_its_own_gold_in_the_whole_ranking(self) -> None:
        asked = example(gold=["text1", "text2", "image1"], context=fixed())
        row = METRIC.row(ids("image1", "text9", "text2", scope="context"), asked)
        assert (row["image.recall@1"], row["text.recall@1"], row["text.recall@3"]) == (1, 0, 0.5)

    def test_a_kind_without_gold_is_undefined(self) -> None:
        row = METRIC.row(ids("text1", scope="context"), example(gold=["text1"], context=fixed()))
        assert row["text.recall@1"] == 1
        assert "image.recall@1" not in row

    def test_kinds_are_never_taken_from_what_was_found(self) -> None:
        row = METRIC.row(ids("a"), example(gold=["a"]))
        assert row["recall@1"] == 1
        assert "text.recall@1" not in row


class TestLayouts:
    def test_retrieved_quotes_are_gold_by_document_and_layout_id(self) -> None:
        asked = example(gold=["text1"], context=fixed(), layouts=[("a.pdf", 1), ("a.pdf", 101)])
        right, wrong = quote("text", "c:0:5", layout_id=1), quote("text", "c:0:6", layout_id=1, document="b.pdf")
        row = METRIC.row(hits(wrong, right), asked)
        assert (row["recall@1"], row["recall@3"], row["text.recall@3"], row["image.recall@3"]) == (0, 0.5, 1, 0)

    def test_elsewhere_it_cannot_be_known(self) -> None:
        asked = example(gold=["text1"], context=fixed(), layouts=[("a.pdf", 1)])
        assert METRIC.row(hits(quote("text", "text1")), asked) == {}
        assert METRIC.row(ids("text1"), example(gold=["text1"], context=fixed())) == {}
        assert METRIC.row(ids("c:0:5"), example(gold=["text1"])) == {}


class TestUndefined:
    @pytest.mark.parametrize("gold", [None, {}, {"a": 0}])
    def test_without_gold(self, gold: dict[str, int] | None) -> None:
        row = METRIC.row(ids("a"), example(gold=gold))
        assert row == {}
        assert [figure.undefined([row]) for figure in METRIC.aggregates] == [1] * len(METRIC.aggregates)

    def test_where_nothing_was_ranked(self) -> None:
        assert METRIC.row(ids(scope="context"), example(gold=["text1"], context=fixed())) == {}


class TestScores:
    def test_ties_in_single_precision_are_broken_by_id_the_greater_first(self) -> None:
        assert by_score({"a": 1.0, "c": 1.0 - 1e-12, "b": 1.0, "z": 0.5}) == ["c", "b", "a", "z"]

    def test_scores_too_large_for_single_precision_are_ties(self) -> None:
        assert by_score({"a": 1e300, "b": 1e200, "c": -1e300}) == ["b", "a", "c"]


ITEMS = st.sampled_from([f"d{n}" for n in range(9)])
SCORES = st.sampled_from([0.0, 0.25, 0.5, 0.5 + 1e-12, 1.0, -1.0])
# Our names, and those of ir-measures.
MEASURES = {
    **{"recall@3": "R@3", "precision@3": "P@3", "ndcg@3": "nDCG@3"},
    **{"hit_rate@3": "Success@3", "map": "AP", "mrr": "RR"},
}


@given(
    questions=st.lists(
        st.tuples(st.dictionaries(ITEMS, st.integers(0, 3), min_size=1), st.dictionaries(ITEMS, SCORES, min_size=1)),
        min_size=1,
        max_size=6,
    )
)
def test_equals_ir_measures(questions: list[tuple[dict[str, int], dict[str, float]]]) -> None:
    import ir_measures

    qrels = {str(n): grades for n, (grades, _) in enumerate(questions) if any(grades.values())}
    run = {name: questions[int(name)][1] for name in qrels}
    rows: dict[str, Row] = {
        name: METRIC.row(Prediction(example=name, items=run[name]), example(name, gold=qrels[name])) for name in qrels
    }
    names = {ir_measures.parse_measure(measure): name for name, measure in MEASURES.items()}
    theirs = list(ir_measures.iter_calc(list(names), qrels, run)) if qrels else []
    assert len(theirs) == len(MEASURES) * len(qrels)
    for metric in theirs:
        assert rows[metric.query_id][names[metric.measure]] == pytest.approx(metric.value)
