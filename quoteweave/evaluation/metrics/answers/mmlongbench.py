"""Accuracy and F1 of short answers, unanswerable questions included (MMLongBench-Doc).

The answer formats of the dataset (arXiv 2407.01523) are a breakdown.
"""

from typing import TYPE_CHECKING

from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of
from quoteweave.evaluation.text.responses import MarkGrammar, scored_text
from quoteweave.evaluation.text.short_answers import NOT_ANSWERABLE, short_answer, short_answer_score

if TYPE_CHECKING:
    from quoteweave.evaluation.statistics.aggregates import Sums

_F1_COLUMNS = ("mmlongbench.score", "mmlongbench.answerable", "mmlongbench.answered")


def _f1(sums: "Sums") -> "Sums":
    """2 Σ score / (Σ answerable + Σ answered), which is the harmonic mean of recall and precision."""
    _, score, answerable, answered = sums
    f1: Sums = 2 * score / (answerable + answered) * (answerable / answerable)  # 0 / 0 where none can be answered
    return f1


class MMLongBench:
    """`mmlongbench.accuracy`, `.recall`, `.precision` and `.f1.pooled` (Ma et al., arXiv 2407.01523, section 4.1).

    A question that can be answered scores what `short_answer_score` gives of the short answer that `short_answer` reads
    out of the response, or 0 where there is none; one that cannot, 1 where it was not answered, else 0. Not answered is
    what the answer's outcome says, or a response that says so itself. With these scores,

        accuracy   mean over all questions
        recall     mean over the questions that can be answered
        precision  sum of the scores of questions that can be answered / number of questions that were answered
        f1         harmonic mean of recall and precision

    The paper has a model read the short answers out of responses, so that its figures are not comparable with these.
    Undefined without a response, and for examples without an answer format; recall and F1 also without a question that
    can be answered, precision without one that was answered.
    """

    name = "mmlongbench"
    aggregates: tuple[Aggregate, ...] = (
        mean_of("mmlongbench.accuracy"),
        mean_of("mmlongbench.recall"),
        mean_of("mmlongbench.precision"),
        Aggregate("mmlongbench.f1.pooled", _F1_COLUMNS, _f1),
    )

    def __init__(self, marks: MarkGrammar) -> None:
        self._marks = marks

    def row(self, prediction: Prediction, example: Example) -> Row:
        """`score` is 0 where the question cannot be answered; `answerable` and `answered` are 0 or 1."""
        reference = example.reference
        answerable, gold = reference.answer_format != "none", reference.short_answer
        if prediction.response is None or reference.answer_format is None or (answerable and gold is None):
            return {}
        answer = self._short_answer(prediction, example)
        answered = answer != NOT_ANSWERABLE
        score = 0.0
        if answerable and answered and answer is not None:
            score = short_answer_score(gold or "", answer, reference.answer_format)
        return {
            "mmlongbench.accuracy": score if answerable else float(not answered),
            "mmlongbench.recall": score if answerable else None,
            "mmlongbench.precision": score if answered else None,
            "mmlongbench.score": score,
            "mmlongbench.answerable": float(answerable),
            "mmlongbench.answered": float(answered),
        }

    def _short_answer(self, prediction: Prediction, example: Example) -> str | None:
        """The short answer, or that there is none; None where an answer was given that holds no short one."""
        if prediction.answer is not None and prediction.answer.status != "answered":
            return NOT_ANSWERABLE
        text = scored_text(prediction, self._marks, marks_kept=True) or ""
        return short_answer(example.query.text, text, example.reference.answer_format or "str")
