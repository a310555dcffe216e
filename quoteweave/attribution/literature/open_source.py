"""Opens what papers are searched in, by its name: a service of the literature, or a collection of one's own."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from quoteweave.attribution.literature.make_source import SourceName, SourceOptions, make_source
from quoteweave.attribution.literature.own_collection import OwnCollection
from quoteweave.attribution.literature.paper_library import PaperLibrary, default_papers_folder
from quoteweave.attribution.literature.papers import PaperSource
from quoteweave.collection.collection import Collection
from quoteweave.core.errors import CollectionNotFound, UsageError
from quoteweave.pipeline.runs.build import build_indexes
from quoteweave.pipeline.runs.progress import NO_PROGRESS, Progress
from quoteweave.pipeline.runs.search import make_search
from quoteweave.pipeline.settings import RetrievalSettings


@dataclass(frozen=True, slots=True)
class OpenedSource:
    """A source of papers, while it is open."""

    source: PaperSource
    collection: Collection
    """The collection that is searched; of a service, the library in which papers that are read are kept."""
    is_service: bool


@contextmanager
def open_source(
    name: str,
    retrieval: RetrievalSettings | None = None,
    options: SourceOptions | None = None,
    *,
    papers: Path | None = None,
    progress: Progress = NO_PROGRESS,
) -> Iterator[OpenedSource]:
    """Open `semantic-scholar`, `openalex`, or the collection in a folder, which `retrieval` says how to search.

    `papers` is the folder in which a service's papers are kept (`default_papers_folder`). Raises UsageError for a name
    that is neither, as `make_source`, and as `make_search`.

    >>> with open_source("my-collection") as opened:
    ...     opened.source.name
    'collection'
    """
    service = next((known for known in get_args(SourceName) if known == name), None)
    if service is not None:
        with PaperLibrary(papers or default_papers_folder()) as library:
            yield OpenedSource(make_source(service, library, options), library.collection, is_service=True)
        return
    try:
        collection = Collection.open(Path(name))
    except CollectionNotFound as error:
        services = ", ".join(get_args(SourceName))
        raise UsageError(
            f"{name!r} is no source of papers: there are {services}, and folders of collections"
        ) from error
    with collection as opened:
        settings = retrieval or RetrievalSettings()
        build_indexes(opened, settings.retriever, settings, progress)
        search = make_search(opened, settings, progress=progress)
        yield OpenedSource(OwnCollection(opened, search), opened, is_service=False)
