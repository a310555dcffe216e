"""What the commands that ask a judge share: its options, what they read, and what is said before anything is sent."""

import sys
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from quoteweave.core.chat.prices import Price
    from quoteweave.core.protocols import ChatModel
    from quoteweave.evaluation.judges.batch import JudgingItem
    from quoteweave.pipeline.settings import ModelSettings

RunArgument = Annotated[Path, typer.Argument(metavar="RUN_OR_FILE", help="A run folder, or a file of responses.")]
DatasetOption = Annotated[str, typer.Option(help="What was asked, such as mmdocrag-20.")]
ReferencesOption = Annotated[
    Path | None, typer.Option(help="The dataset's own file, with questions and quotes.", metavar="FILE")
]
JudgeOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="The chat model that judges, else that of QUOTEWEAVE_MODEL; local=PATH is one on this machine.",
        metavar="NAME",
    ),
]
BaseUrlOption = Annotated[
    str | None, typer.Option(help="Its OpenAI-compatible endpoint, else OPENAI_BASE_URL.", metavar="URL")
]
ApiKeyOption = Annotated[str | None, typer.Option(help="Its key, else OPENAI_API_KEY.", metavar="KEY")]
ImagesOption = Annotated[
    Path | None,
    typer.Option(help="Folder of the quotes' pictures, to show them to a judge that sees.", metavar="DIR"),
]
ConcurrencyOption = Annotated[int, typer.Option(min=1, help="Answers judged at a time.", metavar="N")]
LimitOption = Annotated[int | None, typer.Option(min=1, help="Judge the first N answers only.", metavar="N")]
UsdOption = Annotated[
    tuple[float, float] | None,
    typer.Option(help="What the endpoint asks for a million tokens in, and out.", metavar="IN OUT"),
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before it starts.")]


def kept_in(run: Path, out: Path | None, name: str) -> Path:
    """The file that judgements are kept in: `out`, or that of this name in the run's folder."""
    from quoteweave.core.errors import UsageError

    if out is None and not run.is_dir():
        raise UsageError(f"{run} is no run folder; say with --out in which file to keep its judgements")
    return out or run / name


def pairs_of(run: Path, dataset: str, references: Path | None) -> "list[JudgingItem]":
    """The answers of a run with what they answer; a run of some questions is as good. Raises DatasetError."""
    from quoteweave.evaluation.datasets import load_dataset
    from quoteweave.evaluation.formats import load_predictions
    from quoteweave.evaluation.judges.batch import judging_items
    from quoteweave.evaluation.scoring.matching import match_predictions
    from quoteweave.evaluation.scoring.saved_runs import run_names_references

    examples = load_dataset(dataset, references)
    known = run_names_references(run, dataset, references)
    return judging_items(match_predictions(examples, load_predictions(run), partial=True, known=known), examples)


def judge_of(settings: "ModelSettings") -> "ChatModel":
    """The chat model that judges. Raises UsageError where none is named."""
    from quoteweave.cli.retrieving import tell
    from quoteweave.core.errors import UsageError
    from quoteweave.models.checkpoints import when_downloading
    from quoteweave.pipeline.settings import make_chat

    when_downloading(tell)
    model = make_chat(settings)
    if model is None:
        raise UsageError("name the chat model with --model, or in QUOTEWEAVE_MODEL")
    return model


def price_of(settings: "ModelSettings", usd_per_million: tuple[float, float] | None) -> "Price | None":
    """As said, else by the table of prices; None where neither knows it."""
    from quoteweave.core.chat.prices import Price
    from quoteweave.core.errors import UsageError
    from quoteweave.endpoints.prices import chat_price

    if usd_per_million is None:
        return chat_price(settings.model)
    if not all(0 <= price < inf for price in usd_per_million):
        raise UsageError("--usd-per-million: a price is a number of US dollars, 0 or more")
    return Price(input=usd_per_million[0], output=usd_per_million[1])


def pictures_in(folder: Path | None) -> "Callable[[str], bytes] | None":
    """What reads the pictures that quotes name, from within that folder alone. Raises UsageError without a folder."""
    from quoteweave.core.errors import UsageError

    if folder is None:
        return None
    if not folder.is_dir():
        raise UsageError(f"--images {folder}: there is no such folder")
    root = folder.resolve()

    def read(name: str) -> bytes:
        path = (root / name).resolve()
        if not path.is_relative_to(root):
            raise FileNotFoundError(name)
        return path.read_bytes()

    return read


def say_before(tokens: tuple[int, int], settings: "ModelSettings", price: "Price | None", *, yes: bool) -> None:
    """What a judge is sent, where, and for how much, on stderr; on a terminal, asks whether to go on unless `yes`."""
    say_price(tokens, price, sent_to("questions, gold answers, quotes and answers", settings), yes=yes)


def sent_to(what: str, settings: "ModelSettings") -> str:
    """Where that goes, in a sentence."""
    if settings.destination is None:
        return f"{what} stay on this machine"
    return f"{what} are sent to {settings.destination}"


def say_price(tokens: tuple[int, int], price: "Price | None", sent: str, *, yes: bool) -> None:
    """Tokens in and out, their price, and what is sent where; on a terminal, asks whether to go on unless `yes`."""
    cost = "price not known; say it with --usd-per-million"
    if price is not None:
        cost = f"about ${price.of(*tokens):.2f}"
    typer.echo(
        f"about {tokens[0]:,} tokens in and {tokens[1]:,} out: {cost} (retries and a model's thinking come on top)",
        err=True,
    )
    typer.echo(sent, err=True)
    if not yes and on_terminal():
        typer.confirm("Go on?", abort=True, err=True)


def on_terminal() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin.isatty()
