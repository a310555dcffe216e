"""Reading order of the boxes on a page by recursive XY-cut along white gutters.

Nagy and Seth, "Hierarchical representation of optically scanned documents" (ICPR 1984). Columns take precedence over
rows: a run of bands that share a vertical gutter is read column by column, so that a gap that happens to run across two
columns does not interleave them.
"""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from quoteweave.documents.layout.spatial import Boxed

# The least blank in points that separates two columns, and how far boxes may overlap and still count as apart.
GUTTER = 6.0
TOLERANCE = 2.0
# A column of labels: its largest width, in widths of the column beside it; the least number of its items that are
# beside items of that column; and how many points the tops of two items beside each other may differ.
MAX_LABEL_WIDTH, MIN_LABELS, LEVEL = 0.5, 3, 3.0
# How deep columns within bands within columns are followed; no readable page needs more.
DEEPEST = 40

T = TypeVar("T", bound=Boxed)
Span = tuple[float, float]


def in_reading_order(items: Sequence[T]) -> list[T]:
    """Sort items into reading order. Boxes that cannot be separated go from top to bottom, then left to right."""
    return _ordered(items, DEEPEST)


def _ordered(items: Sequence[T], cuts: int) -> list[T]:
    bands = split_at_gaps(items, axis=1, gap=-TOLERANCE)
    return [item for run in _runs(bands) for item in _by_columns(run, cuts)]


def _by_columns(run: Sequence[T], cuts: int) -> list[T]:
    columns = split_at_gaps(run, axis=0, gap=GUTTER)
    if len(columns) < 2 or cuts == 0:
        return sorted(run, key=lambda item: (item.box[1], item.box[0]))
    return _by_labels(columns) or [item for column in columns for item in _ordered(column, cuts - 1)]


def _by_labels(columns: Sequence[Sequence[T]]) -> list[T]:
    """The items of two columns if the narrow one labels the items beside it in the other; empty if it does not.

    Such labels are the dates of a CV, the prices of a menu and notes in a margin. A title has nothing beside it.
    """
    narrow, wide = sorted(columns, key=_width)[:2]
    stacks = [split_at_gaps(column, axis=1, gap=-TOLERANCE) for column in (narrow, wide)]
    is_stack = sum(map(len, stacks)) == len(narrow) + len(wide)
    if len(columns) > 2 or not is_stack or _width(narrow) > MAX_LABEL_WIDTH * _width(wide):
        return []
    beside = {id(label): [one for one in wide if _overlap(label, one) > TOLERANCE] for label in narrow}
    labels = [label for label in narrow if beside[id(label)]]
    if len(labels) < MIN_LABELS or not all(_is_level(label, beside[id(label)][0]) for label in labels):
        return []
    tops = {id(label): beside[id(label)][0].box[1] for label in labels}
    behind = narrow[0].box[0] > wide[0].box[0]
    own = {id(label) for label in narrow}
    return sorted([*narrow, *wide], key=lambda item: (tops.get(id(item), item.box[1]), (id(item) in own) == behind))


def _width(column: Sequence[Boxed]) -> float:
    return max(item.box[2] for item in column) - min(item.box[0] for item in column)


def _overlap(one: Boxed, other: Boxed) -> float:
    return min(one.box[3], other.box[3]) - max(one.box[1], other.box[1])


def _is_level(one: Boxed, other: Boxed) -> bool:
    return abs(one.box[1] - other.box[1]) <= LEVEL


def _runs(bands: Sequence[Sequence[T]]) -> list[list[T]]:
    """Merge successive bands while one gutter runs through all of them."""
    runs: list[list[T]] = []
    columns: list[Span] = []  # those of the last run
    for band in bands:
        own = _columns((item.box[0], item.box[2]) for item in band)
        united = _columns([*columns, *own])
        # At least one of the two must show the gutter by itself; a title above a paragraph shows none.
        if runs and len(united) > 1 and max(len(columns), len(own)) > 1:
            runs[-1].extend(band)
            columns = united
        else:
            runs.append(list(band))
            columns = own
    return runs


def _columns(spans: Iterable[Span]) -> list[Span]:
    """The ranges along x, joined where no gutter separates them."""
    columns: list[Span] = []
    for start, end in sorted(spans):
        if columns and start - columns[-1][1] <= GUTTER:
            columns[-1] = (columns[-1][0], max(columns[-1][1], end))
        else:
            columns.append((start, end))
    return columns


def split_at_gaps(items: Sequence[T], *, axis: int, gap: float) -> list[list[T]]:
    """Split where there is no box: along y for axis 1, along x for axis 0; parts go top to bottom, or left to right."""
    parts: list[list[T]] = []
    end = float("-inf")
    for item in sorted(items, key=lambda item: (item.box[axis], item.box[1 - axis])):
        if item.box[axis] - end > gap or not parts:
            parts.append([item])
        else:
            parts[-1].append(item)
        end = max(end, item.box[axis + 2])
    return parts
