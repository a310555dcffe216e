"""`quoteweave run`: many questions answered by a configuration, resumed, and kept to be scored."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quoteweave.cli.judging import YesOption, on_terminal
from quoteweave.cli.options import JsonOption
from quoteweave.cli.run_answering import Asked, Calls, answering, described, model_of
from quoteweave.cli.run_output import Outcome, count, show

if TYPE_CHECKING:
    from quoteweave.core.examples import Example, Prediction
    from quoteweave.core.runs import RunWriter
    from quoteweave.pipeline.answering import Answerer
    from quoteweave.pipeline.run_settings import Limits, RunSetting
    from quoteweave.pipeline.settings import ModelSettings

JSON = """--json prints a list with one object a setting:

setting, run: its name, and the folder that holds it;

questions, answered, abstained, failed: of the whole run, what an earlier command answered included;

cut_quotes: quotes cut to what the model can read;

asked: questions that were asked now; tokens (input, output), price_usd (null where not known), seconds: of these."""


def run(
    dataset: Annotated[str, typer.Argument(help="What is asked, such as mmdocrag-20 or questions.")],
    references: Annotated[Path, typer.Option(help="The dataset's file.", metavar="FILE")],
    config: Annotated[Path, typer.Option(help="TOML file: how questions are answered.", metavar="FILE")],
    out: Annotated[Path, typer.Option(help="Folder for the run, or for one of each setting.", metavar="DIR")],
    collection: Annotated[
        Path | None, typer.Option("--collection", "-c", help="Where quotes are retrieved.", metavar="DIR")
    ] = None,
    images: Annotated[
        Path | None, typer.Option(help="Folder of the dataset's pictures, for models that see.", metavar="DIR")
    ] = None,
    setting: Annotated[list[str] | None, typer.Option(help="Only this setting of the file.", metavar="NAME")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Ask the first N questions only.", metavar="N")] = None,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Answer every question of a dataset, and keep the answers to be scored.

    Quotes are the dataset's own candidates, or retrieved from a collection, as
    the configuration says; docs/runs.md lists its keys. Each answer is kept as
    soon as it is there: the same command again asks only what is missing or
    failed. Failed questions give exit code 1. Score the run with: quoteweave
    eval score DIR --dataset NAME
    """
    from quoteweave.core.errors import UsageError
    from quoteweave.evaluation.datasets import load_dataset
    from quoteweave.pipeline.run_settings import read_run_file

    file, examples = read_run_file(config), load_dataset(dataset, references)[:limit]
    wanted = [one for one in file.settings if setting is None or one.name in setting]
    if not wanted:
        known = ", ".join(one.name for one in file.settings)
        raise UsageError(f"{config} has no setting {', '.join(setting or [])}; there are: {known}")
    asked = Asked(dataset, references, examples, images, Calls(file.limits))
    told = [
        _answer(asked, one, file.limits, collection, out if len(file.settings) == 1 else out / one.name, yes=yes)
        for one in wanted
    ]
    show(told, as_json=as_json)
    if any(outcome.failed for outcome in told):
        raise typer.Exit(1)


def _answer(
    asked: Asked, setting: "RunSetting", limits: "Limits", collection: Path | None, folder: Path, *, yes: bool
) -> Outcome:
    """Runs one setting, and counts what its folder holds then."""
    import time

    from quoteweave.core.runs import open_run, read_run

    settings = model_of(setting)
    outcome, started = Outcome(setting.name, folder), time.perf_counter()
    with (
        answering(asked, setting, settings, collection) as (answerer, fingerprints),
        open_run(folder, described(asked, setting, settings, fingerprints)) as writer,
    ):
        left = [example for example in asked.examples if not writer.has(example.id, answerer.scope)]
        outcome.asked = len(left)
        if left and limits.calls is None:  # which may hold the answers
            settings.check_address()
        _say(setting, settings, len(left), len(asked.examples) - len(left))
        if left and settings.model and not yes and on_terminal():
            typer.confirm("Go on?", abort=True, err=True)
        _ask(left, answerer, writer, limits, outcome)
    outcome.seconds = time.perf_counter() - started
    of_now = {example.id for example in asked.examples}
    for prediction in read_run(folder)[1]:
        if prediction.example in of_now:
            count(prediction, outcome)
    return outcome


def _say(setting: "RunSetting", settings: "ModelSettings", left: int, done: int) -> None:
    there = f"; {done} are answered already" if done else ""
    typer.echo(
        f"{setting.name}: {left} questions to answer with {settings.model or 'extracted sentences'}{there}", err=True
    )
    if left and settings.destination is not None:
        typer.echo(f"questions and quotes are sent to {settings.destination}", err=True)


def _ask(
    examples: "Sequence[Example]", answerer: "Answerer", writer: "RunWriter", limits: "Limits", outcome: Outcome
) -> None:
    """Asks, with a bar and the price so far on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from quoteweave.core.crossing import wait_for
    from quoteweave.pipeline.answering import answer_all

    stderr = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=stderr, transient=True, disable=not stderr.is_terminal) as bar:
        task = bar.add_task(outcome.setting, total=len(examples))

        def write(prediction: "Prediction") -> None:
            writer.append(prediction)
            _spend(prediction, outcome)
            price = "" if outcome.price_usd is None else f", ${outcome.price_usd:.2f}"
            bar.update(task, advance=1, description=f"{outcome.setting}{price}")

        wait_for(answer_all(examples, answerer, write, concurrency=limits.concurrency))


def _spend(prediction: "Prediction", outcome: Outcome) -> None:
    """Adds up what was spent."""
    outcome.input_tokens += prediction.usage.input_tokens or 0
    outcome.output_tokens += prediction.usage.output_tokens or 0
    price = None if prediction.answer is None else prediction.answer.price_usd
    if price is not None:
        outcome.price_usd = (outcome.price_usd or 0.0) + price
