"""`quoteweave eval judge`: has a chat model grade saved answers; prints the price before anything is sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated

import typer
from rich.table import Table

from quoteweave.cli.console import console, print_failures, print_json
from quoteweave.cli.eval.paid import (
    JudgingOptions,
    PaidVerdicts,
    VerdictFile,
    judge_and_keep,
    judgements_path,
    load_judged_items,
    make_judge_model,
)
from quoteweave.cli.options.collection import JsonOption
from quoteweave.cli.options.evaluation import DatasetOption, ReferencesOption, RunArgument
from quoteweave.cli.options.settings import JUDGING, OptionValues, make_settings, takes_options
from quoteweave.cli.tables import UNDEFINED, make_table, show_table
from quoteweave.core.errors import UsageError
from quoteweave.core.messages import pluralize
from quoteweave.evaluation.judges.agreement import FORMULAS, Agreement, agreement
from quoteweave.evaluation.judges.answer_judges import AnswerJudge, AttributionJudge
from quoteweave.evaluation.judges.judgements import ASPECTS, JUDGEMENTS, AnswerVerdict, load_judgements
from quoteweave.evaluation.scoring.matching import check_judged
from quoteweave.evaluation.statistics.aggregates import half_up
from quoteweave.pipeline.runs.dataset_pictures import pictures_in
from quoteweave.pipeline.settings import JudgeSettings

JSON = """--json prints one object:

preset, model, prompt (SHA-256), judgements (the file): what judged, and where it is kept; preset is null without one;

asked, judged, failed: judgements asked for now, there in all, and failed in all;

no_answer: predictions that are errors, and are not judged; errors: example to reason;

tokens: input, output; price_usd: of what was asked now, null where not known;

judge: the five criteria and average, or of answers with boxes answer and relevance, 0 to 5, means over the
answers judged;

agreement: n, left_out, figures (such as fluency.kappa) with value, ci95, n and undefined;
with --human."""


@takes_options("preset", *JUDGING)
def judge(
    run: RunArgument,
    dataset: DatasetOption,
    option_values: OptionValues,
    *,
    references: ReferencesOption = None,
    options: JudgingOptions,
    human: Annotated[
        Path | None, typer.Option(help="People's scores of these answers, to compare the judge with.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="File for judgements; the default is judgements.jsonl in the run's folder.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Have a chat model grade saved answers by five criteria, 0 to 5.

    Question, gold answer, quotes and answer are sent to the model's endpoint;
    tokens and price are printed first. Each judgement is saved at once: run the
    same command again to ask only for what is missing, failed, or of another
    answer. Judgements that failed are left out of the means; they give
    exit code 1. With --preset mmdocrag-judge the judge is shown what MMDocRAG's
    was: short and gold answer, and no quotes. Answers with boxes (citevqa) are
    graded by two: the answer, and the relevance of what it cites.
    """
    settings, path = make_settings(JudgeSettings, option_values), judgements_path(run, out, JUDGEMENTS)
    if human is not None:
        check_judged(run, human)
    pairs = load_judged_items(run, dataset, references)[: options.limit]
    cites_boxes = any(example.documents for _, example in pairs)
    if cites_boxes and (human is not None or settings.preset is not None):
        raise UsageError(f"--human and --preset are of five criteria of answers with marks; {dataset} is judged by two")
    answer_judge: AttributionJudge | AnswerJudge = (AttributionJudge if cites_boxes else AnswerJudge)(
        make_judge_model(settings, options.calls),
        prompts_folder=settings.prompts,
        images=pictures_in(options.image_folder),
    )
    judge_fields = {"model": answer_judge.model.name, "prompt": answer_judge.prompt.sha256}
    file = VerdictFile(run, path, AnswerVerdict, judge_fields, named=out is not None)
    paid = judge_and_keep(answer_judge, pairs, file, settings, options)
    judging = summarise(paid)
    compared = None if human is None else agreement_with(human, paid.verdicts)
    head = {
        "preset": settings.preset,
        **judge_fields,
        "judgements": str(path),
        "asked": paid.asked,
        "no_answer": paid.no_answer,
    }
    show(judging, compared, head, as_json=as_json)
    if judging.errors:
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class JudgementSummary:
    """Figures on the judgements of a run."""

    judged: int
    errors: Mapping[str, str]
    """Why judgements failed, by the ids of the examples."""
    tokens: Mapping[str, int]
    """Tokens of the judgements made now, as the endpoint counted them."""
    price_usd: float | None
    means: Mapping[str, float]
    """Mean scores over the judged answers; empty if there are none."""


def summarise(paid: PaidVerdicts[AnswerVerdict]) -> JudgementSummary:
    """Summarise the judgements of a run's answers."""
    scores = [verdict.scores for verdict in paid.verdicts if verdict.scores is not None]
    names = dict.fromkeys(name for answer_scores in scores for name in answer_scores)
    means = {name: fmean(answer_scores[name] for answer_scores in scores if name in answer_scores) for name in names}
    return JudgementSummary(
        judged=len(scores),
        errors={verdict.example: verdict.error or "" for verdict in paid.verdicts if verdict.scores is None},
        tokens=paid.cost.tokens,
        price_usd=paid.cost.price_usd,
        means={**means, "average": fmean(means.values())} if means.keys() == ASPECTS.keys() else means,
    )


def agreement_with(human: Path, verdicts: Sequence[AnswerVerdict]) -> Agreement:
    """Measure the agreement of verdicts with the scores in a file. Raises DatasetError if they are not comparable."""
    judged = {
        verdict.example: {ASPECTS[name]: float(score) for name, score in verdict.scores.items()}
        for verdict in verdicts
        if verdict.scores is not None
    }
    return agreement(judged, load_judgements(human))


def show(judging: JudgementSummary, compared: Agreement | None, head: Mapping[str, object], *, as_json: bool) -> None:
    """Print the summary on stdout, and reasons of failures on stderr unless they are in the JSON value."""
    if as_json:
        print_json(_as_dict(judging, compared, head))
        return
    typer.echo(
        f"{pluralize(judging.judged, 'answer')} judged by {head['model']}, {len(judging.errors)} "
        f"failed: {head['judgements']}"
    )
    if judging.means:
        table = _table(("criterion, 0 to 5", "mean"))
        for name, mean in judging.means.items():
            table.add_row(_spaced(name), half_up(mean, 2))
        show_table(console(), table)
    if compared is not None:
        typer.echo(f"agreement with people on {pluralize(compared.n, 'answer')} ({compared.left_out} left out):")
        show_table(console(), _agreement(compared))
    price = "" if judging.price_usd is None else f", ${judging.price_usd:.2f}"
    typer.echo(f"{judging.tokens['input']:,} tokens in and {judging.tokens['output']:,} out{price}", err=True)
    print_failures(judging.errors)


def _as_dict(judging: JudgementSummary, compared: Agreement | None, head: Mapping[str, object]) -> dict[str, object]:
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
        figures = {
            name: {
                "value": estimate.value,
                "ci95": estimate.bounds,
                "n": estimate.n,
                "undefined": estimate.undefined,
            }
            for name, estimate in compared.figures.items()
        }
        value["agreement"] = {"n": compared.n, "left_out": compared.left_out, "figures": figures}
    return value


def _agreement(compared: Agreement) -> Table:
    table = _table(("criterion", "agreement", "value", "95 % interval"))
    for name, estimate in compared.figures.items():
        aspect, _, figure = name.partition(".")
        value = UNDEFINED if estimate.value is None else f"{estimate.value:.2f}"
        aspect_shown = aspect if figure == next(iter(FORMULAS)) else ""
        bounds = UNDEFINED if estimate.bounds is None else "{:.2f} to {:.2f}".format(*estimate.bounds)
        table.add_row(_spaced(aspect_shown), _spaced(figure), value, bounds)
    return table


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _table(columns: Sequence[str]) -> Table:
    return make_table(columns, words=[columns[0], "agreement"])
