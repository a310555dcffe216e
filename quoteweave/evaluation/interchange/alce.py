"""Result files of ALCE's code: questions with the passages that were shown and, as `output`, what was answered."""

from pathlib import Path

from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Prediction
from quoteweave.evaluation.datasets.alce import AlceLine, iter_alce


def load_alce_outputs(path: Path) -> list[Prediction]:
    """A prediction a question, over the passages that the file shows it.

    Raises DatasetError, naming file, place and field, for what cannot be read and for several answers to a question.
    """
    return [_prediction(line, f"{path}, {place}") for place, line in iter_alce(path)]


def _prediction(line: AlceLine, where: str) -> Prediction:
    if isinstance(line.output, tuple):
        raise DatasetError(f"{where}, output: {len(line.output)} answers to one question; keep one in each file")
    failed = "no response" if line.output is None else None
    return Prediction(example=line.name, scope="context", context=line.context, response=line.output, error=failed)
