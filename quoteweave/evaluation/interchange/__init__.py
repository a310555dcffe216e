"""Answers that were saved elsewhere become predictions: whatever `load_predictions` can recognise by its content."""

import json
from collections.abc import Iterator
from pathlib import Path

from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Prediction
from quoteweave.core.lines import iter_lines, iter_rows
from quoteweave.core.runs import read_run
from quoteweave.evaluation.interchange.responses import load_responses

_KINDS = "a folder that a run was written to, a run's predictions, or a file of responses (q_id and response a line)"


def load_predictions(path: Path) -> list[Prediction]:
    """The predictions of a run folder or of a file, `.gz` or not, in their order.

    Raises DatasetError, naming file, line and field, for what cannot be read or is none of these.
    """
    if path.is_dir():
        return read_run(path)[1]
    first = next(iter_lines(path), None)
    if first is None:
        raise DatasetError(f"{path} is empty; name {_KINDS}")
    fields = _fields(first[1])
    if {"q_id", "response"} <= fields:
        return load_responses(path)
    if "example" in fields:
        return list(_lines(path))
    raise DatasetError(f"{path} is no file of predictions; name {_KINDS}")


def _lines(path: Path) -> Iterator[Prediction]:
    return (prediction for _, prediction in iter_rows(path, Prediction))


def _fields(line: bytes) -> set[str]:
    try:
        value = json.loads(line)
    except ValueError:
        return set()
    return set(value) if isinstance(value, dict) else set()
