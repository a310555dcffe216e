"""`quoteweave eval trajectories`: how searches for papers went, step by step, and whether anything leaked."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from quoteweave.attribution.trajectory_review import TrajectoryReview, review_trajectories
from quoteweave.cli.console import print_json, printable
from quoteweave.cli.options.collection import JsonOption
from quoteweave.cli.options.evaluation import ReferencesOption
from quoteweave.core.messages import pluralize
from quoteweave.evaluation.datasets import load_dataset

JSON = """--json prints one object: trajectories, each with id, outcome (selected, bad_format, content_filter, window,
loops, no_selection, endpoint or source; null where it was broken off), actions, selected (a title), correct (null
without references, after a technical error, and where it was broken off), findings, leaks (step, kind, paper, reason)
and page; and leaks, their number."""


def trajectories(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="A run over CiteME, or another folder with its trajectories.")
    ],
    references: ReferencesOption = None,
    html: Annotated[
        Path | None, typer.Option(help="Write a page of each search into this folder.", metavar="DIR")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say how searches for papers went: where each went wrong, and what leaked.

    With --references it is said whether the paper cited was shown, read, or only
    named in another one. A leak is a paper that should have been hidden: the one
    that the excerpt is from, or one published later. Leaks give exit code 1.
    """
    examples = [] if references is None else load_dataset("citeme", references)
    found = review_trajectories(run, examples, pages=html)
    leaks = sum(len(one.leaks) for one in found)
    if as_json:
        print_json({"trajectories": [one.model_dump(mode="json") for one in found], "leaks": leaks})
    else:
        _print(found)
        typer.echo(pluralize(leaks, "leak"))
    if leaks:
        raise typer.Exit(1)


def _print(found: Sequence[TrajectoryReview]) -> None:
    for one in found:
        right = {None: "", True: ", right", False: ", wrong"}[one.correct]
        selected = "" if one.selected is None else f": {one.selected}"
        _line(f"{one.id}  {one.outcome or 'broken off'}{right}, {pluralize(one.actions, 'action')}{selected}")
        for line in (*(() if one.correct else one.findings), *(f"leak: {leak}" for leak in one.leaks), one.page):
            if line:
                _line(line, indent="  ")
    outcomes = Counter(one.outcome or "broken off" for one in found).most_common()
    counts = ", ".join(f"{number} {outcome}" for outcome, number in outcomes)
    typer.echo(f"{pluralize(len(found), 'trajectory', 'trajectories')}: {counts}")
    right_or_wrong = [one.correct for one in found if one.correct is not None]
    if right_or_wrong:
        typer.echo(f"{sum(right_or_wrong)} of {len(right_or_wrong)} selected the paper cited, by its title")


def _line(text: str, indent: str = "") -> None:
    """Print a text on one line, whatever titles hold."""
    typer.echo(indent + printable(text.replace("\n", " ").replace("\r", " ")))
