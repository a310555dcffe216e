"""`quoteweave run`: answers the questions of a dataset by a configuration, and keeps the answers for scoring."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from quoteweave.attribution.agent.run_settings import PaperRunFile
from quoteweave.attribution.agent.runs import PAPER_DATASETS, answer_excerpts
from quoteweave.attribution.drafts.post_hoc_runs import SAVED_ANSWERS_MODEL, PostHocRunFile, cite_answers
from quoteweave.cli.console import on_terminal, print_failures, print_frequent_notes, print_json, printable
from quoteweave.cli.options.collection import JsonOption, OptionalCollectionOption
from quoteweave.cli.options.evaluation import DatasetOption, LimitOption, YesOption
from quoteweave.cli.options.settings import ImageFolderOption, PresetOption
from quoteweave.cli.progress import TerminalProgress
from quoteweave.core.errors import UsageError
from quoteweave.core.examples import Spending
from quoteweave.core.messages import pluralize
from quoteweave.evaluation.datasets import dataset_file, load_dataset
from quoteweave.pipeline.presets import load_preset
from quoteweave.pipeline.runs.answer_dataset import PendingQuestions, RunHooks, RunOutcome, answer_dataset
from quoteweave.pipeline.runs.config import File, RunFile, preset_run_file, read_run_file_as
from quoteweave.pipeline.runs.search_dataset import Questions

JSON = """--json prints a list with one object a setting:

setting, run: its name, and the folder that holds it;

questions, answered, located, abstained, failed: of the whole run, what an earlier command answered included;

left_out: questions whose pictures are not all there, with --partial;

cut_quotes: quotes cut to what the model can read;

notes: what was missing or skipped in searches, or cut of documents, to how many questions have it;

asked: questions that were asked now; calls, estimated_calls (whose tokens the endpoint did not count), tokens (input,
output), price_usd (null where not known): of all calls for these, expansion and checks included; seconds."""


def run(
    dataset: DatasetOption,
    references: Annotated[Path, typer.Option(help="The dataset's file.", metavar="FILE")],
    out: Annotated[Path, typer.Option(help="Folder for the run, or for one of each setting.", metavar="DIR")],
    config: Annotated[Path | None, typer.Option(help="TOML file: how questions are answered.", metavar="FILE")] = None,
    preset: PresetOption = None,
    collection: OptionalCollectionOption = None,
    source: Annotated[
        str | None, typer.Option(help="Of CiteME: semantic-scholar, openalex, or the folder of a collection.")
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(help="Of post-hoc presets: saved answers to cite, a run or a file of answers.", metavar="RUN"),
    ] = None,
    image_folder: ImageFolderOption = None,
    setting: Annotated[list[str] | None, typer.Option(help="Only this setting of the file.", metavar="NAME")] = None,
    limit: LimitOption = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Leave out, and count, questions whose pictures are not all there.")
    ] = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Answer every question of a dataset, and keep the answers to be scored.

    Quotes are the dataset's own candidates, or retrieved from a collection, as
    the configuration says; docs/runs.md lists its keys. Each answer is saved at
    once: run the same command again to ask only what is missing or
    failed. Failed questions give exit code 1. Score the run with: quoteweave
    eval score DIR --dataset NAME

    With --preset, questions are answered as in a published experiment; the keys of
    the --config file override it.

    For CiteME, an agent searches --source for the paper that each excerpt cites, and
    saves each of its steps; with ranking = true in --config, retrievers rank its papers.

    With the preset alce-post-hoc or alce-post-hoc-checked, answers are written
    without passages, or taken from --answers, and cited afterwards.
    """
    names_papers, post_hoc = dataset in PAPER_DATASETS, _is_post_hoc(preset)
    if config is None and preset is None:
        raise UsageError("say how questions are answered: with --config FILE, or with --preset NAME")
    if source is not None and not names_papers:
        raise UsageError(f"--source is of {', '.join(PAPER_DATASETS)}; {dataset} takes its quotes from -c DIR")
    if collection is not None and names_papers:
        raise UsageError(f"{dataset} searches papers, not quotes: name the collection with --source, not with -c")
    _check_post_hoc(preset, answers, collection)
    examples = load_dataset(dataset, references)[:limit]
    questions = Questions(dataset, examples, dataset_file(dataset, references), images=image_folder, partial=partial)
    without_model = "a ranking of papers" if names_papers else "extracted sentences"
    hooks = _Hooks(confirmed=yes, writer=SAVED_ANSWERS_MODEL if answers else without_model)
    try:
        if names_papers:
            papers = _run_file(config, preset, PaperRunFile)
            answer_excerpts(papers, questions, out, source=source, only=setting, hooks=hooks)
        elif post_hoc:
            cite_answers(
                _run_file(config, preset, PostHocRunFile), questions, out, answers=answers, only=setting, hooks=hooks
            )
        else:
            file = _run_file(config, preset, RunFile)
            answer_dataset(file, questions, out, collection=collection, only=setting, hooks=hooks)
    except BaseException:  # however the run ends early, show what it has
        if reached := [outcome for outcome in hooks.outcomes if outcome.questions]:
            _show(reached, names_papers=names_papers, as_json=as_json)
        raise
    _show(hooks.outcomes, names_papers=names_papers, as_json=as_json)
    if any(outcome.failed for outcome in hooks.outcomes):
        raise typer.Exit(1)


def _is_post_hoc(preset: str | None) -> bool:
    """Whether answers are cited after they are written."""
    return preset is not None and load_preset(preset).kind == "post_hoc"


def _check_post_hoc(preset: str | None, answers: Path | None, collection: Path | None) -> None:
    """Raise UsageError for options that do not fit the preset."""
    if answers is not None and not _is_post_hoc(preset):
        raise UsageError("--answers is of presets that cite saved answers: --preset alce-post-hoc, for instance")
    if collection is not None and _is_post_hoc(preset):
        raise UsageError(f"preset {preset!r} cites the dataset's own passages: leave -c out")


def _run_file(config: Path | None, preset: str | None, form: type[File]) -> File:
    """Read the file of settings, filled by the preset; without a file, the preset alone."""
    if config is not None:
        return read_run_file_as(form, config, preset)
    return preset_run_file(form, preset or "")


class _Hooks(RunHooks):
    """Prints what will be asked, asks whether to go on, and keeps the outcomes."""

    def __init__(self, *, confirmed: bool, writer: str) -> None:
        self.progress = TerminalProgress()
        self.outcomes: list[RunOutcome] = []
        self._confirmed, self._writer = confirmed, writer

    def before(self, pending: PendingQuestions) -> None:
        done_note = f"; {pending.done} are done already" if pending.done else ""
        writer = pending.model or self._writer
        questions = pluralize(pending.left, "question")
        typer.echo(f"{pending.setting}: {questions} to answer with {writer}{done_note}", err=True)
        if pending.destination is not None:
            typer.echo(f"questions and quotes are sent to {pending.destination}", err=True)
        if pending.left and pending.model and not self._confirmed and on_terminal():
            typer.confirm("Go on, with all settings?", abort=True, err=True)
            self._confirmed = True

    def advanced(self, setting: str, spent: Spending) -> str:
        cost = spent.price_usd
        return f"{setting}, ${cost:.2f}" if spent.calls and cost is not None else setting

    def after(self, outcome: RunOutcome) -> None:
        self.outcomes.append(outcome)


def _show(outcomes: Sequence[RunOutcome], *, names_papers: bool, as_json: bool) -> None:
    """Print outcomes on stdout, and what was spent and why questions failed on stderr."""
    if as_json:
        print_json([_as_dict(outcome) for outcome in outcomes])
        return
    for outcome in outcomes:
        cut = f", {pluralize(outcome.cut_quotes, 'quote')} cut to what the model reads" if outcome.cut_quotes else ""
        located = f"{outcome.located} located, " if outcome.located else ""
        typer.echo(
            printable(
                f"{outcome.run}: {pluralize(outcome.questions, 'question')}, {outcome.answered} answered, {located}"
                f"{outcome.abstained} abstained, {outcome.failed} failed{cut}"
            )
        )
        typer.echo(f"  {_spending(outcome.spent)}", err=True)
        if outcome.left_out:
            typer.echo(f"  {pluralize(outcome.left_out, 'question')} left out: pictures are not there", err=True)
        print_frequent_notes(outcome.notes)
        print_failures(outcome.errors, again=not names_papers)
        if names_papers and outcome.errors:
            typer.echo("the same command goes on where the endpoint or the source failed; others are kept", err=True)


def _spending(spent: Spending) -> str:
    price = "" if spent.price_usd is None else f", ${spent.price_usd:.2f}"
    guessed = f" ({spent.estimated} of these estimated)" if spent.estimated else ""
    return (
        f"{pluralize(spent.calls, 'call')}{guessed}: {spent.input_tokens:,} tokens in and "
        f"{spent.output_tokens:,} out{price}"
    )


def _as_dict(outcome: RunOutcome) -> dict[str, object]:
    value = outcome.model_dump(mode="json", exclude={"spent", "errors", "seconds"})
    return {
        **value,
        "calls": outcome.spent.calls,
        "estimated_calls": outcome.spent.estimated,
        "tokens": {"input": outcome.spent.input_tokens, "output": outcome.spent.output_tokens},
        "price_usd": outcome.spent.price_usd,
        "seconds": outcome.seconds,
    }
