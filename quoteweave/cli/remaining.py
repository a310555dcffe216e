"""How long a bar's work will take yet, estimated so that pages which take much longer than others do not shake it."""

import math
import time
from typing import TYPE_CHECKING

from rich.progress import ProgressColumn
from rich.text import Text

if TYPE_CHECKING:
    from rich.progress import Task

# Before so many seconds, steps and this share of all steps, nothing is known.
LEAST_SECONDS = 15.0
LEAST_STEPS = 10
LEAST_SHARE = 0.03
# The estimate moves most of the way to a new one within this many seconds.
FOLLOWS_S = 10.0


class Estimate:
    """Seconds that remain, from the mean pace since the work began: that of the last steps says little of others."""

    def __init__(self) -> None:
        self._start: tuple[float, float] | None = None  # when it began, and how many steps were done before
        self._shown: float | None = None
        self._last = 0.0

    def at(self, done: float, total: float, now: float) -> float | None:
        """The estimate at the time `now`, in seconds of any clock; None while nothing can be said."""
        if self._start is None:
            self._start = now, done
        spent, steps = now - self._start[0], done - self._start[1]
        if spent < LEAST_SECONDS or steps < max(LEAST_STEPS, LEAST_SHARE * total):
            return None
        mean = (total - done) * spent / steps
        passed, self._last = now - self._last, now
        if self._shown is None:
            self._shown = mean
        else:
            due = max(self._shown - passed, 0.0)
            self._shown = due + (mean - due) * -math.expm1(-passed / FOLLOWS_S)
        return self._shown


class TimeLeft(ProgressColumn):
    """A column that shows the estimate in words that do not promise more than it knows."""

    def __init__(self) -> None:
        super().__init__()
        self._estimate = Estimate()

    def render(self, task: "Task") -> Text:
        """What is shown now; nothing while nothing can be said."""
        if task.total is None:
            return Text("")
        return Text(in_words(self._estimate.at(task.completed, task.total, time.monotonic())))


def in_words(seconds: float | None) -> str:
    """An estimate for people: `about 4 min left`."""
    if seconds is None:
        return ""
    if seconds < 60:
        return "less than a minute left"
    minutes = round(seconds / 60)
    return f"about {minutes} min left" if minutes < 90 else f"about {seconds / 3600:.1f} h left"
