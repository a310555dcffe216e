"""Tell how many of what a question counts a statement gives: "12 flats", and not the number of some of them."""

import itertools
import re
from decimal import Decimal

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import words_alike
from quoteweave.core.text.tokens import STOP_WORDS, words
from quoteweave.core.text.units import find_unit
from quoteweave.generation.extractive.acts.opposites import counted_noun
from quoteweave.generation.extractive.acts.stated_amounts import new_facts, own_counts
from quoteweave.generation.extractive.statements import Statement
from quoteweave.generation.gate.amounts import Amount
from quoteweave.generation.gate.facts import normalize_notation
from quoteweave.generation.relevance import QuestionTerms

COUNTED_WORDS = 3
"""So many words after a number may name what it counts."""
_ADVERB = lazy_regex(r"\b\w+ly[\s-](?=\w+(?:ed|en)\b)")  # "nine widely-used datasets" are used
_JOINED = lazy_regex(r"^(\S*?\d)-(?=[^\W\d])")  # "a 9-speaker system"
_NAME = r"[A-ZÀ-Þ][\w'’-]+(?:\s+[A-ZÀ-Þ][\w'’-]+)*"
_IN = r"\b(?i:in|on|at)\s+"
# "in Leeds and York", "at two sites, Osk and Skarn"
_OF_SEVERAL = lazy_regex(rf"{_IN}(?:(?:\w+\s+){{1,3}}\w+[,:]\s+)?(?P<names>{_NAME}(?:,\s+{_NAME})*,?\s+and\s+{_NAME})")
_BETWEEN_NAMES = lazy_regex(r",?\s+and\s+|,\s+")
# "Of 612 patients screened, 438 were randomised", "Of the 40 rooms, 12 have a balcony"
_OF_WHOLE = lazy_regex(
    r"\bof\s+(?:(?:the|our|its|these)\s+)?(?:about\s+)?\d[\d.,]*\s+(?P<noun>[^\W\d_]+)(?:\s+(?P<done>\w+ed))?,\s+"
    r"(?P<part>(?:about\s+|only\s+)?\d[\d.,]*)\s+(?=(?:were|are|was|is|had|have|has|did)\b)",
    re.IGNORECASE,
)
_EACH = lazy_regex(r"\b(?:each|every)\b", re.IGNORECASE)


def counted_numbers(statement: Statement, question: QuestionTerms, *, of_some: bool = False) -> frozenset[Decimal]:
    """The numbers of a statement that precede what the question counts; with `of_some`, also those of a kind of these.

    "7 junior members" does not tell how many members there are, nor "12 shops in Leeds and York" how many in Leeds.
    """
    if _is_of_several(statement.text, question.text):
        return frozenset()
    noun = counted_noun(question.text)
    nouns, unit = words(noun), find_unit((noun.split() or [""])[-1])  # "15 yrs" are years
    text = (
        statement.text if statement.is_of_cells else own_counts(_part_of_whole(statement.text, question), question.text)
    )
    text = _ADVERB.sub("", text)
    amounts = [amount for amount in new_facts(text, question.text)[1] if not amount.year] if nouns else []
    # The "$5 billion share programme" has no 5 billion shares.
    amounts = [amount for amount in amounts if not amount.is_money or amount.text[0].isdigit()]
    alike = {*nouns[-1:], *(words_alike(nouns[-1]) if nouns else ())}
    numbers = set[Decimal]()
    for amount in amounts:
        following = _words_after(amount, text)
        kind = [*itertools.takewhile(lambda word: word not in alike, following)]
        is_counted = len(kind) < len(following) and (of_some or alike.union(question.terms).issuperset(kind))
        if is_counted or (unit and amount.unit == unit):
            numbers.add(amount.value)
    return frozenset(numbers)


def _part_of_whole(text: str, question: QuestionTerms) -> str:
    """A text that counts a part, as one that names it: "438 patients were randomised".

    It is as it was for a question that has the verb behind the whole: "screened", of "Of 612 patients screened, 438".
    """
    match = _OF_WHOLE.search(text)
    if match is None or not set(question.terms).isdisjoint(words(match["done"] or "")):
        return text
    return f"{text[: match.start()]}{match['part']} {match['noun']} {text[match.end() :]}"


def _is_of_several(text: str, question: str) -> bool:
    """Whether a text counts what is in several places or months together, of which the question names only some."""
    if _EACH.search(text):
        return False
    together = (_BETWEEN_NAMES.split(match["names"]) for match in _OF_SEVERAL.finditer(text))
    return any(
        any(_is_named(name, question) for name in names)
        and any(name.casefold() not in question.casefold() for name in names)
        for names in together
    )


def _is_named(name: str, question: str) -> bool:
    """Whether a question has a name that is no part of a longer one: "in Leeds", "Leeds shops", not "Bank of Leeds"."""
    alone = rf"(?<!\w){re.escape(name)}(?!\w)(?!\s[A-ZÀ-Þ])"
    behind = rf"(?<=\s)[A-ZÀ-Þ]\w+\s(?:(?:of|for)\s)?{re.escape(name)}(?!\w)"
    return re.search(alone, question) is not None and re.search(behind, question) is None


def _words_after(amount: Amount, text: str) -> list[str]:
    """What an amount counts: at most three words after its number, up to the first stop word or punctuation mark."""
    words_alone = normalize_notation(text)
    place = re.search(rf"(?<![\w.,]){re.escape(amount.text)}(?!\d)", words_alone, re.IGNORECASE)
    following_words: list[str] = []
    following = _JOINED.sub(r"\1 ", words_alone[place.start() :]) if place else ""
    behind = max(1, len(amount.text.split()) - (amount.unit is not None))  # "nine hundred", but the "30" of "30 days"
    for word in following.split()[behind : behind + COUNTED_WORDS]:
        bare = word.strip("()“”\"'")
        if bare.casefold() in STOP_WORDS:
            break
        following_words += words(bare)
        if not bare[-1:].isalnum():
            break
    return following_words
