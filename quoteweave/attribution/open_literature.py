"""Opens sources of the literature, with a folder for the papers that they find, to look for the sources of claims."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from quoteweave.attribution.from_literature import LiteratureAttributor
from quoteweave.attribution.literature.fetching import FetchLimits, PdfFetcher
from quoteweave.attribution.literature.make_source import SourceName, SourceOptions, make_source
from quoteweave.attribution.literature.paper_library import PaperLibrary, default_papers_folder
from quoteweave.attribution.literature.papers import Paper, PaperSource, PublicationDate
from quoteweave.attribution.literature.unseen import HidingRule, Unseen
from quoteweave.core.errors import UsageError

FETCH_SECONDS = 10.0
"""Seconds that the file of one paper may take to arrive while somebody waits for the source of a sentence."""


@contextmanager
def open_literature(
    sources: SourceName | Sequence[SourceName],
    *,
    papers: Path | None = None,
    before: PublicationDate | None = None,
    not_from: str | None = None,
    fetcher: PdfFetcher | None = None,
    options: Mapping[SourceName, SourceOptions] = MappingProxyType({}),
) -> Iterator[LiteratureAttributor]:
    """Open sources, and the folder of papers: the one given, or `default_papers_folder`.

    Nothing that may have been published after `before` is shown, and no paper with the title `not_from`, which is that
    of the text that the sentence is from (`Unseen`). Files take `FETCH_SECONDS` at most unless a `fetcher` is given.
    Raises UsageError for no source, and what `make_source` and `PaperLibrary` raise.
    """
    if not sources:
        raise UsageError("name a source of papers: semantic-scholar or openalex")
    names = [sources] if isinstance(sources, str) else list(dict.fromkeys(sources))
    fetcher = fetcher or PdfFetcher(FetchLimits(seconds=FETCH_SECONDS))
    own = None if not_from is None else Paper(id="excerpt", title=not_from)
    rule = HidingRule(own=own, before=before)
    with PaperLibrary(papers or default_papers_folder(), fetcher) as library:
        opened: list[PaperSource] = [make_source(name, library, options.get(name)) for name in names]
        if rule != HidingRule():
            opened = [Unseen(source, rule) for source in opened]
        library.prepare()  # while the sources are asked
        yield LiteratureAttributor(opened, library)
