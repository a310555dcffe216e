"""What a paper may take to be parsed."""

import time
from dataclasses import dataclass


class TooLarge(Exception):
    """A paper has more pages, or takes longer, than the limit; the message says so."""


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """What a paper may take to be parsed, beyond the limits of each of its pages.

    >>> PaperLibrary(Path("papers"), limits=ParseLimits(pages=100)).close()

    Fields:
        pages: of the file; a paper with more is not read
        seconds: by the clock, from when the reading of its pages begins
    """

    pages: int = 500
    seconds: float = 300.0


class ParseWatch:
    """Stops the parsing of a file that goes beyond the limits, by raising `TooLarge`."""

    def __init__(self, limits: ParseLimits) -> None:
        self._limits, self._until = limits, time.monotonic() + limits.seconds

    def on_total(self, pages: int) -> None:
        """Compare the number of pages with the limit, and count the time from here."""
        if pages > self._limits.pages:
            raise TooLarge(f"It has {pages:,} pages; no more than {self._limits.pages:,} are read.")
        self._until = time.monotonic() + self._limits.seconds  # the time before was spent on waiting for others

    def on_pages(self, _name: str, _pages: int) -> None:
        """Compare the time with the limit."""
        if time.monotonic() > self._until:
            raise TooLarge(f"It could not be parsed within {self._limits.seconds:g} seconds.")
