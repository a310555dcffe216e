"""What is known of an answer's chances without a model: how well quotes were found, and what the gate says of it."""

from collections.abc import Iterable

from quoteweave.core.answers import Answer, Citation, Context
from quoteweave.core.confidence import Signals
from quoteweave.generation.extractive.statements import words_around
from quoteweave.generation.relevance import coverage, weigh, what_is_asked

UNCHECKED = 0.5
"""What a citation counts on which the gate has no verdict: it says as much for the answer as against it."""


def signals_of(question: str, context: Context, answer: Answer | None = None) -> Signals:
    """The signals of an answer over this context; without one, those that are known before it is written."""
    hits = (*context.texts, *context.images)
    return Signals(
        score=max((hit.score for hit in hits), default=None),
        bearing=bearing(question, context),
        support=0.0 if answer is None else support(answer.citations),
    )


def bearing(question: str, context: Context) -> float:
    """The share of the question's words, weighed as `relevance` says, that the quote with most of them holds; 0 to 1.

    One quote's, because twenty together hold most words of any question. Captions, section titles and names of
    documents count as their quotes' own.
    """
    held = [words_around(hit.quote) for hit in (*context.texts, *context.images)]
    weights = weigh(what_is_asked(question), held)
    return min(1.0, max((coverage(weights, words) for words in held), default=0.0))


def support(citations: Iterable[Citation]) -> float:
    """The share of citations that the gate calls supported, 0 to 1, those without a verdict counting half.

    0 without citations: an answer that cites nothing shows nothing for itself.
    """
    worth = [{"supported": 1.0, "unsupported": 0.0}.get(one.verdict or "", UNCHECKED) for one in citations]
    return sum(worth) / len(worth) if worth else 0.0
