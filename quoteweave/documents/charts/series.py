"""Names the series of a chart by colour, from the legend or from the words above its first row."""

import itertools
from collections.abc import Sequence

from quoteweave.core.boxes import Box, hull
from quoteweave.documents.charts.bars import Colour, Row, Stack
from quoteweave.documents.charts.rectangles import Rectangle
from quoteweave.documents.charts.tokens import Token

Names = dict[Colour, tuple[Token, ...]]

# Height of a swatch in font sizes of the words beside it, and how many times as wide as high it may be.
SWATCH = (0.3, 1.6)
WIDEST_SWATCH = 2.0
# Blank between a swatch and its words, and between these, in font sizes.
BLANK = 1.3
# Points above the first row within which its series are named; between rows of one name, in font sizes.
ABOVE = 30.0
BESIDE = 40.0
BETWEEN = 0.6
MAX_WORDS = 10
LIKE = 12


def series_from_legend(
    colours: Sequence[Colour], rectangles: Sequence[Rectangle], tokens: Sequence[Token]
) -> Names | None:
    """The series names right of the swatches of a legend; None if a colour has no swatch or several."""
    words = [token for token in tokens if token.is_word]
    named = [(one, name) for one in rectangles if (name := _beside(one, words, rectangles))]
    names: Names = {}
    for colour in colours:
        own = [name for one, name in named if _alike(one.colour, colour)]
        if len(own) != 1:
            return None
        names[colour] = own[0]
    taken = {id(token) for name in names.values() for token in name}
    if any(_goes_on(name, word) for name in names.values() for word in words if id(word) not in taken):
        return None
    texts = {" ".join(token.text for token in name) for name in names.values()}
    return names if len(texts) == len(names) else None


def _goes_on(name: Sequence[Token], word: Token) -> bool:
    """Whether the word is right under a name, and so would be its second row."""
    box, size = hull(token.box for token in name), name[0].size
    under = -0.3 * size < word.box[1] - box[3] < 0.5 * size
    return under and word.box[0] < box[2] and word.box[2] > box[0] and not word.is_value


def _alike(a: Colour, b: Colour) -> bool:
    return max(abs(x - y) for x, y in zip(a, b, strict=True)) <= LIKE


def _beside(swatch: Rectangle, words: Sequence[Token], rectangles: Sequence[Rectangle]) -> tuple[Token, ...]:
    """The words that follow a swatch on its row, up to a blank or the next swatch; none where it is no swatch."""
    x1, y1, x2, y2 = swatch.box
    middle, high = (y1 + y2) / 2, y2 - y1
    row = sorted((w for w in words if w.box[1] < middle < w.box[3] and w.box[0] > x2 - 2), key=lambda w: w.box[0])
    name: list[Token] = []
    edge = x2
    for word in row:
        if not SWATCH[0] * word.size <= high <= SWATCH[1] * word.size or x2 - x1 > WIDEST_SWATCH * high:
            break
        between = (edge + 0.5, y1, word.box[0], y2)
        if word.box[0] - edge > BLANK * word.size or any(_stands_in(one.box, between) for one in rectangles):
            break
        name.append(word)
        edge = word.box[2]
    value = len(name) == 1 and name[0].is_value and not name[0].is_year
    return tuple(name) if len(name) <= MAX_WORDS and not value else ()


def _stands_in(box: Box, place: Box) -> bool:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return place[0] < x < place[2] and place[1] < y < place[3]


def series_from_headings(rows: Sequence[Row], tokens: Sequence[Token]) -> Names | None:
    """The words above the bars of each colour, where all rows have one stack with its bars in the same order.

    None where a colour has no words above it. Above is above the first row's bar, or where the bars of other colours
    nowhere stand.
    """
    stacks = [row.stacks[0] for row in rows if len(row.stacks) == 1]
    orders = {tuple(bar.colour for bar in stack.bars) for stack in stacks}
    first = min(stacks, key=lambda stack: stack.box[1], default=None)
    if first is None or len(stacks) < len(rows) or len(orders) != 1:
        return None
    phrases = _phrases([token for token in tokens if token.is_word], first)
    names: Names = {}
    for bar, (x1, x2) in zip(first.bars, _reaches(stacks, first), strict=True):
        own = [phrase for phrase in phrases if x1 <= _middle(phrase) <= x2]
        if len(own) != 1:
            return None
        names[bar.colour] = own[0]
    fit = len(phrases) == len(names) and all(len(name) <= MAX_WORDS for name in names.values())
    return names if fit else None


def _middle(phrase: Sequence[Token]) -> float:
    box = hull(token.box for token in phrase)
    return (box[0] + box[2]) / 2


def _reaches(stacks: Sequence[Stack], first: Stack) -> list[tuple[float, float]]:
    """Between which x the bars of each colour stand: those of all rows, or of the first where they overlap."""
    boxes = [hull(bar.box for bar in bars) for bars in zip(*(stack.bars for stack in stacks), strict=True)]
    if any(a[2] > b[0] + 2 for a, b in itertools.pairwise(boxes)):
        boxes = [bar.box for bar in first.bars]
    return [(box[0], box[2]) for box in boxes]


def _phrases(words: Sequence[Token], first: Stack) -> list[tuple[Token, ...]]:
    """The words right above a stack, with all that stand together with them further up."""
    x1, y1, x2, _ = first.box
    higher = [word for word in words if word.middle[1] < y1 and x1 - BESIDE <= word.middle[0] <= x2 + BESIDE]
    groups: list[list[Token]] = []
    for word in higher:
        near = [group for group in groups if any(_together(word, other) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([word, *(other for group in near for other in group)])
    lowest = [group for group in groups if any(word.middle[1] >= y1 - ABOVE for word in group)]
    return [tuple(sorted(group, key=lambda word: (round(word.box[1] / 4), word.box[0]))) for group in lowest]


def _together(a: Token, b: Token) -> bool:
    """Whether they are at most a space apart, side by side or one under the other."""
    size = max(a.size, b.size)
    across = max(a.box[0], b.box[0]) - min(a.box[2], b.box[2])
    down = max(a.box[1], b.box[1]) - min(a.box[3], b.box[3])
    return (across < 0 and down < BETWEEN * size) or (down < -0.3 * size and across < BETWEEN * size)
