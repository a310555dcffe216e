"""Has a model confirm that passages support a claim, where the user names one.

The rules of the gate look up what a claim says: numbers, dates and names, and that of something rising or falling by
lists of English words. Whether the rest is said of the same thing, in whatever language, they cannot tell.
"""

from collections.abc import Sequence
from typing import get_args

from pydantic import Field

from quoteweave.attribution.records import Candidate, Outcome
from quoteweave.core.errors import BudgetSpent, EndpointError, ModelFailed
from quoteweave.core.protocols import ClaimChecker
from quoteweave.pipeline.gate import make_checker
from quoteweave.pipeline.runs.progress import Progress
from quoteweave.pipeline.settings import RetrievalSettings
from quoteweave.retrievers.registry import Resources

DENIED = "The checker does not find that the passage supports it."


class AttributionSettings(RetrievalSettings):
    """Settings of attribution: how passages are found, and what confirms them.

    >>> AttributionSettings(retriever=("bm25",), check="chat:judge@http://localhost:8000/v1").retriever
    ('bm25',)
    """

    check: str | None = Field(
        default=None,
        description="have the passages of candidates confirmed by chat:MODEL@URL, or by an entailment model: folder or "
        "hub name",
    )


def make_confirming_checker(settings: RetrievalSettings, progress: Progress) -> ClaimChecker | None:
    """Make the checker that the settings name, if they do. Raises what `make_checker` raises."""
    if not isinstance(settings, AttributionSettings) or settings.check is None:
        return None
    resources = Resources(settings.hardware, tell=progress.note, retry_options=settings.retry_options)
    return make_checker(settings.check, resources=resources)


async def confirm(claim: str, candidates: Sequence[Candidate], checker: ClaimChecker) -> tuple[Candidate, ...]:
    """Return candidates as a checker finds them: supported or not found, those first that are supported.

    What the gate's rules know to be wrong is not asked, and what the checker cannot say stays as it is. Where it fails,
    the reasons say so. Raises ModelNotFound and UsageError.
    """
    asked = [one for one in candidates if one.citation.verdict != "unsupported" and one.passage.strip()]
    failure, verdicts = None, list[bool | None]()
    try:
        verdicts = await checker.check([(one.passage, claim) for one in asked]) if asked else []
    except (EndpointError, ModelFailed, BudgetSpent) as error:
        failure, verdicts = f"The checker gave no verdict: {error.summary}", [None] * len(asked)
    said = {one.citation.quote_id: verdict for one, verdict in zip(asked, verdicts, strict=True)}
    found = [_confirmed(one, said.get(one.citation.quote_id), failure if one in asked else None) for one in candidates]
    ranked = sorted(found, key=lambda one: get_args(Outcome).index(one.outcome))
    return tuple(one.model_copy(update={"rank": rank}) for rank, one in enumerate(ranked, 1))


def _confirmed(found: Candidate, supports: bool | None, failure: str | None) -> Candidate:
    citation = found.citation
    if supports is None:
        reason = " ".join(part for part in (citation.reason, failure) if part) or None
        return found.model_copy(update={"citation": citation.model_copy(update={"reason": reason})})
    outcome: Outcome = "supported" if supports else "not_found"
    said = citation.model_copy(update={"entailed": supports, "reason": None if supports else DENIED})
    return found.model_copy(update={"outcome": outcome, "citation": said})
