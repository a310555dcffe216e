import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quoteweave.core.errors import DatasetError
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.scoring.comparison import compare_scores
from quoteweave.evaluation.scoring.scores import ScoredQuestion, Scores
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of, pooled_f1, total_of
from quoteweave.evaluation.statistics.paired_tests import difference_of, holm, joint, permutation_test, standardised

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


# Sums of these are exact, so that nobody's rounding decides which differences are equal.
EXACT = st.integers(0, 64).map(lambda n: n / 64)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(EXACT, EXACT), min_size=4, max_size=8))
def test_p_is_that_of_scipy(pairs: list[tuple[float, float]]) -> None:
    from scipy import stats

    rows = [joint({"x": a}, {"x": b}) for a, b in pairs]
    p = permutation_test(difference_of(MEAN), rows, [str(i) for i in range(len(rows))], permutations=20_000)
    a, b = np.array(pairs).T
    seen = abs(np.mean(a - b))
    exact = np.mean(
        [
            abs(np.mean((a - b) * np.array(signs))) >= seen - 1e-12
            for signs in itertools.product((1, -1), repeat=len(pairs))
        ]
    )
    assert p == pytest.approx(exact, abs=0.02)
    found = stats.permutation_test(
        (a, b), lambda u, v: np.mean(u - v), permutation_type="samples", n_resamples=np.inf, alternative="two-sided"
    )
    assert p == pytest.approx(found.pvalue, abs=0.03)


def test_rows_of_a_cluster_are_swapped_together() -> None:
    """Ten questions of two documents are two coins: no p can be below one half."""
    rows = [joint({"x": 1.0}, {"x": 0.0}) for _ in range(10)]
    difference = difference_of(MEAN)
    assert permutation_test(difference, rows, ["a"] * 5 + ["b"] * 5) == 0.5
    assert permutation_test(difference, rows, [str(i) for i in range(10)]) == 2 / 1024


@pytest.mark.parametrize("scale", [1.0, 1e7])
def test_rounding_of_large_sums_lowers_no_p(scale: float) -> None:
    """Of five documents there are 32 ways to swap, of which all and none give what was seen: p is 2 / 32."""
    seconds = np.random.default_rng(1).uniform(1, 60, (200, 2)) * scale
    rows = [joint({"s": slow + scale}, {"s": slow - fast / 100}) for slow, fast in seconds.tolist()]
    clusters = [str(i % 5) for i in range(200)]
    for figure in (total_of("s.total", "s"), mean_of("s")):
        assert permutation_test(difference_of(figure), rows, clusters) == 2 / 32


def test_p_is_never_zero_and_the_same_seed_gives_the_same() -> None:
    rows = [joint({"x": 1.0}, {"x": 0.0}) for _ in range(60)]
    clusters = [str(i) for i in range(60)]
    found = [permutation_test(difference_of(MEAN), rows, clusters, permutations=999, seed=3) for _ in range(2)]
    assert found == [1 / 1000, 1 / 1000]
    assert permutation_test(difference_of(MEAN), [joint({"x": None}, {"x": 1.0})], ["a"]) is None


def test_equal_runs_differ_in_nothing() -> None:
    rows: list[Row] = [{"x": 0.2}, {"x": 0.9}, {"x": 0.4}]
    (found,) = compare_scores([scores("a", rows), scores("b", rows)], [MEAN])
    assert (found.difference, found.low, found.high, found.p, found.effect) == (0.0, 0.0, 0.0, 1.0, None)


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


def test_a_p_that_no_permutation_came_up_to_is_marked_as_a_bound() -> None:
    better, same = ([{"x": float(value)} for value in values] for values in ([1] * 40, [0, 1] * 20))
    worse: list[Row] = [{"x": 0.0}] * 40
    (far,) = compare_scores([scores("a", [*better]), scores("b", worse)], [MEAN], permutations=999)
    (near,) = compare_scores([scores("a", [*same]), scores("b", [*same[::-1]])], [MEAN], permutations=999)
    assert (far.p, far.at_floor) == (1 / 1000, True)
    assert (near.p, near.at_floor) == (1.0, False)
