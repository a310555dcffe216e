"""Confidence of an answer, from retrieval and the gate's verdicts, and the threshold below which it is withheld.

A confidence is the probability that an answer is right, from a logistic regression on a few signals. Its weights and
thresholds are fitted on questions whose answers are known (`evaluation.calibration`), for one retriever and one model:
the scores of two retrievers, or the mistakes of two models, cannot be compared.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.files.jsonl import describe_validation_error
from quoteweave.core.files.strict_json import RepeatedName, require_names_once
from quoteweave.core.records import Record
from quoteweave.core.urls import without_credentials

GIVEN_QUOTES = "the dataset's own quotes"
"""The retriever's name if nothing is retrieved because the dataset gives the quotes."""
SignalName = Literal["score", "bearing", "support", "cited"]
RETRIEVAL_SIGNALS: tuple[SignalName, ...] = ("score", "bearing")
"""Signals that are known before the model is called."""
ALL_SIGNALS: tuple[SignalName, ...] = (*RETRIEVAL_SIGNALS, "support")
"""All signals, those of a finished answer included."""


class Signals(Record):
    """Features of an answer from which its confidence is computed."""

    score: float | None = Field(description="retrieval score of the best quote, as it came; None where none was found")
    bearing: float = Field(ge=0, le=1, description="share of the question's weighed words that the best quote holds")
    support: float = Field(
        default=0, ge=0, le=1, description="share of citations the gate supports, unchecked ones counting half"
    )
    cited: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="share of the claim's weighed words in a sentence that cites the source found, 0 where none does; "
        "None where no source is looked for",
    )

    def values(self, names: Sequence[SignalName]) -> list[float]:
        """The values of the named signals, in that order, none of which may be None."""
        return [float(getattr(self, name)) for name in names]


class SignalWeight(Record):
    """The weight of one signal in the logistic regression."""

    signal: SignalName
    mean: float = Field(description="over the questions that it was fitted on")
    scale: float = Field(gt=0, description="standard deviation over these")
    least: float = Field(description="value over these; a smaller one counts as it, as nothing is known of it")
    most: float = Field(description="value over these; a greater one counts as it")
    weight: float = Field(description="of the standardised signal, in log-odds")

    def log_odds(self, value: float) -> float:
        """What this value of the signal adds to the log-odds."""
        return self.weight * (min(max(value, self.least), self.most) - self.mean) / self.scale


class ConfidenceModel(Record):
    """A logistic regression for one stage of answering, with the lowest confidence that passes."""

    intercept: float = Field(description="log-odds where every signal is at its mean")
    weights: tuple[SignalWeight, ...]
    threshold: float = Field(ge=0, le=1)

    def with_threshold(self, threshold: float) -> "ConfidenceModel":
        """The same regression with another threshold."""
        return self.model_copy(update={"threshold": threshold})

    def confidence(self, signals: Signals) -> float:
        """The probability that the answer is right, 0 to 1; 0 if no quote was found."""
        if signals.score is None:
            return 0.0
        values = signals.values([weight.signal for weight in self.weights])
        parts = (weight.log_odds(value) for weight, value in zip(self.weights, values, strict=True))
        return sigmoid(self.intercept + math.fsum(parts))


class RiskCoveragePoint(Record):
    """One point of a risk–coverage curve: the result of giving only answers of at least this confidence."""

    threshold: float = Field(ge=0, le=1)
    answers: int = Field(ge=1, description="answers that are given")
    coverage: float = Field(ge=0, le=1, description="share of all answers that is given")
    risk: float = Field(ge=0, le=1, description="share of the given answers that is wrong")


class Calibration(Record):
    """A fitted calibration, as `quoteweave eval calibrate` writes it."""

    format: Literal[1] = 1
    retriever: str = Field(description="how quotes were found, as `retriever_name` says it")
    model: str = Field(description="'extractive', or the name that the model was asked by")
    risk: float = Field(ge=0, le=1, description="the share of wrong answers that was to be kept")
    answers: int = Field(ge=1, description="answers that it was fitted on")
    before: ConfidenceModel = Field(description="from what was found; below its threshold the model is not asked")
    after: ConfidenceModel = Field(
        description="from what was found and the gate; below its threshold the answer is not given"
    )
    curve: tuple[RiskCoveragePoint, ...] = Field(description="from the surest answers to all")

    def check(self, *, retriever: str, model: str) -> None:
        """Raise UsageError if the calibration was fitted for another retriever or model."""
        for role, fitted, used in (("retriever", self.retriever, retriever), ("model", self.model, model)):
            if fitted != used:
                raise UsageError(
                    f"the calibration is for the {role} {fitted!r}, and this is {used!r}: confidences of the two "
                    "cannot be compared",
                    remedy="fit one with quoteweave eval calibrate on a run of this",
                )


def retriever_name(
    retrievers: Sequence[str],
    *,
    fusion: str | None = None,
    expand: str | None = None,
    rerank: str | None = None,
    terms: str | None = None,
    synonyms: str | None = None,
) -> str:
    """Name everything that determines retrieval scores, such as `bm25, tfidf; fusion rrf; rerank qwen3-reranker`.

    Terms are named by their fingerprint; `synonyms` is "none" where words are not replaced by synonyms.
    """
    steps = {"fusion": fusion, "expand": expand, "rerank": rerank, "terms": terms, "synonyms": synonyms}
    name = "; ".join([", ".join(retrievers), *(f"{step} {how}" for step, how in steps.items() if how)])
    return without_credentials(name)


def model_name(model: str | None, sentence_scorer: str | None = None) -> str:
    """Name the generator: the chat model, or `extractive` with the model that ranks its sentences, if any."""
    scorer = f"; sentence-scorer {sentence_scorer}" if sentence_scorer else ""
    return model or without_credentials(f"extractive{scorer}")


def read_calibration_file(path: Path) -> Calibration:
    """Read a calibration for any retriever. Raises UsageError if it cannot be read, DatasetError if it is none."""
    try:
        content = path.read_bytes()
        require_names_once(content)
        return Calibration.model_validate_json(content)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except RepeatedName as error:
        raise DatasetError(f"{path}, line {error.lineno}: {error.msg}") from error
    except ValidationError as error:
        raise DatasetError(
            f"{path} is no calibration that this version reads: {describe_validation_error(error)}"
        ) from error


def load_calibration(path: Path, *, retriever: str, model: str) -> Calibration:
    """Load a calibration file and check that it was fitted for this retriever and model.

    Raises UsageError if it cannot be read or was fitted for others, DatasetError if it is not a calibration.
    """
    calibration = read_calibration_file(path)
    try:
        calibration.check(retriever=retriever, model=model)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
    return calibration


def sigmoid(log_odds: float) -> float:
    """The probability for these log-odds, computed without overflow for any finite number."""
    if log_odds >= 0:
        return 1 / (1 + math.exp(-log_odds))
    return math.exp(log_odds) / (1 + math.exp(log_odds))
