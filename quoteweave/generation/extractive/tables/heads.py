"""Separate the head of a table, which has the names of its columns, from its rows. Rows are lists of cells."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from operator import itemgetter

from quoteweave.core.concurrency.recent_cache import cached_for_recent_texts
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import words

_NUMBER = lazy_regex(r"[^\w\s]*\s*\d")
_MERE_NUMBER = lazy_regex(r"[-+−–~≈$€£]?\s?\d[\d.,' ]*\s?%?")
YEAR = lazy_regex(r"(?:1[5-9]|20|21)\d\d(?!\d|,)")
"""A year, at the beginning of a cell."""
# "August 30, 2020", and "31.3.2003" or "31/3/2003", unlike any version or section in a row of years.
_DATE = lazy_regex(rf"(?:[^\W\d_]{{3}}\W.*\b|(?<![\d.])\d{{1,2}}([./])\d{{1,2}}\1){YEAR.pattern}$")
_SCALE = r"['’]?(?:thousands?|millions?|billions?|trillions?|000s?|k|m|mn|mio|bn|tn)\b"
_CURRENCY = (
    r"(?:[A-Z]{0,3}\s?[$€£¥]|%"
    r"|(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|NOK|SEK|DKK|PLN|CNY|RMB|INR|HKD|SGD|euros?|dollars?|pounds?)\b)"
)
# "2031 (£m)" is the name of a column, whatever else the row holds; "2031 ($500m)" and "2031 (in May)" are values.
_YEAR_OF_AMOUNTS = lazy_regex(rf"{YEAR.pattern}\s*(?:\(\s*)?(?:in\s+)?(?:{_CURRENCY}|{_SCALE})\D*(?:000s?\)?)?")
_SIGN = lazy_regex(r"[$€£¥%()]+")
# The place between two amounts that were joined in one cell: "$ 26,822 $ (53,985)".
_BETWEEN_AMOUNTS = lazy_regex(r"(?<=[\d)])\s*(?=[$€£¥]\s?\(?\d)")
EMPTY = frozenset({"", "-", "–", "—"})
"""Cells that hold nothing."""
# Headings of columns that only number the rows, unlike "Error", "Floor" and "Step", which say what the numbers are of.
_NUMBERING = frozenset({"", "#", "no", "nr", "number", "s.no", "sl.no", "rank", "pos", "position", "place", "№", "n°"})

_LEADERS = lazy_regex(r"\s*(?<![.·…])[.·…]{3,}$")
_SIZE = lazy_regex(r"\d[\d.,]*\s?[^\W\d_]{1,12}(?:\s[^\W\d_]{3,}){0,2}")  # "20 mg"
_ORDINAL = lazy_regex(r"\d{1,3}\s?\.?")
_LETTERS = lazy_regex(r"[^\W\d_]{3}")
_CODE = lazy_regex(r"(?=\S*[^\W\d])(?=\S*\d)(?!\S*[^\W\d_]{4})[\w./-]+")

MIN_NAMED = 3
"""The least number of rows from which it is inferred which column names them."""
MIN_OWN_NAMES = 0.8
"""The least share of these rows that must have different names in that column."""

Rows = Sequence[Sequence[str]]


@cached_for_recent_texts(512, longest=8_000)
def read_rows(text: str) -> Rows:
    """The cells of each line that holds more than one, without the dots that lead to the next."""
    lines = (line.split("|") for line in text.splitlines() if "|" in line)
    return [[_LEADERS.sub("", " ".join(cell.split())) for cell in cells] for cells in lines]


def without_numbering(header: Sequence[str], rows: Rows) -> tuple[Sequence[str], Rows]:
    """Leave out a first column that only numbers the rows, so that the next one names them.

    Rows below that are not numbered, such as totals, have their name in either column.
    """
    numbered = [row for row in rows if _ORDINAL.fullmatch(row[0])]
    numbering = len(header) > 2 and header[0].strip(" .:").casefold() in _NUMBERING
    counted = [int(row[0].strip(" .")) for row in numbered] == [*range(1, len(numbered) + 1)]
    if not numbering or len(numbered) < 2 or not counted or any(len(row) != len(header) for row in rows):
        return header, rows
    unnumbered = rows[len(numbered) :]
    is_mixed = any(not _ORDINAL.fullmatch(row[0]) for row in rows[: len(numbered)])
    if is_mixed or any(row[0] not in EMPTY and row[1] not in EMPTY for row in unnumbered):
        return header, rows
    named = [row[1:] if row[0] in EMPTY else [row[0], *row[2:]] for row in unnumbered]
    return header[1:], [*(row[1:] for row in numbered), *named]


def named_by_words(header: Sequence[str], rows: Rows) -> tuple[Sequence[str], Rows]:
    """Put the column that names the rows first, if the columns before it only repeat a few cells, or hold codes.

    In "Quantity | Unit | Part", with "1 | Pcs" in most rows, the part names a row, and so it does beside "A-1002".
    There must be a header.
    """
    if not header or any(len(row) != len(header) for row in rows):
        return header, rows
    full_rows = [row for row in rows if 2 * sum(cell in EMPTY for cell in row) < len(row)]  # no names of groups
    columns = list(zip(*full_rows, strict=True)) if len(full_rows) >= MIN_NAMED else []
    names_none = (_are_repeated(cells) or all(map(_CODE.fullmatch, cells)) for cells in columns)
    at = next((at for at, is_other in enumerate(names_none) if not is_other), 0)
    names = [cell for cell in columns[at] if cell not in EMPTY] if at else []
    if len(set(names)) < MIN_OWN_NAMES * max(MIN_NAMED, len(full_rows)) or not all(map(_LETTERS.search, names)):
        return header, rows
    order = [at, *(column for column in range(len(header)) if column != at)]
    return [header[column] for column in order], [[row[column] for column in order] for row in rows]


def _are_repeated(cells: Sequence[str]) -> bool:
    """Whether half of the cells or more occur several times; never for years and dates, which name rows even so."""
    times = Counter(cells)
    repeated = sum(times[cell] > 1 for cell in cells)
    return 2 * repeated >= len(cells) and not any(YEAR.match(cell) or _DATE.search(cell) for cell in cells)


def split_header(rows: Rows) -> tuple[Sequence[str], Rows]:
    """Split a table into its header, in the first or second row, and the rows below; empty without a header.

    A header whose first cell is blank may lack that cell, as in tables without rules; this is only certain for years,
    since "Item | Price" over three cells may name the rows and both columns. A table of two columns is taken for names
    and values without a header, unless all values below the first row are plain numbers. Above the names there may be
    others, each over several columns ("Revenue" and "Profit" over "2023 | 2022 | 2023 | 2022"): a column then has both
    names, and there is no header if it is uncertain which these are. The upper name may also be repeated over each of
    its columns ("Winter | Winter" over "1 person | 2 persons"), as in HTML.
    """
    if count := _rows_of_spans(rows):
        spanned = _joined(rows[:count])
        return spanned, [_aligned(row, len(spanned)) for row in rows[count:]]
    candidates: list[tuple[int, Sequence[str], Rows]] = []
    for position in range(min(2, len(rows) - 1)):
        names, below = rows[position], rows[position + 1 :]
        width = Counter(map(len, below)).most_common(1)[0][0]
        column_names = ["", *names] if _lacks_first(names, width) else names
        has_values = width > 2 or (position == 0 and _are_numbers(below))
        if (
            len(column_names) == width
            and has_values
            and (_is_header(column_names) or _names_sizes(column_names, below))
        ):
            candidates.append((sum(cell not in EMPTY for cell in column_names[1:]), column_names, below))
    # Of two header rows, the first may span columns, and then has fewer names.
    _, header, body = max(candidates, key=itemgetter(0), default=(0, [], rows))
    if len(body) == len(rows) - 2:
        header = _with_names_above(rows[0], header)
    return header, [_aligned(row, len(header)) for row in body]


def _lacks_first(names: Sequence[str], width: int) -> bool:
    """Whether names are surely those of all columns but the first: they are one fewer, and begin with years."""
    return len(names) == width - 1 and all(YEAR.match(name) or _DATE.search(name) for name in names[:2])


def _rows_of_spans(rows: Rows) -> int:
    """The number of rows of a head in which all but the last repeat names that span columns; 0 for other heads.

    The first cell of each must be that of the first row, or empty.
    """
    count = 1
    while count + 1 < len(rows) and _spans_over(rows[count - 1], rows[count], rows[0][0]):
        count += 1
    return count if count > 1 else 0


def _spans_over(above: Sequence[str], row: Sequence[str], name: str) -> bool:
    """Whether a row repeats names over columns that the row below names; that row begins with `name`, or a blank.

    After a blank, the row below may be of numbers only if it has the same names below each name.
    """
    is_repeated = any(first == second and first not in EMPTY for first, second in pairwise(above[1:]))
    if not is_repeated or len(above) != len(row) or row[0] not in {*EMPTY, name} or not _is_header(["", *above]):
        return False
    return (row[0] == name not in EMPTY) or _is_header(row) or bool(_places_above(above, row[1:]))


def _joined(head: Rows) -> list[str]:
    """The names of each column in the rows of a head, as one; a name that spans rows is written once."""
    columns = zip(*head, strict=True)
    return [" ".join(dict.fromkeys(name for name in names if name not in EMPTY)) for names in columns]


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of a table from `start` to before `end` with one head, or with none if it is uncertain which they have."""

    start: int
    end: int
    has_head: bool


def table_parts(rows: Rows) -> list[Part]:
    """The parts of a table, each with a head of its own, or with none.

    Another part begins at a row of other years than those of the head, if its first cell is that of the head or empty,
    or if it says what the amounts are in ("Division | 2031 (£m) | 2030 (£m)"). If such a row has another first cell,
    and its years are as far apart as those of the head or stand among other names, it may be a row ("Ends | 2031 |
    2030") or a head ("Cash flows | 2021 | 2020"): it begins a part without a head.
    """
    starts = _part_starts(rows)
    ends = [*starts, len(rows)][1:]
    return [Part(start, end, has_head) for (start, has_head), end in zip(starts.items(), ends, strict=True)]


def _part_starts(rows: Rows) -> dict[int, bool]:
    # The rows below a second head may be wider and more than those below the first, so they do not decide on the first.
    again = (at for at, row in enumerate(rows) if at > 1 and row[0] == rows[0][0] and _years(row[1:]))
    own_rows = rows[: next((at for at in again if not all(map(_is_header, rows[1:at]))), len(rows))]
    header, body = split_header(own_rows)
    years, starts = _years(header[1:]), {0: True}
    for at in range(len(own_rows) - len(body), len(rows)) if years else ():
        first, *other_cells = rows[at]
        if YEAR.match(first):
            first, other_cells = "", [first, *other_cells]
        row_years = _years(other_cells)
        if not row_years or row_years == years:
            continue
        of_amounts = all(_YEAR_OF_AMOUNTS.fullmatch(cell) for cell in other_cells if YEAR.search(cell))
        if first in EMPTY or first == header[0] or first.startswith("(") or of_amounts:
            starts[at] = True
        elif at + 1 < len(rows) and (
            (len(row_years) > 1 and _steps(row_years) == _steps(years)) or _has_other_names([first, *other_cells])
        ):
            starts[at] = False
    return starts


def parts_of(rows: Rows) -> list[tuple[Sequence[str], Rows]]:
    """The header of each part of a table, and the rows below; empty for a part without a header."""
    rows_of_parts = ((part.has_head, rows[part.start : part.end]) for part in table_parts(rows))
    return [split_header(part) if has_head else ([], part) for has_head, part in rows_of_parts]


def _years(cells: Sequence[str]) -> list[int]:
    """The years of the cells that have one; none if a cell has a number that is not of a date."""
    matches = (YEAR.search(cell) for cell in cells)
    return [int(year[0]) for year in matches if year] if _is_header(["", *cells]) else []


def _has_other_names(row: Sequence[str]) -> bool:
    """Whether other names stand among the mere years of a row, with capitals if the row's name has one: not "never"."""
    other_names = [cell for cell in row[1:] if cell not in EMPTY and not _is_mere_year(cell)]
    named = all(not YEAR.search(cell) and (cell[0].isupper() or not row[0][:1].isupper()) for cell in other_names)
    return named and 0 < len(other_names) < sum(cell not in EMPTY for cell in row[1:])


def _is_mere_year(cell: str) -> bool:
    """Whether a cell is nothing but a year, or a year with its unit."""
    return YEAR.fullmatch(cell) is not None or _YEAR_OF_AMOUNTS.fullmatch(cell) is not None


def _steps(years: Sequence[int]) -> list[int]:
    return [later - year for year, later in pairwise(years)]


def head_places(rows: Rows) -> tuple[int, dict[int, list[tuple[int, int]]]]:
    """Return how many rows are the head, at least one, and the places of each column's names: their row and cell.

    Columns are numbered as in the rows below. Without a header the first row names the columns.
    """
    header, body = split_header(rows)
    if count := _rows_of_spans(rows):
        return count, {at: [(row, at) for row in range(count)] for at in range(1, len(header))}
    if not header and len(body) == len(rows):
        width = Counter(map(len, rows[1:])).most_common(1)[0][0] if len(rows) > 1 else 0
        lacking = width - len(rows[0]) if rows else 0
        is_known = lacking == 0 or _lacks_first(rows[0], width)
        return 1, {at: [(0, at - lacking)] for at in range(1, width)} if is_known else {}
    last = len(rows) - len(body) - 1
    lacking = len(header) - len(rows[last])
    places = {at: [(last, at - lacking)] for at in range(1, len(header))}
    names = rows[last][1 - lacking :]
    if header and list(header[1:]) != list(names):  # they were joined with those above
        for at, above in enumerate(_places_above(rows[0], names), 1):
            places[at].insert(0, (0, above))
    return last + 1, places


def rows_below_heads(rows: Rows) -> Iterator[tuple[int, dict[int, list[tuple[int, int]]]]]:
    """The number of each row below a head, with the places of each column's names there, as `head_places` gives them.

    Those of a part without a head have no names.
    """
    for part in table_parts(rows):
        head, columns = head_places(rows[part.start : part.end]) if part.has_head else (0, {})
        names = {column: [(part.start + row, cell) for row, cell in places] for column, places in columns.items()}
        yield from ((row, names) for row in range(part.start + head, part.end))


def _with_names_above(above: Sequence[str], header: Sequence[str]) -> Sequence[str]:
    """A header with the names above it; none if it is uncertain over which columns each of these stands."""
    names, count = header[1:], sum(cell not in EMPTY for cell in above)
    if count < 2 or count > len(names) or not _is_header(["", *above]):
        return header
    if places := _places_above(above, names):
        return [header[0], *(f"{above[at]} {name}" for at, name in zip(places, names, strict=True))]
    return header if count >= sum(name not in EMPTY for name in names) else []


def _places_above(above: Sequence[str], names: Sequence[str]) -> list[int]:
    """For each column's name, the index of the cell above it; empty if that is uncertain.

    It is certain if the same names, in the same order, are below each of the cells above.
    """
    groups = [at for at, cell in enumerate(above) if cell not in EMPTY and (at < 2 or cell != above[at - 1])]
    for upper_cells in (groups, groups[1:]):  # the first may name the rows
        size = len(names) // max(1, len(upper_cells))
        parts = [names[start : start + size] for start in range(0, len(names), max(1, size))]
        if size > 1 and len(parts) == len(upper_cells) > 1 and all(part == parts[0] for part in parts):
            return [at for at in upper_cells for _ in range(size)]
    return []


def _aligned(row: Sequence[str], width: int) -> Sequence[str]:
    """A row without cells that contain only a symbol ("$"), where these make it longer than the header.

    If the row is shorter, cells that hold two amounts are split.
    """
    bare = [cell for at, cell in enumerate(row) if not at or not _SIGN.fullmatch(cell)]
    if len(row) > width == len(bare):
        return bare
    parts = [*row[:1], *(part for cell in row[1:] for part in _BETWEEN_AMOUNTS.split(cell))]
    return parts if len(row) < width == len(parts) else row


def are_said_apart(
    headings: Collection[str],
    header: Sequence[str],
    question_words: Collection[str],
    pairs: Collection[tuple[str, str]],
) -> bool:
    """Whether a question has words of one of the headings apart, while another heading consists of some of them.

    It has "Lean Republican" apart in "Republicans, or people who lean to none", if another column is "Republican".
    `pairs` are the question's adjacent words.
    """
    names = [frozenset(words(name)) for name in header]
    for asked_words in (frozenset(words(heading)).intersection(question_words) for heading in headings):
        for whole_name in names:
            apart_words = {word for word in asked_words - whole_name if word.isalpha()}  # a year may stand anywhere
            is_apart = not any({*pair} & whole_name and {*pair} & apart_words for pair in pairs)
            if apart_words and is_apart and whole_name and whole_name < asked_words:
                return True
    return False


def holds_amounts(cell: str) -> bool:
    """Whether a cell holds several amounts, which belong to several columns."""
    return _BETWEEN_AMOUNTS.search(cell) is not None


def heading_of(column: int, row: Sequence[str], header: Sequence[str]) -> str:
    """The name of a row's column; "" where there is none, or the row has more or fewer cells than there are names."""
    name = header[column] if 0 < column < len(header) == len(row) else ""
    return "" if name in EMPTY else name


def _are_numbers(rows: Rows) -> bool:
    """Whether there are at least two rows, all with two cells, the second a number without a unit."""
    return len(rows) > 1 and all(len(row) == 2 and _MERE_NUMBER.fullmatch(row[1]) for row in rows)


def _is_header(row: Sequence[str]) -> bool:
    """Whether a row can be a header: it has no numbers but years, and those of dates ("52 Weeks Ended May 3, 2020")."""
    cells = [cell for cell in row[1:] if cell not in EMPTY]
    numbers = [cell for cell in cells if _NUMBER.match(cell) and not YEAR.match(cell)]
    return bool(cells) and all(map(_DATE.search, numbers))


def _names_sizes(row: Sequence[str], below: Rows) -> bool:
    """Whether a row can be a header for having sizes as names, beside others: "- | Placebo | 20 mg | 40 mg".

    Its first cell is blank then, and no cell below is such a size.
    """
    numbers = [cell for cell in row[1:] if _NUMBER.match(cell)]
    words_beside = [cell for cell in row[1:] if cell not in {*EMPTY, *numbers}]
    cells_below = chain.from_iterable(other_row[1:] for other_row in below)
    return (
        row[0] in EMPTY
        and bool(words_beside)
        and all(map(_SIZE.fullmatch, numbers))
        and not any(map(_SIZE.fullmatch, cells_below))
    )
