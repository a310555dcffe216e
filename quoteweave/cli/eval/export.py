"""`quoteweave eval export`: a run as files of TREC or CiteVQA: its ranking with the gold, or its answers."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer
from pydantic import JsonValue

from quoteweave.cli.console import print_json
from quoteweave.cli.options.collection import JsonOption
from quoteweave.cli.options.evaluation import DatasetOption, PartialOption, ReferencesOption, RunArgument, ScopeOption
from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.files.whole_files import output_file
from quoteweave.core.messages import pluralize
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.datasets.citevqa import citevqa_answers
from quoteweave.evaluation.formats import load_predictions
from quoteweave.evaluation.formats.ranking_json import ranking_json
from quoteweave.evaluation.formats.trec import (
    Items,
    all_rankings,
    column_name,
    qrels_lines,
    run_lines,
    trec_pair,
    with_column_names,
)
from quoteweave.evaluation.formats.trec_rag import MAX_WORDS, TrecRagTag, trec_rag_answers
from quoteweave.evaluation.scoring.matching import match_predictions, select_scope
from quoteweave.generation.sentences import sentence_texts

JSON = """--json prints one object:

run, qrels: the files that were written;

questions: in the qrels; empty: those for which nothing was found, which the run has no line for;

failed, undefined: left out of both files, as failed searches or without known gold.

With --ranking: file; questions: whose rankings it holds; empty: those for which nothing was found; failed: left out.

With --trec-rag: file; answers: lines in it; failed: left out, as errors; out_of_range, dropped: marks that name no
quote and quotes that nothing cites, left out; long: answers of more than 400 words.

With --citevqa: file; answers: items in it; failed: left out, as errors."""

RUN, QRELS = "run.trec", "qrels.trec"
TrackYear = Literal["2024", "2025"]
"""Years of TREC's RAG track."""


def export(
    run: RunArgument,
    dataset: DatasetOption,
    trec: Annotated[Path | None, typer.Option(metavar="DIR", help=f"Write {RUN} and {QRELS} into this folder.")] = None,
    ranking: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the rankings alone: JSON into a .json file, else a TREC run."),
    ] = None,
    references: ReferencesOption = None,
    items: Annotated[
        Items, typer.Option(help="What is ranked; documents go by their names without the suffix.")
    ] = "quotes",
    scope: ScopeOption = None,
    trec_rag: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the answers in the form of TREC's RAG track.")
    ] = None,
    year: Annotated[TrackYear, typer.Option(help="The year of the track, whose forms differ.")] = "2025",
    team: Annotated[str | None, typer.Option(metavar="NAME", help="Your tag, which the form of 2025 asks for.")] = None,
    citevqa: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write answers with boxes, as CiteVQA's script reads them.")
    ] = None,
    partial: PartialOption = False,
    as_json: JsonOption = False,
) -> None:
    """Export rankings, with gold (TREC) or alone, or answers.

    --trec: both files hold the questions that have known gold and did not fail, so that
    trec_eval -c and ir_measures give the same means as quoteweave. White
    space in names is written as in URLs (%20). Scores are those of the run
    if they rank as it ranked; otherwise they count down.

    --ranking: all questions that did not fail, whether or not gold is known, of a run
    that keeps rankings ('eval retrieval --run'). JSON is one object, query to
    item to score. 'eval score' reads both forms.

    --trec-rag: one line per answer, with the ids of the quotes that were shown and
    what each sentence cites.

    --citevqa: marks are written as the boxes of the quotes that they cite; failed
    questions are left out, as the authors' code does.
    """
    if sum(target is not None for target in (trec, ranking, trec_rag, citevqa)) != 1:
        raise UsageError(
            "say what to write: --trec DIR or --ranking FILE for rankings, --trec-rag FILE or --citevqa FILE for "
            "answers"
        )
    examples = load_dataset(dataset, references)
    ranked = select_scope(load_predictions(run), scope)
    predictions = match_predictions(examples, ranked, partial=partial)
    if trec is not None:
        _export_ranking(trec, examples, predictions, run=run, items=items, dataset=dataset, as_json=as_json)
    elif ranking is not None:
        _export_all(ranking, predictions, run=run, items=items, as_json=as_json)
    elif trec_rag is not None:
        _export_answers(trec_rag, examples, predictions, _tag(run, year, team), as_json=as_json)
    elif citevqa is not None:
        if references is None or not any(example.documents for example in examples):
            raise UsageError(f"--citevqa writes answers to CiteVQA, not to {dataset}")
        _export_boxes(citevqa, citevqa_answers(references, examples, predictions), len(predictions), as_json=as_json)


def _tag(run: Path, year: TrackYear, team: str | None) -> TrecRagTag:
    if year == "2025" and team is None:
        raise UsageError("the form of 2025 names who answered: give --team NAME, or --year 2024")
    return TrecRagTag(run=column_name(run.name), team=team or "", year=2024 if year == "2024" else 2025)


def _export_answers(
    path: Path, examples: Sequence[Example], predictions: Sequence[Prediction], tag: TrecRagTag, *, as_json: bool
) -> None:
    answers = trec_rag_answers(examples, predictions, sentence_texts, tag)
    if not answers.lines:
        raise DatasetError("the run holds no answers: it ranks alone, or all of its predictions are errors")
    with output_file(path) as file:
        file.write("".join(answers.lines).encode())
    if as_json:
        counts = {name: getattr(answers, name) for name in ("failed", "out_of_range", "dropped", "long")}
        print_json({"file": str(path), "answers": len(answers.lines), **counts})
        return
    typer.echo(f"{path}: {pluralize(len(answers.lines), 'answer')}")
    _print_counts(
        (answers.failed, "failed prediction", "left out"),
        (answers.out_of_range, "citation", "of quotes that do not exist, left out"),
        (answers.dropped, "quote", "that nothing cites, left out: more than the track allows"),
        (answers.long, "answer", f"of more than {MAX_WORDS} words, which the track allows"),
    )


def _export_boxes(
    path: Path, answers: Sequence[Mapping[str, JsonValue]], question_count: int, *, as_json: bool
) -> None:
    with output_file(path) as file:
        file.write(json.dumps(answers, ensure_ascii=False, indent=2).encode() + b"\n")
    failed = question_count - len(answers)
    if as_json:
        print_json({"file": str(path), "answers": len(answers), "failed": failed})
        return
    typer.echo(f"{path}: {pluralize(len(answers), 'answer')}")
    _print_counts((failed, "failed prediction", "left out"))


def _export_ranking(
    trec: Path,
    examples: Sequence[Example],
    predictions: Sequence[Prediction],
    *,
    run: Path,
    items: Items,
    dataset: str,
    as_json: bool,
) -> None:
    pair = trec_pair(examples, predictions, items=items)
    if not pair.run:
        advice = _no_ranking(predictions)
        raise DatasetError(f"{run} ranks no {items} for which {dataset} tells gold; see --items and --scope{advice}")
    with output_file(trec / RUN) as run_file, output_file(trec / QRELS) as qrels_file:
        run_file.write("".join(run_lines(pair.run, tag=column_name(run.name))).encode())
        qrels_file.write("".join(qrels_lines(pair.qrels)).encode())
    if as_json:
        counts = {"failed": pair.failed, "undefined": pair.undefined, "empty": pair.empty}
        print_json({"run": str(trec / RUN), "qrels": str(trec / QRELS), "questions": len(pair.qrels), **counts})
        return
    typer.echo(f"{trec / RUN} and {trec / QRELS}: {pluralize(len(pair.qrels), 'question')}")
    _print_counts(
        (pair.failed, "question", "failed, left out of both files"),
        (pair.undefined, "question", "without known gold, left out of both files"),
        (pair.empty, "question", "found nothing, in the qrels alone: trec_eval counts them with -c"),
    )


def _no_ranking(predictions: Sequence[Prediction]) -> str:
    """If a run only has answers and their contexts, a sentence that says which command keeps rankings; else ""."""
    if not all(
        prediction.error is not None or (prediction.response is not None and not prediction.hits)
        for prediction in predictions
    ):
        return ""
    return ". It keeps answers and their contexts; rankings are kept by 'quoteweave eval retrieval --run'"


def _export_all(path: Path, predictions: Sequence[Prediction], *, run: Path, items: Items, as_json: bool) -> None:
    ranked = all_rankings(predictions, items=items)
    if not any(ranked.values()):
        raise DatasetError(f"{run} ranks no {items}; see --items and --scope{_no_ranking(predictions)}")
    if path.suffix == ".json":
        lines = [ranking_json(ranked)]
    else:
        lines = [*run_lines(with_column_names(ranked), tag=column_name(run.name))]
    with output_file(path) as file:
        file.write("".join(lines).encode())
    empty = sum(not scores for scores in ranked.values())
    failed = sum(prediction.error is not None for prediction in predictions)
    if as_json:
        print_json({"file": str(path), "questions": len(ranked), "empty": empty, "failed": failed})
        return
    typer.echo(f"{path}: {pluralize(len(ranked), 'question')}")
    _print_counts((empty, "question", "found nothing"), (failed, "question", "failed, left out"))


def _print_counts(*counts: tuple[int, str, str]) -> None:
    """Print on stderr each count that is not 0, with what is counted, and what became of it."""
    for count, noun, outcome in counts:
        if count:
            typer.echo(f"{pluralize(count, noun)} {outcome}", err=True)
