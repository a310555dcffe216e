"""Parse dates and times of day, in all common notations.

`17 February 2023`, `Feb. 17th, 2023`, `2023-02-17`, `17/02/2023` and `17.2.2023` are one date. If day and month could
be exchanged, both readings are accepted. A month's name alone, which must be capitalised, is a date without day and
year.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import words

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
"""Names of months, in small letters, from January on."""
MONTH_NAMES = "|".join(map(str.capitalize, MONTHS))
"""A pattern for these, with capitals."""
WEEKDAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
"""A pattern for the days of the week."""
RECENT_YEAR = lazy_regex(r"(?:19|20)\d\d")
NAMES_WEEKDAY = lazy_regex(rf"\b{WEEKDAY}s?\b", re.IGNORECASE)
CALENDAR_WORDS = frozenset(words(f"{' '.join(MONTHS)} monday tuesday wednesday thursday friday saturday sunday"))
"""Names of months and days of the week, stemmed."""
_NUMBERS = {name[:3]: number for number, name in enumerate(MONTHS, 1)}
_MONTH = (
    "(?P<month>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    "|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)(?![A-Za-z])\\.?"
)
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})(?!\d|[.,]\d)"
_FORMS = [
    lazy_regex(form)
    for form in (
        rf"(?<![\d.,]){_DAY}(?: of)?[ -]{_MONTH}(?:,?[ -]{_YEAR})?",
        rf"(?<![A-Za-z]){_MONTH} {_DAY}(?![\d:.,]\d|\d| ?%)(?:,? {_YEAR})?",
        rf"(?<![A-Za-z]){_MONTH}(?:,? (?:of )?{_YEAR})?",
        r"(?<![\d/.-])(?P<year>\d{4})[-/.](?P<month>0?[1-9]|1[0-2])[-/.](?P<day>0?[1-9]|[12]\d|3[01])(?![\d/-])",
        r"(?<![\d/.-])(?P<one>0?[1-9]|[12]\d|3[01])(?P<part>[/.-])(?P<two>0?[1-9]|[12]\d|3[01])(?P=part)"
        r"(?P<year>\d{4})(?![\d/-])",
    )
]
_CLOCK = lazy_regex(
    r"(?<![\d:.])(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?::[0-5]\d)?(?![\d:])(?: ?(?P<half>[ap])\.?m\b\.?)?"
    r"|(?<![\d:.,])(?P<british>1[0-2]|0?[1-9])\.(?P<minutes>[0-5]\d) ?(?P<part>[ap])\.?m\b\.?"
    r"|(?<![\d:.,])(?P<alone>1[0-2]|[1-9]) ?(?P<side>[ap])\.?m\b\.?",
    re.IGNORECASE,
)
# From one month to another: "June to August", "10 May – 14 September".
_FROM_MONTH_TO_MONTH = lazy_regex(
    rf"(?P<day>\b\d{{1,2}}(?:st|nd|rd|th)?\.?\s+(?:of\s+)?)?\b(?P<first>{MONTH_NAMES})\s*"
    r"(?:\bto\b|\buntil\b|\btill\b|\bthrough\b|-|–)\s*"
    rf"(?P<end_day>\d{{1,2}}(?:st|nd|rd|th)?\.?\s+(?:of\s+)?)?(?:(?:early|mid|late)-?\s?)?(?P<last>{MONTH_NAMES})\b(?!,?\s+\d{{4}})"
)
_OF_DATES = frozenset(words(f"fiscal financial year ended end {' '.join(MONTHS)}"))


def is_of_date(word: str) -> bool:
    """Whether a stemmed word is part of a date or of a fiscal year."""
    return word in _OF_DATES or word.isdecimal()


def months_within(text: str) -> frozenset[str]:
    """The stems of the months that a text's spans from one month to another hold wholly.

    >>> sorted(months_within("from June to August"))
    ['august', 'juli', 'june']
    >>> sorted(months_within("10 May – September"))
    ['august', 'juli', 'june', 'septemb']
    """
    within: set[str] = set()
    for span in _FROM_MONTH_TO_MONTH.finditer(text):
        first, last = (MONTHS.index(span[name].casefold()) for name in ("first", "last"))
        numbers = range(first + bool(span["day"]), last + 12 * (last < first) + (not span["end_day"]))
        within.update(MONTHS[number % 12] for number in numbers)
    return frozenset(words(" ".join(within)))


@dataclass(frozen=True, slots=True)
class Date:
    """A date, of which day or year may be missing."""

    text: str
    month: int
    day: int | None
    year: int | None
    swapped: bool = False
    """Whether day and month could be exchanged."""

    def readings(self) -> Iterator[tuple[int, int | None]]:
        """The possible pairs of month and day."""
        yield self.month, self.day
        if self.swapped and self.day is not None:
            yield self.day, self.month

    def confirmed_by(self, other: "Date") -> bool:
        """Whether the other date has this month, this day if there is one, and no different year."""
        same_day = any(
            mine == (month, day if mine[1] is not None else None)
            for mine in self.readings()
            for month, day in other.readings()
        )
        return same_day and (self.year is None or other.year is None or self.year == other.year)


def extract_dates(text: str) -> tuple[list[Date], str]:
    """Extract the dates of `text`; return them, and `text` with blanks in their place."""
    dates: list[Date] = []

    def take(match: re.Match[str]) -> str:
        dates.append(_date(match))
        return " " * len(match[0])

    for form in _FORMS:
        text = form.sub(take, text)
    return dates, text


def extract_times(text: str) -> tuple[dict[str, int], str]:
    """Extract the times of day in `text`, as minutes after midnight by their wording; blanks take their place."""
    clocks: dict[str, int] = {}

    def take(match: re.Match[str]) -> str:
        hour, minute = (
            int(match["hour"] or match["british"] or match["alone"]),
            int(match["minute"] or match["minutes"] or 0),
        )
        half = (match["half"] or match["part"] or match["side"] or "").casefold()
        if half:
            hour = hour % 12 + (12 if half == "p" else 0)
        clocks[match[0]] = 60 * hour + minute
        return " " * len(match[0])

    return clocks, _CLOCK.sub(take, text)


def _date(match: re.Match[str]) -> Date:
    parts = match.groupdict()
    year = int(parts["year"]) if parts.get("year") else None
    if parts.get("one"):
        first, second = int(parts["one"]), int(parts["two"])
        # Month first is as common as day first; only a number above 12 distinguishes them.
        day, month = (second, first) if second > 12 else (first, second)
        return Date(match[0], month, day, year, swapped=max(first, second) <= 12)
    written = parts["month"]
    month = int(written) if written.isdigit() else _NUMBERS[written[:3].casefold()]
    return Date(match[0], month, int(parts["day"]) if parts.get("day") else None, year)
