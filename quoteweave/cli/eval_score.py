"""`quoteweave eval score`: the figures of saved answers, with intervals, and what was not counted."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from quoteweave.evaluation.scoring.saved_runs import ScoringRequest
    from quoteweave.evaluation.scoring.scores import Scores

JSON = """--json prints one object; figures are fractions, judgements 0 to 5, null where undefined:

name, dataset, convention, marks, questions, failed, missing: what was scored, and how;

clusters: what intervals resample, document or question;

image, text: precision, recall, f1 over all pairs together, ci95 with the bounds of each,
and the same under mean_over_questions;

overall: precision, recall, f1 as means over questions of the union of both kinds, ci95,
mean_of_kinds_f1 (of the pooled F1 of images and texts), and the same under pooled;

judge: the five aspects and average, ci95; where judgements were given;

figures: every figure by its name, with value, ci95, n and undefined;

breakdowns: breakdown to group to figure, as above; notes: sentences."""


class ConventionName(StrEnum):
    """How what failed counts."""

    STRICT = "strict"
    PUBLISHED = "published"


class MarksName(StrEnum):
    """Which marks count as citations."""

    OWN = "own"
    PUBLISHED = "published"


class ScopeName(StrEnum):
    """What was searched."""

    DOCUMENT = "document"
    COLLECTION = "collection"
    CONTEXT = "context"


def score(
    run: Annotated[Path, typer.Argument(metavar="RUN_OR_FILE", help="A run folder, or a file of responses.")],
    dataset: Annotated[str, typer.Option(help="What was asked, such as mmdocrag-20.")],
    references: Annotated[
        Path | None, typer.Option(help="The dataset's file, or one that holds its gold alone.")
    ] = None,
    judgements: Annotated[Path | None, typer.Option(help="A judge's scores of these answers.")] = None,
    citations: Annotated[
        Path | None, typer.Option(help="What quoteweave eval citations kept of these answers.", metavar="FILE")
    ] = None,
    scope: Annotated[ScopeName | None, typer.Option(help="Of a run that searched several: which of them.")] = None,
    convention: Annotated[
        ConventionName,
        typer.Option(help="strict: leave out what failed. published: count it as empty and 0, as MMDocRAG did."),
    ] = ConventionName.STRICT,
    marks: Annotated[
        MarksName | None,
        typer.Option(help="published: [n] and (imagen) alone. own: [1, 2] and [1-3] too. Else as the convention."),
    ] = None,
    partial: Annotated[bool, typer.Option("--partial", help="Score a run that answers some of the questions.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON value instead of tables.")] = False,
) -> None:
    """Score saved answers: which gold quotes they cite, and what a judge said of them.

    Precision: the share of the cited quotes that are gold. Recall: the share of
    the gold quotes that are cited. F1: their harmonic mean. Intervals are
    bootstraps in which documents are drawn, or questions where documents are
    not known. Undefined figures are counted, and left out of means.
    """
    from quoteweave.cli.eval_score_output import show
    from quoteweave.evaluation.scoring.saved_runs import ScoringRequest

    sources = ScoringRequest(
        run=run,
        dataset=dataset,
        references=references,
        judgements=judgements,
        citations=citations,
        scope=None if scope is None else scope.value,
        convention=convention.value,
        marks=None if marks is None else marks.value,
        partial=partial,
    )
    show(_scores(sources), as_json=as_json)


def _scores(sources: "ScoringRequest") -> "Scores":
    """Shows on a terminal that it is at work."""
    from rich.console import Console

    from quoteweave.endpoints.prices import chat_price
    from quoteweave.evaluation.scoring.saved_runs import score as score_saved

    with Console(stderr=True).status("scoring"):
        return score_saved(sources, prices=chat_price).scores
