"""Makes the sources of papers by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from quoteweave.attribution.literature.sources.openalex import OPENALEX, OpenAlex
from quoteweave.attribution.literature.sources.papers import FieldOfStudy, PaperReader
from quoteweave.attribution.literature.sources.semantic_scholar import SEMANTIC_SCHOLAR, SemanticScholar
from quoteweave.attribution.literature.sources.service import ReplyCache, SourceService
from quoteweave.attribution.literature.sources.source_client import SourceClient, SourceLimits
from quoteweave.core.errors import UsageError
from quoteweave.core.records import Record

SourceName = Literal["semantic-scholar", "openalex"]


class SourceOptions(Record):
    """How a source of the literature is asked.

    >>> options = SourceOptions(cache=Path("replies"), open_access_only=True)
    >>> with PaperLibrary(Path("papers")) as library:
    ...     make_source("openalex", library, options).name
    'openalex'
    """

    base_url: str | None = Field(
        default=None,
        description="address of another server that speaks the source's API; else that of the environment "
        "(SEMANTIC_SCHOLAR_BASE_URL, OPENALEX_BASE_URL), or its own",
    )
    per_second: float | None = Field(
        default=None,
        gt=0,
        le=1000,
        description="most requests a second; else 1 for Semantic Scholar, as a key allows, and 10 for OpenAlex",
    )
    timeout_s: float = Field(
        default=SourceLimits().in_all_s,
        gt=0,
        description="seconds that it is waited for in all while the source of one sentence is looked for, its turns "
        "aside; the searches of an agent are not limited by it",
    )
    cache: Path | None = Field(
        default=None, description="folder that keeps replies, so that none is asked for twice; none to keep nothing"
    )
    open_access_only: bool = Field(default=False, description="whether papers without an open-access file are left out")
    field: FieldOfStudy | None = Field(default=None, description="of which papers alone are searched for")


@dataclass(frozen=True, slots=True)
class _SourceKind:
    service: SourceService
    make: type[SemanticScholar] | type[OpenAlex]
    per_second: float
    """Requests per second, at most, unless the options set a limit."""


_SOURCES: Mapping[SourceName, _SourceKind] = {
    "semantic-scholar": _SourceKind(SEMANTIC_SCHOLAR, SemanticScholar, per_second=1.0),
    "openalex": _SourceKind(OPENALEX, OpenAlex, per_second=10.0),
}


def make_source(
    name: SourceName, reader: PaperReader, options: SourceOptions | None = None, *, api_key: str | None = None
) -> SemanticScholar | OpenAlex:
    """Make a source that reads papers by `reader`, such as a `PaperLibrary`.

    The key is the one given, or that of the environment (SEMANTIC_SCHOLAR_API_KEY, OPENALEX_API_KEY). Raises UsageError
    for an unknown name, an address that is no base URL, a key that no request can carry, and a field that the
    source does not have.
    """
    options = options or SourceOptions()
    kind = _SOURCES.get(name)
    if kind is None:
        raise UsageError(f"{name!r} is no source; there are {' and '.join(_SOURCES)}")
    client = SourceClient(
        kind.service,
        kind.service.address(options.base_url, api_key),
        limits=SourceLimits(per_second=options.per_second or kind.per_second, in_all_s=options.timeout_s),
        cache=None if options.cache is None else ReplyCache(options.cache),
    )
    return kind.make(client, reader, open_access_only=options.open_access_only, field=options.field)
