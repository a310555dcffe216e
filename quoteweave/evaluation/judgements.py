"""Judgements of answers, read from a file and scored: one row a question, five scores of 0 to 5.

Read are published files (`q_id` and `response`) and those of our own judge (`example` and `scores`, evaluation.judges).

The five are those of MMDocRAG (arXiv 2505.16470, section 4.1), under the names that its published judgements give them.
"""

from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, JsonValue

from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.jsonl import iter_rows
from quoteweave.core.messages import counted
from quoteweave.evaluation.figures import Row, mean_of
from quoteweave.evaluation.scores import Convention

ASPECTS: Mapping[str, str] = {
    "fluency": "Fluency",
    "citation_quality": "Citation Quality",
    "text_image_coherence": "Text-Image Coherence",
    "reasoning_logic": "Reasoning Logic",
    "factuality": "Factuality",
}
"""Our name to the name in published judgements."""
HIGHEST = 5

Judgement = Mapping[str, float]
"""The scores of one answer, by their names in the file; numbers alone."""


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    q_id: str = Field(validation_alias=AliasChoices("q_id", "example"))
    response: JsonValue = Field(default=None, validation_alias=AliasChoices("response", "scores"))
    model: str | None = None
    prompt: str | None = None
    attempts: int = Field(default=0, description="how often our own judge was asked; 0 in published files")


def load_judgements(path: Path) -> dict[str, Judgement]:
    """Example id to its judgement; one that is malformed keeps what numbers it has, one that failed has none.

    Of our own judge's lines on one answer the last counts: it is asked again where it failed; a line that a crash cut
    short is passed over. Raises DatasetError, naming file, line and field, for a line that is no judgement at all and
    for an id repeated in a published file.
    """
    found: dict[str, Judgement] = {}
    judges: set[tuple[str | None, str | None]] = set()
    ours = any(line.attempts for _, line in islice(iter_rows(path, _Line, drop_cut=True), 1))
    for number, line in iter_rows(path, _Line, drop_cut=ours):
        if line.q_id in found and not line.attempts:
            raise DatasetError(f"{path}, line {number}, q_id: {line.q_id!r} is judged on an earlier line already")
        scores = line.response if isinstance(line.response, dict) else {}
        names = ASPECTS if line.attempts else {}
        found[line.q_id] = {
            names.get(name, name): float(score)
            for name, score in scores.items()
            if isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= HIGHEST
        }
        judges.add((line.model, line.prompt) if line.attempts else (None, None))
    if not any(found.values()):
        raise DatasetError(
            f"{path} holds no judgement: of {counted(len(found), 'line')} none has a score of 0 to {HIGHEST}"
        )
    if len(judges) > 1:
        raise DatasetError(f"{path} mixes judgements by {len(judges)} judges or prompts; keep each by itself")
    return found


def malformed(judgement: Judgement) -> bool:
    """Whether one of the five scores is missing, under another name, or not from 0 to 5."""
    return not all(0 <= judgement.get(name, -1) <= HIGHEST for name in ASPECTS.values())


class Judged:
    """The five scores, 0 to 5, as columns `judge.fluency` and so on, and `judge.average`; means over questions.

    A malformed judgement is undefined by the `strict` convention, as is a question without one; by the `published` one,
    a key that is missing or misspelled counts as 0, as in MMDocRAG's published figures.
    """

    name = "judge"
    figures = tuple(mean_of(f"judge.{aspect}") for aspect in (*ASPECTS, "average"))

    def __init__(self, judgements: Mapping[str, Judgement], convention: Convention = "strict") -> None:
        self._judgements = judgements
        self._convention = convention

    def row(self, prediction: Prediction, example: Example) -> Row:  # noqa: ARG002 (found by question)
        """Scores from 0 to 5."""
        judgement = self._judgements.get(example.id)
        if judgement is None or (self._convention == "strict" and malformed(judgement)):
            return {}
        scores = {f"judge.{aspect}": judgement.get(name, 0.0) for aspect, name in ASPECTS.items()}
        return {**scores, "judge.average": sum(scores.values()) / len(scores)}
