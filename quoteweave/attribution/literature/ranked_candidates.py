"""The order of candidates for a source in the literature, and how sure it is that the first is the source.

Of papers whose passages support the claim equally, the earliest is ranked first, because people cite those who found
something and not those who repeat it. The chance that the first is the source is estimated from how far it is ahead of
the others, its passage's words, the gate's verdict, and the sentences that cite it for such a claim. Below the
calibrated threshold the source counts as not found. From the threshold on it is at least likely, even if its passage
has few of the claim's words, as papers word their findings differently from those who cite them.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from types import MappingProxyType

from quoteweave.attribution.attribute import attribution_of
from quoteweave.attribution.excerpts import Excerpt
from quoteweave.attribution.records import Attribution, Candidate, Outcome
from quoteweave.core.answers import Verdict
from quoteweave.core.confidence import Calibration, Signals
from quoteweave.pipeline.search import Trace

SUPPORT: Mapping[Verdict, float] = MappingProxyType({"supported": 1.0, "unchecked": 0.5, "unsupported": 0.0})
"""The gate's verdict on the passage as a number, one of the signals of confidence."""
UNSURE = "Other papers speak for it nearly as much."
NOT_CITED = "Its passage alone does not show it, and nothing that was read cites it for such a claim."
EARLIEST = "Later papers say the same; the earliest stands first."
NEARLY_EQUAL = 0.1
"""Share of the claim's words, weighed by rarity, by which passages that say the same may differ."""


def ranked_attribution(
    excerpt: Excerpt,
    candidates: Sequence[Candidate],
    scores: Mapping[str, float],
    cited: Mapping[str, float],
    trace: Trace,
) -> Attribution:
    """What was found: the ranked candidates, and how sure that is. Of those that say the same, the earliest is first.

    `scores` are those of the candidates' documents. For each document that some sentence cites, `cited` has the share
    of the claim's words that are in that sentence.
    """
    first = earliest_of_equals(candidates)
    ranked = [
        candidate.model_copy(update={"rank": rank, "score": scores[candidate.citation.document]})
        for rank, candidate in enumerate([first, *(other for other in candidates if other is not first)], 1)
    ]
    attribution = _with_confidence(attribution_of(excerpt, ranked, trace), scores, cited)
    if first is candidates[0]:
        return attribution
    reason = " ".join(part for part in (attribution.reason, EARLIEST) if part)
    return attribution.model_copy(update={"reason": reason})


def earliest_of_equals(candidates: Sequence[Candidate]) -> Candidate:
    """The candidate to be ranked first: the earliest of those that say the same as the best, or the best itself.

    Passages say the same if they support the claim and have nearly as many of its words. Those that are only likely may
    be about another subject, or say something else about it.
    """
    best = candidates[0]
    equals = [
        candidate
        for candidate in candidates
        if candidate.outcome == best.outcome == "supported" and abs(candidate.coverage - best.coverage) <= NEARLY_EQUAL
    ]
    for candidate in equals:
        if all(_is_earlier(candidate, other) for other in equals if other is not candidate):
            return candidate
    return best


def _is_earlier(candidate: Candidate, other: Candidate) -> bool:
    date, other_date = (paper and paper.published for paper in (candidate.paper, other.paper))
    return bool(date and other_date and other_date.may_follow(date) and not date.may_follow(other_date))


def _with_confidence(attribution: Attribution, scores: Mapping[str, float], cited: Mapping[str, float]) -> Attribution:
    """What was found, with how sure that is; below the threshold the first candidate does not count as the source."""
    if not attribution.candidates:
        return attribution
    best = attribution.candidates[0]
    following = max((score for name, score in scores.items() if name != best.citation.document), default=0.0)
    support = 0.0 if best.rejection == "secondhand" else SUPPORT[best.citation.verdict or "unchecked"]
    signals = Signals(
        score=best.score - following,
        bearing=best.coverage,
        support=support,
        cited=cited.get(best.citation.document, 0.0),
    )
    fitted = literature_calibration().after
    confidence = fitted.confidence(signals)
    outcome: Outcome = "not_found"
    # A passage that lacks a number of the claim, or reports what others found, is not the source, even if it is cited.
    if confidence >= fitted.threshold and support > 0:
        outcome = "supported" if best.outcome == "supported" else "likely"
    if best.citation.checker_verdict is not None:
        outcome = best.outcome  # the checker has judged this passage itself
    # The passage's own reason may be minor, so that the reader is told, too, why the chance is too low.
    by_chance = outcome == "not_found" and support > 0 and best.citation.checker_verdict is None
    unsure = (UNSURE if signals.cited else NOT_CITED) if by_chance else None
    reason = " ".join(part for part in (best.citation.reason, unsure) if part) or None
    update = {"signals": signals, "confidence": confidence, "outcome": outcome, "reason": reason}
    candidates = (best.model_copy(update={"outcome": outcome}), *attribution.candidates[1:])
    return attribution.model_copy(update={**update, "candidates": candidates})


@cache
def literature_calibration() -> Calibration:
    """The chance that a first candidate is the source; `benchmarks/source_confidence.py` fitted it over made papers."""
    text = resources.files("quoteweave.attribution.literature").joinpath("confidence.json").read_text("utf-8")
    return Calibration.model_validate_json(text)
