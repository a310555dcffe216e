"""Ranks the papers that excerpts may cite by retrievers, without a model, and takes the first as the one cited.

Over a collection of titles and abstracts this is the baseline of embeddings in CiteME's Table 4 (`specter2@page`): the
excerpt's nearest neighbours. What a service finds is ranked as `quoteweave attribute` ranks it. The excerpt's own paper
and later ones are hidden as they are from the agent.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from quoteweave.attribution.excerpts import read_excerpts, without_marks
from quoteweave.attribution.literature.attributor import LiteratureAttributor
from quoteweave.attribution.literature.sources.papers import Paper, PaperSource, PublicationDate
from quoteweave.attribution.literature.sources.unseen import HidingRule, Unseen
from quoteweave.core.errors import QuestionTooLong, SourceError, UsageError
from quoteweave.core.examples import (
    Example,
    NamedPaper,
    PaperSearch,
    Prediction,
    Scope,
    SearchStep,
    failed_prediction,
)
from quoteweave.core.text.paper_identifiers import identifiers_of_address, normalized_identifiers
from quoteweave.pipeline.runs.answerer import Predictor

WITHOUT_YEAR = 2024
"""The year that is assumed for excerpts without one, as in the authors' code: no later paper is shown."""
_MARK = "[CITATION]"


def hiding_rule(example: Example) -> HidingRule:
    """Return what is hidden while the paper that an example cites is looked for: its own paper, and later ones."""
    own_paper = None if example.document is None else Paper(id="own", title=example.document, url=example.address)
    return HidingRule(own=own_paper, before=PublicationDate(year=example.year or WITHOUT_YEAR))


def named_paper(paper: Paper) -> NamedPaper:
    """Return a paper as evaluation compares it: its title, and its identifiers with those of its addresses."""
    identifiers = {
        **identifiers_of_address(paper.url or ""),
        **identifiers_of_address(paper.pdf_url or ""),
        **normalized_identifiers(paper.identifiers),
    }
    return NamedPaper(title=paper.title, identifiers=identifiers)


class PaperRanking(Protocol):
    """Ranks papers for an excerpt."""

    async def rank(self, text: str, rule: HidingRule, k: int) -> Sequence[Paper]:
        """Return at most `k` papers that the rule does not hide, best first. Raises UsageError for a text of no use."""
        ...


@dataclass(frozen=True, slots=True)
class SourceRanking:
    """Ranks the papers of a collection of one's own as its retrievers find them."""

    source: PaperSource

    async def rank(self, text: str, rule: HidingRule, k: int) -> Sequence[Paper]:
        """Search for the whole excerpt without its marks."""
        return (await Unseen(self.source, rule).search(without_marks(text), k)).papers


@dataclass(frozen=True, slots=True)
class LiteratureRanking:
    """Ranks the papers that a service finds, as `attribute` does."""

    literature: LiteratureAttributor

    async def rank(self, text: str, rule: HidingRule, k: int) -> Sequence[Paper]:
        """Return the papers of the candidates for the mark [CITATION], else for the first."""
        excerpts = read_excerpts(text)
        masked = next((excerpt for excerpt in excerpts if excerpt.mark == _MARK), excerpts[0])
        attribution = await self.literature.hiding(rule).attribute_excerpt(masked, k)
        return [candidate.paper for candidate in attribution.candidates if candidate.paper is not None]


@dataclass(frozen=True, slots=True)
class PaperRanker(Predictor):
    """Names the first paper of a ranking as the one that an example cites."""

    ranking: PaperRanking
    results: int
    """How many papers of the ranking are kept."""
    name: str
    """The name of the ranking, recorded where other predictions have a model's name."""

    @property
    def scope(self) -> Scope:
        """Papers are looked for in the whole source."""
        return "collection"

    async def predict(self, example: Example) -> Prediction:
        """Rank the papers for an example. Raises SourceError, and what `Search.find` raises for all examples."""
        started = time.perf_counter()
        if not without_marks(example.query.text):
            return self.failed(example, UsageError("the excerpt has no words"))
        try:
            papers = await self.ranking.rank(example.query.text, hiding_rule(example), self.results)
        except QuestionTooLong as error:
            return self.failed(example, error)
        named = tuple(map(named_paper, papers))
        step = SearchStep(action="search_relevance", argument=without_marks(example.query.text), papers=named)
        return Prediction(
            example=example.id,
            scope=self.scope,
            response=named[0].title if named else "",
            paper_search=PaperSearch(
                outcome="selected" if named else "no_selection", selected=named[0] if named else None, steps=(step,)
            ),
            model=self.name,
            seconds=time.perf_counter() - started,
        )

    def failed(self, example: Example, error: Exception) -> Prediction:
        """Return the prediction that records the error."""
        outcome = "source" if isinstance(error, SourceError) else "other"
        return failed_prediction(example, self.scope, error, paper_search=PaperSearch(outcome=outcome))
