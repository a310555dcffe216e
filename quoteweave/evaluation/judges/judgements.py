"""Scores that judges gave to answers: read from published files, or stored and resumed as JSON Lines.

Published files have `q_id` and `response` on each line, those of `AnswerJudge` have `example` and `scores`.

The five scores are those of MMDocRAG (arXiv 2505.16470, section 4.1), with the names of its published judgements.
"""

from collections.abc import Collection, Mapping
from itertools import islice
from math import isfinite
from pathlib import Path

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, JsonValue

from quoteweave.core.errors import DatasetError
from quoteweave.core.files.jsonl import iter_records
from quoteweave.core.messages import pluralize
from quoteweave.evaluation.judges.batch import Verdict

ASPECTS: Mapping[str, str] = {
    "fluency": "Fluency",
    "citation_quality": "Citation Quality",
    "text_image_coherence": "Text-Image Coherence",
    "reasoning_logic": "Reasoning Logic",
    "factuality": "Factuality",
}
"""Our name for each score to the name in published judgements."""
ATTRIBUTION = ("answer", "relevance")
"""What is judged in an answer that cites boxes (CiteVQA, arXiv 2605.12882): the answer, and what it cites."""
MAX_SCORE = 5

Judgement = Mapping[str, float]
"""The scores of one answer, by their names in the file; only numbers."""


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    q_id: str = Field(validation_alias=AliasChoices("q_id", "example"))
    response: JsonValue = Field(default=None, validation_alias=AliasChoices("response", "scores"))
    model: str | None = None
    prompt: str | None = None
    attempts: int = Field(default=0, description="how often our own judge was asked; 0 in published files")


def load_judgements(path: Path) -> dict[str, Judgement]:
    """Example id to its judgement. A malformed one keeps its numbers, even those off the scale; a failed one has none.

    Of several lines of our own judge on one answer the last counts, because failed judgements are asked for again; a
    line cut short by a crash is ignored. Raises DatasetError, naming file, line and field, for a line that is not a
    judgement at all and for a repeated id in a published file.
    """
    judgements: dict[str, Judgement] = {}
    judges: set[tuple[str | None, str | None]] = set()
    ours = any(line.attempts for _, line in islice(iter_records(path, _Line, drop_cut=True), 1))
    for number, line in iter_records(path, _Line, drop_cut=ours):
        if line.q_id in judgements and not line.attempts:
            raise DatasetError(f"{path}, line {number}, q_id: {line.q_id!r} is judged on an earlier line already")
        scores = line.response if isinstance(line.response, dict) else {}
        names = ASPECTS if line.attempts else {}
        judgements[line.q_id] = {
            names.get(name, name): float(score)
            for name, score in scores.items()
            if isinstance(score, int | float) and not isinstance(score, bool) and isfinite(score)
        }
        judges.add((line.model, line.prompt) if line.attempts else (None, None))
    if not any(0 <= score <= MAX_SCORE for judgement in judgements.values() for score in judgement.values()):
        raise DatasetError(
            f"{path} holds no judgement: of {pluralize(len(judgements), 'line')} none has a score of 0 to {MAX_SCORE}"
        )
    if len(judges) > 1:
        raise DatasetError(f"{path} mixes judgements by {len(judges)} judges or prompts; keep each by itself")
    return judgements


def is_malformed(judgement: Judgement, names: Collection[str] = tuple(ASPECTS.values())) -> bool:
    """Whether one of the scores, the five or those named, is missing, has another name, or is not from 0 to 5."""
    return not all(0 <= judgement.get(name, -1) <= MAX_SCORE for name in names)


JUDGEMENTS = "judgements.jsonl"
"""The file's name in a run folder."""


class AnswerVerdict(Verdict):
    """A judge's scores of one answer, or the error."""

    scores: Mapping[str, int] | None = Field(description="criterion to score; None where the judgement failed")

    @property
    def failed(self) -> bool:
        """Whether there are no scores."""
        return self.scores is None
