"""Rank sentences by a model; the checks of `answer_criteria` stay as they are.

Models have different score ranges, so only the order and the relative distances within one question are used.
"""

import statistics
from collections.abc import Mapping, Sequence
from itertools import groupby

from quoteweave.core.protocols import SentenceScorer
from quoteweave.core.records import Record
from quoteweave.generation.extractive.statements import Statement

MIN_SCORE = 0.5
"""The standing of the sentence with the lowest score."""
CLEAR_LEAD = 0.2
"""To be clearly first, a sentence must lead the next different one by this share of its lead over the median."""
MIN_SENTENCES = 5
"""Least number of different sentences for one of them to be clearly first."""

SentenceKey = tuple[str, int]
"""The id of a quote, and the index of its sentence, from 0."""


class SentenceRanking(Record):
    """The standings of sentences by a model: its scores, scaled to a common range."""

    of: Mapping[SentenceKey, float]
    """From `MIN_SCORE` to 1, the best; sentences that do not answer, by the model, are left out."""
    first: SentenceKey | None = None
    """The sentence that is clearly first, if there is one."""


def sentence_key(statement: Statement) -> SentenceKey:
    """The key that identifies a statement within its context."""
    return statement.quote.id, statement.place


async def rank_sentences(order: SentenceScorer, question: str, statements: Sequence[Statement]) -> SentenceRanking:
    """Score statements with a model; those of one quote must be adjacent. Raises what the model raises."""
    filled = [statement for statement in statements if statement.text]
    passages = [list(same) for _, same in groupby(filled, key=lambda statement: statement.quote.id)]
    if not passages:
        return SentenceRanking(of={})
    scored = await order.score(question, [[statement.text for statement in same] for same in passages])
    found = {
        sentence_key(statement): (score, statement.text)
        for same, scores in zip(passages, scored, strict=True)
        for statement, score in zip(same, scores, strict=True)
        if score is not None
    }
    scores = [score for score, _ in found.values()]
    least, most = min(scores, default=0.0), max(scores, default=0.0)
    standings = {
        key: MIN_SCORE + (1 - MIN_SCORE) * (score - least) / (most - least) if most > least else 1.0
        for key, (score, _) in found.items()
    }
    enough = len({statement.text for statement in filled}) >= MIN_SENTENCES
    return SentenceRanking(of=standings, first=_clearly_first(found) if enough else None)


def merge_rankings(several: Sequence[SentenceRanking]) -> SentenceRanking:
    """Combine the standings for several questions, taking each sentence's best; no sentence is clearly first."""
    keys = {key for one in several for key in one.of}
    return SentenceRanking(of={key: max(one.of.get(key, 0.0) for one in several) for key in keys})


def _clearly_first(found: Mapping[SentenceKey, tuple[float, str]]) -> SentenceKey | None:
    if not found:
        return None
    first = max(found, key=lambda key: found[key][0])
    score, text = found[first]
    others = [other for other, other_text in found.values() if other_text != text]
    if not others:
        return first
    lead = score - statistics.median([score, *others])
    return first if lead > 0 and score - max(others) >= CLEAR_LEAD * lead else None
