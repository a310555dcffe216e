"""Responses as MCiteBench's code writes them: each line of the dataset again, with `response`."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from quoteweave.core.examples import Prediction
from quoteweave.core.jsonl import iter_rows


class _Line(BaseModel):
    # The dataset's own fields, and those that its evaluation adds, are not read from here.
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    question_id: str
    response: str | None = None


def load_mcitebench_responses(path: Path) -> list[Prediction]:
    """A prediction a line, over the dataset's own items; the model is what the file is called by, without suffixes.

    Raises DatasetError, naming file, line and field, for what cannot be read.
    """
    model = path.name.removesuffix(".gz").removesuffix(".jsonl")
    return [
        Prediction(
            example=line.question_id,
            scope="context",
            response=line.response,
            model=model,
            error="no response" if line.response is None else None,
        )
        for _, line in iter_rows(path, _Line)
    ]
