"""Finds the sources of sentences among the documents of a collection, without a model.

1. The excerpt is searched for, text and image quotes separately. The documents of the hits are the candidates, in the
   order of their best quotes.
2. The gate's rules (`generation.gate.sentence_check`) check whether each candidate's best quotes support the claim:
   numbers, dates, names and words are looked up. The candidate's passage is a quote that supports the claim and has
   nine tenths of its words, weighted by rarity, in one sentence; else a likely one, which has most of what the claim
   says and nothing that is known to be wrong (`attribution.checked_passages`); else the quote with most of the claim's
   words that lacks none of its numbers, if there is one.
3. Candidates are put in the same order: supported, likely, lacking no number, and within each as they were found. If
   the first is neither supported nor likely, no source was found. A likely source that was not confirmed is reported as
   likely.
"""

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from quoteweave.attribution.checked_passages import CheckedPassage, check_passage, confirm, passage_context
from quoteweave.attribution.excerpts import Excerpt, read_excerpts
from quoteweave.attribution.records import Attribution, Candidate
from quoteweave.attribution.settings import CANDIDATES
from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Context, ContextSize
from quoteweave.core.errors import UsageError
from quoteweave.core.protocols import ClaimChecker
from quoteweave.core.records import Filter, Hit, Query
from quoteweave.generation.relevance import question_terms, weigh_terms, words_with_headings
from quoteweave.pipeline.highlighting import add_highlights
from quoteweave.pipeline.search import Search, Trace

POOL = ContextSize(texts=40, images=20)
PASSAGES = 12
"""Quotes of a candidate that are checked, at most."""


class Attributor:
    """Finds the sources of claims in a collection.

    >>> attributor = Attributor(collection, Search(LexicalRetriever(collection)))
    >>> (found,) = asyncio.run(attributor.attribute("In May 4,210 tonnes of grain were shipped [CITATION]."))
    >>> found.outcome, found.candidates[0].title, found.candidates[0].passage
    ('supported', 'port.md', 'The harbour shipped 4,210 tonnes of grain in May.')
    """

    def __init__(self, collection: Collection, search: Search, checker: ClaimChecker | None = None) -> None:
        """`checker` confirms the passages of candidates (`confirm`); with None, only the gate's rules check them."""
        self._collection, self._search, self._checker = collection, search, checker

    async def attribute(
        self, text: str, k: int = CANDIDATES, *, where: Filter | None = None
    ) -> tuple[Attribution, ...]:
        """Find the source of each citation mark of a text, or of each sentence of one without marks.

        Raises what `read_excerpts` and `Search.context` raise.
        """
        return tuple([await self.attribute_excerpt(excerpt, k, where=where) for excerpt in read_excerpts(text)])

    async def attribute_excerpt(
        self, excerpt: Excerpt, k: int = CANDIDATES, *, where: Filter | None = None
    ) -> Attribution:
        """Find the source of one claim: at most `k` candidates.

        Raises UsageError for a `k` below 1, and what `Search.context` raises.
        """
        require_candidates(k)
        retrieved = await self._search.context(Query(text=excerpt.text), POOL, where=where)
        by_document = hits_by_document(retrieved.context)
        checked = self.check(excerpt.claim, dict(list(by_document.items())[:k]), retrieved.context)
        candidates = await self.confirm(excerpt.claim, checked)
        return attribution_of(excerpt, candidates, retrieved.trace)

    def check(self, claim: str, by_document: Mapping[str, Sequence[Hit]], context: Context) -> tuple[Candidate, ...]:
        """Check the best quotes of documents, each given by its name, against a claim.

        Candidates whose passage supports the claim come first, then likely ones; otherwise the order given is kept.
        `context` is all that was found; rare words in it weigh more.
        """
        hits = [*context.texts, *context.images]
        weights = weigh_terms(question_terms(claim), [words_with_headings(hit.quote) for hit in hits], context.rarity)

        def best(own_hits: Sequence[Hit]) -> CheckedPassage:
            passages = [check_passage(claim, hit, weights, own_hits) for hit in own_hits]
            closest = min(passages, key=lambda passage: (passage.order, -passage.covered))
            # A passage with an opposite word that is closer to the claim is preferred to one that is only likely. A
            # passage with a negation is not, as it may deny something else.
            opposite = [passage for passage in passages if passage.is_opposite and passage.covered >= closest.covered]
            return opposite[0] if opposite and closest.outcome == "likely" else closest

        chosen = sorted(
            (best(own_hits[:PASSAGES]) for own_hits in by_document.values()), key=lambda passage: passage.order
        )
        return tuple(self._candidate(rank, passage) for rank, passage in enumerate(chosen, 1))

    async def confirm(self, claim: str, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
        """Have the checker confirm the candidates' passages, if there is one."""
        return candidates if self._checker is None else await confirm(claim, candidates, self._checker)

    def _candidate(self, rank: int, passage: CheckedPassage) -> Candidate:
        quote = passage.hit.quote
        metadata = self._collection.document(quote.document).metadata
        (citation,) = add_highlights(passage.answer, passage_context([passage.hit]), self._collection).citations
        return Candidate(
            rank=rank,
            title=metadata.get("title") or quote.document,
            identifiers={"document": quote.document, **metadata},
            score=passage.hit.score,
            outcome=passage.outcome,
            coverage=passage.covered,
            kind=quote.kind,
            passage=quote.all_text(),
            closest=passage.closest,
            citation=citation,
            rejection=passage.rejection,
        )


def require_candidates(k: int) -> None:
    """Raise UsageError for a number of candidates below 1."""
    if k < 1:
        raise UsageError(f"k is {k}: at least one candidate has to be asked for")


def hits_by_document(context: Context) -> dict[str, list[Hit]]:
    """Return the hits of each document, best first, the documents in the order of their best."""
    by_document: dict[str, list[Hit]] = {}
    for hit in sorted(context.hits, key=lambda hit: -hit.score):
        by_document.setdefault(hit.quote.document, []).append(hit)
    return by_document


def interleave_hits(hits: Sequence[Hit], other_hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits of two searches by turns, each quote once."""
    hit_by_quote: dict[str, Hit] = {}
    for hit in (hit for pair in zip_longest(hits, other_hits) for hit in pair if hit is not None):
        hit_by_quote.setdefault(hit.quote.id, hit)
    return list(hit_by_quote.values())


def attribution_of(excerpt: Excerpt, candidates: Sequence[Candidate], trace: Trace) -> Attribution:
    """Return what was found for a claim: its outcome is that of the first candidate."""
    best = candidates[0] if candidates else None
    return Attribution(
        excerpt=excerpt,
        outcome="not_found" if best is None else best.outcome,
        reason="Nothing in these documents has words of the claim." if best is None else best.citation.reason,
        candidates=tuple(candidates),
        trace=trace,
    )
