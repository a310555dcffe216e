"""Policies of the gate: what is done about citations that are `unsupported`, or that a checker does not find supported.

Sentences are dropped from a whole answer, or while it is streamed; then each sentence is sent after it was checked.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal

from quoteweave.core.answers import Answer, Citation, CitationEvent, Context, Event, ImageBlock, TextEvent
from quoteweave.generation.answer_text import clip
from quoteweave.generation.citations import (
    AnswerPart,
    ShownTextBuilder,
    original_text,
    split_blocks,
    to_events,
    widest_blank,
    withheld,
)
from quoteweave.generation.gate.answer_check import SHOWN_CHARACTERS, cited_claims, limit_warnings
from quoteweave.generation.gate.claims import Claim, ClaimReader
from quoteweave.generation.gate.sentence_check import check_sentence

NOT_SUPPORTED = "The checker does not find it supported by what it cites."
Policy = Literal["report", "drop", "refuse"]
"""Report only, drop the sentences concerned, or withhold the whole answer."""
REFUSAL = "The answer that was written is not shown, because what it cites does not support it."


class UnsupportedFilter:
    """Takes an answer's claims in order, and returns the text to show.

    Sentences with a citation that is `unsupported`, or that a checker does not find supported, are dropped with the
    whitespace beside them. If the text after such a sentence would then be parsed as another mark, all of that text is
    dropped too. Nothing is shown before the first sentence that cites something, because without one there is no
    answer.
    """

    def __init__(self) -> None:
        self.dropped: list[tuple[Claim, str]] = []
        """The sentences that were dropped, each with the reason."""
        self.cited = False
        """Whether any text that is shown cites a quote."""
        self._shown = ShownTextBuilder()
        self._gap: list[str] = []
        self._waiting: list[AnswerPart] = []
        self._ended = False

    def take(self, blank: str, text: str, claim: Claim, citations: Sequence[Citation]) -> list[AnswerPart]:
        """Take the next claim: `text`, preceded by `blank`, with its checked citations; return what is shown of it."""
        failed = next((why for citation in citations if (why := citation_failure(citation)) is not None), None)
        reason = "It comes after what was taken out." if failed is None else failed
        if self._gap and failed is None:
            bridge = widest_blank([*self._gap, blank], text[0]) if self._shown.length else ""
            self._ended = self._ended or self._shown.changes_parse(bridge, text[0], instead=blank)
            blank = bridge
        if failed is not None or self._ended:
            self.dropped.append((claim, reason))
            self._gap.append(blank)
            return []
        self._gap = []
        self._waiting += self._cut(blank, text, claim, citations)
        self.cited = self.cited or bool(citations)
        return self._release() if self.cited else []

    def end(self) -> list[AnswerPart]:
        """Return what was held back, if nothing was dropped: an answer that cites nothing."""
        return [] if self.dropped else self._release()

    def _release(self) -> list[AnswerPart]:
        shown, self._waiting = self._waiting, []
        return shown

    def _cut(self, blank: str, text: str, claim: Claim, citations: Sequence[Citation]) -> list[AnswerPart]:
        """Split the claim into its marks and the text between them."""
        parts, at = [], claim.start
        before, by_start = blank, defaultdict[int, list[Citation]](list)
        for citation in citations:
            by_start[citation.start].append(citation)
        for mark in claim.marks:
            before += text[at - claim.start : mark.start - claim.start]
            if before:
                parts.append(self._shown.add(before))
            parts.append(self._shown.add(mark.mark, by_start[mark.start]))
            before, at = "", mark.end
        before += text[at - claim.start :]
        return [*parts, self._shown.add(before)] if before else parts


def citation_failure(citation: Citation) -> str | None:
    """Why a citation fails: the gate's reason, or that the checker finds no support; None if it does not fail."""
    if citation.verdict == "unsupported":
        return citation.reason or ""
    return NOT_SUPPORTED if citation.checker_verdict is False else None


def apply_policy(answer: Answer, policy: Policy) -> Answer:
    """Apply a policy to a checked answer; return the answer itself where no citation failed, or under `report`.

    A citation fails where the gate found it `unsupported`, or a checker does not find it supported. `drop` removes each
    sentence with such a citation, `refuse` withholds the whole answer; warnings give the sentences and reasons, and
    `Answer.raw` keeps the original text. Where `drop` would leave nothing cited, the answer is refused too.
    """
    if policy == "report" or all(citation_failure(citation) is None for citation in answer.citations):
        return answer
    dropper, at = UnsupportedFilter(), 0
    parts = []
    for claim, citations in cited_claims(answer):
        parts += dropper.take(answer.text[at : claim.start], answer.text[claim.start : claim.end], claim, citations)
        at = claim.end
    if not dropper.dropped:
        return answer
    refused = policy == "refuse" or not dropper.cited
    notes = [
        f"{'Withheld' if refused else 'Taken out'}: “{clip(claim.sentence, SHOWN_CHARACTERS)}” {reason}".rstrip()
        for claim, reason in dropper.dropped
    ]
    warnings = limit_warnings(notes)
    if refused:
        return withheld(answer, REFUSAL, warnings)
    text, cited = "".join(part.text for part in parts), tuple(citation for part in parts for citation in part.citations)
    images = {block.citation.number: block.image for block in answer.blocks if isinstance(block, ImageBlock)}
    return answer.model_copy(
        update={
            "text": text,
            "blocks": split_blocks(text, cited, images),
            "citations": cited,
            "raw": original_text(answer),
            "warnings": (*answer.warnings, *warnings),
        }
    )


class StreamingFilter:
    """Streams only the text of an answer that `apply_policy` keeps under `drop`."""

    def __init__(self, context: Context, question: str) -> None:
        self._context, self._question = context, question
        self._claims, self._dropper = ClaimReader(), UnsupportedFilter()
        self._citations: dict[int, list[Citation]] = {}  # keyed by the start of their marks
        self._text, self._at = "", 0  # the text after the last claim, and where it starts

    @property
    def refuses(self) -> bool:
        """Whether the answer is refused, because sentences were dropped and none is left that cites something."""
        return bool(self._dropper.dropped) and not self._dropper.cited

    def take(self, event: TextEvent | CitationEvent) -> Iterator[Event]:
        """Take the next event; yield what is certain to be shown."""
        if isinstance(event, CitationEvent):
            self._citations.setdefault(event.citation.start, []).append(event.citation)
            return
        self._text += event.text
        yield from self._checked_events(self._claims.feed(event.text))

    def end(self) -> Iterator[Event]:
        """Yield everything that remains."""
        yield from self._checked_events(self._claims.end())
        yield from to_events(self._dropper.end())

    def _checked_events(self, claims: Sequence[Claim]) -> Iterator[Event]:
        for claim in claims:
            blank, text = (
                self._text[: claim.start - self._at],
                self._text[claim.start - self._at : claim.end - self._at],
            )
            self._text, self._at = self._text[claim.end - self._at :], claim.end
            citations = [citation for mark in claim.marks for citation in self._citations.pop(mark.start, ())]
            if citations:
                checked = check_sentence(
                    text, citations, self._context, question=self._question, statement=claim.sentence
                )
                citations = list(checked)
            yield from to_events(self._dropper.take(blank, text, claim, citations))
