"""The record of how a paper was searched for: each action with what it showed, and how the search ended (CiteME)."""

from collections.abc import Iterator, Mapping
from typing import Literal, get_args

from pydantic import Field

from quoteweave.core.records import Record

TechnicalError = Literal["bad_format", "content_filter", "window", "endpoint", "source", "other"]
"""What broke a search off: the model wrote no action in the form asked for; its provider refused the text; the history
no longer fits its window; its endpoint failed; the source of papers failed; or anything else."""
SearchOutcome = Literal["selected", "no_selection", "loops", TechnicalError]
"""How a search ended: with a paper; with its actions used up and none selected; with one action made again and again;
or with a technical error."""
TECHNICAL_ERRORS: tuple[TechnicalError, ...] = get_args(TechnicalError)


class NamedPaper(Record):
    """A paper by its title and what else identifies it."""

    title: str
    identifiers: Mapping[str, str] = Field(default_factory=dict, description="such as `doi`, `arxiv`")


class SearchStep(Record):
    """One action of a search, and what came of it."""

    action: str = Field(description="its name, such as `search_relevance`, `read` or `select`")
    argument: str = Field(default="", description="the query, the words looked for, or the paper's id")
    rationale: str = Field(default="", description="why it was taken, as the model said")
    papers: tuple[NamedPaper, ...] = Field(default=(), description="that it found, read or chose")
    problem: str | None = Field(default=None, description="why it gave nothing, such as `not_open_access`")


class PaperSearch(Record):
    """How a paper was searched for.

    >>> step = SearchStep(action="search_relevance", argument="blur", papers=(NamedPaper(title="Deep Blur"),))
    >>> [paper.title for paper in PaperSearch(outcome="no_selection", steps=(step,)).shown()]
    ['Deep Blur']
    """

    outcome: SearchOutcome
    selected: NamedPaper | None = None
    steps: tuple[SearchStep, ...] = ()
    found: bool | None = Field(
        default=None,
        description="whether the paper cited was shown, where no steps tell: as another program says, or False of a "
        "search that was broken off before its first step",
    )

    @property
    def technical(self) -> bool:
        """Whether a technical error broke it off, so that it is no wrong answer."""
        return self.outcome in TECHNICAL_ERRORS

    def shown(self) -> Iterator[NamedPaper]:
        """The papers that its searches showed, in their order, again where they were found again."""
        for step in self.steps:
            if step.action.startswith("search"):
                yield from step.papers
