"""Numbers that a sentence works out from those of its quotes: sums, differences, means, ratios, shares, rounding.

With enough numbers every number is the difference of some two. So a kind of reckoning counts where the sentence speaks
of it (`together`, `more than`, `share of`…), where both numbers that it starts from stand in the sentence, or where the
quotes hold few numbers.
"""

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import lru_cache
from itertools import combinations

from quoteweave.generation.gate.amounts import Amount
from quoteweave.generation.gate.cited_evidence import Evidence

FEW = 4
"""Quotes with no more numbers than this, years aside, need no word that speaks of reckoning."""
MANY = 80
"""With more numbers than this nothing is tried, and what a sentence says it reckoned is taken to be so."""
LONGEST_RUN = 24
"""Numbers in a row that may be summed."""
_NEAR = 40

_SPOKEN = {
    "sum": r"total\w*|together|both|sums?|combined|altogether|in all|overall|add\w*|of which",
    "difference": r"more|less|fewer|difference|differ\w*|(?:high|low|larg|small|long|short|lat|earli|great|old|deep)er"
    r"|gr[eo]w\w*|increas\w*|decreas\w*|r[io]se\w*|rising|fell|fall\w*|drop\w*|declin\w*|gain\w*|los[st]\w*|gap|change\w*"
    r"|exceed\w*|above|below|remain\w*|rest|left|apart|ahead|behind|up|down|improv\w*|reduc\w*|took|lasts?|takes",
    "ratio": r"times|twice|half|double\w*|tripl\w*|ratio|per(?! cent)|each|every|an? (?:tonne|hour|day|head)|fold",
    "mean": r"average\w*|mean",
    "share": r"shares?|proportion|account\w*|made up|out of|(?:per cent|percent|%) of|fraction|part of|majority",
}
_CUES = {kind: re.compile(rf"\b(?:{words})(?!\w)", re.IGNORECASE) for kind, words in _SPOKEN.items()}
_HEDGED = re.compile(r"(?:about|around|roughly|nearly|almost|some|approximately|circa|c\.|ca\.?|over|under|~|≈) ?$")
_LEVEL = re.compile(r"\b(?:from|to|at|against) (?:[A-Z]{3} |[$€£¥] ?)?$")
_OF_LEVELS = frozenset({"difference", "ratio"})
_PLAIN = frozenset({"sum", "difference", "share"})


def is_rounded(amount: Amount, evidence: Evidence, sentence: str) -> bool:
    """Whether the number is one of the quotes with fewer digits: 14.2 of 14.22, or `nearly 1,900` of 1,896."""
    value, step = float(amount.value), float(amount.step)
    digits = str(amount.value).replace(".", "").strip("0")
    if _HEDGED.search(_before(amount, sentence)) and step >= 1:
        whole = str(int(amount.value))
        step *= 10 ** (len(whole) - len(whole.rstrip("0")))
    elif len(digits) < 2:
        return False
    finer = [other for other in evidence.amounts if not other.year and _agree(amount, other)]
    return any(
        float(other.step) * scale < step and _near(value, float(other.value) * scale, step)
        for other in finer
        for scale in (1.0, *map(float, evidence.scales))
    )


def is_derived(amount: Amount, evidence: Evidence, sentence: str, said: Sequence[Amount]) -> bool:
    """Whether the number follows from those of the quotes; `said` are those numbers that the sentence says."""
    spoken = _spoken(sentence)
    numbers = _distinct(other for other in evidence.amounts if not other.year)
    if len(numbers) > MANY:
        return bool(spoken)
    # What something rises to, or falls from, is not what it rises by.
    excluded = _OF_LEVELS if _LEVEL.search(_before(amount, sentence)) else frozenset()
    kinds = (spoken | _PLAIN if len(numbers) <= FEW else spoken) - excluded
    scales = (1.0, *map(float, evidence.scales))
    return (
        any(_reached(amount, pair, kinds, scales) for pair in combinations(numbers, 2))
        or any(
            _reached(amount, pair, (spoken | _PLAIN) - excluded, scales) for pair in combinations(_distinct(said), 2)
        )
        or _is_span(amount, evidence)
        or ("sum" in kinds and _is_run(amount, evidence, mean=False))
        or ("mean" in kinds and _is_run(amount, evidence, mean=True))
    )


@lru_cache(maxsize=64)
def _spoken(sentence: str) -> frozenset[str]:
    """The kinds of reckoning that a sentence speaks of."""
    return frozenset(kind for kind, cue in _CUES.items() if cue.search(sentence))


def _before(amount: Amount, sentence: str) -> str:
    """As much as a word before the number needs."""
    at = max(sentence.find(amount.text), 0)
    return sentence[max(at - _NEAR, 0) : at]


def _reached(amount: Amount, pair: tuple[Amount, Amount], kinds: Set[str], scales: Sequence[float]) -> bool:
    """Whether a reckoning of these kinds leads from the pair to the number, one of the scales reckoned in."""
    value, step = float(amount.value), float(amount.step)
    return any(_near(value, result * scale, step) for result in _results(amount, pair, kinds) for scale in scales)


def _results(amount: Amount, pair: tuple[Amount, Amount], kinds: Set[str]) -> Iterator[float]:
    one, other = (float(member.value) for member in pair)
    alike = _agree(*pair)
    if alike and all(_agree(amount, member) for member in pair):
        if "sum" in kinds:
            yield one + other
        if "difference" in kinds:
            yield abs(one - other)
    if not (one and other):
        return
    if amount.unit is None or amount.unit.dimension != "percent":
        if "ratio" in kinds:
            yield from (one / other, other / one, one * other)
        return
    if alike and "share" in kinds:
        yield from (100 * one / other, 100 * other / one)
    if alike and "difference" in kinds:
        yield from (100 * abs(one - other) / one, 100 * abs(one - other) / other)


def _is_run(amount: Amount, evidence: Evidence, *, mean: bool) -> bool:
    """Whether the number is the sum or mean of three or more numbers in a row or column."""
    value, step = float(amount.value), float(amount.step)
    for run in evidence.runs:
        values = [float(other.value) for other in run if not other.year and _agree(amount, other)]
        for first in range(len(values)):
            total = 0.0
            for length, addend in enumerate(values[first : first + LONGEST_RUN], 1):
                total += addend
                if length > 2 and _near(value, total / length if mean else total, step):
                    return True
    return False


def _is_span(amount: Amount, evidence: Evidence) -> bool:
    """Whether the number is the time between two times of day, or the years between two."""
    dimension = amount.unit.dimension if amount.unit else ""
    if amount.unit is None or dimension not in {"time", "months"}:
        return False
    years = {int(other.value) for other in evidence.amounts if other.year} | {d.year for d in evidence.dates if d.year}
    points = evidence.clocks if dimension == "time" else years
    factor = 60 if dimension == "time" else 12
    wanted = float(amount.value * amount.unit.factor)
    return len(points) <= MANY and any(abs(a - b) * factor == wanted for a, b in combinations(sorted(points), 2))


def _agree(one: Amount, other: Amount) -> bool:
    """Whether they can be of one unit."""
    return one.unit is None or other.unit is None or one.unit == other.unit


def _near(value: float, result: float, step: float) -> bool:
    return abs(value - result) <= step / 2 + 1e-9 * abs(result)


def _distinct(amounts: Iterable[Amount]) -> list[Amount]:
    return list({(amount.value, amount.unit): amount for amount in amounts}.values())
