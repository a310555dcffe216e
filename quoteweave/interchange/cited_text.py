"""Converts the text of another system, and the sources that it cites, to text with this project's marks.

Other systems keep citations apart from their text; an answer has them in it, as `[1]` and `![summary](image1)`. If
their text has something that looks like a mark, it is changed: `[1]` becomes `(1)`. A mark is put before the full stop
after the cited words (`Grain was shipped [1].`). It is never put into code, where no mark is read, but after it.
"""

import copy
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from quoteweave.core.answers import Answer, Citation, CitationEvent, Context, Event, Span
from quoteweave.core.errors import EndpointBadResponse
from quoteweave.core.messages import pluralize
from quoteweave.core.records import Kind, Quote, Record
from quoteweave.core.text.marks import Mark, MarkReader
from quoteweave.generation.answer_text import escape_marks
from quoteweave.generation.citations import MarkResolver, to_events, with_citations
from quoteweave.generation.sentences import text_of
from quoteweave.interchange.quotes import QuoteUrls, image_summary


class ReadPart(BaseModel):
    """The parts that are read of an object of another system; all other fields are ignored."""

    model_config = ConfigDict(from_attributes=True, extra="ignore")


R = TypeVar("R", bound=ReadPart)


def read_part(kind: type[R], value: object, expected: str) -> R:
    """Read an SDK's object, or a mapping. Raises EndpointBadResponse, which names the fields that are wrong."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, problem['loc'])) or 'it'}: {problem['msg']}"
            for problem in error.errors(include_input=False)[:3]
        )
        raise EndpointBadResponse(f"This is not {expected}: {wrong}.") from error


_STOPS = ".!?…。！？"


class CitedSource(Record):
    """A quote that another system cites."""

    kind: Kind
    number: int = Field(ge=1, description="place of the quote in the context, from 1")
    words: str = Field(default="", description="the words that it says it cites; empty where it does not say")


class CitedTextWriter:
    """Writes text and citations, in order, as text with marks. The result does not depend on how the text is cut."""

    def __init__(self, context: Context) -> None:
        self.written: list[CitedSource] = []
        """The sources of the marks written, in order."""
        self._context = context
        self._reader = MarkReader()  # reads all that was fed: the other system's text and our marks
        self._fed, self._line = 0, ""  # number of characters fed, and the last line so far
        self._own_mark_starts: set[int] = set()  # positions at which our marks begin
        self._held_end = ""  # a full stop and whitespace at the end, held back as a mark may have to be put before them
        self._pending: list[CitedSource] = []
        self._has_text_since_mark = False  # whether there is text since the last mark
        self._after_mark = False  # whether a mark was fed last
        self._mark_shown = False  # whether one of our marks was returned last

    def text(self, text: str) -> str:
        """Take the next text; return what is certain to be written."""
        unwritten = self._held_end + text
        body = unwritten.rstrip().rstrip(_STOPS)
        self._held_end = unwritten[len(body) :]
        return self._write(body)

    def cite(self, sources: Iterable[CitedSource]) -> str:
        """Cite these sources for the text taken since the last ones; return what is certain to be written."""
        ready = ""
        new_sources = [source for source in sources if source not in self._pending]
        if new_sources and not self._has_text_since_mark:
            # Only a full stop came since the last mark, so that the next mark is put after it.
            ready, self._held_end = self._write(self._held_end), ""
        self._pending += new_sources
        return ready + self._write_pending()

    def end(self) -> str:
        """Return everything that remains."""
        ready = self._write(self._held_end)
        self._held_end = ""
        if self._pending:
            ready += self._feed("\n") if self._ends_with_fence() else ""
            ahead = copy.copy(self._reader)
            if not any(isinstance(token, Mark) for token in ahead.end(" [1]")[-1:]):
                ready += self._feed("\n```\n")  # close fenced code that was never closed
            ready += self._write_marks()
        return ready + self._shown(self._reader.end())

    def _write(self, text: str) -> str:
        """Feed text, and each waiting mark as soon as it would not be within code."""
        ready, at = "", 0
        while self._pending and at < len(text):
            ready += self._feed(text[at])
            at += 1
            self._has_text_since_mark = True
            ready += self._write_pending()
        self._has_text_since_mark = self._has_text_since_mark or at < len(text)
        return ready + self._feed(text[at:])

    def _write_pending(self) -> str:
        if not self._pending or self._ends_with_fence():
            return ""
        ahead = copy.copy(self._reader)
        ahead.feed(" ")
        return "" if ahead.may_extend_with("[") else self._write_marks()

    def _ends_with_fence(self) -> bool:
        """Whether the last line begins or ends fenced code, so that nothing may be added to it."""
        return self._line.lstrip(" ").startswith("```")

    def _write_marks(self) -> str:
        texts = _merged(source for source in self._pending if source.kind == "text")
        images = _merged(source for source in self._pending if source.kind == "image")
        marks = [f"[{', '.join(str(source.number) for source in texts)}]"] if texts else []
        marks += [f"![{self._summary(source.number)}](image{source.number})" for source in images]
        self.written += [*texts, *images]
        self._pending = []
        ready = ""
        for mark in marks:
            ready += self._feed(" ") if self._line and not self._line[-1].isspace() else ""
            self._own_mark_starts.add(self._fed)
            self._after_mark = False
            ready += self._feed(mark)
        self._after_mark, self._has_text_since_mark = True, False
        return ready

    def _summary(self, number: int) -> str:
        quote = self._context.quote("image", number)
        return "" if quote is None else image_summary(quote)

    def _feed(self, text: str) -> str:
        if not text:
            return ""
        # A space after the mark, as `[1](…` would be a link, and a word must not touch the mark. Text that looks like a
        # mark, and so begins with a bracket, will begin with a parenthesis.
        text = f" {text}" if self._after_mark and (text[0] in "([" or text[0].isalnum()) else text
        self._after_mark = False
        self._fed, self._line = self._fed + len(text), (self._line + text).rpartition("\n")[2]
        return self._shown(self._reader.feed(text))

    def _shown(self, tokens: Iterable[Mark | str]) -> str:
        return "".join(self._shown_token(token) for token in tokens)

    def _shown_token(self, token: Mark | str) -> str:
        behind_own, self._mark_shown = self._mark_shown, False
        if not isinstance(token, Mark):
            self._mark_shown = behind_own and not token
            return str(token)
        if token.start in self._own_mark_starts:
            self._mark_shown = True
            return token.mark
        foreign = escape_marks(token.summary or "") if token.kind == "image" else token.mark[1:-1]
        return f"{' ' * behind_own}({foreign})"


class CitedEvents:
    """Turns the text and citations of another system, in order, into the events of an answer.

    Citations are as complete as in the answer: they have the quoted words and, with `urls`, the URLs of their quotes.
    """

    def __init__(self, context: Context, urls: QuoteUrls | None = None) -> None:
        self._context, self._urls = context, urls
        self._writer, self._resolver = CitedTextWriter(context), MarkResolver(context)
        self._parts: list[str] = []
        self._cited_count = 0

    @property
    def text(self) -> str:
        """All text written so far, with its marks."""
        return "".join(self._parts)

    @property
    def sources(self) -> Sequence[CitedSource]:
        """The sources of the marks written, in order."""
        return self._writer.written

    def write(self, text: str) -> Iterator[Event]:
        """Take the next text; yield the events of the part that is certain."""
        yield from self._add(self._writer.text(text))

    def cite(self, sources: Iterable[CitedSource]) -> Iterator[Event]:
        """Cite these sources for the text taken since the last ones; yield the events of the part that is certain."""
        yield from self._add(self._writer.cite(sources))

    def end(self) -> Iterator[Event]:
        """Yield everything that remains."""
        yield from self._add(self._writer.end())
        yield from self._numbered(to_events(self._resolver.end()))

    def _add(self, text: str) -> Iterator[Event]:
        if text:
            self._parts.append(text)
            yield from self._numbered(to_events(self._resolver.feed(text)))

    def _numbered(self, events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            if isinstance(event, CitationEvent):
                yield event.model_copy(update={"citation": self._complete(event.citation, self._cited_count)})
                self._cited_count += 1
            else:
                yield event

    def _complete(self, citation: Citation, place: int) -> Citation:
        quote = self._context.quote(citation.kind, citation.number)
        complete = citation if quote is None else add_evidence(citation, quote, self._writer.written[place])
        return complete if self._urls is None else self._urls.citation(complete)


class Statement(Record):
    """Text of an answer without marks, and the citations at its end."""

    text: str
    citations: tuple[Citation, ...] = ()


def statements(answer: Answer) -> list[Statement]:
    """Split an answer's text at its marks, which are taken out with the space before them.

    Every statement but the last has citations, and no text is empty: consecutive marks belong to one statement, and a
    mark at the beginning of the text gets a statement that is a space.
    """
    split: list[Statement] = []
    at = 0
    for (start, end), marked in groupby(answer.citations, key=lambda citation: (citation.start, citation.end)):
        text, citations = answer.text[at:start].removesuffix(" "), tuple(marked)
        if not text and split:
            last = split.pop()
            text, citations = last.text, (*last.citations, *citations)
        split.append(Statement(text=text or " ", citations=citations))
        at = end
    return [*split, Statement(text=answer.text[at:])] if answer.text[at:] else split


def with_evidence(answer: Answer, context: Context, sources: Sequence[CitedSource]) -> Answer:
    """Return the answer with quoted words added to its citations; `sources` are those of the citations, in order."""
    changed = [
        add_evidence(citation, quote, source)
        for citation, source in zip(answer.citations, sources, strict=True)
        if (quote := context.quote(citation.kind, citation.number)) is not None
    ]
    return with_citations(answer, changed)


def add_evidence(citation: Citation, quote: Quote, source: CitedSource) -> Citation:
    """Add the quote's words to a citation, and the span of the cited words if they occur in the quote exactly once."""
    text, cited = text_of(quote), source.words.strip()
    is_located = bool(cited) and cited != text.strip() and text.count(cited) == 1
    start = text.find(cited) if is_located else 0
    spans = (Span(start=start, end=start + len(cited)),) if is_located else ()
    return citation.model_copy(
        update={"quoted": text, "evidence": "words" if spans else "element", "spans": spans},
    )


def foreign_warning(number: int) -> str:
    """The warning about citations that name no quote of the context."""
    names, was = ("names", "was") if number == 1 else ("name", "were")
    return f"{pluralize(number, 'citation')} of the model's {names} no quote that was given, and {was} left out."


def _merged(sources: Iterable[CitedSource]) -> list[CitedSource]:
    """The sources with each quote once; a quote that is cited with different words is cited as a whole."""
    merged: dict[tuple[Kind, int], CitedSource] = {}
    for source in sources:
        key = (source.kind, source.number)
        known = merged.get(key)
        merged[key] = source if known is None or known == source else source.model_copy(update={"words": ""})
    return list(merged.values())
