"""Answers that had better not be given: withheld, or not asked for, where their confidence is too low.

The thresholds are those of a `Calibration`; `core.confidence.load_calibration` reads one, for a retriever and a model.
"""

from quoteweave.core.answers import Answer, Context, TextBlock, Usage
from quoteweave.core.confidence import Calibration
from quoteweave.core.messages import pluralize
from quoteweave.generation.confidence_signals import signals_of

NOT_ENOUGH = "What was found does not bear on the question well enough to answer it."


def abstain_before(question: str, context: Context, calibration: Calibration) -> Answer | None:
    """The abstention where what was found does not bear on the question; None where the model is to be asked."""
    confidence = calibration.before.confidence(signals_of(question, context))
    least = calibration.before.threshold
    if confidence >= least:
        return None
    return Answer(
        question=question,
        status="abstained",
        text=NOT_ENOUGH,
        blocks=(TextBlock(text=NOT_ENOUGH),),
        model=calibration.model,
        usage=Usage(input_tokens=0, output_tokens=0),
        seconds=0,
        warnings=(f"Not asked: on what was found, {_low(confidence, least, calibration)}.",),
    )


def abstain_below(answer: Answer, context: Context, calibration: Calibration) -> Answer:
    """The answer, or an abstention where its confidence is below the threshold; `raw` keeps what was written.

    `context` must be the one that it was written from, and the gate have checked it as it had the answers that the
    calibration was fitted on.
    """
    if answer.status != "answered":
        return answer
    confidence = calibration.after.confidence(signals_of(answer.question, context, answer))
    least = calibration.after.threshold
    if confidence >= least:
        return answer
    return answer.model_copy(
        update={
            "status": "abstained",
            "text": NOT_ENOUGH,
            "blocks": (TextBlock(text=NOT_ENOUGH),),
            "citations": (),
            "raw": answer.raw if answer.raw is not None else answer.text,
            "warnings": (*answer.warnings, f"Withheld: {_low(confidence, least, calibration)}."),
        }
    )


def _low(confidence: float, least: float, calibration: Calibration) -> str:
    """Three digits, or as many as tell the two apart."""
    digits = next((digits for digits in range(3, 17) if f"{confidence:.{digits}f}" != f"{least:.{digits}f}"), 17)
    return (
        f"a confidence of {confidence:.{digits}f} is below the threshold of {least:.{digits}f} that was fitted on "
        f"{pluralize(calibration.answers, 'answer')}"
    )
