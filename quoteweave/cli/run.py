"""`quoteweave run`: many questions answered by a configuration, resumed, and kept to be scored."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quoteweave.cli.judging import YesOption, on_terminal
from quoteweave.cli.options import JsonOption
from quoteweave.cli.run_answering import Asked, Calls, answering, described, model_of
from quoteweave.cli.run_output import Outcome, count, show
from quoteweave.core.messages import counted

if TYPE_CHECKING:
    from quoteweave.core.examples import Example, Prediction
    from quoteweave.core.runs import RunWriter
    from quoteweave.pipeline.answering import Answerer
    from quoteweave.pipeline.run_settings import Limits, RunSetting
    from quoteweave.pipeline.settings import ModelSettings

JSON = """--json prints a list with one object a setting:

setting, run: its name, and the folder that holds it;

questions, answered, located, abstained, failed: of the whole run, what an earlier command answered included;

cut_quotes: quotes cut to what the model can read;

searched_otherwise: questions for which a step of retrieval failed and was passed over;

asked: questions that were asked now; calls, estimated_calls (whose tokens the endpoint did not count), tokens (input,
output), price_usd (null where not known): of all calls for these, expansion and checks included; seconds."""


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
    from quoteweave.core.examples import Spending
    from quoteweave.evaluation.datasets import load_dataset
    from quoteweave.pipeline.run_settings import read_run_file

    file, examples = read_run_file(config), load_dataset(dataset, references)[:limit]
    wanted = [one for one in file.settings if setting is None or one.name in setting]
    if not wanted:
        known = ", ".join(one.name for one in file.settings)
        raise UsageError(f"{config} has no setting {', '.join(setting or [])}; there are: {known}")
    asked = Asked(dataset, references, examples, images, Calls(file.limits), confirmed=yes)
    told: list[Outcome] = []
    try:
        for one in wanted:
            told.append(Outcome(one.name, out if len(file.settings) == 1 else out / one.name, Spending()))
            _answer(asked, one, file.limits, collection, told[-1])
    except BaseException:  # however it ends early, what there is is told
        if reached := [outcome for outcome in told if outcome.questions]:
            show(reached, as_json=as_json)
        raise
    show(told, as_json=as_json)
    if any(outcome.failed for outcome in told):
        raise typer.Exit(1)


def _answer(asked: Asked, setting: "RunSetting", limits: "Limits", collection: Path | None, outcome: Outcome) -> None:
    """Runs one setting, and counts what its folder holds then, also where it ends early."""
    import time

    from quoteweave.core.runs import open_run, sort_run, tallies

    settings, folder, started = model_of(setting), outcome.run, time.perf_counter()
    with (
        answering(asked, setting, settings, collection) as (answerer, fingerprints),
        open_run(folder, described(asked, setting, settings, fingerprints)) as writer,
    ):
        left = [example for example in asked.examples if not writer.has(example.id, answerer.scope)]
        outcome.asked = len(left)
        asked.calls.resumed(writer.spent)
        if left and limits.calls is None:  # which may hold the answers
            settings.check_address()
        _say(setting, settings, len(left), len(asked.examples) - len(left))
        if left and settings.model and not asked.confirmed and on_terminal():
            typer.confirm("Go on, with all settings?", abort=True, err=True)
            asked.confirmed = True
        try:
            _ask(left, answerer, writer, limits, outcome)
            sort_run(folder, [example.id for example in asked.examples])
        finally:
            outcome.seconds = time.perf_counter() - started
            of_now = {example.id for example in asked.examples}
            for tally in tallies(folder):
                if tally.example in of_now:
                    count(tally, outcome)


def _say(setting: "RunSetting", settings: "ModelSettings", left: int, done: int) -> None:
    there = f"; {done} are answered already" if done else ""
    typer.echo(
        f"{setting.name}: {counted(left, 'question')} to answer with {settings.model or 'extracted sentences'}{there}",
        err=True,
    )
    if left and settings.destination is not None:
        typer.echo(f"questions and quotes are sent to {settings.destination}", err=True)


def _ask(
    examples: "Sequence[Example]", answerer: "Answerer", writer: "RunWriter", limits: "Limits", outcome: Outcome
) -> None:
    """Asks, with a bar and the price so far on a terminal."""
    from quoteweave.cli.output import counting
    from quoteweave.core.crossing import wait_for
    from quoteweave.core.examples import Spending
    from quoteweave.pipeline.answering import answer_all

    with counting(outcome.setting, len(examples)) as bar:

        def write(prediction: "Prediction") -> None:
            writer.append(prediction)
            outcome.spent = outcome.spent.plus(prediction.spent or Spending())
            cost = outcome.spent.price_usd
            price = f", ${cost:.2f}" if outcome.spent.calls and cost is not None else ""
            bar.advance(f"{outcome.setting}{price}")

        wait_for(answer_all(examples, answerer, write, concurrency=limits.concurrency))
