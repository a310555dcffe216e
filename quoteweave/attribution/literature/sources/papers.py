"""Papers, and the protocol of the sources in which they are searched for and read.

A source is Semantic Scholar, OpenAlex, or a collection of one's own; all give the same records.
"""

from calendar import monthrange
from collections.abc import Mapping
from typing import Literal, Protocol, get_args

from pydantic import Field, ValidationError, model_validator

from quoteweave.core.errors import UsageError
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Record
from quoteweave.core.text.paper_identifiers import identifiers_of_address, normalized_identifiers

SortBy = Literal["relevance", "citations"]
"""The order of what is found: as the source ranks it, or the most cited first."""
FieldOfStudy = Literal[
    "Agricultural and Food Sciences",
    "Art",
    "Biology",
    "Business",
    "Chemistry",
    "Computer Science",
    "Economics",
    "Education",
    "Engineering",
    "Environmental Science",
    "Geography",
    "Geology",
    "History",
    "Law",
    "Linguistics",
    "Materials Science",
    "Mathematics",
    "Medicine",
    "Philosophy",
    "Physics",
    "Political Science",
    "Psychology",
    "Sociology",
]
"""A field of study, as Semantic Scholar names them."""


def require_order(by: str) -> None:
    """Raise UsageError for an unknown order."""
    if by not in get_args(SortBy):
        raise UsageError(f"by is {by!r}: papers are searched for by {' or '.join(get_args(SortBy))}")


ReadOutcome = Literal[
    "full_text", "not_open_access", "unreachable", "not_a_pdf", "too_large", "damaged", "other_paper", "withheld"
]
"""What became of reading a paper: its text was read; it has no open-access file; its file could not be fetched, is no
PDF, has too many bytes or pages, cannot be parsed, or is another paper's; or the paper is hidden from the reader."""


_MIN_MONTH_DAYS = 28
_DATE = lazy_regex(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")


class PublicationDate(Record):
    """When a paper was published, as exactly as its source knows.

    >>> PublicationDate.parse("2023-05").may_follow(PublicationDate.parse("2023-05-09"))
    True
    >>> PublicationDate.parse("2023-05-09").may_follow(PublicationDate.parse("2023"))
    False
    """

    year: int = Field(ge=1000, le=9999, description="four digits")
    month: int | None = Field(default=None, ge=1, le=12, description="None where it is not known")
    day: int | None = Field(default=None, ge=1, le=31, description="of a month that is known")

    @model_validator(mode="after")
    def _is_a_date(self) -> "PublicationDate":
        if self.day is not None:
            if self.month is None:
                raise ValueError("there is a day, and no month")
            if self.day > _MIN_MONTH_DAYS and self.day > (last := monthrange(self.year, self.month)[1]):
                raise ValueError(f"the month has {last} days")
        return self

    @classmethod
    def parse(cls, text: str) -> "PublicationDate":
        """Read `2023`, `2023-05` or `2023-05-09`. Raises ValueError for anything else."""
        match = _DATE.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"{text!r} is no date such as 2023, 2023-05 or 2023-05-09")
        year, month, day = (None if part is None else int(part) for part in match.groups())
        try:
            return cls.model_validate({"year": year, "month": month, "day": day})
        except ValidationError as error:
            wrong = error.errors()[0]
            fault = f"there is no {wrong['loc'][0]} {wrong['input']}" if wrong["loc"] else str(wrong["ctx"]["error"])
            raise ValueError(f"{text!r} is no date: {fault}") from error

    def __str__(self) -> str:
        parts = (self.month, self.day) if self.month else ()
        return "-".join([f"{self.year:04}", *(f"{part:02}" for part in parts if part)])

    def may_follow(self, other: "PublicationDate") -> bool:
        """Whether what was published at this date may have been published after the other.

        If only the other's year is known, nothing in that year counts as after it.
        """
        own_parts, other_parts = (self.year, self.month, self.day), (other.year, other.month, other.day)
        for part, other_part in zip(own_parts, other_parts, strict=True):
            if other_part is None:
                return False
            if part is None:
                return True
            if part != other_part:
                return part > other_part
        return False


class Paper(Record):
    """A paper as a source describes it; what the source does not know is None or empty.

    >>> Paper(id="7", title="Grain by rail", published=PublicationDate(year=2019)).abstract is None
    True
    """

    id: str = Field(min_length=1, description="the source's own id, by which it is read")
    title: str = Field(description="as the source writes it")
    abstract: str | None = Field(default=None, description="as the source writes it")
    authors: tuple[str, ...] = Field(default=(), description="names, in their order")
    published: PublicationDate | None = Field(default=None, description="when it appeared")
    venue: str | None = Field(default=None, description="journal or conference")
    citations: int | None = Field(default=None, ge=0, description="how often it is cited")
    identifiers: Mapping[str, str] = Field(
        default_factory=dict,
        description="such as `doi`, `arxiv`, `semantic_scholar`, `openalex`, `document`",
    )
    url: str | None = Field(default=None, description="its page at the source")
    pdf_url: str | None = Field(default=None, description="of its open-access file")


def identifiers_of(paper: Paper) -> frozenset[str]:
    """Return identifiers of the paper, such as `doi:10.1/x` or `arxiv:2407.12861`, from its identifiers and URLs.

    Each is in one form (`normalized_identifiers`). A paper's id at its source is not among them.

    >>> paper = Paper(id="1", title="", identifiers={"doi": "https://doi.org/10.48550/arXiv.2407.12861"})
    >>> sorted(identifiers_of(paper))
    ['arxiv:2407.12861', 'doi:10.48550/arxiv.2407.12861']
    """
    in_addresses = (identifiers_of_address(url or "") for url in (paper.url, paper.pdf_url))
    stated = (normalized_identifiers(paper.identifiers), *in_addresses)
    return frozenset(f"{kind}:{value}" for identifiers in stated for kind, value in identifiers.items())


def describe_paper(paper: Paper) -> str:
    """Return the authors, year, venue and identifiers of a paper on one line."""
    authors = f"{paper.authors[0]} et al." if len(paper.authors) > 2 else " and ".join(paper.authors)
    year = None if paper.published is None else str(paper.published.year)
    named = (f"{kind}:{paper.identifiers[kind]}" for kind in ("doi", "arxiv") if kind in paper.identifiers)
    return ", ".join(part for part in (authors, year, paper.venue, *named) if part)


def stated_identifiers(paper: Paper) -> frozenset[str]:
    """Return what `identifiers_of` does, without identifiers from the link of the paper's file.

    Sources sometimes link to another paper's file, so that two papers would be taken for one.
    """
    return identifiers_of(paper.model_copy(update={"pdf_url": None}))


class Snippet(Record):
    """A passage of a paper that a source found by its words.

    >>> Snippet(paper=Paper(id="7", title="Grain by rail"), text="It went by rail.").section is None
    True
    """

    paper: Paper = Field(description="that it is from")
    text: str = Field(description="its words")
    section: str | None = Field(default=None, description="the heading that it stands under, where the source knows")


class PapersFound(Record):
    """What a search gave, best first, and what was left out of it.

    >>> PapersFound(papers=(Paper(id="7", title="Grain by rail"),)).notes
    ()
    """

    papers: tuple[Paper, ...] = Field(description="best first")
    notes: tuple[str, ...] = Field(
        default=(), description="a sentence for each thing the reader has to know, such as what was left out and why"
    )


class SnippetsFound(Record):
    """What a search for passages gave, best first, and what was left out of it.

    >>> SnippetsFound(snippets=(), notes=("It has no texts.",)).notes[0]
    'It has no texts.'
    """

    snippets: tuple[Snippet, ...] = Field(description="best first")
    notes: tuple[str, ...] = Field(
        default=(), description="a sentence for each thing the reader has to know, such as what was left out and why"
    )


class PaperText(Record):
    """What reading a paper gave: its text, or why there is none.

    >>> PaperText(outcome="not_open_access", text="Its abstract.", note="It is not open access.").pages is None
    True
    """

    outcome: ReadOutcome = Field(description="whether its text was read, or why not")
    text: str = Field(description="its text, pages apart by a blank line; else its abstract")
    document: str | None = Field(
        default=None, description="its name in the collection of papers; None where it was not read"
    )
    pages: int | None = Field(default=None, ge=1, description="how many the file has")
    note: str | None = Field(default=None, description="why there is no full text, or what is missing of it")


class PaperSource(Protocol):
    """Searches for papers and reads them. Its methods raise `SourceError` where it cannot be asked."""

    @property
    def name(self) -> str:
        """The name that `--source` takes."""
        ...

    async def search(
        self, query: str, k: int = 10, *, by: SortBy = "relevance", before: PublicationDate | None = None
    ) -> PapersFound:
        """Return at most `k` papers, none of which may have been published after `before`."""
        ...

    async def search_snippets(self, query: str, k: int = 10, *, before: PublicationDate | None = None) -> SnippetsFound:
        """Return at most `k` passages of papers, none of which may have been published after `before`."""
        ...

    async def read(self, paper: Paper) -> PaperText:
        """Return the text of a paper. That it cannot be read is an outcome, and no error."""
        ...


class PaperReader(Protocol):
    """Reads papers, for the sources that only describe them and say where their open-access files are."""

    async def read(self, paper: Paper) -> PaperText:
        """Return the text of a paper. That it cannot be read is an outcome, and no error."""
        ...
