"""The share of gold boxes that other boxes meet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.answers import Context
from quoteweave.core.boxes import Box
from quoteweave.core.examples import Example, GoldBox, Prediction, Reference
from quoteweave.core.records import Hit, Kind, Query, Quote
from quoteweave.evaluation.metrics.box_recall import GoldBoxRecall, Place, boxes_met, share_met

PAGE: Place = ("a.pdf", 0)
SQUARE: Box = (100, 100, 200, 200)


@pytest.mark.parametrize(
    ("box", "met"),
    [
        ((100, 100, 200, 200), True),
        ((100, 100, 200, 150), True),  # half of it: IoU 0.5 exactly
        ((100, 100, 200, 149.9), False),
        ((0, 100, 200, 200), True),  # twice as large
        ((0, 0, 200, 200), False),
        ((200, 200, 100, 100), False),  # reversed
        ((100, 100, 100, 200), False),  # without area
    ],
)
def test_meets_at_an_iou_of_a_half(box: Box, met: bool) -> None:
    assert boxes_met([(PAGE, SQUARE)], [(PAGE, box)]) == [met]


@pytest.mark.parametrize("place", [("a.pdf", 1), ("b.pdf", 0)])
def test_a_box_elsewhere_meets_nothing(place: Place) -> None:
    assert share_met([(PAGE, SQUARE)], [(place, SQUARE)]) == 0


def test_one_box_may_meet_several_gold_boxes() -> None:
    gold = [(PAGE, SQUARE), (PAGE, (100.0, 100.0, 200.0, 160.0)), (PAGE, (300.0, 300.0, 400.0, 400.0))]
    assert share_met(gold, [(PAGE, (100, 100, 200, 180))]) == pytest.approx(2 / 3)


def test_several_boxes_that_cover_gold_together_do_not_meet_it() -> None:
    thirds: list[tuple[Place, Box]] = [(PAGE, (100, top, 200, top + 30)) for top in (100, 130, 160)]
    assert share_met([(PAGE, SQUARE)], thirds) == 0


def test_undefined_without_gold() -> None:
    assert share_met([], [(PAGE, SQUARE)]) is None


def test_a_gold_box_without_area_is_never_met() -> None:
    assert share_met([(PAGE, (5.0, 5.0, 5.0, 9.0))], [(PAGE, (5, 5, 5, 9))]) == 0


EDGES = st.integers(0, 50)
BOXES = st.tuples(st.tuples(st.just("a.pdf"), st.integers(0, 2)), st.tuples(EDGES, EDGES, EDGES, EDGES))


@given(st.lists(BOXES, min_size=1, max_size=6), st.lists(BOXES, max_size=6), st.lists(BOXES, max_size=3))
def test_more_boxes_never_meet_less(
    gold: list[tuple[Place, Box]], boxes: list[tuple[Place, Box]], more: list[tuple[Place, Box]]
) -> None:
    fewer, all_of_them = share_met(gold, boxes), share_met(gold, [*boxes, *more])
    assert fewer is not None
    assert all_of_them is not None
    assert 0 <= fewer <= all_of_them <= 1


def asks(*gold: Box) -> Example:
    boxes = tuple(GoldBox(page=0, bbox=box) for box in gold)
    return Example(id="q", query=Query(text="?"), document="a.pdf", reference=Reference(pages=(0,), boxes=boxes))


def hits(kind: Kind, *boxes: Box) -> tuple[Hit, ...]:
    quotes = [
        Quote(
            id=f"a.pdf:0:{kind}{place}",
            document="a.pdf",
            page=0,
            page_label="1",
            bbox=box,
            kind=kind,
            layout="paragraph" if kind == "text" else "figure",
        )
        for place, box in enumerate(boxes)
    ]
    return tuple(Hit(rank=rank, score=1, quote=quote) for rank, quote in enumerate(quotes, 1))


FAR: Box = (900, 900, 950, 950)
LOWER: Box = (100, 300, 200, 400)


def test_the_ceilings_of_the_parser_and_of_contexts() -> None:
    images = hits("image", *[FAR] * 4, LOWER)
    contexts = {
        "c15": Context(texts=hits("text", *[FAR] * 10), images=images),
        "c20": Context(texts=hits("text", *[FAR] * 10, SQUARE), images=images),
    }
    found = Prediction(example="q", scope="document", hits=images, contexts=contexts)
    metric = GoldBoxRecall({PAGE: (SQUARE, LOWER)})
    assert metric.row(found, asks(SQUARE, LOWER, (600, 600, 700, 700))) == {
        "gold_boxes": 3,
        "gold_box_recall.parser": pytest.approx(2 / 3),
        "gold_box_recall.c15": pytest.approx(1 / 3),
        "gold_box_recall.c20": pytest.approx(2 / 3),
    }


def test_what_is_not_known_is_undefined_and_what_found_nothing_is_not() -> None:
    ranked = Prediction(example="q", scope="document", hits=hits("text", SQUARE))
    assert GoldBoxRecall({}).row(ranked, asks(SQUARE)) == {"gold_boxes": 1, "gold_box_recall.parser": None}
    nothing = Prediction(example="q", scope="document")
    row = GoldBoxRecall({("a.pdf", 7): ()}).row(nothing, asks(SQUARE))
    assert [row[f"gold_box_recall.{of}"] for of in ("parser", "c15", "c20")] == [0, 0, 0]
    assert GoldBoxRecall({PAGE: (SQUARE,)}).row(ranked, asks()) == {}


def test_an_answer_has_no_contexts_beside_a_ranking() -> None:
    asked = Example(
        id="q", query=Query(text="?"), document="a.pdf", reference=Reference(boxes=(GoldBox(page=0, bbox=SQUARE),))
    )
    answered = Prediction(example="q", scope="document", response="It rose.", context=Context())
    row = GoldBoxRecall({}).row(answered, asked)
    assert row.get("gold_box_recall.c15") is row.get("gold_box_recall.c20") is None
