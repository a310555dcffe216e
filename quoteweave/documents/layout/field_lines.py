"""Inserts the content of form fields and notes among the lines of a page, as if it were printed there.

A value is part of the line in which it stands. A tick box belongs to the words beside it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from quoteweave.core.boxes import hull
from quoteweave.documents.layout.spatial import SpatialIndex
from quoteweave.documents.sources.lines import COLUMN_GAP, Line, Word
from quoteweave.documents.sources.pdf_text.tags import FIRST_FIELD, ItemTag
from quoteweave.documents.sources.pdf_text.text_layer import FROM_THE_RIGHT

SIGNS = frozenset("☐☑○◉")
"""The characters that represent boxes."""
# The largest distance of words after a box, and of words before it, in font sizes.
MAX_BEHIND, MAX_BEFORE = 4.0, 20.0
# A repeated word within this distance, in heights of a word, is the same word.
SAME_PLACE = 0.5
_LABEL_ENDS = (":", "?")


def with_fields(lines: Sequence[Line], fields: Sequence[Line]) -> Sequence[Line]:
    """The lines of a page with those of its fields, joined if they are in one line."""
    if not fields:
        return lines
    printed = SpatialIndex(lines)
    parts = [*lines, *(unprinted for field in fields if (unprinted := _without_printed(field, printed)) is not None)]
    groups = _Groups(parts)
    for first, second in (*_adjacent_parts(parts, len(lines)), *_labelled_fields(parts, len(lines))):
        groups.join(first, second)
    merged = [(_joined_line(group) if len(group) > 1 else group[0], len(group) > 1) for group in groups.lines()]
    labelled = {line.tag for line, is_joined in merged if is_joined}
    return [replace(line, tag=None) if _is_field(line) and line.tag not in labelled else line for line, _ in merged]


class _Groups:
    """Groups of parts that form one line; no group has parts of two cells or items by the file's tags."""

    def __init__(self, parts: Sequence[Line]) -> None:
        self._parts = parts
        self._first = list(range(len(parts)))
        self._tags = [None if _is_field(part) else part.tag for part in parts]

    def join(self, first: int, second: int) -> None:
        root, absorbed = sorted((self._root(first), self._root(second)))
        tags = self._tags[root], self._tags[absorbed]
        if root != absorbed and (None in tags or tags[0] == tags[1]):
            self._first[absorbed] = root
            self._tags[root] = tags[1] if tags[0] is None else tags[0]

    def _root(self, at: int) -> int:
        while self._first[at] != at:
            at = self._first[at] = self._first[self._first[at]]
        return at

    def lines(self) -> Iterable[Sequence[Line]]:
        by_root = defaultdict[int, list[Line]](list)
        for at, part in enumerate(self._parts):
            by_root[self._root(at)].append(part)
        return by_root.values()


def without_words_in(lines: Sequence[Line], fields: Sequence[Line]) -> Sequence[Line]:
    """The lines that OCR read, without those where a field with known text is."""
    if not fields:
        return lines
    known = SpatialIndex(fields)
    remaining = ((line, [word for word in line.words if not _stands_in(word, known)]) for line in lines)
    return [
        line
        if len(words) == len(line.words)
        else replace(line, words=tuple(words), box=hull(word.box for word in words))
        for line, words in remaining
        if words
    ]


def _stands_in(word: Word, fields: SpatialIndex[Line]) -> bool:
    x, y = (word.box[0] + word.box[2]) / 2, (word.box[1] + word.box[3]) / 2
    return bool(fields.intersecting((x, y, x, y), 1.0))


def _without_printed(field: Line, printed: SpatialIndex[Line]) -> Line | None:
    """A line of a field without words that are also printed there; None if all are."""
    near = [word for line in printed.intersecting(field.box) for word in line.words]
    words = [word for word in field.words if not any(_is_same(word, other) for other in near)]
    return replace(field, words=tuple(words), box=hull(word.box for word in words)) if words else None


def _is_same(word: Word, other: Word) -> bool:
    distance = max(abs(word.box[0] - other.box[0]), abs(word.box[1] - other.box[1]))
    return word.text == other.text and distance < SAME_PLACE * (word.box[3] - word.box[1])


def _is_sign(line: Line) -> bool:
    return len(line.words) == 1 and line.words[0].text in SIGNS


def _are_in_one_row(line: Line, other: Line) -> bool:
    overlap = min(line.box[3], other.box[3]) - max(line.box[1], other.box[1])
    return line.upright and other.upright and overlap > 0.5 * min(line.height, other.height)


def _blank_between(line: Line, other: Line) -> float:
    """The blank in points between two lines on the same level."""
    return max(other.box[0] - line.box[2], line.box[0] - other.box[2])


def _adjacent_parts(parts: Sequence[Line], count: int) -> Iterator[tuple[int, int]]:
    """Pairs of a value (after the first `count` parts) and a part no further away than words of one line."""
    places = SpatialIndex([replace(part, words=()) for part in parts])
    numbers = {id(part): at for at, part in enumerate(places.items)}
    for at in range(count, len(parts)):
        field, reach = parts[at], COLUMN_GAP * parts[at].size
        if not _is_sign(field):
            for near in places.intersecting(field.box, reach):
                other = numbers[id(near)]
                if other == at or _is_sign(parts[other]):
                    continue
                if _are_in_one_row(field, near) and _blank_between(field, near) < reach:
                    yield at, other


class _Rows:
    """The parts of a page, each with those in its row; stored in arrays, because a row may have thousands."""

    def __init__(self, parts: Sequence[Line]) -> None:
        self._left, self._top, self._right, self._bottom = np.array([part.box for part in parts]).T
        self._upright = np.array([part.upright for part in parts])
        self._reads_from_the_right = np.array([bool(FROM_THE_RIGHT.search(part.text)) for part in parts])
        self._orders = {False: self._left.argsort(kind="stable"), True: (-self._left).argsort(kind="stable")}

    def beside(self, at: int) -> tuple[list[int], int | None]:
        """Among the other parts in the row of a part, the last two before it and the next one, in reading order."""
        overlaps = np.minimum(self._bottom, self._bottom[at]) - np.maximum(self._top, self._top[at])
        heights = self._bottom - self._top
        is_level = (overlaps > 0.5 * np.minimum(heights, heights[at])) & self._upright & self._upright[at]
        in_row = is_level & (self._right >= 0)
        in_row[at] = False
        from_the_right = bool((in_row & self._reads_from_the_right).any())
        order = self._orders[from_the_right]
        row = order[in_row[order]]
        count = int(np.count_nonzero((self._left[row] < self._left[at]) != from_the_right))
        return row[max(0, count - 2) : count].tolist(), int(row[count]) if count < len(row) else None


def _labelled_fields(parts: Sequence[Line], count: int) -> Iterator[tuple[int, int]]:
    """Pairs of a box or value (after the first `count` parts) and the words in its row to which it belongs.

    If several of them follow the same words, these name the row of a table.
    """
    rows = _Rows(parts)
    for at in (at for at in range(count, len(parts)) if _is_field(parts[at])):
        before, after = rows.beside(at)
        is_alone = after is None or after < count
        label = before[-1] if before and is_alone and _is_label(parts, before, at, count) else None
        if _is_sign(parts[at]) and after is not None and is_alone:
            label_line = None if label is None else parts[label]
            label = after if _is_nearer(parts[after], parts[at], label_line) else label
        if label is not None:
            yield at, label


def _is_label(parts: Sequence[Line], before: Sequence[int], field: int, count: int) -> bool:
    """Whether the last of the parts before a field, in order, is its label rather than the words of a column."""
    *earlier, last = before
    label = parts[last]
    if last >= count or _blank_between(label, parts[field]) > MAX_BEFORE * label.size:
        return False
    is_first = not earlier or earlier[-1] >= count
    return label.text.endswith(_LABEL_ENDS) or (is_first and any(map(str.isalpha, label.text)))


def _is_nearer(after: Line, sign: Line, before: Line | None) -> bool:
    """Whether the words after a box are near it, and no further away than those before it."""
    gap = _blank_between(sign, after)
    return gap < MAX_BEHIND * after.size and (before is None or gap <= _blank_between(sign, before))


def _joined_line(parts: Sequence[Line]) -> Line:
    """The parts of one line as a line in the style of the longest printed part, with its words in reading order.

    It keeps a field's tag only if it ends with the field's value, so that it is the field with its label.
    """
    main = max(parts, key=lambda part: (not _is_sign(part), not _is_field(part), len(part.text)))
    from_the_right = bool(FROM_THE_RIGHT.search(main.text))
    ordered = sorted(parts, key=lambda part: part.box[0], reverse=from_the_right)
    words = list[Word](ordered[0].words)
    for part in ordered[1:]:
        edge = part.box[2] if from_the_right else part.box[0]
        at = len(words)
        while at and (words[at - 1].box[0] < edge - 1 if from_the_right else words[at - 1].box[2] > edge + 1):
            at -= 1
        words[at:at] = part.words
    printed = next((part.tag for part in parts if part.tag is not None and not _is_field(part)), None)
    is_labelled = _is_field(ordered[-1]) and not _is_field(ordered[0]) and words[-1] is ordered[-1].words[-1]
    tag = ordered[-1].tag if printed is None and is_labelled else printed
    return replace(main, words=tuple(words), box=hull(word.box for word in words), tag=tag)


def _is_field(part: Line) -> bool:
    return isinstance(part.tag, ItemTag) and part.tag.number >= FIRST_FIELD
