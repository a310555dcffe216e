"""Files of trajectories: JSON Lines, a line appended as soon as a thing has happened.

    {"line": "setup", ...}    what it begins with; the first line
    {"line": "reply", ...}    a reply of the model, before anything is done with it
    {"line": "step", ...}     a step that is done, with its replies
    {"line": "ending", ...}   how it ended; more follows only where that was `endpoint` or `source`, and it was resumed

So a killed process loses no reply that was paid for, and a file that ended is replayed without a model or a source.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, RootModel

from quoteweave.attribution.agent.trajectory import (
    RESUMABLE,
    Ending,
    EndingKind,
    Reply,
    Step,
    Trajectory,
    TrajectorySetup,
)
from quoteweave.attribution.literature.sources.papers import Paper
from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.files.jsonl import iter_records, open_for_append
from quoteweave.core.records import Record


class _SetupLine(Record):
    line: Literal["setup"] = "setup"
    setup: TrajectorySetup


class _ReplyLine(Record):
    line: Literal["reply"] = "reply"
    reply: Reply


class _StepLine(Record):
    line: Literal["step"] = "step"
    step: Step


class _EndingLine(Record):
    line: Literal["ending"] = "ending"
    ending: Ending


class _Line(RootModel[Annotated[_SetupLine | _ReplyLine | _StepLine | _EndingLine, Field(discriminator="line")]]):
    pass


class TrajectoryRecorder:
    """A trajectory under way; what is added is saved at once, where it has a file."""

    def __init__(self, trajectory: Trajectory, write: Callable[[BaseModel], None]) -> None:
        self.trajectory = trajectory
        self._write = write

    def add_reply(self, reply: Reply) -> None:
        """Add a reply to the step that is not done. Raises StorageError."""
        self._write(_ReplyLine(reply=reply))
        self._become(pending=(*self.trajectory.pending, reply))

    def add_step(self, step: Step) -> None:
        """Add a step that is done. Raises StorageError."""
        self._write(_StepLine(step=step))
        self._become(steps=(*self.trajectory.steps, step), pending=())

    def end(self, kind: EndingKind, reason: str | None = None, *, selected: Paper | None = None) -> None:
        """End it. Raises StorageError."""
        ending = Ending(kind=kind, reason=reason, selected=selected, replies=self.trajectory.pending)
        self._write(_EndingLine(ending=ending))
        self._become(ending=ending, pending=())

    def _become(self, **update: object) -> None:
        self.trajectory = self.trajectory.model_copy(update=update)


@contextmanager
def open_trajectory(path: Path | None, setup: TrajectorySetup) -> Iterator[TrajectoryRecorder]:
    """Begin a trajectory, or resume the one that the file holds; without a path nothing is saved.

    Raises UsageError where the file holds another trajectory, or is being written by another process; DatasetError
    where it cannot be read; StorageError where the disk refuses.
    """
    if path is None:
        yield TrajectoryRecorder(Trajectory(setup=setup), lambda _line: None)
        return
    with open_for_append(path) as write:
        if path.stat().st_size:
            there = read_trajectory(path)
            _check_same(path, there.setup, setup)
        else:
            write(_SetupLine(setup=setup))
            there = Trajectory(setup=setup)
        if there.ending is not None and there.ending.kind in RESUMABLE:
            there = there.model_copy(update={"ending": None, "pending": there.ending.replies})
        yield TrajectoryRecorder(there, write)


def read_trajectory(path: Path) -> Trajectory:
    """Read a saved trajectory, ended or under way; a last line that a crash has cut is dropped.

    Raises DatasetError, naming file and line, where it cannot be read.
    """
    trajectory: Trajectory | None = None
    for number, line in iter_records(path, _Line, drop_cut=True):
        try:
            trajectory = _extended(trajectory, line.root)
        except ValueError as error:
            raise DatasetError(f"{path}, line {number}: {error}") from error
    if trajectory is None:
        raise DatasetError(f"{path} holds no trajectory: it has no line that is whole")
    return trajectory


def _extended(so_far: Trajectory | None, line: _SetupLine | _ReplyLine | _StepLine | _EndingLine) -> Trajectory:
    """The trajectory with one more line. Raises ValueError for a line that cannot follow."""
    if isinstance(line, _SetupLine):
        if so_far is not None:
            raise ValueError("a second trajectory begins here; each has a file of its own")
        return Trajectory(setup=line.setup)
    if so_far is None:
        raise ValueError("a trajectory begins with a line `setup`")
    if so_far.ending is not None:
        if so_far.ending.kind not in RESUMABLE:
            raise ValueError(f"nothing can follow the ending {so_far.ending.kind!r}")
        so_far = so_far.model_copy(update={"ending": None, "pending": so_far.ending.replies})
    if isinstance(line, _ReplyLine):
        return so_far.model_copy(update={"pending": (*so_far.pending, line.reply)})
    if isinstance(line, _EndingLine):
        return so_far.model_copy(update={"ending": line.ending, "pending": ()})
    if line.step.number != len(so_far.steps) + 1:
        raise ValueError(f"step {line.step.number} cannot follow {len(so_far.steps)} steps")
    return so_far.model_copy(update={"steps": (*so_far.steps, line.step), "pending": ()})


def _check_same(path: Path, there: TrajectorySetup, here: TrajectorySetup) -> None:
    then, now = there.model_dump(mode="json"), here.model_dump(mode="json")
    changed = [f"{key} is {then[key]!r} there and {now[key]!r} here" for key in now if then[key] != now[key]]
    if changed:
        raise UsageError(f"{path} holds another trajectory: {'; '.join(changed)}. Name another file, or remove it")
