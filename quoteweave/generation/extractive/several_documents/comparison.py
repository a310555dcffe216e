"""Compare two statements: whether they say the same on a question, other values, or the contrary."""

import itertools
import re
from collections.abc import Hashable, Sequence

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.foreign_languages import permission_stems, permission_words
from quoteweave.core.text.references.reference_words import reference_words
from quoteweave.core.text.tokens import has_digit, words
from quoteweave.generation.extractive.acts.stated_amounts import new_facts, new_numbers
from quoteweave.generation.extractive.criteria.counts import counted_numbers
from quoteweave.generation.extractive.named.answer_names import new_names
from quoteweave.generation.extractive.statements import Statement
from quoteweave.generation.gate.contraries.opposite_words import find_contrary
from quoteweave.generation.gate.dates import NAMES_WEEKDAY, Date
from quoteweave.generation.gate.facts import read_evidence
from quoteweave.generation.relevance import NUMBER_KINDS, QuestionTerms, says_all, subject_terms, words_with_headings
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
    """Whether a statement contradicts one: of its own document by a number, of another by a date, person or time.

    Statements of two documents contradict each other only if the question names something, and
    - asks for its time of day ("When does the festival open?"), and both give one time for the same days; or
    - asks for a past act ("When was Skarn Quay built?"), and both tell it in the question's words, each with one date
      or name. What is so at different times ("Who is the chair?"), or held every year, is no disagreement; a date that
      only says more ("3 May 1901" for "1901") is the same.
    """
    if first.document == second.document:  # "Loans of kind 1" and "of kind 2" differ in no number that is asked for
        return question.asks in {*NUMBER_KINDS, "statement"} and differ_in_number(first, second)
    subject = subject_terms(question)
    if not question.names:
        return False
    if not _ASKS_PAST_ACT.match(question.text):
        return question.asks == "date" and _clocks_differ(first, second, subject)
    if not all(says_all(statement.words, subject) for statement in (first, second)):
        return False
    if question.asks == "date":
        return gives_other_date(first, second)
    names = [new_names(statement, question) for statement in (first, second)]
    return all(len(of_statement) == 1 for of_statement in names) and set(names[0][0]).isdisjoint(names[1][0])


def differ_in_number(first: Statement, second: Statement) -> bool:
    """Whether two sentences give another number of the same: "It has 12 flats", and "It has 14 flats and a lift".

    They have the same words up to the number, and the same word behind it.
    """
    if first.is_of_cells or second.is_of_cells:
        return False
    texts = [words(statement.text, stem=False, keep_stop_words=True) for statement in (first, second)]
    start = _common_length(*texts)
    if not start or any(len(text) < start + 2 for text in texts):
        return False
    names = reference_words().numbers
    values = {str(names.get(text[start], text[start])) for text in texts}
    return len(values) == len(texts) and all(map(has_digit, values)) and texts[0][start + 1] == texts[1][start + 1]


def gives_other_numbers(first: Statement, second: Statement, question: QuestionTerms) -> bool:
    """Whether statements of two documents give numbers that are not in the question, and no value that both give."""
    if first.document == second.document or question.asks == "person":
        return False
    values, other_values = _values(first, question), _values(second, question)
    return all(new_numbers(statement, question) for statement in (first, second)) and values.isdisjoint(other_values)


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
    numbers = (amount for amount in amounts if not (amount.year or (asks_time and amount.is_money)))
    return (asks_time and times) or frozenset(amount.value for amount in numbers)


def says_same(first: Statement, second: Statement, question: QuestionTerms) -> bool:
    """Whether two statements give the same value, both allow or both forbid it, or one only says more."""
    if denies(first.text) == denies(second.text):
        if question.asks == "yes_or_no" and _both_permit(first, second):
            return True
        new_words = [frozenset(statement.words).difference(question.terms) for statement in (first, second)]
        if new_words[0] <= new_words[1] or new_words[1] <= new_words[0]:
            return True
    return not _values(first, question).isdisjoint(_values(second, question))


def says_otherwise(first: Statement, second: Statement, question: QuestionTerms) -> bool:
    """Whether statements of two documents give other values, are contrary, or differ in one place alone."""
    values, other_values = _values(first, question), _values(second, question)
    return bool(values and other_values and values.isdisjoint(other_values)) or differ_in_words(first, second, question)


def is_contrary_of(first: Statement, second: Statement, question: QuestionTerms) -> bool:
    """Whether a statement is the contrary of another: also if one allows what is asked about, and one forbids it.

    The first must have all words of what is asked about, or the heading above it the only one.
    """
    asked_words, heading = question.subject - permission_stems(), words(first.quote.section or "")
    stated_words = frozenset(heading).union(first.words if len(asked_words) >= ENOUGH_TOGETHER else ())
    is_of_it = bool(asked_words) and says_all(stated_words, asked_words)
    return _are_contrary(first, second) or (is_of_it and _permit_differently(first, second))


def _permit_differently(first: Statement, second: Statement) -> bool:
    """Whether both tell what is allowed, and only one denies it: "Nobody may smoke", "Smoking is permitted"."""
    return denies(first.text) != denies(second.text) and _both_permit(first, second)


def _both_permit(first: Statement, second: Statement) -> bool:
    """Whether both tell what is allowed, or that it is not."""
    return all(_PERMITTING_WORD.search(statement.text) for statement in (first, second))


def differ_in_words(first: Statement, second: Statement, question: QuestionTerms) -> bool:
    """Whether one of two documents states the contrary of the other, or differs from it in one place alone."""
    if first.document == second.document:
        return False
    return (
        _permit_differently(first, second)
        or _are_contrary(first, second)
        or _differ_in_one_place(first, second, question)
    )


def _are_contrary(first: Statement, second: Statement) -> bool:
    """Whether one of two statements states the contrary of the other."""
    pairs = ((first, second), (second, first))
    return any(find_contrary(claim.text, [cited.text], dict.fromkeys(claim.words, 1.0)) for claim, cited in pairs)


def _differ_in_one_place(first: Statement, second: Statement, question: QuestionTerms) -> bool:
    """Whether two texts are the same but for one place: "The keys are in the office", and "in the cellar".

    Both have something there that the question does not name, or one denies there what the other says.
    """
    texts = [words(statement.text, stem=False, keep_stop_words=True) for statement in (first, second)]
    start = _common_length(*texts)
    ends = [text[start:] for text in texts]
    end = _common_length(*(text[::-1] for text in ends))
    places = [" ".join(text[: len(text) - end]) for text in ends]
    if not all(places):
        return any(places) and denies(first.text) != denies(second.text)
    if question.asks in ("date", "person"):
        values, other_values = _values(first, question), _values(second, question)
        is_unread = question.asks == "date" and has_digit("".join(places)) and not values | other_values
        if values & other_values or is_unread:
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
    statements = (first, second)
    if not all(says_all(words_with_headings(statement.quote), subject) for statement in statements):
        return False
    facts = [read_evidence(statement.text) for statement in statements]
    days = [frozenset(NAMES_WEEKDAY.findall(statement.text)) for statement in statements]
    clocks = [[minutes for _, minutes in evidence.clocks] for evidence in facts]
    single = all(len(times) == 1 for times in clocks) and not any(evidence.dates for evidence in facts)
    verbs = [says_all(statement.words, subject[-1:]) for statement in statements]
    return single and all(verbs) and days[0] == days[1] and clocks[0] != clocks[1]


def _dates_of(text: str) -> list[Date]:
    """The dates in a text; for a year alone, the month is 0."""
    facts = read_evidence(text)
    of_dates = {date.year for date in facts.dates}
    years = (int(amount.value) for amount in facts.amounts if amount.year)
    return [*facts.dates, *(Date(str(year), month=0, day=None, year=year) for year in years if year not in of_dates)]


def gives_other_date(first: Statement, second: Statement) -> bool:
    """Whether two statements have one date or year each, and not the same."""
    dates = [_dates_of(statement.text) for statement in (first, second)]
    return all(len(of_statement) == 1 for of_statement in dates) and _dates_differ(dates[0][0], dates[1][0])


def _dates_differ(first: Date, second: Date) -> bool:
    if first.year is not None and second.year is not None and first.year != second.year:
        return True
    both_months = bool(first.month and second.month)
    return both_months and not (first.confirmed_by(second) or second.confirmed_by(first))


def counts_differ(statement: Statement, other: Statement, question: QuestionTerms) -> bool:
    """Whether two statements count the same things, and neither has the other's number."""
    pairs = ((statement, other), (other, statement))
    counts = [
        (counted_numbers(first, question, of_some=True), new_numbers(second, question)) for first, second in pairs
    ]
    return all(counted and counted.isdisjoint(numbers) for counted, numbers in counts)
