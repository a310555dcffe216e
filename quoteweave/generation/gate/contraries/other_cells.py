"""Find what a sentence says of another row or column of a table than the cell that holds it.

"Westmoor has 388 beds" has a number and the words of a table in which 388 is the staff of Westmoor, and says what that
does not. A cell is another's where the sentence names another row of the table, or another column, by words that its
name alone has, and has none of the words by which the cell's own row or column differs. Words that name columns name no
row, and the reverse. Where the sentence also has what stands in the cell so named, that is what it names it for ("of
500, Europe had 120"); and behind "than" or "since" it names what it compares with.
"""

import re
from collections.abc import Callable, Iterator, Sequence, Set
from typing import NamedTuple

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import words
from quoteweave.generation.extractive.tables.heads import EMPTY, Rows, parts_of, read_rows, without_numbering
from quoteweave.generation.gate.amounts import Amount
from quoteweave.generation.gate.contraries.opposite_words import is_said_alike
from quoteweave.generation.gate.facts import read_evidence

MAX_ROWS = 200
"""Of a table that is looked at."""

_LETTER = lazy_regex(r"(?<![\w'’])[A-Z](?![\w'’])")
_UNIT = lazy_regex(r"\s*\([^()]{1,20}\)\s*$")
_COMPARED = lazy_regex(
    r"\b(?:since|than|compared (?:with|to)|versus|vs\.?|unlike|against)\s+(?:the\s+)?\S+", re.IGNORECASE
)
_NUMBER = lazy_regex(r"\d+(?:[.,' ]\d+)*")
_CELLS = "|"

Same = Callable[[Amount, Amount], bool]
"""Whether a number of the sentence is one of the evidence."""


class OtherCell(NamedTuple):
    """A number or words of a sentence, and the names of the row or column that they belong to, and that it has."""

    said: str
    own: str
    other: str


def find_other_cell(statement: str, amounts: Sequence[Amount], texts: Sequence[str], same: Same) -> OtherCell | None:
    """Return what a statement says of another row or column than every cell of its evidence that holds it.

    None for what also stands outside the tables, or in the name of a row or column.
    """
    tables = [text for text in texts if _CELLS in text]
    if not tables:
        return None
    claim, found = _Claim(statement, amounts, same), dict[str, list[OtherCell | None]]()
    for text in texts:
        for line in text.splitlines():
            found |= {said: [None] for said in (claim.held(line) if _CELLS not in line else ())}
    for text in tables:
        for header, body in parts_of(rows) if (rows := read_rows(text)[:MAX_ROWS]) else ():
            for said, other in _Table(*without_numbering(header, body)).told(claim):
                found.setdefault(said, []).append(other)
    return next((its[0] for its in found.values() if its[0] is not None and all(its)), None)


class _Claim:
    """A sentence as it is compared with cells."""

    def __init__(self, text: str, amounts: Sequence[Amount], same: Same) -> None:
        self._amounts, self._same = amounts, same
        text = text[:1].lower() + text[1:]  # "A" at its beginning is no name
        self._names, self._said_of = _names(text), _names(_COMPARED.sub(" ", text))
        self._digits = {_digits(format(one.value, "f")) for one in amounts}

    def held(self, cell: str) -> list[str]:
        """What it has of a cell: its numbers, or all words of a cell without numbers."""
        if numbers := _NUMBER.findall(cell):
            there = not self._digits.isdisjoint(map(_digits, numbers))  # most cells need not be read
            amounts = read_evidence(cell).amounts if there else ()
            return [one.text for one in self._amounts if any(self._same(one, other) for other in amounts)]
        return [cell] if (names := _names(cell)) and names <= self._names else []

    def tells(self, own: Set[str], other: Set[str], besides: Set[str]) -> bool:
        """Whether it names another row, or column, and not its own; `besides` name columns, or rows."""
        apart, its = other - own - besides, own - other
        named = bool(apart and its) and other <= self._names and apart <= self._said_of
        return named and self._names.isdisjoint(its) and not any(is_said_alike(name, self._names) for name in its)


class _Table:
    """A table, or a part of one that has a header of its own, or none."""

    def __init__(self, header: Sequence[str], rows: Rows) -> None:
        self._header, self._rows = header, rows
        self._columns = [_names(_UNIT.sub("", name)) for name in header]
        self._of_columns = frozenset[str]().union(*self._columns)

    def told(self, claim: _Claim) -> Iterator[tuple[str, OtherCell | None]]:
        """Yield all that a claim has of it, with the row or column that it says it of, where that is another."""
        for name in [*self._header, *(row[0] for row in self._rows)]:
            yield from ((said, None) for said in claim.held(name))
        for row in self._rows:
            for at, cell in enumerate(row[1:], start=1):
                if held := claim.held(cell):
                    others = self._other_row(claim, row, at) or self._other_column(claim, row, at)
                    yield from ((said, OtherCell(said, *others) if others else None) for said in held)

    def _other_row(self, claim: _Claim, row: Sequence[str], at: int) -> tuple[str, str] | None:
        """The names of the row of a cell, and of another that the claim names, with a cell of the same kind."""
        texts = (cell for place, cell in enumerate(row) if place != at and not _has_number(cell))
        own = _names(row[0]).union(*map(_names, texts))
        for other in self._rows:
            has_cell = len(other) > at and other[at] not in EMPTY
            alike = has_cell and _has_number(other[at]) == _has_number(row[at])
            if other is not row and alike and claim.tells(own, _names(other[0]), self._of_columns):
                return None if claim.held(other[at]) else (row[0], other[0])
        return None

    def _other_column(self, claim: _Claim, row: Sequence[str], at: int) -> tuple[str, str] | None:
        """The names of the column of a number, and of another that the claim names; words may name their row."""
        if len(self._header) != len(row) or not _has_number(row[at]):
            return None
        for place in range(1, len(row)):
            if place != at and claim.tells(self._columns[at], self._columns[place], _names(row[0])):
                return None if claim.held(row[place]) else (self._header[at], self._header[place])
        return None


def _has_number(cell: str) -> bool:
    return _NUMBER.search(cell) is not None


def _digits(number: str) -> str:
    """The digits that stay the same in thousands: 12 of 1.2, and of 1,200."""
    return re.sub(r"\D", "", number).strip("0")


def _names(text: str) -> frozenset[str]:
    """The words of a text that name something, and its single capital letters."""
    return frozenset([*words(text), *_LETTER.findall(text)])
