"""Writes numbers in words as digits: "page twenty one" becomes "page 21", "第二十一页" becomes "第21页".

A number is read completely or not at all. Words that together are not a number that is read, such as "two million", are
joined by "_", so that none of them is taken for a number. So are a number and words that make it another one
("one-half", "two point one"), and words of which the last may not belong to the number: "On page twenty one finds", or
the heading "Chapter One Hundred Years". Two numbers with a dash between them are a range, "fifteen-twenty"; a number
after a small number is a separate one: "page two ten rows". Numbers up to twelve and ordinals up to the twelfth stay as
words: they belong to the words of their language (`reference_words.toml`) and are read beside other words of it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

from quoteweave.core.lazy_regex import lazy_regex

_ROMAN = {1000: "m", 900: "cm", 500: "d", 400: "cd", 100: "c", 90: "xc", 50: "l", 40: "xl"}
_ROMAN |= {10: "x", 9: "ix", 5: "v", 4: "iv", 1: "i"}
ROMAN = "(?:xc[vix]*|c[clxvi]{2,}|[ivxl]+)"
"""Matches words of the letters of Roman numerals, except "c", "ci" and the like, which are seldom numerals."""
MAX_UNIT = 12
"""Numbers up to this stay words."""
_RUN = lazy_regex(r"[^\W\d_]+(?:(?:\s+|\s?[-–]\s?)[^\W\d_]+)*")
_WORD = lazy_regex(r"[^\W\d_]+")
# The most words of a number: "nine hundred and ninety nine".
_MAX_WORDS = 5
_HAN_DIGITS = "一二三四五六七八九"
HAN_NUMERALS = f"{_HAN_DIGITS}十百千万零〇两"
_HAN_RUN = lazy_regex(f"[{HAN_NUMERALS}]{{2,}}")
# Other hyphens, full-width digits, and single characters for twenty and thirty are replaced by those that are read.
_AS_READ = str.maketrans("‐‑０１２３４５６７８９", "--0123456789") | str.maketrans({"廿": "二十", "卅": "三十"})
_HAN = lazy_regex(f"(?:([{_HAN_DIGITS}]?)(百)零?)?(?:([{_HAN_DIGITS}]?)(十))?([{_HAN_DIGITS}]?)")

Language = Mapping[str, Any]


class Numerals:
    """The number words of some languages, from `reference_words.toml`."""

    def __init__(self, languages: Iterable[Language]) -> None:
        self._cardinals: dict[str, int] = {}
        self._ordinals: dict[str, int] = {}
        self._hundreds: dict[tuple[str, ...], int] = {}
        self._articles, self._durations, self._larger = set[str](), set[str](), set[str]()
        self._points, self._pronouns, self._said_of_places = set[str](), set[str](), set[str]()
        self._joining = set[str]()
        for language in languages:
            cardinals = _cardinals(language)
            self._cardinals |= cardinals
            ordinals = _ordinals(language, cardinals)
            self._articles.update(language.get("one", ()))
            self._durations.update(language.get("durations", ()))
            self._points.update(language.get("decimal_point", ()))
            self._pronouns.update(language.get("pronouns", ()))
            self._said_of_places.update(language.get("said_of_places", ()))
            self._larger.update(language.get("larger_numbers", ()))
            self._joining.update(language.get("and", ())[:1])
            starts = [*enumerate(language.get("numbers", ())[:9], 1), *((1, word) for word in language.get("one", ()))]
            hundreds = product(starts, language.get("hundred", ()))
            self._hundreds |= {(word, hundred): 100 * value for (value, word), hundred in hundreds}
            self._hundreds |= {(hundred,): 100 for hundred in language.get("hundred", ())}
            hundredth = [name for name, value in ordinals.items() if value == 100]
            ordinals |= {f"{word} {name}": 100 * value for (value, word), name in product(starts, hundredth)}
            self._ordinals |= ordinals
        self._starts = {name.split()[0] for name in (*self._cardinals, *self._ordinals)} | self._articles | self._larger
        # Every number contains one of these; "a" alone is not a number.
        self._needed = (self._starts - self._articles).union(*self._hundreds) - self._articles
        self._cardinal_words = {name for name in self._cardinals if " " not in name} | self._larger
        self._tens = {name for name, value in self._ordinals.items() if value % 10 == 0}

    @property
    def words(self) -> frozenset[str]:
        """The numbers that are single words, in lower case."""
        return frozenset(name for name in self._cardinals if " " not in name)

    def with_digits(self, text: str, *, is_heading: bool = False) -> str:
        """The text with numbers above `MAX_UNIT` as digits, and ordinals above it in the form "21th"."""
        if not text.isascii():
            text = _HAN_RUN.sub(lambda run: _han_digits(run[0]), text.translate(_AS_READ))
        if self._needed.isdisjoint(_WORD.findall(text.casefold())):
            return text
        return _RUN.sub(lambda run: self._run_with_digits(run[0], is_heading=is_heading), text)

    def _run_with_digits(self, text: str, *, is_heading: bool) -> str:
        matches = list(_WORD.finditer(text))
        run = _Run(
            words=[match[0].casefold() for match in matches],
            gaps=["", *(text[before.end() : match.start()] for before, match in pairwise(matches))],
            is_small=[match[0][0].islower() for match in matches],
            is_heading=is_heading,
        )
        pieces, copied_to, at = [], 0, 0
        while at < len(matches):
            length = self._length(run, at)
            if length:
                value = self._value(run.words[at : at + length])
                if value is not None and (more := self._words_that_cast_doubt(run, at, at + length, value)) is not None:
                    value, length = None, length + more
                start, end = matches[at].start(), matches[at + length - 1].end()
                pieces += [text[copied_to:start], _as_digits(value, text[start:end])]
                copied_to = end
            at += length or 1
        return "".join([*pieces, text[copied_to:]])

    def _words_that_cast_doubt(self, run: "_Run", start: int, end: int, value: str) -> int | None:
        """How many words after a number show that it is none, or part of another; None if the number is certain."""
        if run.words[end - 1] in self._durations and start and run.words[start - 1] in self._articles:
            return 0  # "a thirty second video"
        if end == len(run.words) or not value.isdecimal():
            return None
        behind, is_apart = run.words[end], end - start > 1 and not any(map(_is_dash, run.gaps[start + 1 : end]))
        if run.gaps[end] == "-" and run.is_small[end] and behind not in self._cardinal_words:
            return 1  # "one-half"
        if behind in self._points and not self._cardinal_words.isdisjoint(run.words[end + 1 : end + 2]):
            return 2  # "two point one"
        if is_apart and run.is_heading and run.gaps[end].isspace() and "\n" not in run.gaps[end]:
            return 0  # "Chapter Twenty One Pilots"
        finds = is_apart and run.words[end - 1] in self._pronouns and behind[-1] == "s"
        return 0 if finds and behind not in self._said_of_places else None

    def _length(self, run: "_Run", at: int) -> int:
        """How many words from there on are one number, or look like one."""
        words = run.words
        if words[at] not in self._starts:
            return 0
        length = next(
            (n for n in range(min(_MAX_WORDS, len(words) - at), 0, -1) if self._value(words[at : at + n]) is not None),
            1,
        )
        if length == 1 and words[at] in self._articles:
            return 0
        while at + length < len(words):
            end = at + length
            is_joined = words[end] in self._joining and words[end - 1] in self._larger and end + 1 < len(words)
            behind = end + is_joined  # "two thousand and first"
            if not self._goes_on(words[end - 1], words[behind], hyphened=_is_dash(run.gaps[behind])):
                break
            length += 1 + is_joined
        return length

    def _goes_on(self, before: str, word: str, *, hyphened: bool) -> bool:
        """Whether two words belong to one number, unlike "first three", "two ten" and "fifteen-twenty"."""
        if word in self._cardinal_words:
            are_two = {before, word} <= self._cardinals.keys() and (hyphened or self._cardinals[before] <= MAX_UNIT)
            return before in self._cardinal_words and not are_two
        is_large = before in self._tens | self._larger or self._cardinals.get(before, 0) > MAX_UNIT
        return word in self._ordinals and is_large

    def _value(self, words: Sequence[str]) -> str | None:
        """The number that these words are, with "th" for an ordinal; None if they are no number."""
        size = next((n for n in (2, 1) if tuple(words[:n]) in self._hundreds), 0)
        hundreds, remaining = self._hundreds.get(tuple(words[:size]), 0), words[size:]
        name = " ".join(remaining[1:] if hundreds and remaining[:1] == ["and"] else remaining)
        if not name:
            return str(hundreds) if hundreds and not remaining else None
        if name in self._cardinals:
            return str(hundreds + self._cardinals[name])
        return f"{hundreds + self._ordinals[name]}th" if name in self._ordinals else None


@dataclass(frozen=True, slots=True)
class _Run:
    """Words that are separated by nothing but spaces and dashes."""

    words: Sequence[str]
    """The words in lower case."""
    gaps: Sequence[str]
    """The text before each word."""
    is_small: Sequence[bool]
    """Whether each word begins with a small letter."""
    is_heading: bool


def _is_dash(gap: str) -> bool:
    return not gap.isspace()


def _as_digits(value: str | None, written: str) -> str:
    """The digits of a number of several words or above `MAX_UNIT`; if there is no value, the words joined into one."""
    is_one_word = _WORD.fullmatch(written) is not None
    if value is None:
        return re.sub(r"[\s-]+", "_", written)
    return written if is_one_word and int(value.removesuffix("th")) <= MAX_UNIT else value


def _cardinals(language: Language) -> dict[str, int]:
    """The numbers of a language by their names, without hyphens."""
    small = _counted(language, "numbers", 1) | _counted(language, "teens", MAX_UNIT + 1)
    tens = _counted(language, "tens", 2)
    cardinals = {ten: 10 * number for ten, number in tens.items()} | small
    units = small | _counted(language, "feminine_numbers", 1)
    for (ten, number), (unit, value), form in product(tens.items(), units.items(), language.get("joined", ())):
        # For numbers such as "soixante-douze" (72).
        if value < 10 or 10 * number in language.get("tens_with_teens", ()):
            cardinals[form.format(ten=ten, stem=ten[:-1], unit=unit)] = 10 * number + value
    cardinals.update(language.get("irregular_numbers", {}))
    return cardinals


def _ordinals(language: Language, cardinals: Mapping[str, int]) -> dict[str, int]:
    units = _counted(language, "ordinals", 1) | _counted(language, "masculine", 1)
    ordinals = units | _counted(language, "ordinal_teens", MAX_UNIT + 1)
    for ten, number in _counted(language, "ordinal_tens", 1).items():
        ordinals[ten] = 10 * number
    # "Twenty-first" consists of a number and an ordinal, "vigésima primera" of two ordinals.
    tens = {name: 10 * number for name, number in _counted(language, "tens", 2).items()}
    tens = (
        tens if "joined_ordinals" in language else {name: value for name, value in ordinals.items() if value % 10 == 0}
    )
    for (ten, number), (unit, value) in product(tens.items(), units.items()):
        if value < 10:
            ordinals[f"{ten} {unit}"] = number + value
    ordinals |= language.get("irregular_ordinals", {})
    for name, value in cardinals.items() if "ordinal_endings" in language else ():
        if value > MAX_UNIT:
            stem = name[: -language["ordinal_endings"]["cut"] or None]
            endings = language["ordinal_endings"]["teens" if value < 20 else "tens"]
            ordinals.update({stem + ending: value for ending in endings})
    return ordinals


def _counted(language: Language, key: str, first: int) -> dict[str, int]:
    """The numbers of the words under a key; a number may have several words, such as "dezesseis|dezasseis"."""
    return {
        word: at for at, words in enumerate(language.get(key, ()), first) for word in filter(None, words.split("|"))
    }


def _han_digits(run: str) -> str:
    match = _HAN.fullmatch(run)
    if match is None:
        return run
    hundreds, hundred, tens, ten, unit = match.groups()
    digits = [_HAN_DIGITS.find(digit) + 1 if digit else 0 for digit in (hundreds or "", tens or "", unit)]
    value = 100 * (digits[0] or 1) * bool(hundred) + 10 * (digits[1] or 1) * bool(ten) + digits[2]
    return str(value) if value > 9 else run


def roman_numeral(number: int) -> str:
    """Write a number from 1 to 3999 as a Roman numeral in small letters.

    >>> roman_numeral(14)
    'xiv'
    """
    text = ""
    for value, letters in _ROMAN.items():
        count, number = divmod(number, value)
        text += count * letters
    return text


def letters_of_number(number: int) -> str:
    """Write a number as lists are lettered: a, b, … z, aa, ab; "" for 0.

    >>> letters_of_number(1), letters_of_number(28)
    ('a', 'ab')
    """
    text = ""
    while number:
        number, place = divmod(number - 1, 26)
        text = chr(ord("a") + place) + text
    return text
