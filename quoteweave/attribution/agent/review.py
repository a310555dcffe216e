"""Reviews the trajectories of a run: how each ended, where it went wrong, and whether it was shown what is hidden.

Each is rendered as one self-contained HTML page. The page loads nothing from the network and runs no script, which its
Content-Security-Policy enforces. All text of excerpts, papers and models is escaped, and none becomes a link's address.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from quoteweave.attribution.agent.actions import FindInText, Read, SearchSnippets
from quoteweave.attribution.agent.diagnosis import ENDINGS, Diagnosis, Leak, diagnose, find_leaks
from quoteweave.attribution.agent.runs import TRAJECTORIES
from quoteweave.attribution.agent.trajectory import NAMED, EndingKind, Reply, Step, Trajectory, read_trajectory
from quoteweave.attribution.literature.sources.papers import Paper
from quoteweave.attribution.literature.sources.unseen import is_same_title
from quoteweave.core.answers import Usage
from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example
from quoteweave.core.files.templates import open_template, policy_hash
from quoteweave.core.files.whole_files import output_file
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Record
from quoteweave.core.runs import PREDICTIONS_FILE

_TEMPLATES = Path(__file__).parent / "templates"
_MARK = lazy_regex(r"(\[CITATION\])")
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
    ending = None if trajectory.outcome is None else ENDINGS[trajectory.outcome]
    sentences = [] if diagnosis is None else [sentence for sentence in diagnosis.sentences if sentence != ending]
    return open_template(_TEMPLATES, "trajectory.html.j2").render(
        policy=f"default-src 'none'; style-src {policy_hash(style)}; base-uri 'none'; form-action 'none'",
        style=Markup(style),  # noqa: S704 - the style sheet is part of this package
        excerpt=[(part, bool(_MARK.fullmatch(part))) for part in _MARK.split(trajectory.setup.excerpt)],
        selected=selected,
        selected_facts="" if selected is None else _paper_facts(selected),
        under_way=ending is None,
        # The heading of the box says that no paper was selected, and the facts say in how many actions.
        ending=None if trajectory.outcome == "no_selection" else ending,
        reason=None if trajectory.ending is None else trajectory.ending.reason,
        gold=gold,
        diagnosis=diagnosis,
        verdict=None if diagnosis is None else _verdict(diagnosis, sentences, selected),
        sentences=sentences,
        leaks=[str(leak) for leak in find_leaks(trajectory)],
        facts=_facts(trajectory),
        steps=[_shown(step, trajectory, gold) for step in trajectory.steps],
        unfinished=trajectory.pending if trajectory.ending is None else trajectory.ending.replies,
    )


def _verdict(diagnosis: Diagnosis, sentences: Sequence[str], selected: Paper | None) -> str | None:
    """The heading above what went wrong; None if nothing is known but how the search ended."""
    if diagnosis.correct:
        return "Right"
    return "Where it went wrong" if sentences else None if selected is None else "Wrong"


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
        object=": ".join(str(part) for part in named if part is not None),
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


class TrajectoryReview(Record):
    """What became of one excerpt."""

    id: str = Field(description="of the excerpt, else the name of its file")
    outcome: EndingKind | None = Field(default=None, description="None where it was broken off, and can be resumed")
    actions: int = Field(default=0, ge=0)
    selected: str | None = Field(default=None, description="title of the paper selected")
    correct: bool | None = Field(
        default=None,
        description="whether that is the paper cited, by its title; None where it is not known, and where a technical "
        "error or nothing yet has ended the search: that is no wrong answer",
    )
    findings: tuple[str, ...] = Field(default=(), description="where it went wrong, in sentences")
    leaks: tuple[Leak, ...] = Field(default=(), description="what it was shown against its rule")
    page: str | None = Field(default=None, description="its page, where pages were written")
    unreadable: str | None = Field(
        default=None, description="why its file cannot be read, so that nothing else is known of it"
    )


def review_trajectories(
    run: Path, examples: Sequence[Example] = (), *, pages: Path | None = None
) -> list[TrajectoryReview]:
    """Review the trajectories that a run, or `find_papers`, has saved in a folder, in the order of their names.

    `examples` say which papers are cited. With `pages`, a page for each trajectory is written into that folder. A file
    that cannot be read is listed as `unreadable`, and the others are reviewed. Raises DatasetError if there is no
    trajectory, and StorageError if a page cannot be written.

    >>> review_trajectories(Path("run"), load_dataset("citeme", Path("DATASET.csv")))[0].findings
    ('The paper cited was shown in step 1, at rank 2, and not selected.',)
    """
    files = sorted(_files(run), key=_natural)
    if not files:
        raise DatasetError(f"{run} holds no trajectories; `quoteweave run --dataset citeme` keeps them in its folder")
    gold = {
        example.id: [title for title in (example.reference.short_answer, *example.reference.alternatives) if title]
        for example in examples
    }
    return [_review(file, gold, pages) for file in files]


def _files(run: Path) -> list[Path]:
    trajectories_folder = run / TRAJECTORIES
    files = (trajectories_folder if trajectories_folder.is_dir() else run).glob("*.jsonl")
    return [file for file in files if file.name != PREDICTIONS_FILE]


def _natural(file: Path) -> tuple[tuple[int, int | str], ...]:
    """A key that puts 2 before 10."""
    parts = re.findall(r"\d+|\D+", file.stem)
    return tuple((0, int(part)) if part.isdecimal() else (1, part) for part in parts)


def _review(file: Path, gold: dict[str, list[str]], pages: Path | None) -> TrajectoryReview:
    try:
        trajectory = read_trajectory(file)
    except DatasetError as error:
        return TrajectoryReview(id=file.stem, unreadable=str(error))
    titles = gold.get(trajectory.setup.id or "", [])
    page = None if pages is None else pages / f"{file.stem}.html"
    if page is not None:
        with output_file(page) as written:
            written.write(render_trajectory(trajectory, titles).encode("utf-8", "replace"))
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
    """How a trajectory ended that selected no paper; empty for one that is under way or selected one."""
    return (ENDINGS[trajectory.outcome],) if trajectory.outcome not in (None, "selected") else ()
