"""Which quotes the marks of an answer mean, and the answer woven from them; `core.marks` says how they are written.

A mark that names no quote of the context is reported as unresolved, and taken out of what people are shown.
"""

import re
from collections.abc import Sequence
from typing import Literal

from quoteweave.core.answers import Answer, Block, Citation, Context, ImageBlock, TextBlock, UnresolvedMark
from quoteweave.core.marks import parse_marks
from quoteweave.core.records import Kind

_REMOVED = "\0"
_GAP = re.compile(r"(?<!\s)\s*+\0[\s\0]*+")
_NO_SPACE_BEFORE = ".,;:!?)]}"


def resolve(text: str, context: Context) -> tuple[tuple[Citation, ...], tuple[UnresolvedMark, ...]]:
    """The quotes that the marks of `text` mean, and the marks that mean none; one record for each number.

    All spans index `text`. A mark of several numbers gives each of its records the span of the whole mark.
    """
    citations, unresolved = [], []
    for mark in parse_marks(text):
        for number in mark.numbers:
            quote = context.quote(mark.kind, number)
            if quote is None:
                unresolved.append(
                    UnresolvedMark(mark=mark.mark, start=mark.start, end=mark.end, kind=mark.kind, number=number)
                )
                continue
            citations.append(
                Citation(
                    mark=mark.mark,
                    start=mark.start,
                    end=mark.end,
                    kind=mark.kind,
                    number=number,
                    quote_id=quote.id,
                    document=quote.document,
                    page=quote.page,
                    page_label=quote.page_label,
                    bbox=quote.bbox,
                )
            )
    return tuple(citations), tuple(unresolved)


def weave(
    question: str,
    text: str,
    context: Context,
    *,
    model: str,
    status: Literal["answered", "abstained"] = "answered",
    warnings: tuple[str, ...] = (),
) -> Answer:
    """The answer that `text` gives to `question`: its citations, and its text cut where images stand.

    Numbers that name no quote of the context are taken out of the shown text, with a warning: `[1, 99]` becomes `[1]`,
    `[99]` goes and leaves no double space. `Answer.unresolved` keeps them, with spans that index `text` as given,
    which is `Answer.raw` then; the spans of `Answer.citations` index `Answer.text`. Where taking them out would turn
    what stands around them into another mark (`[[99]1]`), the text stays as it is. Weaving an answer's own text
    changes nothing.

    Blocks: a TextBlock holds the exact slice of `Answer.text` between two image marks (or the text's ends); a slice of
    whitespace alone gives no block. So a TextBlock begins where the ImageBlock before it ends, or at 0.
    `seconds` is 0 and `usage` unknown; the caller who knows better replaces them with `model_copy`.
    """
    citations, unresolved = resolve(text, context)
    shown = _without_unresolved(text, context) if unresolved else text
    if unresolved:
        warnings = (*warnings, _warning(len({mark.start for mark in unresolved}), taken_out=shown != text))
        citations, _ = resolve(shown, context)
    return Answer(
        question=question,
        status=status,
        text=shown,
        blocks=_blocks(shown, context, citations),
        citations=citations,
        unresolved=unresolved,
        raw=text if shown != text else None,
        model=model,
        seconds=0.0,
        warnings=warnings,
    )


def _warning(marks: int, *, taken_out: bool) -> str:
    named, were, stood = ("1 mark names", "was", "it") if marks == 1 else (f"{marks} marks name", "were", "they")
    done = "taken out of the answer" if taken_out else f"left where {stood} stood"
    return f"{named} a quote that was not given, and {were} {done}."


def _without_unresolved(text: str, context: Context) -> str:
    """`text` with only those numbers that name a quote, or `text` itself where that would make other marks of it."""
    if _REMOVED in text:
        return text
    pieces: list[str] = []
    kept: list[tuple[Kind, tuple[int, ...]]] = []
    position = 0
    for mark in parse_marks(text):
        numbers = tuple(number for number in mark.numbers if context.quote(mark.kind, number) is not None)
        if numbers:
            kept.append((mark.kind, numbers))
        if numbers != mark.numbers:
            rewritten = f"[{', '.join(map(str, numbers))}]" if numbers else _REMOVED
            pieces += [text[position : mark.start], rewritten]
            position = mark.end
    result = _GAP.sub(_tidy, "".join([*pieces, text[position:]]))
    return result if [(mark.kind, mark.numbers) for mark in parse_marks(result)] == kept else text


def _tidy(gap: re.Match[str]) -> str:
    """The one piece of whitespace, out of those around the removed marks, that keeps lines and paragraphs apart."""
    following = gap.string[gap.end() : gap.end() + 1]
    if gap.start() == 0 or not following:
        return ""
    widest = max(gap[0].split(_REMOVED), key=lambda blank: (blank.count("\n"), len(blank)))
    return "" if following in _NO_SPACE_BEFORE and "\n" not in widest else widest


def _blocks(text: str, context: Context, citations: Sequence[Citation]) -> tuple[Block, ...]:
    blocks: list[Block] = []
    summaries = {mark.start: mark.summary or "" for mark in parse_marks(text) if mark.kind == "image"}
    pending: list[Citation] = []
    position = 0
    for citation in citations:
        if citation.kind == "text":
            pending.append(citation)
            continue
        blocks += _text_block(text[position : citation.start], pending)
        quote = context.quote("image", citation.number)
        stored = quote.image if quote is not None else None
        blocks.append(ImageBlock(summary=summaries[citation.start], image=stored, citation=citation))
        pending, position = [], citation.end
    blocks += _text_block(text[position:], pending)
    return tuple(blocks)


def _text_block(text: str, citations: Sequence[Citation]) -> list[TextBlock]:
    return [TextBlock(text=text, citations=tuple(citations))] if text.strip() else []
