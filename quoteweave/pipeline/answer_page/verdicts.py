"""The verdicts on each citation for the answer page: whether its quote supports the sentence, by whom, and why."""

from collections import Counter
from collections.abc import Mapping, Sequence

from pydantic import Field

from quoteweave.core.answers import Answer, Citation, Verdict
from quoteweave.core.records import Record
from quoteweave.generation.answer_text import clip
from quoteweave.generation.gate.answer_check import cited_claims
from quoteweave.pipeline.answer_page.markup import without_markup

VERDICT_WORDS: Mapping[Verdict, str] = {
    "supported": "supported",
    "unsupported": "not supported",
    "unchecked": "not checked",
}
"""A verdict as people read it."""
_LONGEST = 160
_FIRST: Sequence[Verdict] = ("unsupported", "supported", "unchecked")


class CitationVerdict(Record):
    """A verdict on a citation, by rule or by a checker."""

    by: str = Field(description="who gave it")
    verdict: Verdict
    reason: str = Field(default="", description="in a sentence, where there is one")

    @property
    def words(self) -> str:
        """The verdict as people read it."""
        return VERDICT_WORDS[self.verdict]


class CheckedCitation(Record):
    """A citation with its verdicts."""

    place: int = Field(ge=1, description="among the citations of its answer")
    citation: Citation
    sentence: str = Field(description="that cites it, cut where it is long")
    findings: tuple[CitationVerdict, ...] = Field(description="empty where nobody was asked")

    @property
    def verdict(self) -> Verdict | None:
        """The overall verdict: `unsupported` where any verdict is, else `supported` where any is."""
        found = {finding.verdict for finding in self.findings}
        return next((verdict for verdict in _FIRST if verdict in found), None)

    @property
    def words(self) -> str:
        """The verdict as people read it; empty where nobody was asked."""
        return VERDICT_WORDS[self.verdict] if self.verdict else ""


def checked_citations(answer: Answer) -> tuple[CheckedCitation, ...]:
    """Return every citation of the answer with its verdicts, in order."""
    sentences = {citation.start: claim.sentence for claim, citations in cited_claims(answer) for citation in citations}
    return tuple(
        CheckedCitation(
            place=place,
            citation=citation,
            sentence=clip(without_markup(sentences.get(citation.start, "")), _LONGEST),
            findings=_findings(citation),
        )
        for place, citation in enumerate(answer.citations, start=1)
    )


def tally(citations: Sequence[CheckedCitation]) -> list[tuple[Verdict, int]]:
    """Count the citations by verdict, in a fixed order and without verdicts that none has."""
    counts = Counter(one.verdict for one in citations)
    return [(verdict, counts[verdict]) for verdict in VERDICT_WORDS if counts[verdict]]


def _findings(citation: Citation) -> tuple[CitationVerdict, ...]:
    found = []
    if citation.verdict is not None:
        found.append(CitationVerdict(by="By rule", verdict=citation.verdict, reason=citation.reason or ""))
    if citation.entailed is not None:
        found.append(CitationVerdict(by="By the checker", verdict="supported" if citation.entailed else "unsupported"))
    return tuple(found)
