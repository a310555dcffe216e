"""Writes numbers that are words as digits: "page twenty one" becomes "page 21", "第二十一页" becomes "第21页".

A number is read whole or not at all: words that together are no number, such as "two million", are joined by "_", so
that none of them is taken for one. Two numbers with a hyphen between them are a range, "fifteen-twenty", and what
follows a small number is another one: "page two ten rows". Numbers up to twelve and ordinals up to the twelfth stay
as they are: they are words of their languages (`reference_words.toml`), read where they stand beside others of it.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

MAX_UNIT = 12
"""Numbers up to it stay words."""
_RUN = re.compile(r"[^\W\d_]+(?:(?:\s+|\s?-\s?)[^\W\d_]+)*")
_WORD = re.compile(r"[^\W\d_]+")
# Words of the longest number: "nine hundred and ninety nine".
_MAX_WORDS = 5
_HAN_DIGITS = "一二三四五六七八九"
HAN_NUMERALS = f"{_HAN_DIGITS}十百千万零〇两"
_HAN_RUN = re.compile(f"[{HAN_NUMERALS}]{{2,}}")
_HAN = re.compile(f"(?:([{_HAN_DIGITS}]?)(百)零?)?(?:([{_HAN_DIGITS}]?)(十))?([{_HAN_DIGITS}]?)")

Language = Mapping[str, Any]


class Numerals:
    """The number words of some languages, as `reference_words.toml` has them."""

    def __init__(self, languages: Iterable[Language]) -> None:
        self._cardinals: dict[str, int] = {}
        self._ordinals: dict[str, int] = {}
        self._hundreds: dict[tuple[str, str], int] = {}
        self._articles, self._durations, larger = set[str](), set[str](), set[str]()
        for language in languages:
            cardinals = _cardinals(language)
            self._cardinals |= cardinals
            self._ordinals |= _ordinals(language, cardinals)
            self._articles.update(language.get("one", ()))
            self._durations.update(language.get("durations", ()))
            larger.update(language.get("larger_numbers", ()))
            starts = [*enumerate(language.get("numbers", ())[:9], 1), *((1, each) for each in language.get("one", ()))]
            hundreds = product(starts, language.get("hundred", ()))
            self._hundreds |= {(word, hundred): 100 * value for (value, word), hundred in hundreds}
        self._starts = {name.split()[0] for name in (*self._cardinals, *self._ordinals)} | self._articles | larger
        self._cardinal_words = {name for name in self._cardinals if " " not in name} | larger
        self._tens = {name for name, value in self._ordinals.items() if value % 10 == 0}

    @property
    def words(self) -> frozenset[str]:
        """The numbers that are one word, in lower case."""
        return frozenset(name for name in self._cardinals if " " not in name)

    def with_digits(self, text: str) -> str:
        """The text with numbers above `MAX_UNIT` as digits, and such ordinals as "21th"."""
        text = text if text.isascii() else _HAN_RUN.sub(lambda run: _han_digits(run[0]), text)
        return _RUN.sub(lambda run: self._run_with_digits(run[0]), text)

    def _run_with_digits(self, run: str) -> str:
        found = list(_WORD.finditer(run))
        words = [match[0].casefold() for match in found]
        hyphened = {i for i in range(1, len(found)) if "-" in run[found[i - 1].end() : found[i].start()]}
        written, done, at = [], 0, 0
        while at < len(found):
            length = self._length(words, at, hyphened)
            if length:
                start, end = found[at].start(), found[at + length - 1].end()
                is_duration = words[at + length - 1] in self._durations and not self._articles.isdisjoint(
                    words[at - 1 : at]
                )
                value = None if is_duration else self._value(words[at : at + length])
                written += [run[done:start], _as_digits(value, run[start:end])]
                done = end
            at += length or 1
        return "".join([*written, run[done:]])

    def _length(self, words: Sequence[str], at: int, hyphened: Collection[int]) -> int:
        """How many words from there on are one number, or look like one; some have a hyphen before them."""
        if words[at] not in self._starts:
            return 0
        length = next(
            (n for n in range(min(_MAX_WORDS, len(words) - at), 0, -1) if self._value(words[at : at + n]) is not None),
            1,
        )
        if length == 1 and words[at] in self._articles:
            return 0
        while at + length < len(words) and self._goes_on(
            words[at + length - 1], words[at + length], hyphened=at + length in hyphened
        ):
            length += 1
        return length

    def _goes_on(self, before: str, word: str, *, hyphened: bool) -> bool:
        """Whether two words belong to one number; "first three", "two ten" and "fifteen-twenty" do not."""
        if word in self._cardinal_words:
            are_two = {before, word} <= self._cardinals.keys() and (hyphened or self._cardinals[before] <= MAX_UNIT)
            return before in self._cardinal_words and not are_two
        return word in self._ordinals and (before in self._tens or self._cardinals.get(before, 0) > MAX_UNIT)

    def _value(self, words: Sequence[str]) -> str | None:
        """The number that these words are, an ordinal with "th"; None where they are none."""
        hundreds = self._hundreds.get((words[0], words[1]), 0) if len(words) > 1 else 0
        rest = words[2:] if hundreds else words
        name = " ".join(rest[1:] if hundreds and rest[:1] == ["and"] else rest)
        if not name:
            return str(hundreds) if hundreds and not rest else None
        if name in self._cardinals:
            return str(hundreds + self._cardinals[name])
        return f"{hundreds + self._ordinals[name]}th" if name in self._ordinals else None


def _as_digits(value: str | None, written: str) -> str:
    """The digits of a number that is several words or above `MAX_UNIT`; what is none as one word."""
    is_one_word = _WORD.fullmatch(written) is not None
    if value is None:
        return re.sub(r"[\s-]+", "_", written)
    return written if is_one_word and int(value.removesuffix("th")) <= MAX_UNIT else value


def _cardinals(language: Language) -> dict[str, int]:
    """The numbers of a language by what they are called, without hyphens."""
    small = _counted(language, "numbers", 1) | _counted(language, "teens", MAX_UNIT + 1)
    tens = _counted(language, "tens", 2)
    found = {ten: 10 * number for ten, number in tens.items()} | small
    for (ten, number), (unit, value), form in product(tens.items(), small.items(), language.get("joined", ())):
        # "Soixante-douze" is 72.
        if value < 10 or 10 * number in language.get("tens_with_teens", ()):
            found[form.format(ten=ten, stem=ten[:-1], unit=unit)] = 10 * number + value
    found.update(language.get("irregular_numbers", {}))
    return found


def _ordinals(language: Language, cardinals: Mapping[str, int]) -> dict[str, int]:
    units = _counted(language, "ordinals", 1) | _counted(language, "masculine", 1)
    found = units | _counted(language, "ordinal_teens", MAX_UNIT + 1)
    for ten, number in _counted(language, "ordinal_tens", 1).items():
        found[ten] = 10 * number
    # "Twenty-first" is made of a number and an ordinal, "vigésima primera" of two ordinals.
    tens = {name: 10 * number for name, number in _counted(language, "tens", 2).items()}
    tens = tens if "joined_ordinals" in language else {name: value for name, value in found.items() if value % 10 == 0}
    for (ten, number), (unit, value) in product(tens.items(), units.items()):
        if value < 10:
            found[f"{ten} {unit}"] = number + value
    found |= language.get("irregular_ordinals", {})
    for name, value in cardinals.items() if "ordinal_endings" in language else ():
        if value > MAX_UNIT:
            stem = name[: -language["ordinal_endings"]["cut"] or None]
            endings = language["ordinal_endings"]["teens" if value < 20 else "tens"]
            found.update({stem + ending: value for ending in endings})
    return found


def _counted(language: Language, key: str, first: int) -> dict[str, int]:
    """The numbers that the words there stand for; a number may have several, such as "dezesseis|dezasseis"."""
    return {
        word: at for at, words in enumerate(language.get(key, ()), first) for word in filter(None, words.split("|"))
    }


def _han_digits(run: str) -> str:
    match = _HAN.fullmatch(run)
    if match is None:
        return run
    hundreds, hundred, tens, ten, unit = match.groups()
    digits = [_HAN_DIGITS.find(each) + 1 if each else 0 for each in (hundreds or "", tens or "", unit)]
    value = 100 * (digits[0] or 1) * bool(hundred) + 10 * (digits[1] or 1) * bool(ten) + digits[2]
    return str(value) if value > 9 else run
