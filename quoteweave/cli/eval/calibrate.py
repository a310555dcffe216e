"""`quoteweave eval calibrate`: fits when answers are to be withheld, on questions whose right answers are known."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table

from quoteweave.cli.console import console, plain, print_json, write_text
from quoteweave.cli.eval.paid import CITATIONS, load_judged_items
from quoteweave.cli.options.collection import JsonOption
from quoteweave.cli.options.evaluation import DatasetOption, ReferencesOption
from quoteweave.cli.tables import make_table, show_table
from quoteweave.core.answers import Context
from quoteweave.core.confidence import GIVEN_QUOTES, RiskCoveragePoint, model_name, retriever_name
from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.messages import pluralize
from quoteweave.core.runs import read_run_record
from quoteweave.evaluation.calibration import (
    MIN_ANSWERS,
    CalibrationExample,
    CalibrationReport,
    cites_gold,
    is_answerable,
    judged_correct,
)
from quoteweave.evaluation.calibration import calibrate as fitted
from quoteweave.evaluation.judges.batch import JudgingItem
from quoteweave.evaluation.judges.evidence_verdicts import load_evidence_verdicts
from quoteweave.evaluation.report.plots import risk_plot
from quoteweave.generation.confidence_signals import signals_of

CorrectnessCheck = Callable[[Prediction, Example], bool | None]

JSON = """--json prints one object; shares are fractions:

run, retriever, model, risk: what was fitted, for what, and the risk that was to be kept;

right, wrong, declined, failed, unknown: how many questions, by what became of them;

nothing_found: for how many of the first three nothing was found; nothing is fitted on them;

curve: a list of threshold, answers, coverage, risk, from the most confident answers to all;

aurc, least_aurc: the area under it, and the least that it could be;

chosen: the point at the threshold, null where none keeps the risk; greatest_risk: its upper bound, 95 %;

before: the threshold below which the model is not asked, null as above;

groups: answerable, unanswerable: questions, answered, asked, given; empty as above;

calibration: the file that was written, or null."""


CorrectnessSource = Literal["cited", "judged"]
"""How it is decided whether an answer is right."""


def calibrate(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, made by quoteweave run.")],
    dataset: DatasetOption,
    references: ReferencesOption = None,
    risk: Annotated[
        float, typer.Option(min=0, max=1, help="Keep the share of wrong answers among those given to this.")
    ] = 0.1,
    right: Annotated[
        CorrectnessSource,
        typer.Option(help="Right answers: those that cite gold, or those that eval citations judged right."),
    ] = "cited",
    out: Annotated[Path | None, typer.Option(help="Write the calibration here.", metavar="FILE")] = None,
    svg: Annotated[Path | None, typer.Option(help="Draw the curve here.", metavar="FILE")] = None,
    as_json: JsonOption = False,
) -> None:
    """Fit when to abstain.

    Each answer of the run gets a confidence, from the score of its best quote,
    the share of the question's words that one quote holds, and the share of
    citations that the gate supports. The output shows what share of the answers
    would be wrong if only the most confident were given, and the threshold that
    gives most of them while keeping the risk. A right answer cites a gold quote or
    page; any answer to a question without gold is wrong. If no threshold
    keeps the risk, none is written, and the exit code is 1.
    """
    if not run.is_dir():
        raise DatasetError(f"{run} is no run folder; confidences need what quoteweave run keeps, contexts and answers")
    retriever, model = retriever_and_model(run)
    pairs = load_judged_items(run, dataset, references)
    failed = sum(prediction.error is not None for prediction, _ in pairs)
    examples = _calibration_examples(pairs, _correctness_check(right, run))
    report = fitted(examples, retriever=retriever, model=model, risk=risk)
    if svg is not None:
        write_text(svg, risk_plot(report).svg)
    calibration_file = out if out is not None and report.calibration is not None else None
    if calibration_file is not None and report.calibration is not None:
        write_text(calibration_file, report.calibration.model_dump_json(indent=2) + "\n")
    counts = {"failed": failed, "unknown": len(pairs) - failed - len(examples)}
    head = {"run": str(run), "retriever": retriever, "model": model, **counts}
    show(report, head, calibration_file, as_json=as_json)
    if report.calibration is None:
        raise typer.Exit(1)


def retriever_and_model(run: Path) -> tuple[str, str]:
    """The retriever and the model of a run, as a calibration names them.

    Raises UsageError if a calibration withheld answers of the run.
    """
    record = read_run_record(run)
    if "abstain" in record.fingerprints:
        raise UsageError(f"{run} abstained by a calibration itself; name a run that gave all its answers")
    names = record.configuration.get("retriever")
    retrievers = [str(name) for name in names] if isinstance(names, Sequence) and not isinstance(names, str) else []
    values = {key: str(value) for key, value in record.configuration.items() if value}
    model = model_name(values.get("model"), values.get("sentence_scorer"))
    if values.get("quotes") == "dataset":
        return GIVEN_QUOTES, model
    steps = {step: values.get(step) for step in ("fusion", "expand", "rerank")}
    steps |= {name: record.fingerprints.get(name) for name in ("terms", "synonyms")}
    return retriever_name(retrievers, **steps), model


def _correctness_check(source: CorrectnessSource, run: Path) -> CorrectnessCheck:
    if source == "cited":
        return cites_gold
    path = run / CITATIONS
    if not path.is_file():
        raise UsageError(f"--right judged: there is no {path}; quoteweave eval citations makes it")
    verdicts = load_evidence_verdicts(path)
    return lambda prediction, example: judged_correct(prediction, example, verdicts)


def _calibration_examples(pairs: Sequence[JudgingItem], is_correct: CorrectnessCheck) -> list[CalibrationExample]:
    """All questions except those that failed, and those whose answers cannot be known to be right or wrong."""
    examples = []
    for prediction, example in pairs:
        answer, is_right = prediction.answer, is_correct(prediction, example)
        if answer is None or (answer.status == "answered" and is_right is None):
            continue
        context = prediction.context or example.context or Context()
        examples.append(
            CalibrationExample(signals_of(example.query.text, context, answer), is_answerable(example), is_right)
        )
    return examples


CURVE_ROWS = 10
BAR_WIDTH = 20


def show(report: CalibrationReport, head: Mapping[str, object], file: Path | None, *, as_json: bool) -> None:
    """Print the calibration on stdout. `head` says what was calibrated, and how many questions were left out."""
    if as_json:
        print_json(_as_dict(report, head, file))
        return
    stdout = console()
    stdout.print(plain(f"{head['run']}: quotes by {head['retriever']}, answers by {head['model']}"))
    stdout.print(plain(_counts_line(report, head)))
    show_table(stdout, _curve_table(report))
    for line in _summary_lines(report, file):
        stdout.print(plain(line))


def _as_dict(report: CalibrationReport, head: Mapping[str, object], file: Path | None) -> dict[str, object]:
    threshold_before = None if report.calibration is None else report.calibration.before.threshold
    return {
        **head,
        **report.model_dump(mode="json", exclude={"calibration"}),
        "before": threshold_before,
        "calibration": None if file is None else str(file),
    }


def _counts_line(report: CalibrationReport, head: Mapping[str, object]) -> str:
    answers = report.right + report.wrong
    left_out = {"failed": "failed", "unknown": "cannot be known to be right or wrong"}
    left_out_parts = [f"; {head[key]} {reason}, and are left out" for key, reason in left_out.items() if head[key]]
    if report.nothing_found:
        left_out_parts.append(f"; for {report.nothing_found} of all nothing was found, and nothing is fitted on them")
    return (
        f"{pluralize(answers, 'answer')}, {report.right} right and {report.wrong} wrong "
        f"({_percent(report.wrong / answers)}); "
        f"{pluralize(report.declined, 'question')} that the model did not answer{''.join(left_out_parts)}"
    )


def _curve_table(report: CalibrationReport) -> Table:
    """A table of the curve at about each tenth of the answers, with bars whose length is proportional to the risk."""
    columns = ("given", "answers", "confidence from", "of these wrong", "")
    table = make_table(columns, words=[""], title="If only the most confident answers were given")
    greatest = max(point.risk for point in report.curve) or 1.0
    for point in _points_shown(report):
        mark = "  ← threshold" if point == report.chosen else ""
        bar = "█" * round(BAR_WIDTH * point.risk / greatest)
        cells = _percent(point.coverage), str(point.answers), f"{point.threshold:.3f}", _percent(point.risk)
        table.add_row(*cells, f"{bar}{mark}")
    return table


def _points_shown(report: CalibrationReport) -> Sequence[RiskCoveragePoint]:
    """The first point of the curve in each tenth, and the chosen one."""
    tenths = (step / CURVE_ROWS for step in range(1, CURVE_ROWS + 1))
    first_points = [next(point for point in report.curve if point.coverage >= tenth) for tenth in tenths]
    points = {point.answers: point for point in (*first_points, *([report.chosen] if report.chosen else []))}
    return [points[answers] for answers in sorted(points)]


def _summary_lines(report: CalibrationReport, file: Path | None) -> Iterator[str]:
    overall = report.wrong / (report.right + report.wrong)
    yield (
        f"Area under the curve (AURC): {report.aurc:.3f}; {report.least_aurc:.3f} were the confidence never mistaken, "
        f"{overall:.3f} were it chance."
    )
    if report.has_few_answers:
        shortage = f"fewer than {MIN_ANSWERS} right or {MIN_ANSWERS} wrong answers"
        yield f"warning: with {shortage} the fit says little; add questions."
    point, calibration = report.chosen, report.calibration
    if point is None or calibration is None:
        least_risky = min(report.curve, key=lambda candidate: (candidate.risk, -candidate.coverage))
        yield (
            f"No threshold keeps the risk at {_percent(report.risk)}: the least is {_percent(least_risky.risk)}, with "
            f"{_percent(least_risky.coverage)} of the answers given. Nothing is written; allow more with --risk."
        )
        return
    yield (
        f"Threshold {point.threshold:.3f}: {_percent(point.coverage)} of the answers are given, and of these "
        f"{_percent(point.risk)} are wrong. Had the threshold been chosen on other answers, at most "
        f"{_percent(report.greatest_risk or 0.0)} would be on new questions, with 95 % confidence; as it is, "
        "maybe more."
    )
    yield (
        f"Below {calibration.before.threshold:.3f} by what is found alone, the model is not asked: no right answer of "
        "these lies there."
    )
    for name, group in report.groups.items():
        if group.questions:
            yield (
                f"{pluralize(group.questions, f'{name} question')}: {group.answered} answered. With "
                f"the calibration the model "
                f"is asked {group.asked} of them, and {group.given} are answered."
            )
    yield "Nothing is written; --out FILE keeps it." if file is None else f"Written to {file}."


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
