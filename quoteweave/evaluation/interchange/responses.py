"""Response files as MMDocRAG publishes them: `q_id`, `response`, `in_tok`, `out_tok`, and `error` where it failed."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from quoteweave.core.answers import Usage
from quoteweave.core.examples import Prediction
from quoteweave.core.jsonl import iter_rows


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
    return [_prediction(line) for _, line in iter_rows(path, _Line)]


def _prediction(line: _Line) -> Prediction:
    counted = bool(line.in_tok or line.out_tok)
    usage = Usage(input_tokens=line.in_tok, output_tokens=line.out_tok) if counted else Usage()
    failed = line.error if line.response is not None or line.error is not None else "no response"
    return Prediction(
        example=line.q_id, scope="context", response=line.response, model=line.model, usage=usage, error=failed
    )
