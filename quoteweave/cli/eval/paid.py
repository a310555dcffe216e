"""What the commands that ask a paid model share: what they read, and what is said before anything is sent."""

from math import inf
from pathlib import Path

import typer

from quoteweave.cli.console import on_terminal, tell
from quoteweave.core.chat.prices import Price
from quoteweave.core.errors import UsageError
from quoteweave.core.protocols import ChatModel
from quoteweave.endpoints.prices import chat_price
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.formats import load_predictions
from quoteweave.evaluation.judges.batch import JudgingItem, judging_items
from quoteweave.evaluation.scoring.matching import match_predictions
from quoteweave.evaluation.scoring.saved_runs import run_names_references
from quoteweave.models.checkpoints import on_download
from quoteweave.pipeline.runs.compose import make_chat
from quoteweave.pipeline.settings import ChatSettings

CITATIONS = "citations.jsonl"
"""The file of a run's folder in which eval citations keeps its judgements."""


def kept_in(run: Path, out: Path | None, name: str) -> Path:
    """The file that judgements are kept in: `out`, or that of this name in the run's folder."""
    if out is None and not run.is_dir():
        raise UsageError(f"{run} is no run folder; say with --out in which file to keep its judgements")
    return out or run / name


def pairs_of(run: Path, dataset: str, references: Path | None) -> list[JudgingItem]:
    """The answers of a run with what they answer; a run of some questions is as good. Raises DatasetError."""
    examples = load_dataset(dataset, references)
    known = run_names_references(run, dataset, references)
    return judging_items(match_predictions(examples, load_predictions(run), partial=True, known=known), examples)


def judge_of(settings: ChatSettings, calls: Path | None) -> ChatModel:
    """The chat model that judges, its calls kept in a folder. Raises UsageError where none is named."""
    on_download(tell)
    model = make_chat(settings, calls)
    if model is None:
        raise UsageError("name the chat model with --model, or in QUOTEWEAVE_MODEL")
    return model


def price_of(settings: ChatSettings, usd_per_million: tuple[float, float] | None) -> Price | None:
    """As said, else by the table of prices; None where neither knows it."""
    if usd_per_million is None:
        return chat_price(settings.model)
    if not all(0 <= price < inf for price in usd_per_million):
        raise UsageError("--usd-per-million: a price is a number of US dollars, 0 or more")
    return Price(input=usd_per_million[0], output=usd_per_million[1])


def say_before(tokens: tuple[int, int], settings: ChatSettings, price: Price | None, *, yes: bool) -> None:
    """What a judge is sent, where, and for how much, on stderr; on a terminal, asks whether to go on unless `yes`."""
    say_price(tokens, price, sent_to("questions, gold answers, quotes and answers", settings), yes=yes)


def sent_to(what: str, settings: ChatSettings) -> str:
    """Where that goes, in a sentence."""
    if settings.destination is None:
        return f"{what} stay on this machine"
    return f"{what} are sent to {settings.destination}"


def say_price(tokens: tuple[int, int], price: Price | None, sent: str, *, yes: bool) -> None:
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
