"""Compute the signals of an answer's confidence: retrieval score, coverage of the question, and the gate's verdicts."""

from collections.abc import Iterable

from quoteweave.core.answers import Answer, Citation, Context
from quoteweave.core.confidence import Signals
from quoteweave.generation.relevance import coverage, question_terms, weigh_terms, words_with_headings

UNCHECKED = 0.5
"""The weight of a citation on which the gate has no verdict: half that of a supported one."""


def signals_of(question: str, context: Context, answer: Answer | None = None) -> Signals:
    """Compute the signals of an answer over its context; without an answer, those known before it is generated."""
    hits = context.hits
    return Signals(
        score=max((hit.score for hit in hits), default=None),
        bearing=best_quote_coverage(question, context),
        support=0.0 if answer is None else supported_share(answer.citations),
    )


def best_quote_coverage(question: str, context: Context) -> float:
    """The share of the question's words, weighted as in `relevance`, that the quote with most of them contains; 0 to 1.

    It is measured on one quote, because twenty together contain most words of any question. Captions, section titles
    and names of documents count as words of their quotes.
    """
    words_of_quotes = [words_with_headings(hit.quote) for hit in context.hits]
    weights = weigh_terms(question_terms(question), words_of_quotes)
    return min(1.0, max((coverage(weights, words) for words in words_of_quotes), default=0.0))


def supported_share(citations: Iterable[Citation]) -> float:
    """The share of citations that the gate found supported, 0 to 1, those without a verdict counting half.

    0 without citations: an answer that cites nothing has no support.
    """
    worth = [{"supported": 1.0, "unsupported": 0.0}.get(citation.verdict or "", UNCHECKED) for citation in citations]
    return sum(worth) / len(worth) if worth else 0.0
