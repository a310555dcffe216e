import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.errors import DatasetError
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.scoring.comparison import compare_scores
from quoteweave.evaluation.scoring.scores import ScoredQuestion, Scores
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of, pooled_f1
from quoteweave.evaluation.statistics.paired_tests import holm, standardised

MEAN = mean_of("x")
F1 = pooled_f1("f1.pooled", "common", "cited", "gold")


def scores(
    name: str, rows: list[Row], *, clusters: list[str] | None = None, convention: Convention = "strict"
) -> Scores:
    return Scores(
        name=name,
        dataset="made",
        convention=convention,
        marks="own",
        clusters="document",
        failed=0,
        missing=0,
        figures={},
        questions=tuple(
            ScoredQuestion(example=str(i), cluster=(clusters or [str(i) for i in range(len(rows))])[i], row=row)
            for i, row in enumerate(rows)
        ),
    )


def test_a_difference_is_of_the_questions_in_which_both_are_defined() -> None:
    ours: list[Row] = [{"x": 1.0}, {"x": None}, {"x": 0.5}, {"x": 0.25}]
    theirs: list[Row] = [{"x": 0.0}, {"x": 1.0}, {"x": 0.5}, {"x": 0.75}]
    (found,) = compare_scores([scores("a", ours), scores("b", theirs)], [MEAN])
    assert (found.n, found.left_out) == (3, 1)
    assert found.difference == pytest.approx((1 + 0 - 0.5) / 3)
    assert found.first_value == pytest.approx(1.75 / 3)
    assert found.effect == pytest.approx(np.mean([1, 0, -0.5]) / np.std([1, 0, -0.5], ddof=1))


def test_pooled_figures_are_compared_by_their_sums() -> None:
    ours: list[Row] = [{"common": 1, "cited": 1, "gold": 2}, {"common": 0, "cited": 3, "gold": 1}]
    theirs: list[Row] = [{"common": 2, "cited": 2, "gold": 2}, {"common": 1, "cited": 1, "gold": 1}]
    (found,) = compare_scores([scores("a", ours), scores("b", theirs)], [F1])
    assert found.first_value == pytest.approx(2 / 7)
    assert (found.second_value, found.effect) == (1.0, None)
    assert found.difference == pytest.approx(2 / 7 - 1)


def test_equal_runs_differ_in_nothing() -> None:
    rows: list[Row] = [{"x": 0.2}, {"x": 0.9}, {"x": 0.4}]
    (found,) = compare_scores([scores("a", rows), scores("b", rows)], [MEAN])
    assert (found.difference, found.p, found.effect) == (0.0, 1.0, None)
    assert [found.low, found.high] == pytest.approx([0.025 ** (1 / 3) - 1, 1 - 0.025 ** (1 / 3)])


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, None, 0.6]) == [1.0, None, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_keeps_the_order_and_never_lowers(values: list[float]) -> None:
    corrected = [p for p in holm(values) if p is not None]
    assert all(after >= before for before, after in zip(values, corrected, strict=True))
    assert max(corrected) <= 1
    order = np.argsort(values, kind="stable")
    assert (np.diff(np.array(corrected)[order]) >= 0).all()


def test_effect_sizes() -> None:
    assert standardised([1, 2, 3]) == pytest.approx(2.0)
    assert standardised([1, 1]) is None
    assert standardised([1]) is None


def test_runs_that_were_not_scored_alike_are_not_compared() -> None:
    rows: list[Row] = [{"x": 0.2}]
    with pytest.raises(DatasetError, match="convention 'strict' and 'published'"):
        compare_scores([scores("a", rows), scores("b", rows, convention="published")], [MEAN])


def test_p_values_of_all_pairs_are_corrected_together() -> None:
    rng = np.random.default_rng(0)
    runs = [scores(name, [{"x": float(x)} for x in rng.random(30)]) for name in "abc"]
    found = compare_scores(runs, [MEAN, Aggregate("twice", ("x",), lambda sums: 2 * sums[1] / sums[0])])
    assert [(one.first, one.second) for one in found] == [("a", "b")] * 2 + [("a", "c")] * 2 + [("b", "c")] * 2
    assert [one.p_holm for one in found] == holm([one.p for one in found])


def test_a_run_that_is_better_everywhere_has_the_p_of_as_many_coins() -> None:
    better, worse = ([{"x": float(value)} for value in values] for values in ([1] * 40, [0] * 40))
    (found,) = compare_scores([scores("a", [*better]), scores("b", [*worse])], [MEAN])
    assert found.p == pytest.approx(2 / 2**40)
    assert found.high == 1.0
