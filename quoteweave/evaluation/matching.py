"""Predictions and the examples that they answer: each question once, and none of another dataset."""

from collections import Counter
from collections.abc import Sequence

from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, Prediction

_SHOWN = 3


def match(examples: Sequence[Example], predictions: Sequence[Prediction], *, partial: bool = False) -> list[Prediction]:
    """The predictions, in the order of the examples.

    Raises DatasetError, with counts and instances, where a question is answered twice, where answers are to questions
    that the dataset does not ask, and, unless `partial`, where questions are not answered.
    """
    counts = Counter(prediction.example for prediction in predictions)
    asked = [example.id for example in examples]
    problems = [
        _told("answered more than once", [name for name, count in counts.items() if count > 1]),
        _told("answered that the dataset does not ask", sorted(counts.keys() - set(asked))),
        "" if partial else _told("not answered", [name for name in asked if name not in counts]),
    ]
    found = [problem for problem in problems if problem]
    if found:
        advice = "" if partial or not problems[2] else "; --partial scores those that are answered"
        raise DatasetError(
            f"{len(predictions)} answers do not fit the {len(examples)} questions: {'; '.join(found)}{advice}"
        )
    made = {prediction.example: prediction for prediction in predictions}
    return [made[name] for name in asked if name in made]


def _told(what: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    return f"{len(names)} {what} ({shown}{', …' if len(names) > _SHOWN else ''})"
