"""The records of the made library: its topics and their wording, papers, what they found, and excerpts."""

from collections.abc import Mapping
from datetime import date
from functools import cache, cached_property
from importlib.resources import files
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from quoteweave.attribution.literature.sources.papers import PublicationDate
from quoteweave.core.records import Record


class Phrase(Record):
    """What is said of one thing, in the words of the paper that studied it and in those of papers that cite it."""

    original: str
    cited: str


def _phrase(written: Any) -> Any:
    if not isinstance(written, str):
        return written
    original, _, cited = written.partition(" | ")
    return {"original": original, "cited": cited}


ReadPhrase = Annotated[Phrase, BeforeValidator(_phrase)]


class Topic(Record):
    """A topic: what is studied, what acts on it, what is measured, and how."""

    name: str
    field: str
    venues: tuple[str, ...]
    background: tuple[str, ...]
    subjects: tuple[ReadPhrase, ...]
    factors: tuple[ReadPhrase, ...]
    outcomes: tuple[ReadPhrase, ...]
    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    withheld: bool = False
    """Whether its papers are left out of the library."""


@cache
def topics() -> tuple[Topic, ...]:
    """All topics, in the order of their file."""
    return tuple(Topic.model_validate(entry) for entry in _read("topics.yaml"))


@cache
def wording() -> dict[str, Any]:
    """The templates and names of `wording.yaml`, by what they are for."""
    templates: dict[str, Any] = _read("wording.yaml")
    return templates


def _read(name: str) -> Any:
    import yaml

    return yaml.safe_load(files(__package__).joinpath(name).read_text("utf-8"))


Role = Literal["study", "restating", "survey", "resource", "old", "citing", "later"]
"""What a paper is for: a study of its own; one that restates another's finding and cites it; a survey; a dataset; a
paper of before 2000; the paper that an excerpt is from; one that restates the finding after that."""
ExcerptKind = Literal["plain", "restated", "same_group", "survey", "full_text", "old"]
"""What makes the source of an excerpt hard to find: nothing; a paper whose words are nearer restates the finding and
cites the source; the same group published the same of another dataset; a survey mentions it; the abstract lacks the
number or the whole finding; the source is old and its year is all that is known of its date."""


class Finding(Record):
    """What a paper found: that a factor raised or lowered an outcome in a subject, by how much, on which dataset."""

    subject: Phrase
    factor: Phrase
    outcome: Phrase
    raised: bool
    percent: float
    dataset: str


class Section(Record):
    """A section of a paper; its paragraphs are apart by a blank line."""

    heading: str
    text: str


class MadePaper(Record):
    """A paper of the made library."""

    id: str = Field(description="40 hexadecimal digits, as Semantic Scholar has them")
    corpus_id: int
    openalex: str = Field(description="such as W4300000017")
    doi: str | None
    arxiv: str | None
    title: str
    abstract: str
    abstract_known: bool = Field(description="whether services have its abstract; publishers withhold some")
    authors: tuple[str, ...]
    group: str = Field(description="of which group it is, such as `coral bleaching 2`")
    venue: str
    topic: str
    field: str = Field(description="of study, as Semantic Scholar names them")
    role: Role
    day: date = Field(description="when it was published, which no service tells unless `published` does")
    published: PublicationDate | None = Field(description="as much of its date as services know")
    findings: tuple[Finding, ...] = Field(
        description="the first stands in the abstract, by the number or without; the others' numbers in the full text"
    )
    sections: tuple[Section, ...]
    references: tuple[str, ...] = Field(description="ids of the papers it cites, in the order of its list")
    other_references: tuple[str, ...] = Field(
        default=(), description="entries of its list, after the others, of papers that the library does not have"
    )
    citations: int = Field(description="how often it is cited, in the library and beyond")
    open_access: bool = Field(description="whether its PDF is served")

    @property
    def known_abstract(self) -> str | None:
        """Its abstract, where services have it."""
        return self.abstract if self.abstract_known else None

    @property
    def full_text(self) -> str:
        """Its sections with their headings, without the list of references."""
        return "\n\n".join(f"{section.heading}\n\n{section.text}" for section in self.sections)


class MadeExcerpt(Record):
    """A sentence or some, with one citation masked as [CITATION], from a paper of the library."""

    id: str
    text: str
    source: str = Field(description="id of the paper that it is from")
    target: str | None = Field(description="id of the paper that is cited; None where the library does not have it")
    kind: ExcerptKind | Literal["absent"]
    traps: tuple[str, ...] = Field(
        default=(), description="ids of papers from before the excerpt that look like its source and are not"
    )
    later: tuple[str, ...] = Field(
        default=(), description="ids of papers from after the excerpt that restate the finding, often in its words"
    )


class MadeLibrary(Record):
    """Papers with citations among them, and excerpts."""

    papers: tuple[MadePaper, ...]
    excerpts: tuple[MadeExcerpt, ...] = Field(description="their sources are in the library")
    absent: tuple[MadeExcerpt, ...] = Field(description="their sources are not")

    def paper(self, id: str) -> MadePaper:
        """The paper of an id. Raises KeyError where there is none."""
        return self.by_id[id]

    def __hash__(self) -> int:
        return hash(tuple(paper.id for paper in self.papers))

    @cached_property
    def by_id(self) -> Mapping[str, MadePaper]:
        """The papers by their ids."""
        return {paper.id: paper for paper in self.papers}
