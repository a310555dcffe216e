"""`quoteweave eval judge`: a chat model grades saved answers; the price is said before anything is sent."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quoteweave.cli.options import JsonOption

if TYPE_CHECKING:
    from quoteweave.evaluation.judges.answers import AnswerJudge
    from quoteweave.evaluation.judges.judging import Pair, Work
    from quoteweave.evaluation.metrics.expense import Price
    from quoteweave.pipeline.settings import ModelSettings

JSON = """--json prints one object:

model, prompt (SHA-256), judgements (the file): what judged, and where it is kept;

asked, judged, failed: judgements asked for now, there in all, and failed in all;

no_answer: predictions that are errors, and are not judged; errors: example to reason;

tokens: input, output; price_usd: of what was asked now, null where not known;

judge: the five criteria and average, 0 to 5, means over the answers judged;

agreement: n, left_out, figures (such as fluency.kappa) with value, ci95, n and undefined;
with --human."""


def judge(
    run: Annotated[Path, typer.Argument(metavar="RUN_OR_FILE", help="A run folder, or a file of responses.")],
    dataset: Annotated[str, typer.Option(help="What was asked, such as mmdocrag-20.")],
    references: Annotated[Path | None, typer.Option(help="The dataset's own file, with questions and quotes.")] = None,
    model: Annotated[
        str | None, typer.Option(help="The chat model that judges, else that of QUOTEWEAVE_MODEL.", metavar="NAME")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Its OpenAI-compatible endpoint, else OPENAI_BASE_URL.", metavar="URL")
    ] = None,
    api_key: Annotated[str | None, typer.Option(help="Its key, else OPENAI_API_KEY.", metavar="KEY")] = None,
    prompts: Annotated[Path | None, typer.Option(help="Folder with a judge.txt of your own.", metavar="DIR")] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Answers judged at a time.", metavar="N")] = 8,
    limit: Annotated[int | None, typer.Option(min=1, help="Judge the first N answers only.", metavar="N")] = None,
    usd_per_million: Annotated[
        tuple[float, float] | None,
        typer.Option(help="What the endpoint asks for a million tokens in, and out.", metavar="IN OUT"),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before it starts.")] = False,
    human: Annotated[
        Path | None, typer.Option(help="People's scores of these answers: say how far the judge agrees.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Keep judgements here; else in the run's folder, judgements.jsonl.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Have a chat model grade saved answers by five criteria, 0 to 5.

    Question, gold answer, quotes and answer are sent to the model's endpoint; tokens
    and price are said before. Each judgement is kept as soon as it is there: the same
    command again asks only for what is missing, failed, or of another answer.
    Judgements that failed are left out of the means; they give exit code 1.
    """
    from quoteweave.cli.eval_judge_output import agreement_with, show, summarise
    from quoteweave.cli.prices import chat_price
    from quoteweave.core.errors import DatasetError
    from quoteweave.evaluation.judges.judging import plan
    from quoteweave.evaluation.judges.verdicts import read_verdicts
    from quoteweave.evaluation.metrics.expense import Price
    from quoteweave.pipeline.settings import ModelSettings

    given = {"model": model, "base_url": base_url, "api_key": api_key, "prompts": prompts}
    settings, path = ModelSettings.from_environment(given), _kept_in(run, out)
    asks = _make_judge(settings)
    pairs = _pairs(run, dataset, references)[:limit]
    price = (
        Price(input=usd_per_million[0], output=usd_per_million[1]) if usd_per_million else chat_price(settings.model)
    )
    known = {"model": asks.model.name, "prompt": asks.prompt.sha256}
    work = plan(asks, pairs, read_verdicts(path, **known))
    if not (work.left or work.done):
        raise DatasetError(f"{run} holds no answer that could be judged: {work.no_answer} predictions, all errors")
    if work.left:
        _say(work, settings, price)
        if not yes and _on_terminal():
            typer.confirm("Go on?", abort=True, err=True)
        _ask(asks, work.left, path, concurrency)
    verdicts = read_verdicts(path, **known)
    here = [verdicts[example.id] for _, example in pairs if example.id in verdicts]
    judging = summarise(here, [example.id for _, example in work.left], price)
    compared = None if human is None else agreement_with(human, here)
    head = {**known, "judgements": str(path), "asked": len(work.left), "no_answer": work.no_answer}
    show(judging, compared, head, as_json=as_json)
    if judging.errors:
        raise typer.Exit(1)


def _on_terminal() -> bool:
    return sys.stdin.isatty()


def _kept_in(run: Path, out: Path | None) -> Path:
    from quoteweave.core.errors import UsageError
    from quoteweave.evaluation.judges.verdicts import JUDGEMENTS

    if out is None and not run.is_dir():
        raise UsageError(f"{run} is no run folder; say with --out in which file to keep its judgements")
    return out or run / JUDGEMENTS


def _make_judge(settings: "ModelSettings") -> "AnswerJudge":
    from quoteweave.core.errors import UsageError
    from quoteweave.evaluation.judges.answers import AnswerJudge
    from quoteweave.pipeline.settings import make_chat

    model = make_chat(settings)
    if model is None:
        raise UsageError("name the chat model that is to judge with --model, or in QUOTEWEAVE_MODEL")
    return AnswerJudge(model, prompts_folder=settings.prompts)


def _pairs(run: Path, dataset: str, references: Path | None) -> "list[Pair]":
    from quoteweave.evaluation.datasets import load_dataset
    from quoteweave.evaluation.interchange import load_predictions
    from quoteweave.evaluation.judges.judging import pair_up
    from quoteweave.evaluation.matching import match

    examples = load_dataset(dataset, references)
    # Each answer is judged by itself, so that a run of some questions is as good.
    return pair_up(match(examples, load_predictions(run), partial=True), examples)


def _say(work: "Work", settings: "ModelSettings", price: "Price | None") -> None:
    """What is sent where, and for how much, on stderr."""
    from quoteweave.cli.prices import in_usd

    done = f"; {work.done} are judged already" if work.done else ""
    typer.echo(f"{len(work.left)} answers to judge with {settings.model}{done}", err=True)
    if work.no_answer:
        typer.echo(f"{work.no_answer} predictions are errors, and are not judged", err=True)
    cost = "price not known; say it with --usd-per-million"
    if price is not None:
        cost = f"about ${in_usd(price, work.input_tokens, work.output_tokens):.2f}"
    typer.echo(
        f"about {work.input_tokens:,} tokens in and {work.output_tokens:,} out: {cost} (retries and a model's thinking "
        "come on top)",
        err=True,
    )
    typer.echo(f"questions, gold answers, quotes and answers are sent to {settings.destination}", err=True)


def _ask(judge: "AnswerJudge", pairs: "Sequence[Pair]", path: Path, concurrency: int) -> None:
    """Asks, with a bar on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from quoteweave.core.crossing import wait_for
    from quoteweave.core.lines import appending
    from quoteweave.evaluation.judges.judging import judge_all
    from quoteweave.evaluation.judges.verdicts import Verdict

    stderr = Console(stderr=True)
    columns = (TextColumn("judging"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=stderr, transient=True, disable=not stderr.is_terminal)
    with bar, appending(path) as append:
        task = bar.add_task("judging", total=len(pairs))

        def on_verdict(verdict: Verdict) -> None:
            append(verdict)
            bar.advance(task)

        wait_for(judge_all(judge, pairs, on_verdict, concurrency=concurrency))
