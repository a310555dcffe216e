"""`quoteweave eval score` and `mauve`: the figures of saved answers, with intervals, and what was not counted."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from quoteweave.cli.console import print_json
from quoteweave.cli.eval.score_tables import show
from quoteweave.cli.options.collection import JsonOption
from quoteweave.cli.options.evaluation import (
    ByOption,
    DatasetOption,
    PartialOption,
    ReferencesOption,
    RunArgument,
    ScoringOptions,
)
from quoteweave.cli.options.settings import takes_options
from quoteweave.core.messages import pluralize
from quoteweave.endpoints.prices import chat_price
from quoteweave.evaluation.metrics.answers.mauve import CHECKPOINT, mauve_score
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.scoring.saved_runs import ScoringRequest, load_run
from quoteweave.evaluation.scoring.saved_runs import score as score_saved

JSON = """--json prints one object; figures are fractions, judgements 0 to 5, null where undefined:

name, dataset, convention, marks, questions, failed, missing, not_answered: what was scored, and how;

clusters: what intervals are over, document or question (by itself each question of no known document);

image, text: precision, recall, f1 over all pairs together, ci95 with the bounds of each,
and the same under mean_over_questions;

overall: precision, recall, f1 as means over questions of the union of both kinds, ci95,
mean_of_kinds_f1 (of the pooled F1 of images and texts), and the same under pooled;

judge: the five aspects and average, ci95; where judgements were given;

figures: every figure by its name, with value, ci95, n (questions), clusters (documents that these
come from) and undefined;

breakdowns: breakdown to group to figure, as above; with --by domain,evidence a group is
`Brochure × chart`; notes: sentences."""


@takes_options()
def score(
    run: RunArgument,
    options: ScoringOptions,
    judgements: Annotated[
        Path | None, typer.Option(help="Output of eval judge for these answers.", metavar="FILE")
    ] = None,
    citations: Annotated[
        Path | None, typer.Option(help="Output of eval citations for these answers.", metavar="FILE")
    ] = None,
    by: ByOption = None,
    as_json: JsonOption = False,
) -> None:
    """Score saved answers: which gold quotes they cite, and what a judge said of them.

    Precision: the share of the cited quotes that are gold. Recall: the share of
    the gold quotes that are cited. F1: their harmonic mean. Intervals are
    over documents, or questions if documents are not known. Undefined figures are counted, and left out of means.
    """
    (request,) = options.requests(
        [run], [judgements] if judgements else None, [citations] if citations else None, by=by
    )
    with Console(stderr=True).status("scoring"):
        scores = score_saved(request, prices=chat_price).scores
    show(scores, as_json=as_json, by=by or ())


MAUVE_JSON = """--json prints mauve (0 to 1), n (answers that were compared), left_out (failed, or without a gold
answer), and checkpoint."""


def mauve(
    run: RunArgument,
    dataset: DatasetOption,
    references: ReferencesOption = None,
    checkpoint: Annotated[
        str,
        typer.Option(
            help="The model whose states are compared: folder or hub name, with gpt2 or bert in it.", metavar="NAME"
        ),
    ] = CHECKPOINT,
    gpu: Annotated[int, typer.Option(min=-1, help="The number of the GPU; -1 is the processor.", metavar="N")] = -1,
    convention: Annotated[
        Convention, typer.Option(help="published: the first line of answers, marks taken out as ALCE's code does.")
    ] = "strict",
    partial: PartialOption = False,
    as_json: JsonOption = False,
) -> None:
    """Measure how similar answers are to gold answers, as texts (MAUVE).

    ALCE prints it as fluency. It compares two sets of texts: a meaningful
    figure needs some hundred answers at least.
    """
    loaded = load_run(ScoringRequest(run=run, dataset=dataset, references=references, metrics=(), partial=partial))
    examples = {example.id: example for example in loaded.examples}
    pairs = [(prediction, examples[prediction.example]) for prediction in loaded.predictions]
    similarity = mauve_score(pairs, convention=convention, checkpoint=checkpoint, device=gpu)
    if as_json:
        print_json(similarity.model_dump(mode="json"))
        return
    typer.echo(f"mauve {similarity.mauve:.4f}, of {pluralize(similarity.n, 'answer')} by {similarity.checkpoint}")
    if similarity.left_out:
        typer.echo(f"{pluralize(similarity.left_out, 'answer')} left out: failed, or without a gold answer", err=True)
