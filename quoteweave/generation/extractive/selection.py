"""Score statements by how much of a question they cover, or rank them by a model, and choose the best.

Models have different score ranges, so only the order and the relative distances within one question are used; the
checks of `answer_criteria` stay as they are.
"""

import itertools
import math
import re
import statistics
from collections.abc import Hashable, Mapping, Sequence
from itertools import groupby

from quoteweave.core.answers import Context
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.protocols import SentenceScorer
from quoteweave.core.records import STATEMENT_WEIGHTS, Kind, Record
from quoteweave.core.text.foreign_languages import permission_stems, permission_words
from quoteweave.core.text.tokens import has_digit, words
from quoteweave.generation.extractive.acts.told_amounts import new_facts, new_numbers
from quoteweave.generation.extractive.answer_kinds import counted_numbers
from quoteweave.generation.extractive.answer_names import new_names
from quoteweave.generation.extractive.statements import Statement, is_headed_by
from quoteweave.generation.gate.contraries.opposite_words import find_contrary
from quoteweave.generation.gate.dates import NAMES_WEEKDAY, Date
from quoteweave.generation.gate.facts import read_evidence
from quoteweave.generation.relevance import (
    QuestionTerms,
    adjacency,
    coverage,
    overlap,
    says_all,
    subject_terms,
    words_with_headings,
)
from quoteweave.generation.sentence_kinds import denies

IN_QUOTE = 0.5
"""Weight of a word of the question that is not in the sentence, but elsewhere in its quote or above it."""

ADJACENCY_BONUS = 0.2
NUMBER_BONUS = 0.15
ENOUGH_TOGETHER = 2
"""A sentence that has at least so many words of a question, and none is lacking, does not have them by chance."""
RANK_BONUS = 0.1
HEADING_BONUS = 0.2
"""Bonus for a statement under a heading that is the question, or what it asks about."""

_ASKS_PAST_ACT = lazy_regex(
    r"\W*(?:(?:when|(?:in\s+)?(?:what|which)\s+(?:year|date|day|month)|by\s+whom)\s+(?:was|were|did)\b"
    r"|who\s+(?!(?:is|are|was|were|can|may|must|should|will|would|do|does|did|has|have|had)\b)\w*[^\Ws]\s)",
    re.IGNORECASE,
)
_PERMISSION = " ".join(map(" ".join, permission_words()))
_PERMITS = lazy_regex(
    rf"\b(?:may|can(?:not)?|(?:must|shall)\s+not|welcome|{'|'.join(_PERMISSION.split())})\b", re.IGNORECASE
)


class StatementCoverage:
    """How much of a question statements cover, taking the text around them into account."""

    def __init__(self, context: Context, weights: Mapping[str, float]) -> None:
        self._weights = weights
        held = [(hit.quote, words_with_headings(hit.quote)) for hit in context.hits]
        self._shared = {quote.id: len(found.intersection(weights)) for quote, found in held}
        self._quotes = {quote.id: coverage(weights, found) for quote, found in held}

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
    """Keep the statements of the best one's document; also return whether other documents contradict it.

    Statements of other documents are kept if they do, or say something else in its words, so that both can be compared.
    None is kept if those of the best one's document give different numbers for what is to be counted. `chosen` is best
    first.
    """
    statements_of_best = [one for one in chosen if one.quote.document == chosen[0].quote.document] if chosen else []
    others = [one for one in chosen if one not in statements_of_best]
    numbered = [one for one in statements_of_best if new_numbers(one, question)][:1]
    if question.asks == "count" and any(
        _counts_differ(statements_of_best[0], one, question) for one in statements_of_best[1:]
    ):
        return [], False
    contradicting = [
        one
        for one in others
        if states_otherwise(statements_of_best[0], one, question)
        or any(_gives_other_numbers(first, one, question) for first in numbered)
    ]
    compared = [one for one in others if one in contradicting or _differ_in_words(statements_of_best[0], one, question)]
    return [*statements_of_best, *compared], bool(contradicting)


def states_otherwise(first: Statement, second: Statement, question: QuestionTerms) -> bool:
    """Whether a statement of another document contradicts one: with another date, person or time of day.

    They contradict each other only if the question names something, and
    - asks for its time of day ("When does the festival open?"), and both give one time for the same days; or
    - asks for a past act ("When was Skarn Quay built?"), and both tell it in the question's words, each with one date
      or name. What is so at different times ("Who is the chair?"), or held every year, is no disagreement; a date that
      only says more ("3 May 1901" for "1901") is the same.
    """
    subject, documents = subject_terms(question), {first.quote.document, second.quote.document}
    if len(documents) < 2 or not question.names:
        return False
    if not _ASKS_PAST_ACT.match(question.text):
        return question.asks == "date" and _clocks_differ(first, second, subject)
    if not all(says_all(each.words, subject) for each in (first, second)):
        return False
    if question.asks == "date":
        dates = [_dates_of(each.text) for each in (first, second)]
        return all(len(of_statement) == 1 for of_statement in dates) and _dates_differ(dates[0][0], dates[1][0])
    names = [new_names(each, question) for each in (first, second)]
    return all(len(of_statement) == 1 for of_statement in names) and set(names[0][0]).isdisjoint(names[1][0])


def _gives_other_numbers(first: Statement, second: Statement, question: QuestionTerms) -> bool:
    """Whether statements of two documents give numbers that are not in the question, and no value that both give."""
    if first.quote.document == second.quote.document or question.asks == "person":
        return False
    values, others = _values(first, question), _values(second, question)
    return all(new_numbers(one, question) for one in (first, second)) and values.isdisjoint(others)


def _values(statement: Statement, question: QuestionTerms) -> frozenset[Hashable]:
    """The numbers that a statement gives, or the names, if a person is asked for; if a time is, times, or else numbers.

    A price is no time.
    """
    if question.asks == "person":
        return frozenset(word for name in new_names(statement, question) for word in name)
    asks_time = question.asks == "date"
    facts, amounts = new_facts(statement.text, question.text)
    times = frozenset[Hashable](minutes for _, minutes in facts.clocks).union(
        (d.year, d.month, d.day) for d in facts.dates
    )
    numbers = frozenset[Hashable](one.value for one in amounts if not (one.year or (asks_time and one.is_money)))
    return (asks_time and times) or numbers


def says_same(first: Statement, second: Statement, question: QuestionTerms) -> bool:
    """Whether two statements give the same value, both allow or both forbid it, or one only says more."""
    if denies(first.text) == denies(second.text):
        if question.asks == "yes_or_no" and all(_PERMITS.search(one.text) for one in (first, second)):
            return True
        own, its = (frozenset(each.words).difference(question.terms) for each in (first, second))
        if own <= its or its <= own:
            return True
    return not _values(first, question).isdisjoint(_values(second, question))


def says_otherwise(first: Statement, second: Statement, question: QuestionTerms) -> bool:
    """Whether statements of two documents give other values, are contrary, or differ in one place alone."""
    values, others = _values(first, question), _values(second, question)
    return bool(values and others and values.isdisjoint(others)) or _differ_in_words(first, second, question)


def is_contrary_of(first: Statement, second: Statement, question: QuestionTerms) -> bool:
    """Whether a statement is the contrary of another: also if one allows what is asked about, and one forbids it.

    The first must have all words of what is asked about, or the heading above it the only one.
    """
    asked, heading = question.subject - permission_stems(), words(first.quote.section or "")
    said = frozenset(heading).union(first.words if len(asked) >= ENOUGH_TOGETHER else ())
    is_of_it = bool(asked) and says_all(said, asked)
    return are_contrary(first, second) or (is_of_it and _permit_differently(first, second))


def _permit_differently(first: Statement, second: Statement) -> bool:
    """Whether both tell what is allowed, and only one denies it: "Nobody may smoke", "Smoking is permitted"."""
    return denies(first.text) != denies(second.text) and all(_PERMITS.search(one.text) for one in (first, second))


def _differ_in_words(first: Statement, second: Statement, question: QuestionTerms) -> bool:
    """Whether one of two documents states the contrary of the other, or differs from it in one place alone."""
    if first.quote.document == second.quote.document:
        return False
    return (
        _permit_differently(first, second)
        or are_contrary(first, second)
        or _differ_in_one_place(first, second, question)
    )


def are_contrary(first: Statement, second: Statement) -> bool:
    """Whether one of two statements states the contrary of the other."""
    pairs = ((first, second), (second, first))
    return any(find_contrary(one.text, [other.text], dict.fromkeys(one.words, 1.0)) for one, other in pairs)


def _differ_in_one_place(first: Statement, second: Statement, question: QuestionTerms) -> bool:
    """Whether two texts are the same but for one place: "The keys are in the office", and "in the cellar".

    Both have something there that the question does not name, or one denies there what the other says.
    """
    texts = [words(each.text, stem=False, keep_stop_words=True) for each in (first, second)]
    start = _common_length(*texts)
    ends = [text[start:] for text in texts]
    end = _common_length(*(text[::-1] for text in ends))
    places = [" ".join(text[: len(text) - end]) for text in ends]
    if not all(places):
        return any(places) and denies(first.text) != denies(second.text)
    if question.asks in ("date", "person"):
        values, others = _values(first, question), _values(second, question)
        if values & others or (question.asks == "date" and has_digit("".join(places)) and not values | others):
            return False
    words_there = [set(words(place)) for place in places]
    is_short = max(len(place.split()) for place in places) <= start + end
    return (
        is_short
        and all(words_there)
        and words_there[0].isdisjoint(words_there[1])
        and not set(question.terms) & (words_there[0] | words_there[1])
    )


def _common_length(first: Sequence[str], second: Sequence[str]) -> int:
    """How many words two texts have in common at their beginning."""
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def _clocks_differ(first: Statement, second: Statement, subject: Sequence[str]) -> bool:
    """Whether two statements give one time of day each, which differ, for what the question is about.

    The question's words may be above the statements. The days that they name must be the same.
    """
    both = (first, second)
    if not all(says_all(words_with_headings(each.quote), subject) for each in both):
        return False
    facts = [read_evidence(each.text) for each in both]
    days = [frozenset(NAMES_WEEKDAY.findall(each.text)) for each in both]
    clocks = [[minutes for _, minutes in each.clocks] for each in facts]
    single = all(len(found) == 1 for found in clocks) and not any(each.dates for each in facts)
    verbs = [says_all(each.words, subject[-1:]) for each in both]
    return single and all(verbs) and days[0] == days[1] and clocks[0] != clocks[1]


def _dates_of(text: str) -> list[Date]:
    """The dates in a text; for a year alone, the month is 0."""
    facts = read_evidence(text)
    of_dates = {date.year for date in facts.dates}
    years = (int(one.value) for one in facts.amounts if one.year)
    return [*facts.dates, *(Date(str(year), month=0, day=None, year=year) for year in years if year not in of_dates)]


def _dates_differ(one: Date, other: Date) -> bool:
    if one.year is not None and other.year is not None and one.year != other.year:
        return True
    both_months = bool(one.month and other.month)
    return both_months and not (one.confirmed_by(other) or other.confirmed_by(one))


def _counts_differ(one: Statement, other: Statement, question: QuestionTerms) -> bool:
    """Whether two statements count the same things, and neither has the other's number."""
    pairs = ((one, other), (other, one))
    counts = [(counted_numbers(first, question), new_numbers(second, question)) for first, second in pairs]
    return all(counted and counted.isdisjoint(numbers) for counted, numbers in counts)


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
            if common and _differ_in_words(statement, other, question):
                worth[position] = value_of_best if statement is chosen[0] else value
            elif common and not _gives_other_numbers(statement, other, question):
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


MIN_SCORE = 0.5
"""The scaled score of the sentence with the lowest score."""
CLEAR_LEAD = 0.2
"""To be clearly first, a sentence must lead the next different one by this share of its lead over the median."""
MIN_SENTENCES = 5
"""Least number of different sentences for one of them to be clearly first."""

SentenceKey = tuple[str, int]
"""The id of a quote, and the index of its sentence, from 0."""


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
    keys = {key for one in several for key in one.of}
    return SentenceScores(of={key: max(one.of.get(key, 0.0) for one in several) for key in keys})


def _clearly_first(scores_of_sentences: Mapping[SentenceKey, tuple[float, str]]) -> SentenceKey | None:
    if not scores_of_sentences:
        return None
    first = max(scores_of_sentences, key=lambda key: scores_of_sentences[key][0])
    score, text = scores_of_sentences[first]
    others = [other for other, other_text in scores_of_sentences.values() if other_text != text]
    if not others:
        return first
    lead = score - statistics.median([score, *others])
    return first if lead > 0 and score - max(others) >= CLEAR_LEAD * lead else None
