"""Answer who wrote a document, when it was published and the like by the lines above its text (`Context.front_matter`).

A line that is made of names is the authors' only where something says so: "by" before it, an abstract below it, or the
address, institution or date of its author after it. Names that raised letters touch ("Gaoa , Yun Xiongb") are left
alone. What is not surely found is not answered, and the lines are shown as places.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from quoteweave.core.answers import Answer, Context
from quoteweave.core.records import Hit, Quote
from quoteweave.core.text.continuations import introduces
from quoteweave.core.text.structure_questions import FrontMatterPart, document_words, read_front_matter_request
from quoteweave.generation.answer_text import add_mark, escape_marks, join_with_and, tidy
from quoteweave.generation.citations import build_answer
from quoteweave.generation.extractive.composition import sources_sentence
from quoteweave.generation.extractive.locating import MAX_PLACES, LocatedQuote, compose_places
from quoteweave.generation.gate.facts import read_evidence
from quoteweave.generation.relevance import question_terms

MAX_LINE = 200
"""Most characters of what is given of one quote."""
MAX_DATES = 2
MAX_READ = 5000
"""Most characters of a line, and of a quote, that are read."""
MAX_PERSON = 100
"""Most characters of a person's name."""
MAX_ROLE_WORDS = 5
"""Most words of a line that calls those below it speakers, members and the like."""
MAX_BESIDE_DATE = 2
"""Most words beside a date in a line that gives a document's date without saying so."""

_BY = re.compile(
    r"(?:(?:written|authored)\s+by|by|authors?\s*:|von|verfasst\s+von|autor(?:en)?\s*:|par|auteurs?\s*:|por)\s+",
    re.IGNORECASE,
)
_ABSTRACT = re.compile(r"\W*(?:abstract|summary|zusammenfassung|kurzfassung|résumé|resumen)\W*", re.IGNORECASE)
_INSTITUTION = re.compile(
    r"\b\w*(?:Universi\w+|Institut\w*|Departe?ment|Facult\w*|School|College|Academy|Hochschule|Fakultät|École|ETH)\b",
    re.IGNORECASE,
)
_EMAIL = re.compile(r"(?:\{[^{}\s]*(?:,\s+[^{}\s]+)*\}|(?<![\w.+-])[\w.+-]{1,64})@[\w-]+(?:\.[\w-]+)+")
_PUBLICATION = re.compile(
    r"\b(?:publi\w+|releas\w+|online|issued|version|revised|updat\w+|draft|arxiv|copyright|veröffentlicht|stand|paru)\b|©",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r"\s*(?:[,;·•|]|&|\b(?:and|und|et|y)\b)\s*")
_MARKER = re.compile(r"[\d*∗⋆†‡§¶#✉]+")
_RAISED_LETTER = re.compile(r"[^\W\d_]\s+,")
_INITIAL = r"[A-ZÀ-Þ]\.(?:-?[A-ZÀ-Þ]\.)*"
_SURNAME = r"[A-ZÀ-Þ][\w'’]*[^\W\d_](?:-[\w'’]+)*"
_GIVEN = rf"(?:{_INITIAL}|{_SURNAME})"
_PARTICLE = r"(?:van|von|der|den|de|del|della|di|da|dos|du|la|le|al|bin|ibn|ter|zu)"
_NAME = re.compile(rf"(?:Dr\.?|Prof\.?)?\s*{_GIVEN}(?:\s+(?:{_GIVEN}|{_PARTICLE})){{0,4}}\s+{_SURNAME}(?:,?\s+Jr\.)?")
_ROLES = (
    r"(?:speakers?|members?|chair(?:s|man|men|woman|women|persons?)?|keynotes?|committees?|organi[sz]ers?|editors?|"
    r"presenters?|panell?ists?|moderators?|reviewers?|sponsors?|participants?|attendees|delegates|convenors?|trustees|"
    r"directors?|presidents?|secretar(?:y|ies)|treasurers?|translators?|supervisors?|illustrators?)"
)
_ROLE_AT_END = re.compile(rf"\b(?:{_ROLES}|board|panel|staff|present)\W*$", re.IGNORECASE)
# Words of institutions, places, kinds of documents and fields of study, of which one line is as short as a name.
_NO_NAME = re.compile(
    rf"\b(?:{_ROLES}|"
    r"the|of|for|in|on|at|team|group|authors?|board|conference|workshop|cent(?:er|re)|council|office|agency|ministry|"
    r"association|society|foundation|corporation|company|inc|ltd|limited|llc|gmbh|ag|bank|labs?|laborator\w+|research|"
    r"technolog\w+|systems?|services?|solutions?|hospital|county|city|state|states|kingdom|republic|new|united|hong|"
    r"north|south|east|west|street|road|avenue|notes?|release|edition|draft|overview|introduction|review|survey|annual|"
    r"quarterly|technical|user|users|working|white|brain|ai|journal|press|series|chapter|part|volume|project|"
    r"development|core|\w+(?:olog(?:y|ies)|ics|tions?|sciences?|ering|ements?))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _FrontQuote:
    """A quote above a document's text."""

    number: int
    hit: Hit
    lines: tuple[str, ...]
    is_title: bool

    @property
    def quote(self) -> Quote:
        return self.hit.quote

    @property
    def text(self) -> str:
        return self.quote.text[:MAX_READ]


@dataclass(frozen=True, slots=True)
class _Found:
    """What a quote says of the part that is asked for."""

    text: str
    number: int
    quote: Quote


def front_matter_answer(question: str, context: Context, model: str) -> Answer | None:
    """Return the answer from the front matter of the document asked about; None where it is not surely there."""
    request = read_front_matter_request(question)
    if request is None or not context.front_matter:
        return None
    found = list(_FINDERS[request.part](_front_quotes(context)))
    if not found:
        return None
    lines = [add_mark(escape_marks(one.text), f"[{one.number}]") for one in found]
    text = lines[0] if len(lines) == 1 else "\n".join(f"- {line}" for line in lines)
    text = f"{text}\n\n{sources_sentence(one.quote for one in found)}"
    return build_answer(question, text, context, model=model, status="answered")


def front_matter_located(question: str, context: Context, model: str, *, found_elsewhere: bool) -> Answer | None:
    """Return the answer that shows the first quotes above the document's text, the title first; None without any.

    An institution or address may as well stand at the end of a document: None if the search has found places.
    """
    request = read_front_matter_request(question)
    if request is None or not context.front_matter or (found_elsewhere and request.part in ("institution", "email")):
        return None
    quotes = sorted(_front_quotes(context), key=lambda one: not one.is_title)[:MAX_PLACES]
    places = [
        LocatedQuote(hit=one.hit, number=one.number, excerpt=tidy(one.quote.text, MAX_LINE), matches=())
        for one in quotes
    ]
    return build_answer(
        question, compose_places(places, question_terms(question)), context, model=model, status="located"
    )


def _front_quotes(context: Context) -> list[_FrontQuote]:
    found: list[_FrontQuote] = []
    for number, hit in enumerate(context.texts, start=1):
        if (lines := context.front_matter.get(hit.quote.id)) is not None:
            title = context.titles.get(hit.quote.document)
            read = tuple(line[:MAX_READ] for line in lines)
            found.append(_FrontQuote(number, hit, read, is_title=" ".join(hit.quote.text.split()) == title))
    return found


def _authors(quotes: Sequence[_FrontQuote]) -> list[_Found]:
    """The names of a line with "by"; else those of all lines that are surely the authors'."""
    for one in quotes:
        by = _BY.match(one.text)
        names = _names(re.sub(r"\s+", " ", " ".join(one.lines))[by.end() :], after_by=True) if by else []
        if names:
            return [_Found(join_with_and(names), one.number, one.quote)]
    if any(_RAISED_LETTER.search(one.text) for one in quotes if _names(one.text)):
        return []
    abstract = _has_abstract(quotes)
    found = []
    for at, one in enumerate(quotes):
        if one.is_title or (at and introduces(quotes[at - 1].text)):
            continue
        names = _leading_names(one.lines)
        if not names and _names_role(one.lines[-1]):
            break  # those below are speakers or members, and not surely authors
        if names and (abstract or _is_signed(at, quotes)):
            found.append(_Found(join_with_and(names), one.number, one.quote))
    return found


def _has_abstract(quotes: Sequence[_FrontQuote]) -> bool:
    return any(_ABSTRACT.fullmatch(one.text) for one in quotes)


def _names_role(line: str) -> bool:
    """Whether a line calls those below it speakers, members or the like."""
    return len(line.split()) <= MAX_ROLE_WORDS and _ROLE_AT_END.search(line) is not None


def _is_signed(at: int, quotes: Sequence[_FrontQuote]) -> bool:
    """Whether an institution or address follows the names of a quote, or just below the title a date."""
    near = [*quotes[at].lines, *(quotes[at + 1].lines if at + 1 < len(quotes) else ())]
    if any(_INSTITUTION.search(line) or _EMAIL.search(line) for line in near):
        return True
    below_title = at > 0 and quotes[at - 1].is_title
    return below_title and any(_is_date(line) for line in near)


def _leading_names(lines: Sequence[str]) -> list[str]:
    """The names with which the lines of a quote begin, and those after an e-mail address."""
    found: list[str] = []
    may = True
    for line in lines:
        names = _names(line) if may else []
        found += names
        may = bool(names) or _EMAIL.search(line) is not None
    return found


def _names(line: str, *, after_by: bool = False) -> list[str]:
    """The persons of a line that names nothing else, or of the part after "by" until something else stands there."""
    found: list[str] = []
    for part in _SEPARATOR.split(_MARKER.sub(" , ", " ".join(line[:MAX_READ].split()))):
        text = " ".join(part.split())
        if len(text) < 2:
            continue
        if not _is_name(text):
            return found if after_by else []
        found.append(text)
    return found


def _is_name(text: str) -> bool:
    if len(text) > MAX_PERSON or _NAME.fullmatch(text) is None or _NO_NAME.search(text) or _INSTITUTION.search(text):
        return False
    said = text.casefold().split()
    return document_words().isdisjoint((said[0], said[-1]))


def _is_date(line: str) -> bool:
    """Whether a line is a date of a month or day, with hardly anything besides."""
    dates = [date for date in read_evidence(line.title() if line.isupper() else line).dates if date.year is not None]
    rest = line.casefold()
    for date in dates:
        rest = rest.replace(date.text.casefold(), " ")
    return bool(dates) and len(re.findall(r"[^\W\d_]{2,}", rest)) <= MAX_BESIDE_DATE


def _dates(quotes: Sequence[_FrontQuote]) -> list[_Found]:
    """The lines with a date that say that it is the document's, or else that have little but a date.

    The latter only of a document with authors or an abstract: elsewhere it may be the day of a conference.
    """
    said, bare = list[_Found](), list[_Found]()
    for one in quotes:
        for line in () if one.is_title else one.lines:
            found = _Found(tidy(line, MAX_LINE), one.number, one.quote)
            upright = line.title() if line.isupper() else line
            if _PUBLICATION.search(line) and any(date.year is not None for date in read_evidence(upright).dates):
                said.append(found)
            elif _is_date(line):
                bare.append(found)
    if not said and not _has_abstract(quotes) and not _authors(quotes):
        return []
    return (said or bare)[:MAX_DATES]


def _title(quotes: Sequence[_FrontQuote]) -> list[_Found]:
    """The first heading, where the authors or the abstract follow it."""
    for at, one in enumerate(quotes[:-1]):
        if one.is_title:
            below = quotes[at + 1]
            sure = any(found.number == below.number for found in _authors(quotes)) or _ABSTRACT.fullmatch(below.text)
            return [_Found(tidy(one.text, MAX_LINE), one.number, one.quote)] if sure else []
    return []


def _institutions(quotes: Sequence[_FrontQuote]) -> Iterator[_Found]:
    """The lines below the names of authors, down to the last institution."""
    authors = {one.number for one in _authors(quotes)}
    first = next((at for at, one in enumerate(quotes) if one.number in authors), len(quotes))
    naming = [at for at, one in enumerate(quotes) if at >= first and any(map(_INSTITUTION.search, one.lines))]
    for one in quotes[first : max(naming, default=-1) + 1]:
        others = (_names, _is_date, _EMAIL.search, _PUBLICATION.search, _ABSTRACT.fullmatch)
        lines = [line for line in one.lines if not any(is_other(line) for is_other in others)]
        if lines:
            yield _Found(tidy("\n".join(lines), MAX_LINE), one.number, one.quote)


def _emails(quotes: Sequence[_FrontQuote]) -> Iterator[_Found]:
    for one in quotes:
        if found := _EMAIL.findall(" ".join(one.lines)):
            yield _Found(join_with_and(list(dict.fromkeys(found))), one.number, one.quote)


_FINDERS: Mapping[FrontMatterPart, Callable[[Sequence[_FrontQuote]], list[_Found] | Iterator[_Found]]] = {
    "author": _authors,
    "date": _dates,
    "title": _title,
    "institution": _institutions,
    "email": _emails,
}
