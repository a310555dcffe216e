"""`quoteweave eval export`: a run and its dataset's gold as files that trec_eval and ir_measures read."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from quoteweave.cli.console import print_json, writing_output
from quoteweave.cli.options.collection import JsonOption
from quoteweave.cli.options.evaluation import (
    DatasetOption,
    PartialOption,
    ReferencesOption,
    RunArgument,
    ScopeOption,
)
from quoteweave.core.errors import DatasetError
from quoteweave.core.messages import pluralize
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.formats import load_predictions
from quoteweave.evaluation.formats.trec import TrecPair, column_name, qrels_lines, run_lines, trec_pair
from quoteweave.evaluation.scoring.matching import match_predictions, select_scope

JSON = """--json prints one object:

run, qrels: the files that were written;

questions: in the qrels; empty: those for which nothing was found, which the run has no line for;

failed, undefined: left out of both files, as failed searches or without known gold."""

RUN, QRELS = "run.trec", "qrels.trec"


class ItemsName(StrEnum):
    """What is ranked."""

    QUOTES = "quotes"
    PAGES = "pages"
    DOCUMENTS = "documents"


def export(
    run: RunArgument,
    dataset: DatasetOption,
    trec: Annotated[Path, typer.Option(metavar="DIR", help=f"Write {RUN} and {QRELS} into this folder.")],
    references: ReferencesOption = None,
    items: Annotated[
        ItemsName, typer.Option(help="What is ranked; documents go by their names without the suffix.")
    ] = ItemsName.QUOTES,
    scope: ScopeOption = None,
    partial: PartialOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write what was ranked as a TREC run, and the gold as qrels.

    Both hold the questions that have known gold and did not fail, so that
    trec_eval -c and ir_measures give the means that quoteweave gives. White
    space in names is written as in URLs (%20). Scores are those of the run
    where they rank as it ranked, and else count down.
    """

    examples = load_dataset(dataset, references)
    ranked = select_scope(load_predictions(run), None if scope is None else scope.value)
    predictions = match_predictions(examples, ranked, partial=partial)
    pair = trec_pair(examples, predictions, items=items.value)
    if not pair.run:
        raise DatasetError(f"{run} ranks no {items.value} for which {dataset} tells gold; see --items and --scope")
    with writing_output(trec):
        trec.mkdir(parents=True, exist_ok=True)
        (trec / RUN).write_text("".join(run_lines(pair.run, tag=column_name(run.name))), "utf-8")
        (trec / QRELS).write_text("".join(qrels_lines(pair.qrels)), "utf-8")
    if as_json:
        counts = {"failed": pair.failed, "undefined": pair.undefined, "empty": pair.empty}
        print_json({"run": str(trec / RUN), "qrels": str(trec / QRELS), "questions": len(pair.qrels), **counts})
    else:
        typer.echo(f"{trec / RUN} and {trec / QRELS}: {pluralize(len(pair.qrels), 'question')}")
        for sentence in _notes(pair):
            typer.echo(sentence, err=True)


def _notes(pair: TrecPair) -> list[str]:
    notes = {
        "failed, left out of both files": pair.failed,
        "without known gold, left out of both files": pair.undefined,
        "found nothing, in the qrels alone: trec_eval counts them with -c": pair.empty,
    }
    return [f"{pluralize(count, 'question')} {what}" for what, count in notes.items() if count]
