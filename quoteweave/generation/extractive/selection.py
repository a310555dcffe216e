"""Score statements by how much of a question they cover, or rank them by a model, and choose the best.

Models have different score ranges, so only the order and the relative distances within one question are used; the
checks of `answer_criteria` stay as they are.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from itertools import groupby

from quoteweave.core.answers import Context
from quoteweave.core.protocols import SentenceScorer
from quoteweave.core.records import STATEMENT_WEIGHTS, Kind, Record
from quoteweave.generation.extractive.acts.stated_amounts import new_numbers
from quoteweave.generation.extractive.several_documents.comparison import (
    counts_differ,
    differ_in_words,
    gives_other_numbers,
    states_otherwise,
)
from quoteweave.generation.extractive.statements import Statement, is_headed_by
from quoteweave.generation.relevance import QuestionTerms, adjacency, coverage, overlap, words_with_headings

IN_QUOTE = 0.5
"""Weight of a word of the question that is not in the sentence, but elsewhere in its quote or above it."""

ADJACENCY_BONUS = 0.2
NUMBER_BONUS = 0.15
RANK_BONUS = 0.1
HEADING_BONUS = 0.2
"""Bonus for a statement under a heading that is the question, or what it asks about."""
MIN_SCORE = 0.5
"""The scaled score of the sentence with the lowest score."""
CLEAR_LEAD = 0.2
"""To be clearly first, a sentence must lead the next different one by this share of its lead over the median."""
MIN_SENTENCES = 5
"""Least number of different sentences for one of them to be clearly first."""
SentenceKey = tuple[str, int]
"""The id of a quote, and the index of its sentence, from 0."""


class StatementCoverage:
    """How much of a question statements cover, taking the text around them into account."""

    def __init__(self, context: Context, weights: Mapping[str, float]) -> None:
        self._weights = weights
        words_of_quotes = [(hit.quote, words_with_headings(hit.quote)) for hit in context.hits]
        self._shared = {quote.id: len(quote_words.intersection(weights)) for quote, quote_words in words_of_quotes}
        self._quotes = {quote.id: coverage(weights, quote_words) for quote, quote_words in words_of_quotes}

    def of(self, statement: Statement) -> float:
        """Coverage from 0 to 1: the question's words in the statement count in full, those around it in part.

        It is 0 where the quote shares only one word with a question of several, which may be coincidence.
        """
        if self._shared[statement.quote.id] < min(2, len(self._weights)):
            return 0.0
        inside = coverage(self._weights, statement.words)
        quote = max(inside, self._quotes[statement.quote.id])
        return inside + IN_QUOTE * (quote - inside)


def score_statement(statement: Statement, question: QuestionTerms, covered: float) -> float:
    """Score a statement: its coverage with bonuses, lowered for anything but a complete sentence."""
    total = covered + ADJACENCY_BONUS * adjacency(question, statement.words)
    new = (word for word in statement.words if word not in question.terms)
    if question.analysis.wants_number and any(word[0].isdigit() for word in new):
        total += NUMBER_BONUS
    if is_headed_by(statement.quote, question):
        total += HEADING_BONUS
    return (total + RANK_BONUS / math.sqrt(statement.hit.rank)) * _soundness(statement)


def keep_best_document(chosen: Sequence[Statement], question: QuestionTerms) -> tuple[list[Statement], bool]:
    """Keep the statements of the best one's document; also return whether others, or it itself, contradict it.

    Statements of other documents are kept if they do, or say something else in its words, so that both can be compared.
    None is kept if those of the best one's document give different numbers for what is to be counted, but for those
    that are alike up to the number. `chosen` is best first.
    """
    if not chosen:
        return [], False
    best = chosen[0]
    of_document = [statement for statement in chosen if statement.document == best.document]
    is_contradicted = any(states_otherwise(best, statement, question) for statement in of_document[1:])
    if (
        question.asks == "count"
        and not is_contradicted
        and any(counts_differ(best, statement, question) for statement in of_document[1:])
    ):
        return [], False
    numbered = [statement for statement in of_document if new_numbers(statement, question)][:1]
    compared = list[Statement]()
    for other in (statement for statement in chosen if statement.document != best.document):
        contradicts = states_otherwise(best, other, question)
        contradicts = contradicts or any(gives_other_numbers(first, other, question) for first in numbered)
        is_contradicted = is_contradicted or contradicts
        compared += [other] if contradicts or differ_in_words(best, other, question) else []
    return [*of_document, *compared], is_contradicted


def choose_statements(
    statements: Sequence[Statement],
    scores: Sequence[float],
    question: QuestionTerms,
    *,
    limits: Mapping[Kind, int],
    keep: float,
) -> list[Statement]:
    """Choose the best statements, best first, without repetition.

    What another document says in these words with other numbers ("The rent is 1,150 euros") is no repetition. The
    contrary of the best statement, or what another document says otherwise in one place, is worth as much.

    The choice is greedy: a statement's value is its score, reduced by its word overlap with the most similar statement
    chosen before (a multiplicative form of maximal marginal relevance, Carbonell and Goldstein 1998). It ends where the
    value falls below `keep` times the best score, or the `limits` of all kinds are reached.
    """
    chosen: list[Statement] = []
    room = dict(limits)
    worth = {position: score for position, score in enumerate(scores) if score > 0}
    least = keep * max(scores, default=0.0)
    while worth := {position: value for position, value in worth.items() if room[statements[position].quote.kind]}:
        best = max(worth, key=lambda position: worth[position])
        if (value_of_best := worth.pop(best)) < least:
            break
        statement = statements[best]
        room[statement.quote.kind] -= 1
        chosen.append(statement)
        for position, value in worth.items():
            other = statements[position]
            common = overlap(other.words, statement.words)
            if common and differ_in_words(statement, other, question):
                worth[position] = value_of_best if statement is chosen[0] else value
            elif common and not gives_other_numbers(statement, other, question):
                worth[position] = min(value, scores[position] * (1 - common))
    return chosen


def _soundness(statement: Statement) -> float:
    """1 for a complete sentence; less for headings, fragments, rows of numbers, and letters spaced out by OCR."""
    text = statement.text
    factor = STATEMENT_WEIGHTS.get(statement.quote.layout, 1.0)
    if len(text) < 25 or text[-1] not in ".!?…。！？:;":
        factor *= 0.8
    if sum(map(str.isdigit, text)) > 0.25 * len(text) or text.count(" ") > 0.4 * len(text):
        factor *= 0.6
    return factor


class SentenceScores(Record):
    """The scores of sentences by a model, scaled to a common range."""

    of: Mapping[SentenceKey, float]
    """From `MIN_SCORE` to 1 for the best; sentences that, by the model, do not answer are left out."""
    first: SentenceKey | None = None
    """The sentence that is clearly first, if there is one."""


def sentence_key(statement: Statement) -> SentenceKey:
    """The key that identifies a statement within its context."""
    return statement.quote.id, statement.sentence_index


async def score_sentences(scorer: SentenceScorer, question: str, statements: Sequence[Statement]) -> SentenceScores:
    """Score statements with a model; those of one quote must be adjacent. Raises what the model raises."""
    filled = [statement for statement in statements if statement.text]
    passages = [list(same) for _, same in groupby(filled, key=lambda statement: statement.quote.id)]
    if not passages:
        return SentenceScores(of={})
    scored = await scorer.score(question, [[statement.text for statement in same] for same in passages])
    scores_of_sentences = {
        sentence_key(statement): (score, statement.text)
        for same, scores in zip(passages, scored, strict=True)
        for statement, score in zip(same, scores, strict=True)
        if score is not None
    }
    scores = [score for score, _ in scores_of_sentences.values()]
    least, most = min(scores, default=0.0), max(scores, default=0.0)
    sentence_scores = {
        key: MIN_SCORE + (1 - MIN_SCORE) * (score - least) / (most - least) if most > least else 1.0
        for key, (score, _) in scores_of_sentences.items()
    }
    enough = len({statement.text for statement in filled}) >= MIN_SENTENCES
    return SentenceScores(of=sentence_scores, first=_clearly_first(scores_of_sentences) if enough else None)


def merge_scores(several: Sequence[SentenceScores]) -> SentenceScores:
    """Combine the scores for several questions, taking each sentence's best; no sentence is clearly first."""
    keys = {key for scores in several for key in scores.of}
    return SentenceScores(of={key: max(scores.of.get(key, 0.0) for scores in several) for key in keys})


def _clearly_first(scores_of_sentences: Mapping[SentenceKey, tuple[float, str]]) -> SentenceKey | None:
    if not scores_of_sentences:
        return None
    first = max(scores_of_sentences, key=lambda key: scores_of_sentences[key][0])
    score, text = scores_of_sentences[first]
    other_scores = [other_score for other_score, other_text in scores_of_sentences.values() if other_text != text]
    if not other_scores:
        return first
    lead = score - statistics.median([score, *other_scores])
    return first if lead > 0 and score - max(other_scores) >= CLEAR_LEAD * lead else None
