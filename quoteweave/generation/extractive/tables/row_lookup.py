"""Look up a row by any of its cells: who gives the opening address, where the lunch is, who is the treasurer.

The row is the only one with a cell that the question says, in whatever column, or with several: "French", "Thursday".
Several rows will do if their answer is the same. The answer is in the column that the question names, or that its
question word asks for: persons ("who"), times ("when"), places ("where").
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import permutations

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import MAX_ANALYSED_CHARACTERS, interrogative_words, with_words_alike
from quoteweave.core.text.tokens import words
from quoteweave.generation.extractive.tables.asked_columns import DOER, PLACES, acts_of_doer
from quoteweave.generation.extractive.tables.asked_names import AskedCells, request_stems
from quoteweave.generation.extractive.tables.heads import EMPTY, Rows
from quoteweave.generation.gate.dates import MONTHS, WEEKDAY

MAX_CELL = 200
"""The most characters of a cell by which a row is found."""
MIN_PERSONS = 0.75
"""The least share of names of persons among the cells of a column, for a question that asks for a person."""

PERSON = lazy_regex(
    r"(?:(?:Mr|Mrs|Ms|Dr|Prof|Sir|Dame)\.?\s+)*[A-ZÀ-Þ][\w'’.-]*"
    r"(?:\s+(?:[A-ZÀ-Þ][\w'’.-]*|van|von|der|den|ter|de|del|della|di|da|dos|du|la|las|le|los|bin|ibn|al|el|zu)){1,5}"
)
"""The name of a person, of two words or more."""
_TIMES = lazy_regex(r"\W*(?:when|times?|days?|dates?|by|due|deadline|starts?|begins?|hours?)\W*", re.IGNORECASE)
_TIME = lazy_regex(
    rf"\b(?:{WEEKDAY}s?|{'|'.join(MONTHS)}|daily|weekly|monthly|yearly|\d{{1,2}}[:.]\d\d)\b", re.IGNORECASE
)
# The name of a column that says what a thing costs: "Cost (£)", "Price per person"
_PRICES = lazy_regex(
    r"\W*(?:(?:ticket|entry|total|unit)\s+)?(?:prices?|costs?|fees?|fares?)(?:\s*\([^()]{1,20}\)|,?\s+(?:in|per|each)\b.{0,20})?\W*",
    re.IGNORECASE,
)
_DESTINATION = words("destination")
_COSTS = frozenset(words("cost price fee fare"))
_ASKS_PAST = lazy_regex(r"\b(?:was|were|did|had|has|have)\b", re.IGNORECASE)
_ASKS_WHAT_IS_THERE = lazy_regex(r"\W*(?:who|what|which)\b", re.IGNORECASE)
_NAMES_COLUMN = lazy_regex(
    r"\W*(?:(?:in|on|at|by)\s+)?(?:which|what)\s+(?P<noun>[\w-]+(?:\s+[\w-]+)?)\s+(?:has|have|had|is|are|was|were|do|does|takes?)\s"
    r"|\W*what(?:['’]s|\s+(?:is|are))\s+(?:the\s+)?(?P<of>[\w-]+(?:\s+[\w-]+)?)\s+of\s"
    r"|\W*what(?:['’]s|\s+(?:is|are))\s.*['’]s?\s+(?P<own>[\w-]+(?:\s+[\w-]+)?)\W*$",
    re.IGNORECASE,
)
# Verbs for what the persons in a column do at the occasion that a row names.
_ACTS_OF_PERSONS = frozenset(
    words(
        "give gave speak spoke talk lead led present hold held teach taught train instruct chair run ran deliver"
        " moderate guide"
    )
)
HAPPENS = frozenset(words("take place happen start begin meet hold held serve open"))
"""What occasions do, as stems."""
_PERFORM = frozenset(words("play perform appear sing"))
_WORD = lazy_regex(r"\w+")
_LABEL = lazy_regex(r"([^:]{2,30}):\s+(?=[A-ZÀ-Þ])")
# What separates several posts in one cell, or an item from what is said about it.
_PARTS = lazy_regex(r"\s*(?:[:,;/&()]|\band\b)\s*|(?<=[a-z])\.\s+(?=[A-ZÀ-Þ])")
_FORMER = lazy_regex(r"\b(?:former(?:ly)?|previous?|past|prior|earlier|until)\b", re.IGNORECASE)
_OF_OTHERS = lazy_regex(
    r"\b(?:after|before|until|till|since|not|never|neither|except|but|than|other|else|besides|between)\b|n[’']t\b",
    re.IGNORECASE,
)

LookedUpRow = tuple[Sequence[str], Sequence[int], Sequence[int]]
"""A row, the columns of its cells that a question says, and the columns that it asks for."""


def look_up_row(header: Sequence[str], rows: Rows, question: AskedCells) -> LookedUpRow | None:
    """The only row with a cell that a question says, if it asks for other cells of that row.

    It must say the whole cell, or one of the posts in it: a deputy treasurer is not the treasurer. For an occasion, the
    beginning of a cell is enough if it has all that the question says: "the keynote", for "Keynote: Carbon in peat".
    None if the table, by its title, is about what was once so, and for what is only after or before something else.
    """
    is_even = bool(header) and all(len(row) == len(header) for row in rows)
    if not is_even or _FORMER.search(" ".join(question.title_words)):
        return None
    columns, granted = _asked_columns(header, rows, question)
    said_rows = [*_rows_with_said_cells(header, rows, question, columns, granted)] if columns else []
    whole_rows = [looked_up for looked_up, is_whole in said_rows if is_whole]
    best_rows = whole_rows or [looked_up for looked_up, _ in said_rows]
    if question.asks == "person":
        best_rows = [
            (row, stated, at) for row, stated, at in best_rows if _names_persons([row[column] for column in at])
        ]
    return best_rows[0] if len({tuple(row[at] for at in columns) for row, _, columns in best_rows}) == 1 else None


def _asked_columns(header: Sequence[str], rows: Rows, question: AskedCells) -> tuple[Sequence[int], frozenset[str]]:
    """The columns that a question asks for, and words that the cell of an occasion need not have."""
    named = _NAMES_COLUMN.match(question.text[:MAX_ANALYSED_CHARACTERS])
    noun = next((words(group) for group in named.groups() if group), []) if named else []
    for column_words in (noun, noun[-1:]):
        columns = [at for at, name in enumerate(header) if column_words and words(name) == column_words]
        if len(columns) == 1:
            return columns, HAPPENS.union(noun)
    if question.asks == "date":
        columns = [at for at, name in enumerate(header) if _TIMES.fullmatch(name)]
        return (columns, HAPPENS | _PERFORM) if columns else _named_column(header, rows, question)
    columns, granted = _named_column(header, rows, question)
    if columns:
        return columns, granted
    if question.asks == "person":
        columns = [at for at in range(len(header)) if _names_persons([row[at] for row in rows])]
        doers = [at for at in columns if acts_of_doer(header[at], question.text, question.words)]
        columns = doers or columns  # titles of films look like names, too
        if len(columns) == 1:
            return columns, _acts_of_column(header[columns[0]], question.text, question.words)
        return [], HAPPENS
    kind, granted = (_PRICES, HAPPENS | _COSTS) if question.asks == "money" else (PLACES, HAPPENS)
    asks_kind = question.asks in {"money", "place"}
    columns = [at for at, name in enumerate(header) if asks_kind and kind.fullmatch(name)]
    return columns if len(columns) == 1 else [], granted


def _named_column(header: Sequence[str], rows: Rows, question: AskedCells) -> tuple[list[int], frozenset[str]]:
    """The only column whose whole name a question says, if it has what is asked for, and the words it then grants.

    It has times ("When is the glass collected?", of "Collected"), or what is there: "Who plays on the harbour stage?".
    """
    text, asks = question.text[:MAX_ANALYSED_CHARACTERS], question.asks
    if asks == "date" and not _ASKS_PAST.search(text):
        named = [at for at, name in enumerate(header) if words(name) and {*words(name)} <= {*question.words}]
        columns = [at for at in named if all(row[at] in EMPTY or _TIME.search(row[at]) for row in rows)]
    elif asks in {"person", "statement"} and _ASKS_WHAT_IS_THERE.match(text):
        columns = [
            at
            for at, name in enumerate(header)
            if words(name) and re.search(rf"\b(?:on|in|at)\s+(?:the\s+)?{re.escape(name)}\b", text, re.IGNORECASE)
        ]
        columns = [at for at in columns if not PLACES.fullmatch(header[at]) or len(columns) > 1]
        if asks == "person":  # what is on in a room need not be somebody
            columns = [at for at in columns if _names_persons([row[at] for row in rows])]
    else:
        columns = []
    if len(columns) != 1:
        return [], HAPPENS
    return columns, HAPPENS | _PERFORM | frozenset(words(header[columns[0]]))


def _acts_of_column(name: str, question: str, question_words: Collection[str]) -> frozenset[str]:
    """The verbs for what the persons in a column do; of doers, only what their name says: a "Winner" is one who won."""
    gives = DOER.fullmatch(name) is None or acts_of_doer(name, question, _ACTS_OF_PERSONS)
    return acts_of_doer(name, question, question_words) or (_ACTS_OF_PERSONS if gives else frozenset())


def name_other_doers(columns: Iterable[str], question: str, question_words: Collection[str]) -> bool:
    """Whether columns of persons are named after those who did something else: "Winner", for "Who ran on 3 May?"."""
    doers = [name for name in columns if DOER.fullmatch(name)]
    return bool(doers) and not any(_acts_of_column(name, question, question_words) for name in doers)


def _names_persons(cells: Collection[str]) -> bool:
    filled = [_LABEL.sub("", cell) for cell in cells if cell not in EMPTY]
    return bool(filled) and sum(PERSON.fullmatch(cell) is not None for cell in filled) >= MIN_PERSONS * len(filled)


def _rows_with_said_cells(
    header: Sequence[str], rows: Rows, question: AskedCells, columns: Sequence[int], granted: Collection[str]
) -> Iterator[tuple[LookedUpRow, bool]]:
    """The rows with cells that a question says, each with whether it says all of these.

    A row of which it says the first cell alone is left out, because that cell names the row already.
    """
    question_text = question.text[:MAX_ANALYSED_CHARACTERS]
    title_words = {*question.title_words, *question.words_above}
    excluding_words = {*_OF_OTHERS.findall(question_text.casefold())}
    spaced = f" {' '.join(_WORD.findall(question_text.casefold()))} "
    question_words = set(question.words)
    small = {*interrogative_words(), *request_stems(), *granted}
    for row in rows:
        label_words = {word for at in columns for label in _LABEL.findall(row[at]) for word in words(label)}
        wanted, stated_cells = question_words - small - label_words, dict[int, set[str]]()
        for at, cell in enumerate(row):
            parts = [part_words for part in (cell, *_PARTS.split(cell)) if (part_words := words(part))]
            if not parts or len(cell) > MAX_CELL or _FORMER.search(header[at]):
                continue
            if not excluding_words <= {*cell.casefold().split()}:
                continue
            names_place = PLACES.fullmatch(header[at]) and words(header[at]) != _DESTINATION
            if names_place and not {*words(header[at])} <= question_words:
                continue  # "Meet at the gate" is no meeting, but a trip goes by its destination
            if stated := {word for part_words in parts if question_words.issuperset(part_words) for word in part_words}:
                stated_cells[at] = stated
            elif (
                not any(column == at or row[column] in EMPTY for column in columns)
                and set() < _needed(wanted, header, [at], title_words) < {*parts[0]}
                and any(part_words[0] in question_words for part_words in parts)
            ):
                yield (row, [at], columns), False
        asked_columns = [at for at in columns if at not in stated_cells and row[at] not in EMPTY]
        need = _needed(wanted, header, stated_cells, title_words)
        pairs = permutations(stated_cells, 2)
        if any(f" {header[at]} {row[other_at]} ".casefold() in spaced for at, other_at in pairs):
            continue  # "from Celle to Osk", of a row from Osk to Celle
        if asked_columns and need and max(stated_cells, default=0) and need <= set().union(*stated_cells.values()):
            yield (row, [*stated_cells], asked_columns), True


def _needed(wanted: set[str], header: Sequence[str], columns: Iterable[int], titled: set[str]) -> set[str]:
    """The words of a question that these columns' cells must say: not those that name the columns, or the table."""
    names = frozenset(words(" ".join(header[at] for at in columns)))
    return wanted - with_words_alike(names, wanted) - titled or wanted
