"""Recognise numbers calculated from those of the quotes: sums, differences, means, ratios, shares, rounding.

Among enough numbers, any number is the difference of some two. So an operation is accepted only if the sentence
mentions it (`together`, `more than`, `share of`…), if the sentence states both operands, or if the quotes have few
numbers.
"""

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from decimal import Decimal
from functools import lru_cache
from itertools import combinations

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.units import SCALES
from quoteweave.generation.gate.amounts import Amount
from quoteweave.generation.gate.cited_evidence import CitedEvidence
from quoteweave.generation.gate.facts import read_sentence

MAX_NUMBERS_WITHOUT_WORDS = 4
"""If the quotes have at most this many numbers, without years, no word needs to mention the operation."""
MAX_NUMBERS = 80
"""With more numbers in the quotes no operation on them is tried; any that the sentence mentions is accepted."""
MAX_ADDENDS = 24
"""Most consecutive numbers that are summed, unless they are all of a column or text."""
_CONTEXT_LENGTH = 40
MIN_ROUNDED = 1000
"""The least amount of money that is taken for a rounded one; a price of 12.90 is not 13."""
_NUMBER = lazy_regex(rf"\d+(?:[., ]\d+)*(?:[ -]?(?:{'|'.join(SCALES)})\b|[kmb](?!\w))?", re.IGNORECASE)
"""The number of an amount, with its scale."""

_OPERATION_WORDS = {
    "sum": r"total\w*|together|both|sums?|combined|altogether|in all|overall|add\w*|of which",
    "difference": r"more|less|fewer|difference|differ\w*|(?:high|low|larg|small|long|short|lat|earli|great|old|deep)er"
    r"|gr[eo]w\w*|increas\w*|decreas\w*|r[io]se\w*|rising|fell|fall\w*|drop\w*|declin\w*|gain\w*|los[st]\w*|gap|change\w*"
    r"|exceed\w*|above|below|remain\w*|rest|left|apart|ahead|behind|up|down|improv\w*|reduc\w*|took|lasts?|takes",
    "ratio": r"times|twice|half|double\w*|tripl\w*|ratio|per(?! cent)|each|every|an? (?:tonne|hour|day|head)|fold",
    "mean": r"average\w*|mean",
    "share": r"shares?|proportion|account\w*|made up|out of|(?:per cent|percent|%) of|fraction|part of|majority",
}
_CUES = {kind: lazy_regex(rf"\b(?:{words})(?!\w)", re.IGNORECASE) for kind, words in _OPERATION_WORDS.items()}
_HEDGED = lazy_regex(r"(?:about|around|roughly|nearly|almost|some|approximately|circa|c\.|ca\.?|over|under|~|≈) ?$")
# "A$" and "CAD $" are not "$".
_OTHER_CURRENCY = lazy_regex(r"(?<![A-Za-z])(?!US)[A-Z]{1,3} ?$")
_LEVEL = lazy_regex(r"\b(?:from|to|at|against) (?:[A-Z]{3} |[$€£¥] ?)?$")
_OF_LEVELS = frozenset({"difference", "ratio"})
_DEFAULT_OPERATIONS = frozenset({"sum", "difference", "share"})


def is_rounded(amount: Amount, evidence: CitedEvidence, sentence: str) -> bool:
    """Whether the number is rounded from one of the quotes: 14.2 from 14.22, or `nearly 1,900` from 1,896."""
    value, step = float(amount.value), float(amount.step)
    digits = str(amount.value).replace(".", "").strip("0")
    if _HEDGED.search(_before(amount, sentence)) and step >= 1 and not amount.fraction:
        integer = str(int(amount.value))
        step *= 10 ** (len(integer) - len(integer.rstrip("0")))
    elif len(digits) < 2 and not amount.fraction:
        return False
    finer = [other for other in evidence.amounts if not other.year and _units_agree(amount, other)]
    return any(
        float(other.step) * scale < step and _within_precision(value, float(other.value) * scale, step)
        for other in finer
        for scale in (1.0, *map(float, evidence.scales))
    )


def with_exact_amounts(statement: str, evidence: CitedEvidence) -> str:
    """A statement with amounts of money as the quotes write them: $4,802 million for "$4.80 billion".

    So what is said of them is compared as if it were said of these. The quotes must have that amount in another scale,
    or one amount alone of its currency that is correctly rounded to the digits written. These are two or more, without
    the zeros at the end of whole numbers: "$5 billion" and "$10 billion" could be too many.
    """
    for amount in read_sentence(statement).amounts if evidence.amounts else ():
        exact = {value: other for other, value in _exact_values(amount, evidence)} if amount.is_money else {}
        if _OTHER_CURRENCY.search(_before(amount, statement)):
            continue
        if amount.value in exact or (len(exact) == 1 and _may_be_rounded(amount)):
            number = _NUMBER.search((exact.get(amount.value) or next(iter(exact.values()))).text)
            written = number and _NUMBER.sub(number[0], amount.text, count=1)
            statement = statement.replace(amount.text, written or amount.text, 1)
    return statement


def _may_be_rounded(amount: Amount) -> bool:
    """Whether an amount of money is large, and its digits are many enough for it to be rounded from one alone."""
    digits = str(int(amount.value / amount.step))
    digits = digits if "." in amount.text else digits.rstrip("0")
    return amount.value >= MIN_ROUNDED and len(digits) > 1


def _exact_values(amount: Amount, evidence: CitedEvidence) -> Iterator[tuple[Amount, Decimal]]:
    """The amounts that an amount of money may be rounded from, with their values in the scale that is stated."""
    unit = amount.unit
    is_in_currency = any(other.unit == unit for other in evidence.amounts) or unit in evidence.currencies
    for other in evidence.amounts:
        if not other.year and (other.unit == unit or (other.unit is None and is_in_currency)):
            for scale in {Decimal(1), *evidence.scales_for(amount, other)}:
                value = other.value * scale
                is_finer = other.step * scale < amount.step
                if value == amount.value or (is_finer and abs(amount.value - value) <= amount.step / 2):
                    yield other, value


def is_derived(amount: Amount, evidence: CitedEvidence, sentence: str, amounts: Sequence[Amount]) -> bool:
    """Whether the number can be calculated from those of the quotes; `amounts` are those that the sentence states."""
    mentioned = _mentioned_operations(sentence) | ({"share"} if amount.fraction else frozenset())
    # A level that something rises to or falls from is not the amount it changes by.
    excluded = _OF_LEVELS if _LEVEL.search(_before(amount, sentence)) else frozenset()
    kinds_of_own = (mentioned | _DEFAULT_OPERATIONS) - excluded
    scales, own_amounts = (1.0, *map(float, evidence.scales)), _distinct(amounts)[:MAX_NUMBERS]
    if any(_follows_from(amount, pair, kinds_of_own, scales) for pair in combinations(own_amounts, 2)):
        return True
    numbers = _distinct(other for other in evidence.amounts if not (other.year or other.may_be_base))
    if len(numbers) > MAX_NUMBERS:
        return bool(mentioned) or _is_duration(amount, evidence)
    kinds = kinds_of_own if len(numbers) <= MAX_NUMBERS_WITHOUT_WORDS else mentioned - excluded
    return (
        any(_follows_from(amount, pair, kinds, scales) for pair in combinations(numbers, 2))
        or _is_duration(amount, evidence)
        or ("sum" in kinds and _is_sequence_total(amount, evidence, mean=False))
        or ("mean" in kinds and _is_sequence_total(amount, evidence, mean=True))
    )


@lru_cache(maxsize=64)
def _mentioned_operations(sentence: str) -> frozenset[str]:
    """The operations that a sentence mentions."""
    return frozenset(kind for kind, cue in _CUES.items() if cue.search(sentence))


def _before(amount: Amount, sentence: str) -> str:
    """The text just before the number, long enough for the words that qualify it."""
    at = max(sentence.find(amount.text), 0)
    return sentence[max(at - _CONTEXT_LENGTH, 0) : at]


def _follows_from(amount: Amount, pair: tuple[Amount, Amount], kinds: Set[str], scales: Sequence[float]) -> bool:
    """Whether one of these operations on the pair gives the number, after applying one of the scales."""
    value, step = float(amount.value), float(amount.step)
    return any(
        _within_precision(value, result * scale, step) for result in _results(amount, pair, kinds) for scale in scales
    )


def _results(amount: Amount, pair: tuple[Amount, Amount], kinds: Set[str]) -> Iterator[float]:
    first, second = (float(member.value) for member in pair)
    # "32.6 percent over five seeds" does not give 27.6 percent.
    alike = _units_agree(*pair) and len({member.is_percentage for member in pair}) == 1
    if alike and all(_units_agree(amount, member) for member in pair):
        if "sum" in kinds:
            yield first + second
        if "difference" in kinds:
            yield abs(first - second)
    if not (first and second):
        return
    if not amount.is_percentage:
        if "ratio" in kinds:
            yield from (first / second, second / first, first * second)
        return
    if alike and "share" in kinds:
        yield from (100 * first / second, 100 * second / first)
    if alike and "difference" in kinds:
        yield from (100 * abs(first - second) / first, 100 * abs(first - second) / second)


def _is_sequence_total(amount: Amount, evidence: CitedEvidence, *, mean: bool) -> bool:
    """Whether the number is the sum or mean of three or more consecutive numbers of a text or a table's column.

    Percentages are not added to other numbers.
    """
    value, step = float(amount.value), float(amount.step)
    alike = (
        [float(other.value) for other in run if not other.year and _units_agree(amount, other)]
        for numbers in evidence.runs
        for run in (
            [number for number in numbers if number.is_percentage],
            [number for number in numbers if not number.is_percentage],
        )
    )
    for values in alike:
        if len(values) > MAX_ADDENDS and _within_precision(value, sum(values) / (len(values) if mean else 1), step):
            return True
        for first in range(len(values)):
            total = 0.0
            for length, addend in enumerate(values[first : first + MAX_ADDENDS], 1):
                total += addend
                if length > 2 and _within_precision(value, total / length if mean else total, step):
                    return True
    return False


def _is_duration(amount: Amount, evidence: CitedEvidence) -> bool:
    """Whether the number is the duration between two times of day, or between two years."""
    dimension = amount.unit.dimension if amount.unit else ""
    if amount.unit is None or dimension not in {"time", "months"}:
        return False
    years = {int(other.value) for other in evidence.amounts if other.year} | {d.year for d in evidence.dates if d.year}
    points = evidence.clocks if dimension == "time" else years
    factor = 60 if dimension == "time" else 12
    wanted = float(amount.value * amount.unit.factor)
    return wanted > 0 and any(point + wanted / factor in points for point in points)


def _units_agree(first: Amount, second: Amount) -> bool:
    """Whether they have the same unit, or one of them has none."""
    return first.unit is None or second.unit is None or first.unit == second.unit


def _within_precision(value: float, result: float, step: float) -> bool:
    return abs(value - result) <= step / 2 + 1e-9 * abs(result)


def _distinct(amounts: Iterable[Amount]) -> list[Amount]:
    return list({(amount.value, amount.unit): amount for amount in amounts}.values())
