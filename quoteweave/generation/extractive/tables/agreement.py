"""Compare tables that have rows of the same name: if they give different values, none of them is sure to be meant.

"Deferred revenue" stands in a balance sheet, and among the parts of deferred taxes; "Operating income" in the statement
of a company, and in that of one of its segments. The table whose head or title has more of the question is taken: "on
30 August" asks for no "52 weeks ended 30 August", and "of the International segment" asks for the table of that title.
If neither decides, the tables are shown as places to look at.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import words
from quoteweave.generation.extractive.statements import Statement, picture_text
from quoteweave.generation.extractive.tables.cells import FoundRow
from quoteweave.generation.extractive.tables.heads import read_rows
from quoteweave.generation.gate.amounts import Amount, read_amounts
from quoteweave.generation.gate.dates import MONTHS, is_of_date
from quoteweave.generation.gate.facts import normalize_notation
from quoteweave.generation.relevance import QuestionTerms, coverage

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
    answering: Sequence[Statement],
    competing: Sequence[Statement],
    question: QuestionTerms,
    weights: Mapping[str, float],
) -> tuple[list[Statement], list[Statement]]:
    """Return the statements that answer, and those whose cells are contradicted by others of the same document.

    `competing` are cells that do not answer, but are in a row of the same name; several rows of a table may have it. In
    the second list, those that are more likely meant come first. `weights` are of the question's words.
    """
    differing = list[Statement]()
    remaining = [*(one for one in answering if one.rows), *competing]
    while remaining:
        group = _with_same_rows(remaining[0], remaining)
        remaining = [one for one in remaining if not _in(one, group)]
        if not _agree(group):
            likely = _best(group, question, weights)
            agreed = _agree(likely) and any(_in(one, answering) for one in likely)
            differing += [
                one for one in (*likely, *group) if not (_in(one, differing) or (agreed and _in(one, likely)))
            ]
    sure = [one for one in answering if not _in(one, differing)]
    return [one for one in sure if not _is_cut(one, sure)], differing


def _in(statement: Statement, group: Sequence[Statement]) -> bool:
    return any(statement is one for one in group)


def _with_same_rows(first: Statement, statements: Sequence[Statement]) -> list[Statement]:
    """The statements of the first one's document that have a row of the same name."""
    names = {row.naming_words for row in first.rows}
    own = (one for one in statements if one.quote.document == first.quote.document)
    return [one for one in own if any(row.naming_words in names for row in one.rows)]


def _agree(group: Sequence[Statement]) -> bool:
    """Whether rows of the same name have the same values, as far as both have some."""
    by_name: dict[frozenset[str], list[FoundRow]] = {}
    for row in (row for one in group for row in one.rows if row.cells):
        by_name.setdefault(row.naming_words, []).append(row)
    return all(_same(rows[0], other) for rows in by_name.values() for other in rows[1:])


def _same(first: FoundRow, second: FoundRow) -> bool:
    few, many = sorted(([cell for _, cell in row.cells] for row in (first, second)), key=len)
    return all(any(_same_value(cell, given) for given in many) for cell in few)


def _same_value(one: str, other: str) -> bool:
    """Whether two cells have the same words or the same number, which one of them may have rounded or scaled.

    One text may lack its end, in a part of a table whose cell goes on in the next line.
    """
    first, second = (read_amounts(normalize_notation(cell)) for cell in (one, other))
    if _begins(one, other) or _begins(other, one):
        return True
    if len(first) != 1 or len(second) != 1:
        return words(one) == words(other)
    return _rounds_to(first[0], second[0]) or _rounds_to(second[0], first[0])


def _begins(one: str, other: str) -> bool:
    """Whether a cell of words begins another."""
    first, second = words(one, keep_stop_words=True), words(other, keep_stop_words=True)
    return MIN_BEGUN <= len(first) < len(second) and second[: len(first)] == first


def _is_cut(statement: Statement, others: Sequence[Statement]) -> bool:
    """Whether the cells of a statement are the beginnings of those of another of its document."""
    own = [cell for row in statement.rows for _, cell in row.cells]
    of_document = (one for one in others if own and one.quote.document == statement.quote.document)
    wholes = ([cell for row in one.rows for _, cell in row.cells] for one in of_document)
    return any(len(whole) == len(own) and all(map(_begins, own, whole)) for whole in wholes)


def _rounds_to(exact: Amount, rounded: Amount) -> bool:
    if exact.value == rounded.value:
        return True
    scales = SCALES if rounded.value >= MIN_ROUNDED else SCALES[:1]
    steps = ((scale, scale * rounded.step) for scale in scales)
    return any(step > exact.step and abs(exact.value - scale * rounded.value) * 2 <= step for scale, step in steps)


def _best(group: Sequence[Statement], question: QuestionTerms, weights: Mapping[str, float]) -> list[Statement]:
    """The statements whose table's head fits the day asked for, and of these, those whose titles say most.

    If these differ, those whose title has the name of their row.
    """
    if _ON_A_DAY.search(question.text):
        group = [one for one in group if not _is_of_period(one)] or group
    named = {word for one in group for row in one.rows for word in row.naming_words}
    rest = {word: weight for word, weight in weights.items() if not (word in named or is_of_date(word))}
    worth = [coverage(rest, _names_around(one)) for one in group]
    best = [one for one, value in zip(group, worth, strict=True) if value >= max(worth)]
    titled = [one for one in best if any(row.naming_words <= _names_around(one) for row in one.rows)]
    return best if _agree(best) else titled or best


def _is_of_period(statement: Statement) -> bool:
    """Whether the head or the title of a table names periods, and not days: "52 weeks ended August 30, 2020"."""
    quote = statement.quote
    head = picture_text(quote).partition("\n")[0]
    return _PERIOD.search(f"{quote.caption or ''}\n{' '.join(map(' '.join, read_rows(head)))}") is not None


def _names_around(statement: Statement) -> set[str]:
    """The words of the titles above a table, and of the names of the columns that its cells are in."""
    quote = statement.quote
    columns = (name for row in statement.rows for name, _ in row.cells)
    return set(words("\n".join([quote.caption or "", quote.section or "", *columns])))
