"""Pairs the bars of a chart with printed values and row labels, where the geometry is unambiguous.

Bars here run from left to right; column charts are rotated first. A value belongs to the bar that contains it or that
ends at it. The lengths of the bars verify this: all bars must have the same number of points per unit, so that a number
that is not a value, or was misread by OCR, is detected.
"""

import itertools
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from quoteweave.core.boxes import Box, area, hull, iou
from quoteweave.documents.charts.bar_labels import labels_beside
from quoteweave.documents.charts.rectangles import Colour, Rectangle
from quoteweave.documents.charts.tokens import Token, amount, unit

# How far, in points, edges that are one line may differ.
SAME = 2.0
MAX_BARS = 200
# The least number of bars with confirmed values, their share of those with values, and the share of these of all bars.
MIN_BARS = 3
CONFIRMED = 0.7
VALUED = 0.7
# How far a length may differ from its value: in points, or as a share of the length.
OFF_POINTS, OFF_SHARE = 1.5, 0.03
# By how much the longest bar must exceed the shortest, as a ratio and in points; otherwise lengths confirm nothing.
SPREAD, SPREAD_POINTS = 1.15, 10.0
# How many points of every bar an axis may hide or add, and how many bars must agree to determine that.
HIDDEN, MIN_TO_TELL = 4.0, 4
# Bars with a gap of at most this, in thicknesses, or at most this share of other gaps, are a group with one label.
IN_GROUP = 0.25
CLOSER = 0.5
# The largest blank before a value, in font sizes.
BEFORE_VALUE = 1.5


@dataclass(frozen=True, slots=True)
class Stack:
    """A stacked bar: touching bars of one row, or a single bar."""

    bars: tuple[Rectangle, ...]

    @property
    def box(self) -> Box:
        """The box around all its bars."""
        return hull(bar.box for bar in self.bars)

    @property
    def edges(self) -> list[float]:
        """The positions at which its bars begin."""
        return [bar.box[0] for bar in self.bars]

    @property
    def thickness(self) -> float:
        """Its thickness in points."""
        return self.box[3] - self.box[1]


@dataclass(frozen=True, slots=True)
class ChartRow:
    """A label and its bars; a bar without a confirmed value has None in its cell."""

    label: tuple[Token, ...]
    stacks: tuple[Stack, ...]
    cells: tuple[tuple[Colour, Token | None], ...]


def read_bars(
    rectangles: Sequence[Rectangle], tokens: Sequence[Token], *, columns: bool = False
) -> list[ChartRow] | None:
    """Return the rows of all bars that have values, or None if any of them is uncertain.

    `columns` says that the chart was rotated: the lines of a label are then beside each other.
    """
    if len(rectangles) > MAX_BARS:
        return None
    rows: list[ChartRow] = []
    for family in _panels_joined(list(_families(_stacks(_without_outlines(rectangles))))):
        values = _values_of_bars(family, tokens)
        if not _carries_values(family, values):
            continue
        family_rows = _rows_of(family, values, tokens, columns=columns)
        if family_rows is None:
            return None
        rows += family_rows
    names = [" ".join(token.text for token in row.label) for row in rows]
    return rows if rows and len(set(names)) == len(names) else None


def _without_outlines(rectangles: Sequence[Rectangle]) -> list[Rectangle]:
    """Keep only the bar where a bar and its outline, which is slightly larger, were found."""
    kept: list[Rectangle] = []
    for rectangle in sorted(rectangles, key=lambda rectangle: area(rectangle.box)):
        if not any(iou(rectangle.box, other.box) > 0.7 for other in kept):
            kept.append(rectangle)
    return kept


def _stacks(bars: Sequence[Rectangle]) -> list[Stack]:
    stacks: list[list[Rectangle]] = []
    for bar in sorted(bars, key=lambda bar: bar.box[0]):
        before = (stack for stack in stacks if _touches(stack[-1], bar))
        if (stack := next(before, None)) is not None:
            stack.append(bar)
        else:
            stacks.append([bar])
    return [Stack(tuple(stack)) for stack in stacks]


def _touches(before: Rectangle, bar: Rectangle) -> bool:
    a, b = before.box, bar.box
    is_level = abs(a[1] - b[1]) <= SAME and abs(a[3] - b[3]) <= SAME
    return is_level and abs(b[0] - a[2]) <= SAME and before.colour != bar.colour


def _families(stacks: Sequence[Stack]) -> Iterator[list[Stack]]:
    """Stacks of one thickness that share a line at which bars begin, from top to bottom."""
    remaining = list(stacks)
    while len(remaining) > 1:
        edges = sorted({edge for stack in remaining for edge in stack.edges})
        axis = max(edges, key=lambda edge: sum(_stands_on(stack, edge) for stack in remaining))
        standing = [stack for stack in remaining if _stands_on(stack, axis)]
        remaining = [stack for stack in remaining if not _stands_on(stack, axis)]
        usual = statistics.median(stack.thickness for stack in standing)
        standing = [stack for stack in standing if abs(stack.thickness - usual) <= max(SAME, 0.15 * usual)]
        if len(standing) > 1:
            yield sorted(standing, key=lambda stack: stack.box[1])


def _panels_joined(families: Sequence[list[Stack]]) -> list[list[Stack]]:
    """Join families of bars that are side by side on the same levels, as in panels that share their labels."""
    joined: list[list[Stack]] = []
    for family in sorted(families, key=lambda family: family[0].box[0]):
        for at, other in enumerate(joined):
            pairs = list(zip(other, family, strict=False))
            are_level = all(abs(a.box[side] - b.box[side]) <= SAME for a, b in pairs for side in (1, 3))
            if len(other) == len(family) and are_level:
                joined[at] = [Stack((*a.bars, *b.bars)) for a, b in pairs]
                break
        else:
            joined.append(list(family))
    return joined


def _stands_on(stack: Stack, axis: float) -> bool:
    return any(abs(edge - axis) <= SAME for edge in stack.edges)


Values = dict[Box, Token]
"""The values of bars, by the bars' boxes."""


def _values_of_bars(family: Sequence[Stack], tokens: Sequence[Token]) -> Values:
    """The one value inside each bar, or at its end if no other bar begins there; values of two bars are dropped."""
    numbers = [token for token in tokens if token.is_value]
    value_of_bar: Values = {}
    for stack in family:
        for bar in stack.bars:
            inside = [token for token in numbers if _contains(bar.box, token)]
            is_free = not any(abs(other.box[0] - bar.box[2]) <= SAME for other in stack.bars)
            at_end = [token for token in numbers if is_free and not inside and _follows(bar.box, token)]
            first = bar is stack.bars[0] and not inside and not at_end
            before = [token for token in numbers if first and _precedes(bar.box, token)]
            if len(inside or at_end or before) == 1:
                value_of_bar[bar.box] = (inside or at_end or before)[0]
    claimed = [id(token) for token in value_of_bar.values()]
    return {box: token for box, token in value_of_bar.items() if claimed.count(id(token)) == 1}


def _contains(bar: Box, token: Token) -> bool:
    x, y = token.middle
    return bar[0] <= x <= bar[2] and bar[1] <= y <= bar[3]


def _follows(bar: Box, token: Token) -> bool:
    gap = token.box[0] - bar[2]
    return -SAME <= gap <= BEFORE_VALUE * token.size and bar[1] <= token.middle[1] <= bar[3]


def _precedes(bar: Box, token: Token) -> bool:
    """Whether it is directly before a bar that is too short to contain it."""
    gap = bar[0] - token.box[2]
    is_short = bar[2] - bar[0] < 1.5 * (token.box[2] - token.box[0])
    return is_short and -SAME <= gap <= 0.6 * token.size and bar[1] <= token.middle[1] <= bar[3]


def _carries_values(family: Sequence[Stack], values: Values) -> bool:
    """Whether these are bars with values, as opposed to legend swatches or stripes."""
    bars = [bar.box for stack in family for bar in stack.bars]
    are_square = all(bar[2] - bar[0] <= 1.6 * (bar[3] - bar[1]) for bar in bars)
    are_alike = max(bar[2] - bar[0] for bar in bars) <= SPREAD * min(bar[2] - bar[0] for bar in bars)
    years = all(token.is_year for token in values.values())
    return len(values) > 1 and not (are_square and are_alike) and not years


def _rows_of(
    family: Sequence[Stack], values: Values, tokens: Sequence[Token], *, columns: bool
) -> list[ChartRow] | None:
    confirmed = _confirmed_values(values)
    bars = [bar for stack in family for bar in stack.bars]
    if confirmed is None or len(confirmed) < VALUED * len(bars):
        return None
    used = {id(token) for token in confirmed.values()}
    words = [token for token in tokens if id(token) not in used and token.is_word]
    for groups in _groupings(family):
        labels = labels_beside([[stack.box for stack in group] for group in groups], words, columns=columns)
        if labels is None or any(map(_has_a_colour_twice, groups)):
            continue
        rows = [_row(label, group, confirmed) for label, group in zip(labels, groups, strict=True)]
        have_one_value = all(len(row.cells) == 1 for row in rows)
        used |= {id(token) for row in rows for token in row.label}
        unused_values = (token for token in words if token.is_value and id(token) not in used)
        if have_one_value and any(_is_beside(groups, token) for token in unused_values):
            return None  # the row has other words as well
        return rows
    return None


def _row(label: Sequence[Token], group: Sequence[Stack], confirmed: Values) -> ChartRow:
    bars = [bar for stack in group for bar in stack.bars]
    return ChartRow(tuple(label), tuple(group), tuple((bar.colour, confirmed.get(bar.box)) for bar in bars))


def _has_a_colour_twice(group: Sequence[Stack]) -> bool:
    colours = [bar.colour for stack in group for bar in stack.bars]
    return len(set(colours)) < len(colours)


def _is_beside(groups: Sequence[Sequence[Stack]], token: Token) -> bool:
    """Whether the token is on the level of a row's bars, on the side of their values."""
    boxes = [stack.box for group in groups for stack in group]
    return any(box[1] <= token.middle[1] <= box[3] and token.middle[0] > box[0] for box in boxes)


def _confirmed_values(values: Values) -> Values | None:
    """The values proportional to their bars' lengths; None if they are too few or the lengths are too alike."""
    measures: dict[Box, tuple[float, float, float]] = {}
    for box, token in values.items():
        try:
            number, step = amount(token.text)
        except ValueError:
            continue
        if number > 0:
            measures[box] = (box[2] - box[0], number, step)
    if len({unit(values[box].text) for box in measures} - {""}) > 1:
        return None
    best: list[Box] = max((_fitting(measures, *line) for line in _scales(list(measures.values()))), key=len, default=[])
    lengths = [measures[box][0] for box in best]
    if len(best) < max(MIN_BARS, CONFIRMED * len(values)):
        return None
    spread = max(lengths) - min(lengths)
    return {box: values[box] for box in best} if spread >= max(SPREAD_POINTS, (SPREAD - 1) * min(lengths)) else None


_Measure = tuple[float, float, float]
"""The length of a bar in points, its value, and the unit of the value's last digit."""


def _scales(bars: Sequence[_Measure]) -> Iterator[tuple[float, float]]:
    """Candidate scales: points per unit, and a constant excess length in points (0, or computed from two bars)."""
    yield from ((length / number, 0.0) for length, number, _ in bars)
    longest = sorted(bars, reverse=True)[:8]
    for (length, value, _), (shorter, lower, _) in itertools.combinations(longest, 2):
        if value != lower and abs(length - shorter) > SPREAD_POINTS:
            scale = (length - shorter) / (value - lower)
            if abs(length - scale * value) <= HIDDEN:
                yield scale, length - scale * value


def _fitting(measures: Mapping[Box, _Measure], scale: float, hidden: float) -> list[Box]:
    fitting = [
        box
        for box, (length, number, step) in measures.items()
        if abs(length - hidden - scale * number) <= max(OFF_POINTS, OFF_SHARE * length) + 0.5 * step * scale
    ]
    return fitting if not hidden or len(fitting) >= MIN_TO_TELL else []


def _groupings(family: Sequence[Stack]) -> Iterator[list[list[Stack]]]:
    """Each row as a group; then groupings in which rows that are close, or closer than others, are one group."""
    yield [[stack] for stack in family]
    gaps = [lower.box[1] - upper.box[3] for upper, lower in itertools.pairwise(family)]
    steps = sorted(gaps)
    widest_step = max(itertools.pairwise(steps), key=lambda pair: pair[1] - pair[0], default=(0.0, 0.0))
    limits = [IN_GROUP * statistics.median(stack.thickness for stack in family)]
    if widest_step[0] < CLOSER * widest_step[1]:
        limits.append(widest_step[0])
    known_sizes = {len(family)}
    for limit in limits:
        groups = [[family[0]]]
        for gap, lower in zip(gaps, family[1:], strict=True):
            if gap <= limit:
                groups[-1].append(lower)
            else:
                groups.append([lower])
        if len(groups) > 1 and len(groups) not in known_sizes:
            known_sizes.add(len(groups))
            yield groups
