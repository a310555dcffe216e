"""The order in which boxes are read."""

import itertools
import random
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.boxes import Box
from quoteweave.documents.layout.reading_order import in_reading_order


@dataclass(frozen=True)
class Item:
    name: str
    box: Box


def order(**boxes: Box) -> str:
    return "".join(item.name for item in in_reading_order([Item(name, box) for name, box in boxes.items()]))


def test_columns_are_read_one_after_the_other_between_wide_bands() -> None:
    assert (
        order(
            f=(0, 300, 200, 310),
            e=(110, 150, 200, 250),
            d=(110, 50, 200, 140),
            c=(0, 120, 90, 250),
            b=(0, 50, 90, 110),
            a=(0, 0, 200, 30),
        )
        == "abcdef"
    )


def test_a_gap_that_happens_to_run_across_two_columns_does_not_interleave_them() -> None:
    assert order(d=(110, 60, 200, 100), c=(110, 0, 200, 50), b=(0, 60, 90, 100), a=(0, 0, 90, 50)) == "abcd"


def test_labels_are_read_with_what_stands_beside_them() -> None:
    # Dates of a CV, below a title that stands in their column.
    jobs: dict[str, Box] = {"c": (100, 60, 300, 90), "e": (100, 100, 300, 110), "g": (100, 120, 300, 140)}
    dates: dict[str, Box] = {"a": (0, 20, 60, 40), "b": (0, 60, 60, 70), "d": (0, 100, 60, 110), "f": (0, 120, 60, 130)}
    assert order(**jobs, **dates) == "abcdefg"
    prices: dict[str, Box] = {"d": (310, 60, 340, 70), "f": (310, 100, 340, 110), "h": (310, 120, 340, 130)}
    assert order(**jobs, **prices) == "cdefgh"
    notes: dict[str, Box] = {"x": (0, 60, 60, 70), "y": (0, 80, 60, 90), "z": (0, 100, 60, 110)}
    assert order(**jobs, **notes) == "xyzceg"  # of which the second stands beside the middle of another


def test_a_title_over_a_paragraph_is_no_column() -> None:
    assert order(b=(120, 40, 200, 80), a=(0, 0, 100, 30)) == "ab"


def test_boxes_that_cannot_be_parted_go_from_top_to_bottom_then_left_to_right() -> None:
    assert order(c=(0, 40, 100, 90), b=(20, 10, 120, 60), a=(0, 10, 60, 50)) == "abc"
    assert order() == ""


def test_columns_nested_deeper_than_any_page_still_come_out() -> None:
    """A staircase that can be cut again and again, deeper than Python's stack."""
    items = []
    low, high = 0.0, 20_000.0
    for i in range(600):
        items.append(Item(f"{i}-across", (low, low, high, low + 1)))
        items.append(Item(f"{i}-down", (low, low + 10, low + 1, high)))
        low += 16
    assert sorted(item.name for item in in_reading_order(items)) == sorted(item.name for item in items)


edges = st.floats(0, 800, allow_nan=False)
boxes = st.tuples(edges, edges, st.floats(0, 300), st.floats(0, 300)).map(
    lambda b: (b[0], b[1], b[0] + b[2], b[1] + b[3])
)


@given(st.lists(boxes, max_size=40))
def test_order_is_a_permutation(found: list[Box]) -> None:
    items = [Item(str(i), box) for i, box in enumerate(found)]
    assert sorted(item.name for item in in_reading_order(items)) == sorted(item.name for item in items)


heights = st.lists(st.floats(8, 120), min_size=1, max_size=12)


@given(left=heights, right=heights, gap=st.floats(4, 20), gutter=st.floats(8, 60), seed=st.randoms())
def test_two_columns_are_never_interleaved(
    left: list[float], right: list[float], gap: float, gutter: float, seed: random.Random
) -> None:
    items = []
    for name, x, column in (("left", 50.0, left), ("right", 250.0 + gutter, right)):
        tops = itertools.accumulate(column, lambda top, height: top + height + gap, initial=60.0)
        for i, (top, height) in enumerate(zip(tops, column, strict=False)):
            items.append(Item(f"{name} {i:02d}", (x, top, x + 200, top + height)))
    expected = [item.name for item in items]
    seed.shuffle(items)
    assert [item.name for item in in_reading_order(items)] == expected
