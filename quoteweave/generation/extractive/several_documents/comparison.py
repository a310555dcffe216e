"""Compare two statements: whether they say the same on a question, other values, or the contrary."""

import itertools
import re
from collections.abc import Hashable, Sequence

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.foreign_languages import permission_stems, permission_words
from quoteweave.core.text.tokens import has_digit, words
from quoteweave.generation.extractive.acts.told_amounts import new_facts, new_numbers
from quoteweave.generation.extractive.answer_kinds import counted_numbers
from quoteweave.generation.extractive.answer_names import new_names
from quoteweave.generation.extractive.statements import Statement
from quoteweave.generation.gate.contraries.opposite_words import find_contrary
from quoteweave.generation.gate.dates import NAMES_WEEKDAY, Date
from quoteweave.generation.gate.facts import read_evidence
from quoteweave.generation.relevance import (
    QuestionTerms,
    says_all,
    subject_terms,
    words_with_headings,
)
from quoteweave.generation.sentence_kinds import denies

ENOUGH_TOGETHER = 2
"""A sentence that has at least so many words of a question, and none is lacking, does not have them by chance."""
_ASKS_PAST_ACT = lazy_regex(
    r"\W*(?:(?:when|(?:in\s+)?(?:what|which)\s+(?:year|date|day|month)|by\s+whom)\s+(?:was|were|did)\b"
    r"|who\s+(?!(?:is|are|was|were|can|may|must|should|will|would|do|does|did|has|have|had)\b)\w*[^\Ws]\s)",
    re.IGNORECASE,
)
_PERMISSION = " ".join(map(" ".join, permission_words()))
_PERMITTING_WORD = lazy_regex(
    rf"\b(?:may|can(?:not)?|(?:must|shall)\s+not|welcome|{'|'.join(_PERMISSION.split())})\b", re.IGNORECASE
)


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


def gives_other_numbers(first: Statement, second: Statement, question: QuestionTerms) -> bool:
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
        if question.asks == "yes_or_no" and all(_PERMITTING_WORD.search(one.text) for one in (first, second)):
            return True
        own, its = (frozenset(each.words).difference(question.terms) for each in (first, second))
        if own <= its or its <= own:
            return True
    return not _values(first, question).isdisjoint(_values(second, question))


def says_otherwise(first: Statement, second: Statement, question: QuestionTerms) -> bool:
    """Whether statements of two documents give other values, are contrary, or differ in one place alone."""
    values, others = _values(first, question), _values(second, question)
    return bool(values and others and values.isdisjoint(others)) or differ_in_words(first, second, question)


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
    return denies(first.text) != denies(second.text) and all(
        _PERMITTING_WORD.search(one.text) for one in (first, second)
    )


def differ_in_words(first: Statement, second: Statement, question: QuestionTerms) -> bool:
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


def counts_differ(one: Statement, other: Statement, question: QuestionTerms) -> bool:
    """Whether two statements count the same things, and neither has the other's number."""
    pairs = ((one, other), (other, one))
    counts = [(counted_numbers(first, question), new_numbers(second, question)) for first, second in pairs]
    return all(counted and counted.isdisjoint(numbers) for counted, numbers in counts)
