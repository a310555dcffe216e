"""The words of an answer that are compared with a gold answer."""

from quoteweave.core.examples import Prediction
from quoteweave.core.text.marks import parse_marks
from quoteweave.evaluation.responses import Marks, answer_of


def scored_text(prediction: Prediction, marks: Marks, *, marks_kept: bool = False) -> str | None:
    """The answer of a response, its thinking cut off as `marks` has it, its marks taken out unless kept; or None."""
    if prediction.response is None:
        return None
    answer = answer_of(prediction.response, marks)
    return answer if marks_kept else prose(answer)


def prose(text: str) -> str:
    """`text` without its citation marks; what an image mark says of its image stays, for it is part of what is said.

    Marks are those of `core.marks` by either convention, so that the words compared do not depend on it.
    """
    parts, end = [], 0
    for mark in parse_marks(text):
        parts += [text[end : mark.start], f" {mark.summary} " if mark.summary else ""]
        end = mark.end
    return "".join([*parts, text[end:]])
