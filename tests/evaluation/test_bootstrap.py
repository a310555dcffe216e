"""Bootstrap intervals of figures: by hand where that can be done, compared with resampling by loop elsewhere."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of, pooled_f1, ratio_of
from quoteweave.evaluation.statistics.bootstrap import bootstrap_intervals

ROWS: list[Row] = [{"a": (n % 7) ** 0.5, "b": 1.0 + n % 4, "c": 2.0} for n in range(60)]
CLUSTERS = [str(n // 4) for n in range(60)]
FIGURES = [mean_of("a"), ratio_of("ratio", "a", "b"), pooled_f1("f1", "a", "b", "c")]


def test_intervals_are_those_of_drawing_rows_of_whole_clusters() -> None:
    found = bootstrap_intervals(FIGURES, ROWS, CLUSTERS, resamples=4000, seed=1)
    rng = np.random.default_rng(7)
    groups = [[row for row, name in zip(ROWS, CLUSTERS, strict=True) if name == one] for one in dict.fromkeys(CLUSTERS)]
    for figure in FIGURES:
        drawn = []
        for _ in range(2000):
            rows = [row for place in rng.integers(len(groups), size=len(groups)) for row in groups[place]]
            drawn.append(figure.of(rows))
        low, high = np.quantile([value for value in drawn if value is not None], [0.025, 0.975])
        bounds = found[figure.name]
        assert bounds is not None
        value = figure.of(ROWS)
        assert value is not None
        width = high - low
        assert bounds[0] == pytest.approx(low, abs=max(0.15 * width, 1e-9))
        assert bounds[1] == pytest.approx(high, abs=max(0.15 * width, 1e-9))
        assert bounds[0] <= value <= bounds[1]


def test_two_rows_give_their_extremes() -> None:
    assert bootstrap_intervals([mean_of("a")], [{"a": 0.0}, {"a": 1.0}], ["x", "y"]) == {"a": (0.0, 1.0)}


def test_one_cluster_leaves_nothing_to_resample() -> None:
    assert bootstrap_intervals([mean_of("a")], [{"a": 0.0}, {"a": 1.0}], ["x", "x"]) == {"a": None}
    assert bootstrap_intervals([mean_of("a")], [], []) == {"a": None}
    assert bootstrap_intervals([], ROWS, CLUSTERS) == {}


def test_undefined_rows_and_resamples_are_left_out() -> None:
    rows: list[Row] = [{"a": None}, {"a": 0.5}, {}, {"a": 0.25}]
    found = bootstrap_intervals([mean_of("a"), mean_of("b")], rows, ["x", "y", "z", "w"])
    assert found == {"a": (0.25, 0.5), "b": None}


def test_a_figure_defined_in_one_cluster_alone_has_no_interval() -> None:
    rows: list[Row] = [{"a": 1.0, "b": 1.0}, {"a": 0.0, "b": 0.0}, {"b": 1.0}]
    found = bootstrap_intervals([mean_of("a"), mean_of("b")], rows, ["x", "x", "y"])
    assert found == {"a": None, "b": (0.5, 1.0)}


def test_a_seed_gives_the_same_interval_whatever_stands_beside_the_figure() -> None:
    together = bootstrap_intervals(FIGURES, ROWS, CLUSTERS, resamples=500, seed=3)
    alone = [bootstrap_intervals([figure], ROWS, CLUSTERS, resamples=500, seed=3) for figure in FIGURES]
    for one in alone:
        for name, bounds in one.items():
            assert bounds == pytest.approx(together[name])
    assert together != bootstrap_intervals(FIGURES, ROWS, CLUSTERS, resamples=500, seed=4)


def test_many_clusters_are_drawn_in_parts() -> None:
    rows: list[Row] = [{"a": float(n % 2)} for n in range(3000)]
    found = bootstrap_intervals([mean_of("a")], rows, [str(n) for n in range(3000)], resamples=1000)["a"]
    assert found is not None
    half_width = 1.96 * 0.5 / 3000**0.5
    assert found == pytest.approx((0.5 - half_width, 0.5 + half_width), abs=0.003)


@settings(max_examples=25)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=20), st.floats(0.5, 0.99))
def test_an_interval_lies_within_what_was_seen(values: list[float], level: float) -> None:
    figure: Aggregate = mean_of("a")
    rows: list[Row] = [{"a": value} for value in values]
    found = bootstrap_intervals([figure], rows, [str(n) for n in range(len(rows))], resamples=200, level=level)["a"]
    assert found is not None
    assert min(values) - 1e-9 <= found[0] <= found[1] <= max(values) + 1e-9
