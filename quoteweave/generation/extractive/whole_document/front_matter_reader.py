"""Reads the lines above a document's text: its authors, date and title, their institutions and addresses.

Only what is surely there is read. Authors are named after "Author:"; or after "by" below the title, or below a line
that says what the document is ("A study of tides"), if more than capitals shows persons ("Dr", an initial, a common
given name, a mark, an abstract); or as in a paper: directly below the title, with an abstract and what shows persons,
or with marks that refer to institutions. Two words with capitals alone may be a firm, an addressee or a subtitle, and a
date below them does not show an author. A line of which a part is not understood is given as it is written, so that no
author is left out; if a block of names has such a line, nothing is read. The words are data (`front_matter.toml`), by
language.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from quoteweave.core.answers import Context
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Quote
from quoteweave.core.text.whole_document.front_matter_questions import FrontMatterPart
from quoteweave.generation.answer_text import join_with_and, tidy
from quoteweave.generation.extractive.whole_document.front_matter_lines import (
    EMAIL,
    MARKER,
    PREPRINT_STAMP,
    RAISED_LETTER,
    begins_abstract,
    byline_persons,
    calls_document,
    goes_on,
    has_title_or_initial,
    is_date,
    is_heading_of_part,
    is_published,
    leading_names,
    led_by_marker,
    may_be_title,
    may_name_another,
    name_lines,
    names_in,
    names_institution,
    names_role,
    says_date,
    says_only_dates,
    says_part_of_others,
    says_written,
    shows_person,
    surely_names_person,
)

MAX_LINE = 200
"""The most characters that are shown of one quote."""
MAX_READ = 2000
"""The most characters of a line that are read; a longer one is cut, and its end is no name."""
MAX_DATES = 2
"""The most lines that say when a document was published; of more, each may be about something else."""

_FOOTNOTE = lazy_regex(r"\s*[*∗⋆†‡]+$")


@dataclass(frozen=True, slots=True)
class FrontQuote:
    """A quote above a document's text."""

    id: str
    lines: tuple[str, ...]
    is_title: bool = False
    """Whether it is the title of the document."""
    is_heading: bool = False
    """Whether it is any heading."""


@dataclass(frozen=True, slots=True)
class FrontLine:
    """What a quote says about the part that is asked for."""

    text: str
    quote: FrontQuote


@dataclass(frozen=True, slots=True)
class _Cell:
    """A quote of the block below a title: authors, what stands beside them, or both."""

    quote: FrontQuote
    names: tuple[str, ...]
    other_lines: tuple[str, ...]
    """Its lines without names and dates."""

    @property
    def has_marker(self) -> bool:
        return any(MARKER.search(line) for line in self.quote.lines)

    @property
    def emails(self) -> list[str]:
        return list(dict.fromkeys(EMAIL.findall(" ".join(self.quote.lines))))


def front_quotes(context: Context, quotes: Iterable[Quote]) -> list[FrontQuote]:
    """The quotes above the text, from top to bottom, also those for which the context has no room.

    One that is not among `quotes` may be a heading.
    """
    titles, layouts = set(context.titles.values()), {quote.id: quote.layout for quote in quotes}
    return [
        FrontQuote(
            id,
            lines,
            is_title=" ".join(" ".join(lines).split()) in titles,
            is_heading=layouts.get(id, "title") == "title",
        )
        for id, lines in context.front_matter.items()
    ]


class FrontMatterReader:
    """What the quotes above a document's text surely say, from top to bottom."""

    def __init__(self, quotes: Sequence[FrontQuote]) -> None:
        self._quotes = [replace(quote, lines=tuple(_read_lines(quote.lines))) for quote in quotes]
        self._title = next((at for at, quote in enumerate(self._quotes) if quote.is_title), None)

    def read(self, part: FrontMatterPart) -> list[FrontLine]:
        """The lines that say what is asked for, such as a line of each author; none where it is not surely there."""
        match part:
            case "author":
                return self._author_lines()
            case "date":
                return self._date_lines()
            case "title":
                return self._title_lines()
            case "institution":
                return self._institution_lines()
            case "email":
                return self._email_lines()

    def _author_lines(self) -> list[FrontLine]:
        """The line with "by", or else the names of each quote below the title."""
        if self._byline is not None:
            return [self._byline] if self._is_sure(self._byline) else []
        return [FrontLine(join_with_and(list(cell.names)), cell.quote) for cell in self._block if cell.names]

    def _date_lines(self) -> list[FrontLine]:
        """The lines that say when it was published, or else a date alone beside authors, or that of a version."""
        lines = [FrontLine(line, quote) for quote in self._quotes if not quote.is_title for line in quote.lines]
        published, revised = ([line for line in lines if says_date(key, line.text)] for key in ("published", "revised"))
        authors = {line.quote.id for line in self._author_lines()} if not published else set()
        alone = (
            [line for line in lines if is_date(line.text) and self._may_be_own_date(line, authors)] if authors else []
        )
        date_lines = published or alone or revised
        most = 1 if date_lines is alone else MAX_DATES
        if len(date_lines) > most:
            return []
        return [FrontLine(tidy(line.text, MAX_LINE), line.quote) for line in date_lines]

    def _may_be_own_date(self, line: FrontLine, authors: Set[str]) -> bool:
        """Whether a date is where a document's own may be: with its authors, or directly below them or the title.

        Below anything else it may be that of a meeting, or a deadline.
        """
        at = self._quotes.index(line.quote)
        above = self._quotes[:at] if line.text == line.quote.lines[0] else []
        while above and _is_stamp(above[-1]):
            above = above[:-1]
        below_block = above and any(cell.quote is above[-1] for cell in self._block)
        return line.quote.id in authors or bool(
            above and (above[-1].is_title or above[-1].id in authors or below_block)
        )

    def _title_lines(self) -> list[FrontLine]:
        """The first heading, where the authors or the abstract follow it."""
        if self._title is None:
            return []
        later = (quote for quote in self._quotes[self._title + 1 :] if not PREPRINT_STAMP.match(quote.lines[0]))
        below = next(later, None)
        sure = below is not None and (
            _is_abstract(below) or any(line.quote is below for line in (self._byline, *self._author_lines()) if line)
        )
        title = self._quotes[self._title]
        text = _FOOTNOTE.sub("", " ".join(title.lines))
        return [FrontLine(tidy(text, MAX_LINE), title)] if sure else []

    def _institution_lines(self) -> list[FrontLine]:
        """The lines beside the authors of a paper, if one of them names an institution."""
        lines_found = []
        for cell in self._block:
            lines = [line for line in cell.other_lines if not EMAIL.search(line)]
            if lines:
                lines_found.append(FrontLine(tidy("\n".join(lines), MAX_LINE), cell.quote))
        return lines_found if any(names_institution(line.text) for line in lines_found) else []

    def _email_lines(self) -> list[FrontLine]:
        """The addresses of the authors of a paper."""
        return [FrontLine(join_with_and(cell.emails), cell.quote) for cell in self._block if cell.emails]

    @cached_property
    def _byline(self) -> FrontLine | None:
        """The only line that says by whom the document is, without "by"."""
        texts = ("" if quote.is_title else byline_persons(quote.lines) for quote in self._quotes)
        bylines = [(at, text) for at, text in enumerate(texts) if text]
        if len(bylines) != 1:
            return None
        at, text = bylines[0]
        if not self._is_of_document(at):
            return None
        names, below = names_in(text), self._quotes[at + 1].lines[0] if at + 1 < len(self._quotes) else ""
        if len(names) == 1 and names_in(below):
            return None  # a second author, or the publisher
        return FrontLine(tidy(text, MAX_READ), self._quotes[at])

    def _is_of_document(self, at: int) -> bool:
        """Whether a byline is that of the document: below the title, or below a line that says what the document is.

        Elsewhere it may be that of a chapter or a foreword, or of what the line above says: "Translated / by Jon Dell".
        """
        title = self._title if self._title is not None and self._title < at else None
        above = self._quotes[0 if title is None else title + 1 : at]
        texts = [quote for quote in above if not _is_stamp(quote) and any(map(str.isalpha, "".join(quote.lines)))]
        if any(quote.is_heading or is_heading_of_part(quote.lines[-1]) for quote in texts):
            return False
        if any(says_part_of_others(quote.lines) for quote in texts):
            return False
        if title is None and len(texts) == 1 and may_be_title(texts[0].lines):
            return True
        if title is None and self._title is not None:
            return False  # what stands above a title may be of a series, or of another text
        line = self._quotes[at].lines[0]
        begins_anew = says_written(line) and not line[0].islower()  # "This letter was / written by Lea Holm"
        return begins_anew or all(calls_document(quote.lines) for quote in texts)

    def _is_sure(self, byline: FrontLine) -> bool:
        """Whether it names persons, and does not say how something was done: "By Unanimous Consent"."""
        return any(map(_is_abstract, self._quotes)) or surely_names_person(byline.quote.lines[0])

    @cached_property
    def _block(self) -> list[_Cell]:
        """The authors below the title of a paper, with what stands beside them; none where anything is unsure."""
        if self._title is None or names_role(self._quotes[self._title].lines[-1]):
            return []
        cells, remaining = list[_Cell](), self._quotes[self._title + 1 :]
        while remaining and not _is_abstract(remaining[0]):
            if not _is_stamp(remaining[0]):
                cell = _read_cell(remaining[0])
                if cell is None or not (cells or cell.names) or is_heading_of_part(remaining[0].lines[0]):
                    break
                cells.append(cell)
            remaining = remaining[1:]
        if not cells or any(leading_names(quote.lines) for quote in remaining):
            return []
        return (
            cells
            if _are_of_one_form(cells) and _are_authors(cells, bool(remaining) and _is_abstract(remaining[0]))
            else []
        )


def _read_lines(lines: Sequence[str]) -> Iterator[str]:
    """The lines as far as they are read; the stamp of a preprint is one, however it is broken."""
    short = [" ".join((line if len(line) <= MAX_READ else f"{line[:MAX_READ]} …").split()) for line in lines]
    if short and PREPRINT_STAMP.match(short[0]):
        yield " ".join(short)
    else:
        yield from short


def _read_cell(quote: FrontQuote) -> _Cell | None:
    """The names of a quote and what stands beside them; None where it may be anything else, or hold another name."""
    lines = [line for line in quote.lines if not is_date(line) and not is_published(line)]
    first = name_lines(lines)
    after = lines[first:]
    # The line below a name may be a firm. It is a name if it continues a list, or if all lines are names with marks.
    listed = all(goes_on(line, below) for line, below in pairwise(lines[:first]))
    if not listed and (after or not any(map(MARKER.search, lines))):
        return None
    if any(map(RAISED_LETTER.search, lines)) or any(map(may_name_another, after)):
        return None
    beside = any(names_institution(line) or EMAIL.search(line) or led_by_marker(line) for line in after)
    if not first and not beside and not all(len(line.split()) == 1 for line in after):
        return None
    inline = [line for line in lines[:first] if EMAIL.search(line)]
    return _Cell(quote, tuple(leading_names(lines)), (*inline, *after))


def _are_of_one_form(cells: Sequence[_Cell]) -> bool:
    """Whether all quotes with names are of one form: a single one, with institutions in or below each, or with marks.

    A further line of capitals may be keywords, or an institution.
    """
    named = [at for at, cell in enumerate(cells) if cell.names]
    followed = all(at + 1 < len(cells) and not cells[at + 1].names for at in named)
    if any(cells[at].other_lines for at in named):
        return len(named) == 1 or all(cells[at].other_lines for at in named)
    return len(named) == 1 or followed or all(cells[at].has_marker for at in named)


def _are_authors(cells: Sequence[_Cell], has_abstract: bool) -> bool:
    """Whether what stands around names shows that they are a paper's authors.

    An invitation has names, institutions and addresses, too.
    """
    marked = all(cell.has_marker for cell in cells if cell.names)
    affiliated = any(names_institution(line) for cell in cells for line in cell.other_lines)
    names = [name for cell in cells for name in cell.names]
    known = [shows_person(name) for name in names]
    # In "Machine Learning, Thomas Bayes", one name is a person's, and neither is an author's.
    persons = all(known) or any(map(has_title_or_initial, names)) or (affiliated and any(known))
    addressed = any(cell.emails for cell in cells)
    return (marked and affiliated) or (has_abstract and (marked or persons or addressed))


def _is_stamp(quote: FrontQuote) -> bool:
    """Whether a quote only says dates, such as when a paper was received and published."""
    return all(map(says_only_dates, quote.lines))


def _is_abstract(quote: FrontQuote) -> bool:
    return begins_abstract(quote.lines[0])
