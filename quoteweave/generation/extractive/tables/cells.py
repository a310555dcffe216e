"""Express in words the cells of a table that a question asks for. Rows are lines, with ` | ` between cells.

How `find_cells` tells them:

Rows, of which those with most of the question's weight in their names are taken, and others that it names besides:

- a row is named by all words of its first cell, except those that only ask ("number of"), or by the thing alone
  that the cell describes ("Fire door FD30, ash veneer"); of "inventories in Canada" the row is "Canada", where the
  words of the table's title hold the other;
- "Total" alone is a row that is asked for where title and headings have all else;
- of rows with one name, that is taken which stands in a group of rows whose name is asked for too; the group of any
  row is named where the question says more of it than the row does;
- where the question names no row, but a cell, and asks for the row of that, this is the one.

Columns:

- a column is named by half of the words of its heading, of those that do not name the rows already, or by a number
  of the question in one of its cells in a named row;
- a date names the columns that have it, however it is written, and a year the column that has it alone; of a fiscal
  and a calendar year, both 2021, the one is taken that the question says;
- else it is the one that has the quantity wanted by its name, or else alone by its unit, or is the total of the
  others, or alone has a cell;
- a table of at most `MAX_WHOLE_ROW` columns gives the whole row, but without names of columns only where the row,
  or the title with no other, has the year asked for.

Where more than `MAX_ROWS` rows remain, several columns with one name, or cells of two amounts, it is uncertain.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import words
from quoteweave.generation.answer_text import join_with_and
from quoteweave.generation.extractive.tables.asked_columns import PLACES, all_columns, asked_columns, cell_of
from quoteweave.generation.extractive.tables.asked_names import (
    TOTAL,
    AskedCells,
    chosen_rows,
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
from quoteweave.generation.extractive.tables.row_lookup import told_row
from quoteweave.generation.gate.dates import MONTHS, extract_dates

MAX_ROWS = 3
MAX_COLUMNS = 6

_MARK = lazy_regex(r"\W*(?:\d{1,2}|\w)?\W*")  # of a note, alone in its line, which names nothing
_OF_A_PART = frozenset(words("current noncurrent non-current portion long-term short-term long short"))


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
    own = [part for part in headed if not years_in(asked).isdisjoint(words(" ".join(split_header(read_rows(part))[0])))]
    return own or headed


@dataclass(frozen=True, slots=True)
class FoundRow:
    """A row of a table that a question names, with those of its cells that it asks for."""

    name: str
    cells: tuple[tuple[str, str], ...]
    """The name of each cell's column, or "", and the cell."""
    is_part: bool = False
    """Whether it is but a part of what is asked for by its name, such as "Current portion of long-term debt"."""
    is_of_kind: bool = False
    """Whether its name, looked up by a cell, or its cell, by the name of the column, is what the question asks for."""
    group: str = ""
    """The name of the group of rows that tells it from others of its name: "Assets" over "Domestic"."""
    says: frozenset[str] = frozenset()
    """The words of a question that it says without having them, as the row was looked up by one of its cells."""
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


def find_cells(text: str, question: AskedCells) -> list[FoundRow]:
    """Find the cells whose row and column the question names; none where it is uncertain which these are.

    The module says how.
    """
    header, rows = without_numbering(*split_header(read_rows(text)))
    said, found = question.in_rows, chosen_rows(header, rows, question)
    if not any(cell not in EMPTY for row in found for cell in row[1:]):
        header, rows = named_by_words(header, rows)
        found = chosen_rows(header, rows, question)
    are_of_one_name = len({row[0] for row in found}) < 2
    if are_of_one_name and len(found) != 1 and (told := told_row(header, rows, question)) is not None:
        return [_looked_up(header, *told, question)]
    chosen, group = _of_asked_group(found, said, text)
    columns = asked_columns(header, chosen, question)
    if not columns and _are_of_asked_years(header, chosen, said, question.titled):
        columns = all_columns(rows, chosen)
    if not 0 < len(chosen) <= MAX_ROWS or not columns or not _are_certain(header, chosen, columns):
        return []
    groups = _asked_groups(text, chosen, said)
    in_places = [at < len(header) and PLACES.fullmatch(header[at]) is not None for at in columns]
    a_row = FoundRow("", (), is_of_kind=question.asks == "place" and all(in_places), group=group)
    return [
        replace(a_row, name=row[0], cells=_named_cells(row, header, columns), under=groups.get(tuple(row), ""))
        for row in chosen
    ]


def _looked_up(
    header: Sequence[str], row: Sequence[str], said: Sequence[int], columns: Sequence[int], question: AskedCells
) -> FoundRow:
    """A row that was looked up by its cells in the columns `said`, named by them, or by its first cell if asked for."""
    name, shown = (
        (row[0], [*said, *filter(None, columns)]) if 0 in columns else (", ".join(row[at] for at in said), columns)
    )
    cells = tuple(("" if header[one] in EMPTY else header[one], row[one]) for one in shown)
    return FoundRow(name, cells, is_of_kind=True, says=frozenset(question.words))


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


def _of_asked_group(rows: Rows, asked: Collection[str], text: str) -> tuple[Rows, str]:
    """Of rows that have one name, the only one of a group that the question names, and that group.

    All rows, and no group, where each has a name of its own, where none or several are of such a group, and where the
    question asks for other rows as well, but for the group's total.
    """
    times = Counter(row[0] for row in rows)
    groups = _groups(text) if len(times) < len(rows) else {}
    found = [(row, groups.get(tuple(row), "")) for row in rows if times[row[0]] > 1]
    found = [(row, group) for row, group in found if not is_of_others(group, asked)]
    found = [(row, group) for row, group in found if (named := set(words(group))) and named.issubset(asked)]
    if len(found) != 1:
        return rows, ""
    row, group = found[0]
    others = (TOTAL.sub("", other[0]) for other in rows if other[0] != row[0])
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
            group, last = "" if TOTAL.match(rows[0][0]) else group, ""
        elif not _MARK.fullmatch(line):
            last = line.strip(" :")
    return found


def _asked_groups(text: str, rows: Rows, asked: Collection[str]) -> dict[tuple[str, ...], str]:
    """The groups of rows of which a question says a word that no name of these rows has, and half of all words."""
    found = {key: group for key, group in _groups(text).items() if not is_of_others(group, asked)}
    said = {word for row in rows for word in name_of_row(row[0])}
    return {
        key: group
        for key, group in found.items()
        if (common := set(words(group)).intersection(asked)) - said and 2 * len(common) >= len(set(words(group)))
    }


def _are_of_asked_years(header: Sequence[str], rows: Rows, asked: Collection[str], titled: Collection[str]) -> bool:
    """Whether columns have names, or else the title has the years of the question and no others, or each row does."""
    years = years_in(asked)
    return (
        any(header[1:])
        or years_in(titled) == years
        or all(years.issubset(words(row[0])) or spans_year(row[0], years) for row in rows)
    )


def _named_cells(row: Sequence[str], header: Sequence[str], columns: Sequence[int]) -> tuple[tuple[str, str], ...]:
    cells = ((heading_of(column, row, header), cell_of(row, column)) for column in columns)
    return tuple((heading, cell) for heading, cell in cells if cell)
