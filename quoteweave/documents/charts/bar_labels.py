"""Finds the labels of a chart's bars, which run from left to right: the words beside each row of bars."""

import itertools
import statistics
from collections.abc import Iterable, Sequence

from quoteweave.core.boxes import Box, hull
from quoteweave.documents.charts.tokens import Token, box_of

# How far the middle of a label may be from that of its bars: in points, or as a share of the step from row to row.
OFF_MIDDLE, OFF_STEP = 2.5, 0.2
MAX_LABEL_WORDS = 14
# How many points of a word may be above the bars beside it.
MAX_OVERLAP = 2.0


def labels_beside(
    groups: Sequence[Sequence[Box]], words: Sequence[Token], *, columns: bool
) -> list[list[Token]] | None:
    """The words beside the boxes of the bars of each group; None if a group has none, or its words may be another's.

    `columns` says that the chart was rotated: the lines of a label are then beside each other.
    """
    boxes = list(map(hull, groups))
    middles = [(box[1] + box[3]) / 2 for box in boxes]
    step = statistics.median([b - a for a, b in itertools.pairwise(middles)] or [0.0])
    largest = max(map(len, groups))
    words_of_groups: list[list[Token]] = [[] for _ in groups]
    for word in words:
        at = min(range(len(groups)), key=lambda at: abs(word.middle[1] - middles[at]))
        if abs(word.middle[1] - middles[at]) < step / 2 and word.box[2] <= boxes[at][0] + MAX_OVERLAP:
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
    is_sure = bool(labels) if columns else _are_in_one_column(labels) and not _are_cut(labels, words)
    return labels if is_sure else None


def _without_axis_title(labels: list[list[Token]], middle: float) -> list[list[Token]]:
    """The labels below columns without the axis's title, which is in their middle and so below one or two of them.

    None are left if it could be the second row of labels: if it is no larger, and there is one centred below each.
    """
    rows = [_token_rows(label, along=0)[::-1] for label in labels]
    lower = sorted((token for first, *rest in rows for row in rest for token in row), key=lambda token: token.box[1])
    if not lower or len(_token_rows(lower, 0)) > 1:
        return labels
    if abs((lower[0].box[1] + lower[-1].box[3]) / 2 - middle) > OFF_MIDDLE:
        return labels
    if any(b.box[1] - a.box[3] > 0.6 * a.size for a, b in itertools.pairwise(lower)):
        return labels
    size = rows[0][0][0].size
    below = ((first, [*itertools.chain(*rest)]) for first, *rest in rows if rest)
    are_centred = all(abs(_centre(first) - _centre(lower_rows)) <= OFF_MIDDLE for first, lower_rows in below)
    return [] if are_centred and lower[0].size <= 1.03 * size else [first for first, *_ in rows]


def _centre(tokens: Sequence[Token]) -> float:
    around = box_of(tokens)
    return (around[1] + around[3]) / 2


def _are_cut(labels: Sequence[Sequence[Token]], words: Sequence[Token]) -> bool:
    """Whether an unused word continues a label on the row above or below it, so that the label is incomplete."""
    used = {id(token) for label in labels for token in label}
    unused = [word for word in words if id(word) not in used]
    boxes = [(box_of(label), label[0].size) for label in labels]
    return any(_adjoins(word.box, box, 0.4 * size) for word in unused for box, size in boxes)


def _adjoins(a: Box, b: Box, gap: float) -> bool:
    return a[0] < b[2] and b[0] < a[2] and max(a[1], b[1]) - min(a[3], b[3]) < gap


def _label_before(near: Iterable[Token]) -> list[Token] | None:
    """The words of a label left of its bar, row by row; None if there is a gap between them."""
    rows = _token_rows(near, along=1)
    for row in rows:
        row.sort(key=lambda token: token.box[0])
        if any(b.box[0] - a.box[2] > 1.6 * a.size for a, b in itertools.pairwise(row)):
            return None
    if any(lower[0].box[1] - upper[0].box[3] > upper[0].size for upper, lower in itertools.pairwise(rows)):
        return None
    return [token for row in rows for token in row]


def _label_under(near: Iterable[Token], axis: float) -> list[Token] | None:
    """The words of a label below its column (left of it, as rotated): the row next to it, and rows that continue it."""
    rows = _token_rows(near, along=0)[::-1]
    label: list[Token] = []
    edge = axis
    for row in rows:
        gap = edge - max(token.box[2] for token in row)
        if gap > (0.45 * row[0].size if label else 2.0 * row[0].size):
            break
        label += sorted(row, key=lambda token: token.box[1])
        edge = min(token.box[0] for token in row)
    return label


def _token_rows(tokens: Iterable[Token], along: int) -> list[list[Token]]:
    """Tokens grouped by the position of their middles along x (0) or y (1), in this order."""
    rows: list[list[Token]] = []
    for token in sorted(tokens, key=lambda token: token.middle[along]):
        if rows and token.middle[along] - rows[-1][-1].middle[along] < 0.4 * token.size:
            rows[-1].append(token)
        else:
            rows.append([token])
    return rows


def _are_in_one_column(labels: Sequence[Sequence[Token]]) -> bool:
    """Whether labels begin or end below each other."""
    boxes = list(map(box_of, labels))
    size = labels[0][0].size
    return any(max(box[side] for box in boxes) - min(box[side] for box in boxes) < 2 * size for side in (0, 2))
