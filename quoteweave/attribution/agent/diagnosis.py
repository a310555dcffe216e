"""Says where a search went wrong, if the paper cited is known, and whether it was shown papers that should be hidden.

What should be hidden is the paper that the excerpt is from, and later papers.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field

from quoteweave.attribution.agent.actions import FindInText, Read, SearchSnippets
from quoteweave.attribution.agent.trajectory import NAMED, EndingKind, Step, Trajectory
from quoteweave.attribution.literature.sources.papers import Paper
from quoteweave.attribution.literature.sources.unseen import (
    HidingReason,
    HidingRule,
    has_excerpt,
    has_title,
    is_same_title,
)
from quoteweave.core.records import Record
from quoteweave.core.text.tokens import normalize_text

_MIN_TITLE_CHARACTERS = 15
"""Shorter titles, in characters, may occur in any text by chance, and are not looked for."""


class Diagnosis(Record):
    """Where the paper cited was met in a search. Titles are compared as CiteME does; see `is_same_title`."""

    correct: bool = Field(description="whether the paper cited was selected")
    shown: tuple[tuple[int, int], ...] = Field(description="step and rank, each from 1, of each search that showed it")
    read: tuple[int, ...] = Field(description="steps that read it")
    named: tuple[int, ...] = Field(description="steps that showed its title in the text or the entry of another paper")
    hidden: bool = Field(description="whether it is hidden, as it has the title of the paper that the excerpt is from")
    sentences: tuple[str, ...] = Field(description="the same in words, what matters most first")


def diagnose(trajectory: Trajectory, gold: Sequence[str]) -> Diagnosis:
    """Return where the paper cited was met; `gold` are titles of it, any of which counts.

    >>> diagnose(read_trajectory(Path("trajectory.jsonl")), ["Freight in May"]).sentences
    ('The paper selected is the one cited.',)
    """

    def is_gold(paper: Paper) -> bool:
        return any(is_same_title(paper.title, title) for title in gold)

    steps, selected, hidden_paper = trajectory.steps, trajectory.selected, trajectory.setup.rule.own
    searches = [step for step in steps if not isinstance(step.action, Read | FindInText)]
    diagnosis = Diagnosis(
        correct=selected is not None and is_gold(selected),
        shown=tuple(
            (step.number, rank) for step in searches for rank, paper in enumerate(step.shown, 1) if is_gold(paper)
        ),
        read=tuple(step.number for step in steps if step not in searches and any(map(is_gold, step.shown))),
        named=tuple(_naming(steps, gold)),
        hidden=hidden_paper is not None and is_gold(hidden_paper),
        sentences=(),
    )
    return diagnosis.model_copy(update={"sentences": tuple(_sentences(diagnosis, trajectory))})


def _naming(steps: Sequence[Step], gold: Sequence[str]) -> Iterator[int]:
    """The numbers of the steps in which the text or description of another paper had a title of the paper cited."""
    titles = [normalize_text(title) for title in gold if len(title) >= _MIN_TITLE_CHARACTERS]
    for step in steps:
        other_papers = [paper for paper in step.shown if not any(is_same_title(paper.title, title) for title in gold)]
        text = normalize_text(" ".join(step.observed.split()))
        if other_papers and any(text.count(title) > len(step.shown) - len(other_papers) for title in titles):
            yield step.number


def _sentences(diagnosis: Diagnosis, trajectory: Trajectory) -> Iterator[str]:
    if diagnosis.correct:
        yield "The paper selected is the one cited."
        return
    if diagnosis.hidden:
        yield "The paper cited could not be found: it has the title of the paper that the excerpt is from."
    if diagnosis.shown:
        (step, rank), *later_showings = diagnosis.shown
        later = [number for number, _ in later_showings if number != step]  # several titles of one search may match
        again = f", and again in {_steps(later)}" if later else ""
        yield f"The paper cited was shown in step {step}, at rank {rank}{again}, and not selected."
    elif not diagnosis.hidden and trajectory.setup.settings.actions:
        yield "The paper cited was never shown."
    if diagnosis.read:
        yield f"It was read in {_steps(diagnosis.read)}."
    if diagnosis.named and not diagnosis.shown:
        yield f"Its title stood in what {_steps(diagnosis.named)} showed of other papers, and was not searched for."
    if trajectory.ending is not None and trajectory.ending.kind != "selected":
        yield ENDINGS[trajectory.ending.kind]


ENDINGS: dict[EndingKind, str] = {
    "selected": "A paper was selected.",
    "bad_format": "The model wrote no action, though it was asked again.",
    "content_filter": "The model, or a filter of its endpoint, declined.",
    "window": "The conversation became longer than what the model reads.",
    "loops": "The model repeated one action too often.",
    "no_selection": "The model selected no paper in all its actions.",
    "endpoint": "The model's endpoint failed.",
    "source": "The source of papers failed.",
}
"""How a search ended, in a sentence."""


def _steps(numbers: Sequence[int]) -> str:
    unique = list(dict.fromkeys(numbers))
    return f"step {unique[0]}" if len(unique) == 1 else f"steps {', '.join(map(str, unique))}"


LeakKind = Literal["shown", "selected", "own_text"]
"""`shown`: a hidden paper was shown. `selected`: a hidden paper was selected. `own_text`: the text shown of another
paper is that of the excerpt's own. It begins with the own paper's title, as when a link leads to the wrong file, or has
the excerpt word for word, as when the own paper has another title elsewhere. A list of references may name it."""
_BEGINNING = 1_500
"""Characters at the beginning of a shown text in which the title of its paper is expected."""


class Leak(Record):
    """Something in a trajectory that should have been hidden."""

    step: int = Field(ge=1, description="number of the step; of a selection, the last")
    kind: LeakKind
    paper: Paper = Field(description="the paper shown or selected, or whose text is the own paper's")
    reason: HidingReason

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
        own_text = _shown_as_own_text(step, rule.own, trajectory.setup.excerpt)
        if own_text is not None:
            leaks.append(Leak(step=step.number, kind="own_text", paper=own_text, reason="own_paper"))
    selected = trajectory.selected
    reason = None if selected is None or selected.id == NAMED else rule.reason(selected)
    if selected is not None and reason is not None:
        leaks.append(Leak(step=len(trajectory.steps), kind="selected", paper=selected, reason=reason))
    return tuple(leaks)


def _shown_as_own_text(step: Step, own_paper: Paper | None, excerpt: str) -> Paper | None:
    """The paper under whose name a step showed the text of the excerpt's own paper; None if there is none."""
    if own_paper is None or not step.shown or not isinstance(step.action, Read | FindInText | SearchSnippets):
        return None
    entries = step.observed.split("\n\n") if isinstance(step.action, SearchSnippets) else [step.observed]
    with_excerpt = next((entry for entry in entries if has_excerpt(entry, excerpt)), None)
    if with_excerpt is not None:
        return next((paper for paper in step.shown if paper.title in with_excerpt), step.shown[0])
    begins = isinstance(step.action, Read) and has_title(step.observed[:_BEGINNING], own_paper.title)
    return step.shown[0] if begins else None
