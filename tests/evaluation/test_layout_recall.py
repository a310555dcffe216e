"""MMDocIR's layout recall by hand: overlaps as often as they occur, and the same as box recall where there are none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.boxes import Box
from quoteweave.core.examples import Example, GoldBox, Prediction, Reference
from quoteweave.core.records import Hit, Layout, Query, Quote
from quoteweave.evaluation.metrics.box_recall import BoxCoverage, LayoutRecall
from quoteweave.evaluation.statistics.aggregates import Row

Place = tuple[int, Box]
WHOLE: Place = (0, (0, 0, 10, 10))


def asked(*gold: Place) -> Example:
    boxes = tuple(GoldBox(page=page, bbox=box) for page, box in gold)
    return Example(id="q", query=Query(text="?"), document="d", reference=Reference(boxes=boxes))


def found(*places: Place, layout: Layout = "paragraph", document: str = "d") -> Prediction:
    quotes = [
        Quote(
            id=f"{rank}",
            document=document,
            page=page,
            page_label="",
            bbox=box,
            kind="image" if layout == "page" else "text",
            layout=layout,
        )
        for rank, (page, box) in enumerate(places)
    ]
    hits = [Hit(rank=rank, score=0, quote=quote) for rank, quote in enumerate(quotes, start=1)]
    return Prediction(example="q", scope="document", hits=tuple(hits))


def row(prediction: Prediction, *gold: Place) -> Row:
    return LayoutRecall(cutoffs=(1, 2, 5)).row(prediction, asked(*gold))


def test_the_same_quote_twice_counts_twice_and_1_is_exceeded() -> None:
    assert row(found(WHOLE, WHOLE), WHOLE) == {"layout_recall@1": 1, "layout_recall@2": 2, "layout_recall@5": 2}


def test_gold_boxes_that_overlap_count_each() -> None:
    half: Place = (0, (0, 0, 5, 10))
    assert row(found(half), WHOLE, half)["layout_recall@1"] == pytest.approx((50 + 50) / (100 + 50))


def test_other_pages_and_documents_and_whole_pages_count_nothing() -> None:
    assert row(found((1, (0, 0, 10, 10)), WHOLE), WHOLE)["layout_recall@1"] == 0
    assert row(found(WHOLE, document="other"), WHOLE)["layout_recall@1"] == 0
    assert row(found(WHOLE, layout="page"), WHOLE)["layout_recall@5"] == 0


def test_without_gold_area_or_a_search_it_is_undefined() -> None:
    assert row(found(WHOLE)) == row(found(WHOLE), (0, (5, 5, 5, 9))) == {}
    assert row(Prediction(example="q", scope="context"), WHOLE) == {}


CELLS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 5)), unique=True, max_size=8)


@given(gold=CELLS, quotes=CELLS)
def test_without_overlaps_it_is_box_recall(gold: list[tuple[int, int]], quotes: list[tuple[int, int]]) -> None:
    golden: list[Place] = [(page, (x, 0, x + 1, 1)) for page, x in gold]
    prediction = found(*[(page, (x, 0, x + 1, 1)) for page, x in quotes])
    covered = BoxCoverage(cutoffs=(5,)).row(prediction, asked(*golden)).get("box_recall@5")
    summed = row(prediction, *golden).get("layout_recall@5")
    assert summed == (None if covered is None else pytest.approx(covered))
