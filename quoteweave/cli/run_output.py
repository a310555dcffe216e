"""What became of each setting of a run: counted, shown to people, and as a JSON value."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from quoteweave.cli.output import print_json, printable
from quoteweave.core.messages import counted

if TYPE_CHECKING:
    from quoteweave.core.examples import Spending
    from quoteweave.core.runs import Tally

MOST_ERRORS = 5  # that are told


@dataclass(slots=True)
class Outcome:
    """What became of one setting."""

    setting: str
    run: Path
    spent: "Spending"
    questions: int = 0
    answered: int = 0
    located: int = 0
    abstained: int = 0
    failed: int = 0
    cut_quotes: int = 0
    asked: int = 0
    searched_otherwise: int = 0
    seconds: float = 0.0
    errors: list[str] = field(default_factory=list)


def count(prediction: "Tally", outcome: Outcome) -> None:
    """Counts one prediction of the run."""
    outcome.questions += 1
    outcome.cut_quotes += prediction.cut_quotes
    outcome.searched_otherwise += bool(prediction.notes)
    if prediction.error is not None:
        outcome.failed += 1
        outcome.errors.append(f"{prediction.example}: {prediction.error}")
    elif prediction.status == "located":
        outcome.located += 1
    elif prediction.status == "abstained":
        outcome.abstained += 1
    else:
        outcome.answered += 1


def show(told: Sequence[Outcome], *, as_json: bool) -> None:
    """On stdout; what was spent, and reasons of failures, on stderr."""
    if as_json:
        print_json([_as_dict(outcome) for outcome in told])
        return
    for outcome in told:
        cut = f", {counted(outcome.cut_quotes, 'quote')} cut to what the model reads" if outcome.cut_quotes else ""
        located = f"{outcome.located} located, " if outcome.located else ""
        typer.echo(
            printable(
                f"{outcome.run}: {counted(outcome.questions, 'question')}, {outcome.answered} answered, {located}"
                f"{outcome.abstained} abstained, {outcome.failed} failed{cut}"
            )
        )
        typer.echo(f"  {_spending(outcome.spent)}", err=True)
        if outcome.searched_otherwise:
            typer.echo(f"  {outcome.searched_otherwise} searched otherwise than asked: see their notes", err=True)
        for error in outcome.errors[:MOST_ERRORS]:
            typer.echo(printable(f"  failed: {error}"), err=True)
        if len(outcome.errors) > MOST_ERRORS:
            typer.echo(
                f"  and {counted(len(outcome.errors) - MOST_ERRORS, 'other')}; the same command asks again", err=True
            )


def _spending(spent: "Spending") -> str:
    price = "" if spent.price_usd is None else f", ${spent.price_usd:.2f}"
    guessed = f" ({spent.estimated} of these estimated)" if spent.estimated else ""
    return (
        f"{counted(spent.calls, 'call')}{guessed}: {spent.input_tokens:,} tokens in and "
        f"{spent.output_tokens:,} out{price}"
    )


def _as_dict(outcome: Outcome) -> dict[str, object]:
    return {
        "setting": outcome.setting,
        "run": str(outcome.run),
        "questions": outcome.questions,
        "answered": outcome.answered,
        "located": outcome.located,
        "abstained": outcome.abstained,
        "failed": outcome.failed,
        "cut_quotes": outcome.cut_quotes,
        "asked": outcome.asked,
        "searched_otherwise": outcome.searched_otherwise,
        "calls": outcome.spent.calls,
        "estimated_calls": outcome.spent.estimated,
        "tokens": {"input": outcome.spent.input_tokens, "output": outcome.spent.output_tokens},
        "price_usd": outcome.spent.price_usd,
        "seconds": outcome.seconds,
    }
