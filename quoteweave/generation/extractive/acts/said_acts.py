"""Check by rule whether a text says an act by a verb, and not by a noun or as what another thing is called by it."""

import re
from collections.abc import Set

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import words_alike
from quoteweave.core.text.tokens import STOP_WORDS, words
from quoteweave.generation.extractive.acts.clauses import words_of

OBJECT_WORDS = 4
"""Words behind a verb among which its object must be."""

# "How are clusters summarised?", "What dividends were declared?", "When must the thesis be submitted?"
_ASKS_OF_DONE = lazy_regex(
    r"\W*(?:(?:how|what|which)\b.{0,80}?\b(?:is|are|was|were)|when\s+(?:must|should|can|may)\b.{0,80}?\bbe)\b"
    r"(?P<thing>.{0,80}?)\b(?P<verb>\w{2,}ed)\W*$",
    re.IGNORECASE | re.DOTALL,
)
_NOUN_OF_ACT = lazy_regex(r"\w+(?:[ts]ion|ment|[ae]nce|al|ure)s?", re.IGNORECASE)
_CONTENT_BEHIND = lazy_regex(r"\s+(\w+)")
# Articles and prepositions, behind which a participle before a noun is an attribute: "with summarised texts".
_LEADS = lazy_regex(
    r"\b(?:an?|the|this|these|those|such|any|some|all|each|most|many|other|our|its|their|of|with|for|from|in|on|to|by|as|at|about)\s+$",
    re.IGNORECASE,
)


def lacks_act(told: str, asked: str, thing: Set[str]) -> bool:
    """Whether a text has no verb for what a question asks of as done: it is "subject to declaration by the board"."""
    done = _ASKS_OF_DONE.match(asked)
    if done is None:
        return False
    verb = frozenset(words(done["verb"]))
    return not says_act(told, verb, thing - verb)


def says_act(told: str, verb: frozenset[str], thing: Set[str], *, by_noun: bool = False) -> bool:
    """Whether a text has one of these verbs: no noun, no attribute of another thing, nor what is done with another.

    "These summarised texts" and "summarising texts" say nothing of how clusters are summarised. `by_noun`: whether
    "approval of the budget" says that it was approved, as "using" alone may say what is used.
    """
    for match in words_of(verb.union(*map(words_alike, verb)), told):
        word, behind = match[0], told[match.end() :]
        is_noun, beside = _NOUN_OF_ACT.fullmatch(word) is not None, _CONTENT_BEHIND.match(behind)
        if is_noun or word.endswith("ing"):
            has_thing = not thing.isdisjoint(words(" ".join(behind.split()[:OBJECT_WORDS])))
            if (has_thing and is_noun <= by_noun) or (by_noun and not is_noun):
                return True
            continue
        led = word.endswith("ed") and _LEADS.search(told[: match.start()])
        if not (led and beside is not None and beside[1].casefold() not in STOP_WORDS):
            return True
    return False
