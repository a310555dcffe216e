"""Finding the boxes that are near a place."""

from hypothesis import given
from hypothesis import strategies as st
from made_pages import line

from quoteweave.documents.layout.spatial import SpatialIndex
from quoteweave.documents.sources.lines import Line


def test_items_that_meet_a_box_or_stand_within_reach_come_in_their_order() -> None:
    lines = [line("far", 300, 300), line("near", 50, 50), line("inside", 12, 12)]
    assert [found.text for found in SpatialIndex(lines).intersecting((10, 10, 60, 45))] == ["inside"]
    assert [found.text for found in SpatialIndex(lines).intersecting((10, 10, 60, 45), 5)] == ["near", "inside"]
    assert SpatialIndex[Line]([]).intersecting((0, 0, 10, 10)) == []


@given(st.lists(st.builds(line, st.just("word"), st.floats(0, 100), st.floats(0, 100)), max_size=20))
def test_a_box_around_everything_finds_everything(lines: list[Line]) -> None:
    assert SpatialIndex(lines).intersecting((0, 0, 200, 200)) == lines
