"""Notes on searches for papers: technical errors by kind, and of how many excerpts published figures are."""

from collections import Counter
from collections.abc import Sequence

from quoteweave.core.examples import Example, Prediction
from quoteweave.core.messages import pluralize
from quoteweave.core.paper_search import TECHNICAL_ERRORS
from quoteweave.evaluation.metrics.answers.paper_search import NO_CHOICE, outcome_of
from quoteweave.evaluation.metrics.metric import Convention

PUBLISHED_EXCERPTS = 119
"""Every per cent that CiteME's Tables 4, 5 and 8 print is a multiple of 1/119; its text counts 130 excerpts."""


def search_notes(examples: Sequence[Example], predictions: Sequence[Prediction], convention: Convention) -> list[str]:
    """What a reader must know of papers that were to be named; empty for other tasks."""
    asked = {example.id for example in examples if example.task == "name_paper"}
    if not asked:
        return []
    tally = Counter(outcome_of(prediction) for prediction in predictions if prediction.example in asked)
    notes = []
    broken = {kind: tally[kind] for kind in TECHNICAL_ERRORS if tally[kind]}
    if broken:
        kinds = ", ".join(f"{count} {kind}" for kind, count in broken.items())
        counted = "counted as wrong, as the authors' code does" if convention == "published" else "left out, not wrong"
        notes.append(f"{pluralize(sum(broken.values()), 'technical error')} ({kinds}), {counted}")
    silent = {kind: tally[kind] for kind in NO_CHOICE if tally[kind]}
    if silent:
        kinds = ", ".join(f"{count} {kind}" for kind, count in silent.items())
        notes.append(
            f"{pluralize(sum(silent.values()), 'excerpt')} without a paper selected ({kinds}), counted as wrong"
        )
    if len(asked) != PUBLISHED_EXCERPTS:
        notes.append(
            f"this file has {pluralize(len(asked), 'excerpt')}; published figures are of {PUBLISHED_EXCERPTS}, and of "
            "which is not told"
        )
    return notes
