"""Reviews the trajectories of a run: how each ended, where it went wrong, and whether it was shown what is hidden."""

import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from quoteweave.attribution.agent.diagnosis import ENDINGS, Leak, diagnose, find_leaks
from quoteweave.attribution.agent.page import render_trajectory
from quoteweave.attribution.agent.runs import TRAJECTORIES
from quoteweave.attribution.agent.trajectory import EndingKind, Trajectory
from quoteweave.attribution.agent.trajectory_files import read_trajectory
from quoteweave.core.errors import DatasetError, StorageError
from quoteweave.core.examples import Example
from quoteweave.core.records import Record


class TrajectoryReview(Record):
    """What became of one excerpt."""

    id: str = Field(description="of the excerpt, else the name of its file")
    outcome: EndingKind | None = Field(description="None where it was broken off, and can be resumed")
    actions: int = Field(ge=0)
    selected: str | None = Field(description="title of the paper selected")
    correct: bool | None = Field(
        description="whether that is the paper cited, by its title; None where it is not known, and where a technical "
        "error or nothing yet has ended the search: that is no wrong answer"
    )
    findings: tuple[str, ...] = Field(description="where it went wrong, in sentences")
    leaks: tuple[Leak, ...] = Field(description="what it was shown against its rule")
    page: str | None = Field(default=None, description="its page, where pages were written")
    unreadable: str | None = Field(
        default=None, description="why its file cannot be read, so that nothing else is known of it"
    )


def review_trajectories(
    run: Path, examples: Sequence[Example] = (), *, pages: Path | None = None
) -> list[TrajectoryReview]:
    """Review the trajectories that a run, or `find_papers`, has saved in a folder, in the order of their names.

    `examples` tell the papers cited. With `pages`, a page of each is written into that folder. A file that cannot be
    read is `unreadable`, and the others are reviewed. Raises DatasetError where there is no trajectory, and
    StorageError where a page cannot be written.

    >>> review_trajectories(Path("run"), load_dataset("citeme", Path("DATASET.csv")))[0].findings
    ('The paper cited was shown in step 1, at rank 2, and not selected.',)
    """
    files = sorted(_files(run), key=_natural)
    if not files:
        raise DatasetError(f"{run} holds no trajectories; `quoteweave run --dataset citeme` keeps them in its folder")
    gold = {one.id: [t for t in (one.reference.short_answer, *one.reference.alternatives) if t] for one in examples}
    return [_review(file, gold, pages) for file in files]


def _files(run: Path) -> list[Path]:
    kept = run / TRAJECTORIES
    return list((kept if kept.is_dir() else run).glob("*.jsonl"))


def _natural(file: Path) -> tuple[tuple[int, int | str], ...]:
    """A key that puts 2 before 10."""
    parts = re.findall(r"\d+|\D+", file.stem)
    return tuple((0, int(part)) if part.isdecimal() else (1, part) for part in parts)


def _review(file: Path, gold: dict[str, list[str]], pages: Path | None) -> TrajectoryReview:
    try:
        trajectory = read_trajectory(file)
    except DatasetError as error:
        return TrajectoryReview(
            id=file.stem,
            outcome=None,
            actions=0,
            selected=None,
            correct=None,
            findings=(),
            leaks=(),
            unreadable=str(error),
        )
    titles = gold.get(trajectory.setup.id or "", [])
    page = None if pages is None else pages / f"{file.stem}.html"
    if page is not None:
        try:
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_bytes(render_trajectory(trajectory, titles).encode("utf-8", "replace"))
        except OSError as error:
            raise StorageError(f"{page} cannot be written ({error.strerror or error})") from error
    diagnosis = diagnose(trajectory, titles) if titles else None
    answered = trajectory.outcome is not None and not trajectory.technical_error
    return TrajectoryReview(
        id=trajectory.setup.id or file.stem,
        outcome=trajectory.outcome,
        actions=len(trajectory.steps),
        selected=None if trajectory.selected is None else trajectory.selected.title,
        correct=diagnosis.correct if diagnosis is not None and answered else None,
        findings=_ended(trajectory) if diagnosis is None else diagnosis.sentences,
        leaks=find_leaks(trajectory),
        page=None if page is None else str(page),
    )


def _ended(trajectory: Trajectory) -> tuple[str, ...]:
    """How it ended, where the paper cited is not known and none was selected."""
    return (ENDINGS[trajectory.outcome],) if trajectory.outcome not in (None, "selected") else ()
