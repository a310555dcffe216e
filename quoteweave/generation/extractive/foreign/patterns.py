"""Patterns of answers in other languages than English, made of the words of `foreign_answers.toml`."""

import re
from collections.abc import Callable, Mapping
from functools import cache

from quoteweave.core.text.foreign_languages import ForeignLanguage, foreign_answer_words
from quoteweave.core.text.references.reference_words import reference_words
from quoteweave.core.text.word_patterns import alternation

_SYMBOLS = r"(?:€|%|°C|EUR|[kcm]?[mg]²?|m[²³]|ml|l|k?Wh?|V|A|dB|bar|Hz)(?!\w)"
_MONEY = r"(?:€|EUR\b|[Ee]uros?\b)"
_ONE = ("ein", "eine", "einen", "einem", "einer", "une", "una", "uma", "één")


@cache
def direct(language: ForeignLanguage, kind: str, *, is_past: bool) -> re.Pattern[str]:
    """The pattern from the end of a thing's name to the end of its value, with words of the past only if `is_past`."""
    between = set(foreign_answer_words(language.codes, "links")) | language.articles
    if kind in {"date", "yes_or_no"}:
        between |= {*foreign_answer_words(language.codes, "happens"), *language.function_words}
    if kind == "date":  # "the meeting of 3 May was cancelled" tells no date of it
        between -= set(foreign_answer_words(language.codes, "of"))
    if kind == "person":
        between |= {"la", "el", "il", "de"}
    for key in ("never_between",) if is_past else ("never_between", "past"):
        between -= set(foreign_answer_words(language.codes, key))
    small = rf"(?i:{alternation(between)})(?!\w)"
    begins = r"(?:\s*[,:(]\s*|\s+)" if kind == "person" else rf"(?:\s*:\s*|[\s-]+(?={small}))"
    return re.compile(rf"{begins}(?:{small}[\s'’.-]*)*(?P<value>{_value(language, kind)})")


@cache
def held_before(language: ForeignLanguage) -> re.Pattern[str]:
    """A person's name and the words up to the post: "Karin ter Braak werd gekozen tot", "Frau Helga Brandt ("."""
    chosen, article = _any(language, "chosen"), alternation(language.articles)
    linked = rf"\s*[,(]|(?:\s+(?i:{chosen})(?!\w))+"
    return re.compile(rf"(?P<value>{_value(language, 'person')})(?:{linked})\s*(?:(?i:{article})[\s'’]\s*)?$")


def _value(language: ForeignLanguage, kind: str) -> str:
    if kind == "person":
        title = rf"(?:\b(?:de\s+)?{_any(language, 'titles')}(?!\w)\.?\s+)"
        name = r"[A-ZÀ-Þ][\w'’-]+"
        more_names = (
            rf"(?:\s+(?:van|von|de|del|della|di|da|do|dos|der|den|la|ter|te|ten|[A-Z]\.|{name})){{0,4}}?\s+{name}"
        )
        small = rf"(?!(?i:{alternation(language.function_words)})(?!\w))"
        return rf"(?:{title}+{name}(?:{more_names})?|\b{small}{name}{more_names})"
    if kind == "yes_or_no":
        allowing = (word for key in ("allowing", "forbidding") for word in foreign_answer_words(language.codes, key))
        return rf"(?i:{alternation(allowing)})(?!\w)"
    return _PATTERNS[kind](language)


def _any(language: ForeignLanguage, key: str) -> str:
    return alternation(foreign_answer_words(language.codes, key))


def _date(language: ForeignLanguage) -> str:
    day = r"(?:1er|\d{1,2}[.º°]?)"
    month, weekday, clock = (_any(language, key) for key in ("months", "weekdays", "hours"))
    time = r"\d{1,2}(?:[.:h]\d\d)?"
    at, until = _any(language, "at"), _any(language, "until")
    # The name of a month in small letters ("mai", "mars") only counts after a day or a preposition.
    return (
        rf"(?:(?:{day}\s+(?:de\s+)?)(?i:{month})(?:\s+(?:de\s+)?\d{{4}})?(?!\w)|\b(?i:{weekday})(?!\w)"
        rf"|\b(?:im|en|in|em|a|dal|da|vom|van|von|de|du|desde|depuis|seit|vanaf|ab|bis|tot|hasta|até|fino\s+a)\s+(?i:{month})(?!\w)"
        rf"|(?:{time}\s*(?:(?i:{until})\s+{time})?\s*(?i:{clock})(?!\w))|\b(?i:{at})\s+\d{{1,2}}(?:[.:h]\d\d)?(?!\w)"
        rf"|\b\d{{1,2}}:\d\d\b|\b\d{{1,2}}\.\d{{1,2}}\.\d{{4}}\b|\b(?:19|20)\d\d\b|(?i:{_any(language, 'days')})(?!\w))"
    )


def _amount(units: str) -> str:
    number = _number()
    return rf"(?<![\w.,])(?:{_MONEY}\s?{number}|{number}\s?{units})"


def _has_word(key: str) -> Callable[[ForeignLanguage], str]:
    return lambda language: rf"(?i:\b{_any(language, key)})(?!\w)"


def _begins(key: str) -> Callable[[ForeignLanguage], str]:
    return lambda language: rf"(?i:[\s¿]*{_any(language, key)})(?!\w)"


def _place(language: ForeignLanguage) -> str:
    located, preposition = (_any(language, key) for key in ("located", "places"))
    return (
        rf"(?i:\b{located}\s+(?:\w+\s+){{0,6}}?{preposition})\s+\w"
        rf"|(?i:\b{preposition})\s+(?:[\w.,-]+\s+){{1,8}}?(?i:{located})(?!\w)"
    )


def _done(language: ForeignLanguage) -> str:
    passive, by = (_any(language, key) for key in ("passive", "by"))
    times = "|".join(_any(language, key) for key in ("months", "weekdays", "time"))
    return rf"(?i:\b{passive})\s+(?:[\w-]+\s+){{0,3}}?(?i:{by})(?:\s+|['’])(?!(?i:{times})(?!\w))[^\W\d]"


def _holder(language: ForeignLanguage) -> str:
    return rf"{_begins('holder')(language)}(?:\s+(?P<the>(?i:{alternation(language.articles)}))(?!\w))?"


def _size(language: ForeignLanguage) -> str:
    return _amount(rf"(?:{_MONEY}|{_SYMBOLS}|(?i:{_any(language, 'units')})(?!\w))")


def _time(language: ForeignLanguage) -> str:
    return _amount(rf"(?i:{_any(language, 'time')})(?!\w)")


_PATTERNS: Mapping[str, Callable[[ForeignLanguage], str]] = {
    **{key: _has_word(key) for key in ("because", "when", "including", "every", "past", "changed")},
    **{key: _begins(key) for key in ("how_often", "lasting", "sizes")},
    "holder": _holder,
    "date": _date,
    "money": lambda _: _amount(_MONEY),
    "time": _time,
    "size": _size,
    "amount": lambda language: rf"(?:{_size(language)}|{_time(language)})",
    "place": _place,
    "done": _done,
    "titled": lambda language: rf"\b{_any(language, 'titles')}(?!\w)\.?\s+[A-ZÀ-Þ]",
}
"""What makes the pattern of each thing that is looked for in texts and questions, for a language."""


@cache
def pattern(language: ForeignLanguage, kind: str) -> re.Pattern[str]:
    """The pattern of a kind of value in a text, or of words of texts or questions, in a language."""
    return re.compile(_PATTERNS[kind](language))


@cache
def _number() -> str:
    in_words = alternation({*reference_words().numbers, *_ONE})
    return rf"(?:\d{{1,3}}(?:[.\s]\d{{3}})+(?:,\d+)?|\d+(?:[.,]\d+)?|(?i:{in_words}))"


@cache
def counted() -> re.Pattern[str]:
    """A number with the noun that it counts, and at most one word between that says which: "cinq grandes pièces"."""
    number = _number()
    return re.compile(rf"(?<![\w.,]){number}\s+(?:(?P<which>\w+)\s+)?(?P<noun>\w+)")
