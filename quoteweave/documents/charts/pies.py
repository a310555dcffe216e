"""Reads pie charts: labels with percentages that sum to about a hundred."""

import itertools
from collections.abc import Sequence

from quoteweave.core.boxes import Box, hull
from quoteweave.documents.charts.bars import Row
from quoteweave.documents.charts.tokens import Token, amount

MIN_SHARES = 3
# What rounded percentages may sum to.
WHOLE = (98.0, 102.0)
# In font sizes: blank between the rows of one label, and how far its rows may be off one middle.
BETWEEN, OFF_MIDDLE = 0.7, 1.0
MAX_LABEL_WORDS = 10
# Shares have one colour each, which says nothing beside their label.
NO_COLOUR = (0, 0, 0)

Rows = Sequence[Sequence[Token]]


def read_shares(tokens: Sequence[Token]) -> list[Row] | None:
    """Return the shares with their labels: all in the row of their label, all right under it, or all right above it.

    None if the percentages do not sum to a hundred, there are other numbers, or a label could belong to two shares.
    """
    shares = [token for token in tokens if token.is_value and token.text.endswith("%")]
    others = any(token.is_value and not token.is_year for token in tokens if not token.text.endswith("%"))
    if len(shares) < MIN_SHARES or others or not WHOLE[0] <= _sum(shares) <= WHOLE[1]:
        return None
    lines = [tuple(own) for _, own in itertools.groupby(tokens, key=lambda token: token.line)]
    free = [line for line in lines if not any(share in line for share in shares)]
    own = [next(line for line in lines if share in line) for share in shares]
    if all(len(line) > 1 for line in own):
        beside = [tuple(token for token in line if token is not share) for line, share in zip(own, shares, strict=True)]
        ways = [[(*_on(line, free, -1), *rest) for line, rest in zip(own, beside, strict=True)]]
    elif all(len(line) == 1 for line in own):
        ways = [[_on(line, free, way) for line in own] for way in (-1, 1)]
    else:
        return None
    certain = [labels for labels in ways if _are_certain(labels)]
    if len(certain) != 1:
        return None
    return [Row(label, (), ((NO_COLOUR, share),)) for label, share in zip(certain[0], shares, strict=True)]


def _sum(shares: Sequence[Token]) -> float:
    """The sum of the percentages; 0 if one cannot be parsed."""
    try:
        return sum(amount(share.text)[0] for share in shares)
    except ValueError:
        return 0.0


def _on(line: Sequence[Token], free: Rows, way: int) -> tuple[Token, ...]:
    """The lines above (-1) or below (1) one, as long as each stands right on the one before and in its middle."""
    found: list[Sequence[Token]] = []
    last = _box(line)
    while (then := next((other for other in free if _adjoins(last, other, way)), None)) is not None:
        found.append(then)
        last = _box(then)
    return tuple(token for other in found[::way] for token in other)


def _adjoins(box: Box, other: Sequence[Token], way: int) -> bool:
    size, there = other[0].size, _box(other)
    gap = there[1] - box[3] if way > 0 else box[1] - there[3]
    off = abs((box[0] + box[2]) - (there[0] + there[2])) / 2
    return -0.5 * size < gap < BETWEEN * size and off < OFF_MIDDLE * size


def _box(line: Sequence[Token]) -> Box:
    return hull(token.box for token in line)


def _are_certain(labels: Sequence[tuple[Token, ...]]) -> bool:
    """Whether each is a label, and no two share a word of the page or say the same."""
    used = [id(token) for label in labels for token in label]
    names = {" ".join(token.text for token in label).casefold() for label in labels}
    named = all(any(map(str.isalpha, "".join(token.text for token in label))) for label in labels)
    short = all(len(label) <= MAX_LABEL_WORDS for label in labels)
    return named and short and len(set(used)) == len(used) and len(names) == len(labels)
