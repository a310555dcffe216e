"""Searches sources of the literature for the papers that a claim may cite, and fuses what they find."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import Field

from quoteweave.attribution.excerpts import Excerpt
from quoteweave.attribution.literature.claim_queries import claim_queries
from quoteweave.attribution.literature.sources.client.pace import count_waiting
from quoteweave.attribution.literature.sources.papers import (
    Paper,
    PaperSource,
    PublicationDate,
    Snippet,
    stated_identifiers,
)
from quoteweave.core.errors import SourceError
from quoteweave.core.messages import pluralize
from quoteweave.core.records import Record
from quoteweave.evaluation.metrics.answers.title_match import letters
from quoteweave.retrievers.fusion import fuse_ranks

PAPERS = 70
"""Papers that are asked for of each query: with those that are hidden no more than a source sends at once."""
SNIPPETS = 20
"""Passages that are asked for of a source."""
SENDS_SNIPPETS = "semantic-scholar"
"""The source whose passages are a paper's own text, which may not be there otherwise."""
PASSAGES_SECONDS = 2.5
"""Seconds after which papers are asked for although passages have not come."""
FEW = 10
"""Papers found for the claim, below which a source is asked the other queries too."""


class CandidatePaper(Record):
    """A paper that sources found for a claim."""

    paper: Paper = Field(description="as the source that ranks it best describes it, with what others know beside")
    score: float = Field(description="of its ranks in all searches (reciprocal rank fusion)")
    sources: tuple[str, ...] = Field(description="which sources found it")
    passage_rank: int | None = Field(
        default=None, ge=1, description="of its best passage among those that a source found; None without one"
    )
    snippets: tuple[str, ...] = Field(default=(), description="its passages that Semantic Scholar sent, best first")


class CandidatePapers(Record):
    """What the sources found for a claim, best first."""

    papers: tuple[CandidatePaper, ...]
    queries: tuple[str, ...]
    notes: tuple[str, ...] = Field(default=(), description="what was left out, and which source could not be asked")
    refused: Mapping[str, str] = Field(
        default_factory=dict, description="sources of which no search succeeded, and why, by name"
    )


async def find_candidate_papers(
    sources: Sequence[PaperSource],
    excerpt: Excerpt,
    *,
    before: PublicationDate | None = None,
    on_passages: Callable[[Sequence[Paper]], None] = lambda _: None,
) -> CandidatePapers:
    """Ask each source for papers and passages by the claim, and fuse the rankings of what they find.

    The further queries of `claim_queries` are asked of a source that finds few papers by the first. Papers count as one
    where they share an identifier, or have the same title. `on_passages` is called with the papers of the passages that
    a source found, best first, as soon as they are known. A source that cannot be asked costs its own papers alone and
    is named. Raises SourceError, that of the first source, where none could be asked.
    """
    queries = claim_queries(excerpt)
    if not queries:
        return CandidatePapers(papers=(), queries=())
    found = await asyncio.gather(*(_ask_within(source, queries, before, on_passages) for source in sources))
    if not any(one.rankings for one in found):
        raise next(error for one in found for error in one.errors)
    notes = dict.fromkeys(note for one in found for note in one.notes)
    refused = {}
    for source, one in zip(sources, found, strict=True):
        if one.errors and not one.rankings:
            refused[source.name] = str(one.errors[0])
            notes[f"{source.name} could not be asked: {one.errors[0]}"] = None
        elif one.errors:
            count = pluralize(len(one.errors), "search", "searches")
            notes[f"{source.name} did not answer {count}: {one.errors[0]}"] = None
    asked = list(zip((source.name for source in sources), found, strict=True))
    return CandidatePapers(papers=_fused(asked), queries=queries, notes=tuple(notes), refused=refused)


@dataclass(slots=True)
class _Answers:
    """What one source answered."""

    rankings: list[Sequence[Paper]] = field(default_factory=list)
    snippets: Sequence[Snippet] = ()
    notes: list[str] = field(default_factory=list)
    errors: list[SourceError] = field(default_factory=list)

    @property
    def passages(self) -> list[Paper]:
        """The papers of the passages that it found, best first, each once; one of the rankings too."""
        return list({one.paper.id: one.paper for one in self.snippets}.values())


async def _ask_within(
    source: PaperSource,
    queries: Sequence[str],
    before: PublicationDate | None,
    on_passages: Callable[[Sequence[Paper]], None],
) -> _Answers:
    """Ask a source for no longer than it may take for one claim."""
    with count_waiting():
        return await _ask(source, queries, before, on_passages)


async def _ask(
    source: PaperSource,
    queries: Sequence[str],
    before: PublicationDate | None,
    on_passages: Callable[[Sequence[Paper]], None],
) -> _Answers:
    answers = _Answers()

    async def papers(query: str) -> int:
        try:
            found = await source.search(query, PAPERS, before=before)
        except SourceError as error:
            answers.errors.append(error)
            return 0
        answers.rankings.append(found.papers)
        answers.notes += found.notes
        return len(found.papers)

    async def passages() -> None:
        try:
            found = await source.search_snippets(queries[0], SNIPPETS, before=before)
        except SourceError as error:
            answers.errors.append(error)
            return
        if found.snippets:  # a source without such a search finds none
            answers.snippets = found.snippets
            answers.rankings.append(answers.passages)
            answers.notes += found.notes
            on_passages(answers.passages)

    # Passages first: their papers are read while a slow source is asked for papers, whether passages come or not.
    first = asyncio.create_task(passages())
    try:
        await asyncio.wait({first}, timeout=PASSAGES_SECONDS)
        _, count = await asyncio.gather(first, papers(queries[0]))
    finally:
        first.cancel()
    if count < FEW and not answers.errors:
        await asyncio.gather(*map(papers, queries[1:]))
    return answers


def _fused(answers: Sequence[tuple[str, _Answers]]) -> tuple[CandidatePaper, ...]:
    known = _Known()
    rankings = [
        list(dict.fromkeys([known.add(paper, source) for paper in ranking]))
        for source, one in answers
        for ranking in one.rankings
    ]
    ranks: dict[str, int] = {}
    for source, one in answers:
        for rank, paper in enumerate(one.passages, 1):
            key = known.add(paper, source)
            ranks[key] = min(rank, ranks.get(key, rank))
    texts: dict[str, list[str]] = {}
    for source, one in answers:
        for snippet in one.snippets if source == SENDS_SNIPPETS else ():
            texts.setdefault(known.add(snippet.paper, source), []).append(snippet.text)
    return tuple(
        CandidatePaper(
            paper=known.papers[key],
            score=score,
            sources=tuple(known.sources[key]),
            passage_rank=ranks.get(key),
            snippets=tuple(texts.get(key, ())),
        )
        for key, score in fuse_ranks(rankings).items()
    )


class _Known:
    """The papers that were found so far, each once."""

    def __init__(self) -> None:
        self.papers: dict[str, Paper] = {}
        self.sources: dict[str, list[str]] = {}
        self._keys: dict[str, str] = {}

    def add(self, paper: Paper, source: str) -> str:
        """Add a paper that a source found; return the key of all that are the same paper."""
        title = letters(paper.title)
        names = [*sorted(stated_identifiers(paper)), f"{source} {paper.id}", *([f"title {title}"] if title else [])]
        key = next((self._keys[name] for name in names if name in self._keys), names[0])
        self._keys.update((name, key) for name in names if name not in self._keys)
        self.papers[key] = _merged(self.papers.get(key, paper), paper)
        sources = self.sources.setdefault(key, [])
        if source not in sources:
            sources.append(source)
        return key


def _merged(paper: Paper, other: Paper) -> Paper:
    """A paper with what another description of it knows beside."""
    if paper is other:
        return paper
    fields = ("abstract", "published", "venue", "url", "pdf_url")
    missing = {field: getattr(other, field) for field in fields if getattr(paper, field) is None}
    citations = max((count for count in (paper.citations, other.citations) if count is not None), default=None)
    identifiers = {**other.identifiers, **paper.identifiers}
    return paper.model_copy(update={**missing, "citations": citations, "identifiers": identifiers})
