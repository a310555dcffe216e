"""Numbers with what they count, however they are written, in figures or in English words.

`1,204`, `1204`, `1 204`, `1'204` and `1.204,0` are one number, and so are `$5 million`, `$5m` and `5,000,000 dollars`,
`12,4 %` and `12.4 per cent`, `41` and `forty-one`. A comma is a decimal comma where it cannot separate thousands. Signs
are ignored: a fall of 6.9 % and -6.9 % are the same.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import words
from quoteweave.core.text.units import (
    CURRENCIES,
    SCALE_LETTERS,
    SCALES,
    STATED_SCALE_WORDS,
    STATED_SCALES,
    Unit,
    find_unit,
)

_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_VALUES = {word: value for value, word in enumerate(f"{_ONES} seventeen eighteen nineteen".split())}
_TENS_WRITTEN = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: 10 * n for n, word in enumerate(_TENS_WRITTEN.split(), 2)}
_LARGE = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
ORDINALS = {word: value for value, word in enumerate(_ORDINALS.split(), 1)}

_SMALL = rf"(?:(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(list(_VALUES)[1:10])}))?|{'|'.join(reversed(_VALUES))})"
_HUNDREDS = rf"(?:(?:a|{_SMALL}) hundred(?: and {_SMALL})?|{_SMALL})"
NUMBER_WORDS = rf"(?:(?:{_HUNDREDS}|a) (?:{'|'.join(_LARGE)})(?: (?:and )?{_HUNDREDS})?|{_HUNDREDS})"
"""Pattern for one integer in words, in lower case, with single spaces between words."""


def value_of(written: str) -> int:
    """The value of a match of `NUMBER_WORDS`."""
    total = current = 0
    for word in re.split("[- ]", written):
        if word == "hundred":
            current = (current or 1) * 100
        elif word in _LARGE:
            total += (current or 1) * _LARGE[word]
            current = 0
        else:
            current += _VALUES.get(word, _TENS.get(word, 0))
    return total + current


BASE_MARK = "\ue000"
"""Stands before a number that may be no number but the base of the power before it: "10" beside "10⁶"."""

_DIGITS = r"""
    (?P<grouped> [1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)? | [1-9]\d?(?:,\d{2})+,\d{3} )(?!\d|,\d)
  | (?P<dotted> \d{1,3}(?:\.\d{3})+,\d+ | \d{1,3}(?:\.\d{3}){2,} )(?!\d|[.,]\d)
  | (?P<spaced> [1-9]\d{0,2}(?:\ \d{3})+(?:[.,]\d{1,2})? )(?!\d|[.,]\d)
  | (?P<comma> (?<!\d,)\d+,\d+ )(?!\d|[.,]\d)
  | (?P<plain> \d+(?:\.\d+)? )(?!\d|\.\d)
"""
_AMOUNT = lazy_regex(
    rf"""
    (?P<before> (?<![A-Za-z])(?:EUR|USD|GBP|CHF|JPY|US\$)|[$€£¥] )?(?:\ ?)
    (?<![A-Za-z_\d]) (?:{_DIGITS})
    (?P<ordinal> (?:st|nd|rd|th)\b )?
    (?: [- ]?(?P<scale> {"|".join(SCALES)} )\b\.? | \ ?(?P<letter> [kKmMbB] )(?![\w²³]) )?
    (?: [- ]?(?P<power> square|cubic|sq\.? )(?=\ ))?
    (?: [- ]?(?P<after>
        per\ cent | percentage\ points? | US\$ | °[CF] | [%‰] | [$€£¥](?!\ ?\d) | [A-Za-zμΩ]+[23]?
    )(?!\w) )?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PARTS = "third quarter fifth sixth seventh eighth ninth tenth eleventh twelfth"
_DENOMINATORS = {
    **{part: value for value, part in enumerate(_PARTS.split(), 3)},
    **{"fifteenth": 15, "twentieth": 20, "hundredth": 100},
}
_FRACTION_STEP, _STEP_OF_SMALL = Decimal(10), Decimal("0.4")
"""The width in percentage points of what a fraction in words may stand for, or, for a small fraction, as a share of
it: two fifths may be 35 to 45 %, a twentieth 4 to 6 %."""
# "A third" may also be an ordinal, the one after the second, and "a quarter of an hour" is a unit of time, no share.
_ONE_PART = lazy_regex(
    r"\b(?P<changed>(?:by|to) (?:(?:about|around|roughly|nearly|almost|some|over|under|more than|less than) )?)?"
    rf"(?P<written>(?:an?|one) (?P<part>{'|'.join(_DENOMINATORS)}))\b(?:(?P<whole> of\b(?! an?\b))"
    r"|(?=[^\w\s]|\s*$| (?:in|on|at|to|from|for|since|between|over|after|during|within|when|while|where|as|and|or|but"
    r"|because|with|compared)\b))"
)
_BRACKETED_SCALE = lazy_regex(r"\((?:in )?([MBKk]|[mb]n)\)")
# In lower case.
_STATED_SCALE = lazy_regex(
    rf"(?<![\w-])({STATED_SCALE_WORDS})s?\b"
    r"|(?<=[$€£])(m|[mb]n)\b|(?:^in|\b[a-z]{3}) ([mb]n)\b|(?:[$€£] ?|\bin )['’]?(000)\b|\b([tk](?:eur\b|€))",
    re.MULTILINE,
)
_STATED = {**STATED_SCALES, "m": 6, "000": 3, "teur": 3, "keur": 3, "t€": 3, "k€": 3}
_YEAR = lazy_regex(r"(?:1[5-9]|20|21)\d\d")
# Seasons, and the months of languages that do not capitalise them.
_MONTHS = (
    "spring|summer|autumn|winter|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo"
    "|junio|julio|agosto|septiembre|octubre|noviembre|diciembre"
)
_BEFORE_YEAR = lazy_regex(
    r"(?:^|[(|\n,/-]|\b(?:[Ii]n|[Oo]f|[Bb]y|[Ss]ince|[Ff]rom|[Uu]ntil|till|to|and|or|[Dd]uring|[Ff]or|[Bb]efore|[Aa]fter"
    rf"|[Ee]n|[Dd]epuis|[Ss]eit|[Dd]esde|Jahre?|années?|años?|{_MONTHS}|years?|early|mid|late|[A-Z]\w*"
    rf"|{_YEAR.pattern})) ?$"
)
_WORDS = lazy_regex(rf"(?<![\w-])(?P<words>{NUMBER_WORDS})(?![\w]|-[a-z]*teen)(?:[- ](?P<after>per cent|[a-z]+))?")
_ORDINAL_WORDS = lazy_regex(rf"\b(?:{'|'.join(ORDINALS)})\b")


@dataclass(frozen=True, slots=True)
class Amount:
    """A number found in a text."""

    text: str
    value: Decimal
    """The value in its unit, with scale words such as `million` applied."""
    step: Decimal
    """The value of one unit in the last digit written: 0.1 for `6.9`."""
    unit: Unit | None = None
    parts: tuple[Decimal, ...] = ()
    """The separate numbers that it may be, if its blanks do not group thousands (`1 204` may be 1 and 204)."""
    ordinal: bool = False
    in_words: bool = False
    fraction: bool = False
    """Whether it was written as a fraction, such as `two fifths`; the value is in per cent."""
    nouns: tuple[str, ...] = ()
    """The two words after it, stemmed; they may be what it counts."""
    may_be_base: bool = False
    """Whether `BASE_MARK` stands before it, so that nothing is calculated from it."""
    year: bool = False
    """Whether it looks like a year: four digits after `in`, `since` or the like, a capital, or opening a cell."""

    @property
    def is_money(self) -> bool:
        """Whether its unit is a currency."""
        return self.unit is not None and self.unit.dimension in CURRENCIES

    @property
    def is_percentage(self) -> bool:
        """Whether its unit is per cent."""
        return self.unit is not None and self.unit.dimension == "percent"

    def same(self, other: "Amount", scale: Decimal = Decimal(1)) -> bool:
        """Whether the other number, times `scale`, equals this one; units are converted where both have one."""
        if self.unit is None or other.unit is None:
            return self.value == other.value * scale
        alike = self.unit.dimension == other.unit.dimension
        return alike and self.value * self.unit.factor == other.value * other.unit.factor * scale

    def may_be(self, stated: "Amount") -> bool:
        """Whether the other is this number, or one that this fraction in words is rounded from."""
        if not self.fraction or self.unit != stated.unit:
            return self.same(stated)
        return abs(self.value - stated.value) <= self.step / 2


def read_amounts(text: str) -> list[Amount]:
    """Find the numbers in `text`, in digits and then in words; `facts.normalize_notation` must have normalised it."""
    amounts = [_amount(match) for match in _AMOUNT.finditer(text) if not _in_word(match)]
    folded = text.casefold()
    for match in _WORDS.finditer(folded):
        unit = find_unit("percent" if match["after"] == "per cent" else match["after"] or "")
        after = match.string[match.end("words") : match.end() + 40]
        value = Decimal(value_of(match["words"]))
        if not _is_fraction(match, value):
            amounts.append(Amount(match["words"], value, Decimal(1), unit, in_words=True, nouns=_nouns(after)))
        else:
            amounts.append(_fraction(match[0], value, match["after"].removesuffix("s")))
    # "A quarter of" may also be part of a year or of a town.
    matches = _ONE_PART.finditer(folded)
    parts = (match for match in matches if match["changed"] or (match["whole"] and match["part"] != "quarter"))
    return [*amounts, *(_fraction(match["written"], Decimal(1), match["part"]) for match in parts)]


def _is_fraction(match: re.Match[str], value: Decimal) -> bool:
    """Whether a number is followed by parts, as in `two fifths`, but not in `two quarters ago`."""
    part = match["after"] or ""
    denominator = _DENOMINATORS.get(part.removesuffix("s"), 0) if part.endswith("s") else 0
    return 1 < value < denominator and (part != "quarters" or match.string.startswith(" of ", match.end()))


def _fraction(written: str, value: Decimal, part: str) -> Amount:
    """The amount of a fraction, that many of these parts, in per cent."""
    share = (100 * value / _DENOMINATORS[part]).quantize(Decimal("0.01"))
    step = min(_FRACTION_STEP, share * _STEP_OF_SMALL)
    return Amount(written, share, step, find_unit("percent"), in_words=True, fraction=True)


def ordinal_words(text: str) -> set[int]:
    """Find ordinal numbers in words: 1 for `first`, 2 for `second`, and so on up to 12."""
    return {ORDINALS[match[0]] for match in _ORDINAL_WORDS.finditer(text.casefold())}


def stated_scales(text: str) -> Iterator[Decimal]:
    """Find scales that a table states for all its numbers: `in thousand tonnes`, `in Mio. EUR`, `Users (M)`."""
    for match in _BRACKETED_SCALE.finditer(text):  # "(m)" stands for metres
        yield Decimal(10) ** {**SCALES, **SCALE_LETTERS}[match[1].casefold()]
    for match in _STATED_SCALE.finditer(text.casefold()):
        before = match.string[max(match.start() - 12, 0) : match.start()].rstrip(" -")
        if not before[-1:].isdigit() and not re.search(rf"\b{NUMBER_WORDS}$", before):
            yield Decimal(10) ** _STATED[next(filter(None, match.groups()))]


def _amount(match: re.Match[str]) -> Amount:
    digits, decimals = _digits(match)
    unit, exponent, end = _unit_and_scale(match)
    scale = Decimal(10) ** exponent
    parts = tuple(Decimal(part.replace(",", ".")) for part in match["spaced"].split()) if match["spaced"] else ()
    alone = unit is None and not exponent and not match["ordinal"]
    following = match.start("after") if match["after"] else match.end()
    return Amount(
        text=match.string[match.start() : end].strip(),
        value=Decimal(digits) * scale,
        step=scale / Decimal(10) ** decimals,
        unit=unit,
        parts=parts,
        ordinal=bool(match["ordinal"]),
        nouns=_nouns(match.string[following : following + 40]),
        may_be_base=match.string[match.start() - 1 : match.start()] == BASE_MARK,
        year=alone and _is_year(match),
    )


def _is_year(match: re.Match[str]) -> bool:
    start = match.start("plain")
    before = match.string[max(start - 20, 0) : start]
    return _YEAR.fullmatch(match["plain"] or "") is not None and _BEFORE_YEAR.search(before) is not None


def _unit_and_scale(match: re.Match[str]) -> tuple[Unit | None, int, int]:
    """The unit, the power of ten of the scale, and the end of the number with both."""
    unit = find_unit(match["before"].upper()) if match["before"] else None
    end = max(_digits_end(match), match.end("ordinal"), match.end("scale"))
    if letter := match["letter"]:
        # `5 m` is five metres, but `$5m` is five millions.
        if letter == "k" or (unit is not None and unit.dimension in CURRENCIES):
            return unit, SCALE_LETTERS[letter.casefold()], match.end("letter")
        unit = unit or find_unit(letter)
        return unit, 0, match.end("letter") if unit else end
    exponent = SCALES.get((match["scale"] or "").casefold(), 0)
    after = None if match["after"] == "s" and match["plain"] else _unit_after(match)
    return unit or after, exponent, match.end("after") if after else end


def _in_word(match: re.Match[str]) -> bool:
    """Whether letters that are no unit follow the digits without a space, as in `2O23`."""
    if match["ordinal"] or match["scale"] or match["letter"]:
        return False
    after = match["after"] or ""
    glued = match.string[_digits_end(match) : _digits_end(match) + 1].isalpha()
    return glued and after not in ("s", "x") and find_unit(after) is None


def _digits_end(match: re.Match[str]) -> int:
    return max(map(match.end, ("grouped", "dotted", "spaced", "comma", "plain")))


def _digits(match: re.Match[str]) -> tuple[str, int]:
    """The number in Python's notation, and how many decimals it has."""
    if match["dotted"]:
        digits = match["dotted"].replace(".", "").replace(",", ".")
    elif match["comma"]:
        integer, _, fraction = match["comma"].partition(",")
        digits = f"{integer}.{fraction}"
    else:
        digits = (match["grouped"] or match["plain"] or "").replace(",", "")
        digits = digits or match["spaced"].replace(" ", "").replace(",", ".")
    return digits, len(digits.partition(".")[2])


def _unit_after(match: re.Match[str]) -> Unit | None:
    name = match["after"] or ""
    lower = name.casefold()
    if lower == "per cent" or lower.startswith("percentage point"):
        return find_unit("percent")
    power = {"c": 3, "s": 2}.get((match["power"] or "")[:1].casefold(), 1)
    return find_unit(name, power=power)


def _nouns(after: str) -> tuple[str, ...]:
    clause = re.split(r"[.,;:|()\n]", after)[0]
    return tuple(word for word in words(clause)[:2] if not word[0].isdigit())
