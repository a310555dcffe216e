"""Find the columns of a table that a question asks for, in rows that it names."""

import re
from collections.abc import Collection, Sequence

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import AnswerType, words_alike
from quoteweave.core.text.question_words import Quantity
from quoteweave.core.text.tokens import has_digit, words
from quoteweave.core.text.units import dimensions_in
from quoteweave.generation.extractive.tables.asked_names import (
    FISCAL,
    SPAN,
    TOTAL_ALONE,
    AskedCells,
    best_matching_names,
    is_stated_cell,
    name_of_row,
    years_in,
)
from quoteweave.generation.extractive.tables.heads import EMPTY, Rows
from quoteweave.generation.gate.dates import Date, extract_dates

MAX_WHOLE_ROW = 4
"""The most columns of a table whose rows are shown whole."""
COUNTS = lazy_regex(
    r"\W*(?:quantit(?:y|ies)|qty|pieces|pcs|count|number|no\. of \w+|anzahl|menge|stück)\W*", re.IGNORECASE
)
"""The name of a column that says how many of a thing there are."""
PLACES = lazy_regex(
    r"\W*(?:storage|location|place|room|site|venue|where|address|hall|building|shelf|town|city|destination|ort|raum|standort|lagerung)\W*",
    re.IGNORECASE,
)
"""The name of a column that says where a thing is."""
MONEY = lazy_regex(r"[$€£¥]|\b(?:euros?|dollars?|pounds?|francs?|EUR|USD|GBP|CHF)\b", re.IGNORECASE)
"""What shows that a cell is an amount of money."""
_ASKS_NO_DOER = lazy_regex(
    r"\W*who(?:\s+\w+)?\s+(?:is|are|was|were|be|been|being)\s+(?!\w+ing\b)|\W*(?!who\b)", re.IGNORECASE
)
DOER = lazy_regex(r"(?:the\s+)?(\w{3,})(?:er|or)s?(?:\s+names?)?", re.IGNORECASE)
"""The name of a column for who does something."""
_DONE_BY = lazy_regex(r"\W*\w+\s+by\W*", re.IGNORECASE)
_ASKS_USED = lazy_regex(
    r"\bhow\s+much\b(?!.*\b(?:money|budget|funds?|credit|costs?)\b).*\b(?:use[ds]?|consum(?:e[ds]?|ption)|need(?:s|ed)?)\b",
    re.IGNORECASE,
)
_CALENDAR = lazy_regex(r"\bcalendar\b", re.IGNORECASE)


def asked_columns(header: Sequence[str], rows: Rows, question: AskedCells) -> list[int]:
    """The columns that a question asks for, of these rows; without those of calendar years if it asks for fiscal ones.

    Empty if nothing tells which columns are meant.
    """
    question_words, weights = question.words, question.weights
    words_but_fiscal = set(question_words) - {FISCAL}
    besides = _besides_names(words_but_fiscal, rows)
    names = _without_doers(header, question)
    named = [1 + at for at in best_matching_names(names[1:], besides, weights, least=0.5)]
    alike = [] if question.asks == "count" else _columns_alike(names, besides)
    if question.asks == "money" and alike and any(" per " in header[at] for at in named):
        named = alike  # "Seeds per packet" does not tell what a packet costs, where "Price" does
    columns = (
        named
        or alike
        or _columns_of_kind(header, rows, question.asks)
        or _columns_of_doers(header, question)
        or _columns_of_dates(header, question.dates)
        or _columns_of_years(header, words_but_fiscal)
        or _columns_beside_stated_cell(header, rows, words_but_fiscal)
        or _columns_of_numbers(rows, words_but_fiscal)
        or _columns_of_quantity(header, rows, question.quantity)
        or _columns_of_totals(header)
        or _only_filled(rows)
    )
    of_fiscal = [at for at in columns if at >= len(header) or not _CALENDAR.search(header[at])]
    return of_fiscal if FISCAL in question_words and of_fiscal else columns


def are_other_amounts(header: Sequence[str], rows: Rows, columns: Collection[int], question: AskedCells) -> bool:
    """Whether columns have another amount than is asked for: what a thing costs is not how much of it was used.

    Nor is the price of a packet that of a seed, if there is a column "Seeds per packet".
    """
    names = [header[at] if at < len(header) else "" for at in columns]
    cells = [cell_of(row, at) for row in rows for at in columns]
    if _ASKS_USED.search(question.text):
        return any(map(MONEY.search, [*names, *cells]))
    in_table = [*header, *(cell for row in rows for cell in row)]
    is_priced = any(map(MONEY.search, [*names, *cells])) or not any(map(MONEY.search, in_table))
    counted = (name.partition(" per ")[0] for name in header if " per " in name and not (is_priced and name in names))
    return question.asks == "money" and not set(words(" ".join(counted))).isdisjoint(question.words)


def _without_doers(header: Sequence[str], question: AskedCells) -> list[str]:
    """The names of columns, without those of who did something, unless a person is asked for: "Read by"."""
    return ["" if question.asks != "person" and _DONE_BY.fullmatch(name) else name for name in header]


def _besides_names(question_words: Collection[str], rows: Rows) -> set[str]:
    """The question's words, without those that name rows: "operating income" asks for no column "U.S. Operations"."""
    naming = {word for row in rows for word in name_of_row(row[0]) if not has_digit(word)}
    return set(question_words) - naming


def all_columns(rows: Rows, chosen: Rows) -> list[int]:
    """All columns but the first, if the table has few of them and the chosen rows have names; otherwise none."""
    width = max((len(row) for row in rows), default=0)
    named = any(SPAN.fullmatch(row[0]) or any(map(str.isalpha, row[0])) for row in chosen)
    return list(range(1, width)) if named and width <= MAX_WHOLE_ROW else []


def _columns_alike(header: Sequence[str], question_words: Collection[str]) -> list[int]:
    """The only column whose name says a word of the question in another way: "Price", for what something costs."""
    names = [frozenset(words(name)) for name in header]
    alike = frozenset[str]().union(*map(words_alike, question_words))
    columns = [at for at, name_words in enumerate(names) if at and not alike.isdisjoint(name_words)]
    return columns if len(columns) == 1 else []


def _columns_of_kind(header: Sequence[str], rows: Rows, asks: AnswerType) -> list[int]:
    """The only column that says how many there are or where something is, by its name, or that has dates or prices."""
    if asks in {"date", "money"}:
        has_kind = MONEY.search if asks == "money" else lambda cell: extract_dates(cell)[0]
        of_kind = [at for at in range(1, len(header)) if all(has_kind(cell_of(row, at)) for row in rows)]
        return of_kind if rows and len(of_kind) == 1 else []
    kind = COUNTS if asks == "count" else PLACES if asks == "place" else None
    columns = [at for at, name in enumerate(header) if kind and at and kind.fullmatch(name)]
    return columns if len(columns) == 1 else []


def _columns_of_doers(header: Sequence[str], question: AskedCells) -> list[int]:
    """The only column that names who does what the question says, if it asks who: "Preacher", of "Who preaches?"."""
    columns = [at for at, name in enumerate(header) if at and acts_of_doer(name, question.text, question.words)]
    return columns if question.asks == "person" and len(columns) == 1 else []


def acts_of_doer(name: str, question: str, question_words: Collection[str]) -> frozenset[str]:
    """The question's words for the act of the doer in a column's name, as "won" for "Winner"; all are stems.

    Empty if the question asks to whom something is done: "Trainer" does not answer "Who was trained?".

    >>> acts_of_doer("Winner", "Who won in 1990?", ["won", "1990"])
    frozenset({'won'})
    """
    doer = DOER.fullmatch(name)
    if doer is None or _ASKS_NO_DOER.match(question):
        return frozenset()
    acts = frozenset(words(f"{doer[1]} {doer[1]}e {doer[1][:-1]}"))
    return frozenset(word for word in question_words if not acts.isdisjoint({word, *words_alike(word)}))


def _columns_beside_stated_cell(header: Sequence[str], rows: Rows, question_words: Collection[str]) -> list[int]:
    """All columns, if the question says all of one cell: what is to be done "by 5 April".

    Empty if the others hold no words, or are many.
    """
    if len(rows) != 1 or not header or len(rows[0]) > MAX_WHOLE_ROW:
        return []
    filled = [at for at in range(1, len(rows[0])) if cell_of(rows[0], at)]
    other_columns = [at for at in filled if not is_stated_cell(rows[0][at], question_words)]
    in_words = all(sum(word.isalpha() for word in rows[0][at].split()) > 1 for at in other_columns)
    return filled if len(filled) - len(other_columns) == 1 and in_words else []


def _only_filled(rows: Rows) -> list[int]:
    """The only column in which the only row has a cell, such as a total below several columns."""
    filled = [at for at in range(1, len(rows[0])) if cell_of(rows[0], at)] if len(rows) == 1 else []
    return filled if len(filled) == 1 and len(rows[0]) > 2 else []


def _columns_of_dates(header: Sequence[str], dates: Collection[Date]) -> list[int]:
    """The columns whose heading is a day of the question: "31.3.2003" for "March 31, 2003"."""
    days = {(month, day, date.year) for date in dates for month, day in date.readings() if day and date.year}
    return [
        at
        for at, name in enumerate(header)
        if at and any((date.month, date.day, date.year) in days for date in extract_dates(name)[0])
    ]


def _columns_of_years(header: Sequence[str], question_words: Collection[str]) -> list[int]:
    """The columns whose heading is a date in a year of the question: "52 Weeks Ended August 30, 2020".

    Empty if a year is in several headings, or in none.
    """
    years = years_in(question_words)
    columns = [[at for at, name in enumerate(header) if at and year in words(name)] for year in years]
    return sorted(at for (at,) in columns) if all(len(columns_of_year) == 1 for columns_of_year in columns) else []


def _columns_of_numbers(rows: Rows, question_words: Collection[str]) -> list[int]:
    """The columns, except the first, that contain a number of the question."""
    numbers = {word for word in question_words if has_digit(word)}
    return sorted({at for row in rows for at, cell in enumerate(row) if at and numbers.intersection(words(cell))})


def _columns_of_quantity(header: Sequence[str], rows: Rows, quantity: Quantity | None) -> list[int]:
    """The columns named after a quantity; else the only one with its units, or with a name that rows of it have."""
    if quantity is None or not rows:
        return []
    named_columns = [at for at, name in enumerate(header) if at and not quantity.named.isdisjoint(words(name))]
    measuring = [
        at for at in range(1, min(map(len, rows))) if all(quantity.dimensions & dimensions_in(row[at]) for row in rows)
    ]
    as_rows = [at for at, name in enumerate(header) if at and not quantity.in_rows.isdisjoint(words(name))]
    return named_columns or next((columns for columns in (measuring, as_rows) if len(columns) == 1), [])


def _columns_of_totals(header: Sequence[str]) -> list[int]:
    """The only column named "Total", which is the total of all others."""
    totals = [at for at, name in enumerate(header) if at and TOTAL_ALONE.fullmatch(name)]
    return totals if len(totals) == 1 else []


def cell_of(row: Sequence[str], column: int) -> str:
    """The cell of a row in a column; "" where it has none, or one that is marked as empty."""
    return row[column] if column < len(row) and row[column] not in EMPTY else ""
