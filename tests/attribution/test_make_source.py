"""Sources by name: each at its own address, or at one that stands in for it."""

import asyncio
from pathlib import Path

import pytest
from scripted_server import Scripted, ScriptedServer
from scripted_sources import NamingReader

from quoteweave.attribution.literature.sources.make_source import SourceName, SourceOptions, make_source
from quoteweave.attribution.literature.sources.papers import PaperSource
from quoteweave.core.errors import SourceBadResponse, UsageError

NAMES: tuple[SourceName, ...] = ("semantic-scholar", "openalex")


@pytest.mark.parametrize("name", NAMES)
def test_a_source_has_the_name_by_which_it_is_made(name: SourceName) -> None:
    source: PaperSource = make_source(name, NamingReader())
    assert source.name == name


def test_a_name_that_is_none_is_told() -> None:
    with pytest.raises(UsageError, match="'google' is no source; there are semantic-scholar and openalex"):
        make_source("google", NamingReader())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "variable", "path", "body"),
    [
        ("semantic-scholar", "SEMANTIC_SCHOLAR_BASE_URL", "/paper/search", b'{"total": 0}'),
        ("openalex", "OPENALEX_BASE_URL", "/works", b'{"meta": {}, "results": []}'),
    ],
)
def test_a_server_may_stand_in_for_a_source(
    name: SourceName, variable: str, path: str, body: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer(Scripted(body), Scripted(body), Scripted(b"<html>")) as server:
        options = SourceOptions(base_url=f"{server.url}/", per_second=1000, cache=tmp_path)
        for _ in range(2):  # the second time of what is kept
            assert asyncio.run(make_source(name, NamingReader(), options).search("ships")).papers == ()
        monkeypatch.setenv(variable, server.url)
        source = make_source(name, NamingReader(), SourceOptions(per_second=1000))
        assert asyncio.run(source.search("ships")).papers == ()
        with pytest.raises(SourceBadResponse):
            asyncio.run(source.search("boats"))
        assert [one.path.partition("?")[0] for one in server.received] == [path] * 3
