"""Load response files of MMDocRAG, MCiteBench and ALCE as predictions over the dataset's own quotes.

MMDocRAG: lines of `q_id`, `response`, `in_tok`, `out_tok`, and `error` where the call failed. MCiteBench: each line of
the dataset again, with `response`. ALCE: questions with the passages that were shown and, as `output`, the answer.
"""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from quoteweave.core.answers import Usage
from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Prediction
from quoteweave.core.files.jsonl import iter_records
from quoteweave.evaluation.datasets.alce import AlceLine, iter_alce


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    q_id: str
    response: str | None = None
    model: str | None = None
    in_tok: int | None = Field(default=None, ge=0)
    out_tok: int | None = Field(default=None, ge=0)
    error: str | None = None


def load_responses(path: Path) -> list[Prediction]:
    """A prediction a line, over the dataset's own quotes. Tokens counted as 0 in and 0 out were not counted: None.

    Raises DatasetError, naming file, line and field, for what cannot be read.
    """
    return [_prediction(line) for _, line in iter_records(path, _Line)]


def _prediction(line: _Line) -> Prediction:
    counted = bool(line.in_tok or line.out_tok)
    usage = Usage(input_tokens=line.in_tok, output_tokens=line.out_tok) if counted else Usage()
    failed = line.error if line.response is not None or line.error is not None else "no response"
    return Prediction(
        example=line.q_id, scope="context", response=line.response, model=line.model, usage=usage, error=failed
    )


class _McitebenchLine(BaseModel):
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
        for _, line in iter_records(path, _McitebenchLine)
    ]


def load_alce_outputs(path: Path) -> list[Prediction]:
    """A prediction a question, over the passages that the file shows it.

    Raises DatasetError, naming file, place and field, for what cannot be read and for several answers to a question.
    """
    return [_alce_prediction(line, f"{path}, {place}") for place, line in iter_alce(path)]


def _alce_prediction(line: AlceLine, where: str) -> Prediction:
    if isinstance(line.output, tuple):
        raise DatasetError(f"{where}, output: {len(line.output)} answers to one question; keep one in each file")
    failed = "no response" if line.output is None else None
    return Prediction(example=line.name, scope="context", context=line.context, response=line.output, error=failed)
