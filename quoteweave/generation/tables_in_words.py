"""The rows of a table that bear on a question, said in words. Rows are lines, cells are parted by ` | `."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from operator import itemgetter

from quoteweave.core.tokens import words
from quoteweave.generation.relevance import coverage

MAX_ROWS = 3
MAX_COLUMNS = 6

_NUMBER = re.compile(r"[^\w\s]*\s*\d")
_MERE_NUMBER = re.compile(r"[-+−–~≈$€£]?\s?\d[\d.,' ]*\s?%?")
_YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d(?!\d|,)")
_EMPTY = frozenset({"", "-", "–", "—"})

Rows = Sequence[Sequence[str]]


def read_rows(text: str) -> list[list[str]]:
    """The cells of each line that holds more than one."""
    lines = (line.split("|") for line in text.splitlines())
    return [[" ".join(cell.split()) for cell in cells] for cells in lines if len(cells) > 1]


def rows_in_words(text: str, weights: Mapping[str, float]) -> str:
    """The rows that hold the question's words: `Grain (2021: 486; 2022: 512) and Timber (2021: 331; 2022: 318)`.

    Columns are narrowed to those whose headings, or numbers, the question names. "" where no row holds its words.
    """
    header, rows = _parted(read_rows(text))
    chosen = _best_rows(rows, weights)
    columns = _best_columns(header, chosen, weights)
    said = [_say(row, header, columns) for row in chosen]
    return " and ".join([", ".join(said[:-1]), said[-1]]) if len(said) > 1 else "".join(said)


def _parted(rows: Rows) -> tuple[Sequence[str], Rows]:
    """The names of the columns, where the first or second row gives them, and the rows below; () where none does.

    A row of names whose first cell is blank may lack it, as tables without rules do. Two columns are names and values,
    unless all values but the first are mere numbers: then that is what they are of.
    """
    found: list[tuple[int, Sequence[str], Rows]] = []
    for place in range(min(2, len(rows) - 1)):
        names, below = rows[place], rows[place + 1 :]
        width = Counter(map(len, below)).most_common(1)[0][0]
        named = ["", *names] if len(names) == width - 1 else names
        if len(named) == width and _names(named) and (width > 2 or (place == 0 and _are_numbers(below))):
            found.append((sum(cell not in _EMPTY for cell in named[1:]), named, below))
    # Of two rows of names the first may span columns, and then names fewer.
    _, header, body = max(found, key=itemgetter(0), default=(0, [], rows))
    return header, body


def _are_numbers(rows: Rows) -> bool:
    """Whether two rows or more have a number without any unit in their second cell."""
    return len(rows) > 1 and all(len(row) == 2 and _MERE_NUMBER.fullmatch(row[1]) for row in rows)


def _names(row: Sequence[str]) -> bool:
    """Whether a row can name columns: it holds no number other than years."""
    cells = [cell for cell in row[1:] if cell not in _EMPTY]
    return bool(cells) and not any(_NUMBER.match(cell) and not _YEAR.match(cell) for cell in cells)


def _best_rows(rows: Rows, weights: Mapping[str, float]) -> list[Sequence[str]]:
    scores = [coverage(weights, words(" ".join(row))) for row in rows]
    best = max(scores, default=0.0)
    good = [number for number, score in enumerate(scores) if score > 0 and score >= 0.5 * best]
    kept = sorted(sorted(good, key=lambda number: -scores[number])[:MAX_ROWS])
    return [rows[number] for number in kept]


def _best_columns(header: Sequence[str], rows: Rows, weights: Mapping[str, float]) -> list[int]:
    """Columns, the first left out, whose heading the question names; or in which stands a number that it names."""
    width = max((len(row) for row in rows), default=0)
    numbers = {term: weight for term, weight in weights.items() if any(map(str.isdigit, term))}
    scores = {}
    for column in range(1, width):
        cells = [row[column] for row in rows if column < len(row)]
        named = words(header[column]) if column < len(header) else []
        inside = [word for cell in cells for word in words(cell) if word in numbers]
        scores[column] = coverage(weights, {*named, *inside})
    best = max(scores.values(), default=0.0)
    return [column for column, score in scores.items() if score > 0 and score >= 0.6 * best]


def _say(row: Sequence[str], header: Sequence[str], columns: Sequence[int]) -> str:
    cells = []
    for column in columns or range(1, len(row)):
        if column < len(row) and row[column] not in _EMPTY:
            heading = header[column] if column < len(header) and header[column] not in _EMPTY else ""
            cells.append(f"{heading}: {row[column]}" if heading else row[column])
    details = "; ".join(cells[:MAX_COLUMNS])
    return f"{row[0]} ({details})" if row[0] and details else row[0] or details
