"""`quoteweave eval calibrate`: when an answer is not to be given, fitted on questions whose answers are known."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quoteweave.cli.judging import DatasetOption, ReferencesOption, pairs_of
from quoteweave.cli.options import JsonOption

if TYPE_CHECKING:
    from quoteweave.core.examples import Example, Prediction
    from quoteweave.evaluation.calibration.calibrate import CalibrationExample, CalibrationReport
    from quoteweave.evaluation.judges.batch import JudgingItem

    Right = Callable[[Prediction, Example], bool | None]

JSON = """--json prints one object; shares are fractions:

run, retriever, model, risk: what was fitted, for what, and the risk that was to be kept;

right, wrong, declined, failed, unknown: how many questions, by what became of them;

curve: a list of threshold, answers, coverage, risk, from the surest answers to all;

aurc, least_aurc: the area under it, and the least that it could be;

chosen: the point at the threshold, null where none keeps the risk; greatest_risk: its upper bound, 95 %;

before: the threshold below which the model is not asked, null as above;

groups: answerable, unanswerable: questions, answered, asked, given; empty as above;

calibration: the file that was written, or null."""


class RightBy(StrEnum):
    """What tells right answers."""

    CITED = "cited"
    JUDGED = "judged"


def calibrate(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, made by quoteweave run.")],
    dataset: DatasetOption,
    references: ReferencesOption = None,
    risk: Annotated[
        float, typer.Option(min=0, max=1, help="Keep the share of wrong answers among those given to this.")
    ] = 0.1,
    right: Annotated[
        RightBy, typer.Option(help="Right answers: those that cite gold, or those that eval citations judged right.")
    ] = RightBy.CITED,
    out: Annotated[Path | None, typer.Option(help="Write the calibration here.", metavar="FILE")] = None,
    svg: Annotated[Path | None, typer.Option(help="Draw the curve here.", metavar="FILE")] = None,
    as_json: JsonOption = False,
) -> None:
    """Find out when an answer had better not be given.

    Each answer of the run gets a confidence, from the score of its best quote,
    the share of the question's words that one quote holds, and the share of
    citations that the gate supports. Printed is what share of the answers
    would be wrong were only the surest given, and the threshold that gives
    most of them while the risk is kept. A right answer cites a gold quote or
    page; any answer to a question without gold is wrong. Where no threshold
    keeps the risk, none is written, and the exit code is 1.
    """
    from quoteweave.cli.eval_calibrate_output import show
    from quoteweave.core.errors import DatasetError
    from quoteweave.evaluation.calibration.calibrate import calibrate as fitted

    if not run.is_dir():
        raise DatasetError(f"{run} is no run folder; confidences need what quoteweave run keeps, contexts and answers")
    retriever, model = _made_by(run)
    pairs = pairs_of(run, dataset, references)
    failed = sum(prediction.error is not None for prediction, _ in pairs)
    asked = _asked(pairs, _right_by(right, run))
    found = fitted(asked, retriever=retriever, model=model, risk=risk)
    if svg is not None:
        _draw(svg, found)
    written = out if out is not None and found.calibration is not None else None
    if written is not None and found.calibration is not None:
        _write(written, found.calibration.model_dump_json(indent=2) + "\n")
    counts = {"failed": failed, "unknown": len(pairs) - failed - len(asked)}
    head = {"run": str(run), "retriever": retriever, "model": model, **counts}
    show(found, head, written, as_json=as_json)
    if found.calibration is None:
        raise typer.Exit(1)


def _made_by(run: Path) -> tuple[str, str]:
    """The retriever and the model of a run. Raises UsageError where its answers were withheld by a calibration."""
    from quoteweave.core.confidence import OWN_QUOTES, model_name, retriever_name
    from quoteweave.core.errors import UsageError
    from quoteweave.core.runs import said_of

    described = said_of(run)
    if "abstain" in described.fingerprints:
        raise UsageError(f"{run} abstained by a calibration itself; name a run that gave all its answers")
    said = described.configuration
    names = said.get("retriever")
    model, order = (str(said[key]) if said.get(key) else None for key in ("model", "answer_with"))
    steps = {step: str(said[step]) if said.get(step) else None for step in ("fusion", "expand", "rerank")}
    steps["terms"] = described.fingerprints.get("terms")
    retrievers = [str(name) for name in names] if isinstance(names, Sequence) and not isinstance(names, str) else []
    own = said.get("quotes") == "dataset"
    return OWN_QUOTES if own else retriever_name(retrievers, **steps), model_name(model, order)


def _right_by(how: RightBy, run: Path) -> "Right":
    from quoteweave.cli.eval_citations import JUDGEMENTS
    from quoteweave.core.errors import UsageError
    from quoteweave.evaluation.calibration.correctness import cites_gold, judged_correct
    from quoteweave.evaluation.judges.evidence_verdicts import load_evidence_verdicts

    if how is RightBy.CITED:
        return cites_gold
    path = run / JUDGEMENTS
    if not path.is_file():
        raise UsageError(f"--right judged: there is no {path}; quoteweave eval citations makes it")
    verdicts = load_evidence_verdicts(path)
    return lambda prediction, example: judged_correct(prediction, example, verdicts)


def _asked(pairs: "Sequence[JudgingItem]", right: "Right") -> "list[CalibrationExample]":
    """All questions but those that failed, and whose answers cannot be known to be right or wrong."""
    from quoteweave.core.answers import Context
    from quoteweave.evaluation.calibration.calibrate import CalibrationExample
    from quoteweave.evaluation.calibration.correctness import answerable
    from quoteweave.generation.confidence_signals import signals_of

    asked = []
    for prediction, example in pairs:
        answer, told = prediction.answer, right(prediction, example)
        if answer is None or (answer.status == "answered" and told is None):
            continue
        context = prediction.context or example.context or Context()
        asked.append(CalibrationExample(signals_of(example.query.text, context, answer), answerable(example), told))
    return asked


def _draw(path: Path, found: "CalibrationReport") -> None:
    from quoteweave.evaluation.report.plots import risk_plot

    _write(path, risk_plot(found).svg)


def _write(path: Path, text: str) -> None:
    from quoteweave.cli.output import writing_output

    with writing_output(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
