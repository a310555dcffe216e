"""`quoteweave eval judge`: a chat model grades saved answers; the price is said before anything is sent."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quoteweave.cli.endpoint_options import CallLimitOption, RetriesOption, TimeoutOption
from quoteweave.cli.judging import (
    ApiKeyOption,
    BaseUrlOption,
    ConcurrencyOption,
    DatasetOption,
    ImagesOption,
    JudgeOption,
    LimitOption,
    ReferencesOption,
    RunArgument,
    UsdOption,
    YesOption,
    judge_of,
    kept_in,
    pairs_of,
    pictures_in,
    price_of,
    say_before,
)
from quoteweave.cli.model_options import CallsOption
from quoteweave.cli.options import JsonOption
from quoteweave.core.messages import counted

if TYPE_CHECKING:
    from quoteweave.evaluation.judges.answer_judge import AnswerJudge
    from quoteweave.evaluation.judges.batch import JudgingItem, JudgingPlan

JSON = """--json prints one object:

model, prompt (SHA-256), judgements (the file): what judged, and where it is kept;

asked, judged, failed: judgements asked for now, there in all, and failed in all;

no_answer: predictions that are errors, and are not judged; errors: example to reason;

tokens: input, output; price_usd: of what was asked now, null where not known;

judge: the five criteria and average, 0 to 5, means over the answers judged;

agreement: n, left_out, figures (such as fluency.kappa) with value, ci95, n and undefined;
with --human."""


def judge(
    run: RunArgument,
    dataset: DatasetOption,
    references: ReferencesOption = None,
    model: JudgeOption = None,
    base_url: BaseUrlOption = None,
    api_key: ApiKeyOption = None,
    prompts: Annotated[Path | None, typer.Option(help="Folder with a judge.txt of your own.", metavar="DIR")] = None,
    images: ImagesOption = None,
    concurrency: ConcurrencyOption = 8,
    limit: LimitOption = None,
    usd_per_million: UsdOption = None,
    timeout_s: TimeoutOption = None,
    call_limit_s: CallLimitOption = None,
    retries: RetriesOption = None,
    calls: CallsOption = None,
    yes: YesOption = False,
    human: Annotated[
        Path | None, typer.Option(help="People's scores of these answers: say how far the judge agrees.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Keep judgements here; else in the run's folder, judgements.jsonl.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Have a chat model grade saved answers by five criteria, 0 to 5.

    Question, gold answer, quotes and answer are sent to the model's endpoint;
    tokens and price are said before. Each judgement is kept as soon as it is
    there: the same command again asks only for what is missing, failed, or of
    another answer. Judgements that failed are left out of the means; they give
    exit code 1.
    """
    from quoteweave.cli.eval_judge_output import agreement_with, show, summarise
    from quoteweave.core.errors import DatasetError
    from quoteweave.evaluation.judges.answer_judge import AnswerJudge, plan_judging
    from quoteweave.evaluation.judges.judgements import JUDGEMENTS, read_verdicts
    from quoteweave.pipeline.settings import ModelSettings

    waits = {"timeout_s": timeout_s, "call_limit_s": call_limit_s, "retries": retries}
    given = {"model": model, "prompts": prompts, "calls": calls, "base_url": base_url, "api_key": api_key, **waits}
    settings, path = ModelSettings.from_environment(given), kept_in(run, out, JUDGEMENTS)
    asks = AnswerJudge(judge_of(settings), prompts_folder=settings.prompts, images=pictures_in(images))
    pairs, price = pairs_of(run, dataset, references)[:limit], price_of(settings, usd_per_million)
    known = {"model": asks.model.name, "prompt": asks.prompt.sha256}
    work = plan_judging(asks, pairs, read_verdicts(path, **known))
    if not (work.left or work.done):
        raise DatasetError(
            f"{run} holds no answer that could be judged: {counted(work.no_answer, 'prediction')}, all errors"
        )
    if work.left:
        _say(work, settings.model)
        say_before((work.input_tokens, work.output_tokens), settings, price, yes=yes)
        _ask(asks, work.left, path, concurrency)
    verdicts = read_verdicts(path, **known)
    here = [verdicts[example.id] for _, example in pairs if example.id in verdicts]
    judging = summarise(here, [example.id for _, example in work.left], price)
    compared = None if human is None else agreement_with(human, here)
    head = {**known, "judgements": str(path), "asked": len(work.left), "no_answer": work.no_answer}
    show(judging, compared, head, as_json=as_json)
    if judging.errors:
        raise typer.Exit(1)


def _say(work: "JudgingPlan", model: str | None) -> None:
    done = f"; {work.done} are judged already" if work.done else ""
    typer.echo(f"{counted(len(work.left), 'answer')} to judge with {model}{done}", err=True)
    if work.no_answer:
        typer.echo(
            f"{counted(work.no_answer, 'prediction is an error', 'predictions are errors')}, and not judged", err=True
        )


def _ask(judge: "AnswerJudge", pairs: "Sequence[JudgingItem]", path: Path, concurrency: int) -> None:
    """Asks, with a bar on a terminal."""
    from quoteweave.cli.output import counting
    from quoteweave.core.crossing import wait_for
    from quoteweave.core.jsonl import appending
    from quoteweave.evaluation.judges.answer_judge import judge_all
    from quoteweave.evaluation.judges.judgements import AnswerVerdict

    with counting("judging", len(pairs)) as bar, appending(path) as append:

        def on_verdict(verdict: AnswerVerdict) -> None:
            append(verdict)
            bar.advance()

        wait_for(judge_all(judge, pairs, on_verdict, concurrency=concurrency))
