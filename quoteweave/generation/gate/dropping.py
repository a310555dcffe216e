"""An answer without the sentences that their quotes do not support, while its text may still be coming."""

from collections import defaultdict
from collections.abc import Sequence

from quoteweave.core.answers import Citation
from quoteweave.generation.gate.claims import Claim
from quoteweave.generation.weaving import Page, Strand, widest

NOT_SUPPORTED = "The checker does not find it supported by what it cites."


class Dropper:
    """Takes an answer's claims in order, and gives what is shown of them.

    Sentences with a citation that is `unsupported`, or that a checker does not find supported, go, with the blanks that
    they leave. Where what follows one would then be read as another mark, it goes too, and all behind it. Nothing is
    shown before the first sentence that cites something, for without one there is no answer.
    """

    def __init__(self) -> None:
        self.dropped: list[tuple[Claim, str]] = []
        """The sentences that went, and why."""
        self.cited = False
        """Whether something that is shown cites a quote."""
        self._page = Page()
        self._gap: list[str] = []
        self._waiting: list[Strand] = []
        self._ended = False

    def take(self, blank: str, text: str, claim: Claim, citations: Sequence[Citation]) -> list[Strand]:
        """What is shown of the next claim: `text`, written behind `blank`, with its citations, which were checked."""
        failed = next((why for one in citations if (why := failure(one)) is not None), None)
        reason = "It stands behind what was taken out." if failed is None else failed
        if self._gap and failed is None:
            bridge = widest([*self._gap, blank], text[0]) if self._page.length else ""
            self._ended = self._ended or self._page.joins(bridge, text[0], instead=blank)
            blank = bridge
        if failed is not None or self._ended:
            self.dropped.append((claim, reason))
            self._gap.append(blank)
            return []
        self._gap = []
        self._waiting += self._cut(blank, text, claim, citations)
        self.cited = self.cited or bool(citations)
        return self._released() if self.cited else []

    def end(self) -> list[Strand]:
        """What was held back: an answer that cites nothing, and of which nothing went."""
        return [] if self.dropped else self._released()

    def _released(self) -> list[Strand]:
        shown, self._waiting = self._waiting, []
        return shown

    def _cut(self, blank: str, text: str, claim: Claim, citations: Sequence[Citation]) -> list[Strand]:
        """The claim in marks and what stands between them."""
        shown, at = [], claim.start
        before, by_start = blank, defaultdict[int, list[Citation]](list)
        for one in citations:
            by_start[one.start].append(one)
        for mark in claim.marks:
            before += text[at - claim.start : mark.start - claim.start]
            if before:
                shown.append(self._page.add(before))
            shown.append(self._page.add(mark.mark, by_start[mark.start]))
            before, at = "", mark.end
        before += text[at - claim.start :]
        return [*shown, self._page.add(before)] if before else shown


def failure(citation: Citation) -> str | None:
    """Why what cites so does not stand: the gate's reason, or that the checker doubts it; None where it stands."""
    if citation.verdict == "unsupported":
        return citation.reason or ""
    return NOT_SUPPORTED if citation.entailed is False else None
