"""Find an amount that a sentence gives for another year than its evidence does.

"Net sales in 2021 were 988" has a number and a year of "Net sales were 1,204 in 2021 and 988 in 2020", but pairs them
wrongly. Amounts and years are paired, in English, only where it is clear which belong together: an amount right before
its year, a year before the verb and its amount, and lists that end with "respectively".
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.generation.gate.amounts import Amount, read_amounts
from quoteweave.generation.gate.facts import normalize_notation

MAX_CHARACTERS = 3000
"""Longer sentences are not searched for amounts of years."""

_YEAR = r"(?:19|20)\d\d(?![\d%]|[.,]\d)"
_ANY_YEAR = lazy_regex(_YEAR)
_NUMBER = r"[$€£¥]?\s?\d+(?:[.,]\d+)*"
# What follows one of these words is about another amount, or another year.
_APART = r"(?:and|or|but|while|whereas|than|compared|versus|against|from|to|until|through|by|as|after|before|since)\b"
_COUNTED = rf"(?:\s?%|(?:\s+(?!{_APART}|in\b|for\b|during\b)[^\W\d]+){{1,3}})?"
_IN = r"(?:in|for|during)\s+(?:(?:the\s+)?(?:fiscal|financial|calendar)?\s*years?\s+|fiscal\s+)?"
_NO_OTHER_YEAR = rf"(?!\s*(?:,|and|or|to|through|until|[-–/])\s*(?:in\s+)?{_YEAR})"
_AMOUNT_FIRST = lazy_regex(rf"(?P<amount>{_NUMBER}{_COUNTED})\s+{_IN}(?P<year>{_YEAR}){_NO_OTHER_YEAR}", re.IGNORECASE)
_VERB = r"(?:was|were|is|are|reached|totall?ed|came\s+to|amounted\s+to|stood\s+at|of|to|:)"
_YEAR_FIRST = lazy_regex(
    rf"\b{_IN}(?P<year>{_YEAR}){_NO_OTHER_YEAR}(?:(?!\b{_APART}\s)[^.;\d]){{0,60}}?"
    rf"(?<![^\W\d]){_VERB}\s+(?:(?:only|about|some|around|approximately|nearly|almost)\s+)?(?P<amount>{_NUMBER}{_COUNTED})",
    re.IGNORECASE,
)
_AMOUNTS = rf"{_NUMBER}{_COUNTED}(?:,\s+{_NUMBER}{_COUNTED})*,?\s+and\s+{_NUMBER}{_COUNTED}"
_YEARS = rf"{_YEAR}(?:,\s+{_YEAR})*,?\s+and\s+{_YEAR}"
_RESPECTIVELY = (
    lazy_regex(rf"(?P<amounts>{_AMOUNTS})\s+{_IN}(?P<years>{_YEARS})", re.IGNORECASE),
    lazy_regex(rf"\b{_IN}(?P<years>{_YEARS}),?\s[^.;\d]{{0,60}}?(?P<amounts>{_AMOUNTS})", re.IGNORECASE),
)


class OtherYear(NamedTuple):
    """An amount that a sentence gives for one year and the evidence for another one."""

    amount: str
    year: str
    """The year for which the evidence has the amount."""
    said_year: str
    instead: str
    """The amount that the evidence has for `said_year`."""


class _OfYear(NamedTuple):
    amount: Amount
    year: str


def find_other_year(statement: str, sentences: Sequence[str]) -> OtherYear | None:
    """Return an amount that a statement gives for a year, but its evidence only for other years.

    Each sentence of the evidence that has this amount must give another one for that year.
    """
    pairs = [pair for pair in _pairs(statement) if any(_has_two_years(text, pair.year) for text in sentences)]
    amounts_of_sentences = [(text, read_amounts(normalize_notation(text))) for text in sentences] if pairs else []
    for amount, year in pairs:
        sentences_with_amount = [
            text for text, amounts in amounts_of_sentences if any(amount.same(other) for other in amounts)
        ]
        other_years = [_other_year(amount, year, _pairs(text)) for text in sentences_with_amount]
        if other_years and other_years[0] is not None and all(other_years):
            return other_years[0]
    return None


def _has_two_years(text: str, year: str) -> bool:
    """Whether a text has this year and another one."""
    years = set(_ANY_YEAR.findall(text))
    return year in years and len(years) > 1


def _other_year(amount: Amount, year: str, pairs: Sequence[_OfYear]) -> OtherYear | None:
    """The amount that a sentence has for a year, if it has the given amount for other years only."""
    years = [pair.year for pair in pairs if amount.same(pair.amount)]
    instead = [pair.amount for pair in pairs if pair.year == year]
    if not years or not instead or year in years:
        return None
    return OtherYear(amount.text, years[0], year, instead[0].text)


def _pairs(text: str) -> list[_OfYear]:
    if len(text) > MAX_CHARACTERS:
        return []
    text = normalize_notation(text)
    if "respectively" in text:
        return _in_lists(text)
    pairs, used_spans = list[_OfYear](), list[tuple[int, int]]()
    for pattern in (_AMOUNT_FIRST, _YEAR_FIRST):
        for match in pattern.finditer(text):
            spans = [match.span("amount"), match.span("year")]
            if not any(start < end_of and begin < end for start, end in spans for begin, end_of in used_spans):
                used_spans += spans
                pairs += [_OfYear(amount, match["year"]) for amount in read_amounts(match["amount"])[:1]]
    return pairs


def _in_lists(text: str) -> list[_OfYear]:
    for pattern in _RESPECTIVELY:
        if match := pattern.search(text):
            years = re.findall(_YEAR, match["years"])
            amounts = read_amounts(match["amounts"])
            if len(years) == len(amounts):
                return [_OfYear(*pair) for pair in zip(amounts, years, strict=True)]
    return []
