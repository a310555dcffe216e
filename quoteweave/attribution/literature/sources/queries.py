"""Makes queries for sources, and selects which of the papers that they send are shown.

Queries are plain words without operators, no longer than a URL can hold. Papers that can be read and were published in
time are shown, once each; the others are counted.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Annotated
from urllib.parse import quote_plus

from pydantic import BeforeValidator, StringConstraints, ValidationError

from quoteweave.attribution.literature.sources.papers import Paper, PublicationDate
from quoteweave.core.errors import SourceBadResponse, UsageError
from quoteweave.core.files.jsonl import describe_validation_error
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.messages import pluralize, replace_lone_surrogates

MAX_PER_PAGE = 100
"""Papers that one request asks for, at most; neither Semantic Scholar nor OpenAlex takes more."""
_MAX_ENCODED_BYTES = 1500
"""Bytes of an encoded query, at most; OpenAlex takes some 4 KB for the whole URL."""
# Semantic Scholar finds nothing for words with hyphens; the other characters are operators of one of the sources.
_OPERATORS = lazy_regex(r"[\s+|&/\"*()~?!^:\\\[\]{}<>=\u2010-\u2015\u2212-]+|[\x00-\x1f\x7f]+")
_BOOLEAN = lazy_regex(r"\b(?:AND|OR|NOT)\b")


def plain_query(text: str) -> tuple[str, str | None]:
    """Return a text as a query of plain words, and a note where its end was left out.

    >>> plain_query('multi-hop "question answering" NOT (vision)')
    ('multi hop question answering not vision', None)
    """
    text = replace_lone_surrogates(text[: 20 * _MAX_ENCODED_BYTES])
    words = _BOOLEAN.sub(lambda operator: operator.group().lower(), _OPERATORS.sub(" ", text)).split()
    query = " ".join(words)
    cut = _beginning(words)
    if cut == query:
        return query, None
    return cut, f"The query is longer than a source takes; its first {len(cut)} characters were searched for."


def _beginning(words: list[str]) -> str:
    """As many words as fit into a URL; if the first does not fit, as many of its characters as do."""
    ends = list(accumulate(len(quote_plus(word)) + 1 for word in words))
    fitting = bisect_right(ends, _MAX_ENCODED_BYTES)
    if fitting or not words:
        return " ".join(words[:fitting])
    ends = list(accumulate(len(quote_plus(character)) for character in words[0]))
    return words[0][: bisect_right(ends, _MAX_ENCODED_BYTES)]


def searchable(query: str, k: int) -> tuple[str, tuple[str, ...]]:
    """Return a query as `plain_query` does, with notes for the reader of the results; empty if it has no word.

    Raises UsageError for a `k` below 1.
    """
    if k < 1:
        raise UsageError(f"k is {k}; ask for 1 result or more")
    words, note = plain_query(query)
    if not any(map(str.isalnum, words)):
        return "", ("The query holds no word, so that nothing was searched for.",)
    return words, () if note is None else (note,)


def first_page(k: int, before: PublicationDate | None) -> int:
    """How many papers to ask for at first to show `k`: more if there is a date, as some are left out by it here."""
    return min(MAX_PER_PAGE, k if before is None else 2 * k)


_ARXIV_NUMBER = lazy_regex(r"(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?", re.ASCII)
SentText = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
"""A text that a source sends; null becomes an empty text."""
SentTitle = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""A title, which must not be empty, as a paper cannot be shown without one."""


class PaperSelection:
    """Takes papers as a source sends them, and says what it left out.

    `read_paper` makes a paper of what the source sent, or raises ValidationError. With `before`, papers that may have
    been published after it and papers without a date are left out, even if the source was told the limit, too.
    """

    def __init__(self, read_paper: Callable[[object], Paper], before: PublicationDate | None) -> None:
        self._read, self.before = read_paper, before
        self.is_cut = False
        """Whether the source found more than were asked for, though fewer than wanted can be shown."""
        self._sent = 0
        self._papers: dict[str, Paper] = {}
        self._unreadable: list[str] = []
        self._later: set[str] = set()
        self._undated: set[str] = set()

    @property
    def papers(self) -> Sequence[Paper]:
        """The papers to be shown, in the order in which the source sent them."""
        return tuple(self._papers.values())

    def add(self, sent: Iterable[object], bad_reply: Callable[[str], SourceBadResponse]) -> None:
        """Take the papers of a reply. Raises what `bad_reply` makes of a fault if none of them can be read."""
        papers = [self.readable(item) for item in sent]
        if papers and not any(papers):
            raise bad_reply(f"none of {len(papers)} papers can be read ({self._unreadable[-1]})")
        self._sent += len(papers)
        for paper in papers:
            if paper is not None and self.admits(paper):
                self._papers.setdefault(paper.id, paper)

    def readable(self, sent: object) -> Paper | None:
        """The paper that was sent; None, and counted, where it cannot be read."""
        try:
            return self._read(sent)
        except ValidationError as error:
            self._unreadable.append(fault_of(error))
            return None

    def admits(self, paper: Paper) -> bool:
        """Whether a paper may be shown; one that may not is counted."""
        if self.before is None:
            return True
        if paper.published is None:
            self._undated.add(paper.id)
            return False
        if paper.published.may_follow(self.before):
            self._later.add(paper.id)
            return False
        return True

    def notes(self) -> list[str]:
        """A sentence for each reason for which something was left out."""
        notes = []
        if self.is_cut:
            notes.append(f"Only the first {self._sent:,} papers that it found were looked at.")
        if self._later:
            later = pluralize(len(self._later), "paper")
            notes.append(f"Left out: {later} that may have been published after {self.before}.")
        if self._undated:
            notes.append(f"Left out: {pluralize(len(self._undated), 'paper')} of unknown date.")
        if self._unreadable:
            unreadable = pluralize(len(self._unreadable), "paper")
            notes.append(f"Left out: {unreadable} whose description cannot be read ({self._unreadable[0]}).")
        return notes


def later_date(date: PublicationDate | None, year: int | None) -> PublicationDate | None:
    """The date that a source gives, or its year if that is later; None if it gives neither."""
    if year is None or not 1000 <= year <= 9999 or (date is not None and date.year >= year):
        return date
    return PublicationDate(year=year)


def read_date(text: str | None) -> PublicationDate | None:
    """A date as a source writes it; None for what is no date."""
    try:
        return None if text is None else PublicationDate.parse(text[:10])
    except ValueError:
        return None


def read_limit(before: str | None) -> PublicationDate | None:
    """Read a date that a user wrote; None stays None. Raises UsageError for a text that is no date."""
    try:
        return None if before is None else PublicationDate.parse(before)
    except ValueError as error:
        raise UsageError(str(error)) from error


def arxiv_file(number: str | None) -> str | None:
    """The address of arXiv's PDF for a number such as `2407.12861` or `cs/0112017`; all of them may be read freely."""
    number = number or ""
    return f"https://arxiv.org/pdf/{number}" if _ARXIV_NUMBER.fullmatch(number) else None


def fault_of(error: ValidationError) -> str:
    """The first fault of what a source sent: the field, and what is wrong with it."""
    return describe_validation_error(error, "entry")[:120]
