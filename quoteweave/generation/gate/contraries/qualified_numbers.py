"""Find a number that a sentence has with another bound, sign or version than its evidence: "over 12", "−5", "2.10".

Bounds are recognised by English words. "Over" and "under" may refer to time and place, so they are only compared with
each other, and do not count as bounds if the other text has the number alone.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import STOP_WORDS, has_digit, words
from quoteweave.core.text.units import find_unit
from quoteweave.generation.gate.amounts import NUMBER_WORDS, Amount, read_amounts, value_of
from quoteweave.generation.gate.contraries.opposite_words import DIRECTIONS, says_negative
from quoteweave.generation.gate.facts import Difference, normalize_notation

MAX_BOUND = 40
"""Most characters before a number in which its bound is looked for."""

_BEFORE, _BEHIND = r"(?:{})\s*(?:the\s|an?\s)?[$€£¥]?$", r"(?:\s?(?:%|[^\W\d]+))?(?:{})"
_MORE = (
    r"\b(?:more than|at least|(?:great|high|larg|long)er than|not? (?:less|fewer|lower) than|in excess of|minimum of"
    r"|(?<!not )exceed(?:s|ed|ing)?|not below|not under)|[>≥]"
)
_LESS = (
    r"\b(?:less than|fewer than|at most|up to|(?:low|small|short)er than|not? (?:more|greater|higher) than"
    r"|maximum of|not exceed(?:ing)?|not above|not over|nearly|almost)|[<≤]"
)
_SURE = tuple(lazy_regex(_BEFORE.format(before), re.I) for before in (_MORE, _LESS))
_LIKE = tuple(
    lazy_regex(_BEFORE.format(before), re.I)
    for before in (rf"{_MORE}|\b(?:over|above|beyond)", rf"{_LESS}|\b(?:under|below|within)")
)
_WITHIN = lazy_regex(r"\bwithin\s(?:the\s|an?\s)?$", re.I)
# "3 days after" an event is not "within 3 days of" it.
_APART = lazy_regex(r"\s[^\W\d]+\s(?:after|before|later|earlier|since)\b", re.I)
_SPANS_TO = lazy_regex(r"(?:\bto|[–-])\s*[$€£¥]?$", re.I)
# A span such as "10-12" says nothing of its single numbers. Dates, with three parts, and fiscal years are no spans.
_BEHIND_DASH, _BEFORE_DASH = (
    lazy_regex(r"(?<![\d-])\d[\d.,]* ?%?- ?[$€£¥]?$"),
    lazy_regex(r" ?%?- ?[$€£¥]?\d[\d.,]*(?![\d-])"),
)
_BETWEEN = lazy_regex(r"\bbetween\b[^.;]*\band\s*[$€£¥]?$|\b(?:from|between)\s[$€£¥]?$", re.I)
_BEHIND_NUMBER_TO = lazy_regex(r"(?<!\bfrom )(?<![\w.,$€£¥])[$€£¥]?\d[\d.,]*\sto\s[$€£¥]?$", re.I)
_BEFORE_TO = lazy_regex(r"\s?(?:%|[^\W\d]+)?\s(?:to|and|through)\s[$€£¥]?\d", re.I)
_YEAR = lazy_regex(r"(?:1[5-9]|2[01])\d\d")
_WITH_MORE, _WITH_LESS = (
    lazy_regex(_BEHIND.format(behind), re.I)
    for behind in (r"\+|\sor (?:more|above|over|higher|longer)\b", r"\sor (?:less|fewer|below|under|lower|shorter)\b")
)
_BOUND_WORDS = lazy_regex(rf"(?:{_MORE}|{_LESS}|\b(?:over|under|above|below))\s*[$€£¥]?$", re.I)
_BOUNDS = lazy_regex(
    rf"(?:{_MORE}|{_LESS})(?=\s*(?:the\s|an?\s)?[$€£¥]?\d)|\bor (?:more|less|fewer|higher|lower)\b", re.I
)
_SAYS_BOUND = lazy_regex(rf"{_MORE}|{_LESS}", re.I)
_IN_WORDS = lazy_regex(rf"(?<![\w-]){NUMBER_WORDS}(?![\w-])", re.I)
_NUMBER = lazy_regex(r"(?<![\w.,])(?P<number>\d+(?:[.,]\d+)*)(?!\w)")
# A minus sign, not a dash between two numbers or words; "(45)" is negative, too, for money, with a scale, or in a cell.
_SIGNED = lazy_regex(r"(?:^|[\s(|:=$€£~])[-+][$€£¥]?$")
_MAY_BE_SIGN = lazy_regex(r"(?<!\w)[-+][$€£¥]?\d|\([$€£¥]? ?\d[\d.,]*\)")
_FROM_TO = lazy_regex(r"\bfrom\s[^\d]{0,20}\d[^.;]{0,30}?\sto\s[^\d]{0,20}\d", re.I)
_BRACKETED = lazy_regex(
    r"[$€£¥]\s?\((?P<money>[\d.,]+)\)|\(\s?[$€£¥]\s?(?P<inside>[\d.,]+)\)|\((?P<scaled>[\d.,]+)\)"
    r"(?=\s?(?:%|thousand|million|billion|€|EUR\b|\||$))|(?<=\| )\((?P<cell>[\d.,]+)\)",
    re.I | re.M,
)
_NO_BRACKETS = str.maketrans("", "", "()")
_PERCENT = lazy_regex(
    r"(?<![\w.,])(?P<number>\d+(?:[.,]\d+)*)"
    r"(?:(?P<points>[ -]?(?:percent(?:age)?|%|per cent)?[ -]?points?\b| ?pp\b| ?p\.p\.)| ?(?:%|per ?cent\b))",
    re.I,
)
_VERSION = lazy_regex(
    r"(?<!\w)(?P<label>[^\W\d_]+)\.?\s+v?(?P<number>\d+(?:\.\d+)+)"
    r"(?![\w%]|[.,]\d|\s?[%°])(?=\s?(?P<behind>[^\W\d]*))"
)


def find_other_bound(statement: str, texts: Sequence[str]) -> Difference | None:
    """Return a number that texts have only with another bound than the statement, or without the bound it gives."""
    statement = in_digits(statement)
    for number in _NUMBER.finditer(statement):
        if _YEAR.fullmatch(number["number"]) and not _SAYS_BOUND.search(statement):
            continue
        stated = _Bounded(statement, number)
        digits = ",?".join(map(re.escape, number["number"].replace(",", "")))
        same = re.compile(rf"(?<![\w.,]){digits}(?!\d|[.,]\d)")
        cited = [_Bounded(text, match) for text in map(in_digits, texts) for match in same.finditer(text)]
        if cited and not any(map(stated.agrees, cited)):
            return Difference(stated.written, cited[0].written)
    return None


@lru_cache(maxsize=1024)
def in_digits(text: str) -> str:
    """A text in one notation, with whole numbers in digits."""
    return _IN_WORDS.sub(lambda match: str(value_of(match[0].casefold())), normalize_notation(text))


class _Bounded:
    """A number where it stands in a text, with its bound."""

    def __init__(self, text: str, number: re.Match[str]) -> None:
        before = text[max(0, number.start() - MAX_BOUND) : number.start()]
        behind = [pattern.match(text, number.end()) is not None for pattern in (_WITH_MORE, _WITH_LESS)]
        sure = [pattern.search(before) is not None for pattern in _SURE]
        like = [pattern.search(before) is not None for pattern in _LIKE]
        self.is_sure_more, self.is_sure_less = map(bool.__or__, sure, behind)
        self.is_more, self.is_less = map(bool.__or__, like, behind)
        self._is_within = _WITHIN.search(before) is not None
        self._is_apart = not self._is_within and _APART.match(text, number.end()) is not None
        self._ends_span = _SPANS_TO.search(before) is not None
        joined = _BETWEEN.search(before) or _BEFORE_TO.match(text, number.end())
        self._is_of_span = self._ends_span or joined is not None
        start, end = number.span()
        ends = [pattern.match(text, end) for pattern in (_BEFORE_DASH, _WITH_MORE, _WITH_LESS)]
        starts = [pattern.search(before) for pattern in (_BEHIND_DASH, _BEHIND_NUMBER_TO)]
        self._is_of_dash = any((ends[0], *starts))
        starts.append(_BOUND_WORDS.search(before) if any(like) else None)
        start -= max((len(before) - match.start() for match in starts if match), default=0)
        self.written = text[start : max((match.end() for match in ends if match), default=end)]

    def agrees(self, other: "_Bounded") -> bool:
        """Whether the other number has the same bound, or one that may mean the same."""
        if (self._is_within and other._is_apart) or (self._is_apart and other._is_within):
            return False
        if self.is_more or self.is_less:
            same = (self.is_more and other.is_more) or (self.is_less and (other.is_less or other._ends_span))
            is_bounded = self.is_sure_more or self.is_sure_less or other.is_more or other.is_less
            return same or not is_bounded
        if other._is_of_dash and not (self._is_of_span or self._is_of_dash):
            return False
        return not (other.is_sure_more or other.is_sure_less)


def without_bounds(text: str) -> str:
    """A text without the words that give bounds of its numbers."""
    return _BOUNDS.sub(" ", text)


def find_other_sign(statement: str, sentences: Sequence[str]) -> Difference | None:
    """Return a number that sentences have only with another sign; a word such as "fell" counts as a minus sign."""
    if not any(_MAY_BE_SIGN.search(normalize_notation(text)) for text in (statement, *sentences)):
        return None
    for stated_number in _signed(statement):
        same_numbers = [
            (cited_number, text)
            for text in sentences
            for cited_number in _signed(text)
            if stated_number.amount.same(cited_number.amount)
        ]
        agree = (
            (cited_number.sign < 0) == (stated_number.sign < 0)
            or says_negative(statement if cited_number.sign < 0 else text)
            for cited_number, text in same_numbers
        )
        if same_numbers and not any(agree):
            return Difference(stated_number.written, same_numbers[0][0].written)
    return None


def shown_directions(statement: str, sentences: Sequence[str]) -> frozenset[str]:
    """Words for rising or falling that a statement may use of numbers, since their signs or values show the direction.

    "Grain fell by 6.9 %" for the cell "-6.9 %", and "grain fell from 318 to 296".
    """
    rises, falls = DIRECTIONS
    directions = frozenset[str]()
    for first, second in pairwise(read_amounts(normalize_notation(statement)) if _FROM_TO.search(statement) else ()):
        directions |= falls if second.value < first.value else rises
    if any(_MAY_BE_SIGN.search(normalize_notation(text)) for text in sentences):
        signs = [
            cited_number.sign
            for stated_number in _signed(statement)
            for text in sentences
            for cited_number in _signed(text)
            if stated_number.amount.same(cited_number.amount)
        ]
        directions |= (falls if -1 in signs else frozenset()) | (rises if 1 in signs else frozenset())
    return directions


def has_false_direction(statement: str, sentences: Sequence[str]) -> bool:
    """Whether a statement contradicts the direction that its numbers show: "rose from 98 to 95".

    Not where one of these sentences says the same of the same numbers: "growth slowed from 12 % to 8 %".
    """
    span = _span_against_direction(statement)
    return span is not None and span not in map(_span_against_direction, sentences)


def _span_against_direction(sentence: str) -> tuple[Decimal, Decimal] | None:
    """The numbers "from" and "to" which a sentence says something changes, if a word before them says the reverse."""
    text = normalize_notation(sentence)
    span = _FROM_TO.search(text)
    if span is None or _MAY_BE_SIGN.search(text):
        return None
    amounts = [amount for amount in read_amounts(text[span.start() :]) if not (amount.year or amount.ordinal)][:2]
    words_before = frozenset(words(text[: span.start()].rpartition(",")[2], keep_stop_words=True))
    rises, falls = (not side.isdisjoint(words_before) for side in DIRECTIONS)
    if len(amounts) < 2 or amounts[0].unit not in (None, amounts[1].unit) or rises == falls:
        return None
    first, last = amounts[0].value, amounts[1].value
    return (first, last) if first != last and (first < last) != rises else None


class _Signed(NamedTuple):
    amount: Amount
    sign: int
    """-1 behind a minus or in an accountant's brackets, 1 behind a plus, else 0."""

    @property
    def written(self) -> str:
        return f"−{self.amount.text}" if self.sign < 0 else self.amount.text


@lru_cache(maxsize=1024)  # a text is read again for each sentence that cites it
def _signed(text: str) -> tuple[_Signed, ...]:
    """The amounts of a text with their signs, without years and numbers written in words."""
    signed = _BRACKETED.sub(lambda match: f"-{match[0].translate(_NO_BRACKETS)}", normalize_notation(text))
    amounts = read_amounts(signed) if has_digit(signed) else ()
    written = (amount for amount in amounts if not (amount.in_words or amount.year))
    return tuple(_Signed(amount, _sign(signed, amount)) for amount in written)


def _sign(text: str, amount: Amount) -> int:
    """The sign that an amount has at all its places; 0 if it has none or they differ."""
    signs = map(_SIGNED.search, _places(text, amount.text))
    values = {0 if sign is None else -1 if "-" in sign[0] else 1 for sign in signs}
    return values.pop() if len(values) == 1 else 0


def _places(text: str, written: str) -> Iterator[str]:
    """Yield the text before each place at which a number is written."""
    at = text.find(written)
    while at >= 0:
        if not text[at - 1 : at].isdigit():
            yield text[max(0, at - MAX_BOUND) : at]
        at = text.find(written, at + 1)


def find_other_percent(statement: str, texts: Sequence[str]) -> Difference | None:
    """Return a number in per cent that all texts with it have in percentage points, or the reverse."""
    stated_numbers = list(_PERCENT.finditer(in_digits(statement)))
    cited_numbers = [match for text in texts for match in _PERCENT.finditer(in_digits(text))] if stated_numbers else []
    for stated in stated_numbers:
        same_numbers = [match for match in cited_numbers if match["number"] == stated["number"]]
        if same_numbers and all((match["points"] is None) != (stated["points"] is None) for match in same_numbers):
            return Difference(stated[0], same_numbers[0][0])
    return None


def find_other_version(statement: str, texts: Sequence[str]) -> Difference | None:
    """Return a version such as "Version 2.10" that texts have with other zeros at its end: "Version 2.1".

    Both must stand behind the same word; a number with a unit is no version.
    """
    for version in _VERSION.finditer(statement):
        label, number = version["label"].casefold(), version["number"]
        if label in STOP_WORDS or number.count(".") != 1 or find_unit(version["behind"]) is not None:
            continue
        matches = (match for text in texts for match in _VERSION.finditer(text) if match["number"].count(".") == 1)
        same_label = (match for match in matches if match["label"].casefold() == label)
        alike = [match for match in same_label if float(match["number"]) == float(number)]
        if alike and not any(match["number"] == number for match in alike):
            return Difference(version[0], alike[0][0])
    return None
