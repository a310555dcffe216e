"""Reads the lines above a document's text: its authors, date and title, their institutions and addresses.

Only what is surely there is read. Authors are named after "by" or "Author:", or as in a paper: directly below the
title, with an e-mail address, an abstract, or marks that lead to institutions. Two words with capitals alone may be a
firm, an addressee or a subtitle, and a date below them signs nothing. A line of which a part is not understood is given
as it is written, so that no author is left out; where a block of names has such a line, nothing is read. The words are
data (`front_matter.toml`), by language.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise

from quoteweave.core.text.whole_document.front_matter_questions import FrontMatterPart
from quoteweave.core.text.whole_document.front_matter_words import front_matter_pattern, front_matter_words
from quoteweave.generation.answer_text import join_with_and, tidy

MAX_LINE = 200
"""Most characters of what is given of one quote."""
MAX_READ = 2000
"""Most characters of a line that are read; a longer one is cut, and its end is no name."""
MAX_DATES = 2
"""Most lines that say when a document was published; of more, each may be about something else."""
MAX_NAME = 100
"""Most characters of a person's name."""
MAX_NAME_WORDS = 6

_EMAIL = re.compile(r"(?:\{[^{}\s]*(?:,\s+[^{}\s]+)*\}|(?<![\w.+-])[\w.+-]{1,64})@[\w-]+(?:\.[\w-]+)+")
_MARKER = re.compile(r"(?<!\d)\d{1,2}(?!\d)|[*∗⋆†‡§¶#✉]+")
_FOOTNOTE = re.compile(r"\s*[*∗⋆†‡]+$")
_LED_BY_MARKER = re.compile(rf"\s*(?:{_MARKER.pattern})")
_RAISED_LETTER = re.compile(r"[^\W\d_]\s+,")
"""Letters that mark institutions touch the names: "Gaoa , Yun Xiongb"."""
_NAME_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|['’.-])*")
_STAMP = re.compile(r"arxiv:\d", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FrontQuote:
    """A quote above a document's text."""

    id: str
    lines: tuple[str, ...]
    is_title: bool


@dataclass(frozen=True, slots=True)
class FrontLine:
    """What a quote says of the part that is asked for."""

    text: str
    quote: FrontQuote


@dataclass(frozen=True, slots=True)
class _Cell:
    """A quote of the block below a title: authors, what stands beside them, or both."""

    quote: FrontQuote
    names: tuple[str, ...]
    others: tuple[str, ...]
    """Its lines without names and dates."""

    @property
    def has_marker(self) -> bool:
        return any(_MARKER.search(line) for line in self.quote.lines)

    @property
    def emails(self) -> list[str]:
        return list(dict.fromkeys(_EMAIL.findall(" ".join(self.quote.lines))))


class FrontMatterReader:
    """What the quotes above a document's text surely say, from top to bottom."""

    def __init__(self, quotes: Sequence[FrontQuote]) -> None:
        self._quotes = [FrontQuote(one.id, tuple(_read(one.lines)), one.is_title) for one in quotes]
        self._title = next((at for at, one in enumerate(self._quotes) if one.is_title), None)

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
            return [self._byline]
        return [FrontLine(join_with_and(list(cell.names)), cell.quote) for cell in self._block if cell.names]

    def _date_lines(self) -> list[FrontLine]:
        """The lines that say when it was published, or else a date alone beside authors, or that of a version."""
        lines = [FrontLine(line, one) for one in self._quotes if not one.is_title for line in one.lines]
        published, revised = ([one for one in lines if _says(key, one.text)] for key in ("published", "revised"))
        alone = [one for one in lines if _is_date(one.text)] if not published and self._author_lines() else []
        found = published or alone or revised
        most = 1 if found is alone else MAX_DATES
        return [FrontLine(tidy(one.text, MAX_LINE), one.quote) for one in found] if len(found) <= most else []

    def _title_lines(self) -> list[FrontLine]:
        """The first heading, where the authors or the abstract follow it."""
        if self._title is None:
            return []
        below = next((one for one in self._quotes[self._title + 1 :] if not _STAMP.match(one.lines[0])), None)
        sure = below is not None and (_is_abstract(below) or any(one.quote is below for one in self._author_lines()))
        title = self._quotes[self._title]
        text = _FOOTNOTE.sub("", " ".join(title.lines))
        return [FrontLine(tidy(text, MAX_LINE), title)] if sure else []

    def _institution_lines(self) -> list[FrontLine]:
        """What stands beside the authors of a paper, if an institution is among it."""
        found = []
        for cell in self._block:
            lines = [line for line in cell.others if not _EMAIL.search(line)]
            if lines:
                found.append(FrontLine(tidy("\n".join(lines), MAX_LINE), cell.quote))
        return found if any(_names_institution(one.text) for one in found) else []

    def _email_lines(self) -> list[FrontLine]:
        """The addresses of the authors of a paper."""
        return [FrontLine(join_with_and(cell.emails), cell.quote) for cell in self._block if cell.emails]

    @cached_property
    def _byline(self) -> FrontLine | None:
        """The only line that says by whom the document is, without "by"."""
        found = [
            (at, text) for at, one in enumerate(self._quotes) if not one.is_title and (text := _said_by(one.lines))
        ]
        if len(found) != 1:
            return None
        at, text = found[0]
        if at and _is_one_of("parts", self._quotes[at - 1].lines[-1]):
            return None  # "Foreword", and by whom that is
        names, below = _names(text), self._quotes[at + 1].lines[0] if at + 1 < len(self._quotes) else ""
        if len(names) == 1 and _names(below):
            return None  # a second author, or the publisher
        return FrontLine(tidy(text, MAX_READ), self._quotes[at])

    @cached_property
    def _block(self) -> list[_Cell]:
        """The authors below the title of a paper, with what stands beside them; none where anything is unsure."""
        if self._title is None or _names_role(self._quotes[self._title].lines[-1]):
            return []
        cells, rest = list[_Cell](), self._quotes[self._title + 1 :]
        while rest and not _is_abstract(rest[0]):
            if not _is_stamp(rest[0]):
                cell = _cell(rest[0])
                if cell is None or not (cells or cell.names) or _is_one_of("parts", rest[0].lines[0]):
                    break
                cells.append(cell)
            rest = rest[1:]
        if not cells or any(_leading_names(one.lines) for one in rest):
            return []
        return cells if _is_whole(cells) and _is_signed(cells, bool(rest) and _is_abstract(rest[0])) else []


def _read(lines: Sequence[str]) -> Iterator[str]:
    """The lines as far as they are read; the stamp of a preprint is one, however it is broken."""
    short = [" ".join((line if len(line) <= MAX_READ else f"{line[:MAX_READ]} …").split()) for line in lines]
    if short and _STAMP.match(short[0]):
        yield " ".join(short)
    else:
        yield from short


def _cell(quote: FrontQuote) -> _Cell | None:
    """The names of a quote and what stands beside them; None where it may be anything else, or hold another name."""
    lines = [line for line in quote.lines if not _is_date(line) and not _is_published(line)]
    first = _name_lines(lines)
    after = lines[first:]
    # Below a name may stand a firm. It is a name where it goes on with a list, or all lines are names with marks.
    listed = all(_goes_on(line, below) for line, below in pairwise(lines[:first]))
    if not listed and (after or not any(map(_MARKER.search, lines))):
        return None
    if any(map(_RAISED_LETTER.search, lines)) or any(map(_may_name_another, after)):
        return None
    beside = any(_names_institution(line) or _EMAIL.search(line) or _LED_BY_MARKER.match(line) for line in after)
    if not first and not beside and not all(len(line.split()) == 1 for line in after):
        return None
    inline = [line for line in lines[:first] if _EMAIL.search(line)]
    return _Cell(quote, tuple(_leading_names(lines)), (*inline, *after))


def _may_name_another(line: str) -> bool:
    """Whether a line below names is one, too, or begins with one: "Prof. Lea Holm, University of Tolland"."""
    if _LED_BY_MARKER.match(line):
        return False
    return _is_name(line.partition(",")[0]) or bool(_names(line))


def _is_whole(cells: Sequence[_Cell]) -> bool:
    """Whether each quote with names is of one form: the only one, with institutions in it or below it, or with marks.

    A further line of capitals may be keywords, or an institution.
    """
    named = [at for at, cell in enumerate(cells) if cell.names]
    followed = all(at + 1 < len(cells) and not cells[at + 1].names for at in named)
    if any(cells[at].others for at in named):
        return len(named) == 1 or all(cells[at].others for at in named)
    return len(named) == 1 or followed or all(cells[at].has_marker for at in named)


def _is_signed(cells: Sequence[_Cell], has_abstract: bool) -> bool:
    """Whether what stands around names shows that they are a paper's authors."""
    if has_abstract or any(cell.emails for cell in cells):
        return True
    marked = all(cell.has_marker for cell in cells if cell.names)
    return marked and any(_names_institution(line) for cell in cells for line in cell.others)


def _name_lines(lines: Sequence[str]) -> int:
    """How many lines at the beginning are made of names."""
    return next((at for at, line in enumerate(lines) if not _names(line)), len(lines))


def _leading_names(lines: Sequence[str]) -> list[str]:
    return [name for line in lines[: _name_lines(lines)] for name in _names(line)]


def _names(line: str) -> list[str]:
    """The persons of a line that names nothing else, beside addresses."""
    text = _MARKER.sub(" , ", _EMAIL.sub(" , ", line))
    parts = [" ".join(part.split()) for part in _separator().split(text)]
    found = [part for part in parts if len(part) > 1]
    return found if all(map(_is_name, found)) else []


def _is_name(text: str) -> bool:
    """Whether a text has the form of a person's name: words with capitals and initials, two at least."""
    said = _without_titles(text.split())
    if len(text) > MAX_NAME or not 2 <= len(said) <= MAX_NAME_WORDS or len(said[-1].rstrip(".")) < 2:
        return False
    particles, no_persons = front_matter_words("particles"), front_matter_words("no_persons")
    return (
        all(_begins_large(word) or (at and word in particles) for at, word in enumerate(said))
        and not text.endswith("-")
        and _begins("by").match(text) is None
        and _begins_large(said[-1])
        and no_persons.isdisjoint(word.casefold() for word in said)
        and not _names_institution(text)
    )


def _begins_large(word: str) -> bool:
    return _NAME_WORD.fullmatch(word) is not None and word[0].isupper()


def _without_titles(said: list[str]) -> list[str]:
    """The words of a name without "Prof. Dr." before it, if any is left."""
    at = next((at for at, word in enumerate(said) if word.casefold() not in front_matter_words("titles")), 0)
    return said[at:]


def _said_by(lines: Sequence[str]) -> str:
    """Whom a quote names after "by"; the line as it is written where that may be more than a list of names.

    Empty where the quote does not begin so, or no name follows, or more than is said to belong to it.
    """
    labelled = _begins("labelled").match(lines[0])
    by = labelled or _begins("by").match(lines[0])
    if by is None:
        return ""
    line = lines[0]
    for below in lines[1:]:
        if not _goes_on(line, below):
            if _names(below):
                return ""  # another author, or the publisher
            break
        line = f"{line} {below}"
    line = re.sub(rf"[\s,;|·•–—-]*(?<!\w){_date()}\W*$", "", line, flags=re.IGNORECASE)
    text = line[by.end() :].strip()
    if not (_begins_with_name(text) or (labelled and text[:1].isupper() and not re.search(r"\d", text))):
        return ""
    names = _names(text)
    has_and = any(re.search(r"\w|&", between[0]) for between in _separator().finditer(text))
    return " ".join(_MARKER.sub("", text).split()) if len(names) == 1 or (names and has_and) else line


def _goes_on(line: str, below: str) -> bool:
    """Whether a list of names goes on from one line to the next."""
    separated = any(between.end() == len(line) for between in _separator().finditer(line))
    return separated or _separator().match(below) is not None


def _begins_with_name(text: str) -> bool:
    """Whether a text begins with a person's name: as words with capitals do up to a comma, or a small word."""
    head = _separator().split(_MARKER.sub(" , ", text))[0].split()
    particles = front_matter_words("particles")
    end = next((at for at, word in enumerate(head) if not _begins_large(word) and word not in particles), len(head))
    while end and not _begins_large(head[end - 1]):
        end -= 1
    return _is_name(" ".join(head[:end]))


def _is_published(line: str) -> bool:
    return _says("published", line) or _says("revised", line)


def _is_stamp(quote: FrontQuote) -> bool:
    """Whether a quote only says dates, such as when a paper was received and published."""
    return all(
        re.search(_date(), line, re.IGNORECASE) and not any(map(_is_name, _separator().split(line)))
        for line in quote.lines
    )


def _is_date(line: str) -> bool:
    return re.fullmatch(rf"\W*{_date()}\W*", line, re.IGNORECASE) is not None


def _says(key: str, line: str) -> bool:
    """Whether a line says the date of publication, or of a version: by a word directly before a date, and not two."""
    if key == "published" and _STAMP.match(line):
        return re.search(rf"{_date()}$", line, re.IGNORECASE) is not None
    return _dated(key).search(line) is not None


def _is_abstract(quote: FrontQuote) -> bool:
    return _is_one_of("abstract", quote.lines[0])


def _is_one_of(key: str, line: str) -> bool:
    return line.strip(" .:—–-").casefold() in front_matter_words(key)


def _names_role(line: str) -> bool:
    """Whether a title calls those below it speakers, members or the like."""
    return not front_matter_words("roles").isdisjoint(re.findall(r"\w+", line.casefold()))


def _names_institution(line: str) -> bool:
    return _institution().search(line) is not None


@cache
def _institution() -> re.Pattern[str]:
    said = sorted(front_matter_words("institutions"))
    ways = (re.escape(word[1:]) if word.startswith("*") else rf"(?<!\w){re.escape(word)}" for word in said)
    return re.compile("|".join(ways), re.IGNORECASE)


@cache
def _separator() -> re.Pattern[str]:
    return re.compile(rf"\s*(?:[,;·•|]|&|(?<!\w){_and()}(?!\w))\s*", re.IGNORECASE)


def _and() -> str:
    return front_matter_pattern("and")


@cache
def _begins(key: str) -> re.Pattern[str]:
    return re.compile(rf"{front_matter_pattern(key)}\s{'*' if key == 'labelled' else '+'}", re.IGNORECASE)


@cache
def _date() -> str:
    """A pattern of a date with its month: "3 May 2019", "May 3, 2019", "3. Mai 2019", "le 1er mai 2019", "3/5/2019"."""
    month, day = front_matter_pattern("months"), r"\d{1,2}(?:st|nd|rd|th|er|[.ºª])?"
    return (
        rf"(?:\d{{4}}-\d\d-\d\d|\d{{1,2}}([./-])\d{{1,2}}\1\d{{4}}"
        rf"|(?:{day}\s+(?:of\s+|de\s+)?)?(?<!\w){month}\.?(?:\s+{day})?,?\s+(?:de\s+)?\d{{4}}(?!\d))"
    )


@cache
def _dated(key: str) -> re.Pattern[str]:
    said, before = front_matter_pattern(key), front_matter_pattern("before_date")
    year, behind = r"(?:1[5-9]|20)\d\d(?!\w)", rf"\s*(?:$|[,;|·•()]|\.(?!\w)|{front_matter_pattern('by')}\s)"
    return re.compile(
        rf"(?:^|[,;|·•(—–.]\s*){said}(?:\s*:\s*|\s+)(?:{before}\s+)*(?:{_date()}|{year}){behind}", re.IGNORECASE
    )
