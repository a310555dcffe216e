"""`quoteweave eval citations` and `judges`: check sentences against what they cite, and compare who checked them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from quoteweave.cli.console import console, plain, print_failures, print_json, print_notes
from quoteweave.cli.eval.paid import (
    CITATIONS,
    JudgingOptions,
    confirm_judging,
    count_spent,
    judge_price,
    judgements_path,
    load_judged_items,
    make_judge_model,
    print_judged_meanwhile,
    require_answers,
)
from quoteweave.cli.options.collection import JsonOption
from quoteweave.cli.options.evaluation import (
    ConventionOption,
    DatasetOption,
    ReferencesOption,
    RunArgument,
    RunsArgument,
    files_per_run,
)
from quoteweave.cli.options.settings import JUDGING, OptionValues, make_settings, takes_options
from quoteweave.cli.progress import TerminalProgress
from quoteweave.cli.tables import UNDEFINED, make_table, show_table
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.errors import UsageError
from quoteweave.core.examples import Example
from quoteweave.core.messages import pluralize
from quoteweave.core.protocols import Splitter
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.judges.agreement import is_form, load_forms, write_forms
from quoteweave.evaluation.judges.batch import JudgingItem, judging_items
from quoteweave.evaluation.judges.evidence_judge import ChatEvidenceJudge, ChatSplitter
from quoteweave.evaluation.judges.evidence_verdicts import (
    EvidenceVerdict,
    judge_evidence,
    load_evidence_verdicts,
    plan_evidence,
    with_explanation,
)
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.metrics.registry import MetricOptions, evidence_metrics
from quoteweave.evaluation.scoring.comparison import JudgeComparison, JudgedRun, RunByJudges, compare_judges, run_names
from quoteweave.evaluation.scoring.notes import stale_verdicts_note
from quoteweave.evaluation.scoring.saved_runs import LoadedRun, ScoringRequest, load_run
from quoteweave.evaluation.statistics.intervals import Estimate
from quoteweave.evaluation.text.source_marks import RuleSplitter, split_by_rule
from quoteweave.generation.sentences import sentence_texts
from quoteweave.pipeline.runs.dataset_pictures import missing_pictures, missing_pictures_error, pictures_in
from quoteweave.pipeline.settings import ChatSettings

JSON = """--json prints one object:

judge, splitter: what judged and split, with the beginnings of the prompts' hashes; judgements: the file;

asked, judged, failed: answers asked for now, judged in all, and in which any judgement failed;

no_answer: predictions that are errors; errors: example to reason;

tokens: input, output of what was asked now; price_usd: null where not known;

figures: name to value, such as citation.recall.cited, citation.precision, accuracy; null where undefined; n: of as many
answers."""


SplitterName = Literal["model", "rule"]
"""Who splits answers into sentences with their citations."""


@takes_options(*JUDGING)
def citations(
    run: RunArgument,
    dataset: DatasetOption,
    option_values: OptionValues,
    *,
    references: ReferencesOption = None,
    split: Annotated[
        SplitterName,
        typer.Option(help="Who cuts answers into sentences and their citations: the judge, or rules at no cost."),
    ] = "model",
    options: JudgingOptions,
    convention: Annotated[
        Convention,
        typer.Option(help="published: as MCiteBench's scripts, which show the judge why a Locating answer is right."),
    ] = "strict",
    out: Annotated[
        Path | None, typer.Option(help="File for judgements; the default is citations.jsonl in the run's folder.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Have a chat model check each sentence of saved answers against what it cites.

    As in MCiteBench: how far all that a sentence cites supports it (0, 0.5 or
    1), whether each cited item bears on it, and how right the answer is. Tokens
    and price are printed first. Judgements are saved at once: run the same
    command again to ask only for what is missing or failed. quoteweave eval score
    --citations gives their figures with intervals and groups. Judgements that
    failed give exit code 1.
    """
    settings, path = make_settings(ChatSettings, option_values), judgements_path(run, out, CITATIONS)
    judge = ChatEvidenceJudge(
        make_judge_model(settings, options.calls),
        prompts_folder=settings.prompts,
        images=pictures_in(options.image_folder),
    )
    splitter = _splitter(split, settings, options.calls)
    pairs = load_judged_items(run, dataset, references)[: options.limit]
    price = judge_price(settings, options.usd_per_million)
    stored = load_evidence_verdicts(path) if path.exists() else {}
    if convention == "published":
        pairs = [(prediction, with_explanation(example)) for prediction, example in pairs]
    plan = plan_evidence(pairs, stored, split=lambda answer: split_by_rule(sentence_texts(answer)))
    require_answers(plan, run)
    folder = options.image_folder
    if folder and (lacking := missing_pictures([example for _, example in plan.left], folder)):
        raise missing_pictures_error(lacking, folder)
    asked_ids = set[str]()
    if plan.left:
        warning = None if folder else _warning_of_unseen_pictures(pairs)
        confirm_judging(plan, "check", settings, price, yes=options.yes, warning=warning)
        stored, asked_ids = _judge_answers(plan.left, path, judge, splitter, options.concurrency)
        print_judged_meanwhile(len(plan.left) - len(asked_ids))
    head = {"judge": judge.name, "splitter": splitter.name, "judgements": str(path)}
    counts = {"asked": len(asked_ids), "no_answer": plan.no_answer}
    # Without the tokens of splitting, which are not stored.
    spent = count_spent([grade.usage for name in asked_ids if name in stored for grade in stored[name].grades()], price)
    value = {**head, **counts, "tokens": spent.tokens, "price_usd": spent.price_usd}
    judged = [(pair, stored[pair[1].id]) for pair in pairs if pair[1].id in stored]
    _show(value, judged, convention, as_json=as_json)


def _splitter(split: SplitterName, settings: ChatSettings, calls: Path | None) -> Splitter:
    if split == "rule":
        return RuleSplitter(sentence_texts)
    return ChatSplitter(make_judge_model(settings, calls), prompts_folder=settings.prompts)


def _warning_of_unseen_pictures(pairs: Sequence[JudgingItem]) -> str | None:
    """The warning that a judge without pictures knows nothing of those that have no words; None if all have some."""
    contexts = [prediction.context or example.context for prediction, example in pairs]
    unseen = sum(
        hit.quote.image is not None and not hit.quote.all_text().strip()
        for context in contexts
        if context is not None
        for hit in context.images
    )
    pictures = pluralize(unseen, "picture has", "pictures have")
    return f"{pictures} no words, and the judge sees none: name the folder with --image-folder" if unseen else None


def _judge_answers(
    pairs: Sequence[JudgingItem], path: Path, judge: ChatEvidenceJudge, splitter: Splitter, concurrency: int
) -> tuple[dict[str, EvidenceVerdict], set[str]]:
    """Judge the answers, with a progress bar on a terminal; return all verdicts of the file, and what was judged now.

    That is less than `pairs` if another command has judged some of them since they were planned.
    """
    asked_ids = set[str]()
    with TerminalProgress().task("checking", len(pairs)) as bar:

        def on_verdict(verdict: EvidenceVerdict) -> None:
            asked_ids.add(verdict.example)
            bar.advance()

        judging = judge_evidence(
            pairs, path, judge=judge, splitter=splitter, concurrency=concurrency, on_verdict=on_verdict
        )
        return run_sync(judging), asked_ids


def _show(
    summary: Mapping[str, object],
    judged: Sequence[tuple[JudgingItem, EvidenceVerdict]],
    convention: Convention,
    *,
    as_json: bool,
) -> None:
    errors = {verdict.example: _failure_reason(verdict) for _, verdict in judged if not verdict.is_complete}
    figures = _figures([pair for pair, _ in judged], {verdict.example: verdict for _, verdict in judged}, convention)
    if as_json:
        print_json({**summary, "judged": len(judged), "failed": len(errors), "errors": errors, **_as_dict(figures)})
    else:
        typer.echo(
            f"{pluralize(len(judged), 'answer')} checked by {summary['judge']}, "
            f"{len(errors)} failed: {summary['judgements']}"
        )
        for name, figure in figures.items():
            typer.echo(f"  {name:<28} {'-' if figure.value is None else f'{figure.value:.3f}'}  (n = {figure.n})")
        print_failures(errors)
    if errors:
        raise typer.Exit(1)


def _failure_reason(verdict: EvidenceVerdict) -> str:
    failed = [grade.error for grade in verdict.grades() if grade.score is None]
    return verdict.error or next((error for error in failed if error), "a judgement failed")


def _figures(
    pairs: Sequence[JudgingItem], verdicts: dict[str, EvidenceVerdict], convention: Convention
) -> dict[str, Estimate]:
    """The figures as means over the judged answers, without intervals."""
    figures: dict[str, Estimate] = {}
    for metric in evidence_metrics(verdicts, MetricOptions(convention=convention)):
        rows = [metric.row(*pair) for pair in pairs]
        for figure in metric.aggregates:
            if (undefined := figure.undefined(rows)) < len(rows):
                defined = len(rows) - undefined
                figures[figure.name] = Estimate(value=figure.of(rows), n=defined, undefined=undefined)
    return figures


def _as_dict(figures: Mapping[str, Estimate]) -> dict[str, object]:
    return {
        "figures": {name: figure.value for name, figure in figures.items()},
        "n": {name: figure.n for name, figure in figures.items()},
    }


JUDGES_JSON = """--json prints one object:

figure: what the runs are ranked by; kendall, same_order: of the two judges' orders, null for fewer than two runs;

runs: name, n (answers of which both gave the figure), first, second (the figure by each judge), first_rank,
second_rank, and agreement on sentences: left_out and figures, of each question type and kind of
judgement: n, exact, precision, recall, f1. With --form: form, answers."""


def judges(
    runs: RunsArgument,
    dataset: DatasetOption,
    citations: Annotated[
        list[Path], typer.Option(help="Output of eval citations for these answers; once for each run.", metavar="FILE")
    ],
    references: ReferencesOption = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(
            help="Output of another judge, or a form that people filled in; once for each run.", metavar="FILE"
        ),
    ] = None,
    figure: Annotated[str, typer.Option(help="The figure by which runs are ranked, such as citation.f1.cited.")] = (
        "accuracy"
    ),
    convention: ConventionOption = "strict",
    form: Annotated[
        Path | None,
        typer.Option(help="Write a form for people instead, a line for each judged answer.", metavar="FILE"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two judges of cited answers, or a judge with people.

    As in MCiteBench: the figure and rank that each judge gives each run, over
    the answers that both judged, and whether the order is the same (Table 13); and
    precision, recall and F1 of the first judge's grades of sentences, taking
    those of --against as right (Table 12). People fill in the form that --form
    writes.
    """
    examples = load_dataset(dataset, references)
    loaded = [
        _load(run, verdict_file, dataset, references, examples)
        for run, verdict_file in zip(runs, files_per_run("citations", citations, runs), strict=True)
    ]
    items_of_runs = [judging_items(loaded_run.predictions, examples) for loaded_run in loaded]
    if form is not None:
        if len(runs) != 1:
            raise UsageError("--form is of one run; name that alone")
        count = write_forms(items_of_runs[0], loaded[0].citations, form)
        _show_form(form, count, as_json=as_json)
        return
    if not against:
        raise UsageError(
            "name what another judge or people said with --against, or write a form for people with --form"
        )
    paths = files_per_run("against", against, runs)
    other_verdicts = [
        load_forms(path, pairs) if is_form(path) else _load(run, path, dataset, references, examples).citations
        for run, path, pairs in zip(runs, paths, items_of_runs, strict=True)
        if path is not None
    ]
    compared = compare_judges(
        [
            JudgedRun(name=name, items=pairs, first=loaded_run.citations, second=verdicts)
            for name, pairs, loaded_run, verdicts in zip(
                run_names(runs), items_of_runs, loaded, other_verdicts, strict=True
            )
        ],
        figure=figure,
        convention=convention,
    )
    _show_judges(compared, as_json=as_json)


def _load(
    run: Path, verdict_file: Path | None, dataset: str, references: Path | None, examples: Sequence[Example]
) -> LoadedRun:
    """Load a run with a judge's verdicts on its answers; verdicts on other answers are left out, which is printed."""
    request = ScoringRequest(run=run, dataset=dataset, references=references, citations=verdict_file, partial=True)
    loaded = load_run(request, examples)
    print_notes([f"{verdict_file}: {stale_verdicts_note(loaded.stale)}"] if loaded.stale else [])
    return loaded


def _show_form(form: Path, count: int, *, as_json: bool) -> None:
    if as_json:
        print_json({"form": str(form), "answers": count})
    else:
        typer.echo(f"{form}: {pluralize(count, 'answer')} for people to judge")


def _show_judges(compared: JudgeComparison, *, as_json: bool) -> None:
    if as_json:
        print_json(compared.model_dump(mode="json"))
        return
    stdout = console()
    table = make_table(("run", "n", "first", "rank", "second", "rank "), words=["run"])
    for run in compared.runs:
        values = [_optional_number(value) for value in (run.first, run.first_rank, run.second, run.second_rank)]
        table.add_row(plain(run.name), str(run.n), *values)
    stdout.print(plain(f"{compared.figure} by each judge"))
    show_table(stdout, table)
    if compared.same_order is not None:
        order = "the same" if compared.same_order else "another"
        stdout.print(plain(f"{order} order by both; Kendall's tau-b {_optional_number(compared.kendall)}"))
    for run in compared.runs:
        _show_agreement(run)


def _show_agreement(run: RunByJudges) -> None:
    stdout = console()
    if run.agreement is None:
        stdout.print(plain(f"{run.name}: no sentence was judged by both"))
        return
    stdout.print(plain(f"{run.name}: sentences; {run.agreement.left_out} judgements by one alone are left out"))
    table = make_table(("judgements", "n", "same", "precision", "recall", "F1"), words=["judgements"])
    for name, figure in run.agreement.figures.items():
        table.add_row(
            name,
            str(figure.n),
            *(_optional_number(value) for value in (figure.exact, figure.precision, figure.recall, figure.f1)),
        )
    show_table(stdout, table)


def _optional_number(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.3g}" if value.is_integer() else f"{value:.3f}"
