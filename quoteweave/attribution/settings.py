"""Settings of attribution, and the checker that they name."""

from pydantic import Field

from quoteweave.core.protocols import ClaimChecker
from quoteweave.pipeline.composition.progress import Progress
from quoteweave.pipeline.settings import RetrievalSettings

CANDIDATES = 5
"""Candidates that are returned for a claim, unless another number is asked for."""


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
    # Imported late, as the command line loads this module at its start, and few settings name a checker.
    from quoteweave.pipeline.composition.make_checker import make_checker
    from quoteweave.pipeline.composition.make_search import resources_of

    return make_checker(settings.check, resources=resources_of(settings, progress))
