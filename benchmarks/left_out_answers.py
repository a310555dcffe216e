"""Whether constants of the generator without a model are more than luck, measured by leaving one document out.

Each of the constants that were chosen by looking at MMLongBench-Doc's answerable questions is varied by itself. A
value's score for a question is the mean of two figures: 1 if a gold page is cited, and 1 if the answer is said. For
each document the best value is chosen on the questions of all others, and the left-out document is scored with it. The
mean of these held-out scores is shown beside that of the shipped value. If values are equally good, the shipped one is
taken.

The score ignores the length of answers and questions that should be declined, so longer places and fewer abstentions
never lower it. The values that it would choose for `EXCERPT_WORDS`, `CHANCE` and `THRESHOLD` should therefore not be
shipped.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType

import numpy as np
import numpy.typing as npt
from answer_rows import MMLONGBENCH, Asked, answer_rows
from common import Table, bounds, percent
from pydantic import BaseModel

from quoteweave.evaluation.statistics.intervals import Interval
from quoteweave.evaluation.statistics.paired_tests import paired_difference
from quoteweave.generation.extractive import locating, selection, topic
from quoteweave.generation.extractive.criteria import answer_criteria
from quoteweave.generation.extractive.generator import ExtractiveGenerator

GRID: Sequence[tuple[ModuleType, str, tuple[object, ...]]] = (
    (topic, "CHANCE", (3.0, 6.0)),
    (topic, "THRESHOLD", (-0.4, 1.6)),
    (locating, "LENGTH_BONUS", (0.0, 0.3)),
    (locating, "HEADING_PENALTY", (0.0, 0.4)),
    (answer_criteria, "MIN_COVERAGE", (0.4, 0.8)),
    (locating, "HEADING_BONUS", (0.0, 0.6)),
    (locating, "INTRODUCED_BONUS", (0.0, 0.4)),
    (selection, "HEADING_BONUS", (0.0, 0.4)),
    (locating, "EXCERPT_WORDS", ((30, 20, 12), (90, 60, 38))),
)
"""Values to try beside the shipped one."""


class LeftOut(BaseModel):
    """The results for one constant."""

    name: str
    scores: dict[str, float]
    """The mean score over all questions by value, the shipped one first."""
    held_out: float
    chosen: dict[str, int]
    """The number of documents for which each value was chosen."""
    less_shipped: Interval | None


def left_out(asked: Sequence[Asked]) -> list[LeftOut]:
    """The results for each constant of the grid; questions that cannot be answered are left out."""
    answerable = [
        question
        for question in asked
        if question.set == MMLONGBENCH and question.example.reference.answer_format != "none"
    ]
    documents = [question.example.document or "" for question in answerable]
    shipped = _scores(answerable)
    results = []
    for module, name, values in GRID:
        scores = [shipped]
        for value in values:
            with _constant(module, name, value):
                scores.append(_scores(answerable))
        named = [str(getattr(module, name)), *map(str, values)]
        results.append(_held_out(f"{module.__name__.rpartition('.')[2]}.{name}", named, np.array(scores), documents))
    return results


def left_out_table(results: Sequence[LeftOut]) -> Table:
    """A table with scores in per cent and differences in percentage points."""
    cells = [
        [
            result.name,
            ", ".join(f"{value}: {percent(score)}" for value, score in result.scores.items()),
            percent(result.held_out),
            bounds(result.less_shipped, signed=True),
            ", ".join(f"{value}: {count}" for value, count in result.chosen.items()),
        ]
        for result in results
    ]
    title = "mean of gold page cited and answer said, MMLongBench-Doc, answerable, %"
    return Table(title, ("", "by value, shipped first", "left out", "less shipped", "documents by value"), cells)


def _held_out(name: str, values: Sequence[str], scores: npt.NDArray[np.float64], documents: Sequence[str]) -> LeftOut:
    """The results for one constant; `scores` are (values, questions), those of the shipped value first."""
    at = np.array(documents)
    chosen = {
        document: int(np.argmax(scores[:, at != document].mean(axis=1).round(12)))
        for document in dict.fromkeys(documents)
    }
    held_out = [float(scores[chosen[document], place]) for place, document in enumerate(documents)]
    return LeftOut(
        name=name,
        scores={value: float(value_scores.mean()) for value, value_scores in zip(values, scores, strict=True)},
        held_out=float(np.mean(held_out)),
        chosen={value: list(chosen.values()).count(place) for place, value in enumerate(values)},
        less_shipped=paired_difference(held_out, scores[0].tolist(), documents),
    )


def _scores(asked: Sequence[Asked]) -> list[float]:
    return [((row.gold_page or 0.0) + (row.said or 0.0)) / 2 for row in answer_rows(asked, ExtractiveGenerator())]


@contextmanager
def _constant(module: ModuleType, name: str, value: object) -> Iterator[None]:
    """Use another value of a constant within the block."""
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)
