"""The coefficient of variation of citation places, counted by hand."""

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_selection import answered, example

from quoteweave.evaluation.metrics.citations.aliice import CitationSpread
from quoteweave.evaluation.statistics.aggregates import Row


def lines(text: str) -> list[str]:
    return text.splitlines()


def row_of(response: str | None) -> Row:
    return CitationSpread(lines).row(answered(response), example())


def figures_of(*responses: str) -> dict[str, float | None]:
    metric = CitationSpread(lines)
    rows = [metric.row(answered(response), example()) for response in responses]
    return {figure.name.removeprefix("cvcp."): figure.of(rows) for figure in metric.aggregates}


def test_one_sentence_by_hand() -> None:
    # Ten characters; marks at 0.2 and 0.6: mean 0.4, standard deviation 0.2.
    expected = {"pooled": pytest.approx(0.5), "per_sentence": pytest.approx(0.5), "at_start.total": 0}
    assert figures_of("ab[1]c[2]d") == expected


def test_the_two_figures_average_differently() -> None:
    # Places 0.2 and 0.6 (CV 0.5); 0.5 alone (CV 0); in another response 0.2 alone (CV 0).
    figures = figures_of("ab[1]c[2]d\nabc[1]", "a[1]bc")
    places = [0.2, 0.6, 0.5, 1 / 6]
    assert figures["per_sentence"] == pytest.approx((0.25 + 0) / 2)
    assert figures["pooled"] == pytest.approx(statistics.pstdev(places) / statistics.fmean(places))


def test_a_list_cites_at_one_place() -> None:
    # 11 characters: 1/11, 1/11 and 8/11.
    places = [1 / 11, 1 / 11, 8 / 11]
    expected = statistics.pstdev(places) / statistics.fmean(places)
    assert row_of("a[1, 2]b[3]")["cvcp.per_sentence"] == pytest.approx(expected)


def test_undefined_is_never_zero() -> None:
    metric = CitationSpread(lines)
    rows = [row_of(response) for response in ("", "Nothing cited.", "[1] Opens.")]
    assert [row["cvcp.per_sentence"] for row in rows] == [None, None, None]
    assert [row["cvcp.at_start"] for row in rows] == [0, 0, 1]
    values = {figure.name: figure.of(rows) for figure in metric.aggregates}
    assert values == {"cvcp.pooled": None, "cvcp.per_sentence": None, "cvcp.at_start.total": 1}
    assert metric.aggregates[1].undefined(rows) == 3
    assert row_of(None) == {}


def test_a_sentence_that_is_cited_at_its_start_alone_is_left_out_of_the_mean() -> None:
    assert figures_of("[1] Opens.\nab[1]c[2]d") == {
        "pooled": pytest.approx(statistics.pstdev([0, 0.2, 0.6]) / statistics.fmean([0, 0.2, 0.6])),
        "per_sentence": pytest.approx(0.5),
        "at_start.total": 1,
    }


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=4), min_size=1, max_size=5))
def test_pooled_is_the_coefficient_of_all_places(gaps: list[list[int]]) -> None:
    responses = ["".join("a" * gap + "[1]" for gap in response) for response in gaps]
    places = [at / len(one) for one in responses for at in range(len(one)) if one.startswith("[1]", at)]
    expected = statistics.pstdev(places) / statistics.fmean(places) if any(places) else None
    assert figures_of(*responses)["pooled"] == (None if expected is None else pytest.approx(expected, abs=1e-7))
