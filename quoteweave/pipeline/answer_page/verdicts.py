"""What the answer page says of each citation: whether its quotes support the sentence, by whom, and why."""

from collections import Counter
from collections.abc import Mapping, Sequence

from pydantic import Field

from quoteweave.core.answers import Answer, Citation, Verdict
from quoteweave.core.records import Record
from quoteweave.generation.answer_text import clip
from quoteweave.generation.gate.answer_check import cited_claims
from quoteweave.pipeline.answer_page.markup import bare

WORDS: Mapping[Verdict, str] = {"supported": "supported", "unsupported": "not supported", "unchecked": "not checked"}
"""A verdict as people read it."""
_LONGEST = 160
_FIRST: Sequence[Verdict] = ("unsupported", "supported", "unchecked")


class Finding(Record):
    """One verdict on a citation."""

    by: str = Field(description="who gave it")
    verdict: Verdict
    reason: str = Field(default="", description="in a sentence, where there is one")

    @property
    def words(self) -> str:
        """The verdict as people read it."""
        return WORDS[self.verdict]


class Judged(Record):
    """A citation with what was found of it."""

    place: int = Field(ge=1, description="among the citations of its answer")
    citation: Citation
    sentence: str = Field(description="that cites it, cut where it is long")
    findings: tuple[Finding, ...] = Field(description="empty where nobody was asked")

    @property
    def verdict(self) -> Verdict | None:
        """Of all that was found: `unsupported` where anyone says so, else `supported` where anyone does."""
        found = {finding.verdict for finding in self.findings}
        return next((verdict for verdict in _FIRST if verdict in found), None)

    @property
    def words(self) -> str:
        """The verdict as people read it; empty where nobody was asked."""
        return WORDS[self.verdict] if self.verdict else ""


def judged(answer: Answer) -> tuple[Judged, ...]:
    """Every citation of the answer, in its order."""
    said = {citation.start: claim.said for claim, citations in cited_claims(answer) for citation in citations}
    return tuple(
        Judged(
            place=place,
            citation=citation,
            sentence=clip(bare(said.get(citation.start, "")), _LONGEST),
            findings=_findings(citation),
        )
        for place, citation in enumerate(answer.citations, start=1)
    )


def tally(citations: Sequence[Judged]) -> list[tuple[Verdict, int]]:
    """How many citations have each verdict, in a fixed order and without those that none has."""
    counts = Counter(one.verdict for one in citations)
    return [(verdict, counts[verdict]) for verdict in WORDS if counts[verdict]]


def _findings(citation: Citation) -> tuple[Finding, ...]:
    found = []
    if citation.verdict is not None:
        found.append(Finding(by="By rule", verdict=citation.verdict, reason=citation.reason or ""))
    if citation.entailed is not None:
        found.append(Finding(by="By the checker", verdict="supported" if citation.entailed else "unsupported"))
    return tuple(found)
