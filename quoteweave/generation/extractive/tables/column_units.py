"""The units of a column, and of the limit that a question sets for its numbers."""

import re

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import QuestionAnalysis
from quoteweave.core.text.tokens import words
from quoteweave.core.text.units import Unit
from quoteweave.generation.extractive.tables.asked_names import UNIT
from quoteweave.generation.gate.amounts import read_amounts
from quoteweave.generation.gate.facts import normalize_notation

_PERCENT = lazy_regex(r"%|\bper\s?cent\b|\bprozent\b", re.IGNORECASE)
# Columns in more than one simple unit: "Price per kg", "Price (€/kg)", "Price (EUR bn)".
_OF_MORE = lazy_regex(r"(?i)/|\b(?:per|je|pro|par|por)\b|\([^()]*\s[^()]*\)\s*$")
_DIGITS = lazy_regex(r"[\d.,]+")


def limit_with_unit(analysis: QuestionAnalysis) -> str:
    """The number above or below which something is asked for, with its unit: "60 euros"."""
    number = analysis.threshold.number if analysis.threshold else ""
    match = re.search(rf"{re.escape(number)}\s?[^\W\d_]{{1,12}}", analysis.text)
    text = normalize_notation(match[0]) if match else ""
    amounts = read_amounts(text)
    is_whole = len(amounts) == 1 and amounts[0].unit is not None and amounts[0].text == text  # not "£90 for"
    return match[0] if match and is_whole else number


def is_unit_of_heading(number: str, heading: str) -> bool:
    """Whether a heading ends in the unit of a number, as written or as another form of it."""
    unit_words = words(_DIGITS.sub(" ", number))
    if _PERCENT.search(number) and _PERCENT.search(heading):
        return True
    if unit_words and not _OF_MORE.search(heading) and unit_words == words(heading)[-len(unit_words) :]:
        return True
    (amount,) = read_amounts(normalize_notation(number))
    return amount.unit is not None and amount.unit == _unit_of(heading)


def _unit_of(heading: str) -> Unit | None:
    """The unit that stands alone in brackets at the end of a column's name, "Price (€)"; None for "(€ bn)"."""
    named = UNIT.search(heading)
    text = normalize_notation(f"1 {named[0].strip(' ()')}") if named else ""
    amounts = read_amounts(text)
    return amounts[0].unit if len(amounts) == 1 and amounts[0].text == text else None
