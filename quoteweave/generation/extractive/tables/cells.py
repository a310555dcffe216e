"""Express in words the cells of a table that a question asks for. Rows are lines, with ` | ` between cells.

How `find_cells` finds them:

Rows: those with most of the question's weight in their names, and others that it names as well:

- a row is named by all words of its first cell, except those that only ask ("number of"), or by the thing alone
  that the cell describes ("Fire door FD30, ash veneer"); for "inventories in Canada" the row is "Canada", if the
  table's title has the other word;
- a row "Total" is asked for if the title and the headings have all the other words;
- of rows with the same name, the one in a group whose name is asked for, too, is taken; the group of any row is
  named if the question says more of it than of the row;
- if the question names no row, but a cell, and asks for the row of that cell, this row is taken.

Columns:

- a column is named by half of those words of its heading that do not name rows already, or by a number of the
  question in one of its cells in a named row;
- a date names the columns that have it, however it is written, and a year names the only column that has it; of a
  fiscal and a calendar year 2021, the one that the question says is taken;
- otherwise it is the column that is named after the quantity wanted, or else the only one in its unit, the total of
  the others, or the only one with a cell;
- otherwise a table of at most `MAX_WHOLE_ROW` columns gives the whole row; if its columns have no names, the row must
  have the year asked for, or the title must have it and no other year.

If more than `MAX_ROWS` rows, several columns of one name, or cells with two amounts remain, none is certain.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import has_digit, words
from quoteweave.generation.answer_text import join_with_and
from quoteweave.generation.extractive.tables.asked_columns import (
    PLACES,
    acts_of_doer,
    all_columns,
    are_other_amounts,
    asked_columns,
    cell_of,
)
from quoteweave.generation.extractive.tables.asked_names import (
    SIZE,
    TOTAL,
    AskedCells,
    chosen_rows,
    dated_words,
    group_words,
    is_of_others,
    name_of_row,
    spans_year,
    years_in,
)
from quoteweave.generation.extractive.tables.heads import (
    EMPTY,
    Rows,
    heading_of,
    holds_amounts,
    named_by_words,
    read_rows,
    split_header,
    table_parts,
    without_numbering,
)
from quoteweave.generation.extractive.tables.row_lookup import look_up_row
from quoteweave.generation.gate.dates import MONTHS, extract_dates, extract_times
from quoteweave.generation.relevance import NUMBER_KINDS

MAX_ROWS = 3
MAX_COLUMNS = 6
"""The most cells of a row that an answer gives; of further ones it gives the number."""

_MARK = lazy_regex(r"\W*(?:\d{1,2}|\w)?\W*")  # the mark of a note, alone on its line, names nothing
# What was before or after a date is not what a row or column of that date tells.
_BEFORE_OR_AFTER = lazy_regex(
    rf"\b(?:before|after|since|until|till|up\s+to|prior\s+to|(?:beginning|start)\s+of)\s+(?:the\s+end\s+of\s+)?"
    rf"(?:\d|(?:{'|'.join(MONTHS)})\b)",
    re.IGNORECASE,
)
_STOPS = lazy_regex(r"(?:(?:bus|tram)\s+)?(?:stops?|stations?|halts?|ports?|piers?|places?|from)", re.IGNORECASE)
_LEAVES = lazy_regex(r"\b(?:leaves?|departs?|go(?:es)?|starts?|runs?)\b", re.IGNORECASE)
_OF_A_PART = frozenset(words("current noncurrent non-current portion long-term short-term long short"))


def asked_parts(text: str, question_words: Collection[str]) -> list[str]:
    """The text of a table, or, if it has several parts, those with a certain head that has a year asked for.

    If no such head has one, all parts with a certain head.
    """
    lines = text.splitlines(keepends=True)
    places = [*(at for at, line in enumerate(lines) if "|" in line), len(lines)]
    parts = table_parts(read_rows(text))
    if len(parts) < 2:
        return [text]
    places[0] = 0
    headed = ["".join(lines[places[part.start] : places[part.end]]) for part in parts if part.has_head]
    years = years_in(question_words)
    heads = [words(" ".join(split_header(read_rows(part))[0])) for part in headed]
    return [part for part, head in zip(headed, heads, strict=True) if not years.isdisjoint(head)] or headed


@dataclass(frozen=True, slots=True)
class FoundRow:
    """A row of a table that a question names, with those of its cells that it asks for."""

    name: str
    cells: tuple[tuple[str, str], ...]
    """The name of each cell's column, or "", and the cell."""
    is_part: bool = False
    """Whether, by its name, it is only a part of what is asked for, such as "Current portion of long-term debt"."""
    has_asked_kind: bool = False
    """Whether it surely has the kind of answer asked for: it was looked up by a cell, or its columns say so."""
    group: str = ""
    """The name of the group that distinguishes it from other rows of its name: "Assets" over "Domestic"."""
    implied_words: frozenset[str] = frozenset()
    """The words of a question that it says without having them, because it was looked up by one of its cells."""
    asked_group: str = ""
    """The name of its group, if the question says more of it than of the row: "Operating expenses" over "Research"."""

    @property
    def heading_dates(self) -> str:
        """The days that head its cells, in words: "31 March 2003" for "31.3.2003"."""
        dates = (date for heading, _ in self.cells for date in extract_dates(heading)[0])
        return "; ".join(f"{date.day or ''} {MONTHS[date.month - 1]} {date.year or ''}" for date in dates)

    @property
    def naming_words(self) -> frozenset[str]:
        """The words that name it and its group, or the whole of which it is a part."""
        all_words = name_of_row(self.name) | frozenset(words(self.group))
        return all_words - _OF_A_PART if self.is_part else all_words

    def __str__(self) -> str:
        """`Grain (2021: 486; 2022: 512)`, or `Exports: Grain (2021: 486)` of a group."""
        shown = [f"{heading}: {cell}" if heading else cell for heading, cell in self.cells[:MAX_COLUMNS]]
        shown += [f"and {len(self.cells) - MAX_COLUMNS} more"] if len(self.cells) > MAX_COLUMNS else []
        group = self.group or self.asked_group
        name = f"{group}: {self.name}" if group else self.name
        return " ".join(filter(None, [name, f"({'; '.join(shown)})" if name else "; ".join(shown)]))


def rows_in_words(rows: Sequence[FoundRow]) -> str:
    """The rows that have cells, in words."""
    return join_with_and([str(row) for row in rows if row.cells])


def have_certain_cells(rows: Sequence[FoundRow]) -> bool:
    """Whether it is certain which cell of each row is asked for: there is only one, or the cells have names."""
    return all(len(row.cells) < 2 or all(name for name, _ in row.cells) for row in rows)


def have_own_names(rows: Sequence[FoundRow]) -> bool:
    """Whether no two rows have the same name, such as "Canada" under "Net sales", and under "Comparable sales"."""
    return len({row.name for row in rows}) == len(rows)


def find_cells(text: str, question: AskedCells) -> list[FoundRow]:
    """Find the cells whose row and column the question names; none where it is uncertain which these are.

    The docstring of the module says how rows and columns are named. The steps, in this order:

    1. the rows that the question names; without any, a row that is looked up by one of its cells;
    2. of these, the rows at the time of day asked for;
    3. of a timetable, those without the stop to which the journey goes, which is known from the question;
    4. of rows of one name, the one in the group asked for;
    5. the columns asked for, in the rows that are left.

    >>> asked = AskedCells(words("grain 2022"), {"grain": 1.0, "2022": 1.0})
    >>> [str(row) for row in find_cells("Goods | 2021 | 2022\\nGrain | 486 | 512\\nCoal | 90 | 70", asked)]
    ['Grain (2022: 512)']
    """
    if _BEFORE_OR_AFTER.search(question.text) and not _BEFORE_OR_AFTER.search(text):
        return []
    header, rows, named_rows = _named_rows(text, question)
    if _may_look_up(named_rows, question.text) and (looked_up := look_up_row(header, rows, question)) is not None:
        return [_looked_up(header, *looked_up, question)]
    timed_rows = _rows_at_asked_time(named_rows, rows, question.text)
    departure_rows = _departure_rows(header, timed_rows, question.text)
    chosen, group = _rows_of_asked_group(departure_rows, question.in_rows, text)
    columns = _certain_columns(header, rows, chosen, question)
    if not columns:
        return []
    destination_words = {word for row in timed_rows if row not in departure_rows for word in name_of_row(row[0])}
    asked_groups = _asked_groups(text, chosen, question.in_rows)
    has_asked_kind = _are_of_kind([header[at] if at < len(header) else "" for at in columns], question)
    return [
        FoundRow(
            row[0],
            _named_cells(row, header, columns),
            has_asked_kind=has_asked_kind,
            group=group,
            implied_words=dated_words(row[0], question) | destination_words | group_words(header, question.text),
            asked_group=asked_groups.get(tuple(row), ""),
        )
        for row in chosen
    ]


def _named_rows(text: str, question: AskedCells) -> tuple[Sequence[str], Rows, Rows]:
    """The head of a table, its rows, and those that the question names; if none has cells, of rows named by words."""
    header, rows = without_numbering(*split_header(read_rows(text)))
    named_rows = chosen_rows(header, rows, question)
    if any(cell not in EMPTY for row in named_rows for cell in row[1:]):
        return header, rows, named_rows
    header, rows = named_by_words(header, rows)
    return header, rows, chosen_rows(header, rows, question)


def _may_look_up(named_rows: Rows, question: str) -> bool:
    """Whether a row may be looked up by its cells: the question names none, or several of one name, or has a time."""
    is_one_row = len(named_rows) == 1 and not extract_times(question)[0]
    return not is_one_row and len({row[0] for row in named_rows}) < 2


def _are_of_kind(headings: Sequence[str], question: AskedCells) -> bool:
    """Whether the names of columns tell that they have the kind of answer asked for: "Room", or "How often" itself."""
    asks, text = question.asks, question.text.casefold().lstrip()
    return (
        (asks == "place" and all(map(PLACES.fullmatch, headings)))
        or (asks == "person" and all(acts_of_doer(name, question.text, question.words) for name in headings))
        or all(len(name.split()) > 1 and text.startswith(name.casefold()) for name in headings)
    )


def _rows_at_asked_time(named_rows: Rows, rows: Rows, question: str) -> Rows:
    """The rows named, if they have the times of day of a question that others have: Sunday has no "16:00"."""
    asked_times, own_times, all_times = (
        {time for text in texts for time in extract_times(text)[0].values()}
        for texts in ([question], *([cell for row in of_rows for cell in row] for of_rows in (named_rows, rows)))
    )
    return named_rows if asked_times & all_times <= own_times else []


def _departure_rows(header: Sequence[str], rows: Rows, question: str) -> Rows:
    """The rows of a timetable, for a question when something leaves, without the stop to which it goes.

    That must be the last stop: otherwise no row is returned, as what goes there may be the journey in the other
    direction, at other times.
    """
    if not header or not _STOPS.fullmatch(header[0]) or not _LEAVES.search(question):
        return rows
    ends = [
        at
        for at, row in enumerate(rows)
        if re.search(rf"\b(?:to|for|towards?)\s+(?:the\s+)?{re.escape(row[0])}\b", question, re.IGNORECASE)
    ]
    return rows if not ends else rows[: ends[0]] if ends == [len(rows) - 1] else []


def _certain_columns(header: Sequence[str], rows: Rows, chosen: Rows, question: AskedCells) -> list[int]:
    """The columns that a question asks for in the chosen rows, or all of a small table; none where it is uncertain."""
    columns = asked_columns(header, chosen, question)
    # A size, "25 m", is no cell, and nothing tells which number of a day is asked for.
    is_unsure = any(SIZE.search(row[0]) for row in chosen) and question.quantity is not None
    is_unsure = is_unsure or (question.asks in NUMBER_KINDS and any(dated_words(row[0], question) for row in chosen))
    if not columns and not is_unsure:
        of_years = _are_of_asked_years(header, chosen, question.in_rows, question.title_words)
        columns = all_columns(rows, chosen) if of_years else []
    of_other_end = any(_is_other_end(header, row[0], question.text) for row in chosen)
    is_certain = 0 < len(chosen) <= MAX_ROWS and not of_other_end and _are_certain(header, chosen, columns)
    return columns if is_certain and not are_other_amounts(header, chosen, columns, question) else []


def _is_other_end(header: Sequence[str], name: str, question: str) -> bool:
    """Whether a row of a column "To" has the name from which the question asks, or the reverse."""
    other_end = {"to": "from", "from": "to"}.get(header[0].strip().casefold()) if header else None
    return (
        bool(other_end)
        and re.search(rf"\b{other_end}\s+(?:the\s+)?{re.escape(name)}\b", question, re.IGNORECASE) is not None
    )


def _looked_up(
    header: Sequence[str], row: Sequence[str], asked_by: Sequence[int], columns: Sequence[int], question: AskedCells
) -> FoundRow:
    """A row that was looked up by cells in some columns, named by these cells, or by its first cell if asked for."""
    by_first = 0 in columns
    name = row[0] if by_first else ", ".join(row[at] for at in asked_by)
    shown_columns = [*asked_by, *filter(None, columns)] if by_first else columns
    cells = tuple(("" if header[column] in EMPTY else header[column], row[column]) for column in shown_columns)
    return FoundRow(name, cells, has_asked_kind=True, implied_words=frozenset(question.words))


def _are_certain(header: Sequence[str], rows: Rows, columns: Sequence[int]) -> bool:
    """Whether it is certain which cell of these columns belongs to which name."""
    headings = [header[at] for at in columns if at < len(header)]
    cells = (cell_of(row, column) for row in rows for column in columns)
    if len(set(headings)) < len(headings) or any(map(holds_amounts, cells)):
        return False
    return not header or all(len(row) == len(header) for row in rows)


def find_parts(text: str, subject: Collection[str]) -> list[FoundRow]:
    """Find the rows that are only parts of what a question asks for, in a table that has no row of the whole.

    `subject` has the words for the whole, without dates. All cells of a row are returned.
    """
    rows = [row for row in read_rows(text) if has_digit("".join(row[1:]))]
    names = [name_of_row(row[0]) for row in rows]
    if not subject or any(name == set(subject) for name in names):
        return []
    parts = (row for row, name in zip(rows, names, strict=True) if name - _OF_A_PART == set(subject))
    return [FoundRow(row[0], tuple(("", cell) for cell in row[1:] if cell not in EMPTY), is_part=True) for row in parts]


def _rows_of_asked_group(rows: Rows, question_words: Collection[str], text: str) -> tuple[Rows, str]:
    """The only one of the rows of one name whose group the question names, and that group.

    All rows, and no group, if each has a name of its own, if none or several are in such a group, or if the question
    asks for other rows, too, except the group's total.
    """
    times = Counter(row[0] for row in rows)
    groups = _groups(text) if len(times) < len(rows) else {}
    grouped = [(row, groups.get(tuple(row), "")) for row in rows if times[row[0]] > 1]
    grouped = [(row, group) for row, group in grouped if not is_of_others(group, question_words)]
    grouped = [(row, group) for row, group in grouped if set(words(group)) and set(words(group)) <= set(question_words)]
    if len(grouped) != 1:
        return rows, ""
    row, group = grouped[0]
    other_names = (TOTAL.sub("", other_row[0]) for other_row in rows if other_row[0] != row[0])
    are_totals = all(set(words(name)).issubset(words(group)) for name in other_names)
    return ([row], group) if are_totals else (rows, "")


def _groups(text: str) -> dict[tuple[str, ...], str]:
    """The name of each row's group: the line of one cell above it, until a row of totals.

    A line that continues in the next one, "Gain on" above "hedges", begins the name of that row, and names no group.
    """
    group_of_row: dict[tuple[str, ...], str] = {}
    group = last = ""
    for line in text.splitlines():
        if rows := read_rows(line):
            group = last if last and not rows[0][0][:1].islower() else group
            group_of_row[tuple(rows[0])] = group
            group, last = "" if TOTAL.match(rows[0][0]) else group, ""
        elif not _MARK.fullmatch(line):
            last = line.strip(" :")
    return group_of_row


def _asked_groups(text: str, rows: Rows, question_words: Collection[str]) -> dict[tuple[str, ...], str]:
    """The groups of which a question has half of the words, and one word that no name of these rows has."""
    groups = {key: group for key, group in _groups(text).items() if not is_of_others(group, question_words)}
    words_of_names = {word for row in rows for word in name_of_row(row[0])}
    return {
        key: group
        for key, group in groups.items()
        if (common := set(words(group)).intersection(question_words)) - words_of_names
        and 2 * len(common) >= len(set(words(group)))
    }


def _are_of_asked_years(
    header: Sequence[str], rows: Rows, question_words: Collection[str], title_words: Collection[str]
) -> bool:
    """Whether columns have names, or else the title has the years of the question and no others, or each row does."""
    years = years_in(question_words)
    return (
        any(header[1:])
        or years_in(title_words) == years
        or all(years.issubset(words(row[0])) or spans_year(row[0], years) for row in rows)
    )


def _named_cells(row: Sequence[str], header: Sequence[str], columns: Sequence[int]) -> tuple[tuple[str, str], ...]:
    cells = ((heading_of(column, row, header), cell_of(row, column)) for column in columns)
    return tuple((heading, cell) for heading, cell in cells if cell)
