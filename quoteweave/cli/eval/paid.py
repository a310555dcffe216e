"""What commands that ask a paid model share: inputs, the model, its price, and the confirmation before sending."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Generic, NamedTuple

import typer

from quoteweave.cli.console import on_terminal, print_message, print_notes
from quoteweave.cli.options.evaluation import ConcurrencyOption, LimitOption, PriceOption, YesOption
from quoteweave.cli.options.settings import CallsOption, ImageFolderOption
from quoteweave.cli.progress import TerminalProgress
from quoteweave.core.answers import Usage
from quoteweave.core.chat.usage import Price
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.files.jsonl import open_for_append
from quoteweave.core.messages import pluralize
from quoteweave.core.protocols import ChatModel
from quoteweave.endpoints.prices import chat_price
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.formats import load_predictions
from quoteweave.evaluation.judges.batch import (
    JudgesAnswers,
    JudgingItem,
    JudgingPlan,
    V,
    judge_all,
    judging_items,
    plan_judging,
    read_verdicts,
)
from quoteweave.evaluation.judges.chat import MAX_QUOTE_CHARACTERS, count_cut
from quoteweave.evaluation.scoring.matching import check_judged, dataset_notes, match_run
from quoteweave.models.checkpoints import on_download
from quoteweave.pipeline.composition.make_rag import require_chat
from quoteweave.pipeline.settings import ChatSettings

CITATIONS = "citations.jsonl"
"""The file of a run's folder in which eval citations keeps its judgements."""


@dataclass(frozen=True, slots=True)
class JudgingOptions:
    """How many answers are judged, with which pictures, at what price, and whether to ask before."""

    image_folder: ImageFolderOption = None
    concurrency: ConcurrencyOption = 8
    limit: LimitOption = None
    usd_per_million: PriceOption = None
    calls: CallsOption = None
    yes: YesOption = False


def judgements_path(run: Path, out: Path | None, name: str, *, option: str = "--out") -> Path:
    """Return the file of judgements: `out`, given by `option`, or the file of this name in the run's folder.

    Raises UsageError if there is neither, DatasetError if by its place or name `out` belongs to other answers.
    """
    if out is None and not run.is_dir():
        raise UsageError(f"{run} is no run folder; say with {option} in which file to keep its judgements")
    path = out or run / name
    check_judged(run, path)
    return path


def load_judged_items(run: Path, dataset: str, references: Path | None) -> list[JudgingItem]:
    """Load the answers of a run with their examples; a partial run is allowed.

    A note on stderr says if the run was made over another version of the dataset. Raises DatasetError, and UsageError
    for a dataset that is answered by letters.
    """
    examples = load_dataset(dataset, references)
    if all(example.task in ("choose_answer", "choose_source") for example in examples):
        raise UsageError(f"answers to {dataset} are letters, which eval score counts without a judge")
    predictions = match_run(run, dataset, references, examples, load_predictions(run), partial=True)
    print_notes(dataset_notes(run, dataset, references, examples, predictions))
    return judging_items(predictions, examples)


def make_judge_model(settings: ChatSettings, calls: Path | None) -> ChatModel:
    """Make the chat model that judges; `calls` is a folder that keeps its calls. Raises UsageError if none is named."""
    on_download(print_message)
    return require_chat(settings, calls)


def judge_price(settings: ChatSettings, usd_per_million: tuple[float, float] | None) -> Price | None:
    """Return the given price, else that of the table of prices; None if it is unknown."""
    if usd_per_million is None:
        return chat_price(settings.model)
    if not all(0 <= price < inf for price in usd_per_million):
        raise UsageError("--usd-per-million: a price is a number of US dollars, 0 or more")
    return Price(input=usd_per_million[0], output=usd_per_million[1])


def confirm_judging(
    plan: JudgingPlan, task: str, settings: ChatSettings, price: Price | None, *, yes: bool, warning: str | None = None
) -> None:
    """Say on stderr how many answers are left to `task`, how many cannot be judged, what is cut, and what it costs.

    `warning` is printed before the price. On a terminal, asks whether to go on unless `yes`.
    """
    done_note = f"; {plan.done} are judged already" if plan.done else ""
    typer.echo(f"{pluralize(len(plan.left), 'answer')} to {task} with {settings.model}{done_note}", err=True)
    if plan.no_answer:
        typer.echo(
            f"{pluralize(plan.no_answer, 'prediction is an error', 'predictions are errors')}, and not judged", err=True
        )
    if warning is not None:
        typer.echo(warning, err=True)
    contexts = (prediction.context or example.context for prediction, example in plan.left)
    if cut := count_cut(filter(None, contexts)):
        quotes = pluralize(cut, "quote is", "quotes are")
        typer.echo(f"{quotes} cut to {MAX_QUOTE_CHARACTERS:,} characters where the judge sees them", err=True)
    notice = destination_notice("questions, gold answers, quotes and answers", settings)
    confirm_price((plan.input_tokens, plan.output_tokens), price, notice, yes=yes)


def destination_notice(content: str, settings: ChatSettings) -> str:
    """Return a sentence that says where the data is sent."""
    if settings.destination is None:
        return f"{content} stay on this machine"
    return f"{content} are sent to {settings.destination}"


def confirm_price(tokens: tuple[int, int], price: Price | None, notice: str, *, yes: bool) -> None:
    """Print tokens, their price and the destination; on a terminal, ask whether to go on unless `yes`."""
    cost = "price not known; say it with --usd-per-million"
    if price is not None:
        cost = f"about ${price.of(*tokens):.2f}"
    typer.echo(
        f"about {tokens[0]:,} tokens in and {tokens[1]:,} out: {cost} (retries and a model's thinking come on top)",
        err=True,
    )
    typer.echo(notice, err=True)
    if not yes and on_terminal():
        typer.confirm("Go on?", abort=True, err=True)


def require_answers(plan: JudgingPlan, run: Path) -> None:
    """Raise DatasetError for a run that holds no answer to judge."""
    if not (plan.left or plan.done):
        raise DatasetError(
            f"{run} holds no answer that could be judged: {pluralize(plan.no_answer, 'prediction')}, all errors"
        )


class JudgingCost(NamedTuple):
    """What judgements cost, as the endpoint counted it."""

    tokens: Mapping[str, int]
    """Numbers of tokens, by `input` and `output`."""
    price_usd: float | None
    """None if the price is not known, or no tokens were counted."""


def count_spent(usages: Sequence[Usage], price: Price | None) -> JudgingCost:
    """Add up what judgements cost. If no tokens were counted, the price is None, as it is not known to be free."""
    tokens_in, tokens_out = sum(u.input_tokens or 0 for u in usages), sum(u.output_tokens or 0 for u in usages)
    has_counts = not usages or tokens_in or tokens_out
    cost = price.of(tokens_in, tokens_out) if price is not None and has_counts else None
    return JudgingCost({"input": tokens_in, "output": tokens_out}, cost)


@dataclass(frozen=True, slots=True)
class PaidVerdicts(Generic[V]):
    """The verdicts on the answers of a run, and what those that were asked for now cost."""

    verdicts: Sequence[V]
    asked: int
    no_answer: int
    cost: JudgingCost


@dataclass(frozen=True, slots=True)
class VerdictFile(Generic[V]):
    """The file that keeps a judge's verdicts on the answers of a run."""

    run: Path
    path: Path
    kind: type[V]
    judge_fields: Mapping[str, str]
    """The judge's model and prompt."""
    named: bool
    """Whether the user named the file, which may then hold judgements of other answers."""

    def read(self) -> dict[str, V]:
        """Read the verdicts, by the ids of their examples. Raises what `read_verdicts` raises."""
        return read_verdicts(self.path, self.kind, **self.judge_fields)


class JudgingWords(NamedTuple):
    """How a command says what its judge does, and what a judge should be known to lack."""

    task: str = "judge"
    doing: str = "judging"
    warning: str | None = None


def judge_and_keep(
    judge: JudgesAnswers[V],
    pairs: Sequence[JudgingItem],
    file: VerdictFile[V],
    settings: ChatSettings,
    options: JudgingOptions,
    wording: JudgingWords = JudgingWords(),
) -> PaidVerdicts[V]:
    """Ask for the verdicts that `file` lacks, after confirmation, and keep each as it comes; return all of the answers.

    Raises DatasetError if there is nothing to judge, or if all judgements in a named file are of other answers.
    """
    price = judge_price(settings, options.usd_per_million)
    stored = file.read()
    plan = plan_judging(judge, pairs, stored)
    require_answers(plan, file.run)
    if file.named and not plan.done:
        _refuse_other_judgements(file, [stored[example.id] for _, example in pairs if example.id in stored])
    left = plan.left
    if left:
        confirm_judging(plan, wording.task, settings, price, yes=options.yes, warning=wording.warning)
        with open_for_append(file.path) as append:
            # Read again, as another command may have judged these answers before this one could lock the file.
            if (stored_now := file.read()) != stored:
                left = plan_judging(judge, pairs, stored_now).left
                print_judged_meanwhile(len(plan.left) - len(left))
            _judge_left(judge, left, append, wording.doing, options.concurrency)
    verdicts = file.read()
    current = [verdicts[example.id] for answer, example in pairs if answer.error is None and example.id in verdicts]
    asked_ids = {example.id for _, example in left}
    cost = count_spent([verdict.usage for verdict in current if verdict.example in asked_ids], price)
    return PaidVerdicts(current, len(left), plan.no_answer, cost)


def _refuse_other_judgements(file: VerdictFile[V], stored: Sequence[V]) -> None:
    """Raise DatasetError for a file whose judgements are all of other answers than this run's."""
    if any(not verdict.failed for verdict in stored):
        raise DatasetError(
            f"{file.path} judges other answers to these questions than those of {file.run}; "
            "name another file with --out"
        )


def print_judged_meanwhile(count: int) -> None:
    """Say on stderr how many answers another command has judged since the price of this one was printed."""
    if count:
        answers = pluralize(count, "answer was", "answers were")
        print_message(f"{answers} judged by another command meanwhile, and not judged again")


def _judge_left(
    judge: JudgesAnswers[V], left: Sequence[JudgingItem], append: Callable[[V], None], doing: str, concurrency: int
) -> None:
    """Judge answers and append each verdict as it comes, with a progress bar on a terminal."""
    with TerminalProgress().task(doing, len(left)) as bar:

        def on_verdict(verdict: V) -> None:
            append(verdict)
            bar.advance()

        run_sync(judge_all(judge, left, on_verdict, concurrency=concurrency))
