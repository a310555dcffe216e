"""Match the names of a table's rows and columns with the words of a question."""

import re
from calendar import monthrange
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import AnswerType, interrogative_words, request_words, words_alike
from quoteweave.core.text.question_words import Quantity, verbs_of
from quoteweave.core.text.tokens import has_digit, words
from quoteweave.core.text.units import Unit, find_unit
from quoteweave.generation.extractive.tables.heads import YEAR, Rows
from quoteweave.generation.gate.dates import Date, extract_dates, is_of_date, months_within
from quoteweave.generation.relevance import CALENDAR_YEAR, FISCAL_YEAR, YEAR_PATTERN, QuestionTerms, coverage

LEAP_YEAR = 2024
"""In which a date without a year is looked up, so that 29 February is one."""
UNIT = lazy_regex(r"\s*\([^()]{1,20}\)\s*$")
OTHER = "other"
"""A stop word that counts as a word of the question if it asks for other things."""
FISCAL = "fiscal"
"""Added to the words of a question that asks for a fiscal year, not a calendar year: "FY2021"."""
TOTAL = lazy_regex(r"\W*(?:(?:sub-?|grand )?totals?|sums?|gesamt|summe|insgesamt)\b", re.IGNORECASE)
"""The beginning of the name of a row or column of totals."""
TOTAL_ALONE = lazy_regex(rf"{TOTAL.pattern}\W*", re.IGNORECASE)
"""A name that consists of such a word alone."""
SPAN = lazy_regex(r"\W*((?:1[5-9]|20)\d\d)\s*[-–—]\s*((?:1[5-9]|20)\d\d)\W*")
"""A span from one year to another."""
_TOTALS = frozenset(words("total subtotal sum"))
_NOTE = lazy_regex(r"(?<=\S)(?:\s*\(\d{1,2}\))+$")
_OTHER = lazy_regex(rf"\b{OTHER}\b", re.IGNORECASE)
_ROMAN = lazy_regex("[ivx]+")
_LETTER = lazy_regex(r"\s*[A-Z][+−–-]?\s*")
_BRACKETED_LETTER = lazy_regex(r"\(([A-Z])\)\s*$")
_SINGLE_LETTER = lazy_regex(r"\s[A-HJ-Z](?!\w)")  # not "I", the pronoun
_OF_MEASURES = frozenset({"amount", "statement", "definition"})  # "What is the power of the pump?"
_TIMES = frozenset({"time", "months", "nights"})
SIZE = lazy_regex(r"\s+\d[\d.,]*\s?[^\W\d_]{1,5}$")
"""The size of a thing behind its name: "25 m"."""
# What follows the name of a thing: a description, the thing's code ("FD30"), or its size.
_DESCRIPTION = lazy_regex(rf"\s*(?:[,;(–—]|\s-\s).*$|\s+(?=[^\s,;(\d]*[A-Z])(?=[^\s,;(]*\d)[^\s,;(]+|{SIZE.pattern}")
_GROUP = lazy_regex(r"\b(?:the|each)\s+(?P<name>[\w-]+)\s+(?P<group>group|arm|cohort)s?\b", re.IGNORECASE)
_FROM_TO = lazy_regex(r"\((?![^()]*(?:19|20)\d\d)[^()]*\d[^()]*\)\s*$")
_ONE = frozenset({"one", "1"})
_WHO_DID = lazy_regex(r"\bwho\s+(?:(?:is|are|was|were|will|has|have|can|may|must)\s+)?(\w+)", re.IGNORECASE)
_END_OF = lazy_regex(r"\bend\s+of\s+$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AskedCells:
    """What a question says about the cells that it asks for."""

    words: Collection[str]
    """Its words, with OTHER if it asks for other things, and FISCAL if it asks for a fiscal year."""
    weights: Mapping[str, float]
    """The weights of these words."""
    quantity: Quantity | None = None
    title_words: Collection[str] = ()
    """The words of the table's title."""
    dates: Collection[Date] = ()
    text: str = ""
    """The question itself."""
    asks: AnswerType = "statement"
    """The kind of answer that it asks for, as a price does not tell how many there are."""
    words_above: Collection[str] = ()
    """The words of the heading above the table and of its document's name, of which its totals are."""

    @property
    def in_rows(self) -> set[str]:
        """The words with which it may name rows."""
        return set(self.words).union(self.quantity.in_rows if self.quantity else ()) - {FISCAL}


def chosen_rows(header: Sequence[str], rows: Rows, question: AskedCells) -> list[Sequence[str]]:
    """The rows that the question names; those that the table's title names, too, only if there is no other."""
    row_words, title_words = question.in_rows, question.title_words
    named_words = {*title_words, *question.words_above, *words(" ".join(header))}
    nouns = _nouns(question) if question.dates else frozenset[str]()
    rows = [
        row
        for row in rows
        if not _is_another_letter(row[0], question.text)
        and not (question.dates and _is_date(row[0]) and not _is_dated_as_asked(row, question, nouns, named_words))
    ]
    names = [name_of_row(row[0]) for row in rows]
    row_words |= _measuring_words([row[0] for row in rows], question)
    best = best_matching_names([row[0] for row in rows], row_words, question.weights, least=1.0)
    best = best or _of_span(rows, row_words) or _of_months(rows, row_words)
    best = best or only([at for at, row in enumerate(rows) if dated_words(row[0], question)])
    best = best or _only_described(header, rows, question)
    besides = [
        at
        for at, name in enumerate(names)
        if at not in best
        and name
        and name.issubset(row_words)
        and not is_of_others(rows[at][0], row_words)
        and not any(name <= names[chosen] for chosen in best)
    ]
    if besides and all(names[at].issubset(title_words) for at in best):
        best = []
    if any(TOTAL_ALONE.fullmatch(rows[at][0]) for at in best) and not _are_of(row_words, named_words):
        return []  # a total of other things
    chosen = [rows[at] for at in sorted((*best, *besides))]
    return _row_with_stated_cell(_measuring(chosen, rows, question.quantity), row_words)


def _measuring(chosen: list[Sequence[str]], rows: Rows, quantity: Quantity | None) -> list[Sequence[str]]:
    """The chosen rows without those whose unit in brackets measures something other than what is asked for.

    "How heavy is the tank?" is answered by "Tank (kg)" beside "Tank (litres)", but not by the weight of the whole.
    """
    dimensions = quantity.dimensions if quantity else ()
    rows_of_others = [
        row for row in rows if dimensions and (unit := _unit_of(row[0])) and unit.dimension not in dimensions
    ]
    names = {UNIT.sub("", row[0]) for row in rows_of_others}
    named_rows = [row for row in chosen if UNIT.sub("", row[0]) in names]
    return [row for row in named_rows if row not in rows_of_others] if named_rows else chosen


def _measuring_words(names: Sequence[str], question: AskedCells) -> frozenset[str]:
    """The words of the units in brackets that may measure what is asked for: "kg" of "Weight (kg)", for "how heavy".

    Not of those that tell apart rows with the same name, as "Room (hour)" and "Room (day)", nor of a time, which may
    say what a price is for, unless a time is asked for.
    """
    if question.quantity is None and question.asks not in _OF_MEASURES:
        return frozenset()
    times = Counter(UNIT.sub("", name) for name in names)
    return frozenset(
        word
        for name in names
        if times[UNIT.sub("", name)] == 1
        and (unit := _unit_of(name)) is not None
        and (question.quantity is None or unit.dimension in question.quantity.dimensions)
        and (question.quantity is not None or unit.dimension not in _TIMES)
        and (bracket := UNIT.search(name)) is not None
        for word in words(bracket[0])
    )


def _unit_of(name: str) -> Unit | None:
    """The unit in brackets behind a name, if there is one: "Gas (m3)"."""
    bracket = UNIT.search(name)
    return None if bracket is None else find_unit(bracket[0].strip(" ()"))


def _is_another_letter(name: str, question: str) -> bool:
    """Whether a name is a single letter, such as a grade, other than the question's: "B" or "B-", of "B+".

    Or ends with one in brackets: "Vitamin (C)", for a question on vitamin A.
    """
    in_brackets = _BRACKETED_LETTER.search(name) if _SINGLE_LETTER.search(question) else None
    letter = in_brackets[1] if in_brackets else name
    return _LETTER.fullmatch(letter) is not None and not (
        re.search(rf"(?<![\w+−–-]){re.escape(letter.strip())}(?![\w+−–-])", question, re.IGNORECASE) or not question
    )


def _is_date(name: str) -> bool:
    """Whether a name is a date, and nothing else."""
    return any(date.text == name.strip() for date in extract_dates(name)[0])


def _nouns(question: AskedCells) -> frozenset[str]:
    """The words of a question without its verbs, dates and words that only ask."""
    verbs = verbs_of(question.text).union(words(" ".join(_WHO_DID.findall(question.text))))
    return frozenset(word for word in question.words if not is_of_date(word)) - interrogative_words() - verbs


def _is_dated_as_asked(
    row: Sequence[str], question: AskedCells, nouns: Collection[str], named_words: Collection[str]
) -> bool:
    """Whether a row named by a date, or its table, has the nouns of the question, such as "hotel", on that day.

    A month is not named by one of its days: "on 1 December 2025".
    """
    months = {date.month for date in extract_dates(row[0])[0] if date.day is None}
    if any(date.day is not None and date.month in months for date in question.dates):
        return False
    row_words = {*named_words, *request_stems(), *words(" ".join(row))}
    return all(word in row_words or not words_alike(word).isdisjoint(row_words) for word in nouns)


def spans_year(name: str, years: Collection[str]) -> bool:
    """Whether the name of a row is a span of years that holds the only one of `years`: "1959–1983" for 1960."""
    span = SPAN.fullmatch(name)
    return span is not None and len(years) == 1 and all(int(span[1]) <= int(year) <= int(span[2]) for year in years)


def dated_words(name: str, question: AskedCells) -> frozenset[str]:
    """The question's words for a day or month that is the name of a row: "the end of January", for "2026-01-31".

    A month is no day: what was used in January is not what was read on one of its days.
    """
    dates = extract_dates(name)[0]
    if len(dates) != 1 or len(question.dates) != 1 or not _is_date(name):
        return frozenset()
    (row_date,), (question_date,) = dates, question.dates
    date_words = frozenset(filter(is_of_date, question.words)) - (set() if row_date.year else {str(question_date.year)})
    at_end = _END_OF.search(question.text[: question.text.find(question_date.text)]) is not None
    is_last = at_end and row_date.day == monthrange(row_date.year or LEAP_YEAR, row_date.month)[1]
    is_alike = (row_date.day is None) == (question_date.day is None) or is_last
    return date_words if is_alike and question_date.confirmed_by(row_date) else frozenset()


def group_words(header: Sequence[str], question: str) -> frozenset[str]:
    """The question's "group" behind the name of a column, which that name need not have: "the placebo group"."""
    names = [set(words(name)) for name in header]
    groups = (match for match in _GROUP.finditer(question) if set(words(match["name"])) in names)
    return frozenset(word for match in groups for word in words(match["group"]))


def _of_span(rows: Rows, question_words: Collection[str]) -> list[int]:
    """The only row whose name is a span of years that holds the year asked for."""
    return only([at for at, row in enumerate(rows) if spans_year(row[0], years_in(question_words))])


def _only_described(header: Sequence[str], rows: Rows, question: AskedCells) -> list[int]:
    """The only row of the thing asked for, if its name describes the thing further: "Fire door FD30, ash veneer".

    Besides the thing, the question may say what a column says, in any words.
    """
    question_words, header_words = set(question.words) - {FISCAL}, set(words(" ".join(header)))
    measured = question.quantity.asked_by if question.quantity else ()
    subject_words = {
        word for word in question_words if word not in header_words and words_alike(word).isdisjoint(header_words)
    } - _ONE
    subject_words -= interrogative_words() | request_stems() | {*words(" ".join(measured))}
    subject_words -= group_words(header, question.text)
    described = [
        at
        for at, row in enumerate(rows)
        if not is_of_others(row[0], question_words)
        and (thing_words := name_of_row(name_without_description(row[0])))
        and thing_words <= subject_words <= name_of_row(row[0])
    ]
    return only(described)


def _of_months(rows: Rows, question_words: Collection[str]) -> list[int]:
    """The only row whose name is a span of months that holds the month asked for: "June to August", for July."""
    return only([at for at, row in enumerate(rows) if not months_within(row[0]).isdisjoint(question_words)])


def only(places: list[int]) -> list[int]:
    """The place of a row or column, if there is one alone; else none."""
    return places if len(places) == 1 else []


def name_without_description(name: str) -> str:
    """The name of a row without what describes the thing further."""
    return _DESCRIPTION.sub("", name)


def _row_with_stated_cell(rows: list[Sequence[str]], question_words: Collection[str]) -> list[Sequence[str]]:
    """Of rows with the same name, the only one with another cell that the question has, with a number: "by 5 April"."""
    if len(rows) < 2 or len({row[0] for row in rows}) > 1:
        return rows
    matching_rows = [row for row in rows if any(is_stated_cell(cell, question_words) for cell in row[1:])]
    return matching_rows if len(matching_rows) == 1 else rows


def is_stated_cell(cell: str, question_words: Collection[str]) -> bool:
    """Whether a question says all of a cell that has a number and a word: "22 February"."""
    cell_words = set(words(cell))
    return len(cell_words) > 1 and cell_words.issubset(question_words) and has_digit(cell)


def years_in(question_words: Collection[str]) -> set[str]:
    """Those of the words that are years."""
    return {word for word in question_words if YEAR.fullmatch(word)}


def _are_of(question_words: Collection[str], named_words: Collection[str]) -> bool:
    """Whether words that name something include those of a question, except years, totals and words that only ask."""
    subject_words = (
        {word for word in question_words if not TOTAL_ALONE.fullmatch(word)}
        - years_in(question_words)
        - {OTHER}
        - _TOTALS
    )
    return subject_words - interrogative_words() - request_stems() <= {*named_words}


def best_matching_names(
    names: Sequence[str], question_words: Collection[str], weights: Mapping[str, float], *, least: float
) -> list[int]:
    """Indices of the names that match the question best, in order."""
    worth = dict[int, float]()
    with_alike = {*question_words, *(alike_word for word in question_words for alike_word in words_alike(word))}
    # "Senior (65+)" matches a question for a senior, unless a number tells which one.
    bare = least < 1 and not any(has_digit(word) and not YEAR.fullmatch(word) for word in question_words)
    for at, name in enumerate(names):
        words_of_name = name_of_row(name)
        common = words_of_name.intersection(question_words)
        # "Wave I" does not match a question for Wave III, nor does "Q3 2022" match one for 2023.
        numbered = (
            name_of_row(UNIT.sub("", name)) if _unit_of(name) or (bare and _FROM_TO.search(name)) else words_of_name
        )
        numbers = any(has_digit(word) or _ROMAN.fullmatch(word) for word in numbered - common)
        # "Maximum flow" has all of "Max. flow (l/min)".
        has_all_words = least < 1 and name_of_row(UNIT.sub("", name)) <= with_alike
        enough = len(common) >= least * len(words_of_name) or has_all_words
        if common and not numbers and not is_of_others(name, question_words) and enough:
            worth[at] = coverage(weights, common) - 1e-3 * len(words_of_name - common)
    best = max(worth.values(), default=0.0)
    return [at for at, value in worth.items() if value >= 0.8 * best]  # all, if there are several, such as years


def is_of_others(name: str, question_words: Collection[str]) -> bool:
    """Whether a name is of other things than those asked for: "Other debt" does not match a question for debt."""
    return _OTHER.search(name) is not None and OTHER not in question_words


def name_of_row(name: str) -> frozenset[str]:
    """The words of a name without those that only ask ("number of"), where it has others, and the mark of a note."""
    name_words = frozenset(words(_NOTE.sub("", name)))
    return name_words - interrogative_words() - request_stems() or name_words


@cache
def request_stems() -> frozenset[str]:
    """The stems of words that only request an answer, and do not occur in it."""
    return frozenset(words(" ".join(request_words())))


def says_calendar_year(question: QuestionTerms, text: str) -> bool:
    """Whether the fiscal year that a question asks for is in a text as a calendar year alone, which is another one."""
    question_years = _years_in(FISCAL_YEAR, question.text)
    calendar_years, fiscal_years = _years_in(CALENDAR_YEAR, text), _years_in(FISCAL_YEAR, text)
    return not question_years.isdisjoint(calendar_years) and question_years.isdisjoint(fiscal_years)


def asks_fiscal_year(question: QuestionTerms) -> bool:
    """Whether a question asks for a fiscal year: "in fiscal 2021", "in FY2021", "in the fiscal years 2020 to 2022"."""
    return FISCAL_YEAR.search(question.text) is not None


def _years_in(pattern: re.Pattern[str], text: str) -> set[str]:
    """The years that are written after "fiscal" or "calendar"."""
    return {year for written in pattern.findall(text) for year in re.findall(YEAR_PATTERN, written)}
