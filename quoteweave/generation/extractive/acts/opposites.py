"""Check by rule whether a statement says the opposite of what a question asks for, or that there is none of it."""

import re
from functools import lru_cache

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import MAX_ANALYSED_CHARACTERS, opposite_words, with_words_alike
from quoteweave.core.text.tokens import words
from quoteweave.generation.extractive.acts.clauses import PREPOSITIONS, words_of
from quoteweave.generation.extractive.named.places import is_got_at_thing
from quoteweave.generation.extractive.statements import Statement
from quoteweave.generation.relevance import NUMBER_KINDS, QuestionTerms
from quoteweave.generation.sentence_kinds import INSTRUCTION, has_denying_word, only_denied_words

_COUNTED = lazy_regex(
    r"(?:how many|number of|wie ?viele|anzahl(?: der)?|combien de|nombre de|cu[aá]nt[oa]s)\s+(.+)", re.IGNORECASE
)
_ENDS_COUNTED = lazy_regex(
    r"\b(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|must|should|may|in|of|on|at|for|from|by|with|to|under|during|between|into|over|through|within|about|since|before|after|without|against|among|across|that|who|which|an?|per|each|every"
    r"|gab|gibt|hat|haben|sind|waren|wurden?|im|am|bei|von|auf|de|du|des|en|y|il|a|ont|sont|était|étaient|hay|tiene|son|fueron)"
    r"\b|[,;?.]",
    re.IGNORECASE,
)
_NOT_DENIED = NUMBER_KINDS | {"person", "date", "place"}
_DENIED_OTHERWISE = frozenset({"yes_or_no", "reason", "steps"})
"""Kinds of questions whose answers may say "not" in other words: "If the pump fails to start, check it"."""
ASKS_IF = lazy_regex(r"\W*what\s+(?:happens|will\s+happen|do\s+we\s+do|if)\b", re.IGNORECASE)
_OTHERWISE = lazy_regex(
    r"\b(?:must|ha(?:s|ve)\s+to|needs?\s+to|should)\b.*[,;.]\s+(?:otherwise|or\s+else)\b", re.IGNORECASE
)
_ASKS_WHAT_WHEN = lazy_regex(r"\W*what\b.*\b(?:if|when)\b", re.IGNORECASE)
_CASE = lazy_regex(r"\W*(?:if|when)\b[^,]*,", re.IGNORECASE)
# "The tank is emptied" and "Empty the tank" do not tell what happens if it is empty.
_ASKED_STATE = lazy_regex(
    rf"(?:^\W*|\b(?:if|when|unless|while)\s.*?\b)(?:is|are)\s.*?(?P<state>[a-z]{{3,}})(?<!ed)(?=\W*$|\s+(?:{PREPOSITIONS})\b)",
    re.IGNORECASE,
)
_NOW = lazy_regex(r"\bnow\b", re.IGNORECASE)
_PAST = lazy_regex(r"\b(?:was|were|had|did|[a-z]{2,}ed)\b")
_PRESENT = lazy_regex(r"\b(?:is|are|has|have|now|\w+[’']s)\b")
_NOT = lazy_regex(r"\b(?:not|never|cannot|\w+n[’']t)\b", re.IGNORECASE)


def is_opposite(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement has the opposite of a word, or lacks the "not" of an open question: "who do not vote".

    The number of those who "do not lean" is not the number of those who do, either, and what was is not what is "now".
    """
    denied = only_denied_words(statement.text) if question.asks in _NOT_DENIED else frozenset[str]()
    statement_words, subject = frozenset(statement.words), question.subject
    if question.asks == "count" and has_none(statement.text, question.text):
        return has_denying_word(question.text)
    lacking = with_words_alike(statement_words, subject) - with_words_alike(statement_words - denied, subject)
    if not (has_denying_word(question.text) or lacking.isdisjoint(subject)):
        return True
    if _NOW.search(question.text) and _PAST.search(statement.text) and not _PRESENT.search(statement.text):
        return True
    if ASKS_IF.match(question.text) and _OTHERWISE.search(statement.text):  # what happens if it is not done
        return not has_denying_word(question.text)
    negated = question.asks not in _DENIED_OTHERWISE and _NOT.search(question.text) is not None
    is_opposite_act = has_opposite_word(question.text, statement.text) and not is_got_at_thing(statement.text, question)
    opposite = is_opposite_act or _is_of_other_case(statement.text, question.text)
    opposite = opposite or _tells_state_as_act(statement.text, question.text)
    return opposite or (negated and not has_denying_word(statement.text))


def has_opposite_word(question: str, text: str) -> bool:
    """Whether a text has the opposite of a word of the question and not the word itself: `up` for `down`."""
    sides = _sides_of(question)
    text_words = frozenset(words(text, keep_stop_words=True)) if sides else frozenset()
    return any(text_words & other_side and not text_words & asked_side for asked_side, other_side in sides)


@lru_cache(maxsize=64)  # called for each sentence found
def _sides_of(question: str) -> list[tuple[frozenset[str], frozenset[str]]]:
    """The pairs of opposites of which the question contains only one: the words on its side, and their opposites."""
    question_words = frozenset(words(question[:MAX_ANALYSED_CHARACTERS], keep_stop_words=True))
    pairs = [pair for pair in opposite_words() if bool(question_words & pair[0]) != bool(question_words & pair[1])]
    return [pair if question_words & pair[0] else pair[::-1] for pair in pairs]


def _is_of_other_case(text: str, question: str) -> bool:
    """Whether a text begins with the case that is not asked about: "If it does not start, …", for what if it starts."""
    case = _CASE.match(text) if _ASKS_WHAT_WHEN.search(question) else None
    return case is not None and _NOT.search(case[0]) is not None and not has_denying_word(question)


def _tells_state_as_act(text: str, question: str) -> bool:
    """Whether a text has the state that a question is about only as an act: "emptied" or an order, for "is empty"."""
    state = _ASKED_STATE.search(question[:MAX_ANALYSED_CHARACTERS])
    matches = [*words_of(words(state["state"]), text)] if state else []
    return bool(matches) and all(
        match[0].endswith("ed") or (match.start() == 0 and INSTRUCTION.match(text) is not None) for match in matches
    )


def counted_noun(question: str) -> str:
    """What a question counts, as written; empty if it counts nothing."""
    counted = _COUNTED.search(question)
    return _ENDS_COUNTED.split(counted[1])[0].strip() if counted else ""


def has_none(text: str, question: str) -> bool:
    """Whether a text says that there is none of what a question counts: "She called no witnesses"."""
    noun = re.escape(counted_noun(question))
    none_of_it = (
        re.search(rf"\bno\s+{noun}\b(?P<rest>[^.,;]*?)(?=[.,;]|\s(?:and|but|or)\s|$)", text, re.IGNORECASE)
        if noun
        else None
    )
    # "No rooms free" is not none.
    return none_of_it is not None and set(words(none_of_it["rest"])) <= set(words(question))
