"""Limits of pages and time for parsing a paper."""

import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """Limits for parsing a paper as a whole, beside those for each of its pages.

    >>> PaperLibrary(Path("papers"), limits=ParseLimits(pages=100)).close()

    Fields:
        pages: greatest number of pages; a paper with more is not read
        seconds: longest time by the clock, from when the reading of its pages begins
    """

    pages: int = 500
    seconds: float = 300.0


class ParseWatch:
    """Compares each of several papers that are parsed together with the limits."""

    def __init__(self, limits: ParseLimits) -> None:
        self._limits, self._begun = limits, dict[str, float]()

    def reason_to_stop(self, name: str, pages: int) -> str | None:
        """Why a paper of so many pages is read no further; None if it is. Its time counts from the first call."""
        if pages > self._limits.pages:
            return f"It has {pages:,} pages; no more than {self._limits.pages:,} are read."
        now = time.monotonic()
        if now - self._begun.setdefault(name, now) > self._limits.seconds:
            return f"It could not be parsed within {self._limits.seconds:g} seconds."
        return None
