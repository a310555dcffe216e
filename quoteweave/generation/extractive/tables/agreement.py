"""Compare tables that have rows of the same name: if they give different values, none of them is sure to be meant.

"Deferred revenue" stands in a balance sheet, and among the parts of deferred taxes; "Operating income" in the statement
of a company, and in that of one of its segments. The table whose head or title has more of the question is taken: "on
30 August" asks for no "52 weeks ended 30 August", and "of the International segment" asks for the table of that title.
If neither decides, the tables are shown as places to look at.
"""

import re
from collections.abc import Sequence
from decimal import Decimal

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import words
from quoteweave.generation.extractive.statements import Statement, head_line
from quoteweave.generation.extractive.tables.cells import FoundRow
from quoteweave.generation.extractive.tables.heads import read_rows
from quoteweave.generation.gate.amounts import Amount, read_amounts
from quoteweave.generation.gate.dates import MONTHS, is_of_date
from quoteweave.generation.gate.facts import normalize_notation
from quoteweave.generation.relevance import WeighedQuestion, coverage

SCALES = (Decimal(1), Decimal(1000), Decimal(1_000_000))
"""Factors between tables: one may be in thousands, and another in millions."""
MIN_ROUNDED = 10
"""The least number that may be in thousands or millions."""
MIN_BEGUN = 4
"""The least number of words of a cell that is the beginning of another."""

_MONTHS = "|".join(MONTHS)
_DAY = rf"(?:(?:{_MONTHS})\s+\d|\d{{1,2}}\.?\s+(?:{_MONTHS})|\d{{1,2}}[./]\d{{1,2}}[./]\d)"
_ON_A_DAY = lazy_regex(rf"\b(?:on|at|as of)\s+(?:the\s+)?{_DAY}", re.IGNORECASE)
_PERIOD = lazy_regex(r"\b(?:ended|ending)\b", re.IGNORECASE)


def split_by_agreement(
    answering: Sequence[Statement], competing: Sequence[Statement], weighed: WeighedQuestion
) -> tuple[list[Statement], list[Statement]]:
    """Return the statements that answer, and those whose cells are contradicted by others of the same document.

    `competing` are cells that do not answer, but are in a row of the same name; several rows of a table may have it. In
    the second list, those that are more likely meant come first.
    """
    differing = list[Statement]()
    remaining = [*(statement for statement in answering if statement.rows), *competing]
    while remaining:
        group = _with_same_rows(remaining[0], remaining)
        remaining = [statement for statement in remaining if not _is_among(statement, group)]
        if not _agree(group):
            likely = _likeliest(group, weighed)
            agreed = _agree(likely) and any(_is_among(statement, answering) for statement in likely)
            differing += [
                statement
                for statement in (*likely, *group)
                if not (_is_among(statement, differing) or (agreed and _is_among(statement, likely)))
            ]
    sure = [statement for statement in answering if not _is_among(statement, differing)]
    return [statement for statement in sure if not _is_cut(statement, sure)], differing


def _is_among(statement: Statement, group: Sequence[Statement]) -> bool:
    return any(statement is member for member in group)


def _with_same_rows(first: Statement, statements: Sequence[Statement]) -> list[Statement]:
    """The statements of the first one's document that have a row of the same name."""
    names = {row.naming_words for row in first.rows}
    of_document = (statement for statement in statements if statement.document == first.document)
    return [statement for statement in of_document if any(row.naming_words in names for row in statement.rows)]


def _agree(group: Sequence[Statement]) -> bool:
    """Whether rows of the same name have the same values, as far as both have some."""
    by_name: dict[frozenset[str], list[FoundRow]] = {}
    for row in (row for statement in group for row in statement.rows if row.cells):
        by_name.setdefault(row.naming_words, []).append(row)
    return all(_have_same_cells(rows[0], other) for rows in by_name.values() for other in rows[1:])


def _have_same_cells(first: FoundRow, second: FoundRow) -> bool:
    fewer, more = sorted(([cell for _, cell in row.cells] for row in (first, second)), key=len)
    return all(any(_are_same_value(cell, other_cell) for other_cell in more) for cell in fewer)


def _are_same_value(first_cell: str, second_cell: str) -> bool:
    """Whether two cells have the same words or the same number, which one of them may have rounded or scaled.

    One text may lack its end, in a part of a table whose cell goes on in the next line.
    """
    first_amounts, second_amounts = (read_amounts(normalize_notation(cell)) for cell in (first_cell, second_cell))
    if _begins(first_cell, second_cell) or _begins(second_cell, first_cell):
        return True
    if len(first_amounts) != 1 or len(second_amounts) != 1:
        return words(first_cell) == words(second_cell)
    return _rounds_to(first_amounts[0], second_amounts[0]) or _rounds_to(second_amounts[0], first_amounts[0])


def _begins(beginning: str, cell: str) -> bool:
    """Whether a cell of words begins another."""
    first, second = words(beginning, keep_stop_words=True), words(cell, keep_stop_words=True)
    return MIN_BEGUN <= len(first) < len(second) and second[: len(first)] == first


def _is_cut(statement: Statement, statements: Sequence[Statement]) -> bool:
    """Whether the cells of a statement are the beginnings of those of another of its document."""
    cells = [cell for _, cell in statement.cells]
    of_document = (other for other in statements if cells and other.document == statement.document)
    wholes = ([cell for _, cell in other.cells] for other in of_document)
    return any(len(whole_cells) == len(cells) and all(map(_begins, cells, whole_cells)) for whole_cells in wholes)


def _rounds_to(exact: Amount, rounded: Amount) -> bool:
    if exact.value == rounded.value:
        return True
    scales = SCALES if rounded.value >= MIN_ROUNDED else SCALES[:1]
    steps = ((scale, scale * rounded.step) for scale in scales)
    return any(step > exact.step and abs(exact.value - scale * rounded.value) * 2 <= step for scale, step in steps)


def _likeliest(group: Sequence[Statement], weighed: WeighedQuestion) -> list[Statement]:
    """The statements whose table's head fits the day asked for, and of these, those whose titles say most.

    If these differ, those whose title has the name of their row.
    """
    if _ON_A_DAY.search(weighed.terms.text):
        group = [statement for statement in group if not _is_of_period(statement)] or group
    named_words = {word for statement in group for row in statement.rows for word in row.naming_words}
    weights = weighed.weights.items()
    other_weights = {word: weight for word, weight in weights if not (word in named_words or is_of_date(word))}
    worth = [coverage(other_weights, _names_around(statement)) for statement in group]
    best = [statement for statement, value in zip(group, worth, strict=True) if value >= max(worth)]
    titled = [answer for answer in best if any(row.naming_words <= _names_around(answer) for row in answer.rows)]
    return best if _agree(best) else titled or best


def _is_of_period(statement: Statement) -> bool:
    """Whether the head or the title of a table names periods, and not days: "52 weeks ended August 30, 2020"."""
    quote = statement.quote
    head = " ".join(map(" ".join, read_rows(head_line(quote))))
    return _PERIOD.search(f"{quote.caption or ''}\n{head}") is not None


def _names_around(statement: Statement) -> set[str]:
    """The words of the titles above a table, and of the names of the columns that its cells are in."""
    quote = statement.quote
    return set(words("\n".join([quote.caption or "", quote.section or "", *statement.column_names])))
