"""Check by rule whether a statement tells the name that a question asks for: "What is the name of the ferry?".

A sentence about the ferry need not tell its name, even if there is some name in it: the name must stand beside the
thing that has it. The rules are for English only.
"""

import re

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import MAX_ANALYSED_CHARACTERS
from quoteweave.core.text.question_words import listed_words
from quoteweave.core.text.tokens import STOP_WORDS, WORD, words
from quoteweave.generation.gate.dates import CALENDAR_WORDS
from quoteweave.generation.relevance import QuestionTerms

_ASKS_NAME = lazy_regex(
    r"\W*(?:what(?:['’]s|\s+(?:is|are|was|were))\s+the\s+(?:full\s+)?names?\s+of\b|(?:give|state|tell\s+me)\s+the\s+names?\s+of\b)",
    re.IGNORECASE,
)
_TITLE = r"(?:(?:Mr|Mrs|Ms|Dr|Prof)\.?\s+)?"
_CAPITAL = r"[A-ZÀ-Þ][\w.'’&-]*"
_NAME = rf"{_TITLE}[A-ZÀ-Þ][\w.'’&-]*(?:\s+(?:(?:of|and|the|van|von|de|&)\s+)*[A-ZÀ-Þ][\w.'’&-]*)*"
_CALLED = r"(?:called|named|known\s+as|titled|entitled)\s+"
_ENDS = r"(?=[”\"’']?\s*(?:[.,;:()]|and\b|$))"
_BEHIND = lazy_regex(
    rf"\s+(?:(?:is|are|was|were)\s+)?(?:(?:now|also|then)\s+)?{_CALLED}[“\"‘']?(?P<called>{_NAME})"
    rf"|(?:\s*[,:–(]\s*|\s+)[“\"‘']?(?P<beside>{_NAME}){_ENDS}"
    rf"|\s+(?P<holder>{_TITLE}{_CAPITAL}\s+{_CAPITAL})(?!\s+\w+(?:ed|en)\s+\w+ed\b)"
    rf"|\s+(?:is|are|was|were)\s+(?P<told>{_NAME}){_ENDS}"
)
_BEFORE = lazy_regex(
    rf"(?<![\w’'])(?P<name>{_NAME})[”\"’']?"
    r"(?:\s*[,(]\s*|\s+(?:is|was|are|were|as|became)\s+)(?:(?i:the|our|its|their|an?|his|her|now|currently|also)\s+)*$"
)
# "The ferry is Norwegian" tells no name.
_NATIONAL = lazy_regex(r"\w+(?:ish|ese|ian|ean|can)|Swiss|Thai|Dutch", re.IGNORECASE)


def asks_name(question: str) -> bool:
    """Whether a question asks for the name of something."""
    return _ASKS_NAME.match(question[:MAX_ANALYSED_CHARACTERS]) is not None


def tells_name(text: str, question: QuestionTerms) -> bool:
    """Whether a text has a name that is not in the question, directly beside the thing whose name is asked for."""
    subject = question.subject
    # "Provided" is no provider.
    question_words = {_singular(word) for word in WORD.findall(question.text)}
    shared = (match for match in WORD.finditer(text) if _singular(match[0]) in question_words)
    places = [match.span() for match in shared if subject.intersection(words(match[0]))]
    for (start, _), (_, end) in zip(places, places[len(subject) - 1 :], strict=False):
        if not subject or not subject <= set(words(text[start:end])):
            continue
        behind, before = _BEHIND.match(text, end), _BEFORE.search(text[:start])
        name = next(filter(None, behind.groups())).rstrip(".") if behind else ""
        if _is_name(name, question) and not (behind and behind["told"] and _NATIONAL.fullmatch(name)):
            return True
        article = before is not None and text[: before.start()].casefold().endswith(("the ", " a ", " an "))
        if before is not None and not article and _is_name(before["name"], question):
            return True
    return False


def _singular(word: str) -> str:
    return word.casefold().removesuffix("s")


def _is_name(name: str, question: QuestionTerms) -> bool:
    """Whether capitalized words are a name that the question lacks, and not "The" or an abbreviation in capitals."""
    first = name.split(maxsplit=1)[0].casefold() if name else ""
    new_words = set(words(name)) - set(question.terms)
    national = first in listed_words("language_names")
    return (
        bool(new_words)
        and new_words.isdisjoint(CALENDAR_WORDS)
        and first not in STOP_WORDS
        and not (name.isupper() and " " not in name)
        and not national
    )
