"""Check by rule whether a sentence tells why something is so, and not what is so because of it."""

import re

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import with_words_alike
from quoteweave.core.text.question_words import verbs_of
from quoteweave.core.text.tokens import words
from quoteweave.generation.extractive.foreign.kinds import foreign_reason
from quoteweave.generation.extractive.statements import Statement, tells_effect
from quoteweave.generation.relevance import QuestionTerms
from quoteweave.generation.sentence_kinds import has_denying_word, only_denied_words

_BECAUSE = lazy_regex(
    r"\b(?:because(?:\s+of)?|due\s+to|owing\s+to|weil|wegen|parce\s+qu\w*|porque)\b"
    r"|,\s+since\s+(?!\d|then\b|when\b|which\b|\w+ed\b)(?-i:[a-z])",
    re.IGNORECASE,
)
_GIVES_REASON = lazy_regex(  # "for these reasons" gives none
    r"\b(?:as a result|in order to|so that|therefore|thus|caused?|leads? to|led to|parce"
    r"|(?<!\b(?:this|that)\s)(?<!\b(?:these|those)\s)reasons?"
    r"|(?:reasoning|finding|concluding)\s+that|on\s+the\s+grounds?\s+that)\b",
    re.IGNORECASE,
)

_ASKS_WHY_IT_IS = lazy_regex(r"\W*why\s+(?:is|are|was|were)\s+(?:the|an?|our)\s+(?P<thing>[^\W\d_]+)\s", re.IGNORECASE)
_IS_SO = lazy_regex(
    r"\W*(?!(?:it|they|he|she|this|these|we|one|there)\b)(?:[\w'’-]+\s+){1,4}?(?:is|are|was|were)\s", re.IGNORECASE
)


def tells_reason(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement gives a reason for what the question asks about.

    "Traffic rose because the bridge was closed" does not tell why it was closed, and "It did not close because of the
    storm" does not tell why it did.
    """
    text, subject = statement.text, question.subject
    if tells_effect(text):
        return False
    because = _BECAUSE.search(text) or foreign_reason(text, question)
    if because is None:
        return _GIVES_REASON.search(text) is not None
    effect, reason = text[: because.start()], text[because.end() :]
    if not words(effect):  # "Because it rained, the race was cancelled"
        reason, _, effect = reason.partition(",")
    words_of_reason, words_of_effect = (with_words_alike(frozenset(words(part)), subject) for part in (reason, effect))
    is_turned = subject <= words_of_reason and not subject <= words_of_effect
    acts = verbs_of(question.text) & subject  # "Sales fell because of increased costs" does not tell why they increased
    is_turned = is_turned or not acts.isdisjoint(words_of_reason - words_of_effect)
    is_turned = is_turned or _tells_of_another(effect, question)
    is_denied = not has_denying_word(question.text) and not only_denied_words(effect).isdisjoint(subject)
    return not (is_turned or is_denied)


def _tells_of_another(effect: str, question: QuestionTerms) -> bool:
    """Whether a question asks why a thing is so, while a text tells so of another thing, by its noun."""
    asked, is_so = _ASKS_WHY_IT_IS.match(question.text), _IS_SO.match(effect)
    thing_words = frozenset(words(asked["thing"])) if asked else frozenset[str]()
    effect_words = with_words_alike(frozenset(words(effect)), thing_words)
    return bool(thing_words) and is_so is not None and thing_words.isdisjoint(effect_words)
