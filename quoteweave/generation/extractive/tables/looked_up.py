"""Look up from a cell back to the name of its row: who has a post, or which of the things listed has something."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import MAX_ANALYSED_CHARACTERS
from quoteweave.core.text.tokens import words
from quoteweave.generation.extractive.tables.heads import Rows, heading_of

MAX_CELL = 200
"""Most characters of a cell that is given as what its row is told by."""
MIN_PERSONS = 0.75
"""Least share of the rows that are named by persons, where one is asked for."""

_WHO_IS = lazy_regex(r"\W*who(?:['’]s|\s+(?:is|are|was|were))\s+(?:the\s+)?(?P<post>[^?]+?)\W*", re.IGNORECASE)
_WHICH_HAS = lazy_regex(
    r"\W*(?:which|what)\s+(?P<noun>[\w-]+(?:\s+[\w-]+)?)\s+(?:has|have|had|is|are|was|were)\s+(?P<rest>[^?]+?)\W*",
    re.IGNORECASE,
)
# "Chief Financial Officer of Merrow", whose own documents need not say whose it is.
_OF_NAME = lazy_regex(r"\s+(?:of|at|for|in)\s+(?:the\s+)?[A-ZÀ-Þ][^,]*$")
# Several posts in one cell.
_PARTS = lazy_regex(r"\s*(?:[,;/&]|\band\b)\s*")
_SENTENCE = lazy_regex(r"(?<=[a-z])\.\s+(?=[A-ZÀ-Þ])")
_FORMER = lazy_regex(r"\b(?:former(?:ly)?|previous?|past|prior|earlier|until)\b", re.IGNORECASE)
PERSON = lazy_regex(
    r"(?:(?:Mr|Mrs|Ms|Dr|Prof|Sir|Dame)\.?\s+)*[A-ZÀ-Þ][\w'’.-]*"
    r"(?:\s+(?:[A-ZÀ-Þ][\w'’.-]*|van|von|der|den|ter|de|del|della|di|da|dos|du|la|las|le|los|bin|ibn|al|el|zu)){1,5}"
)
"""The name of a person, of two words or more."""


@dataclass(frozen=True, slots=True)
class ToldRow:
    """A row of which a question says a cell."""

    name: str
    heading: str
    """The name of the cell's column."""
    cell: str


def row_with(header: Sequence[str], rows: Rows, question: str, titled: Collection[str] = ()) -> ToldRow | None:
    """The only row with the cell that a question says, where it asks for its name.

    "Who is the treasurer?" asks for a person of that post, "Which country has the capital Osk?" for what the first
    column is said to name. The cell, or one of the posts in it, is said whole: a deputy treasurer is none. Nor is one
    who stands among former ones, by the words of the table's title.
    """
    text = question[:MAX_ANALYSED_CHARACTERS]
    if not header or any(len(row) != len(header) for row in rows) or _FORMER.search(" ".join(titled)):
        return None
    found = list(_told(header, rows, text))
    return found[0] if len({row.name for row in found}) == 1 else None


def _told(header: Sequence[str], rows: Rows, text: str) -> Iterator[ToldRow]:
    who, which = _WHO_IS.fullmatch(text), _WHICH_HAS.fullmatch(text)
    if who is not None and sum(PERSON.fullmatch(row[0]) is not None for row in rows) >= MIN_PERSONS * len(rows):
        posts: list[set[str]] = [set(words(post)) for post in {who["post"], _OF_NAME.sub("", who["post"])}]
        for row, at, cell in _cells(header, rows):
            for said in _SENTENCE.split(cell) if PERSON.fullmatch(row[0]) else ():
                if any(set(words(part)) in posts for part in [said, *_PARTS.split(said)]):
                    yield ToldRow(row[0], heading_of(at, row, header), said)
    elif which is not None and words(header[0]) and words(which["noun"]) == words(header[0]):
        said = set(words(which["rest"]))
        for row, at, cell in _cells(header, rows):
            own, named = set(words(cell)), set(words(header[at]))
            if own and named and own - named and said == own | named:
                yield ToldRow(row[0], header[at], cell)


def _cells(header: Sequence[str], rows: Rows) -> Iterator[tuple[Sequence[str], int, str]]:
    """The cells behind the names of rows, each with its row and column, but for what was so once."""
    columns = [at for at, name in enumerate(header) if at and not _FORMER.search(name)]
    return ((row, at, row[at]) for row in rows for at in columns if 0 < len(row[at]) <= MAX_CELL)
