"""What a paper may take to be parsed."""

import time
from dataclasses import dataclass


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
    """Compares each of the papers that are parsed together with the limits by itself."""

    def __init__(self, limits: ParseLimits) -> None:
        self._limits, self._begun = limits, dict[str, float]()

    def reason_to_stop(self, name: str, pages: int) -> str | None:
        """Why a paper is read no further, if it has so many pages; its time counts from the first call."""
        if pages > self._limits.pages:
            return f"It has {pages:,} pages; no more than {self._limits.pages:,} are read."
        now = time.monotonic()
        if now - self._begun.setdefault(name, now) > self._limits.seconds:
            return f"It could not be parsed within {self._limits.seconds:g} seconds."
        return None
