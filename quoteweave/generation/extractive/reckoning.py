"""What a table's numbers come to, where a question asks for it: the highest, a difference, a sum, which are above 500.

Nothing is reckoned unless it is certain which cells are meant: they stand under names of the question, hold one number
each, and have one unit. What comes out shows the numbers that it was made of.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from quoteweave.core.question_reading import Extreme, Limit, Reckoned
from quoteweave.generation.extractive.tables_in_words import Rows, cell_of, named, parted, read_rows
from quoteweave.generation.gate.amounts import read_amounts
from quoteweave.generation.gate.reading import plain
from quoteweave.generation.gate.units import Unit
from quoteweave.generation.relevance import Question
from quoteweave.generation.wording import listed

LEAST_ROWS = 3
"""Rows with a number among which one is the highest or lowest, or of which some are above a limit."""
MOST_SHOWN = 8
"""Numbers that are shown for what they come to."""

_TOTAL = re.compile(r"\b(?:total|sum|all|overall|average|mean|median|gesamt|summe|insgesamt)\b", re.IGNORECASE)
_NEGATIVE = re.compile(r"\s*(?:[-–−]\s*[$€£]?\d|\(\s*[$€£]?\d)")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell that holds one number."""

    name: str
    """Of its row, or of its column where cells of one row are compared."""
    text: str
    value: Decimal
    """With its sign."""
    unit: Unit | None

    @property
    def shown(self) -> str:
        """`Grain (512)`."""
        return f"{self.name} ({self.text})"


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells that may be reckoned with."""

    of: str
    """The name of their column, or of their row."""
    cells: tuple[Cell, ...]
    whole: bool
    """Whether they are a whole column, of which the question names no row."""


def reckoned_in_words(text: str, question: Question, weights: Mapping[str, float]) -> str:
    """What is asked for of a table's numbers, with those that it was made of; "" where anything is not certain.

    `text` is the table's, as `tables_in_words` reads it. Of a question for several of these (the difference between the
    highest and the lowest) nothing is reckoned.
    """
    reading = question.reading
    asked = [way for way in (reading.extreme, reading.reckons, reading.limit) if way is not None]
    found = _meant(text, question, weights) if reading.asks == "reckon" and len(asked) == 1 else None
    if found is None:
        return ""
    if reading.extreme is not None:
        return _extreme(found, reading.extreme)
    if reading.reckons is not None:
        return _combined(found, reading.reckons)
    return _beyond(found, reading.limit) if reading.limit is not None else ""


def _meant(text: str, question: Question, weights: Mapping[str, float]) -> Cells | None:
    """The cells that the question names; of a whole column those of all rows but totals and averages."""
    header, rows = parted(read_rows(text))
    own = [row for row in rows if row[0]]
    if not header or any(len(row) != len(header) for row in own):
        return None
    columns = [1 + at for at in named(header[1:], question.terms, weights, least=0.5)]
    if not columns and len(header) == 2:
        columns = [1]
    chosen = [own[at] for at in named([row[0] for row in own], question.terms, weights, least=1.0)]
    if len(columns) == 1:
        kept = chosen if len(chosen) > 1 else [row for row in own if not _TOTAL.search(row[0])] if not chosen else []
        return _cells(header[columns[0]], [(row[0], cell_of(row, columns[0])) for row in kept], whole=not chosen)
    if len(chosen) == 1 and columns:
        row = chosen[0]
        return _cells(row[0], [(header[at], cell_of(row, at)) for at in columns], whole=False)
    return None


def _cells(of: str, found: Rows | Sequence[tuple[str, str]], *, whole: bool) -> Cells | None:
    cells = []
    for name, text in found:
        amounts = read_amounts(plain(text))
        if len(amounts) != 1:
            return None
        value = -amounts[0].value if _NEGATIVE.match(text) else amounts[0].value
        cells.append(Cell(name, text, value, amounts[0].unit))
    return Cells(of, tuple(cells), whole) if cells and len({cell.unit for cell in cells}) == 1 else None


def _extreme(found: Cells, extreme: Extreme) -> str:
    """`Container has the highest 2022 of 3 rows: 1,310, before Grain with 512`; "" where two share the place."""
    if len(found.cells) < LEAST_ROWS or not found.whole:
        return ""
    first, second = sorted(found.cells, key=lambda cell: cell.value, reverse=extreme == "highest")[:2]
    if first.value == second.value:
        return ""
    said = f"{first.name} has the {extreme} {found.of} of {len(found.cells)} rows: {first.text}"
    return f"{said}, before {second.name} with {second.text}"


def _beyond(found: Cells, limit: Limit) -> str:
    """`2 of 3 rows have 2022 above 500: Container (1,310) and Grain (512)`; "" where a cell is the limit itself."""
    amounts = read_amounts(plain(limit.number))
    if len(found.cells) < LEAST_ROWS or not found.whole or len(amounts) != 1:
        return ""
    value = amounts[0].value
    beyond = [cell.shown for cell in found.cells if (cell.value > value) == limit.is_least]
    if len(beyond) > MOST_SHOWN or any(cell.value == value for cell in found.cells):
        return ""
    side = "above" if limit.is_least else "below"
    said = f"{len(beyond)} of {len(found.cells)} rows have {found.of} {side} {limit.number}"
    return f"{said}: {listed(beyond)}" if beyond else said


def _combined(found: Cells, reckons: Reckoned) -> str:
    """`The sum of Grain (512) and Timber (318) in 2022 is 830`."""
    cells, values = found.cells, [cell.value for cell in found.cells]
    pair = len(cells) == 2
    if len(cells) < 2 or len(cells) > MOST_SHOWN or (found.whole and reckons in ("difference", "ratio")):
        return ""
    if reckons == "difference" and pair:
        value = abs(values[0] - values[1])
    elif reckons == "ratio" and pair and values[1]:
        value = round(values[0] / values[1], 3)
    elif reckons == "sum":
        value = sum(values, Decimal(0))
    elif reckons == "average":
        value = round(sum(values, Decimal(0)) / len(values), 3)
    else:
        return ""
    shown = listed([cell.shown for cell in cells])
    points = " percentage points" if reckons == "difference" else " %"
    percent = reckons != "ratio" and cells[0].unit is not None and cells[0].unit.dimension == "percent"
    return f"the {reckons} of {found.of} of {shown} is {value.normalize():,f}{points if percent else ''}"
