"""Check by rule whether what a statement tells is a fact, as it is now, of the very thing that a question asks about.

The words of a question may all stand in a sentence that tells what somebody only wanted, what was so once, what is but
a part of the thing, or what is so for another number of things. English alone, as the order of words shows it.
"""

import re
from collections.abc import Iterable

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import MAX_ANALYSED_CHARACTERS, AnswerType
from quoteweave.core.text.reference_words import reference_words
from quoteweave.core.text.tokens import words
from quoteweave.generation.relevance import QuestionTerms, subject_terms
from quoteweave.generation.sentence_kinds import INSTRUCTION

_NUMBER_KINDS = frozenset({"count", "amount", "money", "percent"})
_VALUE_KINDS = _NUMBER_KINDS | {"statement", "date", "person"}
_WHETHER = lazy_regex(
    r"\b(?:ask|wonder|question|inquir|enquir|doubt|unclear|unknown|uncertain)\w*\b[^,;.]*?\bwhether\b[^,;.“]*",
    re.IGNORECASE,
)
# What somebody says or thinks of, which is not so by that: what is wanted, proposed, weighed or refused, and what was
# once offered. Who offers or recommends it still, has it.
_WANTS = (
    r"(?:want|wish|hop(?:e|ing)|expect|plan|intend|aim|propos|request|demand|seek|sought|appl(?:y|i)|ask(?!\w*\s+[\d$€£])|consider|discuss"
    r"|debat|negotiat|refus|declin|reject|imagin|suppos|assum|fear|doubt|claim|alleg|argu)(?:e?s|e?d|n?ed|ing|ning|e)?"
    r"|offered|suggested|recommended"
)
_ONLY_WANTED = lazy_regex(
    rf"(?<!\bare )(?<!\bis )(?<!\bbe )\b(?:{_WANTS})\s+"
    r"(?:(?:for|to|that|on|about|an?|the|some|its|their|of)\b|[$€£]?\d)[^;.“]*"
    rf"|\b(?:an?|the)\s[^,;.]{{1,80}}?\b(?:was|were|has\s+been|is\s+being)\s+(?:{_WANTS})\b",
    re.IGNORECASE,
)
_SUPPOSED = lazy_regex(
    r"^\W*(?:if|unless|suppose|assuming|provided)\b[^,]*(?:,|$)|[,\s]\s*(?:if|unless)\b[^,.;]*", re.IGNORECASE
)
_SUPPOSES = lazy_regex(rf"(?<!^)\b(?:if|unless|suppose|when|{_WANTS})\b", re.IGNORECASE)
# "Before 2010 a deposit was usual" does not tell what it is.
_SINCE_CHANGED = lazy_regex(
    r"\b(?:before|until|till|up\s+to)\s+(?:\w+\s+)?(?:1[5-9]|20)\d\d\b|\b(?:formerly|previously|used\s+to|in\s+the\s+past"
    r"|originally|at\s+first|(?:years?|months?)\s+ago)\b|\bwhen\b[^,;.]*\b(?:was|were|had|began|\w+ed)\b",
    re.IGNORECASE,
)
WAS = lazy_regex(r"\b(?:was|were|had|did|used|would)\b", re.IGNORECASE)
# What was done once, is done: "In 2010 the fee was raised to 35 euros".
_WAS_SO = lazy_regex(
    r"\b(?:was|were|had)\b(?!\s+(?:been\s+|\w+ly\s+)?(?:\w+(?:ed|en)|set|put|made|built)\b)", re.IGNORECASE
)
_IS = lazy_regex(r"\b(?:is|are|has|have|does|do|will|may|can|must|now|today)\b", re.IGNORECASE)
_YEAR = lazy_regex(r"(?<![\w.,])(?:1[5-9]|20)\d\d(?![\w]|[.,]\d)")
_WILL_BE = lazy_regex(r"\b(?:will|shall)\b", re.IGNORECASE)
_ASKS_WHAT_IF = lazy_regex(r"\W*what\s+(?:happens\s+)?(?:if|when)\b", re.IGNORECASE)
# "The stolen bicycle was found" does not tell what one does or gets if one is stolen.
_IN_GENERAL = lazy_regex(
    r"\b(?:will|shall|can|cannot|may|must|should|would|(?:is|are)\s+(?:not\s+)?\w+ed|gets?|pays?|costs?|covers?|receives?)\b",
    re.IGNORECASE,
)
CASE_WITHIN = lazy_regex(r"\b(?:if|when|whenever|unless|where|once)\b", re.IGNORECASE)
# A container contains so much, and what it is worth no part: "covers heating of 80 euros" is one.
_INCLUDES = lazy_regex(r"\b(?:includ(?:es?|ed|ing)|(?:contains?|comprises?|covers?)\s+(?=[a-z]))", re.IGNORECASE)
_DIGIT = lazy_regex(r"\d")
_ASKED_OF = lazy_regex(
    r"\b(?:is|are|was|were|does|do|did)\s+(?:(?:the|our|your|its|their|my|an?)\s+)?"
    r"(.+?)(?=\s+(?:of|for|in|on|at|to|by|per|with|without|from)\b|\W*$)",
    re.IGNORECASE,
)
# "For up to four persons" is for three, too.
_COUNTED = lazy_regex(
    r"(\b(?:to|than|most|least|from|over|under|or|and)\s+)?(?<![\w.,])(\d[\d.,]*|[^\W\d_]+)(?=\s+([^\W\d_]+))",
    re.IGNORECASE,
)


def tells_value(told: str, question: QuestionTerms) -> bool:
    """Whether nothing shows that a text tells of something else than the fact that a question asks for."""
    asked, asks = question.analysis.text[:MAX_ANALYSED_CHARACTERS], question.analysis.asks
    subject = subject_terms(question)
    if _is_of_another_time(told, asked, asks) or _is_of_another_number(told, asked):
        return False
    if asks in _NUMBER_KINDS | {"statement"} and _is_of_a_part(told, asked, subject):
        return False
    return not _is_only_supposed(told, asked, asks, subject)


def past_years(told: str, asked: str) -> frozenset[str]:
    """The years in which what a question asks for was so, as a text tells it, where it is asked what is so now."""
    if WAS.search(asked) or _YEAR.search(asked) or not _WAS_SO.search(told) or _IS.search(told):
        return frozenset()
    return frozenset(_YEAR.findall(told))


def _is_only_supposed(told: str, asked: str, asks: AnswerType, subject: Iterable[str]) -> bool:
    """Whether a text has a word of the question only in what it says that somebody wondered, wanted or supposed."""
    rest = told if _WHETHER.search(asked) else _WHETHER.sub(" ", told)
    if asks in _VALUE_KINDS and not _SUPPOSES.search(asked):
        rest = _SUPPOSED.sub(" ", _ONLY_WANTED.sub(" ", rest))
    return rest != told and not set(words(told)).intersection(subject) <= set(words(rest))


def _is_of_another_time(told: str, asked: str, asks: AnswerType) -> bool:
    """Whether a text tells what was once, where it is asked what is so, or what becomes of something."""
    if WAS.search(asked):  # "The club will win" does not tell whether it did
        return asks == "yes_or_no" and _WILL_BE.search(told) is not None and not WAS.search(told)
    once = asks in _NUMBER_KINDS | {"statement"} and WAS.search(told) and _SINCE_CHANGED.search(told)
    general = _IN_GENERAL.search(told) or CASE_WITHIN.search(told) or INSTRUCTION.match(told)
    return bool(once) or (_ASKS_WHAT_IF.match(asked) is not None and not general)


def _is_of_a_part(told: str, asked: str, subject: Iterable[str]) -> bool:
    """Whether all numbers of a text are of a part: "The rent includes heating costs of 80 euros"."""
    part, thing = _INCLUDES.search(told), _ASKED_OF.search(asked)
    if part is None or thing is None or _INCLUDES.search(asked) or _DIGIT.search(told[: part.start()]):
        return False
    named = set(words(thing[1])).intersection(subject)
    return bool(_DIGIT.search(told[part.end() :])) and not named <= set(words(told[part.end() :]))


def _is_of_another_number(told: str, asked: str) -> bool:
    """Whether a text tells for another number of things than asked for: for one household, and not for two."""
    said = _counted(told)
    others = (noun for noun, numbers in _counted(asked).items() if said.get(noun, numbers).isdisjoint(numbers))
    return any("" not in said[noun] for noun in others)


def _counted(text: str) -> dict[str, set[str]]:
    """The numbers before each noun, as digits, and "" where one is the bound of several."""
    found, numbers = dict[str, set[str]](), reference_words().numbers
    for match in _COUNTED.finditer(text):
        number, noun = match[2].casefold(), words(match[3])
        if noun and (number in numbers or number[0].isdecimal()):
            found.setdefault(noun[0], set()).update({str(numbers.get(number, number)), *([""] if match[1] else [])})
    return found
