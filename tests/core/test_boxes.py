import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.boxes import Box, area, hull, intersection, iou, share_in, union_area

edges = st.integers(-5, 20)
boxes = st.tuples(edges, edges, edges, edges).map(lambda edge: (float(edge[0]), float(edge[1]), edge[2], edge[3]))


def test_area_of_an_empty_or_inverted_box_is_0() -> None:
    assert area((1, 2, 4, 8)) == 18
    assert area((1, 2, 1, 8)) == 0
    assert area((4, 8, 1, 2)) == 0


def test_boxes_that_only_touch_share_nothing() -> None:
    assert area(intersection((0, 0, 2, 2), (2, 0, 4, 2))) == 0
    assert iou((0, 0, 2, 2), (2, 0, 4, 2)) == 0
    assert intersection((0, 0, 3, 3), (1, 2, 5, 5)) == (1, 2, 3, 3)


def test_iou_and_inside_of_a_quarter() -> None:
    assert iou((0, 0, 4, 4), (0, 0, 2, 2)) == 0.25
    assert share_in((0, 0, 2, 2), (0, 0, 4, 4)) == 1
    assert share_in((0, 0, 4, 4), (0, 0, 2, 2)) == 0.25
    assert share_in((1, 1, 1, 1), (0, 0, 2, 2)) == 0
    assert iou((1, 1, 1, 1), (1, 1, 1, 1)) == 0


def test_hull_is_the_smallest_box_around_all() -> None:
    assert hull([(3, 4, 5, 6), (1, 5, 2, 9)]) == (1, 4, 5, 9)
    with pytest.raises(ValueError, match="no boxes"):
        hull([])


def test_union_counts_overlaps_once() -> None:
    cross: list[Box] = [(0, 1, 3, 2), (1, 0, 2, 3)]
    assert union_area(cross) == 3 + 3 - 1
    assert union_area([*cross, *cross]) == 5
    assert union_area([]) == 0


@given(st.lists(boxes, max_size=6))
def test_union_is_the_number_of_unit_squares_that_a_box_covers(some: list[Box]) -> None:
    covered = {(x, y) for x1, y1, x2, y2 in some for x in range(int(x1), int(x2)) for y in range(int(y1), int(y2))}
    assert union_area(some) == len(covered)


@given(boxes, boxes)
def test_iou_is_symmetrical_and_a_share(a: Box, b: Box) -> None:
    assert iou(a, b) == iou(b, a)
    assert 0 <= iou(a, b) <= 1
    assert 0 <= share_in(a, b) <= 1
