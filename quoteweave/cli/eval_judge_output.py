"""What a judge said of a run, in all: for people on stdout, and as a JSON value for programs."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import typer
from rich.table import Table

from quoteweave.cli.output import console, print_json, printable
from quoteweave.cli.tables import make_table, show_table
from quoteweave.core.chat.prices import Price
from quoteweave.core.messages import counted
from quoteweave.evaluation.judges.agreement import FORMULAS, Agreement, agreement
from quoteweave.evaluation.judges.judgements import ASPECTS, AnswerVerdict, load_judgements
from quoteweave.evaluation.statistics.estimates import Estimate
from quoteweave.evaluation.statistics.rounding import half_up

MOST_ERRORS = 5  # that are told


@dataclass(frozen=True, slots=True)
class Judging:
    """The judgements of a run in figures."""

    judged: int
    errors: Mapping[str, str]
    """Example to why its judgement failed."""
    tokens: Mapping[str, int]
    """Of what was asked now, as the endpoint counted them."""
    price_usd: float | None
    means: Mapping[str, float]
    """Over the answers judged; empty where there are none."""


def summarise(verdicts: Sequence[AnswerVerdict], asked: Collection[str], price: Price | None) -> Judging:
    """`asked` names the examples that were judged now, which are those that cost something."""
    scores = [verdict.scores for verdict in verdicts if verdict.scores is not None]
    means = {aspect: fmean(each[aspect] for each in scores) for aspect in ASPECTS} if scores else {}
    now = set(asked)
    spent = [verdict.usage for verdict in verdicts if verdict.example in now]
    tokens_in, tokens_out = sum(u.input_tokens or 0 for u in spent), sum(u.output_tokens or 0 for u in spent)
    told = not spent or tokens_in or tokens_out
    return Judging(
        judged=len(scores),
        errors={verdict.example: verdict.error or "" for verdict in verdicts if verdict.scores is None},
        tokens={"input": tokens_in, "output": tokens_out},
        price_usd=price.of(tokens_in, tokens_out) if price is not None and told else None,
        means={**means, "average": fmean(means.values())} if means else {},
    )


def agreement_with(human: Path, verdicts: Sequence[AnswerVerdict]) -> Agreement:
    """How far these verdicts agree with the scores in a file. Raises DatasetError where they cannot be compared."""
    judged = {
        verdict.example: {ASPECTS[name]: float(score) for name, score in verdict.scores.items()}
        for verdict in verdicts
        if verdict.scores is not None
    }
    return agreement(judged, load_judgements(human))


def show(judging: Judging, compared: Agreement | None, head: Mapping[str, object], *, as_json: bool) -> None:
    """On stdout; reasons of failures on stderr, unless they are in the JSON value."""
    if as_json:
        print_json(_as_dict(judging, compared, head))
        return
    typer.echo(
        f"{counted(judging.judged, 'answer')} judged by {head['model']}, {len(judging.errors)} "
        f"failed: {head['judgements']}"
    )
    if judging.means:
        table = _table(("criterion, 0 to 5", "mean"))
        for name, mean in judging.means.items():
            table.add_row(_spaced(name), half_up(mean, 2))
        show_table(console(), table)
    if compared is not None:
        typer.echo(f"agreement with people on {counted(compared.n, 'answer')} ({compared.left_out} left out):")
        show_table(console(), _agreement(compared))
    price = "" if judging.price_usd is None else f", ${judging.price_usd:.2f}"
    typer.echo(f"{judging.tokens['input']:,} tokens in and {judging.tokens['output']:,} out{price}", err=True)
    for example, error in list(judging.errors.items())[:MOST_ERRORS]:
        typer.echo(printable(f"failed: {example}: {error}"), err=True)
    if len(judging.errors) > MOST_ERRORS:
        typer.echo(f"and {counted(len(judging.errors) - MOST_ERRORS, 'other')}; the same command asks again", err=True)


def _as_dict(judging: Judging, compared: Agreement | None, head: Mapping[str, object]) -> dict[str, object]:
    value: dict[str, object] = {
        **head,
        "judged": judging.judged,
        "failed": len(judging.errors),
        "errors": judging.errors,
        "tokens": judging.tokens,
        "price_usd": judging.price_usd,
        "judge": judging.means or dict.fromkeys((*ASPECTS, "average")),
    }
    if compared is not None:
        figures = {name: _dump(estimate) for name, estimate in compared.figures.items()}
        value["agreement"] = {"n": compared.n, "left_out": compared.left_out, "figures": figures}
    return value


def _dump(found: Estimate) -> dict[str, object]:
    bounds = None if found.low is None else (found.low, found.high)
    return {"value": found.value, "ci95": bounds, "n": found.n, "undefined": found.undefined}


def _agreement(compared: Agreement) -> Table:
    table = _table(("criterion", "agreement", "value", "95 % interval"))
    for name, estimate in compared.figures.items():
        aspect, _, figure = name.partition(".")
        value, low, high = (_number(number) for number in (estimate.value, estimate.low, estimate.high))
        first = aspect if figure == next(iter(FORMULAS)) else ""
        table.add_row(_spaced(first), _spaced(figure), value, f"{low} to {high}")
    return table


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _table(columns: Sequence[str]) -> Table:
    return make_table(columns, words=[columns[0], "agreement"])
