"""Renders a trajectory as one self-contained HTML page: each step, what it showed, how it ended, where it went wrong.

The page asks nothing of the network and runs no script; its Content-Security-Policy lets nothing else in. All text of
excerpts, papers and models is escaped, and no address is made of it.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from quoteweave.attribution.agent.actions import FindInText, Read, SearchSnippets
from quoteweave.attribution.agent.diagnosis import ENDINGS, diagnose, find_leaks
from quoteweave.attribution.agent.trajectory import NAMED, Reply, Step, Trajectory
from quoteweave.attribution.literature.sources.papers import Paper
from quoteweave.attribution.literature.sources.unseen import is_same_title
from quoteweave.core.answers import Usage
from quoteweave.core.files.templates import open_template, policy_hash
from quoteweave.core.records import Record

_TEMPLATES = Path(__file__).parent / "templates"
_MARK = re.compile(r"(\[CITATION\])")
_ACTIONS = {
    "search_relevance": "Search",
    "search_citation_count": "Search, most cited first",
    "search_snippets": "Search in texts",
    "read": "Read",
    "find_in_text": "Find in a text",
    "select": "Select",
    "name_paper": "Name a paper",
}
_ERRORS = {
    "never_shown": "Not done: no search had shown this paper.",
    "only_select": "Not done: only a selection was allowed by then.",
}


class ShownPaper(Record):
    """A paper in the list of a step."""

    rank: int
    title: str
    facts: str
    abstract: str | None
    selected: bool
    gold: bool


class ShownStep(Record):
    """A step, as the page shows it."""

    number: int
    action: str
    object: str
    rationale: str
    error: str | None
    papers: tuple[ShownPaper, ...]
    text: str | None
    notes: tuple[str, ...]
    failed: tuple[Reply, ...]
    facts: tuple[str, ...]


def render_trajectory(trajectory: Trajectory, gold: Sequence[str] = ()) -> str:
    """Render a trajectory as a whole HTML document, to be written as UTF-8.

    `gold` are titles of the paper that is cited, where it is known; the page then says where the search went wrong.

    >>> page = render_trajectory(read_trajectory(Path("trajectory.jsonl")), ["Freight in May"])
    >>> "The paper selected is the one cited." in page
    True
    """
    from markupsafe import Markup

    style = (_TEMPLATES / "trajectory.css").read_text("utf-8")
    selected, diagnosis = trajectory.selected, diagnose(trajectory, gold) if gold else None
    return open_template(_TEMPLATES, "trajectory.html.j2").render(
        policy=f"default-src 'none'; style-src {policy_hash(style)}; base-uri 'none'; form-action 'none'",
        style=Markup(style),  # noqa: S704 - a file of ours
        excerpt=[(part, bool(_MARK.fullmatch(part))) for part in _MARK.split(trajectory.setup.excerpt)],
        selected=selected,
        selected_facts="" if selected is None else _paper_facts(selected),
        ending=None if trajectory.outcome is None else ENDINGS[trajectory.outcome],
        reason=None if trajectory.ending is None else trajectory.ending.reason,
        gold=gold,
        diagnosis=diagnosis,
        leaks=[str(leak) for leak in find_leaks(trajectory)],
        facts=_facts(trajectory),
        steps=[_shown(step, trajectory, gold) for step in trajectory.steps],
        unfinished=trajectory.pending if trajectory.ending is None else trajectory.ending.replies,
    )


def _facts(trajectory: Trajectory) -> list[str]:
    setup, settings = trajectory.setup, trajectory.setup.settings
    commands = {"no_commands": "no commands", "search": "search", "search_and_read": "search and read"}
    facts = [setup.model if setup.temperature is None else f"{setup.model}, temperature {setup.temperature:g}"]
    facts.append(f"{commands[settings.condition]}, {'with' if settings.demonstration else 'without'} a demonstration")
    if setup.source is not None:
        facts.append(setup.source)
    if setup.rule.before is not None:
        facts.append(f"nothing after {setup.rule.before}")
    if settings.actions:
        facts.append(f"{len(trajectory.steps)} of {settings.most_actions} actions")
    return [*facts, *_spent(trajectory.usage), _seconds(trajectory.seconds)]


def _shown(step: Step, trajectory: Trajectory, gold: Sequence[str]) -> ShownStep:
    action, selected = step.action, trajectory.selected
    fields = action.model_dump()
    known = trajectory.shown.get(str(fields.get("paper_id")))
    named = [known.title if known is not None else fields.get("paper_id"), fields.get("query"), fields.get("title")]
    papers = () if isinstance(action, Read | FindInText) else step.shown
    in_words = isinstance(action, Read | FindInText | SearchSnippets) or not step.shown
    notes = [note for reply in step.replies for note in reply.notes]
    return ShownStep(
        number=step.number,
        action=_ACTIONS[action.name],
        object=": ".join(str(one) for one in named if one is not None),
        rationale=step.rationale,
        error=None if step.error is None else _ERRORS[step.error],
        papers=tuple(_shown_paper(rank, paper, selected, gold) for rank, paper in enumerate(papers, 1)),
        text=step.observed if in_words and step.observed and step.error is None else None,
        notes=tuple(dict.fromkeys([*notes, *step.notes])),
        failed=step.replies[:-1],
        facts=(*_spent(step.usage), _seconds(step.total_seconds)),
    )


def _shown_paper(rank: int, paper: Paper, selected: Paper | None, gold: Sequence[str]) -> ShownPaper:
    return ShownPaper(
        rank=rank,
        title=paper.title,
        facts=_paper_facts(paper),
        abstract=paper.abstract,
        selected=selected is not None and selected.id == paper.id,
        gold=any(is_same_title(paper.title, title) for title in gold),
    )


def _paper_facts(paper: Paper) -> str:
    if paper.id == NAMED:
        return "named from memory"
    facts = [None if paper.published is None else str(paper.published.year), paper.venue]
    facts.append(None if paper.citations is None else f"cited {paper.citations:,} times")
    return " · ".join([*(fact for fact in facts if fact), paper.id])


def _spent(usage: Usage) -> list[str]:
    if usage.input_tokens is None or usage.output_tokens is None:
        return []
    return [f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out"]


def _seconds(seconds: float) -> str:
    return "under 0.1 s" if seconds < 0.1 else f"{seconds:,.1f} s"
