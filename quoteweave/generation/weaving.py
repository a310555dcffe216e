"""The text of an answer as it is shown: marks that name no quote are taken out, while the text may still be coming.

How the text was cut into parts changes nothing.
"""

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from quoteweave.core.answer_events import CitationEvent, Event, TextEvent
from quoteweave.core.answers import Citation, Context, UnresolvedMark
from quoteweave.core.text.marks import Mark, MarkReader

_NO_SPACE_BEFORE = ".,;:!?)]}"


@dataclass(frozen=True, slots=True)
class Strand:
    """What is shown next: one mark with all that it cites, or text without any."""

    text: str
    citations: tuple[Citation, ...] = ()


class Page:
    """What is shown so far, to which more is added."""

    def __init__(self) -> None:
        self.length = 0
        self._reader = MarkReader()

    def add(self, text: str, citations: Iterable[Citation] = ()) -> Strand:
        """Shows a mark with what it cites, whose spans are put right, or text."""
        span = {"start": self.length, "end": self.length + len(text)}
        self.length += len(text)
        self._reader.feed(text)
        return Strand(text, tuple(citation.model_copy(update=span) for citation in citations))

    def joins(self, blank: str, following: str, *, instead: str) -> bool:
        """Whether `following` would be read otherwise behind this and `blank` than behind `instead`, the blank that it
        was written behind."""
        ahead = copy.copy(self._reader)
        ahead.feed(blank)
        if ahead.open_to(following):
            return True
        # Three back-ticks are fenced code where they begin a line.
        begins = _begins_line(blank) or not self.length
        return following == "`" and begins != _begins_line(instead)


class Weaver:
    """Takes what a model writes, in parts cut anywhere, and gives what is shown of it.

    Numbers that name no quote of the context are taken out, with the blanks that they leave: `[1, 99]` becomes `[1]`,
    `[99]` goes. Where what stands around one would become another mark (`[[99]1]`), it stays. Blanks at both ends go.
    """

    def __init__(self, context: Context) -> None:
        self.unresolved: list[UnresolvedMark] = []
        """Each number that names no quote; spans index what was fed."""
        self.taken_out = self.left = 0
        """Marks with such numbers: changed, and left where they stand."""
        self._context = context
        self._written, self._page = MarkReader(), Page()
        self._blank = ""
        self._gap: list[str] = []  # of marks that go: a blank, a mark, a blank, a mark…

    def feed(self, part: str) -> list[Strand]:
        """What is certain now."""
        return [shown for token in self._written.feed(part) for shown in self._take(token)]

    def end(self, part: str = "") -> list[Strand]:
        """All that is left, with the last part."""
        shown = [shown for token in self._written.end(part) for shown in self._take(token)]
        if self._gap:
            self.taken_out += len(self._gap) // 2
        return shown

    def _take(self, token: Mark | str) -> Iterable[Strand]:
        if isinstance(token, Mark):
            yield from self._mark(token)
            return
        body = token.strip()
        if not body:
            self._blank += token
            return
        begin = token.index(body)
        self._blank += token[:begin]
        yield from self._bridge(body[0])
        yield self._page.add(body)
        self._blank = token[begin + len(body) :]

    def _mark(self, mark: Mark) -> Iterable[Strand]:
        known = {number: self._context.quote(mark.kind, number) for number in mark.numbers}
        missing = [number for number, quote in known.items() if quote is None]
        span = {"mark": mark.mark, "start": mark.start, "end": mark.end, "kind": mark.kind}
        self.unresolved += [UnresolvedMark.model_validate({**span, "number": number}) for number in missing]
        if len(missing) == len(known):
            self._gap += [self._blank, mark.mark]
            self._blank = ""
            return
        yield from self._bridge(mark.mark[0])
        text = mark.mark
        if missing and self._page.joins("", text[0], instead=""):
            self.left += 1
        elif missing:
            self.taken_out += 1
            text = f"[{', '.join(str(number) for number in known if number not in missing)}]"
        citations = [
            Citation(
                mark=text,
                start=0,
                end=0,
                kind=mark.kind,
                number=number,
                quote_id=quote.id,
                document=quote.document,
                page=quote.page,
                page_label=quote.page_label,
                bbox=quote.bbox,
                section=quote.heading,
                has_pages=quote.has_pages,
            )
            for number, quote in known.items()
            if quote is not None
        ]
        yield self._page.add(text, citations)

    def _bridge(self, following: str) -> Iterable[Strand]:
        """The blank before what follows, or what is left of marks that go."""
        blank, gap = self._blank, self._gap
        self._blank, self._gap = "", []
        if gap:
            tidy = widest([*gap[::2], blank], following) if self._page.length else ""
            if self._page.joins(tidy, following, instead=blank):
                self.left += len(gap) // 2
                blank = "".join([*gap, blank])
            else:
                self.taken_out += len(gap) // 2
                blank = tidy
        if not self._page.length:
            blank = blank.lstrip()
        if blank:
            yield self._page.add(blank)


def widest(blanks: Iterable[str], following: str) -> str:
    """The one blank, out of those around what goes, that keeps lines and paragraphs apart."""
    widest = max(blanks, key=lambda blank: (blank.count("\n"), len(blank)))
    return "" if following in _NO_SPACE_BEFORE and "\n" not in widest else widest


def told(strands: Iterable[Strand]) -> Iterator[Event]:
    """What is shown as events of an answer: text in one piece, and each mark before what it cites."""
    for cites, together in groupby(strands, key=lambda strand: bool(strand.citations)):
        if not cites:
            yield TextEvent(text="".join(strand.text for strand in together))
            continue
        for strand in together:
            yield TextEvent(text=strand.text)
            yield from (CitationEvent(citation=citation) for citation in strand.citations)


def _begins_line(blank: str) -> bool:
    _, broken, indentation = blank.rpartition("\n")
    return bool(broken) and indentation.strip(" ") == "" and len(indentation) <= 3
