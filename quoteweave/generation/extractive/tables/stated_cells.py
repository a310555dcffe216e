"""Find the cells of a table that a claim states, with the names of their rows and columns."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from quoteweave.core.text.tokens import folded_tokens, has_digit, words
from quoteweave.generation.extractive.tables.heads import rows_below_heads
from quoteweave.generation.extractive.tables.table_claims import claim_on_cells

Range = tuple[int, int]


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
    claim = claim_on_cells(claim, above)
    own = set(words(claim))
    if not set(filter(has_digit, own)) <= above.union(words(text)):
        return []
    rows = _named_rows(text)
    # Semicolons separate what is said about several rows, if each is named: the "8 %" of one is not that of another.
    parts: list[str] = []
    for part in claim.split(";"):
        stated = set(words(part))
        if parts and not any(row.name <= stated for row in rows):
            parts[-1] += f";{part}"
        else:
            parts.append(part)
    return [cell for part in parts for cell in _cells_of(part, own, text, rows)] or _cells_of(claim, own, text, rows)


def _named_rows(text: str) -> list[_Row]:
    rows, found = _rows(text), []
    for number, names in rows_below_heads([[_at(text, cell) for cell in row] for row in rows]):
        if name := frozenset(words(_at(text, rows[number][0]))):
            heads = {at: [rows[y][x] for y, x in places] for at, places in names.items()}
            found.append(_Row(name, rows[number], heads))
    return found


def _cells_of(part: str, own: set[str], text: str, rows: Sequence[_Row]) -> list[Range]:
    """The cells that a part of a claim states, with the names of their rows, and of their columns if in `own`.

    `own` are the words of the whole claim.
    """
    said, stated = f" {_normalised(part)} ", set(words(part))
    found: dict[frozenset[str], list[list[Range]]] = {}
    for name, row, over in rows:
        if not name <= stated:
            continue
        besides = said.replace(f" {_normalised(_at(text, row[0]))} ", " ")  # the 900 of "OP-900" is no cell
        cells = [at for at, cell in enumerate(row) if at and f" {_normalised(_at(text, cell)) or '|'} " in besides]
        if cells:
            heads = {at: [cell for cell in over.get(at, ()) if own & set(words(_at(text, cell)))] for at in cells}
            most = max(map(len, heads.values()))
            headed = [at for at in cells if 0 < most == len(heads[at])]
            # Of cells with the same content, those are taken whose column the claim names.
            known = {_at(text, row[at]) for at in headed}
            cells = [at for at in cells if at in headed or _at(text, row[at]) not in known]
            marked = [row[0], *(row[at] for at in cells), *(cell for at in headed for cell in heads[at])]
            found.setdefault(name, []).append(marked)
    # Of rows with the same name, those are taken of which the claim states most.
    best = [(same, max(map(len, same))) for same in found.values()]
    return [cell for same, most in best for marked in same if len(marked) == most for cell in marked]


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


def _at(text: str, place: Range) -> str:
    return text[place[0] : place[1]]
