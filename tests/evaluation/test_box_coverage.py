"""Box recall and precision by hand, against a count of cells, and what holds for any boxes."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.answers import Context
from quoteweave.core.boxes import Box
from quoteweave.core.examples import Example, GoldBox, Prediction, Reference
from quoteweave.core.records import Hit, Layout, Query, Quote
from quoteweave.evaluation.metrics.box_recall import BoxCoverage, LayoutRecall

METRIC = BoxCoverage()
Place = tuple[int, Box]


def found(*places: Place, layout: Layout = "paragraph") -> list[Hit]:
    return [
        Hit(
            rank=rank,
            score=-rank,
            quote=Quote(
                id=f"d:{page}:{rank}",
                document="d",
                page=page,
                page_label=str(page + 1),
                bbox=box,
                kind="image" if layout == "page" else "text",
                layout=layout,
            ),
        )
        for rank, (page, box) in enumerate(places, start=1)
    ]


def predict(hits: Sequence[Hit]) -> Prediction:
    return Prediction(example="q", scope="document", hits=tuple(hits))


def gold(*places: Place, document: str | None = "d") -> Example:
    reference = Reference(boxes=tuple(GoldBox(page=page, bbox=box) for page, box in places))
    return Example(id="q", query=Query(text="?"), document=document, reference=reference)


def test_an_answer_without_a_ranking_is_not_one_that_found_nothing() -> None:
    said = predict([]).model_copy(update={"response": "It rose.", "context": Context()})
    for metric in (METRIC, LayoutRecall()):
        assert metric.row(said, gold((0, (0, 0, 10, 10)))) == {}
    assert METRIC.row(predict([]), gold((0, (0, 0, 10, 10))))["box_recall@5"] == 0


def test_half_of_the_gold_and_a_quarter_of_the_quote() -> None:
    row = METRIC.row(predict(found((3, (5, 0, 25, 10)))), gold((3, (0, 0, 10, 10))))
    assert (row["gold_area"], row["quote_area@5"], row["common_area@5"]) == (100, 200, 50)
    assert row["box_recall@5"] == 0.5
    assert row["box_precision@5"] == 0.25


def test_overlaps_count_once_among_gold_and_among_quotes() -> None:
    reference = gold((0, (0, 0, 10, 10)), (0, (5, 0, 15, 10)))  # union 150
    quotes = found((0, (0, 0, 10, 10)), (0, (0, 0, 10, 10)), (0, (0, 5, 10, 15)))  # union 150
    row = METRIC.row(predict(quotes), reference)
    assert row["box_recall@5"] == pytest.approx(100 / 150)
    assert row["box_precision@5"] == pytest.approx(100 / 150)


def test_areas_are_summed_over_pages_and_never_shared_between_them() -> None:
    reference = gold((0, (0, 0, 10, 10)), (1, (0, 0, 10, 30)))
    row = METRIC.row(predict(found((0, (0, 0, 10, 10)), (2, (0, 0, 10, 30)))), reference)
    assert row["box_recall@5"] == pytest.approx(100 / 400)
    assert row["box_precision@5"] == pytest.approx(100 / 400)


def test_only_the_first_k_quotes_count() -> None:
    off, on = (0, (50.0, 50.0, 60.0, 60.0)), (0, (0.0, 0.0, 10.0, 10.0))
    row = METRIC.row(predict(found(off, off, off, off, off, on)), gold((0, (0, 0, 10, 10))))
    assert (row["box_recall@5"], row["box_precision@5"]) == (0, 0)
    assert (row["box_recall@10"], row["box_precision@10"]) == (1, 0.5)


def test_whole_pages_leave_the_ranking_before_it_is_cut() -> None:
    pages = found(*[(page, (0.0, 0.0, 100.0, 100.0)) for page in range(5)], layout="page")
    quotes = found((0, (0, 0, 10, 10)))
    row = METRIC.row(predict([*pages, *quotes]), gold((0, (0, 0, 10, 10))))
    assert (row["box_recall@5"], row["box_precision@5"], row["quote_area@5"]) == (1, 1, 100)


@pytest.mark.parametrize("hits", [[], found((0, (5, 5, 5, 9))), found((0, (0, 0, 9, 9)), layout="page")])
def test_without_quoted_area_recall_is_zero_and_precision_undefined(hits: list[Hit]) -> None:
    row = METRIC.row(predict(hits), gold((0, (0, 0, 10, 10))))
    assert row["box_recall@5"] == 0
    assert row["box_precision@5"] is None


@pytest.mark.parametrize(
    "example",
    [gold(), gold((0, (5, 5, 5, 9))), gold((0, (9, 9, 5, 5))), gold((0, (0, 0, 10, 10)), document=None)],
    ids=["no box", "a line", "inside out", "no document"],
)
def test_without_gold_area_all_is_undefined(example: Example) -> None:
    assert METRIC.row(predict(found((0, (0, 0, 10, 10)))), example) == {}


@pytest.mark.parametrize(
    "prediction", [Prediction(example="q", scope="context"), Prediction(example="q", items={"d": 1})]
)
def test_where_no_quotes_were_searched_all_is_undefined(prediction: Prediction) -> None:
    assert METRIC.row(prediction, gold((0, (0, 0, 10, 10)))) == {}


def test_the_same_place_in_another_document_is_not_gold() -> None:
    elsewhere = gold((0, (0, 0, 10, 10)), document="other")
    row = METRIC.row(predict(found((0, (0, 0, 10, 10)))), elsewhere)
    assert (row["box_recall@5"], row["box_precision@5"]) == (0, 0)


def test_means_leave_undefined_questions_out() -> None:
    whole = gold((0, (0, 0, 10, 10)))
    rows = [METRIC.row(predict(found((0, (0, 0, 10, 5)))), whole), METRIC.row(predict([]), whole)]
    rows.append(METRIC.row(predict([]), gold()))
    figures = {figure.name: figure for figure in METRIC.aggregates}
    assert (figures["box_recall@5"].of(rows), figures["box_recall@5"].undefined(rows)) == (0.25, 1)
    assert (figures["box_precision@5"].of(rows), figures["box_precision@5"].undefined(rows)) == (1, 2)


SIDE = 8
EDGES = st.tuples(st.integers(0, SIDE), st.integers(0, SIDE)).map(sorted)
BOX = st.tuples(EDGES, EDGES).map(lambda edges: (edges[0][0], edges[1][0], edges[0][1], edges[1][1]))
PLACES: st.SearchStrategy[list[Place]] = st.lists(st.tuples(st.integers(0, 1), BOX), max_size=6)


def cells(places: Sequence[Place]) -> set[tuple[int, int, int]]:
    return {
        (page, x, y)
        for page, (left, top, right, bottom) in places
        for x in range(int(left), int(right))
        for y in range(int(top), int(bottom))
    }


@given(golden=PLACES, quoted=PLACES)
def test_equals_a_count_of_cells(golden: list[Place], quoted: list[Place]) -> None:
    row = BoxCoverage(cutoffs=(6,)).row(predict(found(*quoted)), gold(*golden))
    ours, theirs = cells(golden), cells(quoted)
    if not ours:
        assert row == {}
        return
    assert row["gold_area"] == len(ours)
    assert row["quote_area@6"] == len(theirs)
    assert row["common_area@6"] == len(ours & theirs)
    assert row["box_recall@6"] == pytest.approx(len(ours & theirs) / len(ours))
    assert row["box_precision@6"] == (pytest.approx(len(ours & theirs) / len(theirs)) if theirs else None)


# Rounded to a millionth of a point: areas of thinner boxes would be lost in rounding beside others.
REAL = st.floats(0, 1000).map(lambda edge: round(edge, 6))
REAL_PLACES: st.SearchStrategy[list[Place]] = st.lists(
    st.tuples(st.integers(0, 1), st.tuples(REAL, REAL, REAL, REAL)), max_size=8
)


@given(golden=REAL_PLACES, quoted=REAL_PLACES, more=REAL_PLACES)
def test_shares_lie_between_0_and_1_and_more_quotes_never_lower_recall(
    golden: list[Place], quoted: list[Place], more: list[Place]
) -> None:
    metric = BoxCoverage(cutoffs=(16,))
    before = metric.row(predict(found(*quoted)), gold(*golden))
    after = metric.row(predict(found(*quoted, *more)), gold(*golden))
    for row in (before, after):
        assert all(0 <= share <= 1 for figure in metric.aggregates if (share := row.get(figure.name)) is not None)
    low, high = before.get("box_recall@16"), after.get("box_recall@16")
    assert (low is None) == (high is None)
    if low is not None and high is not None:
        assert high >= low - 1e-6
