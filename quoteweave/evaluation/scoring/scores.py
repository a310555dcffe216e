"""Records of what a run scored: a row for each question, and the figures computed from the rows."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from quoteweave.core.records import Record
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.statistics.aggregates import DOMAIN, Row, with_domain
from quoteweave.evaluation.statistics.intervals import Estimate


class ScoredQuestion(Record):
    """One question of a run."""

    example: str
    cluster: str = Field(description="its document where that is known, else the question itself")
    groups: Mapping[str, tuple[str, ...]] = Field(
        default_factory=dict, description="breakdown to the groups it counts in, e.g. domain to ('Brochure',)"
    )
    row: Row = Field(description="the columns of every metric")
    error: str | None = Field(default=None, description="why there is no answer, or no judgement")

    @property
    def domain(self) -> str | None:
        """The domain of the question; None if the dataset does not give it."""
        return next(iter(self.groups.get(DOMAIN, ())), None)

    def counts_by(self, convention: Convention) -> bool:
        """Whether figures are computed from its row; by `strict`, a failed one has none, or one about its failure."""
        return self.error is None or convention == "published" or bool(self.row)

    def columns(self) -> Row:
        """The row, and its columns again as columns of the question's domain (`with_domain`)."""
        return with_domain(self.row, self.domain)


class Scores(Record):
    """The figures of a run, and the rows in `questions` from which they were computed.

    >>> request = ScoringRequest(run="theirs.jsonl", dataset="mmdocrag-20", references="gold.jsonl")
    >>> [question.row["overall.f1"] for question in score(request, intervals=None).scores.questions]
    [1.0, 1.0, 0.0, 0.0]
    """

    name: str = Field(description="of the run")
    dataset: str = Field(description="name of the dataset")
    convention: Convention = Field(description="by which it was counted")
    marks: str = Field(description="which marks were read as citations: 'published' or 'own'")
    clusters: Literal["document", "question"] = Field(
        description="what intervals are over: questions where no document is known, else documents, and by itself each "
        "question of none that is known"
    )
    failed: int = Field(ge=0, description="questions whose prediction is an error")
    missing: int = Field(ge=0, description="questions of the dataset that the run does not hold")
    not_answered: int = Field(default=0, ge=0, description="answers that abstain, or only name places (`located`)")
    figures: Mapping[str, Estimate] = Field(description="by the name of the figure")
    breakdowns: Mapping[str, Mapping[str, Mapping[str, Estimate]]] = Field(
        default_factory=dict, description="breakdown to group to figure"
    )
    questions: tuple[ScoredQuestion, ...] = Field(default=(), description="the row of each question")
    notes: tuple[str, ...] = Field(default=(), description="what a reader must know of how these were counted")
