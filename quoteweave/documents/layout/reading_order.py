"""Reading order of the boxes on a page by recursive XY-cut along white gutters.

Nagy and Seth, "Hierarchical representation of optically scanned documents" (ICPR 1984). Columns take precedence over
rows: a run of bands that share a vertical gutter is read column by column, so that a gap that happens to run across two
columns does not interleave them.

Labels that hang in the margin, each on the first line of its text, become part of that line before: the options of a
manual, terms with their definitions, dates with what happened. One in bold type may be a title of all that is below it,
and stays as it is.
"""

import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

from quoteweave.core.boxes import hull
from quoteweave.documents.layout.blocks import BULLET, SENTENCE_ENDS, SIZE_RATIO, is_in_lower_case
from quoteweave.documents.layout.spatial import Boxed
from quoteweave.documents.sources.lines import Line

# The least blank in points that separates two columns, and how far boxes may overlap and still count as apart.
GUTTER = 6.0
TOLERANCE = 2.0
# A column of labels: its largest width, in widths of the column beside it; the least number of its items that are
# beside items of that column; and how many points the tops of two items beside each other may differ.
MAX_LABEL_WIDTH, MIN_LABELS, LEVEL = 0.5, 3, 3.0
# How far, in points, the left edges of hanging labels, and those of their texts, may differ.
SAME_EDGE = 2.0
# The least number of words in the first line of most texts: with fewer, these are the columns of a table.
MIN_WORDS = 3
# A text begins where the line above it is so many times further away than usual, or ends so many sizes earlier.
WIDER, SHORTER = 1.15, 2.0
# A line that is less than so many sizes below a label is its second line, unless it is a label itself; a long label,
# which takes this share of the space up to the text, may have its text below.
NEXT_LINE, FULL_LABEL = 1.6, 0.6
# How many points the baselines of a label and of its text may differ.
SAME_LEVEL = 1.5
# How deep columns within bands within columns are followed; no readable page needs more.
DEEPEST = 40

T = TypeVar("T", bound=Boxed)
Span = tuple[float, float]
_Labelled = tuple[Line, Line]
"""A label, and the first line of its text."""


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
    beside = {id(label): [item for item in wide if _shared_height(label, item) > TOLERANCE] for label in narrow}
    labels = [label for label in narrow if beside[id(label)]]
    if len(labels) < MIN_LABELS or not all(_is_level(label, beside[id(label)][0]) for label in labels):
        return []
    tops = {id(label): beside[id(label)][0].box[1] for label in labels}
    behind = narrow[0].box[0] > wide[0].box[0]
    return sorted([*narrow, *wide], key=lambda item: (tops.get(id(item), item.box[1]), (id(item) in beside) == behind))


def _width(column: Sequence[Boxed]) -> float:
    return max(item.box[2] for item in column) - min(item.box[0] for item in column)


def _shared_height(item: Boxed, other: Boxed) -> float:
    return min(item.box[3], other.box[3]) - max(item.box[1], other.box[1])


def _is_level(item: Boxed, other: Boxed) -> bool:
    return abs(item.box[1] - other.box[1]) <= LEVEL


def _runs(bands: Sequence[Sequence[T]]) -> list[list[T]]:
    """Merge successive bands while one gutter runs through all of them."""
    runs: list[list[T]] = []
    columns: list[Span] = []  # those of the last run
    for band in bands:
        band_columns = _column_spans((item.box[0], item.box[2]) for item in band)
        united = _column_spans([*columns, *band_columns])
        # At least one of the two must show the gutter by itself; a title above a paragraph shows none.
        if runs and len(united) > 1 and max(len(columns), len(band_columns)) > 1:
            runs[-1].extend(band)
            columns = united
        else:
            runs.append(list(band))
            columns = band_columns
    return runs


def _column_spans(spans: Iterable[Span]) -> list[Span]:
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


def join_labels(lines: Sequence[Line]) -> list[Line]:
    """Make one line of each hanging label and the first line of its text; other lines stay as they are.

    At least `MIN_LABELS` labels must have the same left edge, and so must their texts.
    """
    labelled = list(_labelled_lines(lines))
    lists = [pairs for by_label in _by_edge(labelled, 0) for pairs in _by_edge(by_label, 1) if len(pairs) >= MIN_LABELS]
    joined: dict[int, Line] = {}
    label_ids: set[int] = set()
    by_left = sorted((line for line in lines if line.upright), key=_left)
    for pairs in lists:
        if not _are_labels(pairs, by_left):
            continue
        for label, text in pairs:
            words = label.words + text.words
            joined[id(text)] = replace(text, words=words, box=hull(word.box for word in words), has_label=True)
            label_ids.add(id(label))
    return [joined.get(id(line), line) for line in lines if id(line) not in label_ids]


def _by_edge(pairs: Sequence[_Labelled], at: int) -> list[list[_Labelled]]:
    """Group pairs whose labels, or for 1 whose texts, begin at the same edge; each group goes from top to bottom."""
    groups: list[list[_Labelled]] = []
    edge = float("-inf")
    for pair in sorted(pairs, key=lambda pair: pair[at].box[0]):
        if pair[at].box[0] - edge > SAME_EDGE:
            groups.append([])
        groups[-1].append(pair)
        edge = pair[at].box[0]
    return [sorted(group, key=lambda pair: pair[0].baseline) for group in groups]


def _labelled_lines(lines: Sequence[Line]) -> Iterator[_Labelled]:
    """Two lines that are alone beside each other on one level, of which the left one may be a label."""
    ordered = sorted((line for line in lines if line.upright), key=lambda line: line.baseline)
    start = 0
    for at, line in enumerate(ordered):
        if at + 1 < len(ordered) and ordered[at + 1].baseline - line.baseline <= SAME_LEVEL:
            continue
        level, start = sorted(ordered[start : at + 1], key=lambda part: part.box[0]), at + 1
        if len(level) == 2 and _may_be_label(*level):
            yield level[0], level[1]


def _may_be_label(label: Line, text: Line) -> bool:
    are_alike = max(label.size, text.size) <= SIZE_RATIO * min(label.size, text.size) and label.bold == text.bold
    is_bullet = BULLET.fullmatch(f"{label.text} ") is not None  # joined with its text by `group_lines`
    return are_alike and not is_bullet and label.box[2] < text.box[0] and label.tag is None and text.tag is None


def _are_labels(pairs: Sequence[_Labelled], by_left: Sequence[Line]) -> bool:
    """Whether the left ones are narrow, each of one line, beside where a text with several words begins.

    `by_left` are the upright lines by their left edges.
    """
    text_edge, label_edge = (statistics.median(pair[at].box[0] for pair in pairs) for at in (1, 0))
    column, labels = (
        sorted(
            by_left[bisect_left(by_left, x - SAME_EDGE, key=_left) : bisect_right(by_left, x + SAME_EDGE, key=_left)],
            key=lambda line: line.baseline,
        )
        for x in (text_edge, label_edge)
    )
    right = max(line.box[2] for line in column)
    are_narrow = max(label.box[2] - label.box[0] for label, _ in pairs) <= MAX_LABEL_WIDTH * (right - text_edge)
    words = statistics.median(len(text.words) for _, text in pairs)
    beginning = _beginning(pairs, column, right)
    first, last = pairs[0][0].baseline, pairs[-1][0].baseline
    longest = FULL_LABEL * (text_edge - label_edge)
    later_labels = (line for line in labels if first < line.baseline and line.box[2] - label_edge < longest)
    are_alone = all(id(line) in beginning for line in later_labels if line.baseline < last + NEXT_LINE * line.size)
    return are_narrow and words >= MIN_WORDS and len(beginning) == len(pairs) and are_alone


def _beginning(pairs: Sequence[_Labelled], column: Sequence[Line], right: float) -> set[int]:
    """The identities of the labels beside which a text begins; empty for the numbers of lines, as of a program."""
    above = {id(lower): upper for upper, lower in pairwise(column)}
    usual = min((lower.baseline - upper.baseline for upper, lower in pairwise(column)), default=0.0)
    spaces = [lower.baseline - upper.baseline for (upper, _), (lower, _) in pairwise(pairs)]
    if all(label.text.isdecimal() for label, _ in pairs) and statistics.median(spaces) <= WIDER * usual:
        return set()
    triples = [(label, text, above.get(id(text))) for label, text in pairs]
    far = {id(label) for label, text, upper in triples if upper and text.baseline - upper.baseline > WIDER * usual}
    begin = (
        upper is None
        or id(label) in far
        # Where entries are apart, this may be the second line of a label, beside that of its text.
        or (upper.box[2] < right - SHORTER * upper.size and not (far and _may_continue(label, text, upper)))
        for label, text, upper in triples
    )
    return {id(label) for (label, _), is_first in zip(pairs, begin, strict=True) if is_first}


def _may_continue(label: Line, text: Line, upper: Line) -> bool:
    """Whether a label and a text may both go on from the line above."""
    lower_case = all(is_in_lower_case(line.words[0].text) for line in (label, text))
    return lower_case and not upper.text.endswith(SENTENCE_ENDS)


def _left(line: Line) -> float:
    return line.box[0]
