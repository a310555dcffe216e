"""Which quotes the marks of an answer mean, and the answer woven from them; `core.marks` says how they are written."""

from collections.abc import Iterable, Mapping, Sequence

from quoteweave.core.answers import Answer, Block, Citation, Context, ImageBlock, Status, TextBlock
from quoteweave.core.text.marks import parse_marks
from quoteweave.generation.weaving import Weaver


def weave(
    question: str,
    text: str,
    context: Context,
    *,
    model: str,
    status: Status = "answered",
    warnings: tuple[str, ...] = (),
) -> Answer:
    """The answer that `text` gives to `question`: what a `Weaver` shows of it, cut where images stand.

    Marks that name no quote of the context are taken out, with a warning, or left where taking them out would make
    another mark. `Answer.unresolved` keeps them, with spans that index `text` as given, which is `Answer.raw` where
    another text is shown; the spans of `Answer.citations` index `Answer.text`. Weaving an answer's own text changes
    nothing.

    Blocks: a TextBlock holds the exact slice of `Answer.text` between two image marks (or the text's ends); a slice of
    whitespace alone gives no block. So a TextBlock begins where the ImageBlock before it ends, or at 0.
    `seconds` is 0 and `usage` unknown; the caller who knows better replaces them with `model_copy`.
    """
    weaver = Weaver(context)
    parts = weaver.end(text)
    shown, citations = "".join(part.text for part in parts), [one for part in parts for one in part.citations]
    told = (_told(weaver.taken_out, "taken out of the answer"), _told(weaver.left, "left where {} stood"))
    return Answer(
        question=question,
        status=status,
        text=shown,
        blocks=blocks_of(shown, citations, {n: hit.quote.image for n, hit in enumerate(context.images, 1)}),
        citations=tuple(citations),
        unresolved=tuple(weaver.unresolved),
        raw=text if shown != text else None,
        model=model,
        seconds=0.0,
        warnings=(*warnings, *filter(None, told)),
    )


def _told(marks: int, done: str) -> str:
    if not marks:
        return ""
    named, were, stood = ("1 mark names", "was", "it") if marks == 1 else (f"{marks} marks name", "were", "they")
    return f"{named} a quote that was not given, and {were} {done.format(stood)}."


def with_citations(answer: Answer, changed: Iterable[Citation], warnings: Sequence[str] | None = None) -> Answer:
    """The answer with these citations in place of its own of the same place and number; warnings stay unless given."""
    found = {(citation.start, citation.kind, citation.number): citation for citation in changed}

    def change(own: Citation) -> Citation:
        return found.get((own.start, own.kind, own.number), own)

    blocks: list[Block] = [
        block.model_copy(update={"citation": change(block.citation)})
        if isinstance(block, ImageBlock)
        else block.model_copy(update={"citations": tuple(map(change, block.citations))})
        for block in answer.blocks
    ]
    told = answer.warnings if warnings is None else tuple(warnings)
    citations = tuple(map(change, answer.citations))
    return answer.model_copy(update={"blocks": tuple(blocks), "citations": citations, "warnings": told})


def blocks_of(text: str, citations: Sequence[Citation], images: Mapping[int, str | None]) -> tuple[Block, ...]:
    """A text with its citations cut where images stand; `images` has the stored crops by their numbers."""
    blocks: list[Block] = []
    pending: list[Citation] = []
    position = 0
    for citation in citations:
        if citation.kind == "text":
            pending.append(citation)
            continue
        blocks += _text_block(text[position : citation.start], pending)
        summary = parse_marks(citation.mark)[0].summary or ""
        blocks.append(ImageBlock(summary=summary, image=images[citation.number], citation=citation))
        pending, position = [], citation.end
    blocks += _text_block(text[position:], pending)
    return tuple(blocks)


def _text_block(text: str, citations: Sequence[Citation]) -> list[TextBlock]:
    return [TextBlock(text=text, citations=tuple(citations))] if text.strip() else []
