"""`quoteweave run`: many questions answered by a configuration, resumed, and kept to be scored."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quoteweave.cli.judging import YesOption, on_terminal, pictures_in
from quoteweave.cli.options import JsonOption
from quoteweave.cli.run_output import Outcome, count, show

if TYPE_CHECKING:
    from quoteweave.core.examples import Example, Prediction
    from quoteweave.core.protocols import ChatModel
    from quoteweave.core.runs import Run, RunWriter
    from quoteweave.index.collection import Collection
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
    asked = Asked(dataset, references, examples, images, _Calls(file.limits))
    told = [
        _answer(asked, one, file.limits, collection, out if len(file.settings) == 1 else out / one.name, yes=yes)
        for one in wanted
    ]
    show(told, as_json=as_json)
    if any(outcome.failed for outcome in told):
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked, by all settings alike."""

    dataset: str
    references: Path
    examples: "Sequence[Example]"
    images: Path | None
    calls: "_Calls"


def _answer(
    asked: Asked, setting: "RunSetting", limits: "Limits", collection: Path | None, folder: Path, *, yes: bool
) -> Outcome:
    """Runs one setting, and counts what its folder holds then."""
    import time

    from quoteweave.core.runs import open_run, read_run

    settings = _model_of(setting)
    outcome, started = Outcome(setting.name, folder), time.perf_counter()
    with (
        _answerer(asked, setting, settings, collection) as (answerer, fingerprints),
        open_run(folder, _described(asked, setting, settings, fingerprints)) as writer,
    ):
        left = [example for example in asked.examples if not writer.has(example.id, answerer.scope)]
        outcome.asked = len(left)
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


class _Calls:
    """How chat models are asked by all settings together: one budget, one pace, and one folder of what was asked."""

    def __init__(self, limits: "Limits") -> None:
        from quoteweave.endpoints.spending import Budget

        self._limits = limits
        self._budget = Budget(max_usd=limits.max_usd, max_tokens=limits.max_tokens)

    def through(self, model: "ChatModel | None") -> "ChatModel | None":
        """The model within these limits. Raises UsageError where its price is not known and money is limited."""
        from quoteweave.endpoints.calls import CachedChat
        from quoteweave.endpoints.limits import LimitedChat
        from quoteweave.endpoints.spending import BudgetedChat

        if model is None:
            return None
        limits, within = self._limits, model
        if limits.tokens_per_minute is not None:
            within = LimitedChat(within, tokens_per_minute=limits.tokens_per_minute)
        if limits.max_usd is not None or limits.max_tokens is not None:
            within = BudgetedChat(within, self._budget)
        return within if limits.calls is None else CachedChat(within, limits.calls)


def _model_of(setting: "RunSetting") -> "ModelSettings":
    from quoteweave.pipeline.settings import ModelSettings

    keys = ("model", "base_url", "images", "prompts", "temperature", "max_tokens", "thinking", "extra")
    return ModelSettings.from_environment({key: getattr(setting, key) for key in keys})


@contextmanager
def _answerer(
    asked: Asked, setting: "RunSetting", settings: "ModelSettings", collection: Path | None
) -> "Iterator[tuple[Answerer, Mapping[str, str]]]":
    """What answers, and the fingerprints of what it searches. Raises UsageError where a collection is wanted."""
    from quoteweave.core.errors import UsageError
    from quoteweave.index.collection import Collection
    from quoteweave.pipeline.answering import Answerer
    from quoteweave.pipeline.settings import make_chat, make_generator

    chat = asked.calls.through(make_chat(settings))
    if setting.quotes == "dataset":
        read = pictures_in(asked.images)
        if settings.images and settings.model and read is None:
            raise UsageError(
                f"setting {setting.name}: images = true wants --images, the folder of the dataset's pictures"
            )
        generator = make_generator(settings, read, chat)
        yield (
            Answerer(
                generator,
                arrangement=setting.arrangement,
                view=setting.view,
                window=setting.window,
                gate=None if setting.gate == "off" else setting.gate,
                pictures=settings.images,
            ),
            {},
        )
        return
    if collection is None:
        raise UsageError(f"setting {setting.name} retrieves its quotes: name the collection with -c")
    with Collection.open(collection) as opened:
        yield _searching(opened, setting, settings, chat)


def _searching(
    collection: "Collection", setting: "RunSetting", settings: "ModelSettings", chat: "ChatModel | None"
) -> "tuple[Answerer, Mapping[str, str]]":
    from quoteweave.cli.eval_subject import build_all, content_of, fingerprints_of, searches
    from quoteweave.cli.retrieving import Finding
    from quoteweave.cli.search import with_chat_named
    from quoteweave.pipeline.answering import Answerer
    from quoteweave.pipeline.settings import make_generator

    finding = with_chat_named(Finding(list(setting.retriever), setting.fusion, setting.expand, setting.rerank))
    specs, documents = build_all(collection, finding, quiet=False), collection.documents()
    answerer = Answerer(
        make_generator(settings, collection, chat),
        search=searches(collection, finding)[1],
        split=setting.split,
        documents=_names([document.name for document in documents]),
        scope=setting.within,
        arrangement=setting.arrangement,
        view=setting.view,
        window=setting.window,
        gate=None if setting.gate == "off" else setting.gate,
        pictures=settings.images,
    )
    return answerer, {"documents": content_of(documents), **fingerprints_of(collection, specs)}


def _names(documents: Sequence[str]) -> dict[str, str]:
    """Names that datasets use, with the suffix or without, to the documents of a collection."""
    stems: dict[str, list[str]] = {}
    for name in documents:
        stems.setdefault(Path(name).stem, []).append(name)
    return {
        **{stem: names[0] for stem, names in stems.items() if len(names) == 1},
        **{name: name for name in documents},
    }


def _described(
    asked: Asked, setting: "RunSetting", settings: "ModelSettings", fingerprints: Mapping[str, str]
) -> "Run":
    from quoteweave.core.runs import Run

    said = setting.model_dump(mode="json", exclude={"name", "prompts", "seed"}, exclude_none=True)
    endpoint = {"model": settings.model, "endpoint": settings.destination} if settings.model else {}
    configuration = {"dataset": asked.dataset, **said, **endpoint}
    configuration.pop("base_url", None)
    return Run(
        configuration=configuration,
        fingerprints={
            "references": hashlib.sha256(asked.references.read_bytes()).hexdigest(),
            **fingerprints,
            **(_prompts(settings) if settings.model else {}),
        },
        seeds={"order": setting.seed} if setting.order == "shuffled" else {},
    )


def _prompts(settings: "ModelSettings") -> dict[str, str]:
    from quoteweave.core.prompts import load_prompt

    names = ("cited_answer_system", "cited_answer_user")
    return {f"prompt {name}": load_prompt(name, settings.prompts).sha256 for name in names}


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
    from quoteweave.endpoints.prices import chat_price

    sent, said = prediction.usage.input_tokens or 0, prediction.usage.output_tokens or 0
    outcome.input_tokens, outcome.output_tokens = outcome.input_tokens + sent, outcome.output_tokens + said
    price = chat_price(prediction.model)
    if price is not None:
        outcome.price_usd = (outcome.price_usd or 0.0) + price.of(sent, said)
