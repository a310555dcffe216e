"""Express in words the cells of a table that a question asks for. Rows are lines, with ` | ` between cells."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import interrogative_words, request_words, words_alike
from quoteweave.core.text.question_words import Quantity
from quoteweave.core.text.tokens import words
from quoteweave.core.text.units import dimensions_in
from quoteweave.generation.answer_text import join_with_and
from quoteweave.generation.extractive.tables.heads import (
    EMPTY,
    YEAR,
    Rows,
    heading_of,
    holds_amounts,
    split_header,
    table_parts,
    without_numbering,
)
from quoteweave.generation.gate.dates import MONTHS, Date, extract_dates
from quoteweave.generation.relevance import coverage

MAX_ROWS = 3
MAX_WHOLE_ROW = 4
MAX_COLUMNS = 6

_LEADERS = lazy_regex(r"\s*(?<![.·…])[.·…]{3,}$")
_NOTE = lazy_regex(r"(?<=\S)(?:\s*\(\d{1,2}\))+$")
UNIT = lazy_regex(r"\s*\([^()]{1,20}\)\s*$")
OTHER = "other"
"""A stop word which, asked for, is one of the words of a question for cells."""
FISCAL = "fiscal"
"""What is asked for besides its year where a question says that this is no calendar year: "FY2021"."""
_OTHER = lazy_regex(rf"\b{OTHER}\b", re.IGNORECASE)
_CALENDAR = lazy_regex(r"\bcalendar\b", re.IGNORECASE)
_TOTAL = lazy_regex(r"\W*(?:(?:sub-?|grand )?totals?|sums?|gesamt|summe|insgesamt)\b", re.IGNORECASE)
_TOTAL_ALONE = lazy_regex(rf"{_TOTAL.pattern}\W*", re.IGNORECASE)
_MARK = lazy_regex(r"\W*(?:\d{1,2}|\w)?\W*")  # of a note, alone in its line, which names nothing
_OF_A_PART = frozenset(words("current noncurrent non-current portion long-term short-term long short"))
_ROMAN = lazy_regex("[ivx]+")


def read_rows(text: str) -> list[list[str]]:
    """The cells of each line that holds more than one, without the dots that lead to the next."""
    lines = (line.split("|") for line in text.splitlines())
    return [[_LEADERS.sub("", " ".join(cell.split())) for cell in cells] for cells in lines if len(cells) > 1]


def asked_parts(text: str, asked: Collection[str]) -> list[str]:
    """The text of a table; where it has several parts, those that surely have a head, in which a year asked for stands.

    Of all that surely have one where no such year is asked for.
    """
    lines = text.splitlines(keepends=True)
    places = [*(at for at, line in enumerate(lines) if "|" in line), len(lines)]
    parts = table_parts(read_rows(text))
    if len(parts) < 2:
        return [text]
    places[0] = 0
    headed = ["".join(lines[places[part.start] : places[part.end]]) for part in parts if part.has_head]
    own = [part for part in headed if not _years(asked).isdisjoint(words(" ".join(split_header(read_rows(part))[0])))]
    return own or headed


@dataclass(frozen=True, slots=True)
class FoundRow:
    """A row of a table that a question names, with those of its cells that it asks for."""

    name: str
    cells: tuple[tuple[str, str], ...]
    """The name of each cell's column, or "", and the cell."""
    is_part: bool = False
    """Whether it is but a part of what is asked for by its name, such as "Current portion of long-term debt"."""
    group: str = ""
    """The name of the group of rows that tells it from others of its name: "Assets" over "Domestic"."""
    under: str = ""
    """The name of its group, if the question says more of it than of the row: "Operating expenses" over "Research"."""

    @property
    def days(self) -> str:
        """The days that head its cells, in words: "31 March 2003" for "31.3.2003"."""
        found = (date for heading, _ in self.cells for date in extract_dates(heading)[0])
        return "; ".join(f"{date.day or ''} {MONTHS[date.month - 1]} {date.year or ''}" for date in found)

    @property
    def named(self) -> frozenset[str]:
        """The words that name it and its group, or that of which it is a part."""
        own = name_of_row(self.name) | frozenset(words(self.group))
        return own - _OF_A_PART if self.is_part else own

    def __str__(self) -> str:
        """`Grain (2021: 486; 2022: 512)`, or `Exports: Grain (2021: 486)` of a group."""
        shown = [f"{heading}: {cell}" if heading else cell for heading, cell in self.cells[:MAX_COLUMNS]]
        group = self.group or self.under
        name = f"{group}: {self.name}" if group else self.name
        return " ".join(filter(None, [name, f"({'; '.join(shown)})" if name else "; ".join(shown)]))


def said_of(rows: Sequence[FoundRow]) -> str:
    """The rows that have cells, in words."""
    return join_with_and([str(row) for row in rows if row.cells])


def say_which(rows: Sequence[FoundRow]) -> bool:
    """Whether of each row the cell that is asked for is certain: there is one alone, or the cells have names."""
    return all(len(row.cells) < 2 or all(name for name, _ in row.cells) for row in rows)


def have_own_names(rows: Sequence[FoundRow]) -> bool:
    """Whether no two rows have one name, such as "Canada" under "Net sales", and under "Comparable sales"."""
    return len({row.name for row in rows}) == len(rows)


def find_cells(
    text: str,
    asked: Collection[str],
    weights: Mapping[str, float],
    wanted: Quantity | None = None,
    titled: Collection[str] = (),
    dates: Collection[Date] = (),
) -> list[FoundRow]:
    """Find the cells whose row and column the question names; none where it is uncertain which these are.

    `asked` are the question's words, OTHER where it asks for other things, and FISCAL where for a fiscal year. A row is
    named by all words of its first cell, except those that only ask ("number of"); a column by half of the words of its
    heading, of those that do not name the rows already, or by a number of the question in one of its cells in a named
    row. Of several, those with most of the question's weight in their names are taken, and rows that it names besides:
    of "inventories in Canada" the row is "Canada", where `titled`, the words of the table's title, hold the other. One
    of its `dates` names the columns that have it, however it is written, and a year the column that has it alone. Else
    it is the one that has the quantity `wanted` by its name, or else alone by its unit, or is the total of the others;
    a table of at most `MAX_WHOLE_ROW` columns gives the whole row, but without names of columns only where the row, or
    the title with no other, has the year asked for. "Total" alone is a row that is asked for where title and headings
    have all else. Where more than `MAX_ROWS` rows remain, several columns with one name, or cells of two amounts, the
    result is uncertain. Of rows with one name, that is taken which stands in a group of rows whose name is asked for
    too; the group of any row is named where the question says more of it than the row does. Of a fiscal and a calendar
    year, both 2021, the one is taken that the question says.
    """
    header, rows = without_numbering(*split_header(read_rows(text)))
    said = set(asked).union(wanted.in_rows if wanted else ()) - {FISCAL}
    chosen, group = _of_asked_group(_chosen_rows(header, rows, said, weights, titled), said, text)
    columns = _asked_columns(header, chosen, asked, weights, wanted, dates)
    if not columns and _are_of_asked_years(header, chosen, said, titled):
        columns = _all_columns(rows, chosen)
    if not 0 < len(chosen) <= MAX_ROWS or not columns or not _are_certain(header, chosen, columns):
        return []
    groups = _asked_groups(text, chosen, said)
    return [
        FoundRow(row[0], tuple(_named_cells(row, header, columns)), group=group, under=groups.get(tuple(row), ""))
        for row in chosen
    ]


def _asked_columns(
    header: Sequence[str],
    rows: Rows,
    asked: Collection[str],
    weights: Mapping[str, float],
    wanted: Quantity | None,
    dates: Collection[Date],
) -> list[int]:
    """The columns that a question asks for, of these rows; without those of calendar years if it asks for fiscal ones.

    None where nothing tells which these are.
    """
    said = set(asked) - {FISCAL}
    columns = (
        _columns_named(header, _besides_names(said, rows), weights)
        or _columns_alike(header, _besides_names(said, rows))
        or _columns_of_dates(header, dates)
        or _columns_of_years(header, said)
        or _columns_of_numbers(rows, said)
        or _columns_of_quantity(header, rows, wanted)
        or _columns_of_totals(header)
    )
    of_fiscal = [at for at in columns if at >= len(header) or not _CALENDAR.search(header[at])]
    return of_fiscal if FISCAL in asked and of_fiscal else columns


def _are_certain(header: Sequence[str], rows: Rows, columns: Sequence[int]) -> bool:
    """Whether it is certain which cell of these columns belongs to which name."""
    headings = [header[at] for at in columns if at < len(header)]
    cells = (cell_of(row, column) for row in rows for column in columns)
    if len(set(headings)) < len(headings) or any(map(holds_amounts, cells)):
        return False
    return not header or all(len(row) == len(header) for row in rows)


def find_parts(text: str, subject: Collection[str]) -> list[FoundRow]:
    """Find the rows that are but parts of what a question asks for, in a table that has no row of the whole.

    `subject` are the words for that, without a date. All cells of a row are given.
    """
    rows = [row for row in read_rows(text) if any(map(str.isdigit, "".join(row[1:])))]
    names = [name_of_row(row[0]) for row in rows]
    if not subject or any(name == set(subject) for name in names):
        return []
    parts = (row for row, name in zip(rows, names, strict=True) if name - _OF_A_PART == set(subject))
    return [FoundRow(row[0], tuple(("", cell) for cell in row[1:] if cell not in EMPTY), is_part=True) for row in parts]


def _besides_names(asked: Collection[str], rows: Rows) -> set[str]:
    """The words that name none of the rows, and numbers: "operating income" asks for no column "U.S. Operations"."""
    naming = {word for row in rows for word in name_of_row(row[0]) if not any(map(str.isdigit, word))}
    return set(asked) - naming


def _chosen_rows(
    header: Sequence[str], rows: Rows, asked: Collection[str], weights: Mapping[str, float], titled: Collection[str]
) -> list[Sequence[str]]:
    """The rows that the question names; those that its title names as well only where there is no other."""
    of = {*titled, *words(" ".join(header))}
    names = [name_of_row(row[0]) for row in rows]
    best = _best_matching_names([row[0] for row in rows], asked, weights, least=1.0)
    besides = [
        at
        for at, own in enumerate(names)
        if at not in best
        and own
        and own.issubset(asked)
        and not _is_of_others(rows[at][0], asked)
        and not any(own <= names[chosen] for chosen in best)
    ]
    if besides and all(names[at].issubset(titled) for at in best):
        best = []
    if any(_TOTAL_ALONE.fullmatch(rows[at][0]) for at in best) and not _are_of(asked, of):
        return []  # a total of other things
    return [rows[at] for at in sorted((*best, *besides))]


def _of_asked_group(rows: Rows, asked: Collection[str], text: str) -> tuple[Rows, str]:
    """Of rows that have one name, the only one of a group that the question names, and that group.

    All rows, and no group, where each has a name of its own, where none or several are of such a group, and where the
    question asks for other rows as well, but for the group's total.
    """
    times = Counter(row[0] for row in rows)
    groups = _groups(text) if len(times) < len(rows) else {}
    found = [(row, groups.get(tuple(row), "")) for row in rows if times[row[0]] > 1]
    found = [(row, group) for row, group in found if not _is_of_others(group, asked)]
    found = [(row, group) for row, group in found if (named := set(words(group))) and named.issubset(asked)]
    if len(found) != 1:
        return rows, ""
    row, group = found[0]
    others = (_TOTAL.sub("", other[0]) for other in rows if other[0] != row[0])
    return ([row], group) if all(set(words(other)).issubset(words(group)) for other in others) else (rows, "")


def _groups(text: str) -> dict[tuple[str, ...], str]:
    """The name of the group of each row: the line of one cell above it, until a row of totals.

    A line that goes on in the next one, "Gain on" above "hedges", begins the name of that row, and is of no group.
    """
    found: dict[tuple[str, ...], str] = {}
    group = last = ""
    for line in text.splitlines():
        if rows := read_rows(line):
            group = last if last and not rows[0][0][:1].islower() else group
            found[tuple(rows[0])] = group
            group, last = "" if _TOTAL.match(rows[0][0]) else group, ""
        elif not _MARK.fullmatch(line):
            last = line.strip(" :")
    return found


def _asked_groups(text: str, rows: Rows, asked: Collection[str]) -> dict[tuple[str, ...], str]:
    """The groups of rows of which a question says a word that no name of these rows has, and half of all words."""
    found = {key: group for key, group in _groups(text).items() if not _is_of_others(group, asked)}
    said = {word for row in rows for word in name_of_row(row[0])}
    return {
        key: group
        for key, group in found.items()
        if (common := set(words(group)).intersection(asked)) - said and 2 * len(common) >= len(set(words(group)))
    }


def _are_of_asked_years(header: Sequence[str], rows: Rows, asked: Collection[str], titled: Collection[str]) -> bool:
    """Whether columns have names, or else the title has the years of the question and no others, or each row does."""
    years = _years(asked)
    return any(header[1:]) or _years(titled) == years or all(years.issubset(words(row[0])) for row in rows)


def _all_columns(rows: Rows, chosen: Rows) -> list[int]:
    """The columns of a table that has few, with names of rows."""
    width = max((len(row) for row in rows), default=0)
    named = any(character.isalpha() for row in chosen for character in row[0])
    return list(range(1, width)) if named and width <= MAX_WHOLE_ROW else []


def _columns_named(header: Sequence[str], asked: Collection[str], weights: Mapping[str, float]) -> list[int]:
    return [1 + at for at in _best_matching_names(header[1:], asked, weights, least=0.5)]


def _columns_alike(header: Sequence[str], asked: Collection[str]) -> list[int]:
    """The only column whose name says a word of the question otherwise: "Price", of what something costs."""
    names = [frozenset(words(name)) for name in header]
    found = [at for at, own in enumerate(names) if at and any(not words_alike(one).isdisjoint(own) for one in asked)]
    return found if len(found) == 1 else []


def _columns_of_dates(header: Sequence[str], dates: Collection[Date]) -> list[int]:
    """The columns whose heading is a day of the question: "31.3.2003" for "March 31, 2003"."""
    days = {(month, day, date.year) for date in dates for month, day in date.readings() if day and date.year}
    return [
        at
        for at, name in enumerate(header)
        if at and any((date.month, date.day, date.year) in days for date in extract_dates(name)[0])
    ]


def _columns_of_years(header: Sequence[str], asked: Collection[str]) -> list[int]:
    """The columns whose heading is a date in a year of the question: "52 Weeks Ended August 30, 2020".

    None where a year stands in several headings, or in none.
    """
    years = _years(asked)
    columns = [[at for at, name in enumerate(header) if at and year in words(name)] for year in years]
    return sorted(at for (at,) in columns) if all(len(each) == 1 for each in columns) else []


def _years(asked: Collection[str]) -> set[str]:
    return {word for word in asked if YEAR.fullmatch(word)}


def _are_of(asked: Collection[str], said: Collection[str]) -> bool:
    """Whether the words that are said include those asked for, but for years, totals and words that only ask."""
    rest = {word for word in asked if not _TOTAL_ALONE.fullmatch(word)} - _years(asked) - {OTHER}
    return rest - interrogative_words() - _request_stems() <= {*said}


def _columns_of_numbers(rows: Rows, asked: Collection[str]) -> list[int]:
    """The columns, except the first, that contain a number of the question."""
    numbers = {word for word in asked if any(map(str.isdigit, word))}
    return sorted({at for row in rows for at, cell in enumerate(row) if at and numbers.intersection(words(cell))})


def _columns_of_quantity(header: Sequence[str], rows: Rows, wanted: Quantity | None) -> list[int]:
    """The columns that have a quantity by their name; else the only one with its units."""
    if wanted is None or not rows:
        return []
    named = [at for at, name in enumerate(header) if at and not wanted.named.isdisjoint(words(name))]
    measuring = [
        at for at in range(1, min(map(len, rows))) if all(wanted.dimensions & dimensions_in(row[at]) for row in rows)
    ]
    return named or (measuring if len(measuring) == 1 else [])


def _columns_of_totals(header: Sequence[str]) -> list[int]:
    """The only column named "Total", which is of all the others."""
    totals = [at for at, name in enumerate(header) if at and _TOTAL_ALONE.fullmatch(name)]
    return totals if len(totals) == 1 else []


def _best_matching_names(
    names: Sequence[str], asked: Collection[str], weights: Mapping[str, float], *, least: float
) -> list[int]:
    """Indices of the names that match the question best, in order."""
    worth, said = dict[int, float](), {*asked, *(other for word in asked for other in words_alike(word))}
    for at, name in enumerate(names):
        own = name_of_row(name)
        common = own.intersection(asked)
        # "Wave I" and "Q3 2022" are not what asks for Wave III or for 2023.
        numbers = any(any(map(str.isdigit, word)) or _ROMAN.fullmatch(word) for word in own - common)
        whole = least < 1 and name_of_row(UNIT.sub("", name)) <= said  # "maximum flow" has all of "Max. flow (l/min)"
        enough = len(common) >= least * len(own) or whole
        if common and not numbers and not _is_of_others(name, asked) and enough:
            worth[at] = coverage(weights, common) - 1e-3 * len(own - common)
    best = max(worth.values(), default=0.0)
    return [at for at, value in worth.items() if value >= 0.8 * best]  # of several, such as years, all


def _is_of_others(name: str, asked: Collection[str]) -> bool:
    """Whether a name is of other things than those asked for: "Other debt" is not what asks for debt."""
    return _OTHER.search(name) is not None and OTHER not in asked


def name_of_row(name: str) -> frozenset[str]:
    """The words of a name without those that only ask ("number of"), where it has others, and the mark of a note."""
    own = frozenset(words(_NOTE.sub("", name)))
    return own - interrogative_words() - _request_stems() or own


@cache
def _request_stems() -> frozenset[str]:
    return frozenset(words(" ".join(request_words())))


def cell_of(row: Sequence[str], column: int) -> str:
    """The cell of a row in a column; "" where it has none, or one that is marked as empty."""
    return row[column] if column < len(row) and row[column] not in EMPTY else ""


def _named_cells(row: Sequence[str], header: Sequence[str], columns: Sequence[int]) -> Iterator[tuple[str, str]]:
    for column in columns:
        if cell := cell_of(row, column):
            yield heading_of(column, row, header), cell
