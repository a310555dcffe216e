"""Check by rule whether a statement tells who did what a question asks about, and with the thing that it names."""

import re
from collections.abc import Set

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import words_alike
from quoteweave.core.text.tokens import words
from quoteweave.generation.extractive.acts.clauses import Act, acts_in, heads
from quoteweave.generation.extractive.answer_names import ASKS_WHO_DID, ASKS_WHO_MAY
from quoteweave.generation.extractive.statements import Statement
from quoteweave.generation.relevance import QuestionTerms, subject_terms

# "The director of the film was Ada Byron", "Ada Byron, director of the film": not "the director of photography of".
_OF_OFFICE = r"(\w+)\s+(?:of|for)\s+(?:(?:the|this|our)\s+)?([^.,:;()]{1,80}?)"
_IN_OFFICE = lazy_regex(
    rf"\b(?i:{_OF_OFFICE})(?:\s+(?:is|are|was|were)\s+|\s*[:,(–—]\s*)(?=[A-ZÀ-Þ])"
    rf"|\b(?:is|are|was|were|as|,)\s+(?:(?:the|an?|its)\s+)?{_OF_OFFICE}\s*(?=[.,;()]|$)"
)
# What was so once, who does it now is not told by: "The mill was owned by the town until 1950".
_TELLS_OF_ONCE = lazy_regex(
    r"\b(?:until|till|before|from|once|former\w*|previous\w*|then|ago|last|old|years?|(?:1[5-9]|20)\d\d)\b",
    re.IGNORECASE,
)
_LETTERS = lazy_regex(r"[^\W\d_]+")


def names_doer_of_thing(text: str, question: QuestionTerms) -> bool:
    """Whether a text says by whom it was done, where a question names with what: not "Who wrote it?"."""
    asked = ASKS_WHO_DID.match(question.analysis.text)
    named = asked is not None and not set(subject_terms(question)).issubset(words(asked["verb"]))
    return named and tells_doer(text, question)


def tells_doer(text: str, question: QuestionTerms) -> bool:
    """Whether a text says who does the thing asked for, whatever that one is called: "The board accepted the offer".

    As of the time that is asked for: who repaired the roof once need not be who repairs it.
    """
    asked, may = ASKS_WHO_DID.match(question.analysis.text), ASKS_WHO_MAY.match(question.analysis.text)
    found = asked or may
    if found is None:
        return False
    thing = frozenset(heads(question.analysis.text[found.end() :]))
    times = {"present", "possible"} if may else {"past", "perfect"}
    if asked is not None and _is_now(found["verb"]):
        times = (
            {"present", "perfect", "future"}
            if _TELLS_OF_ONCE.search(text)
            else {"past", "present", "perfect", "future"}
        )
    acts = _acts(text, found["verb"], is_participle=asked is not None and not _is_now(found["verb"]))
    return any(
        act.is_so and not act.is_denied and act.doer and act.time in times and (not thing or act.is_done_to(thing))
        for act in acts
    )


def _is_now(verb: str) -> bool:
    return verb.casefold().endswith("s")


def _acts(text: str, verb: str, *, is_participle: bool) -> list[Act]:
    return [act for act in acts_in(text, verb, is_participle=is_participle) if not act.is_noun]


def did_otherwise(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement tells who did the act with another thing than asked for, or says the act by a noun alone.

    By a noun it may be said as an office of the thing itself: "the director of the film".
    """
    asked = ASKS_WHO_DID.match(question.analysis.text)
    if asked is None:
        return False
    if _acts(statement.text, asked["verb"], is_participle=False):
        return not tells_doer(statement.text, question)
    verb = set(words(asked["verb"]))
    said = {word: set(words(word)) for word in _LETTERS.findall(f"{statement.before} {statement.text}")}
    nouns = {word for word, stems in said.items() if stems & verb.union(*map(words_alike, verb))}
    thing: Set[str] = set(subject_terms(question)) - verb
    offices = ((one[1] or one[3], set(words(one[2] or one[4]))) for one in _IN_OFFICE.finditer(statement.text))
    return bool(nouns) and not any(office in nouns and of and of <= thing for office, of in offices)
