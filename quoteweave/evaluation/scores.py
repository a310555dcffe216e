"""What one configuration scored on one dataset: a row for each question, and the figures made of them."""

from collections.abc import Mapping
from typing import Literal, Protocol

from pydantic import Field

from quoteweave.core.examples import Example, Prediction
from quoteweave.core.records import Record
from quoteweave.evaluation.figures import Figure, Row

Convention = Literal["published", "strict"]
"""How rows that failed count: as empty answers and zeros (as published figures do), or not at all, but counted."""


class RowMetric(Protocol):
    """A metric: the columns of a question, and the figures that are made of these columns."""

    name: str
    figures: tuple[Figure, ...]

    def row(self, prediction: Prediction, example: Example) -> Row:
        """The columns of one question, counts included; None where undefined. Raises nothing."""
        ...


class Estimate(Record):
    """One figure over some questions."""

    value: float | None = Field(description="a fraction unless the figure's name says otherwise; None where undefined")
    low: float | None = Field(default=None, description="lower end of the 95 % interval, where one was made")
    high: float | None = None
    n: int = Field(ge=0, description="questions that count in it")
    undefined: int = Field(default=0, ge=0, description="questions where it is undefined, left out")


class ScoredQuestion(Record):
    """One question of a run."""

    example: str
    cluster: str = Field(description="its document where that is known, else the question itself")
    groups: Mapping[str, tuple[str, ...]] = Field(
        default_factory=dict, description="breakdown to the groups it counts in, e.g. domain to ('Brochure',)"
    )
    row: Row = Field(description="the columns of every metric")
    error: str | None = Field(default=None, description="why there is no answer, or no judgement")


class Scores(Record):
    """The figures of a run; `questions` are the rows that they were made of."""

    name: str = Field(description="of the run")
    dataset: str
    convention: Convention
    marks: str = Field(description="which marks were read as citations: 'published' or 'own'")
    clusters: Literal["document", "question"] = Field(description="what intervals resample")
    failed: int = Field(ge=0, description="questions whose prediction is an error")
    missing: int = Field(ge=0, description="questions of the dataset that the run does not hold")
    figures: Mapping[str, Estimate] = Field(description="by the name of the figure")
    breakdowns: Mapping[str, Mapping[str, Mapping[str, Estimate]]] = Field(
        default_factory=dict, description="breakdown to group to figure"
    )
    questions: tuple[ScoredQuestion, ...] = ()
    notes: tuple[str, ...] = Field(default=(), description="what a reader must know of how these were counted")
