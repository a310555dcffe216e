"""Titles of papers: read from an answer, and compared, by the rules of CiteME's authors or our own."""

import unicodedata
from difflib import SequenceMatcher

MIN_RATIO = 0.8
_AROUND = " \t\n\"'“”‘’*_`"


def ratio(title: str, gold: str) -> float:
    """The similarity of two titles, 0 to 1, as CiteME's authors compute it: it depends on their order."""
    return SequenceMatcher(a=title.lower(), b=gold.lower()).ratio()


def published_title(answer: str) -> str:
    """The title in an answer, as CiteME's authors read it."""
    before, _, after = answer.partition(":")
    introduced = before.lower().startswith("based on") or "guess" in before or "most likely" in before
    return after.strip() if introduced else answer


def last_line(answer: str) -> str:
    """The last line of an answer that is not blank, without what marks it as a title."""
    lines = [line.strip(_AROUND) for line in answer.splitlines() if line.strip(_AROUND)]
    return lines[-1].removeprefix("Title:").strip(_AROUND) if lines else ""


def letters(title: str) -> str:
    """The letters and digits of a title, with case and accents folded."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", title).casefold()))
