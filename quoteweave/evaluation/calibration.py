"""Fit the confidence of answers on questions with known answers, and choose thresholds by risk and coverage.

There are two regressions. *before* is fitted on all questions and gives, from the retrieval results, the probability
that asking the model leads to a right answer. *after* is fitted on the answers and gives, also from the gate's
verdicts, the probability that an answer is right. Confidences of the questions themselves are computed by
leave-one-out, so that no question is judged by weights that it has influenced.

Thresholds are chosen on the risk–coverage curve of selective answering. Coverage is the share of answers that are
given, risk the share of these that are wrong (Geifman and El-Yaniv, Selective Classification for Deep Neural Networks,
2017). The area under the curve is the mean, over all answers, of the risk when the threshold is that answer's own
confidence (Geifman, Uziel and El-Yaniv, Bias-Reduced Uncertainty Estimation for Deep Neural Classifiers, 2019); answers
with the same confidence are given together or not at all.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.messages import pluralize
from quoteweave.core.records import Record
from quoteweave.evaluation.judges.evidence_verdicts import EvidenceVerdict, request_hash
from quoteweave.evaluation.metrics.citations.cited_pages import is_on_gold_page
from quoteweave.evaluation.metrics.gold import gold_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Matrix = NDArray[np.float64]


LEVEL = 0.95
_HALVINGS = 60


def risk_coverage(confidences: Sequence[float], right: Sequence[bool]) -> tuple[RiskCoveragePoint, ...]:
    """A point for each confidence that occurs, from the greatest to the least; the last gives all answers.

    Empty without answers. Raises ValueError for sequences of unequal length.
    """
    ranked = sorted(zip(confidences, right, strict=True), key=lambda answer: -answer[0])
    points, wrong = [], 0
    for answer_count, (confidence, is_right) in enumerate(ranked, start=1):
        wrong += not is_right
        if answer_count == len(ranked) or ranked[answer_count][0] < confidence:
            coverage, risk = answer_count / len(ranked), wrong / answer_count
            points.append(RiskCoveragePoint(threshold=confidence, answers=answer_count, coverage=coverage, risk=risk))
    return tuple(points)


def area_under_curve(curve: Sequence[RiskCoveragePoint]) -> float | None:
    """AURC, from 0 (best) to 1; None without answers, where it is undefined."""
    if not curve:
        return None
    before = [0, *(point.answers for point in curve)]
    shares = zip(curve, before, strict=False)
    return math.fsum((point.answers - fewer) * point.risk for point, fewer in shares) / curve[-1].answers


def optimal_area(right: Sequence[bool]) -> float | None:
    """The AURC if every right answer had more confidence than every wrong one, which is the best possible."""
    ranked = sorted(right, reverse=True)
    return area_under_curve(risk_coverage([1 / position for position in range(1, len(ranked) + 1)], ranked))


def greatest_coverage(curve: Sequence[RiskCoveragePoint], risk: float) -> RiskCoveragePoint | None:
    """The point with the most coverage whose risk is at most `risk`; None if there is none."""
    return next((point for point in reversed(curve) if point.risk <= risk), None)


def risk_upper_bound(wrong: int, answers: int) -> float:
    """The upper bound of the risk at the confidence level `LEVEL`, one-sided (Clopper and Pearson 1934).

    It is the greatest probability p with which `wrong` or fewer of `answers` would be wrong with probability 1 -
    `LEVEL`. It assumes that answers are independent, and that the threshold was chosen without them. If confidences say
    nothing, 9 to 11 % of the bounds at the threshold that `greatest_coverage` chooses among 100 to 300 answers are
    below the true risk, not 5 %.
    """
    if wrong >= answers:
        return 1.0
    low, high = wrong / answers, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _probability_at_most(wrong, answers, middle) > 1 - LEVEL else (low, middle)
    return high


def _probability_at_most(wrong: int, answers: int, chance: float) -> float:
    """The probability that `wrong` or fewer of `answers` are wrong if each is with this chance, above 0 and below 1."""
    ways = (math.lgamma(answers + 1) - math.lgamma(k + 1) - math.lgamma(answers - k + 1) for k in range(wrong + 1))
    log_wrong, log_right = math.log(chance), math.log1p(-chance)
    return math.fsum(math.exp(way + k * log_wrong + (answers - k) * log_right) for k, way in enumerate(ways))


CORRECT = 2
"""The accuracy that a judge gives to a right answer."""


def is_answerable(example: Example) -> bool:
    """Whether the question is answerable: not if the dataset has no answer, or nothing relevant, for it."""
    reference = example.reference
    if reference.answer_format == "none":
        return False
    named = reference.pages or reference.boxes or reference.layouts
    nothing = reference.relevant is not None and not any(grade > 0 for grade in reference.relevant.values())
    return bool(named) or not nothing


def cites_gold(prediction: Prediction, example: Example) -> bool | None:
    """Whether the answer is right: it cites a gold quote, or a gold page if only gold pages are known.

    Answering an unanswerable question is wrong. None for failed predictions and abstentions, and where it is not known
    which quotes are gold.
    """
    if not _is_answered(prediction):
        return None
    if not is_answerable(example):
        return False
    cited = prediction.answer.citations if prediction.answer else ()
    gold = gold_of(prediction, example)
    if gold is not None and gold.kinds:
        return any(gold.item(citation.kind, citation.number) in gold.kinds for citation in cited)
    if example.reference.pages and example.document is not None:
        return any(is_on_gold_page(citation, example) for citation in cited)
    return None


def judged_correct(prediction: Prediction, example: Example, verdicts: Mapping[str, EvidenceVerdict]) -> bool | None:
    """Whether a judge calls the answer right, compared with the gold answer; otherwise as `cites_gold`.

    None also where the judge did not see this answer, or gave it no score.
    """
    if not _is_answered(prediction):
        return None
    if not is_answerable(example):
        return False
    verdict = verdicts.get(example.id)
    if verdict is None or verdict.accuracy is None or verdict.accuracy.score is None:
        return None
    return verdict.accuracy.score >= CORRECT if verdict.request == request_hash(prediction, example) else None


def _is_answered(prediction: Prediction) -> bool:
    return prediction.answer is not None and prediction.answer.status == "answered"


STEPS = 100
TOLERANCE = 1e-10
L2 = 1.0
"""The penalty; its inverse is what scikit-learn calls C."""


def fit_logistic(rows: "Matrix", right: "Vector", *, l2: float = L2) -> tuple[float, "Vector"]:
    """Intercept and weights that make `right` (n of 0 or 1) most likely given `rows` (n × signals, standardised).

    They minimise the sum of log losses and l2 / 2 · ‖weights‖²; the intercept is not penalised. `right` must contain
    both 0 and 1.
    """
    import numpy as np

    with_intercept = np.hstack([np.ones((len(rows), 1)), rows])
    penalty = np.array([0.0, *[l2] * rows.shape[1]])
    coefficients = _newton(with_intercept, right, penalty, offset=0.0, start=np.zeros(len(penalty)))
    return float(coefficients[0]), coefficients[1:]


def left_out_log_odds(rows: "Matrix", right: "Vector", intercept: float, weights: "Vector") -> "Vector":
    """The log-odds (n) of each of `rows` (n × signals) by the weights of all others, so that none influences its own.

    The intercept stays that of all rows. If it were fitted again, it would be lower without a right row and higher
    without a wrong one, and signals without information would seem to be wrong each time.
    """
    import numpy as np

    penalty = np.full(rows.shape[1], L2)
    log_odds = np.empty(len(rows))
    for position, row in enumerate(rows):
        is_other = np.arange(len(rows)) != position
        weights_without_row = _newton(rows[is_other], right[is_other], penalty, offset=intercept, start=weights)
        log_odds[position] = intercept + weights_without_row @ row
    return log_odds


def _newton(rows: "Matrix", right: "Vector", penalty: "Vector", *, offset: float, start: "Vector") -> "Vector":
    """The weights (signals) that minimise the loss, by Newton's method; a step that does not lower it is halved.

    `rows` (n × signals) and `right` (n of 0 or 1) are as in `fit_logistic`. The loss is convex: the sum of log losses,
    and half of `penalty` (signals) times the squares of the weights. `offset` is added to all log-odds.
    """
    import numpy as np

    def loss(at: "Vector") -> float:
        odds = offset + rows @ at
        return float(np.logaddexp(0, odds).sum() - right @ odds + penalty @ at**2 / 2)

    weights, lowest = start, loss(start)
    for _ in range(STEPS):
        chances = (1 + np.tanh((offset + rows @ weights) / 2)) / 2
        gradient = rows.T @ (chances - right) + penalty * weights
        curvature = (rows.T * (chances * (1 - chances))) @ rows + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        while (lower := loss(weights - step)) > lowest and np.abs(step).max() > TOLERANCE:
            step = step / 2
        if np.abs(step).max(initial=0.0) <= TOLERANCE:
            break
        weights, lowest = weights - step, lower
    return weights


MIN_ANSWERS = 20
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
    nothing_found: int = Field(ge=0, description="of all these; their confidence is 0, and nothing is fitted on them")
    aurc: float = Field(description="area under the risk-coverage curve")
    least_aurc: float = Field(description="the same were every right answer surer than every wrong one")
    chosen: RiskCoveragePoint | None = Field(description="the point of the curve at the threshold")
    greatest_risk: float | None = Field(
        description="upper bound of the risk there, 95 % one-sided, were the threshold chosen on other answers"
    )
    groups: Mapping[str, GroupCounts] = Field(description="answerable and unanswerable; empty without a threshold")

    @property
    def has_few_answers(self) -> bool:
        """Whether there are too few answers of either sort to rely on the fit."""
        return min(self.right, self.wrong) < MIN_ANSWERS


def calibrate(
    examples: Sequence[CalibrationExample],
    signals: Sequence[SignalName] = ALL_SIGNALS,
    *,
    retriever: str,
    model: str,
    risk: float,
) -> CalibrationReport:
    """Fit both stages, and choose the threshold with the most coverage at which the risk is at most `risk`.

    `signals` are those of *after*. The threshold of *before* is the lowest confidence of any right answer, so that no
    right answer to these questions is lost. Raises DatasetError where the answers are all right or all wrong.
    """
    answered = [example for example in examples if example.right is not None]
    right = [bool(example.right) for example in answered]
    after, confidences = _fit_stage(signals, answered, right)
    before, chances = _fit_stage(RETRIEVAL_SIGNALS, examples, [bool(example.right) for example in examples])
    curve = risk_coverage(confidences, right)
    point = greatest_coverage(curve, risk)
    calibration, groups = None, dict[str, GroupCounts]()
    if point is not None:
        least = min(chance for chance, example in zip(chances, examples, strict=True) if example.right)
        before, after = before.with_threshold(least), after.with_threshold(point.threshold)
        fitted_on = {"retriever": retriever, "model": model, "risk": risk, "answers": len(answered)}
        calibration = Calibration.model_validate({**fitted_on, "before": before, "after": after, "curve": curve})
        groups = _group_counts(examples, calibration, chances, confidences)
    return CalibrationReport(
        calibration=calibration,
        risk=risk,
        curve=curve,
        right=sum(right),
        wrong=len(right) - sum(right),
        declined=len(examples) - len(answered),
        nothing_found=sum(example.signals.score is None for example in examples),
        aurc=area_under_curve(curve) or 0.0,
        least_aurc=optimal_area(right) or 0.0,
        chosen=point,
        greatest_risk=None if point is None else risk_upper_bound(round(point.risk * point.answers), point.answers),
        groups=groups,
    )


def _check_right_and_wrong(right: Sequence[bool]) -> None:
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


def _fit_stage(
    names: Sequence[SignalName], examples: Sequence[CalibrationExample], right: Sequence[bool]
) -> tuple[ConfidenceModel, list[float]]:
    """The stage, without a threshold yet, and the confidence of each question by the weights of the other questions.

    A signal that is the same for all questions carries no information and gets no weight. If nothing was retrieved, the
    confidence is 0, and the question is not used for fitting.
    """
    import numpy as np

    positions = [position for position, example in enumerate(examples) if example.signals.score is not None]
    # In this order, equal questions get the same confidence to the last digit, whatever their order was.
    positions.sort(key=lambda position: (examples[position].signals.values(names), right[position]))
    _check_right_and_wrong([right[position] for position in positions])
    values = np.array([examples[position].signals.values(names) for position in positions], dtype=np.float64)
    labels = np.array([right[position] for position in positions], dtype=np.float64)
    varied = [column for column in range(len(names)) if np.ptp(values[:, column]) > 0]
    means, scales = values[:, varied].mean(axis=0), values[:, varied].std(axis=0)
    rows = (values[:, varied] - means) / scales
    intercept, weights = fit_logistic(rows, labels)
    confidences = [0.0] * len(examples)
    for position, log_odds in zip(positions, left_out_log_odds(rows, labels, intercept, weights), strict=True):
        confidences[position] = sigmoid(float(log_odds))
    least, most = values[:, varied].min(axis=0), values[:, varied].max(axis=0)
    columns = zip(means, scales, least, most, weights, strict=True)
    fields = ("mean", "scale", "least", "most", "weight")
    signal_weights = [
        SignalWeight(signal=names[signal], **dict(zip(fields, map(float, column), strict=True)))
        for signal, column in zip(varied, columns, strict=True)
    ]
    return ConfidenceModel(intercept=intercept, weights=tuple(signal_weights), threshold=0.0), confidences


def _group_counts(
    examples: Sequence[CalibrationExample],
    calibration: Calibration,
    chances: Sequence[float],
    confidences: Sequence[float],
) -> dict[str, GroupCounts]:
    remaining_confidences = iter(confidences)
    outcomes: dict[str, list[tuple[bool, bool, bool]]] = {"answerable": [], "unanswerable": []}
    for example, chance in zip(examples, chances, strict=True):
        goes_on = chance >= calibration.before.threshold
        answered = example.right is not None
        is_given = answered and next(remaining_confidences) >= calibration.after.threshold and goes_on
        outcomes["answerable" if example.answerable else "unanswerable"].append((answered, goes_on, is_given))
    return {
        name: GroupCounts(
            questions=len(rows),
            answered=sum(answered for answered, _, _ in rows),
            asked=sum(goes_on for _, goes_on, _ in rows),
            given=sum(is_given for _, _, is_given in rows),
        )
        for name, rows in outcomes.items()
    }
