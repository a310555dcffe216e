"""Checks saved trajectories for what the agent must not have seen: the excerpt's own paper, and later ones."""

from typing import Literal

from pydantic import Field

from quoteweave.attribution.agent.trajectory import NAMED, Step, Trajectory
from quoteweave.attribution.literature.papers import Paper
from quoteweave.attribution.literature.unseen import HiddenBecause, HidingRule, has_title
from quoteweave.core.records import Record

LeakKind = Literal["shown", "selected", "title_in_text"]
"""A paper was shown that is hidden; it was selected; or the title of the excerpt's own paper stands in a text, as it
does where another paper's file is that paper."""


class Leak(Record):
    """Something in a trajectory that should have been hidden."""

    step: int = Field(ge=1, description="number of the step; of a selection, the last")
    kind: LeakKind
    paper: Paper = Field(description="the paper shown or selected, or whose text or entry has the title")
    reason: HiddenBecause

    def __str__(self) -> str:
        said = {"shown": "was shown", "selected": "was selected", "title_in_text": "came with the own paper's title"}
        date = f", published {self.paper.published}" if self.paper.published else ""
        reason = {"own_paper": "the excerpt's own paper", "later": "later than it", "undated": "without a date"}
        return f"step {self.step}: “{self.paper.title}”{date} {said[self.kind]} ({reason[self.reason]})"


def find_leaks(trajectory: Trajectory, rule: HidingRule | None = None) -> tuple[Leak, ...]:
    """Return each violation of a rule in a trajectory, in order; without a rule, of the one that it was made under.

    >>> trajectory = read_trajectory(Path("trajectory.jsonl"))
    >>> find_leaks(trajectory, HidingRule(before=PublicationDate(year=2020)))
    ()
    """
    rule = rule or trajectory.setup.rule
    leaks = list[Leak]()
    for step in trajectory.steps:
        leaks += [
            Leak(step=step.number, kind="shown", paper=paper, reason=reason)
            for paper in step.shown
            if (reason := rule.reason(paper)) is not None
        ]
        leaks += _title_in_text(step, rule, {leak.paper.id for leak in leaks if leak.step == step.number})
    selected = trajectory.selected
    reason = None if selected is None or selected.id == NAMED else rule.reason(selected)
    if selected is not None and reason is not None:
        leaks.append(Leak(step=len(trajectory.steps), kind="selected", paper=selected, reason=reason))
    return tuple(leaks)


def _title_in_text(step: Step, rule: HidingRule, told: set[str]) -> list[Leak]:
    """The own paper's title in what a step showed, other than as the title of a paper that is told already."""
    own = rule.own
    if own is None or told or not step.shown or not has_title(step.observed, own.title):
        return []
    within = [paper for paper in step.shown if has_title(f"{paper.title} {paper.abstract or ''}", own.title)]
    return [Leak(step=step.number, kind="title_in_text", paper=(within or step.shown)[0], reason="own_paper")]
