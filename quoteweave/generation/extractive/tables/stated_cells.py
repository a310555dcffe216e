"""Find the cells of a table that a claim states, with the names of their rows and columns."""

import re
from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import folded_tokens, has_digit, words
from quoteweave.generation.extractive.tables.heads import rows_below_heads

Range = tuple[int, int]

_LABEL = lazy_regex(r"\b(?:tab(?:le|elle|leau)|fig(?:ure)?|chart|page|seite)s?\.?\s*\d+(?:\.\d+)*", re.IGNORECASE)
# "Of 4 rows", "2 of 4 rows are above 300", and "is 830" behind the numbers of a sum (`tables.arithmetic`).
_COMPUTED = lazy_regex(
    r"\b(?:\d+ of )?\d+ rows(?: (?:is|are) (?:above|below|at least|at most) [^:]*)?"
    r"|(?<=\)) is -?\d(?:[\d.,]*\d)?(?: %| percentage points)?(?=\.(?:\s|$))"
)
_IN_BRACKETS = lazy_regex(r"\([^\W\d_][^()]*\s[^()]*\)")


class _Row(NamedTuple):
    """A row of a table."""

    name: frozenset[str]
    """The words of its first cell."""
    cells: Sequence[Range]
    heads: Mapping[int, Sequence[Range]]
    """The names of each column."""


def stated_cells(claim: str, text: str, above: set[str]) -> list[Range]:
    """Find the cells that the claim states, with the names of their row and column.

    Empty if the claim has a number that the table and the text above it lack, unless it was computed: what the claim
    says about the row then is elsewhere, or wrong.
    """
    claim = _claim_on_cells(claim, above)
    claim_words = set(words(claim))
    if not set(filter(has_digit, claim_words)) <= above.union(words(text)):
        return []
    rows = _named_rows(text)
    # Semicolons separate what is said about several rows, if each is named: the "8 %" of one is not that of another.
    parts: list[str] = []
    for part in claim.split(";"):
        part_words = set(words(part))
        if parts and not any(row.name <= part_words for row in rows):
            parts[-1] += f";{part}"
        else:
            parts.append(part)
    return [cell for part in parts for cell in _cells_of(part, claim_words, text, rows)] or _cells_of(
        claim, claim_words, text, rows
    )


def _claim_on_cells(claim: str, above: Set[str]) -> str:
    """Return a claim without what no cell holds; `above` are the words of the table's caption and of its section.

    >>> _claim_on_cells("Table 1 (The yards in 2024) lists Molde (Employees: 257).", {"yard", "2024"}).split()
    ['lists', 'Molde', '(Employees:', '257).']
    """
    stated = _COMPUTED.sub(" ", _LABEL.sub(" ", claim))
    return _IN_BRACKETS.sub(lambda part: " " if above >= set(words(part[0])) else part[0], stated)


def _named_rows(text: str) -> list[_Row]:
    rows, named_rows = _rows(text), []
    for number, names in rows_below_heads([[text_at(text, cell) for cell in row] for row in rows]):
        if name := frozenset(words(text_at(text, rows[number][0]))):
            heads = {at: [rows[y][x] for y, x in places] for at, places in names.items()}
            named_rows.append(_Row(name, rows[number], heads))
    return named_rows


def _cells_of(part: str, claim_words: set[str], text: str, rows: Sequence[_Row]) -> list[Range]:
    """The cells that a part of a claim states, with the names of their rows, and of the columns that the claim names.

    `claim_words` are those of the whole claim.
    """
    normalised_part, part_words = f" {_normalised(part)} ", set(words(part))
    ranges_by_name: dict[frozenset[str], list[list[Range]]] = {}
    for name, row, over in rows:
        if not name <= part_words:
            continue
        # The 900 of "OP-900" is no cell.
        besides = normalised_part.replace(f" {_normalised(text_at(text, row[0]))} ", " ")
        cells = [at for at, cell in enumerate(row) if at and f" {_normalised(text_at(text, cell)) or '|'} " in besides]
        if cells:
            heads = {
                at: [cell for cell in over.get(at, ()) if claim_words & set(words(text_at(text, cell)))] for at in cells
            }
            most = max(map(len, heads.values()))
            headed = [at for at in cells if 0 < most == len(heads[at])]
            # Of cells with the same content, those are taken whose column the claim names.
            contents = {text_at(text, row[at]) for at in headed}
            cells = [at for at in cells if at in headed or text_at(text, row[at]) not in contents]
            ranges = [row[0], *(row[at] for at in cells), *(cell for at in headed for cell in heads[at])]
            ranges_by_name.setdefault(name, []).append(ranges)
    # Of rows with the same name, those are taken of which the claim states most.
    best = [(same, max(map(len, same))) for same in ranges_by_name.values()]
    return [cell for same, most in best for ranges in same if len(ranges) == most for cell in ranges]


def _rows(text: str) -> list[list[Range]]:
    """The spans of the cells of each row, without surrounding whitespace."""
    rows, start = [], 0
    for line in text.splitlines(keepends=True):
        cells, at = [], start
        for cell in line.split("|"):
            bare = cell.strip()
            begin = at + (cell.index(bare) if bare else 0)
            cells.append((begin, begin + len(bare)))
            at += len(cell) + 1
        rows.append(cells)
        start += len(line)
    return [row for row in rows if len(row) > 1]


def _normalised(text: str) -> str:
    return " ".join(token for token, *_ in folded_tokens(text))


def text_at(text: str, place: Range) -> str:
    """The piece of a text at a range of it."""
    return text[place[0] : place[1]]
