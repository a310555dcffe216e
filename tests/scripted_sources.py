"""Sources of papers whose replies are scripted, on a clock of its own: nothing is sent, and nobody waits."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.parse import parse_qsl

import httpx2

from quoteweave.attribution.literature.sources.make_source import SourceName, SourceOptions
from quoteweave.attribution.literature.sources.papers import (
    Paper,
    PapersFound,
    PaperSource,
    PaperText,
    PublicationDate,
    SortBy,
)
from quoteweave.attribution.literature.sources.service import ReplyCache, SourcePace, SourceService, Timing
from quoteweave.attribution.literature.sources.source_client import SourceClient, SourceLimits
from quoteweave.endpoints.http_client import BoundedClient
from quoteweave.testing import LibraryServer

Reply = httpx2.Response | Exception | Callable[[httpx2.Request], httpx2.Response]


class Time:
    """Passes only when all that runs waits for it, and then until the first of these is woken."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []
        self._waking: list[float] = []

    async def sleep(self, seconds: float) -> None:
        until = self.now + seconds
        self.slept.append(seconds)
        self._waking.append(until)
        try:
            while self.now < until:
                for _ in range(20):  # whatever can go on does so first
                    await asyncio.sleep(0)
                if until == min(self._waking):
                    self.now = max(self.now, until)
        finally:
            self._waking.remove(until)

    def timing(self, jitter: float = 0.0) -> Timing:
        return Timing(clock=lambda: self.now, sleep=self.sleep, jitter=lambda: jitter)


class Script:
    """Gives its replies in turn, and remembers what was asked and when."""

    def __init__(self, *replies: Reply) -> None:
        self.time = Time()
        self.asked: list[httpx2.Request] = []
        self.at: list[float] = []
        self._replies = list(replies)

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        self.at.append(self.time.now)
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, httpx2.Response) else reply(request)

    def params(self, index: int = -1) -> dict[str, str]:
        return dict(parse_qsl(self.asked[index].url.query.decode(), keep_blank_values=True))

    def client(
        self,
        service: SourceService,
        *,
        base_url: str | None = None,
        key: str | None = None,
        limits: SourceLimits | None = None,
        cache: Path | None = None,
        http: BoundedClient | None = None,
        jitter: float = 0.0,
    ) -> SourceClient:
        return SourceClient(
            service,
            service.address(base_url, key),
            limits=limits,
            pace=SourcePace(self.time.timing(jitter)),
            cache=None if cache is None else ReplyCache(cache),
            http=http or BoundedClient(transport=httpx2.MockTransport(self)),
        )


def reply(body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> httpx2.Response:
    """A reply of JSON, or of bytes as they are."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx2.Response(status, content=content, headers=headers)


class NamingReader:
    """Gives a paper's title as its text."""

    async def read(self, paper: Paper) -> PaperText:
        return PaperText(outcome="full_text", text=paper.title)


def titles(papers: Sequence[Paper]) -> list[str]:
    return [paper.title for paper in papers]


def search(
    source: PaperSource, query: str = "ships", k: int = 10, *, by: SortBy = "relevance", before: str | None = None
) -> PapersFound:
    limit = None if before is None else PublicationDate.parse(before)
    return asyncio.run(source.search(query, k, by=by, before=limit))


def library_options(server: LibraryServer) -> dict[SourceName, SourceOptions]:
    """What has the sources ask a made library, without waiting."""
    return {
        "semantic-scholar": SourceOptions(base_url=server.semantic_scholar_url, per_second=1000),
        "openalex": SourceOptions(base_url=server.openalex_url, per_second=1000),
    }
