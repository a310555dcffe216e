"""Opens sources of papers, with a folder for what they find: services by name, and sources of one's own as objects."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import cast

from quoteweave.attribution.literature.asked_ahead import AskedAhead
from quoteweave.attribution.literature.attributor import LiteratureAttributor
from quoteweave.attribution.literature.library.fetching import FetchLimits, PdfFetcher
from quoteweave.attribution.literature.library.paper_library import PaperLibrary, default_papers_folder
from quoteweave.attribution.literature.sources.make_source import SourceName, SourceOptions, make_source
from quoteweave.attribution.literature.sources.papers import PaperSource, PublicationDate
from quoteweave.attribution.literature.sources.unseen import hide
from quoteweave.core.errors import UsageError

Sources = SourceName | PaperSource | Sequence[SourceName | PaperSource]
"""One source or several: services by their names, and objects that implement `PaperSource`."""
FETCH_SECONDS = 10.0
"""Seconds that fetching the file of one paper may take, as somebody is waiting for the source of a sentence."""


@contextmanager
def open_literature(
    sources: Sources,
    *,
    papers: Path | None = None,
    before: PublicationDate | None = None,
    not_from: str | None = None,
    fetcher: PdfFetcher | None = None,
    options: Mapping[SourceName, SourceOptions] = MappingProxyType({}),
) -> Iterator[LiteratureAttributor]:
    """Open sources, and the folder of papers: the one given, or `default_papers_folder`.

    Nothing that may have been published after `before` is shown, and no paper with the title `not_from`, the title of
    the text that the sentence is from (`Unseen`). Fetching a file takes `FETCH_SECONDS` at most unless a `fetcher` is
    given; `options` says how services are asked. Raises UsageError for no source and for two of one name, and what
    `make_source` and `PaperLibrary` raise.

    >>> with open_literature(["openalex", my_source], papers=Path("papers")) as literature:
    ...     draft = cite(collection, "The harbour shipped 4,210 tonnes of grain.", literature=literature)
    """
    fetcher = fetcher or PdfFetcher(FetchLimits(seconds=FETCH_SECONDS))
    with open_sources(sources, papers=papers, fetcher=fetcher, options=options) as (opened, library):
        yield LiteratureAttributor(hide(opened, before, not_from), library)


@contextmanager
def open_sources(
    sources: Sources,
    *,
    papers: Path | None = None,
    fetcher: PdfFetcher | None = None,
    options: Mapping[SourceName, SourceOptions] = MappingProxyType({}),
) -> Iterator[tuple[Sequence[PaperSource], PaperLibrary]]:
    """Open sources, and the library in which services keep the papers that are read. Raises as `open_literature`."""
    distinct = _distinct_sources(sources)
    with PaperLibrary(papers or default_papers_folder(), fetcher) as library:
        opened = [
            make_source(source, library, options.get(source)) if isinstance(source, str) else source
            for source in distinct
        ]
        for source in opened:
            if isinstance(source, AskedAhead):
                source.reader = library
        yield opened, library


def _distinct_sources(sources: Sources) -> list[SourceName | PaperSource]:
    """The sources, each once. Raises UsageError for none, and for two that have one name."""
    single = isinstance(sources, str) or not isinstance(sources, Sequence)
    every = cast("Sequence[SourceName | PaperSource]", [sources] if single else sources)
    distinct = [source for at, source in enumerate(every) if not isinstance(source, str) or source not in every[:at]]
    names = [source if isinstance(source, str) else source.name for source in distinct]
    if not names:
        raise UsageError("name a source of papers: semantic-scholar or openalex")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"two sources of papers are called {twice!r}, so that what they find could not be told apart")
    return distinct
