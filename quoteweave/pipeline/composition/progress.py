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
        """Whether anybody reads the notes; if not, notes that take work to make are left out."""
        ...

    def task(self, label: str, total: int | None = None, *, unit: str = "") -> AbstractContextManager[Task]:
        """Open a task for as long as the work lasts; `total` is its number of steps if that is known."""
        ...

    def note(self, message: str) -> None:
        """Give a sentence for people: what is sent where, what was left out, what could be done."""
        ...


class NoProgress:
    """Implements `Progress` and `Task` by doing nothing."""

    watched = False

    @contextmanager
    def task(self, label: str, total: int | None = None, *, unit: str = "") -> Iterator[Task]:  # noqa: ARG002
        """Open a task that reports nothing."""
        yield self

    def note(self, message: str) -> None:
        """Ignore the message."""

    def advance(self, steps: int = 1) -> None:
        """Count nothing."""

    def update(self, *, total: int | None = None, label: str | None = None) -> None:
        """Show nothing."""


NO_PROGRESS = NoProgress()
