"""Counts the words that are drawn in the place of other words, so that it is not known which of them count."""

from collections.abc import Iterator, Sequence

import numpy as np

from quoteweave.core.boxes import Box, share_in
from quoteweave.documents.sources.drawn.objects import FAR_APART, PageDrawing
from quoteweave.documents.sources.lines import Line
from quoteweave.documents.sources.pdf_text.characters import Characters, Floats, Ints

# Words are in one place if they share this much of the smaller one, and are about as high.
ONE_PLACE, AS_HIGH = 0.5, 0.6
# The greatest height of a word on a level line, in heights of its tallest letter.
LEVEL = 1.5
# The most pairs of words of a page, of which one begins before the other ends, that are compared.
MAX_COMPARED = 100_000


def count_in_one_place(characters: Characters, drawing: PageDrawing) -> int:
    """Count the words that are drawn over another word, so that it is not known which of the two counts.

    Not those that are much larger, as what is stamped across a page, aslant, or part of the other with the same
    digits. Words that were not compared with all others, because there are too many, are counted in `drawing`.
    """
    starts, ends, _ = characters.spans
    if not len(starts):
        return 0
    hulls, letters = characters.hulls
    heights = hulls[:, 3] - hulls[:, 1]
    level_words = np.flatnonzero(heights <= LEVEL * letters[:, 1])
    over, pairs = set[int](), list[tuple[int, int]]()
    for at, following in _overlapping(hulls[level_words], ONE_PLACE * heights[level_words]):
        if len(pairs) + len(following) > MAX_COMPARED:
            drawing.unexamined += 1
        else:
            pairs += [(int(level_words[at]), word) for word in level_words[following].tolist()]
    for first, second in pairs:
        is_as_high = AS_HIGH * heights[first] < heights[second] < heights[first] / AS_HIGH
        if is_as_high and _are_in_one_place(hulls[first].tolist(), hulls[second].tolist()):
            texts = ["".join(map(chr, characters.codes[starts[at] : ends[at]])) for at in (first, second)]
            one_number = len({"".join(filter(str.isdecimal, text)) for text in texts}) == 1
            is_part = one_number and (texts[0] in texts[1] or texts[1] in texts[0])
            if not is_part and all(any(map(str.isalnum, text)) for text in texts):
                over.add(max(first, second))
    return len(over)


def _overlapping(boxes: Floats, apart: Floats) -> Iterator[tuple[int, Ints]]:
    """Each box with those of its row that begin before it ends, if any; middles of rows are more than that `apart`."""
    middles = (boxes[:, 1] + boxes[:, 3]) / 2
    down = np.argsort(middles)
    rows = np.zeros(len(boxes), dtype=np.int64)
    rows[down] = np.cumsum(np.diff(middles[down], prepend=middles[down[:1]]) > apart[down])
    order = np.lexsort((boxes[:, 0], rows))
    begins, ends = (boxes[order, side] + rows[order] * FAR_APART for side in (0, 2))
    until = begins.searchsorted(ends)
    for at in np.flatnonzero(until > np.arange(len(order)) + 1).tolist():
        yield int(order[at]), order[at + 1 : until[at]]


def _are_in_one_place(first: Box, second: Box) -> bool:
    """Whether two boxes share much of the smaller one."""
    return max(share_in(first, second), share_in(second, first)) > ONE_PLACE


def count_covered_by(lines: Sequence[Line], over_lines: Sequence[Line]) -> int:
    """Count the words of lines that are in the place of words of other lines, drawn over them, with another text."""
    words = [word for line in lines for word in line.words if any(map(str.isalnum, word.text))]
    over_words = [word for line in over_lines for word in line.words if any(map(str.isalnum, word.text))]
    boxes = np.array([word.box for word in words]).reshape(-1, 4)
    is_covered = np.zeros(len(words), dtype=bool)
    for word in over_words:
        near = np.flatnonzero((boxes[:, :2] < word.box[2:]).all(axis=1) & (boxes[:, 2:] > word.box[:2]).all(axis=1))
        for at in near.tolist():
            is_covered[at] |= words[at].text != word.text and _are_in_one_place(words[at].box, word.box)
    return int(is_covered.sum())
