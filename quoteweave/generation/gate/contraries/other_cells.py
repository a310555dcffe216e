"""Find where a sentence gives the content of a table's cell for another row or column of the table.

"Westmoor has 388 beds" has a number and words of a table in which 388 is the staff of Westmoor, but says something
else. The sentence gives a cell for another row (or column) if it names that by words that only its name has, and has
none of the words by which the cell's own row or column differs. Words that name columns do not name rows, and the
reverse. If the sentence also has the content of the cell in the named row, it may name the row for that one ("of 500,
Europe had 120"), and nothing is found.

A name belongs to a number if it stands before it in the same clause, or behind it as what it counts or with a
preposition ("388 beds", "3 of group B"). Names behind "than", "since", "before" and the like are only compared with. A
number that counts something else ("388 people") can belong only to columns of a time or place ("in 2022").
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import cache, partial
from typing import NamedTuple

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import STOP_WORDS, words
from quoteweave.generation.extractive.tables.heads import EMPTY, Rows, parts_of, read_rows, without_numbering
from quoteweave.generation.gate.amounts import Amount
from quoteweave.generation.gate.contraries.opposite_words import is_said_alike
from quoteweave.generation.gate.facts import normalize_notation, read_evidence

MAX_CELLS = 20_000
"""Most cells of all tables together; in larger tables nothing is looked for (`has_too_many_cells`)."""

_LETTER = lazy_regex(r"(?<![\w'’])[A-Z](?![\w'’])")
_UNIT = lazy_regex(r"\s*\([^()]{1,20}\)\s*$")
_CHANGE = (
    r"(?:increas\w*|decreas\w*|ris(?:e|es|en)|rose|f[ae]ll\w*|gr[eo]w\w*|gain\w*|loss\w*|improve\w*|up|down|chang\w+)"
)
_COMPARED = lazy_regex(
    r"\b(?:since|than|compared (?:with|to)|versus|vs\.?|unlike|against|before|after|near|below|above|beyond|besides?"
    rf"|(?:next|close|similar) to|like|except|without|behind|{_CHANGE} (?:on|over)|from(?!\s+[^,;]+\bto\b))"
    r"\s+(?:the\s+)?\S+",
    re.IGNORECASE,
)
_CLAUSE_END = lazy_regex(
    r";\s|,\s+(?:and(?! an?\b)|but|while|whereas|although|though|so|yet|which|who)\b", re.IGNORECASE
)
_FRONTED = lazy_regex(r"^\s*(?:while|whereas|although|though|when|if|because)\b[^,;]*,", re.IGNORECASE)
_PAUSE = lazy_regex(r"[,;:](?!\S)")
_COUNTED = lazy_regex(r"(?:\s+[^\W\d_][\w'’-]*){0,2}")
_WITH_PREPOSITION = lazy_regex(
    r"\b(?:of|in|at|for|on|to|from|by|during|per)(?:\s+(?:the|an?|each|every))?(?:\s+[\w'’&@-]+){1,3}", re.IGNORECASE
)
_TIME_OR_PLACE = lazy_regex(r"\b(?:in|on|at|during)\s+(?:(?:the|an?|each|every)\s+)?(\S+)", re.IGNORECASE)
_NUMBER = lazy_regex(r"\d+(?:[.,' ]\d+)*")
_CELLS = "|"

Same = Callable[[Amount, Amount], bool]
"""Whether a number of the sentence is the same as one of the evidence."""


class OtherCell(NamedTuple):
    """A number or words that a sentence gives for another row or column than its evidence does."""

    value: str
    table_name: str
    """The name of the row or column in which the table has them."""
    stated_name: str
    """The name for which the sentence gives them."""


def find_other_cell(statement: str, amounts: Sequence[Amount], texts: Sequence[str], same: Same) -> OtherCell | None:
    """Return a number or words that a statement gives for a row or column in which no cell of its evidence has them.

    None if they also stand outside the tables, or in the name of a row or column.
    """
    tables = [text for text in texts if _CELLS in text]
    if not tables or has_too_many_cells(texts):
        return None
    claim, findings = _Claim(statement, amounts, same), dict[str, list[OtherCell | None]]()
    for text in texts:
        for line in text.splitlines():
            findings |= {value: [None] for value in (claim.stated_values(line) if _CELLS not in line else ())}
    for text in tables:
        for header, body in parts_of(rows) if (rows := read_rows(text)) else ():
            for value, other_cell in _Table(*without_numbering(header, body)).compare(claim):
                findings.setdefault(value, []).append(other_cell)
    return next((cells[0] for cells in findings.values() if all(cells)), None)


def has_too_many_cells(texts: Sequence[str]) -> bool:
    """Whether texts have more cells than are compared."""
    return sum(text.count(_CELLS) for text in texts) > MAX_CELLS


class _Name(NamedTuple):
    """The name of a row or column, and its words."""

    text: str
    words: frozenset[str]


class _Claim:
    """A sentence prepared to be compared with cells."""

    def __init__(self, text: str, amounts: Sequence[Amount], same: Same) -> None:
        self._amounts, self._same = amounts, same
        self._text = normalize_notation(text[:1].lower() + text[1:])  # "A" at the beginning is an article, not a name
        self.names = _names(self._text)
        self._of_time_or_place = _names(" ".join(_TIME_OR_PLACE.findall(self._text)))
        self._digits = {_digits(format(amount.value, "f")) for amount in amounts}
        # A table often repeats cells and names.
        self.stated_values, self._names_beside = cache(self._find_stated_values), cache(self._find_names_beside)

    def _find_stated_values(self, cell: str) -> tuple[str, ...]:
        """The values that the sentence has of a cell: those of its numbers, or the cell itself if it has words only."""
        if numbers := _NUMBER.findall(cell):
            may_occur = not self._digits.isdisjoint(map(_digits, numbers))  # most cells need not be read
            amounts = read_evidence(cell).amounts if may_occur else ()
            return tuple(amount.text for amount in self._amounts if any(self._same(amount, other) for other in amounts))
        return (cell,) if (names := _names(cell)) and names <= self.names else ()

    def says_of_another(
        self, value: str, cell: Set[str], other: _Name, besides: Set[str], *, is_column: bool = False
    ) -> bool:
        """Whether it gives a value for another row than its cell's; `cell` has the words that name the cell's row.

        `besides` are words that name columns. For columns it is the reverse.
        """
        only_cell, only_other = cell - other.words, other.words - cell - besides
        # They differ as "Heron" and "Heron + rerank" do.
        differs = (only_other and only_cell) or other.words < cell or (only_other and cell)
        if not (other.words and differs and other.words <= self.names and self.names.isdisjoint(only_cell)):
            return False
        if any(is_said_alike(name, self.names) for name in only_cell):
            return False
        is_counted = is_column and bool(only_other - self._of_time_or_place)
        return all(
            only_other <= names and not (is_counted and counted and counted.isdisjoint(other.words))
            for names, counted in self._names_beside(value, other.text)
        )

    def _find_names_beside(self, value: str, name: str) -> list[tuple[frozenset[str], frozenset[str]]]:
        """For each place of a number or words, the names that belong to it and the words that it may count.

        Names that are only compared with are left out, unless the phrase is part of `name`, as "before" may be.
        """
        text = _COMPARED.sub(partial(_unless_within, name.casefold()), self._text)
        places = list(re.finditer(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE))
        return [_names_at(text, *place.span()) for place in places] or [(_names(text), frozenset())]


class _Row(NamedTuple):
    """A row of a table, its name, and by position the words of its cells without numbers."""

    cells: Sequence[str]
    name: _Name
    texts: Mapping[int, frozenset[str]]

    def own_names(self, at: int) -> frozenset[str]:
        """The words of the row's name and of its cells, except for the cell at that position."""
        return self.name.words.union(*(names for place, names in self.texts.items() if place != at))


_Cell = tuple[_Row, int]
"""A row, and the position of the cell in it."""


class _Table:
    """A table, or a part of one with its own header or without one."""

    def __init__(self, header: Sequence[str], rows: Rows) -> None:
        names = cache(_names)
        self._header = [_Name(name, names(_UNIT.sub("", name))) for name in header]
        self._of_columns = frozenset[str]().union(*(name.words for name in self._header))
        self._rows = []
        for row in rows:
            texts = {at: names(cell) for at, cell in enumerate(row) if not _has_number(cell)}
            self._rows.append(_Row(row, _Name(row[0], names(row[0])), texts))

    def compare(self, claim: _Claim) -> Iterator[tuple[str, OtherCell | None]]:
        """Yield each value that a claim has of the table, with the wrong row or column that it is given for, if any."""
        named_rows: dict[_Name, list[_Row]] = {}
        for row in self._rows:
            if row.name.words <= claim.names:
                named_rows.setdefault(row.name, []).append(row)
        columns = [at for at, name in enumerate(self._header) if at and name.words <= claim.names]
        for name in [*self._header, *(row.name for row in self._rows)]:
            yield from ((value, None) for value in claim.stated_values(name.text))
        for row in self._rows:
            for at, cell in enumerate(row.cells[1:], start=1):
                for value in claim.stated_values(cell):
                    other_names = self._other_row(claim, value, (row, at), named_rows)
                    other_names = other_names or self._other_column(claim, value, (row, at), columns)
                    yield value, OtherCell(value, *other_names) if other_names else None

    def _other_row(
        self, claim: _Claim, value: str, cell: _Cell, named_rows: Mapping[_Name, Sequence[_Row]]
    ) -> tuple[str, str] | None:
        """The name of a cell's row, and that of another row that the claim names, with a cell of the same kind."""
        row, at = cell
        words_of_cell = row.own_names(at) if named_rows else frozenset()
        for name, rows in named_rows.items():
            if claim.says_of_another(value, words_of_cell, name, self._of_columns):
                cells = (other_row.cells[at] for other_row in rows if len(other_row.cells) > at)
                filled = (text for text in cells if text not in EMPTY)
                if alike := [text for text in filled if _has_number(text) == (at not in row.texts)]:
                    return None if any(map(claim.stated_values, alike)) else (row.name.text, name.text)
        return None

    def _other_column(
        self, claim: _Claim, value: str, cell: _Cell, named_columns: Sequence[int]
    ) -> tuple[str, str] | None:
        """The name of a number's column, and that of another one that the claim names; None for a cell of words."""
        row, at = cell
        if len(self._header) != len(row.cells) or at in row.texts:
            return None
        header_name = self._header[at]
        for place in (column for column in named_columns if column != at):
            other_name = self._header[place]
            if claim.says_of_another(value, header_name.words, other_name, row.name.words, is_column=True):
                return None if claim.stated_values(row.cells[place]) else (header_name.text, other_name.text)
        return None


def _unless_within(name: str, match: re.Match[str]) -> str:
    return match[0] if match[0].casefold() in name else " "


def _names_at(text: str, start: int, end: int) -> tuple[frozenset[str], frozenset[str]]:
    """The names that belong to the number or words at that place, and the words right behind, which it may count."""
    before = _FRONTED.sub(" ", _CLAUSE_END.split(text[:start])[-1])
    behind = _PAUSE.split(text[end:])[0]
    follows = _COUNTED.match(behind)
    counted = follows[0] if follows else ""
    phrases = [before, text[start:end], counted, *_WITH_PREPOSITION.findall(behind)]
    first = next((at for at, word in enumerate(counted.split()) if word.casefold() in STOP_WORDS), 2)
    return _names(" | ".join(phrases)), _names(" ".join(counted.split()[:first]))


def _has_number(cell: str) -> bool:
    return _NUMBER.search(cell) is not None


def _digits(number: str) -> str:
    """The digits of a number that are the same in any scale: 12 for 1.2 and for 1,200."""
    return re.sub(r"\D", "", number).strip("0")


def _names(text: str) -> frozenset[str]:
    """The words of a text, as names are compared by them, and its single capital letters."""
    return frozenset([*words(text), *_LETTER.findall(text)])
