"""Says whether a passage states the contrary of a claim: the other direction, an opposite word, or a denial.

All of it is told by English words. Only sentences that otherwise say what the claim says are compared with it, so that
what is said of something else is not taken for its contrary.
"""

import math
import re
from collections.abc import Mapping, Sequence, Set

from quoteweave.core.text.tokens import words
from quoteweave.generation.gate.amounts import NUMBER_WORDS
from quoteweave.generation.relevance import coverage
from quoteweave.generation.sentences import sentence_texts

LEAST_COVERAGE = 0.6
"""Least share of what else the claim says, weighed by rarity, in a sentence that may state its contrary."""
LEAST_DENIED = 0.8
"""Least share of a claim's clause in one that may deny it; with fewer words that often denies something else."""
OPPOSITE = "Of the claim and the passage one says that something rises, and the other that it falls."
OPPOSITE_WORD = "The passage has the opposite of a word of the claim."
DENIED_BY_PASSAGE = "Of the claim and the passage one denies what the other says."
CONTRARY_REASONS = frozenset({OPPOSITE, OPPOSITE_WORD, DENIED_BY_PASSAGE})
"""The reasons of passages that state the contrary, which are not the source."""

_RISES = "rise rises rose risen raise raised rising increase increases grow grows grew grown growth gain higher more"
_FALLS = (
    "fall falls fell fallen drop drops dropped lower lowered reduce reduces decrease decreases decline declines shrink"
    " shrinks shrank shrunk loss less fewer"
)
_OPPOSITES = (
    (_RISES, _FALLS),
    ("better improve improves improved improvement", "worse worsen worsens worsened impair impairs impaired degrade"),
    ("faster quicker accelerate accelerates accelerated", "slower slow slows slowed"),
    ("longer lengthen lengthens lengthened prolong", "shorter shorten shortens shortened"),
    ("larger bigger greater enlarge", "smaller"),
    ("stronger strengthen strengthens strengthened", "weaker weaken weakens weakened"),
    ("earlier earliest", "later latest"),
    ("warmer hotter", "colder cooler"),
    ("maximum highest largest", "minimum lowest smallest"),
    ("allow allows allowed permit permits permitted", "forbid forbids forbidden prohibit prohibits prohibited"),
    ("include includes included", "exclude excludes excluded omit omits omitted"),
    ("enable enables enabled", "disable disables disabled"),
    ("accept accepts accepted", "reject rejects rejected refuse refuses refused"),
    ("succeed succeeds succeeded", "fail fails failed"),
    ("positive positively", "negative negatively"),
    ("won win wins", "lost lose loses"),
)
_STEMS = tuple(tuple(frozenset(words(side, stop=False)) for side in pair) for pair in _OPPOSITES)
_IN_PAIRS = frozenset().union(*(side for pair in _STEMS for side in pair))
_PREFIXES = ("un", "in", "im", "ir", "dis", "non", "de")
_SHORTEST_WORD = 4  # letters, as "form" is no opposite of "inform" and such words are short
# "More than 40" says nothing of a direction, and what does not rise need not fall.
_BOUND = re.compile(rf"\b(?:more|less|fewer|higher|lower) than (?=\d|(?:a|half|{NUMBER_WORDS})\b)", re.IGNORECASE)
_NOT_DENYING = re.compile(
    r"\b(?:not only|whether or not|with (?:and|or) without|(?:no|not) (?:more|less|fewer|later|earlier) than)\b",
    re.IGNORECASE,
)
_NEGATIONS = frozenset({"no", "not", "t", "never", "nor", "neither", "hardly"})
_DENIES = _NEGATIONS | frozenset(words("none cannot nobody nothing nowhere", stop=False))
# What is said to be so in part, or without a word of denial, agrees with a denial as with what it denies.
_IN_PART = frozenset(
    words(
        "only unless except hardly rarely seldom few little fail fails unlikely instead rather if longer"
        " without lack lacks absent missing unable impossible",
        stop=False,
    )
)
_CLAUSES = re.compile(
    r"[,;:()—–]+|\b(?:and|or|but|although|though|because|since|while|whereas|which|who|so|when|where|as|than)\b",
    re.IGNORECASE,
)


def contrary_reason(claim: str, text: str, weights: Mapping[str, float]) -> str | None:
    """Return why a text states the contrary of a claim, or None where it does not.

    `weights` are those of the claim's words. The text does not state the contrary where another of its sentences says
    the same as the claim.
    """
    sentences = sentence_texts(text)
    rest = {word: weight for word, weight in weights.items() if word not in _IN_PAIRS}
    near = [one for one in sentences if _says(rest, one)]
    for reason, compare in ((OPPOSITE, _direction), (OPPOSITE_WORD, _opposite_word)):
        if _is_contrary([compare(_said(claim), _said(one)) for one in near]):
            return reason
    near = [one for one in sentences if _says(weights, one)]
    return DENIED_BY_PASSAGE if _is_contrary([_denial(claim, one, weights) for one in near]) else None


def _is_contrary(found: Sequence[bool | None]) -> bool:
    """Whether one of the sentences states the contrary, and none of them agrees."""
    return True in found and False not in found


def _says(weights: Mapping[str, float], sentence: str) -> bool:
    """Whether a sentence has most of these words, by their weights."""
    return coverage(weights, words(sentence)) >= LEAST_COVERAGE * math.fsum(weights.values()) > 0


def _said(sentence: str) -> frozenset[str]:
    """The words of a sentence, stop words too, but for bounds of numbers."""
    return frozenset(words(_BOUND.sub("", " ".join(sentence.split())), stop=False))


def _direction(claim: Set[str], sentence: Set[str]) -> bool | None:
    """Whether a sentence says the other direction than the claim; None where it says none, or one of them denies."""
    return _opposed(claim, sentence, _STEMS[0])


def _opposite_word(claim: Set[str], sentence: Set[str]) -> bool | None:
    found = [_opposed(claim, sentence, pair) for pair in _STEMS[1:]]
    if True in found:
        return True
    return None if _NEGATIONS & (claim | sentence) else _is_prefixed(claim - sentence, sentence - claim) or None


def _opposed(claim: Set[str], sentence: Set[str], pair: Sequence[frozenset[str]]) -> bool | None:
    """Whether claim and sentence have words of the two sides of a pair; a word that both have is of neither side.

    None where one of them has none of these words, or denies something.
    """
    if _NEGATIONS & (claim | sentence) or not any(side & claim for side in pair):
        return None
    own, its = ([bool(side & said) for side in pair] for said in (claim - sentence, sentence - claim))
    if not any(own) or any(map(bool.__and__, own, its)):
        return False
    return True if any(its) else None


def _is_prefixed(one: Set[str], other: Set[str]) -> bool:
    """Whether a word of one is a word of the other with a negating prefix, such as `decompress` of `compress`."""
    return any(
        f"{prefix}{word}" in longer
        for shorter, longer in ((one, other), (other, one))
        for word in shorter
        if len(word) >= _SHORTEST_WORD
        for prefix in _PREFIXES
    )


def _denial(claim: str, sentence: str, weights: Mapping[str, float]) -> bool | None:
    """Whether a clause of the claim is denied in a sentence, or denies it; None where no clause says the same."""
    clauses = [(clause, frozenset(words(clause))) for clause in _clauses(sentence)]
    found: list[bool | None] = []
    for clause in _clauses(claim):
        own = {word: weights[word] for word in words(clause) if word in weights}
        if len(own) < 2 or not clauses:
            continue
        closest, held = max(clauses, key=lambda one: coverage(own, one[1]))
        if coverage(own, held) >= LEAST_DENIED * math.fsum(own.values()) > 0:
            found.append(_differ(clause, closest))
    return True if True in found else next((one for one in found if one is not None), None)


def _clauses(sentence: str) -> list[str]:
    kept = _NOT_DENYING.sub(" ", " ".join(sentence.split()))
    return [clause for clause in _CLAUSES.split(kept) if clause.strip()]


def _differ(clause: str, other: str) -> bool | None:
    """Whether one of two clauses denies and the other does not; None where that cannot be told."""
    said, its = (frozenset(words(one, stop=False)) for one in (clause, other))
    if _IN_PART & (said | its):
        return None
    return bool(_DENIES & said) != bool(_DENIES & its)
