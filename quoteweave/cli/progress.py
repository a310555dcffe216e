"""Progress on a terminal: a bar on stderr with an estimate of the time left, and notes as lines."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TaskID, TextColumn
from rich.progress import Progress as RichProgress
from rich.text import Text

from quoteweave.cli.console import print_message, printable
from quoteweave.models.checkpoints import on_download

# There is no estimate before so many seconds, so many steps, and this share of all steps.
MIN_SECONDS = 15.0
MIN_STEPS = 10
MIN_SHARE = 0.03
# The shown estimate moves most of the way to a new estimate within so many seconds.
FOLLOWS_S = 10.0


class Estimate:
    """Estimates the remaining seconds from the mean pace since the work began, as the last steps may not be typical."""

    def __init__(self) -> None:
        self._start: tuple[float, float] | None = None  # when the work began, and how many steps were done by then
        self._shown_s: float | None = None
        self._last_time = 0.0

    def at(self, done: float, total: float, now: float) -> float | None:
        """The estimate at the time `now`, in seconds of any clock; None as long as there is none."""
        if self._start is None:
            self._start = now, done
        spent, steps = now - self._start[0], done - self._start[1]
        if spent < MIN_SECONDS or steps < max(MIN_STEPS, MIN_SHARE * total):
            return None
        mean = (total - done) * spent / steps
        passed, self._last_time = now - self._last_time, now
        if self._shown_s is None:
            self._shown_s = mean
        else:
            due = max(self._shown_s - passed, 0.0)
            self._shown_s = due + (mean - due) * -math.expm1(-passed / FOLLOWS_S)
        return self._shown_s


class TimeLeft(ProgressColumn):
    """A column that shows the estimate in words no more precise than the estimate is."""

    def __init__(self) -> None:
        super().__init__()
        self._estimate = Estimate()

    def render(self, task: Task) -> Text:
        """The text that is shown now; empty as long as there is no estimate."""
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


class Bar:
    """One bar; implements `pipeline.composition.progress.Task`."""

    def __init__(self, progress: RichProgress, task: TaskID) -> None:
        self._progress, self._task = progress, task

    def advance(self, steps: int = 1) -> None:
        """Count so many more steps as done."""
        self._progress.update(self._task, advance=steps)

    def update(self, *, total: int | None = None, label: str | None = None) -> None:
        """Set the number of steps, or the label before the bar."""
        self._progress.update(self._task, total=total, description=None if label is None else printable(label))


class Rate(ProgressColumn):
    """A column with the number of steps per second."""

    def render(self, task: Task) -> Text:
        """The rate; empty before it is known."""
        speed = task.finished_speed or task.speed
        return Text(f"{speed:.1f} a second" if speed else "")


class TerminalProgress:
    """Implements `pipeline.composition.progress.Progress`: bars on a terminal only, notes always, both on stderr."""

    def __init__(self, *, quiet: bool = False) -> None:
        """With `quiet`, there are no bars and no advice, for example when JSON is printed."""
        self._quiet = quiet
        on_download(print_message)

    @property
    def watched(self) -> bool:
        """Whether advice is wanted."""
        return not self._quiet

    @contextmanager
    def task(self, label: str, total: int | None = None, *, unit: str = "") -> Iterator[Bar]:
        """Show a bar while the block lasts."""
        stderr = Console(stderr=True)
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(unit, markup=False),
            *((Rate(),) if unit == "views" else ()),
            TimeLeft(),
        )
        disabled = self._quiet or not stderr.is_terminal
        with RichProgress(*columns, console=stderr, transient=True, disable=disabled) as progress:
            yield Bar(progress, progress.add_task(printable(label), total=total))

    def note(self, message: str) -> None:
        """Print a line on stderr."""
        print_message(message)
