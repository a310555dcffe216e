"""Answers in the form of CiteVQA's code: its questions again, each with `model_predict`, an answer that cites boxes.

Files of `infer/run.py` are read as predictions; those of `eval/run.py` hold the same, with scores, which are read as
judgements: `qa_acc_score` and `rel_score`, 0 to 5.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.datasets.citevqa import questions_of
from quoteweave.evaluation.datasets.rows import iter_items
from quoteweave.evaluation.judges.judgements import HIGHEST, Judgement
from quoteweave.evaluation.text.cited_boxes import boxed_response

ANSWER = "model_predict"
_DIVISOR = 20
"""What the released script divides a judge's number by, though its prompts ask for 0 to 5."""


class _Answered(BaseModel):
    # The dataset's own fields, and those that its evaluation adds, are not read from here.
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    index: str
    model_predict: str | None = None
    infer_model: str | None = None


class _Scored(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    index: str
    qa_acc_score: float | None = None
    rel_score: float | None = None


class _Question(BaseModel):
    model_config = ConfigDict(extra="allow", coerce_numbers_to_str=True)

    index: str = Field(min_length=1)


def load_citevqa_answers(path: Path) -> list[Prediction]:
    """A prediction an item. Raises DatasetError, naming file, place and field, for what cannot be read."""
    return [
        Prediction(
            example=item.index,
            scope="context",
            response=item.model_predict,
            model=item.infer_model,
            error="no response" if item.model_predict is None else None,
        )
        for _, item in iter_items(path, _Answered)
    ]


def load_citevqa_judgements(path: Path) -> dict[str, Judgement]:
    """Question to the scores that `eval/run.py` wrote, 0 to 5; what is missing or off that scale is left out.

    Raises DatasetError, naming file, place and field, for what cannot be read or holds no score, and for scores that
    the released script has divided by 20, of which none exceeds a quarter.
    """
    items = [item for _, item in iter_items(path, _Scored)]
    written = [(item.index, {"answer": item.qa_acc_score, "relevance": item.rel_score}) for item in items]
    known = [score for _, scores in written for score in scores.values() if score is not None]
    if not known:
        raise DatasetError(f"{path} holds no qa_acc_score and no rel_score; name what eval/run.py wrote")
    if 0 < max(known) <= HIGHEST / _DIVISOR:
        raise DatasetError(
            f"{path}: no score exceeds {max(known):g}; the released eval/run.py divides scores of 0 to {HIGHEST} by "
            f"{_DIVISOR}. Multiply qa_acc_score and rel_score by {_DIVISOR}"
        )
    return {
        index: {name: score for name, score in scores.items() if score is not None and 0 <= score <= HIGHEST}
        for index, scores in written
    }


def citevqa_answers(
    references: Path, examples: Sequence[Example], predictions: Sequence[Prediction]
) -> list[dict[str, JsonValue]]:
    """The questions of the dataset's file, each with its answer and model, as CiteVQA's `eval/run.py` reads them.

    Marks are replaced by boxes (`boxed_response`). Failed predictions are left out, as its `infer/run.py` leaves them.
    The gold is what the file has: the script scores items that have `answer_bboxes`. Raises DatasetError for a
    prediction of a question that the file does not hold.
    """
    file = questions_of(references)
    items = {item.index: item for _, item in iter_items(file, _Question)}
    asked = {example.id: example for example in examples}
    written: list[dict[str, JsonValue]] = []
    for prediction in predictions:
        if prediction.error is not None:
            continue
        if prediction.example not in items or prediction.example not in asked:
            raise DatasetError(f"{file} has no question {prediction.example!r}; name the dataset that the run answers")
        fields: dict[str, JsonValue] = json.loads(items[prediction.example].model_dump_json())
        answer = boxed_response(prediction, asked[prediction.example])
        written.append({**fields, ANSWER: answer, "infer_model": prediction.model})
    return written
