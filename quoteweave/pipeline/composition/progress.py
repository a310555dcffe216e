"""The protocol by which long-running work reports progress to its caller, such as a bar on a terminal."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class Task(Protocol):
    """One piece of work with steps to count."""

    def advance(self, steps: int = 1) -> None:
        """Count this many more completed steps."""
        ...

    def update(self, *, total: int | None = None, label: str | None = None) -> None:
        """Set the number of steps, or what the work is called from now on."""
        ...


class Progress(Protocol):
    """Receives progress and notes; worker threads call its methods."""

    @property
    def watched(self) -> bool:
        """Whether anybody reads it: notes that take work to make are left out otherwise."""
        ...

    def task(self, label: str, total: int | None = None, *, unit: str = "") -> AbstractContextManager[Task]:
        """A piece of work, open while it lasts; `total` is its number of steps where that is known."""
        ...

    def note(self, message: str) -> None:
        """A sentence for people: what is sent where, what was left out, what could be done."""
        ...


class NoProgress:
    """Implements `Progress` and `Task` by doing nothing."""

    watched = False

    @contextmanager
    def task(self, label: str, total: int | None = None, *, unit: str = "") -> Iterator[Task]:  # noqa: ARG002
        """A task that nobody watches."""
        yield self

    def note(self, message: str) -> None:
        """Drops the message."""

    def advance(self, steps: int = 1) -> None:
        """Counts nothing."""

    def update(self, *, total: int | None = None, label: str | None = None) -> None:
        """Shows nothing."""


NO_PROGRESS = NoProgress()
