"""Fit the confidence of answers on questions whose answers are known, and choose thresholds for abstaining.

Two regressions: *before*, from what was found, the chance that a right answer comes of asking the model, fitted on all
questions; *after*, also from what the gate says, the chance that an answer is right, fitted on the answers. All that is
said of the questions themselves is by leave-one-out, so that none is judged by weights that it had a part in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from quoteweave.core.confidence import (
    ALL_SIGNALS,
    RETRIEVAL_SIGNALS,
    Calibration,
    ConfidenceModel,
    RiskCoveragePoint,
    SignalName,
    Signals,
    SignalWeight,
    sigmoid,
)
from quoteweave.core.errors import DatasetError
from quoteweave.core.messages import pluralize
from quoteweave.core.records import Record
from quoteweave.evaluation.calibration.logistic import fit, left_out
from quoteweave.evaluation.calibration.risk_coverage import (
    area,
    greatest_coverage,
    optimal_area,
    risk_coverage,
    risk_upper_bound,
)

FEW_ANSWERS = 20
"""With fewer correct or wrong answers than this, a fit is unreliable."""


@dataclass(frozen=True, slots=True)
class CalibrationExample:
    """A question of a run with its signals and whether it was answered correctly."""

    signals: Signals
    answerable: bool
    right: bool | None
    """None where the model gave no answer."""


class GroupCounts(Record):
    """Outcomes of one group of questions, in the run and with the calibration."""

    questions: int = Field(ge=0)
    answered: int = Field(ge=0, description="by the model")
    asked: int = Field(ge=0, description="of which the model is asked with the calibration")
    given: int = Field(ge=0, description="answers given with the calibration")


class CalibrationReport(Record):
    """The fitted calibration with its risk–coverage curve and counts."""

    calibration: Calibration | None = Field(description="None where no threshold keeps the risk")
    risk: float = Field(description="the share of wrong answers that was to be kept")
    curve: tuple[RiskCoveragePoint, ...]
    right: int = Field(ge=0)
    wrong: int = Field(ge=0)
    declined: int = Field(ge=0, description="questions that the model gave no answer to")
    aurc: float = Field(description="area under the risk-coverage curve")
    least_aurc: float = Field(description="the same were every right answer surer than every wrong one")
    chosen: RiskCoveragePoint | None = Field(description="the point of the curve at the threshold")
    greatest_risk: float | None = Field(description="upper bound of the risk there on new questions, 95 % one-sided")
    groups: Mapping[str, GroupCounts] = Field(description="answerable and unanswerable; empty without a threshold")

    @property
    def few(self) -> bool:
        """Whether there are too few answers of either sort to rely on the fit."""
        return min(self.right, self.wrong) < FEW_ANSWERS


def calibrate(asked: Sequence[CalibrationExample], *, retriever: str, model: str, risk: float) -> CalibrationReport:
    """Fits both stages, and chooses the threshold with the most coverage at which the risk is at most `risk`.

    The threshold of *before* is the least confidence of any right answer: on these questions it loses none. Raises
    DatasetError where the answers are all right or all wrong, as then nothing can be told apart.
    """
    answered = [one for one in asked if one.right is not None]
    right = [bool(one.right) for one in answered]
    after, confidences = _fitted(ALL_SIGNALS, answered, right)
    before, chances = _fitted(RETRIEVAL_SIGNALS, asked, [bool(one.right) for one in asked])
    curve = risk_coverage(confidences, right)
    point = greatest_coverage(curve, risk)
    calibration, groups = None, dict[str, GroupCounts]()
    if point is not None:
        least = min(chance for chance, one in zip(chances, asked, strict=True) if one.right)
        calibration = Calibration(
            retriever=retriever,
            model=model,
            risk=risk,
            answers=len(answered),
            before=before.model_copy(update={"threshold": least}),
            after=after.model_copy(update={"threshold": point.threshold}),
            curve=curve,
        )
        groups = _groups(asked, calibration, chances, confidences)
    return CalibrationReport(
        calibration=calibration,
        risk=risk,
        curve=curve,
        right=sum(right),
        wrong=len(right) - sum(right),
        declined=len(asked) - len(answered),
        aurc=area(curve) or 0.0,
        least_aurc=optimal_area(right) or 0.0,
        chosen=point,
        greatest_risk=None if point is None else risk_upper_bound(round(point.risk * point.answers), point.answers),
        groups=groups,
    )


def _check_both(right: Sequence[bool]) -> None:
    if not right:
        raise DatasetError("no answer of the run is known to be right or wrong; there is nothing to fit on")
    if all(right):
        raise DatasetError(
            f"all of {pluralize(len(right), 'answer is', 'answers are')} right, so that nothing tells "
            f"right from wrong ones; add questions that the "
            "documents do not answer"
        )
    if not any(right):
        raise DatasetError(f"of {pluralize(len(right), 'answer')} none is right: no threshold could keep any risk")


def _fitted(
    names: Sequence[SignalName], asked: Sequence[CalibrationExample], right: Sequence[bool]
) -> tuple[ConfidenceModel, list[float]]:
    """The stage, without a threshold yet, and the confidence of each question by the weights of the others.

    A signal that is the same for all says nothing, and has no weight. Where nothing was found the confidence is 0, and
    nothing is fitted on that.
    """
    import numpy as np

    found = [place for place, one in enumerate(asked) if one.signals.score is not None]
    # In this order, questions that are alike get the same confidence to the last digit, however they came.
    found.sort(key=lambda place: (asked[place].signals.values(names), right[place]))
    _check_both([right[place] for place in found])
    values = np.array([asked[place].signals.values(names) for place in found], dtype=np.float64)
    labels = np.array([right[place] for place in found], dtype=np.float64)
    varied = [column for column in range(len(names)) if np.ptp(values[:, column]) > 0]
    means, scales = values[:, varied].mean(axis=0), values[:, varied].std(axis=0)
    rows = (values[:, varied] - means) / scales
    intercept, weights = fit(rows, labels)
    confidences = [0.0] * len(asked)
    for place, log_odds in zip(found, left_out(rows, labels, intercept, weights), strict=True):
        confidences[place] = sigmoid(float(log_odds))
    parts = zip([names[column] for column in varied], means, scales, weights, strict=True)
    kept = [SignalWeight(signal=name, mean=mean, scale=scale, weight=weight) for name, mean, scale, weight in parts]
    return ConfidenceModel(intercept=intercept, weights=tuple(kept), threshold=0.0), confidences


def _groups(
    asked: Sequence[CalibrationExample],
    calibration: Calibration,
    chances: Sequence[float],
    confidences: Sequence[float],
) -> dict[str, GroupCounts]:
    left = iter(confidences)
    found: dict[str, list[tuple[bool, bool, bool]]] = {"answerable": [], "unanswerable": []}
    for one, chance in zip(asked, chances, strict=True):
        goes_on = chance >= calibration.before.threshold
        answered = one.right is not None
        given = answered and next(left) >= calibration.after.threshold and goes_on
        found["answerable" if one.answerable else "unanswerable"].append((answered, goes_on, given))
    return {
        name: GroupCounts(
            questions=len(rows),
            answered=sum(answered for answered, _, _ in rows),
            asked=sum(goes_on for _, goes_on, _ in rows),
            given=sum(given for _, _, given in rows),
        )
        for name, rows in found.items()
    }
