"""Find a limit of what is cited that a sentence leaves out: a doubt, a condition, an exception, or "some" of something.

"It rises" claims more than "it may rise", "it is forbidden" more than "it is forbidden, except at night", and "the
members agreed" more than "most of the members agreed". So does a cause that only the sentence gives: "because it
rained" for "when it rained". All of these are recognised by English words.
"""

import re
from collections.abc import Sequence, Set

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import stem_of, words
from quoteweave.generation.gate.cited_evidence import CitedEvidence
from quoteweave.generation.gate.clauses import (
    CLAUSES,
    closest_part,
    closest_sentences,
    compared_clauses,
    content_words_of,
)

MIN_DENIED_WORDS = 2
"""Fewest of the words that a sentence adds to the closest one, which another sentence must share to deny it."""

_NEGATION = lazy_regex(
    r"\b(?:not|no|never|none|neither|nor|(?<!with and )(?<!with or )without|cannot|nobody|nothing|nowhere)\b|n['’]t\b",
    re.IGNORECASE,
)
# What a text with such a word says may not be so. "may" must be in lower case, as "May" is a month.
_DOUBT = lazy_regex(
    r"\b(?:(?i:den(?:y|ies|ied|ying)|denial|doubt(?:s|ed|ing|ful)?|disput(?:es?|ed|ing)|reject(?:s|ed|ing)?"
    r"|refus(?:es?|ed|ing)|refut(?:es?|ed|ing)|fail(?:s|ed|ing)? to|unlikely|false(?:ly)?|untrue|alleg(?:es?|ed|edly)"
    r"|abandon(?:s|ed|ing)?|cancel(?:s|l?ed|l?ing)|prevent(?:s|ed|ing)?|avoid(?:s|ed|ing)?|would|could|might"
    r"|plan(?:s|ned|ning)? to|propos(?:es?|ed|als?)|intend(?:s|ed|ing)? to|expect(?:s|ed|ing)?|projected"
    r"|forecast(?:s|ed)?|predict(?:s|ed)?|hop(?:es?|ed|ing) to"
    r"|aim(?:s|ed|ing)? to|instead of|rather than|lack(?:s|ed|ing)?"
    r"|ceas(?:es?|ed|ing)|stop(?:s|ped|ping)? [a-z]+ing|rumou?r(?:s|ed)?|claim(?:s|ed)? that|myth|supposed(?:ly)?"
    r"|reportedly|hardly|scarcely|barely|almost|nearly|few of|short of|seldom|rarely|sometimes|occasionally"
    r"|(?:seem|appear)(?:s|ed)? to|probably|possibly|perhaps|suggest(?:s|ed|ing)?(?= that\b))|may)\b"
)
_POSSIBLE = frozenset({"may", "could", "might", "would"})
_ALLOWS = lazy_regex(r"\b(?:may|can|could|might|would|allow\w*|permit\w*|entitle\w*|possib\w+|up to)\b")
_CONDITION = lazy_regex(
    r"\b(?:if|unless|provided(?= that\b)|(?<=, )provided(?= (?:the|there|they|you|it)\b)|subject to"
    r"|in the event(?= of\b| that\b)|on condition)\b",
    re.IGNORECASE,
)
# What may say such a doubt in a sentence.
_UNSURE = lazy_regex(rf"{_DOUBT.pattern}|(?i:{_CONDITION.pattern}|\b(?:likely|should|potential(?:ly)?)\b)")
_CONDITIONAL = lazy_regex(
    rf"{_CONDITION.pattern}|\b(?:when(?:ever)?|where|once|should|cases?|only|otherwise|until|without|upon|whether"
    r"|after|depend\w*|condition\w*)\b",
    re.IGNORECASE,
)
"""Words that may express a condition in a sentence."""
# "In millions, except per share amounts" says how numbers of a table are written.
_EXCEPTION = lazy_regex(
    r"\b(?:except(?:ing|ions?)?(?!(?: for)? (?:per|par|shares?)\b)|apart from|other than|unless)\b", re.IGNORECASE
)
_EXCEPTED = lazy_regex(
    rf"{_EXCEPTION.pattern}|\b(?:but|only|if|without|besides|beyond|exclud\w+|exempt\w*|otherwise)\b", re.IGNORECASE
)
"""Words that may express an exception in a sentence."""
_ONLY = lazy_regex(r"\bonly (?:with|under|after|when|where|upon)\b", re.IGNORECASE)
_ONLY_SO = lazy_regex(rf"{_CONDITIONAL.pattern}|\b(?:with|under|require[sd]?|needs?|must|subject)\b", re.IGNORECASE)
_LIMITS = ((_CONDITION, _CONDITIONAL), (_EXCEPTION, _EXCEPTED), (_ONLY, _ONLY_SO))
_IN_PART = lazy_regex(
    r"(?:(?P<before>[^\W\d_]+) )?\b(?P<part>some|most|half(?= of)|part(?= of)|majority|a few|certain|not all"
    r"|not every)\b(?P<all> of)?(?: (?:the|its|their|these|those|our|all))?"
    r" (?P<of>(?:[^\W\d_][\w-]*\s?){1,2})",
    re.IGNORECASE,
)
# Behind other words, "most" and "part of" tell no part: "its most visited museum", "as part of the reform".
_BEFORE_PART = frozenset({"and", "but", "that", "for", "by", "in", "of", "on", "to", "with", "while", "from", "when"})
_PART = lazy_regex(
    r"\b(?:some|most|mostly|mainly|half|part|parts|partly|majority|few|several|many|certain|number of|among"
    r"|not (?:all|every)|(?:a|one|two) thirds?|quarters?|\d(?: out)? of (?:the )?\d|per ?cent of)\b"
    r"|\d ?% of\b|\(\d[\d.,]* ?%\)",
    re.IGNORECASE,
)
"""What may say of which part, or share, a sentence speaks."""
_MANY = lazy_regex(
    r"\b(?:many|several|various|numerous|often|usually|generally|typically|mostly|mainly)\b", re.IGNORECASE
)
_ALL = lazy_regex(r"\b(?:all|every|each|always|entire|whole)\b", re.IGNORECASE)
_GIVES_CAUSE = lazy_regex(r"\b(?:because|due to|owing to|thanks to|as a result of|caused by)\b", re.IGNORECASE)
_CAUSE = lazy_regex(
    rf"{_GIVES_CAUSE.pattern}|\b(?:caus\w+|results?|result(?:ed|ing)|lead(?:s|ing)?|led|driven?|drove|driv(?:es|ing)"
    r"|attribut\w+|reasons?|since|so that|therefore|thus|hence|consequen\w+|why|reflect\w*|owed|thanks|effects?"
    r"|explain\w*|influenc\w+|contribut\w+|argu\w+|given|following|due|push\w*|forc\w+|prompt\w*|trigger\w*"
    r"|on the back of)\b",
    re.IGNORECASE,
)
_DENIES = "Either it or what it cites denies something, and the other does not."


def find_denial_or_limit(statement: str, evidence: CitedEvidence) -> str | None:
    """Return why a statement differs from what it cites: only one of them denies something, or a limit is left out."""
    for clause, cited in compared_clauses(statement, evidence):
        if (_NEGATION.search(clause) is None) != (_NEGATION.search(cited) is None):
            return _DENIES
        if limit := _find_dropped_limit(clause, statement, cited):
            return f"What it cites says “{limit}”, and it does not."
    if _NEGATION.search(statement) is None and _is_denied_elsewhere(statement, evidence):
        return _DENIES
    if _GIVES_CAUSE.search(statement) and not any(_CAUSE.search(text) for text in evidence.texts):
        return "It gives a cause, and what it cites gives none."
    return None


def _is_denied_elsewhere(statement: str, evidence: CitedEvidence) -> bool:
    """Whether words that a statement adds to its closest sentence are denied elsewhere: "It does not cover tyres"."""
    content_words = content_words_of(statement)
    added = [content_words - content_words_of(sentence) for sentence in closest_sentences(statement, evidence)]
    return bool(added) and all(_is_denied(more, evidence.closest_sentences(more)) for more in added)


def _is_denied(content_words: Set[str], sentences: Sequence[str]) -> bool:
    parts = [closest_part(sentence, content_words) for sentence in sentences]
    return bool(parts) and all(
        _NEGATION.search(part) and len(content_words & content_words_of(part)) >= MIN_DENIED_WORDS for part in parts
    )


def _find_dropped_limit(clause: str, statement: str, cited: str) -> str | None:
    """A word by which what is cited limits what a clause says, if the clause has no such word.

    A condition or exception counts wherever it stands in the statement.
    """
    doubt = _DOUBT.search(cited)
    if doubt and not (_UNSURE.search(clause) or _is_permission(doubt[0], clause) or _is_said(doubt[0], statement)):
        return doubt[0]
    for limit, answer in _LIMITS:
        match = limit.search(cited)
        if match is None or answer.search(statement):
            continue
        if limit is not _CONDITION or not _has_condition(statement, match):
            return match[0]
    return _find_part(clause, statement, cited)


def _has_condition(statement: str, limit: re.Match[str]) -> bool:
    """Whether a statement has most words of a condition: "guests who stay overnight" for "if they stay overnight"."""
    condition = content_words_of(CLAUSES.split(limit.string[limit.end() :])[0])
    shared = condition & content_words_of(statement)
    return limit[0].casefold() != "unless" and len(shared) * 2 > len(condition)


def _is_said(doubt: str, statement: str) -> bool:
    """Whether a doubt stands in another clause: "Sometimes, it stops". Of what is possible, each clause says it."""
    if doubt in _POSSIBLE:
        return False
    return any(stem_of(match[0].casefold()) == stem_of(doubt.casefold()) for match in _DOUBT.finditer(statement))


def _is_permission(doubt: str, clause: str) -> bool:
    """Whether a doubt such as "may" is a permission, and the clause says that too, with a word such as "can"."""
    return doubt in _POSSIBLE and _ALLOWS.search(clause) is not None


def _find_part(clause: str, statement: str, cited: str) -> str | None:
    """A word such as "most" by which what is cited holds for a part of something, if the clause lacks such a limit."""
    if _PART.search(statement) is None:
        clause_words = content_words_of(clause)
        for match in _IN_PART.finditer(cited):
            if _is_part(match) and not clause_words.isdisjoint(words(match["of"])):
                return match["part"]
    limit = _MANY.search(cited)
    return limit[0] if limit and _ALL.search(clause) and not (_MANY.search(clause) or _ALL.search(cited)) else None


def _is_part(match: re.Match[str]) -> bool:
    """Whether a word that may tell a part of something does so where it stands."""
    before = (match["before"] or "").casefold()
    if not before or before in _BEFORE_PART:
        return True
    part = match["part"].casefold()
    return before != "the" and part != "part" and (part != "most" or match["all"] is not None)
