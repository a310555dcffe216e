"""`quoteweave eval`: how good a retriever is on a dataset with gold evidence."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quoteweave.cli import (
    eval_calibrate,
    eval_citations,
    eval_compare,
    eval_entailment,
    eval_export,
    eval_judge,
    eval_report_command,
    eval_reproduce,
    eval_score,
)
from quoteweave.cli.endpoint_options import CallLimitOption, RetriesOption, TimeoutOption, patience_of
from quoteweave.cli.eval_subject import Subject, content_of, ingest_for_eval, open_subject
from quoteweave.cli.retrieving import (
    DEFAULT,
    BatchSizeOption,
    DeviceOption,
    ExpandOption,
    Finding,
    FusionOption,
    RerankOption,
    RetrieversOption,
    TermsOption,
    TrustOption,
    read_all_terms,
    recorded,
    tell,
)
from quoteweave.cli.search import with_chat_named
from quoteweave.core.fingerprints import file_sha256
from quoteweave.core.messages import counted
from quoteweave.core.urls import without_credentials

if TYPE_CHECKING:
    from quoteweave.core.examples import Example, Prediction, Scope
    from quoteweave.core.runs import Configuration, Run, RunWriter
    from quoteweave.evaluation.scoring.scores import Scores

app = typer.Typer(no_args_is_help=True)
app.command("score", epilog=eval_score.JSON)(eval_score.score)
app.command("compare", epilog=eval_compare.JSON)(eval_compare.compare)
app.command("entailment", epilog=eval_entailment.JSON)(eval_entailment.entailment)
app.command("report", epilog=eval_report_command.JSON)(eval_report_command.report)
app.command("export", epilog=eval_export.JSON)(eval_export.export)
app.command("reproduce", epilog=eval_reproduce.JSON)(eval_reproduce.reproduce)
app.command("judge", epilog=eval_judge.JSON)(eval_judge.judge)
app.command("citations", epilog=eval_citations.JSON)(eval_citations.citations)
app.command("calibrate", epilog=eval_calibrate.JSON)(eval_calibrate.calibrate)

RETRIEVAL_JSON = """--json prints one object; figures are fractions, null where undefined:

dataset, retriever, terms, expand, rerank, questions: what was asked;

unread: document to the reason why it could not be read;

failed: questions whose search failed;

in_document: figure to mean: page_recall@k, box_recall@k, box_precision@k, layout_recall@k; page and
layout recall also as page_recall@k.mean_over_domains;

collection: figure to mean: page_recall@k, page_recall@k.mean_over_domains;

by_evidence_type: type to n, in_document, collection, as above;

undefined: in_document, collection: figure to questions left out;

interval_95: in_document, collection: figure to its low and high bound."""


MOST_NOTES = 5  # that are told


class DatasetName(StrEnum):
    """The datasets that can be measured on."""

    MMDOCIR = "mmdocir"
    MMLONGBENCH = "mmlongbench"


@app.callback()
def evaluate() -> None:
    """Measure on datasets with gold evidence."""


@app.command(epilog=RETRIEVAL_JSON)
def retrieval(
    dataset: Annotated[DatasetName, typer.Option(help="Which dataset PATH holds.")],
    path: Annotated[
        Path,
        typer.Option(help="Folder with annotations.jsonl (of mmlongbench samples.jsonl) and pdf/; it is only read."),
    ],
    collection: Annotated[Path, typer.Option("--collection", "-c", help="Collection to add the documents to.")],
    retriever: RetrieversOption = None,
    fusion: FusionOption = None,
    terms: TermsOption = None,
    expand: ExpandOption = None,
    rerank: RerankOption = None,
    device: DeviceOption = None,
    batch_size: BatchSizeOption = None,
    trust_remote_code: TrustOption = False,
    timeout_s: TimeoutOption = None,
    call_limit_s: CallLimitOption = None,
    retries: RetriesOption = None,
    run: Annotated[
        Path | None, typer.Option(help="Keep the predictions in this folder, or resume those there.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON value instead of tables.")] = False,
) -> None:
    """Ask every question of a dataset and score what a retriever finds.

    Page recall: the share of a question's gold pages among the first k pages.
    Box recall: the share of its gold area that the first k quotes cover.
    Box precision: the share of the area they cover that is gold.

    Layout recall: as box recall, but overlaps count as often as they occur.

    Whole-page quotes are left out of box and layout figures. All are means over
    questions, page and layout recall also over domains; a question with several
    evidence types counts in each. A document that could
    not be read yields nothing for its questions; a question whose search failed
    is left out. Both are told, and give exit code 1.

    Documents that the collection holds are searched as they were added. With
    --rerank a ranking is the 40 candidates that are reranked, and ends there.
    """
    from quoteweave.core.runs import Run
    from quoteweave.evaluation.datasets import load_dataset
    from quoteweave.evaluation.datasets.mmdocir import ANNOTATIONS, DOCUMENTS
    from quoteweave.evaluation.datasets.mmlongbench import SAMPLES
    from quoteweave.evaluation.scoring.retrieval import score_retrieval, search_errors

    questions = {DatasetName.MMDOCIR: ANNOTATIONS, DatasetName.MMLONGBENCH: SAMPLES}[dataset]
    examples = load_dataset(dataset.value, path)
    patience, own = patience_of(timeout_s, call_limit_s, retries), read_all_terms(terms)
    finding = with_chat_named(
        Finding(retriever, fusion, expand, rerank, device, batch_size, trust_remote_code, patience, terms=own)
    )
    steps = {
        step: how and without_credentials(how) for step, how in (("expand", finding.expand), ("rerank", finding.rerank))
    }
    named = without_credentials("; ".join([*(retriever or [DEFAULT]), *([fusion] if fusion else [])]))
    ingest_for_eval(collection, path / DOCUMENTS, quiet=as_json)
    with open_subject(collection, finding, quiet=as_json) as subject:
        configuration: Configuration = {
            "dataset": dataset.value,
            "retriever": named,
            **{step: how for step, how in steps.items() if how},
        }
        fingerprints = {
            "annotations": file_sha256(path / questions),
            "documents": content_of(subject.documents),
            **subject.indexes,
            **recorded(finding.terms),
        }
        asked = Run(configuration=configuration, fingerprints=fingerprints)
        predictions = _predictions(examples, subject, run, asked)
        scores = score_retrieval(examples, predictions, dataset=dataset.value)
        errors = search_errors(scores)
    _tell_notes(subject.notes)
    unread = _unread(examples, subject, path / DOCUMENTS)
    asked_with = {"retriever": named, "terms": [str(file) for file in terms or ()], **steps}
    head = {"dataset": dataset.value, **asked_with, "questions": len(examples), "unread": unread}
    _show(scores, errors, head, as_json=as_json)
    if unread or errors:
        raise typer.Exit(1)


def _predictions(
    examples: "Sequence[Example]", subject: Subject, folder: Path | None, asked: "Run"
) -> "list[Prediction]":
    from quoteweave.core.runs import open_run

    if folder is None:
        return list(_ask(examples, subject, None))
    with open_run(folder, asked) as run:
        if len(run):
            typer.echo(f"resuming {folder}: {counted(len(run), 'prediction is', 'predictions are')} there", err=True)
        for prediction in _ask(examples, subject, run):
            run.append(prediction)
        return run.predictions


def _ask(examples: "Sequence[Example]", subject: Subject, run: "RunWriter | None") -> "Iterator[Prediction]":
    """Searches what the run does not hold yet, in both scopes, and shows how far it is."""
    from rich.console import Console
    from rich.progress import track

    from quoteweave.pipeline.experiment import SCOPES, run_retrieval

    console = Console(stderr=True)
    for scope in SCOPES:
        left = [example for example in examples if run is None or not run.has(example.id, scope)]
        predictions = run_retrieval(left, subject.retriever, scope=scope, documents=subject.names)
        yield from track(
            predictions,
            description=f"searching, {scope}",
            total=len(left),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )


def _tell_notes(notes: Counter[str]) -> None:
    """The notes that most searches gave."""
    for note, count in notes.most_common(MOST_NOTES):
        tell(f"note, in {count} searches: {note}")
    if len(notes) > MOST_NOTES:
        tell(f"and {len(notes) - MOST_NOTES} other notes")


def _unread(examples: "Sequence[Example]", subject: Subject, folder: Path) -> dict[str, str]:
    """Tells which documents cannot be searched, and why."""
    absent = Counter(example.document for example in examples if example.document not in subject.names)
    unread = {name: subject.failures.get(name, f"not in {folder}") for name in absent if name is not None}
    for name, reason in unread.items():
        typer.echo(
            f"not read: {name}: {reason}; nothing is found there for {counted(absent[name], 'question')}", err=True
        )
    return unread


def _said(how: object) -> str:
    return ", ".join(map(str, how)) if isinstance(how, list) else str(how)


def _show(
    scores: "Mapping[Scope, Scores]", errors: Mapping[str, str], head: Mapping[str, object], *, as_json: bool
) -> None:
    from quoteweave.cli.eval_report import as_dict, tables
    from quoteweave.cli.output import console, print_json
    from quoteweave.cli.tables import show_table

    if as_json:
        print_json({**head, "failed": len(errors), **as_dict(scores)})
    else:
        asked = [f"{part} {_said(head[part])}" for part in ("retriever", "terms", "expand", "rerank") if head[part]]
        typer.echo(f"{head['dataset']}: {counted(int(str(head['questions'])), 'question')}, {', '.join(asked)}\n")
        out = console()
        for table in tables(scores):
            show_table(out, table)
    for name, error in errors.items():
        typer.echo(f"failed: {name}: {error}", err=True)
