"""What is done about citations that the gate found `unsupported`."""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Literal

from quoteweave.core.answers import Answer, Block, Citation, ImageBlock, TextBlock
from quoteweave.core.marks import parse_marks
from quoteweave.generation.gate.answers import SHOWN, bounded, cited_claims
from quoteweave.generation.gate.claims import claims_of
from quoteweave.generation.wording import clip

Policy = Literal["report", "drop", "refuse"]
"""Nothing is done, the sentences are taken out, or the whole answer is withheld."""
Span = tuple[int, int]

REFUSAL = "The answer that was written is not shown, because what it cites does not bear it out."


def apply(answer: Answer, policy: Policy) -> Answer:
    """What is shown of a checked answer; the answer itself where no citation is `unsupported`, or under `report`.

    `drop` takes out each sentence with such a citation, `refuse` the whole; warnings say what and why, and
    `Answer.raw` keeps what was written. Where `drop` would leave nothing cited, or make other marks of what is left,
    the answer is refused too.
    """
    failed = [
        (claim, reasons)
        for claim, citations in cited_claims(answer)
        if (reasons := [citation.reason or "" for citation in citations if citation.verdict == "unsupported"])
    ]
    if policy == "report" or not failed:
        return answer
    shown = _dropped(answer, {claim.start for claim, _ in failed}) if policy == "drop" else None
    done = "Withheld" if shown is None else "Taken out"
    said = [f"{done}: “{clip(claim.said, SHOWN)}” {reasons[0]}".rstrip() for claim, reasons in failed]
    warnings = (*answer.warnings, *bounded(said))
    raw = answer.raw if answer.raw is not None else answer.text
    return (shown or _refused(answer)).model_copy(update={"warnings": warnings, "raw": raw})


def _refused(answer: Answer) -> Answer:
    shown = {"status": "abstained", "text": REFUSAL, "blocks": (TextBlock(text=REFUSAL),), "citations": ()}
    return answer.model_copy(update=shown)


def _dropped(answer: Answer, failed: Set[int]) -> Answer | None:
    """The answer without the sentences that start there; None where nothing cited is left, or with other marks."""
    kept = _kept(answer.text, failed)
    text = "".join(answer.text[start:end] for start, end in kept)
    moved = _moves(answer.text, kept)
    citations = [_moved(citation, moved) for citation in answer.citations if citation.start in moved]
    if not citations or {mark.start for mark in parse_marks(text)} != set(moved.values()):
        return None
    images = [block for block in answer.blocks if isinstance(block, ImageBlock) and block.citation.start in moved]
    images = [block.model_copy(update={"citation": _moved(block.citation, moved)}) for block in images]
    blocks = tuple(_blocks(text, citations, images))
    return answer.model_copy(update={"text": text, "blocks": blocks, "citations": tuple(citations)})


def _kept(text: str, failed: Set[int]) -> list[Span]:
    """What stays of `text`: all but those sentences; of the blanks around and between those in a row, the widest."""
    kept: list[Span] = []
    gaps: list[Span] = []
    at = last = 0
    sentences = [(claim.start, claim.end) for claim in claims_of(text)]
    for start, end in [*sentences, (len(text), len(text))]:
        gap, last = (last, start), end
        if start in failed:
            gaps.append(gap)
        elif gaps:
            kept += [(at, gaps[0][0]), *_widest(text, [*gaps, gap])]
            at, gaps = start, []
    return [*kept, (at, len(text))]


def _widest(text: str, gaps: Sequence[Span]) -> list[Span]:
    """The gap with the most lines, nothing at the ends of the text."""
    if gaps[0][0] == 0 or gaps[-1][1] == len(text):
        return []
    return [max(gaps, key=lambda gap: (text.count("\n", *gap), gap[1] - gap[0]))]


def _moves(text: str, kept: Sequence[Span]) -> dict[int, int]:
    """Where the marks of `text` that are kept begin after all else is taken out, by where they began."""
    starts = [mark.start for mark in parse_marks(text)]
    moved, at, place = {}, 0, 0
    for start, end in kept:
        while place < len(starts) and starts[place] < end:
            if starts[place] >= start:
                moved[starts[place]] = starts[place] - start + at
            place += 1
        at += end - start
    return moved


def _moved(citation: Citation, moves: Mapping[int, int]) -> Citation:
    start = moves[citation.start]
    return citation.model_copy(update={"start": start, "end": start + len(citation.mark)})


def _blocks(text: str, citations: Sequence[Citation], images: Sequence[ImageBlock]) -> Iterator[Block]:
    """The text cut where its images stand, as `generation.citations.weave` cuts it."""
    at = 0
    for image in [*images, None]:
        end = image.citation.start if image else len(text)
        if text[at:end].strip():
            own = tuple(one for one in citations if one.kind == "text" and at <= one.start < end)
            yield TextBlock(text=text[at:end], citations=own)
        if image:
            yield image
            at = image.citation.end
