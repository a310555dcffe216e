"""Pseudo-relevance feedback (RM3): add the words of a first search's hits to the question."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from quoteweave.core.errors import UsageError
from quoteweave.core.protocols import Expansion, Retriever
from quoteweave.core.records import Filter, Hit, Query
from quoteweave.core.text.tokens import words

# Words of a clause: one per percent of weight, unless the question itself is longer than its share.
CLAUSE_WORDS = 100


class Rm3Expander:
    """RM3 (Abdul-Jaleel et al., "UMass at TREC 2004"), for retrievers that add up the scores of words, such as BM25.

    The first `quotes` hits R of a search make a relevance model (Lavrenko and Croft, SIGIR 2001, RM1):
    P(w | R) = sum over hits of share × count of w / number of words, with shares in proportion to the hits' scores (or
    equal, where scores are not positive), without smoothing. Its `terms` heaviest words, scaled to sum to 1, are mixed
    with the question: weight(w) = alpha P(w | question) + (1 - alpha) P(w | R). The usual defaults: 10, 10 and 0.5.

    The result is one clause in place of the question. A word occurs in it about once for each percent of its weight:
    the question, on lines of its own, as often as its share requires, then each feedback word on a line, repeated. As
    BM25 and TF-IDF add up repeated words, they rank by these weights, each exact to about half a percent of the whole.

    Raises UsageError for parameters out of range.
    """

    name = "rm3"

    def __init__(self, retriever: Retriever, *, quotes: int = 10, terms: int = 10, alpha: float = 0.5) -> None:
        if quotes < 1 or terms < 1 or not 0 < alpha <= 1:
            raise UsageError(
                f"RM3 takes 1 or more quotes and terms and an alpha above 0, at most 1; got {quotes}, {terms}, {alpha}"
            )
        self._retriever, self._quotes, self._terms, self._alpha = retriever, quotes, terms, alpha

    async def expand(self, query: Query, *, where: Filter | None = None) -> Expansion:
        """Return one clause; the question alone, with a note, if nothing is found. Raises what the retriever raises.

        The first search finds only quotes that `where` passes.
        """
        question_words = words(query.text)
        hits: Sequence[Hit] = ()
        if question_words:
            (hits,) = await asyncio.to_thread(self._retriever.search, [query], self._quotes, where=where)
        model = relevance_model(hits, self._terms)
        if not model:
            return Expansion(clauses=(query.text,), note="Nothing was found to expand the question by.")
        times = max(1, round(self._alpha * CLAUSE_WORDS / len(question_words)))
        # Weight of one word of the clause, such that the question's words together weigh alpha.
        unit = self._alpha / (times * len(question_words))
        lines = [" ".join(query.text.split())] * times
        for word, probability in model.items():
            lines.append(" ".join([word] * round((1 - self._alpha) * probability / unit)))
        return Expansion(clauses=("\n".join(line for line in lines if line),))


def relevance_model(hits: Sequence[Hit], terms: int) -> Mapping[str, float]:
    """P(w | R) of the `terms` heaviest words, heaviest first, scaled to sum to 1.

    Words are counted by their stems and returned in their most frequent form, which has the same stem again.
    """
    weights: dict[str, float] = defaultdict(float)
    surfaces: dict[str, Counter[str]] = defaultdict(Counter)
    for hit, share in zip(hits, _shares(hits), strict=True):
        text = hit.quote.all_text()
        stems = words(text)
        for stem, surface in zip(stems, words(text, stem=False), strict=True):
            if words(surface) == [stem]:
                weights[stem] += share / len(stems)
                surfaces[stem][surface] += 1
    best = sorted(weights, key=lambda stem: (-weights[stem], stem))[:terms]
    total = sum(weights[stem] for stem in best)
    return {surfaces[stem].most_common(1)[0][0]: weights[stem] / total for stem in best}


def _shares(hits: Sequence[Hit]) -> list[float]:
    if any(hit.score <= 0 for hit in hits):
        return [1 / len(hits)] * len(hits)
    total = sum(hit.score for hit in hits)
    return [hit.score / total for hit in hits]
