"""A calibration for people, with its curve, and as a JSON value."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.table import Table

from quoteweave.cli.output import console, plain, print_json
from quoteweave.cli.tables import make_table, show_table
from quoteweave.core.confidence import Point
from quoteweave.core.messages import counted
from quoteweave.evaluation.calibration.calibrate import FEW_ANSWERS, CalibrationReport

ROWS = 10
BAR = 20


def show(found: CalibrationReport, head: Mapping[str, object], written: Path | None, *, as_json: bool) -> None:
    """On stdout. `head` says what was calibrated, and how many questions were left out."""
    if as_json:
        print_json(_as_dict(found, head, written))
        return
    out = console()
    out.print(plain(f"{head['run']}: quotes by {head['retriever']}, answers by {head['model']}"))
    out.print(plain(_counted(found, head)))
    show_table(out, _curve(found))
    for line in _told(found, written):
        out.print(plain(line))


def _as_dict(found: CalibrationReport, head: Mapping[str, object], written: Path | None) -> dict[str, object]:
    before = None if found.calibration is None else found.calibration.before.threshold
    return {
        **head,
        **found.model_dump(mode="json", exclude={"calibration"}),
        "before": before,
        "calibration": None if written is None else str(written),
    }


def _counted(found: CalibrationReport, head: Mapping[str, object]) -> str:
    answers = found.right + found.wrong
    left_out = {"failed": "failed", "unknown": "cannot be known to be right or wrong"}
    others = [f"; {head[key]} {what}, and are left out" for key, what in left_out.items() if head[key]]
    return (
        f"{counted(answers, 'answer')}, {found.right} right and {found.wrong} wrong "
        f"({_percent(found.wrong / answers)}); "
        f"{counted(found.declined, 'question')} that the model did not answer{''.join(others)}"
    )


def _curve(found: CalibrationReport) -> Table:
    """The curve at about each tenth of the answers; bars are as long as the risk, the longest for the greatest."""
    columns = ("given", "answers", "confidence from", "of these wrong", "")
    table = make_table(columns, words=[""], title="Were only the surest answers given")
    greatest = max(point.risk for point in found.curve) or 1.0
    for point in _shown(found):
        mark = "  ← threshold" if point == found.chosen else ""
        bar = "█" * round(BAR * point.risk / greatest)
        cells = _percent(point.coverage), str(point.answers), f"{point.threshold:.3f}", _percent(point.risk)
        table.add_row(*cells, f"{bar}{mark}")
    return table


def _shown(found: CalibrationReport) -> Sequence[Point]:
    """The first point of each tenth, and the chosen one."""
    tenths = (step / ROWS for step in range(1, ROWS + 1))
    first = [next(point for point in found.curve if point.coverage >= tenth) for tenth in tenths]
    points = {point.answers: point for point in (*first, *([found.chosen] if found.chosen else []))}
    return [points[answers] for answers in sorted(points)]


def _told(found: CalibrationReport, written: Path | None) -> Iterator[str]:
    overall = found.wrong / (found.right + found.wrong)
    yield (
        f"Area under the curve (AURC): {found.aurc:.3f}; {found.least_aurc:.3f} were the confidence never mistaken, "
        f"{overall:.3f} were it chance."
    )
    if found.few:
        few = f"fewer than {FEW_ANSWERS} right or {FEW_ANSWERS} wrong answers"
        yield f"warning: with {few} the fit says little; add questions."
    point, calibration = found.chosen, found.calibration
    if point is None or calibration is None:
        least = min(found.curve, key=lambda one: (one.risk, -one.coverage))
        yield (
            f"No threshold keeps the risk at {_percent(found.risk)}: the least is {_percent(least.risk)}, with "
            f"{_percent(least.coverage)} of the answers given. Nothing is written; allow more with --risk."
        )
        return
    yield (
        f"Threshold {point.threshold:.3f}: {_percent(point.coverage)} of the answers are given, and of these "
        f"{_percent(point.risk)} are wrong (on new questions at most {_percent(found.greatest_risk or 0.0)}, with 95 % "
        "confidence)."
    )
    yield (
        f"Below {calibration.before.threshold:.3f} by what is found alone, the model is not asked: no right answer of "
        "these lies there."
    )
    for name, group in found.groups.items():
        if group.questions:
            yield (
                f"{counted(group.questions, f'{name} question')}: {group.answered} answered. With "
                f"the calibration the model "
                f"is asked {group.asked} of them, and {group.given} are answered."
            )
    yield "Nothing is written; --out FILE keeps it." if written is None else f"Written to {written}."


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
