"""What attribution finds: candidates, and how sure it is of the best of them."""

from collections.abc import Iterable, Mapping
from typing import Literal, get_args

from pydantic import Field

from quoteweave.attribution.excerpts import Excerpt
from quoteweave.attribution.literature.sources.papers import Paper, ReadOutcome
from quoteweave.core.answers import Citation
from quoteweave.core.confidence import Signals
from quoteweave.core.records import Kind, Record
from quoteweave.pipeline.search import Trace

Outcome = Literal["supported", "likely", "not_found"]
"""How sure it is that a source is right. `supported`: its passage supports the claim by the gate's rules, or a checker
says so. `likely`: its passage has most of the claim's words, and the rest could not be checked; or, in the literature,
the estimated chance is high enough. `not_found`: neither."""

Rejection = Literal["contrary", "secondhand", "denied"]


class Candidate(Record):
    """A document that may be the source, with the passage that speaks most for it.

    >>> (found,) = attribute(collection, "Timber went by rail.")
    >>> found.candidates[0].title, found.candidates[0].citation.verdict
    ('port.md', 'unchecked')
    """

    rank: int = Field(ge=1, description="the best is 1")
    title: str = Field(description="of the document's metadata, else its name")
    identifiers: Mapping[str, str] = Field(description="`document`, its name, and its other metadata")
    score: float = Field(description="of the passage, as the retriever gives it; not comparable between retrievers")
    outcome: Outcome = Field(description="how sure it is that this is the source")
    coverage: float = Field(ge=0, le=1, description="share of the claim's words in the passage, weighed by rarity")
    kind: Kind = Field(description="whether the passage is a text or an image quote")
    passage: str = Field(description="the words of the passage")
    closest: str = Field(
        default="", description="its sentence that is closest to the claim; empty where it was not checked"
    )
    citation: Citation = Field(
        description="the passage with document, page, box, the gate's verdict and the words that support the claim"
    )
    rejection: Rejection | None = Field(
        default=None,
        description="why the passage is known not to be the source: it states the `contrary`, has it from others "
        "(`secondhand`), or the checker `denied` that it supports the claim",
    )
    paper: Paper | None = Field(
        default=None, description="as its source describes it; None for a document of one's own"
    )
    read: ReadOutcome | None = Field(
        default=None,
        description="what became of reading the paper: unless `full_text`, the passage is of its abstract or a snippet",
    )
    note: str | None = Field(default=None, description="why the passage is not of the full text, in a sentence")

    def under(self, name: str) -> str:
        """Return a name of the document with the passage's place, without a place that is the title, as for abstracts.

        >>> found.candidates[0].under("port.md")
        'port.md, Freight in May'
        """
        return name if self.citation.place == self.title else f"{name}, {self.citation.place}"


class Attribution(Record):
    """Where one claim comes from.

    >>> (found,) = attribute(collection, "The harbour shipped 9,999 tonnes of grain in May.")
    >>> found.outcome, found.reason
    ('not_found', '9,999 tonnes does not occur in the passage.')
    """

    excerpt: Excerpt = Field(description="the claim, and where it stands in the text")
    outcome: Outcome = Field(description="that of the best candidate")
    reason: str | None = Field(description="why the best candidate is not `supported`, in a sentence")
    candidates: tuple[Candidate, ...] = Field(description="best first; also where none is the source")
    signals: Signals | None = Field(
        default=None,
        description="of the first candidate, from which its confidence is computed; of the literature alone",
    )
    confidence: float | None = Field(
        default=None, ge=0, le=1, description="the chance that the first candidate is the source, where it is known"
    )
    trace: Trace = Field(description="how the candidates were found")


def ranked_by_outcome(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return candidates with new ranks, the surest outcome first; those of one outcome keep their order."""
    ranked = sorted(candidates, key=lambda candidate: get_args(Outcome).index(candidate.outcome))
    return tuple(candidate.model_copy(update={"rank": rank}) for rank, candidate in enumerate(ranked, 1))


def describe_confidence(attribution: Attribution) -> str:
    """Say the chance that the first candidate is the source, and what speaks for it beside its passage."""
    share = 100 * (attribution.confidence or 0)
    # 0 % and 100 % are not shown, as no estimate is sure.
    percentage = "less than 1" if share < 1 else "more than 99" if share > 99 else f"{share:.0f}"
    chance = f"The chance that the first is the source is estimated at {percentage}\u00a0%"
    is_cited = attribution.signals is not None and attribution.signals.cited
    return f"{chance}; another paper that was read cites it for such a claim." if is_cited else f"{chance}."
