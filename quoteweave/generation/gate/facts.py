"""Extract the facts of a text that can be checked: numbers, dates, times of day, codes such as `H7-3`, quotations.

References to the document's own parts (`Figure 2`, `page 3`) are left out of sentences and quotes alike: the number of
a figure states no fact, and must not be mistaken for a number that does.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache, partial
from typing import NamedTuple

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import RAISED, SUPERSCRIPT, has_digit, normalize_text, words
from quoteweave.core.text.units import find_unit
from quoteweave.generation.gate.amounts import BASE_MARK, Amount, read_amounts
from quoteweave.generation.gate.dates import Date, extract_dates, extract_times

_GROUP_BLANK = lazy_regex(r"(?<=\d)[\u00a0\u2007\u2009\u202f'’](?=\d{3}(?!\d))")
_DIGIT = lazy_regex(r"[^\D0-9]")
"""A digit of a script other than ASCII."""
_FRACTION = lazy_regex(r"(?:(?P<whole>\d) ?)?(?P<sign>[¼-¾⅐-⅞])(?P<share>(?= of (?:the|all)\b))?")
# Without a unit it may be anything: "Stage 1/2", "on 5/8".
_OVER = lazy_regex(r"(?<![\w./:,-])(?:(?P<whole>\d+) )?(?P<over>[1-9])/(?P<under>[2-9])(?= (?P<unit>[A-Za-z]+)\b)")
_PER_SECOND = lazy_regex(r"\b(?P<prefix>[kKMG])(?:(?P<bits>[bB]it|b)|B)/s\b")
_NO_ZERO = lazy_regex(r"(?<![\w.,)\]])(?<!\. )\.(?=\d)")
"""The point of ".05", but not the last of the dots before a page number in a table of contents."""
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        "٫": ".",
        "٬": ",",
        "٪": "%",
    }
)
MAX_EXPONENT = 30
"""Powers with a larger exponent are not calculated: base and exponent are compared separately."""
_MAY_BE_POWER = lazy_regex(rf"\d(?:[⁻⁺{RAISED}]|\s?\^|\s?\*\*|[eE][-+\d])")
_POWER = lazy_regex(
    r"(?<![\w.,^])(?:(?:(?P<mantissa>\d{1,20}(?:[.,]\d{1,20})?)\s?[×x*·⋅]\s?)?\$?(?P<base>\d{1,2})"
    rf"(?:(?P<raised>[⁻⁺]?[{RAISED}]{{1,3}})|\s?(?:\^|\*\*)\s?[{{(]?(?P<written>[-−+]?\d{{1,3}})[)}}]?)\$?"
    r"|(?P<e_mantissa>\d{1,20}(?:\.\d{1,20})?)[eE](?P<e>[-+]?\d{1,3}))(?![\w⁻⁺])"
)
_QUOTED = lazy_regex(
    r"“([^“”\n]{2,400})”|«([^«»\n]{2,400})»|„([^„“”\n]{2,400})[“”]|(?<![^\s(\[])\"([^\"\n]{2,400})\"(?!\w)"
    r"|(?<!\w)‘([^‘’\n]{2,400})’(?!\w)"
)
_OMISSION = lazy_regex(r"\[?(?:…|\.{3})\]?")
_LABEL_NUMBER = r"\(?(?:[A-Z]\.?)?\d+(?:\.\d+)*[a-z]?\b"
_LABEL_RANGE = (
    rf"{_LABEL_NUMBER}(?: ?(?:to|through|-) ?{_LABEL_NUMBER})?(?! ?%|[.,]\d| (?:per|thousand|million|billion)\b)"
)
# A list ends with "and" or the like; a comma alone does not continue it: "On pages 3 and 4, 120 ships are named."
_LABEL_LIST = rf"{_LABEL_RANGE}(?:(?:, {_LABEL_RANGE})*,? (?:and|or|&) {_LABEL_RANGE})?"
_LABEL = lazy_regex(
    rf"\b(?:(?:figures|figs|tables|tabs|pages|pp|equations|eqs|slides|footnotes|notes|images|quotes)\.? {_LABEL_LIST}"
    r"|(?:fig(?:ure)?s?|tab(?:le)?s?|chart|section|sect|chapter|appendix|pages?|pp|p|eq(?:uation)?|slide|footnote|note"
    rf"|image|quote)\.? ?{_LABEL_NUMBER}(?: of \d+)?)",
    re.IGNORECASE,
)
_CODE = lazy_regex(
    r"(?<![\w.-])(?!(?:EUR|USD|GBP|CHF|JPY)\d|(?:Mid|Pre|Post|Non|Sub|Early|Late)-)"
    r"[A-Z][A-Za-z]{0,9}-?\d+(?:[-./]\d+)*[A-Za-z]?(?!\w)|(?<![\w.])\d+(?:\.\d+){2,}(?![\w]|,\d)|(?<![\w.,])\d+[DG](?!\w)"
)
_YEARS = lazy_regex(r"(?<![\d.,])(?P<first>(?P<century>1[5-9]|2[01])\d\d)[-/](?P<last>\d\d)(?![\d/.-]|,\d)")


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a text that can be checked."""

    amounts: tuple[Amount, ...] = ()
    dates: tuple[Date, ...] = ()
    clocks: tuple[tuple[str, int], ...] = ()
    """Times of day: as written, and in minutes after midnight."""
    codes: tuple[str, ...] = ()
    quoted: tuple[str, ...] = ()
    """Quotations, split where the sentence omits words."""


class Difference(NamedTuple):
    """A number, name or phrase as a sentence has it, and what its evidence has in its place."""

    stated: str
    cited: str


def normalize_notation(text: str, *, may_be_note: bool = False) -> str:
    """Normalise `text`: compatibility forms (NFKC), one kind of dash and space, fractions and powers as decimals.

    Superscripts behind longer numbers and behind words are footnotes, and left out. Behind a number of one or two
    digits they are exponents ("3 × 10⁻⁵", "2¹⁰", like "10^-5"). In a document, such an exponent without a sign may
    also be a footnote (`may_be_note`); then both the number and its power are kept.
    """
    text = _NO_ZERO.sub("0.", text)
    if _MAY_BE_POWER.search(text):
        text = _POWER.sub(partial(_power, may_be_note=may_be_note), text)
    text = _PER_SECOND.sub(
        lambda match: f"{match['prefix']}{'b' if match['bits'] else 'B'}ps", _OVER.sub(_divided, text)
    )
    if text.isascii():
        return _GROUP_BLANK.sub("", text).replace("\t", " ")
    text = _FRACTION.sub(_decimal, text)
    text = SUPERSCRIPT.sub("", _GROUP_BLANK.sub("", text).translate(_SIGNS))
    return _DIGIT.sub(lambda digit: str(int(digit[0])), unicodedata.normalize("NFKC", text).replace("\t", " "))


def _decimal(match: re.Match[str]) -> str:
    value = unicodedata.numeric(match["sign"])
    if match["share"] is not None and match["whole"] is None:  # as "a third of the grain" is read
        return f"{100 * value:.2f}%"
    return _in_decimals(match["whole"], value)


def _divided(match: re.Match[str]) -> str:
    value = int(match["over"]) / int(match["under"])
    if value >= 1 or find_unit(match["unit"]) is None:
        return match[0]
    return _in_decimals(match["whole"], value)


def _in_decimals(integer: str | None, fraction: float) -> str:
    """A whole number, if there is one, and a fraction below 1: "1.333"."""
    return (integer or "0") + f"{fraction:.3f}".strip("0")


def _power(match: re.Match[str], *, may_be_note: bool) -> str:
    base, raised = Decimal(match["base"] or 10), match["raised"]
    # NFKC turns "⁻⁵" into "−5".
    exponent = int(unicodedata.normalize("NFKC", raised or match["written"] or match["e"]).replace("−", "-"))
    if abs(exponent) > MAX_EXPONENT or (base == 0 and exponent < 0):
        return match[0] if raised is None else f"{match['base']}^{exponent}"
    value = Decimal((match["mantissa"] or match["e_mantissa"] or "1").replace(",", ".")) * base**exponent
    is_unsure = may_be_note and raised is not None and raised[0] not in "⁻⁺" and match["mantissa"] is None
    return f"{value:f} ({BASE_MARK}{base})" if is_unsure else f"{value:f}"


@lru_cache(maxsize=64)  # the question is needed for each sentence of its answer
def read_sentence(text: str) -> Facts:
    """Extract the facts of a sentence, keeping quotations apart from the rest."""
    quoted = [next(filter(None, match.groups())) for match in _QUOTED.finditer(text)]
    pieces = (piece.strip(" .,;:!?") for quotation in quoted for piece in _OMISSION.split(quotation))
    unquoted = _facts(normalize_notation(_QUOTED.sub(" ", text)))
    return Facts(
        unquoted.amounts, unquoted.dates, unquoted.clocks, unquoted.codes, tuple(piece for piece in pieces if piece)
    )


@lru_cache(maxsize=1024)  # a quote is needed for each sentence that cites it, or another quote of its document
def read_evidence(text: str) -> Facts:
    """Extract the facts of a quote; if OCR may have misread it, those of the text as it is and as repaired."""
    text = normalize_notation(text, may_be_note=True)
    repaired = repair(text)
    facts = _facts(text)
    if repaired == text:
        return facts
    more = _facts(repaired)
    return Facts(
        facts.amounts + more.amounts, facts.dates + more.dates, facts.clocks + more.clocks, facts.codes + more.codes
    )


def stated_words(sentence: str, amounts: Sequence[Amount]) -> frozenset[str]:
    """The words of a sentence, stemmed, and those of each of these amounts that it states, even in another form.

    >>> claimed = read_sentence("Errors fell by two fifths.").amounts
    >>> sorted(stated_words("Errors fell by 38.7 percent.", claimed))
    ['38.7', 'error', 'fell', 'fifth', 'percent', 'two']
    """
    sentence_amounts = read_sentence(sentence).amounts if amounts else ()
    stated = (amount.text for amount in amounts if any(map(amount.may_be, sentence_amounts)))
    return frozenset(words(sentence)).union(*map(words, stated))


def repair(text: str) -> str:
    """Repair numbers that OCR misread: O, l and I become 0 and 1, and blanks within numbers are removed."""
    text = re.sub(r"(?<=\d)([.,]) (?=\d)", r"\1", text)
    return re.sub(r"(?<![\w.,])[\dOolI][\dOolI.,]*(?!\w)", _as_digits, text)


def _as_digits(match: re.Match[str]) -> str:
    token = match[0]
    # `5l` is five litres.
    if not has_digit(token) or re.fullmatch(r"\d+l[.,]*", token):
        return token
    return token.translate(str.maketrans("OolI", "0011"))


def _facts(text: str) -> Facts:
    text = _LABEL.sub(" ", _YEARS.sub(r"\g<first>-\g<century>\g<last>", text))
    dates, text = extract_dates(text)
    clocks, text = extract_times(text)
    codes = tuple(match[0] for match in _CODE.finditer(text))
    amounts = read_amounts(_CODE.sub(" ", text))
    return Facts(tuple(amounts), tuple(dates), tuple(clocks.items()), codes)


def squeezed(text: str) -> str:
    """The letters and digits of `text`, folded, with characters that OCR confuses made equal."""
    return "".join(filter(str.isalnum, normalize_text(text))).translate(str.maketrans("oil", "011"))


def code_key(code: str) -> str:
    """The code in lower case without dashes, for comparison."""
    return re.sub(r"[-\s]", "", code).casefold()


def code_letters(code: str) -> str:
    """The letters at the beginning of a code."""
    return re.split(r"\d", code_key(code))[0]
