"""The order in which a person reads boxes on a page: a recursive cut along white gutters (XY-cut).

Nagy and Seth, "Hierarchical representation of optically scanned documents" (ICPR 1984). Columns win over rows: a run of
bands that share a vertical gutter is read column by column, so that a gap that happens to run across two columns does
not interleave them.
"""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from quoteweave.core.boxes import Box, hull

# Points of white that part two columns, and how deep boxes may overlap and still count as apart.
GUTTER = 6.0
TOLERANCE = 2.0


class Boxed(Protocol):
    """Anything that has a box."""

    @property
    def box(self) -> Box:
        """Points from the top left."""
        ...


T = TypeVar("T", bound=Boxed)


def in_reading_order(items: Sequence[T]) -> list[T]:
    """The same items, ordered. Boxes that cannot be parted go from top to bottom, then left to right."""
    if len(items) < 2:
        return list(items)
    bands = _split(items, axis=1, gap=-TOLERANCE)
    if len(bands) == 1:
        columns = _split(items, axis=0, gap=GUTTER)
        if len(columns) == 1:
            return sorted(items, key=lambda item: (item.box[1], item.box[0]))
        return [item for column in columns for item in in_reading_order(column)]
    return [item for run in _runs(bands) for item in _read_run(run)]


def _read_run(run: list[T]) -> list[T]:
    columns = _split(run, axis=0, gap=GUTTER)
    if len(columns) > 1:
        return [item for column in columns for item in in_reading_order(column)]
    bands = _split(run, axis=1, gap=-TOLERANCE)
    if len(bands) > 1:
        return [item for band in bands for item in in_reading_order(band)]
    return in_reading_order(run)


def _runs(bands: Sequence[list[T]]) -> list[list[T]]:
    """Unite successive bands while one gutter runs through all of them."""
    runs: list[list[T]] = []
    for band in bands:
        united = [*runs[-1], *band] if runs else band
        if runs and _columns_worth_it(united, runs[-1], band):
            runs[-1] = united
        else:
            runs.append(list(band))
    return runs


def _columns_worth_it(united: Sequence[T], before: Sequence[T], band: Sequence[T]) -> bool:
    columns = _split(united, axis=0, gap=GUTTER)
    if len(columns) < 2:
        return False
    # At least one of the two must show the gutter by itself; a title over a paragraph has none.
    return len(_split(before, axis=0, gap=GUTTER)) > 1 or len(_split(band, axis=0, gap=GUTTER)) > 1


def _split(items: Sequence[T], *, axis: int, gap: float) -> list[list[T]]:
    """Cut where no box lies: along y for axis 1, along x for axis 0. Parts come top to bottom, or left to right."""
    parts: list[list[T]] = []
    end = float("-inf")
    for item in sorted(items, key=lambda item: (item.box[axis], item.box[1 - axis])):
        if item.box[axis] - end > gap or not parts:
            parts.append([item])
        else:
            parts[-1].append(item)
        end = max(end, item.box[axis + 2])
    return parts


def frame(items: Sequence[T]) -> Box:
    """The box around all items. Raises ValueError when there is none."""
    return hull(item.box for item in items)
