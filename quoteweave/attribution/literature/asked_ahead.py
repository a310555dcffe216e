"""Asks services for the papers of a claim before the modules that read and rank papers are imported.

Importing these takes most of the time of a command's start, and services make their users wait between requests.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, TypeVar

from quoteweave.attribution.excerpts import read_excerpts
from quoteweave.attribution.literature.candidate_papers import PAPERS_PER_QUERY, ask_sources, claim_queries
from quoteweave.attribution.literature.sources.make_source import SourceName, SourceOptions, make_source
from quoteweave.attribution.literature.sources.papers import (
    Paper,
    PaperReader,
    PapersFound,
    PaperText,
    PublicationDate,
    SnippetsFound,
    SortBy,
)
from quoteweave.attribution.literature.sources.unseen import hide
from quoteweave.core.concurrency.sync_bridge import run_sync, running

Result = TypeVar("Result")
Question = tuple[str, int, SortBy | None, PublicationDate | None]


class AskedAhead:
    """A service that is asked each question once; whoever asks it again waits for, and gets, the same answer.

    Implements `PaperSource`. It reads papers by its `reader`, which is set when the library is open.
    """

    def __init__(self, name: SourceName, options: SourceOptions | None = None) -> None:
        self.name: SourceName = name
        self.reader: PaperReader | None = None
        self._service = make_source(name, self, options)
        self._papers: dict[Question, asyncio.Task[PapersFound]] = {}
        self._snippets: dict[Question, asyncio.Task[SnippetsFound]] = {}

    async def search(
        self, query: str, k: int = 10, *, by: SortBy = "relevance", before: PublicationDate | None = None
    ) -> PapersFound:
        """Return what the service does. Raises what it raises."""
        return await _once(
            self._papers, (query, k, by, before), lambda: self._service.search(query, k, by=by, before=before)
        )

    async def search_snippets(self, query: str, k: int = 10, *, before: PublicationDate | None = None) -> SnippetsFound:
        """Return what the service does. Raises what it raises."""
        return await _once(
            self._snippets, (query, k, None, before), lambda: self._service.search_snippets(query, k, before=before)
        )

    async def read(self, paper: Paper) -> PaperText:
        """Return the text of a paper, as the reader gives it."""
        assert self.reader is not None, "the library is not open"  # noqa: S101 - `open_literature` sets it
        return await self.reader.read(paper)


async def _once(
    tasks: dict[Question, asyncio.Task[Result]], question: Question, ask: Callable[[], Coroutine[Any, Any, Result]]
) -> Result:
    if question not in tasks:
        tasks[question] = asyncio.create_task(ask())
    return await asyncio.shield(tasks[question])


@contextmanager
def ask_ahead(
    services: Sequence[SourceName],
    text: str,
    k: int = PAPERS_PER_QUERY,
    *,
    before: PublicationDate | None = None,
    not_from: str | None = None,
    options: Mapping[SourceName, SourceOptions] = MappingProxyType({}),
) -> Iterator[Sequence[AskedAhead]]:
    """Ask services for the papers of a text, and give them to be opened by `open_literature` with the same limits.

    The searches of `LiteratureAttributor.attribute` for that text and `k` candidates are then answered, or under way.
    Of a text with several claims nothing is asked ahead, as their requests wait for each other anyway. Raises what
    `read_excerpts` and `make_source` raise.
    """
    claim, *further_excerpts = read_excerpts(text)
    sources = [AskedAhead(name, options.get(name)) for name in dict.fromkeys(services)]
    hiding = hide(sources, before, not_from)

    if further_excerpts:
        yield sources
        return
    # Imported here, as the first request would otherwise import them while other imports compete with it.
    import httpcore2  # noqa: F401
    from anyio.lowlevel import checkpoint

    run_sync(checkpoint())  # makes anyio import what it needs in this loop
    with running(ask_sources(hiding, claim_queries(claim), k)):
        yield sources
