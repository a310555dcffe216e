"""The order of sentences by a model, beside the checks of `answering`, which stay as they are.

Models score on scales of their own, so that of their scores only the order and the distances within one question count.
"""

import statistics
from collections.abc import Mapping, Sequence
from itertools import groupby

from quoteweave.core.protocols import SentenceScorer
from quoteweave.core.records import Record
from quoteweave.generation.extractive.statements import Statement

LEAST = 0.5
"""The standing of the lowest sentence."""
LEAD = 0.2
"""How far the first is ahead of the next that says something else, as a share of its lead over the middle one, where it
is clearly the first."""
FEWEST = 5
"""Sentences that say different things, below which none is clearly the first: it is compared with too little."""

SentenceKey = tuple[str, int]
"""The id of a quote, and which of its sentences, from 0."""


class Standings(Record):
    """Where the sentences that were found stand by a model."""

    of: Mapping[SentenceKey, float]
    """From `LEAST` to 1, the best; none of sentences that by the model do not answer."""
    first: SentenceKey | None = None
    """The one that is clearly the first."""


def key_of(statement: Statement) -> SentenceKey:
    """What tells it from all other statements of a context."""
    return statement.quote.id, statement.place


async def stand(order: SentenceScorer, question: str, statements: Sequence[Statement]) -> Standings:
    """The standings of statements, those of one quote side by side. Raises what the model raises."""
    said = [statement for statement in statements if statement.text]
    passages = [list(same) for _, same in groupby(said, key=lambda statement: statement.quote.id)]
    if not passages:
        return Standings(of={})
    scored = await order.score(question, [[statement.text for statement in same] for same in passages])
    found = {
        key_of(statement): (score, statement.text)
        for same, scores in zip(passages, scored, strict=True)
        for statement, score in zip(same, scores, strict=True)
        if score is not None
    }
    scores = [score for score, _ in found.values()]
    least, most = min(scores, default=0.0), max(scores, default=0.0)
    standings = {
        key: LEAST + (1 - LEAST) * (score - least) / (most - least) if most > least else 1.0
        for key, (score, _) in found.items()
    }
    enough = len({statement.text for statement in said}) >= FEWEST
    return Standings(of=standings, first=_clearly_first(found) if enough else None)


def best_of(several: Sequence[Standings]) -> Standings:
    """The best standing of each sentence by several questions; none is clearly the first of all."""
    keys = {key for one in several for key in one.of}
    return Standings(of={key: max(one.of.get(key, 0.0) for one in several) for key in keys})


def _clearly_first(found: Mapping[SentenceKey, tuple[float, str]]) -> SentenceKey | None:
    if not found:
        return None
    first = max(found, key=lambda key: found[key][0])
    score, text = found[first]
    others = [other for other, said in found.values() if said != text]
    if not others:
        return first
    lead = score - statistics.median([score, *others])
    return first if lead > 0 and score - max(others) >= LEAD * lead else None
