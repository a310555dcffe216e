"""Finds the source of a claim among a few passages that are at hand, without a collection: those of a question."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, get_args

from quoteweave.attribution.attribute import PASSAGES
from quoteweave.attribution.checked_passages import check_passage, cite_passage, passage_context
from quoteweave.attribution.excerpts import Excerpt
from quoteweave.attribution.records import Attribution, Candidate, Outcome
from quoteweave.core.records import Hit
from quoteweave.generation.extractive.statements import words_with_headings
from quoteweave.generation.relevance import coverage, question_terms, weigh_terms
from quoteweave.pipeline.search import Trace


class _Passage(NamedTuple):
    hit: Hit
    words: frozenset[str]


class PassageFinder:
    """Finds the source of a claim among passages; implements `FindsSource`.

    Passages are ranked by the share of the claim's words that they have, weighed by their rarity among the passages;
    of equal ones the first stands first. The best `PASSAGES` are `checked` by the gate's rules: one that supports the
    claim stands before one that is likely, and where there is neither, no source is found. Unchecked, the best is the
    source, whatever it says: ALCE's PostCite (arXiv 2305.14627, section 4), with words in the place of GTR's vectors.
    """

    def __init__(self, hits: Sequence[Hit], *, checked: bool = True) -> None:
        self._passages = [_Passage(hit, words_with_headings(hit.quote)) for hit in hits]
        self._checked = checked

    async def attribute_excerpt(self, excerpt: Excerpt) -> Attribution:
        """Return the best passages as candidates."""
        weights = weigh_terms(question_terms(excerpt.claim), [one.words for one in self._passages])
        covered = sorted(((min(1.0, coverage(weights, one.words)), one) for one in self._passages), key=_least_covered)
        candidates = [self._candidate(excerpt.claim, one.hit, share, weights) for share, one in covered[:PASSAGES]]
        ranked = sorted(candidates, key=lambda one: get_args(Outcome).index(one.outcome))
        best = ranked[0] if ranked else None
        return Attribution(
            excerpt=excerpt,
            outcome="not_found" if best is None else best.outcome,
            reason="There are no passages." if best is None else best.citation.reason,
            candidates=tuple(one.model_copy(update={"rank": rank}) for rank, one in enumerate(ranked, 1)),
            trace=Trace(clauses=()),
        )

    def _candidate(self, claim: str, hit: Hit, covered: float, weights: Mapping[str, float]) -> Candidate:
        outcome: Outcome = "likely"
        if self._checked:
            passage = check_passage(claim, hit, weights)
            outcome, citation = passage.outcome, passage.citation
        else:
            (citation,) = cite_passage(claim, hit, passage_context([hit])).citations
        return Candidate(
            rank=1,
            title=hit.quote.document,
            identifiers={"document": hit.quote.document},
            score=covered,
            outcome=outcome,
            coverage=covered,
            kind=hit.quote.kind,
            passage=hit.quote.words(),
            citation=citation,
        )


def _least_covered(one: tuple[float, _Passage]) -> float:
    return -one[0]
