"""Pairs the bars of a chart with printed values and row labels, where the geometry is unambiguous.

Bars here run from left to right; column charts are rotated first. A value belongs to the bar that contains it or that
ends at it. The lengths of the bars verify this: all bars must have the same number of points per unit, so that a number
that is not a value, or was misread by OCR, is detected.
"""

import itertools
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from quoteweave.core.boxes import Box, area, hull, iou
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
# How far the middle of a label may be from that of its bars: in points, or as a share of the step from row to row.
OFF_MIDDLE, OFF_STEP = 2.5, 0.2
MAX_LABEL_WORDS = 14


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
class Row:
    """A label and its bars; a bar without a confirmed value has None in its cell."""

    label: tuple[Token, ...]
    stacks: tuple[Stack, ...]
    cells: tuple[tuple[Colour, Token | None], ...]


def read_bars(rectangles: Sequence[Rectangle], tokens: Sequence[Token], *, columns: bool = False) -> list[Row] | None:
    """Return the rows of all bars that have values, or None if any of them is uncertain.

    `columns` says that the chart was rotated: the lines of a label are then beside each other.
    """
    if len(rectangles) > MAX_BARS:
        return None
    rows: list[Row] = []
    for family in _panels_joined(list(_families(_stacks(_distinct(rectangles))))):
        values = _values(family, tokens)
        if not _carries_values(family, values):
            continue
        family_rows = _rows_of(family, values, tokens, columns=columns)
        if family_rows is None:
            return None
        rows += family_rows
    names = [" ".join(token.text for token in row.label) for row in rows]
    return rows if rows and len(set(names)) == len(names) else None


def _distinct(rectangles: Sequence[Rectangle]) -> list[Rectangle]:
    """Keep only the bar where a bar and its outline, which is slightly larger, were found."""
    kept: list[Rectangle] = []
    for rectangle in sorted(rectangles, key=lambda rectangle: area(rectangle.box)):
        if not any(iou(rectangle.box, other.box) > 0.7 for other in kept):
            kept.append(rectangle)
    return kept


def _stacks(bars: Sequence[Rectangle]) -> list[Stack]:
    stacks: list[list[Rectangle]] = []
    for bar in sorted(bars, key=lambda bar: bar.box[0]):
        before = (stack for stack in stacks if _continues(stack[-1], bar))
        if (stack := next(before, None)) is not None:
            stack.append(bar)
        else:
            stacks.append([bar])
    return [Stack(tuple(stack)) for stack in stacks]


def _continues(before: Rectangle, bar: Rectangle) -> bool:
    a, b = before.box, bar.box
    level = abs(a[1] - b[1]) <= SAME and abs(a[3] - b[3]) <= SAME
    return level and abs(b[0] - a[2]) <= SAME and before.colour != bar.colour


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


def _values(family: Sequence[Stack], tokens: Sequence[Token]) -> Values:
    """The one value inside each bar, or at its end if no other bar begins there; values of two bars are dropped."""
    numbers = [token for token in tokens if token.is_value]
    value_of_bar: Values = {}
    for stack in family:
        for bar in stack.bars:
            inside = [token for token in numbers if _contains(bar.box, token)]
            free = not any(abs(other.box[0] - bar.box[2]) <= SAME for other in stack.bars)
            at_end = [token for token in numbers if free and not inside and _follows(bar.box, token)]
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
    short = bar[2] - bar[0] < 1.5 * (token.box[2] - token.box[0])
    return short and -SAME <= gap <= 0.6 * token.size and bar[1] <= token.middle[1] <= bar[3]


def _carries_values(family: Sequence[Stack], values: Values) -> bool:
    """Whether these are bars with values, as opposed to legend swatches or stripes."""
    bars = [bar.box for stack in family for bar in stack.bars]
    square = all(bar[2] - bar[0] <= 1.6 * (bar[3] - bar[1]) for bar in bars)
    alike = max(bar[2] - bar[0] for bar in bars) <= SPREAD * min(bar[2] - bar[0] for bar in bars)
    years = all(token.is_year for token in values.values())
    return len(values) > 1 and not (square and alike) and not years


def _rows_of(family: Sequence[Stack], values: Values, tokens: Sequence[Token], *, columns: bool) -> list[Row] | None:
    confirmed = _confirmed(values)
    bars = [bar for stack in family for bar in stack.bars]
    if confirmed is None or len(confirmed) < VALUED * len(bars):
        return None
    used = {id(token) for token in confirmed.values()}
    words = [token for token in tokens if id(token) not in used and token.is_word]
    for groups in _groupings(family):
        labels = _labels(groups, words, columns=columns)
        if labels is None or not all(_have_different_colours(group) for group in groups):
            continue
        rows = [_row(label, group, confirmed) for label, group in zip(labels, groups, strict=True)]
        single = all(len(row.cells) == 1 for row in rows)
        used |= {id(token) for row in rows for token in row.label}
        if single and any(_is_beside(groups, token) for token in words if token.is_value and id(token) not in used):
            return None  # the row has other words as well
        return rows
    return None


def _row(label: Sequence[Token], group: Sequence[Stack], confirmed: Values) -> Row:
    bars = [bar for stack in group for bar in stack.bars]
    return Row(tuple(label), tuple(group), tuple((bar.colour, confirmed.get(bar.box)) for bar in bars))


def _have_different_colours(group: Sequence[Stack]) -> bool:
    colours = [bar.colour for stack in group for bar in stack.bars]
    return len(set(colours)) == len(colours)


def _is_beside(groups: Sequence[Sequence[Stack]], token: Token) -> bool:
    """Whether the token is on the level of a row's bars, on the side of their values."""
    boxes = [stack.box for group in groups for stack in group]
    return any(box[1] <= token.middle[1] <= box[3] and token.middle[0] > box[0] for box in boxes)


def _confirmed(values: Values) -> Values | None:
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
    apart = max(itertools.pairwise(steps), key=lambda pair: pair[1] - pair[0], default=(0.0, 0.0))
    limits = [IN_GROUP * statistics.median(stack.thickness for stack in family)]
    if apart[0] < CLOSER * apart[1]:
        limits.append(apart[0])
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


def _labels(groups: Sequence[Sequence[Stack]], words: Sequence[Token], *, columns: bool) -> list[list[Token]] | None:
    """The words beside the bars of each group; None if a group has none, or they may belong to another group."""
    boxes = [hull(stack.box for stack in group) for group in groups]
    middles = [(box[1] + box[3]) / 2 for box in boxes]
    step = statistics.median([b - a for a, b in itertools.pairwise(middles)] or [0.0])
    largest = max(map(len, groups))
    words_of_groups: list[list[Token]] = [[] for _ in groups]
    for word in words:
        at = min(range(len(groups)), key=lambda at: abs(word.middle[1] - middles[at]))
        if abs(word.middle[1] - middles[at]) < step / 2 and word.box[2] <= boxes[at][0] + SAME:
            words_of_groups[at].append(word)
    near_groups = zip(words_of_groups, boxes, strict=True)
    candidates = [_label_under(near, box[0]) if columns else _label_before(near) for near, box in near_groups]
    labels = [label for label in candidates if label and len(label) <= MAX_LABEL_WORDS]
    if len(labels) < len(groups):
        return None
    if columns:
        labels = _without_axis_title(labels, (boxes[0][1] + boxes[-1][3]) / 2)
    for label, group, middle in zip(labels, groups, middles, strict=False):
        slack = OFF_STEP if len(group) == largest else 0.3
        if abs(_centre(label) - middle) > max(OFF_MIDDLE, slack * step):
            return None
    sure = bool(labels) if columns else _in_one_column(labels) and not _are_cut(labels, words)
    return labels if sure else None


def _without_axis_title(labels: list[list[Token]], middle: float) -> list[list[Token]]:
    """The labels below columns without the axis's title, which is in their middle and so below one or two of them.

    None are left if it could be the second row of labels: if it is no larger, and there is one centred below each.
    """
    rows = [_rows(label, along=0)[::-1] for label in labels]
    lower = sorted((token for first, *rest in rows for row in rest for token in row), key=lambda token: token.box[1])
    if not lower or abs((lower[0].box[1] + lower[-1].box[3]) / 2 - middle) > OFF_MIDDLE or len(_rows(lower, 0)) > 1:
        return labels
    if any(b.box[1] - a.box[3] > 0.6 * a.size for a, b in itertools.pairwise(lower)):
        return labels
    size = rows[0][0][0].size
    below = ((first, [*itertools.chain(*rest)]) for first, *rest in rows if rest)
    centred = all(abs(_centre(first) - _centre(lower_rows)) <= OFF_MIDDLE for first, lower_rows in below)
    return [] if centred and lower[0].size <= 1.03 * size else [first for first, *_ in rows]


def _centre(tokens: Sequence[Token]) -> float:
    around = hull(token.box for token in tokens)
    return (around[1] + around[3]) / 2


def _are_cut(labels: Sequence[Sequence[Token]], words: Sequence[Token]) -> bool:
    """Whether an unused word continues a label on the row above or below it, so that the label is incomplete."""
    used = {id(token) for label in labels for token in label}
    unused = [word for word in words if id(word) not in used]
    boxes = [(hull(token.box for token in label), label[0].size) for label in labels]
    return any(_adjoins(word.box, box, 0.4 * size) for word in unused for box, size in boxes)


def _adjoins(a: Box, b: Box, gap: float) -> bool:
    return a[0] < b[2] and b[0] < a[2] and max(a[1], b[1]) - min(a[3], b[3]) < gap


def _label_before(near: Iterable[Token]) -> list[Token] | None:
    """The words of a label left of its bar, row by row; None if there is a gap between them."""
    rows = _rows(near, along=1)
    for row in rows:
        row.sort(key=lambda token: token.box[0])
        if any(b.box[0] - a.box[2] > 1.6 * a.size for a, b in itertools.pairwise(row)):
            return None
    if any(lower[0].box[1] - upper[0].box[3] > upper[0].size for upper, lower in itertools.pairwise(rows)):
        return None
    return [token for row in rows for token in row]


def _label_under(near: Iterable[Token], axis: float) -> list[Token] | None:
    """The words of a label below its column (left of it, as rotated): the row next to it, and rows that continue it."""
    rows = _rows(near, along=0)[::-1]
    label: list[Token] = []
    edge = axis
    for row in rows:
        gap = edge - max(token.box[2] for token in row)
        if gap > (0.45 * row[0].size if label else 2.0 * row[0].size):
            break
        label += sorted(row, key=lambda token: token.box[1])
        edge = min(token.box[0] for token in row)
    return label


def _rows(tokens: Iterable[Token], along: int) -> list[list[Token]]:
    """Tokens grouped by the position of their middles along x (0) or y (1), in this order."""
    rows: list[list[Token]] = []
    for token in sorted(tokens, key=lambda token: token.middle[along]):
        if rows and token.middle[along] - rows[-1][-1].middle[along] < 0.4 * token.size:
            rows[-1].append(token)
        else:
            rows.append([token])
    return rows


def _in_one_column(labels: Sequence[Sequence[Token]]) -> bool:
    """Whether labels begin or end below each other."""
    boxes = [hull(token.box for token in label) for label in labels]
    size = labels[0][0].size
    return any(max(box[side] for box in boxes) - min(box[side] for box in boxes) < 2 * size for side in (0, 2))
