"""Compute answers from a table's numbers: the highest or lowest, a difference, ratio or sum, or those beyond a limit.

Nothing is computed unless it is certain which cells are meant: the question names their rows or columns, they have one
number each, and all have one unit. The result shows the numbers that it was computed from.
"""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import (
    Calculation,
    Extreme,
    Threshold,
    interrogative_words,
    with_words_alike,
    words_alike,
)
from quoteweave.core.text.question_words import question_languages, verbs_of
from quoteweave.core.text.tokens import RAISED, words
from quoteweave.core.text.units import Unit
from quoteweave.generation.answer_text import join_with_and
from quoteweave.generation.extractive.tables.asked_columns import cell_of
from quoteweave.generation.extractive.tables.asked_names import UNIT
from quoteweave.generation.extractive.tables.column_units import is_unit_of_heading, limit_with_unit
from quoteweave.generation.extractive.tables.heads import EMPTY, Rows, parts_of, read_rows, without_numbering
from quoteweave.generation.extractive.tables.row_lookup import PERSON
from quoteweave.generation.gate.amounts import read_amounts
from quoteweave.generation.gate.dates import RECENT_YEAR
from quoteweave.generation.gate.facts import normalize_notation
from quoteweave.generation.relevance import QuestionTerms, says_all

MIN_ROWS = 3
"""The least number of rows to find the highest or lowest, or those beyond a limit."""
MAX_SHOWN = 8
"""The most numbers that are shown with a result."""
_SMALL_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight")

_TOTAL = lazy_regex(
    r"\b(?:(?:sub-?)?totals?|sums?|all|overall|average|mean|median|gesamt|summe|insgesamt)\b", re.IGNORECASE
)
_SUM = lazy_regex(r"\b(?:totals?|sums?|all|gesamt|summe|insgesamt)\b", re.IGNORECASE)
_PART_OF_ROW = lazy_regex(
    r"\W*(?:of\s+which|of\s+that|thereof|therein|davon|darunter|dont|de\s+los\s+cuales|di\s+cui)\b", re.I
)
# A number and what it counts, and nothing else: `<5`, `.5` and `6 to 7` are not certain.
_CELL = lazy_regex(
    r"(?P<sign>[-−–+(]{0,2})\s*[$€£¥]?\s*(?P<inner>[-−–(]{0,2})\s*\d[\d.,' ]*\s*"
    rf"(?:%|[$€£¥]|°?[^\W\d_]{{1,12}}[²³]?)?\s*\)?[{RAISED}]*"
)
_SCALED = lazy_regex(r"\bin\s+(?:thousands|millions|billions|bn|mn|000s?)\b|\bthousands?\b", re.IGNORECASE)
_SCALE_WORDS = frozenset(words("thousand million billion"))
_OF_SUMS = ("count", "amount", "money")
_OF_LIMITS = ("statement", "date", "place", "count", "money", "amount")
# Of a whole column, or of so many rows: "the total budget for all cities", "the average weight of the three models".
_OVER_ALL = lazy_regex(
    r"\b(?:(?P<total>total|sum)|average|mean)\s+(?:[\w'’-]+\s+){1,4}?(?:of|for|across|over|in|at|from|by)\s+"
    rf"(?:all\s+(?:of\s+)?(?:the\s+)?|the\s+(?=(?:{'|'.join(map(re.escape, _SMALL_NUMBERS))}|\d+)\s))"
    rf"(?P<number>{'|'.join(map(re.escape, _SMALL_NUMBERS))}|\d+)?",
    re.IGNORECASE,
)
# The verb in "Which programme uses the most water?" adds nothing to the name of the column.
_HAS_MOST = lazy_regex(
    r"\b(scores?|scored|uses?|used|has|have|had|needs?|needed|takes?|took|consumes?|consumed|gets?|got|contains?|contained|requires?"
    r"|required)\s+(?:the\s+)?(?:most|least|fewest|highest|lowest|largest|smallest)\s+[^\W\d_]",
    re.IGNORECASE,
)
_MEASURES = {
    "expensive": "price", "cheapest": "price", "heaviest": "weight", "lightest": "weight", "longest": "length",
    "shortest": "length", "tallest": "height", "fastest": "speed", "slowest": "speed", "oldest": "age",
    "youngest": "age", "widest": "width", "deepest": "depth", "brightest": "brightness", "loudest": "noise",
    "quietest": "noise", "hottest": "temperature", "coldest": "temperature", "thickest": "thickness",
}  # fmt: skip
"""The measure by which one thing is "the heaviest" or the like of several."""
_MEASURED = lazy_regex(rf"\b(?:(?:most|least)\s+(?=expensive)|(?!expensive))({'|'.join(_MEASURES)})\b", re.IGNORECASE)
_PRICE = lazy_regex(r"([€$£¥₹]\s?)\d[\d.,]*")
_GROUPS = lazy_regex(
    r"\b(?:teams?|clubs?|groups?|squads?|countr(?:y|ies)|nations?|cit(?:y|ies)|towns?|places?|regions?|states?|schools?"
    r"|compan(?:y|ies)|firms?|part(?:y|ies)|ships?|boats?)\b",
    re.IGNORECASE,
)
# Rows of columns with these names may have a name of one word, or two names in reverse order.
_PERSONS = lazy_regex(
    r"\W*(?:players?|scorers?|athletes?|drivers?|riders?|runners?|swimmers?|rowers?|candidates?|members?|employees?|authors?"
    r"|students?|pupils?|artists?|persons?|winners?|volunteers?|spieler(?:in|innen)?)\W*",
    re.IGNORECASE,
)
_REVERSED = lazy_regex(r"[A-ZÀ-Þ][\w'’-]+,\s+[A-ZÀ-Þ][\w'’.-]*(?:\s+[A-ZÀ-Þ][\w'’.-]*)?")
_ONE_NAME = lazy_regex(r"[A-ZÀ-Þ][\w'’-]{2,}")
# These words have no weight elsewhere, but "own goals" and "goals against" are other goals.
_DISTINGUISHING = frozenset(
    ["own", "other", "no", "not", "without", "against", "before", "after", "under", "over", "below", "above"]
)
_OTHERS = lazy_regex(r"\W*(?:all\s+)?(?:others?|rest|remaining|remainder|miscellaneous|unknown|none)\b", re.IGNORECASE)
_LETTERS = lazy_regex(r"[^\W\d_]")


@cache
def calculation_words() -> frozenset[str]:
    """Words that ask for a calculation and name no table cell, tokenised by `core.text.tokens.words`."""
    tables = ("calculations", "limits", "extremes")
    entries = (
        entry for language in question_languages() for table in tables for entry in language.get(table, {}).values()
    )
    return frozenset(stem for entry in entries for word in entry for stem in words(word, keep_stop_words=True))


@dataclass(frozen=True, slots=True)
class NumberCell:
    """A cell that holds one number."""

    name: str
    """Name of its row, or of its column where cells of one row are compared."""
    text: str
    value: Decimal
    """With its sign."""
    unit: Unit | None

    @property
    def shown(self) -> str:
        """`Grain (512)`."""
        return f"{self.name} ({self.text})"


@dataclass(frozen=True, slots=True)
class CellSelection:
    """Cells to compute with."""

    of: str
    """The name of their column, or of their row."""
    cells: tuple[NumberCell, ...]
    is_whole_column: bool = False
    """Whether they are a whole column, of which the question names no row."""
    has_total: bool = False
    """Whether the table has a row of totals or the like besides."""
    totals: tuple[Decimal, ...] = ()
    """The numbers in its rows of totals."""
    named_by: str = ""
    """The name of the column that names the rows; "" where they are not a whole column."""


def compute_from_table(text: str, question: QuestionTerms, around: Set[str]) -> str:
    """Compute what the question asks of a table, as a phrase with the numbers used; "" where anything is uncertain.

    `text` is the table's, as `tables.cells` reads it. `around` are all words of the table and above it; every word
    by which the question names something must be among them. A question for several operations (the difference between
    the highest and the lowest) gives "".
    """
    analysis = question.analysis
    of_all = _OVER_ALL.search(analysis.text) if analysis.calculation is None else None
    calculation = analysis.calculation if of_all is None else "sum" if of_all["total"] else "average"
    operations = [way for way in (analysis.extreme, calculation, analysis.threshold) if way is not None]
    sums = calculation == "sum" and analysis.asks in _OF_SUMS
    limits = analysis.threshold is not None and analysis.asks in _OF_LIMITS
    # A list of the best tells who scored the most goals, but not who scored the fewest.
    best = analysis.asks == "person" and analysis.extreme == "highest" and bool(_HAS_MOST.search(analysis.text))
    is_computed = analysis.asks == "calculation" or sums or limits or best or of_all is not None
    if not is_computed or len(operations) != 1:
        return ""
    terms = _naming_terms(question, of_all, drop_verbs=sums or limits)
    are_words_known = says_all(around, terms)
    selection = _selected_cells(text, terms, question) if are_words_known else None
    if selection is None or (of_all is not None and not _is_all(selection, of_all["number"])):
        return ""
    # "Goals conceded" are no goals, and neither a team nor "Others" is a scorer.
    if best:
        selection = replace(selection, cells=tuple(cell for cell in selection.cells if not _OTHERS.match(cell.name)))
    is_other = best and not (_is_named(selection.of, set(question.terms)) and _are_persons(selection))
    if analysis.extreme is not None:
        is_unnamed = _are_numbered(selection) and not _is_named(selection.named_by, set(question.terms))
        return "" if is_other or is_unnamed else _describe_extreme(selection, analysis.extreme)
    if calculation is not None:
        return _describe_combined(selection, calculation)
    if analysis.threshold is None or _SCALED.search(text) or not _SCALE_WORDS.isdisjoint(around):
        return ""
    return _describe_beyond(selection, limit_with_unit(analysis), analysis.threshold)


def _are_numbered(selection: CellSelection) -> bool:
    """Whether numbers other than years name most rows: "72 is the highest" of offsets tells nobody a thing."""
    numbers = [cell for cell in selection.cells if cell.name.isdecimal() and not RECENT_YEAR.fullmatch(cell.name)]
    return 2 * len(numbers) > len(selection.cells)


def _are_persons(selection: CellSelection) -> bool:
    """Whether each row is named by a person's two names, in a column that does not name teams or places.

    In a column of persons by its name, the two names may be in reverse order, and some rows may have one name alone.
    """
    if _PERSONS.fullmatch(selection.named_by) is None:
        return not _GROUPS.search(selection.named_by) and all(PERSON.fullmatch(cell.name) for cell in selection.cells)
    names = [UNIT.sub("", cell.name) for cell in selection.cells]
    by_two = [name for name in names if PERSON.fullmatch(name) or _REVERSED.fullmatch(name)]
    return 2 * len(by_two) > len(names) and all(name in by_two or _ONE_NAME.fullmatch(name) for name in names)


def _naming_terms(question: QuestionTerms, of_all: "re.Match[str] | None", *, drop_verbs: bool) -> frozenset[str]:
    """The words by which a question names cells, without those that say what to compute, or above which number."""
    text = question.text
    has = _HAS_MOST.search(text) if question.analysis.extreme else None
    by_name = _MEASURED.search(text)
    asking = [
        limit_with_unit(question.analysis),
        has[1] if has else "",
        by_name[1] if by_name else "",
        f"{of_all['number'] or ''} total sum average mean" if of_all else "",
    ]
    verbs = verbs_of(text) if drop_verbs else frozenset[str]()
    return question.subject - calculation_words() - set(words(" ".join(asking))) - verbs


def _is_all(selection: CellSelection, number: str | None) -> bool:
    """Whether these are all cells of a column, as many as the question says, in a table that has no total itself."""
    spelled = number is None or number.isdigit()
    counted = None if number is None else int(number) if spelled else 2 + _SMALL_NUMBERS.index(number.casefold())
    return selection.is_whole_column and not selection.has_total and counted in (None, len(selection.cells))


def _selected_cells(text: str, terms: Set[str], question: QuestionTerms) -> CellSelection | None:
    """Find the cells that the question names; for a whole column, those of all rows. Totals are left out."""
    lines = read_rows(text)
    (header, rows), *other_parts = parts_of(lines)
    in_table = list(header) in lines and not other_parts
    header, rows = without_numbering(header, rows)
    rows_but_totals = [row for row in rows if row[0] and not _TOTAL.search(row[0])]
    # A header that lacks a name need not lack the first; and if the name of a row is missing, whole rows may be, too.
    if not header or not in_table or any(len(row) != len(header) or row[0] in EMPTY for row in rows):
        return None
    columns = [at for at in range(1, len(header)) if _is_named(header[at], terms) and not _TOTAL.search(header[at])]
    columns = columns or _columns_like(header, terms, question) or ([1] if len(header) == 2 else [])
    columns = _distinguished(columns, header, question)
    chosen = _in_order_of(question.text, [row for row in rows_but_totals if _is_named(row[0], terms)])
    if len(columns) == 1 and len(chosen) > 1:
        return _cells(header[columns[0]], [(row[0], cell_of(row, columns[0])) for row in chosen])
    if len(columns) == 1 and not chosen:
        if terms & {word for row in rows_but_totals for word in words(row[0])} - set(words(" ".join(header))):
            return None  # some rows are meant, and it is not certain which
        return _whole_column(header, rows, rows_but_totals, columns[0])
    if len(chosen) == 1 and columns:
        row = chosen[0]
        return _cells(row[0], [(header[at], cell_of(row, at)) for at in columns])
    return None


def _whole_column(header: Sequence[str], rows: Rows, rows_but_totals: Rows, at: int) -> CellSelection | None:
    """The cells of a column, without those of rows that are a part of the row above them ("of which")."""
    outer_rows = [row for row in rows_but_totals if not _PART_OF_ROW.match(row[0])]
    column, has_total = _cells(header[at], [(row[0], cell_of(row, at)) for row in outer_rows]), rows != rows_but_totals
    if column is None:
        return None
    totals = _totals_in(rows, at)
    return replace(column, is_whole_column=True, has_total=has_total, totals=totals, named_by=header[0])


def _totals_in(rows: Rows, at: int) -> tuple[Decimal, ...]:
    """The numbers of a column in the rows of totals."""
    selections = (_cells(row[0], [(row[0], cell_of(row, at))]) for row in rows if _SUM.search(row[0]))
    return tuple(selection.cells[0].value for selection in selections if selection is not None)


def _columns_like(header: Sequence[str], terms: Set[str], question: QuestionTerms) -> list[int]:
    """The only column that has a word of the question in its name, or is named after what "most expensive" measures."""
    like = [at for at in range(1, len(header)) if not terms.isdisjoint(words(header[at]))]
    if not like and (match := _MEASURED.search(question.text)) is not None:
        measure = words(_MEASURES[match[1].casefold()])
        of = words_alike(measure[0]).union(measure)
        like = [at for at in range(1, len(header)) if of.intersection(words(header[at]))]
    if not like:  # "Which lamps cost more than 60 euros?" of a column "Price"
        names = ((at, frozenset(words(header[at]))) for at in range(1, len(header)))
        like = [at for at, name_words in names if not terms.isdisjoint(with_words_alike(name_words, terms))]
    return like if len(like) == 1 and not _TOTAL.search(header[like[0]]) else []


def _is_named(name: str, terms: Set[str]) -> bool:
    """Whether the question contains all words of a name, except a unit in brackets and those that only ask."""
    name_words = set(words(UNIT.sub("", name))) - interrogative_words()
    return bool(name_words) and name_words <= terms


def _distinguished(columns: Sequence[int], header: Sequence[str], question: QuestionTerms) -> list[int]:
    """The columns whose names have the question's distinguishing words ("own goals"), or else those without any."""
    words_asked = _DISTINGUISHING.intersection(words(question.text, keep_stop_words=True))
    words_of_columns = {at: _DISTINGUISHING.intersection(words(header[at], keep_stop_words=True)) for at in columns}
    columns_asked = [at for at in columns if words_of_columns[at] and words_of_columns[at] <= words_asked]
    return columns_asked or [at for at in columns if not words_of_columns[at]]


def _in_order_of(question: str, rows: Rows) -> Rows:
    """Order rows as in the question: the ratio of timber to grain is not that of grain to timber."""
    question_words = words(question)

    def first_place(row: Sequence[str]) -> int:
        return min((question_words.index(word) for word in words(row[0]) if word in question_words), default=0)

    return sorted(rows, key=first_place)


def _cells(of: str, named_texts: Sequence[tuple[str, str]]) -> CellSelection | None:
    """The cells with these names and texts; None unless each is a single number, and all have one unit."""
    cells = []
    for name, text in named_texts:
        amounts, form = read_amounts(normalize_notation(text)), _CELL.fullmatch(text.strip())
        if form is None or len(amounts) != 1:
            return None
        negative = set(form["sign"] + form["inner"]) & set("-−–(")
        value = -amounts[0].value if negative else amounts[0].value
        cells.append(NumberCell(name, text, value, amounts[0].unit))
    return CellSelection(of, tuple(cells)) if len({cell.unit for cell in cells}) == 1 else None


def _describe_extreme(selection: CellSelection, extreme: Extreme) -> str:
    """`in 2022, Container is the highest of 3 rows: 1,310, before Grain with 512`; "" for a tie."""
    if len(selection.cells) < MIN_ROWS or not selection.is_whole_column:
        return ""
    remainders = [cell for cell in selection.cells if _OTHERS.match(cell.name)]
    first, second = sorted(selection.cells, key=lambda cell: cell.value, reverse=extreme == "highest")[:2]
    if first.value == second.value or first in remainders or (remainders and extreme == "lowest"):
        return ""
    sentence = f"in {selection.of}, {first.name} is the {extreme} of {len(selection.cells)} rows: {first.text}"
    return f"{sentence}, before {second.name} with {second.text}"


def _describe_beyond(selection: CellSelection, number: str, limit: Threshold) -> str:
    """`in 2022, 2 of 3 rows are above 500: Container (1,310) and Grain (512)`; `number` is the limit with its unit."""
    amounts = read_amounts(normalize_notation(number))
    if len(selection.cells) < MIN_ROWS or not selection.is_whole_column or len(amounts) != 1:
        return ""
    value, unit = amounts[0].value, selection.cells[0].unit
    # The unit may be in the heading ("above 10 %", "Share (%)"), or not be said ("over 200,000", in a column of euros).
    is_bare = amounts[0].unit is None and not _LETTERS.search(number)
    agrees = is_unit_of_heading(number, selection.of) if unit is None else amounts[0].unit == unit
    if not (agrees or is_bare):
        return ""
    cells = (cell for cell in selection.cells if cell.value != value or limit.is_included)
    beyond = [cell.shown for cell in cells if cell.value == value or (cell.value > value) == limit.is_lower_bound]
    if len(beyond) > MAX_SHOWN:
        return ""
    sides = ("at least", "at most") if limit.is_included else ("above", "below")
    side = sides[0] if limit.is_lower_bound else sides[1]
    verb = "is" if len(beyond) == 1 else "are"
    sentence = f"in {selection.of}, {len(beyond)} of {len(selection.cells)} rows {verb} {side} {number}"
    return f"{sentence}: {join_with_and(beyond)}" if beyond else sentence


def _describe_combined(selection: CellSelection, calculation: Calculation) -> str:
    """`in 2022, the sum of Grain (512) and Timber (318) is 830`; "" where the operands are uncertain."""
    cells, values = selection.cells, [cell.value for cell in selection.cells]
    pair = len(cells) == 2
    if (
        len(cells) < 2
        or len(cells) > MAX_SHOWN
        or (selection.is_whole_column and calculation in ("difference", "ratio"))
    ):
        return ""
    if calculation == "difference" and pair:
        value = abs(values[0] - values[1])
    elif calculation == "ratio" and pair and values[1]:
        value = Decimal(f"{values[0] / values[1]:.3g}")
    elif selection.totals and sum(values) not in selection.totals:
        return ""  # some rows may be parts of others, and not told to be so
    elif calculation == "sum":
        value = sum(values, Decimal(0))
    elif calculation == "average":
        value = Decimal(f"{sum(values, Decimal(0)) / len(values):.4g}")
    else:
        return ""
    shown = [cell.shown for cell in cells]
    operands = " to ".join(shown) if calculation == "ratio" else join_with_and(shown)
    points = " percentage points" if calculation == "difference" else " %"
    percent = calculation != "ratio" and cells[0].unit is not None and cells[0].unit.dimension == "percent"
    between = "between" if calculation == "difference" else "of"
    sign = _currency(cells) if calculation != "ratio" and value >= 0 else ""
    result = f"{sign}{value.normalize():,f}{points if percent else ''}"
    return f"in {selection.of}, the {calculation} {between} {operands} is {result}"


def _currency(cells: Sequence[NumberCell]) -> str:
    """The sign of a currency that all cells have before their numbers; "" where one has none or another."""
    signs = {price[1] if (price := _PRICE.fullmatch(cell.text.strip())) else "" for cell in cells}
    return signs.pop() if len(signs) == 1 else ""
