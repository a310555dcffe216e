"""Resolves the marks of an answer to citations and builds the answer, from a whole text or while it is streamed.

Marks that name no quote are removed from the text that is shown. The result does not depend on how the text was cut
into parts. `core.text.marks` says how marks are written.
"""

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import assert_never

from quoteweave.core.answers import (
    NO_TOKENS,
    Answer,
    AnswerBlock,
    AnswerStatus,
    Citation,
    CitationEvent,
    Context,
    Event,
    ImageBlock,
    ImageEvent,
    TextBlock,
    TextEvent,
    UnresolvedMark,
)
from quoteweave.core.records import Kind, Quote
from quoteweave.core.text.marks import Mark, MarkReader, parse_marks

_NO_SPACE_BEFORE = ".,;:!?)]}"


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """The next part of the text shown: one mark with everything that it cites, or text without marks."""

    text: str
    citations: tuple[Citation, ...] = ()


class ShownTextBuilder:
    """Builds the text that is shown, part by part; gives marks their positions in it."""

    def __init__(self) -> None:
        self.length = 0
        self._reader = MarkReader()

    def add(self, text: str, citations: Iterable[Citation] = ()) -> AnswerPart:
        """Append text, or a mark with its citations, whose spans are set to its position."""
        span = {"start": self.length, "end": self.length + len(text)}
        self.length += len(text)
        self._reader.feed(text)
        return AnswerPart(text, tuple(citation.model_copy(update=span) for citation in citations))

    def changes_parse(self, blank: str, following: str, *, instead: str) -> bool:
        """Whether `following` parses differently after `blank` than after `instead`, its original whitespace."""
        ahead = copy.copy(self._reader)
        ahead.feed(blank)
        if ahead.may_extend_with(following):
            return True
        # Three back-ticks open a code fence at the beginning of a line.
        begins = _begins_line(blank) or not self.length
        return following == "`" and begins != _begins_line(instead)


class MarkResolver:
    """Resolves marks in the text of a model, fed in arbitrary parts, and returns the text to show.

    Numbers that name no quote of the context are removed, with the whitespace that they leave: `[1, 99]` becomes `[1]`,
    `[99]` disappears. Where removing one would create another mark (`[[99]1]`), it stays. Whitespace at both ends is
    removed.
    """

    def __init__(self, context: Context) -> None:
        self.unresolved: list[UnresolvedMark] = []
        """Each number that names no quote; spans index the text that was fed."""
        self.taken_out = self.left = 0
        """How many marks with such numbers were changed or removed, and how many were left in place."""
        self._context = context
        self._written, self._shown = MarkReader(), ShownTextBuilder()
        # Whitespace at the beginning is not shown, and without it a code fence may begin.
        self._begun, self._left_out = False, 0
        self._blank = ""
        self._removable: list[tuple[str, str]] = []
        """The marks that are to be removed from here, each as written, after the whitespace before it."""

    def feed(self, part: str) -> list[AnswerPart]:
        """Take the next part of the text; return what is certain to be shown."""
        return [shown for token in self._written.feed(self._from_beginning(part)) for shown in self._take(token)]

    def end(self, part: str = "") -> list[AnswerPart]:
        """Take the last part of the text; return everything that remains."""
        shown = [shown for token in self._written.end(self._from_beginning(part)) for shown in self._take(token)]
        self.taken_out += len(self._removable)
        return shown

    def _from_beginning(self, part: str) -> str:
        """A part of the text without the whitespace at the text's beginning."""
        if self._begun:
            return part
        stripped = part.lstrip()
        self._left_out += len(part) - len(stripped)
        self._begun = bool(stripped)
        return stripped

    def _take(self, token: Mark | str) -> Iterable[AnswerPart]:
        if isinstance(token, Mark):
            yield from self._mark(token)
            return
        body = token.strip()
        if not body:
            self._blank += token
            return
        begin = token.index(body)
        self._blank += token[:begin]
        yield from self._blank_before(body[0])
        yield self._shown.add(body)
        self._blank = token[begin + len(body) :]

    def _mark(self, mark: Mark) -> Iterable[AnswerPart]:
        quotes = {number: self._context.quote(mark.kind, number) for number in mark.numbers}
        missing = [number for number, quote in quotes.items() if quote is None]
        start, end = mark.start + self._left_out, mark.end + self._left_out
        span = {"mark": mark.mark, "start": start, "end": end, "kind": mark.kind}
        self.unresolved += [UnresolvedMark.model_validate({**span, "number": number}) for number in missing]
        if len(missing) == len(quotes):
            self._removable.append((self._blank, mark.mark))
            self._blank = ""
            return
        yield from self._blank_before(mark.mark[0])
        text = mark.mark
        if missing and self._shown.changes_parse("", text[0], instead=""):
            self.left += 1
        elif missing:
            self.taken_out += 1
            text = f"[{', '.join(str(number) for number in quotes if number not in missing)}]"
        cited = ((number, quote) for number, quote in quotes.items() if quote is not None)
        yield self._shown.add(text, [_citation_of(text, number, quote, kind=mark.kind) for number, quote in cited])

    def _blank_before(self, following: str) -> Iterable[AnswerPart]:
        """The whitespace before `following`, in place of any marks removed there."""
        blank, removable = self._blank, self._removable
        self._blank, self._removable = "", []
        if removable:
            blanks = [*(before for before, _ in removable), blank]
            tidy = widest_blank(blanks, following) if self._shown.length else ""
            if self._shown.changes_parse(tidy, following, instead=blank):
                self.left += len(removable)
                blank = "".join(before + mark for before, mark in removable) + blank
            else:
                self.taken_out += len(removable)
                blank = tidy
        if not self._shown.length:
            blank = blank.lstrip()
        if blank:
            yield self._shown.add(blank)


def _citation_of(mark: str, number: int, quote: Quote, *, kind: Kind) -> Citation:
    """The citation of a quote by a mark whose position is not known yet."""
    return Citation(
        mark=mark,
        start=0,
        end=0,
        kind=kind,
        number=number,
        quote_id=quote.id,
        document=quote.document,
        page=quote.page,
        page_label=quote.page_label,
        bbox=quote.bbox,
        section=quote.heading,
        has_pages=quote.has_pages,
        has_picture=quote.has_picture,
    )


def widest_blank(blanks: Iterable[str], following: str) -> str:
    """Of the whitespace around removed text, the one that keeps lines and paragraphs separate."""
    widest = max(blanks, key=lambda blank: (blank.count("\n"), len(blank)))
    return "" if following in _NO_SPACE_BEFORE and "\n" not in widest else widest


def to_events(parts: Iterable[AnswerPart]) -> Iterator[Event]:
    """Turn parts of the text shown into events: text in one piece, and each mark followed by its citations."""
    for cites, together in groupby(parts, key=lambda part: bool(part.citations)):
        if not cites:
            yield TextEvent(text="".join(part.text for part in together))
            continue
        for part in together:
            yield TextEvent(text=part.text)
            yield from (CitationEvent(citation=citation) for citation in part.citations)


def _begins_line(blank: str) -> bool:
    _, broken, indentation = blank.rpartition("\n")
    return bool(broken) and indentation.strip(" ") == "" and len(indentation) <= 3


def build_answer(
    question: str,
    text: str,
    context: Context,
    *,
    model: str,
    status: AnswerStatus = "answered",
    warnings: tuple[str, ...] = (),
) -> Answer:
    """Build the answer to `question` from generated `text`: resolve its marks, and split it at images.

    Marks that name no quote of the context are removed, with a warning, or kept where removing them would create
    another mark. `Answer.unresolved` lists them, with spans that index `text` as given, which is `Answer.raw` where it
    differs from the text shown; the spans of `Answer.citations` index `Answer.text`. Applied to an answer's own text,
    this changes nothing.

    Blocks: a TextBlock holds the exact slice of `Answer.text` between two image marks (or the text's ends); a slice of
    whitespace alone gives no block. So a TextBlock begins where the ImageBlock before it ends, or at 0. `seconds` is 0
    and `usage` unknown; a caller who knows them replaces them with `model_copy`.
    """
    resolver = MarkResolver(context)
    parts = resolver.end(text)
    shown_text, citations = (
        "".join(part.text for part in parts),
        [citation for part in parts for citation in part.citations],
    )
    taken_out = _unresolved_warning(resolver.taken_out, "taken out of the answer")
    left_in_place = _unresolved_warning(resolver.left, "left where {} stood")
    return Answer(
        question=question,
        status=status,
        text=shown_text,
        blocks=split_blocks(shown_text, citations, {n: hit.quote.image for n, hit in enumerate(context.images, 1)}),
        citations=tuple(citations),
        unresolved=tuple(resolver.unresolved),
        raw=text if shown_text != text else None,
        model=model,
        seconds=0.0,
        warnings=(*warnings, *filter(None, (taken_out, left_in_place))),
    )


def abstention(question: str, text: str, *, model: str, warnings: tuple[str, ...] = ()) -> Answer:
    """Return an abstention in these words, made without asking a model."""
    return Answer(
        question=question,
        status="abstained",
        text=text,
        blocks=(TextBlock(text=text),),
        model=model,
        usage=NO_TOKENS,
        seconds=0.0,
        warnings=warnings,
    )


def withheld(answer: Answer, text: str, warnings: Iterable[str]) -> Answer:
    """Return an abstention in these words in place of the answer, which `raw` keeps, with further warnings."""
    return answer.model_copy(
        update={
            "status": "abstained",
            "text": text,
            "blocks": (TextBlock(text=text),),
            "citations": (),
            "raw": original_text(answer),
            "warnings": (*answer.warnings, *warnings),
        }
    )


def original_text(answer: Answer) -> str:
    """The text as it was generated."""
    return answer.text if answer.raw is None else answer.raw


def _unresolved_warning(marks: int, done: str) -> str:
    if not marks:
        return ""
    named, were, stood = ("1 mark names", "was", "it") if marks == 1 else (f"{marks} marks name", "were", "they")
    return f"{named} a quote that was not given, and {were} {done.format(stood)}."


def with_citations(answer: Answer, changed: Iterable[Citation], warnings: Sequence[str] | None = None) -> Answer:
    """Replace citations of an answer by those with the same position and number; warnings stay unless given."""
    replacements = {(citation.start, citation.kind, citation.number): citation for citation in changed}

    def change(citation: Citation) -> Citation:
        return replacements.get((citation.start, citation.kind, citation.number), citation)

    def change_block(block: AnswerBlock) -> AnswerBlock:
        match block:
            case ImageBlock():
                return block.model_copy(update={"citation": change(block.citation)})
            case TextBlock():
                return block.model_copy(update={"citations": tuple(map(change, block.citations))})
            case _:
                assert_never(block)

    new_warnings = answer.warnings if warnings is None else tuple(warnings)
    citations = tuple(map(change, answer.citations))
    return answer.model_copy(
        update={"blocks": tuple(map(change_block, answer.blocks)), "citations": citations, "warnings": new_warnings}
    )


def split_blocks(text: str, citations: Sequence[Citation], images: Mapping[int, str | None]) -> tuple[AnswerBlock, ...]:
    """Split a text with its citations into blocks at its image marks; `images` has the stored crops by number."""
    blocks: list[AnswerBlock] = []
    pending: list[Citation] = []
    position = 0
    for citation in citations:
        if citation.kind == "text":
            pending.append(citation)
            continue
        blocks += _text_block(text[position : citation.start], pending)
        blocks.append(ImageBlock(summary=_summary_of(citation), image=images[citation.number], citation=citation))
        pending, position = [], citation.end
    blocks += _text_block(text[position:], pending)
    return tuple(blocks)


def image_event(citation: Citation, context: Context) -> ImageEvent:
    """Return the event that shows the image that a citation of kind `image` refers to."""
    quote = context.quote("image", citation.number)
    return ImageEvent(summary=_summary_of(citation), image=None if quote is None else quote.image, citation=citation)


def _summary_of(citation: Citation) -> str:
    return parse_marks(citation.mark)[0].summary or ""


def _text_block(text: str, citations: Sequence[Citation]) -> list[TextBlock]:
    return [TextBlock(text=text, citations=tuple(citations))] if text.strip() else []
