"""Scores that a judge gave to answers, and the attributed accuracy that follows from them.

The criteria are those of MMDocRAG (arXiv 2505.16470, section 4.1), under the names that its published judgements give
them.

Attributed accuracy (CiteVQA, arXiv 2605.12882) counts answers that a judge finds right and whose evidence is right too.
With a the judge's score of the answer and v that of what it cites, both 0 to 5, and r its `citevqa.recall`:

    citevqa.answer = a / 5        citevqa.relevance = v / 5
    citevqa.saa    = 1 if a ≥ 4 and (v ≥ 4 or r ≥ 0.6), else 0        ("strict attributed accuracy")

The paper prints all three in per cent, as means over questions. A score off the scale is undefined by both conventions,
like a missing one. By `published`, saa is undefined if any of the three is. By `strict` it is 0 for an answer below 4,
and 1 for one whose evidence is right by either condition, whatever else is unknown; it is undefined only if it depends
on an unknown number.

The released script divides the judge's number by 20 before it compares with 4 (opendatalab/CiteVQA, `eval/run.py` at
commit b643eb9), though its prompts ask for 0 to 5: no answer could then be right, and the paper's own table was not
computed so. Neither convention does this here.
"""

from collections.abc import Mapping

from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.judges.judgements import ASPECTS, ATTRIBUTION, MAX_SCORE, Judgement, is_malformed
from quoteweave.evaluation.metrics.citations.citevqa import CiteVqa
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.statistics.aggregates import Row, mean_of


class JudgeScores:
    """The five scores, 0 to 5, as columns `judge.fluency` and so on, and `judge.average`; means over questions.

    A malformed judgement is undefined by the `strict` convention, like a missing one; by the `published` one, as in
    MMDocRAG's `eval_all.py`, a missing or misspelled key counts as 0, and a score off the scale counts unchanged.
    """

    name = "judge"
    aggregates = tuple(mean_of(f"judge.{aspect}", limits=(0, MAX_SCORE)) for aspect in (*ASPECTS, "average"))

    def __init__(self, judgements: Mapping[str, Judgement], convention: Convention = "strict") -> None:
        self._judgements = judgements
        self._convention = convention

    def row(self, prediction: Prediction, example: Example) -> Row:  # noqa: ARG002 (found by question)
        """Scores from 0 to 5."""
        judgement = self._judgements.get(example.id)
        if judgement is None or (self._convention == "strict" and is_malformed(judgement)):
            return {}
        scores = {f"judge.{aspect}": judgement.get(name, 0.0) for aspect, name in ASPECTS.items()}
        return {**scores, "judge.average": sum(scores.values()) / len(scores)}


MIN_RIGHT_SCORE = 4
MIN_RIGHT_RECALL = 0.6
"""From this recall on, evidence is right whatever the judge says."""


class AttributedAccuracy:
    """`citevqa.answer`, `citevqa.relevance` and `citevqa.saa`, as fractions; means over questions."""

    name = "attributed_accuracy"
    aggregates = tuple(mean_of(f"citevqa.{figure}") for figure in (*ATTRIBUTION, "saa"))

    def __init__(self, judgements: Mapping[str, Judgement], convention: Convention = "strict") -> None:
        self._judgements = judgements
        self._convention = convention
        self._boxes = CiteVqa(convention)

    def row(self, prediction: Prediction, example: Example) -> Row:
        """Fractions; nothing for a question without a judgement."""
        judgement = self._judgements.get(example.id)
        if judgement is None:
            return {}
        answer, relevance = (_on_scale(judgement.get(name)) for name in ATTRIBUTION)
        recall = self._boxes.row(prediction, example).get("citevqa.recall")
        return {
            "citevqa.answer": None if answer is None else answer / MAX_SCORE,
            "citevqa.relevance": None if relevance is None else relevance / MAX_SCORE,
            "citevqa.saa": attributed(answer, relevance, recall, convention=self._convention),
        }


def _on_scale(score: float | None) -> float | None:
    return score if score is not None and 0 <= score <= MAX_SCORE else None


def attributed(
    answer: float | None, relevance: float | None, recall: float | None, *, convention: Convention = "strict"
) -> float | None:
    """1 for a right answer with right evidence, else 0; None if that is not known."""
    if convention == "published" and None in (answer, relevance, recall):
        return None
    if answer is None:
        return None
    if answer < MIN_RIGHT_SCORE:
        return 0.0
    if (relevance is not None and relevance >= MIN_RIGHT_SCORE) or (recall is not None and recall >= MIN_RIGHT_RECALL):
        return 1.0
    return None if relevance is None or recall is None else 0.0
