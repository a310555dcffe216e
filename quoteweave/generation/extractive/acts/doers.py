"""Check by rule whether a statement tells who did what a question asks about, and with the thing that it names."""

import re
from collections.abc import Iterable, Iterator, Set

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import with_words_alike, words_alike
from quoteweave.core.text.tokens import words
from quoteweave.generation.extractive.answer_names import ASKS_WHO_DID, names_doer
from quoteweave.generation.extractive.statements import Statement
from quoteweave.generation.relevance import QuestionTerms, subject_terms

_WORD = lazy_regex(r"\w[\w'’-]*")
# "The director of the film was Ada Byron", "Ada Byron, director of the film": not "the director of photography of".
_OF_OFFICE = r"(\w+)\s+(?:of|for)\s+(?:(?:the|this|our)\s+)?([^.,:;()]{1,80}?)"
_IN_OFFICE = lazy_regex(
    rf"\b(?i:{_OF_OFFICE})(?:\s+(?:is|are|was|were)\s+|\s*[:,(–—]\s*)(?=[A-ZÀ-Þ])"
    rf"|\b(?:is|are|was|were|as|,)\s+(?:(?:the|an?|its)\s+)?{_OF_OFFICE}\s*(?=[.,;()]|$)"
)
_ENDS_OBJECT = lazy_regex(
    r"[,.;:()]|\b(?:of|to|for|in|on|at|by|with|from|against|about|after|before|until|since|when|where|while|as)\b",
    re.IGNORECASE,
)
_NOT_BEFORE = lazy_regex(r"\b(?:not|never|cannot|\w+n[’']t)\s+(?:\w+\s+){0,2}$", re.IGNORECASE)
_LETTERS, _DOER = lazy_regex(r"[^\W\d_]+"), lazy_regex(r"\w{2,}[eo]rs?", re.IGNORECASE)


def names_doer_of_thing(text: str, question: QuestionTerms) -> bool:
    """Whether a text says by which person it was done, where a question names with what: not "Who wrote it?"."""
    asked = ASKS_WHO_DID.match(question.analysis.text)
    named = asked is not None and not set(subject_terms(question)).issubset(words(asked["verb"]))
    return named and names_doer(text, question)


def did_otherwise(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement tells who did the act with another thing than asked for, or says the act by a noun alone.

    By a noun it may be said as an office of the thing itself: "the director of the film".
    """
    asked = ASKS_WHO_DID.match(question.analysis.text)
    if asked is None:
        return False
    verb, text = set(words(asked["verb"])), statement.text
    if any(_NOT_BEFORE.search(text[: match.start()]) for match in words_of(verb, text)):
        return True  # "The film was not made by Ida Holm"
    if names_doer(text, question):
        return False
    has_object = not _ENDS_OBJECT.match(question.analysis.text[asked.end() :].strip())  # "Who settled in the county?"
    if has_object and _has_another_object(text, verb, set(subject_terms(question)) - verb):
        return True
    said = {word: set(words(word)) for word in _LETTERS.findall(f"{statement.before} {text}")}
    acts = {word for word, stems in said.items() if stems & verb.union(*map(words_alike, verb))}
    nouns = {word for word in acts if _is_noun_of_act(word, asked["verb"])}
    if not nouns or nouns != acts:
        return False
    thing = set(subject_terms(question)) - verb
    offices = ((one[1] or one[3], set(words(one[2] or one[4]))) for one in _IN_OFFICE.finditer(text))
    return not any(noun in nouns and of and of <= thing for noun, of in offices)


def _has_another_object(told: str, verb: Set[str], thing: Set[str]) -> bool:
    """Whether a text has the verb with another object alone: "Ida Holm ran the marathon for the school"."""
    said = [(match, words(_ENDS_OBJECT.split(told[match.end() :])[0])) for match in words_of(verb, told)]
    around = (frozenset((*behind, *words(told[: match.start()]))) for match, behind in said)
    has_thing = any(thing & with_words_alike(own, thing) for own in around)
    return bool(thing) and any(behind for _, behind in said) and not has_thing


def _is_noun_of_act(word: str, verb: str) -> bool:
    """Whether a word that says an act is none by which questions ask for it, or is who does it: "manager"."""
    if _DOER.fullmatch(word) and not _DOER.fullmatch(verb):
        return True
    stems = set(words(verb))
    return stems.isdisjoint(words(word)) and not any(stems & words_alike(stem) for stem in words(word))


def words_of(stems: Iterable[str], text: str) -> Iterator[re.Match[str]]:
    """The words of a text with one of these stems."""
    wanted = frozenset(stems)
    return (match for match in _WORD.finditer(text) if not wanted.isdisjoint(words(match[0])))
