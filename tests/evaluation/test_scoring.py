"""Runs become scores: conventions, clusters, what is missing, and what is told of it."""

from collections.abc import Mapping, Sequence

import pytest
from made_selection import answered, example, fixed

from quoteweave.core.errors import UsageError
from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.judges.judgements import ASPECTS
from quoteweave.evaluation.metrics.answers.judge_scores import JudgeScores
from quoteweave.evaluation.metrics.citations.quote_selection import QuoteSelection
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.scoring.scorer import (
    ScoringSettings,
    convention_differences,
    counted_rows,
    score_predictions,
)
from quoteweave.evaluation.scoring.scores import Scores
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of
from quoteweave.generation.citations import build_answer

EXAMPLES = [example(name, gold=["text1", "image1"]) for name in "abc"]
RIGHT = "[1] ![a](image1)"
ALL_FIVES = dict.fromkeys(ASPECTS.values(), 5.0)


def failed(name: str) -> Prediction:
    return Prediction(example=name, error="timed out")


def scored(
    predictions: Sequence[Prediction], convention: Convention = "strict", examples: Sequence[Example] = EXAMPLES
) -> Scores:
    judged = JudgeScores({"a": ALL_FIVES, "b": ALL_FIVES, "c": {}}, convention)
    setting = ScoringSettings(name="run", dataset="d", convention=convention)
    return score_predictions(
        examples, predictions, metrics=[QuoteSelection("own", convention), judged], settings=setting
    )


def value(scores: Scores, figure: str) -> float | None:
    return scores.figures[figure].value


def test_an_error_is_left_out_or_counts_as_an_empty_answer() -> None:
    predictions = [answered(RIGHT, "a"), failed("b"), answered("[1]", "c")]
    strict, published = scored(predictions), scored(predictions, "published")
    assert (strict.failed, published.failed) == (1, 1)
    assert value(strict, "overall.f1") == pytest.approx((1 + 2 / 3) / 2)
    assert strict.figures["overall.f1"].n == 2
    assert value(published, "overall.f1") == pytest.approx((1 + 0 + 2 / 3) / 3)
    assert [question.error for question in strict.questions] == [None, "timed out", None]
    assert len(counted_rows(strict)) == 2
    assert len(counted_rows(published)) == 3


def test_a_malformed_judgement_is_undefined_or_counts_0() -> None:
    predictions = [answered(RIGHT, name) for name in "abc"]
    strict, published = scored(predictions), scored(predictions, "published")
    assert value(strict, "judge.average") == 5
    assert (strict.figures["judge.average"].n, strict.figures["judge.average"].undefined) == (2, 1)
    assert value(published, "judge.average") == pytest.approx(10 / 3)
    assert convention_differences(strict, published, ["overall.f1", "judge.average"]) == [
        "judge.average: 5.0000 (n = 2) by the strict convention, 3.3333 (n = 3) by the published one"
    ]


def test_questions_without_a_prediction_are_counted_and_count_nowhere() -> None:
    for convention in ("strict", "published"):
        scores = scored([answered(RIGHT, "b")], convention)
        assert scores.missing == 2
        assert scores.figures["overall.f1"].n == 1
        assert [question.example for question in scores.questions] == ["b"]


def test_a_figure_that_no_row_defines_is_left_out() -> None:
    scores = scored([answered("", name) for name in "abc"])
    assert "overall.precision" not in scores.figures
    assert value(scores, "overall.recall") == 0
    assert value(scores, "overall.precision.pooled") is None


@pytest.mark.parametrize(
    ("documents", "clusters", "named"),
    [
        (("x.pdf", "x.pdf", "y.pdf"), "document", ["x.pdf", "x.pdf", "y.pdf"]),
        (("x.pdf", None, "x.pdf"), "document", ["x.pdf", "b", "x.pdf"]),
        ((None, None, None), "question", ["a", "b", "c"]),
    ],
)
def test_intervals_are_over_documents_and_a_question_of_none_counts_as_one(
    documents: Sequence[str | None], clusters: str, named: list[str]
) -> None:
    examples = [example(name, gold=["text1"], document=one) for name, one in zip("abc", documents, strict=True)]
    seen = []

    def intervals(
        figures: Sequence[Aggregate], rows: Sequence[Row], clusters: Sequence[str]
    ) -> Mapping[str, tuple[float, float] | None]:
        seen.append(list(clusters))
        return {figure.name: (0.25, 0.75) for figure in figures}

    scores = score_predictions(
        examples,
        [answered("[1]", name) for name in "abc"],
        metrics=[QuoteSelection("own")],
        settings=ScoringSettings(name="run", dataset="d"),
        intervals=intervals,
    )
    assert scores.clusters == clusters
    assert seen[0] == named
    assert [question.cluster for question in scores.questions] == named
    assert (scores.figures["overall.f1"].low, scores.figures["overall.f1"].high) == (0.25, 0.75)


class Words:
    """A metric of an extension's own, of the words of answers."""

    name = "words"
    compares_words = True
    aggregates: tuple[Aggregate, ...] = (mean_of("words"),)

    def row(self, prediction: Prediction, example: Example) -> Row:  # a metric is given both
        return {"words": float(len((prediction.response or "").split()))}


class Mean:
    """A metric that takes a mean of nothing for a number."""

    name = "mean"
    aggregates: tuple[Aggregate, ...] = (mean_of("mean"),)

    def row(self, prediction: Prediction, example: Example) -> Row:
        return {"mean": float("nan") if prediction.example == "b" else 1.0}


def test_a_metric_that_gives_nan_is_refused_by_name() -> None:
    """One NaN would leave the mean over all questions undefined, and nobody would know why."""
    predictions = [answered("one", name) for name in "ab"]
    settings = ScoringSettings(name="run", dataset="d")
    with pytest.raises(UsageError, match=r"metric 'mean', column 'mean' of question 'b': nan is no finite number"):
        score_predictions(EXAMPLES[:2], predictions, metrics=[Mean()], settings=settings)


def test_a_metric_says_itself_whether_it_compares_words() -> None:
    abstained = build_answer("q", "I do not know.", fixed(), model="m", status="abstained")
    predictions = [answered("one two", "a"), answered("I do not know.", "b").model_copy(update={"answer": abstained})]
    letters = [EXAMPLES[0], EXAMPLES[1].model_copy(update={"task": "choose_answer"})]
    cases: list[tuple[Convention, list[Example], float]] = [
        ("strict", EXAMPLES, 2),
        ("published", EXAMPLES, 3),
        ("published", letters, 2),
    ]
    for convention, asked, words in cases:
        settings = ScoringSettings(name="run", dataset="d", convention=convention)
        scores = score_predictions(asked[:2], predictions, metrics=[Words()], settings=settings)
        assert value(scores, "words") == words
