"""Checks saved trajectories for what the agent must not have seen: the excerpt's own paper, and later ones."""

from typing import Literal

from pydantic import Field

from quoteweave.attribution.agent.actions import Read
from quoteweave.attribution.agent.trajectory import NAMED, Step, Trajectory
from quoteweave.attribution.literature.papers import Paper
from quoteweave.attribution.literature.unseen import HiddenBecause, HidingRule, has_title
from quoteweave.core.records import Record

LeakKind = Literal["shown", "selected", "own_text"]
"""A paper was shown that is hidden; it was selected; or the text that was read of another paper begins with the title
of the excerpt's own, as it does where a link leads to the wrong file. A list of references may name it."""
_BEGINNING = 1_500
"""Characters of what was shown of a text in which its own title stands."""


class Leak(Record):
    """Something in a trajectory that should have been hidden."""

    step: int = Field(ge=1, description="number of the step; of a selection, the last")
    kind: LeakKind
    paper: Paper = Field(description="the paper shown or selected, or whose text is the own paper's")
    reason: HiddenBecause

    def __str__(self) -> str:
        if self.kind == "own_text":
            return f"step {self.step}: what was read of “{self.paper.title}” is the excerpt's own paper"
        date = f", published {self.paper.published}" if self.paper.published else ""
        reason = {"own_paper": "the excerpt's own paper", "later": "later than it", "undated": "without a date"}
        return f"step {self.step}: “{self.paper.title}”{date} was {self.kind} ({reason[self.reason]})"


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
        if rule.own is not None and _is_own_text(step, rule.own):
            leaks.append(Leak(step=step.number, kind="own_text", paper=step.shown[0], reason="own_paper"))
    selected = trajectory.selected
    reason = None if selected is None or selected.id == NAMED else rule.reason(selected)
    if selected is not None and reason is not None:
        leaks.append(Leak(step=len(trajectory.steps), kind="selected", paper=selected, reason=reason))
    return tuple(leaks)


def _is_own_text(step: Step, own: Paper) -> bool:
    """Whether a step read what begins with the title of the excerpt's own paper."""
    return isinstance(step.action, Read) and bool(step.shown) and has_title(step.observed[:_BEGINNING], own.title)
