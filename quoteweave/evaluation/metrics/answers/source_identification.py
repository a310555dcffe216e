"""Source identification: accuracy in choosing which of five sources, or of four answers, is right.

MCiteBench's probes (arXiv 2503.02589, section 5.3, Tables 3 and 11, and the same section of its first version), as
`datasets.mcitebench` makes them; accuracy, overall and by the modality of the right source.
"""

import string

from quoteweave.core.examples import Example, Prediction, Task
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of
from quoteweave.evaluation.text.responses import answer_of

LETTERS = string.ascii_uppercase[:5]
_CHOSEN = lazy_regex(
    rf"[\W_]*+(?:(?i:the|my|correct|selected|option|answer|choice|source|is)\b[\W_]*+)*+([{LETTERS}])(?![^\W_]|')"
)


def chosen_letter(answer: str) -> str | None:
    """The capital letter with which an answer begins, ignoring words such as "Answer:"; None if there is none."""
    match = _CHOSEN.match(answer)
    return match[1] if match else None


class _ChosenLetter:
    """A figure for questions of one task: 1 if the right letter is chosen, else 0; the mean is the accuracy."""

    name: str
    task: Task
    aggregates: tuple[Aggregate, ...]

    def row(self, prediction: Prediction, example: Example) -> Row:
        """1 or 0."""
        if prediction.response is None or example.task != self.task:
            return {}
        letter = chosen_letter(answer_of(prediction.response, "own"))
        right = example.reference.short_answer
        return {self.name: float(letter == right), f"{self.name}.unread": float(letter is None)}


class SourceIdentification(_ChosenLetter):
    """`source_identification`: 1 if the right source is chosen, else 0; the mean is the accuracy.

    A response without a letter is wrong, and counted in the column `source_identification.unread`. Undefined without a
    response, and for questions that do not ask for a source.
    """

    name = "source_identification"
    task: Task = "choose_source"
    aggregates: tuple[Aggregate, ...] = (mean_of("source_identification"), mean_of("source_identification.unread"))


class AnswerChoice(_ChosenLetter):
    """`answer_choice`: the same where the options are answers (understanding, in Table 3 of the first version)."""

    name = "answer_choice"
    task: Task = "choose_answer"
    aggregates: tuple[Aggregate, ...] = (mean_of("answer_choice"), mean_of("answer_choice.unread"))
