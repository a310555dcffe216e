"""Both sources over a server that speaks their APIs on the documented paths, over a made library of papers."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from scripted_sources import NamingReader, Time

from quoteweave.attribution.literature.sources.make_source import SourceName
from quoteweave.attribution.literature.sources.openalex import OPENALEX, OpenAlex
from quoteweave.attribution.literature.sources.papers import Paper, PublicationDate, identifiers_of
from quoteweave.attribution.literature.sources.semantic_scholar import SEMANTIC_SCHOLAR, SemanticScholar
from quoteweave.attribution.literature.sources.service import ReplyCache, SourcePace
from quoteweave.attribution.literature.sources.source_client import SourceClient
from quoteweave.core.errors import SourceBadResponse, SourceRefused, SourceUnreachable
from quoteweave.core.text.tokens import words
from quoteweave.testing.literature_server import LibraryServer

NAMES: tuple[SourceName, ...] = ("semantic-scholar", "openalex")
PATHS = {"semantic-scholar": "/graph/v1/paper/search", "openalex": "/openalex/works"}


@pytest.fixture(scope="module")
def running() -> Iterator[LibraryServer]:
    with LibraryServer(keys={"the-right-key"}, bulk_size=40) as server:
        yield server


@pytest.fixture
def server(running: LibraryServer) -> Iterator[LibraryServer]:
    yield running
    running.clear_faults()


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> SourceName:
    chosen: SourceName = request.param
    return chosen


class Asked:
    """A source that asks the server, on a clock of its own."""

    def __init__(
        self, server: LibraryServer, name: SourceName, *, key: str | None = None, cache: Path | None = None
    ) -> None:
        scholar = name == "semantic-scholar"
        service, url = (SEMANTIC_SCHOLAR, server.semantic_scholar_url) if scholar else (OPENALEX, server.openalex_url)
        self.time = Time()
        kept = None if cache is None else ReplyCache(cache)
        client = SourceClient(service, service.address(url, key), pace=SourcePace(self.time.timing()), cache=kept)
        make = SemanticScholar if scholar else OpenAlex
        self.source: SemanticScholar | OpenAlex = make(client, NamingReader())


def in_time(papers: tuple[Paper, ...], before: PublicationDate) -> bool:
    return all(paper.published is not None and not paper.published.may_follow(before) for paper in papers)


def test_a_paper_is_found_by_its_title_with_all_that_is_known_of_it(server: LibraryServer, name: SourceName) -> None:
    source = Asked(server, name).source
    for made in server.library.papers[::60]:
        first = asyncio.run(source.search(made.title, 1)).papers[0]
        assert first.title == made.title
        assert first.authors == made.authors
        assert first.citations == made.citations
        assert first.venue == made.venue
        assert first.pdf_url == (server.pdf_url(made) if made.open_access else None)
        assert (first.abstract or "").split() == made.abstract.split()
        if name == "semantic-scholar" or made.published is None or made.published.day != 1:
            assert first.published == made.published


def test_both_sources_describe_a_paper_by_identifiers_that_agree(server: LibraryServer) -> None:
    made = next(paper for paper in server.library.papers if paper.doi and paper.arxiv)
    found = [asyncio.run(Asked(server, name).source.search(made.title, 9)).papers for name in NAMES]
    shared = frozenset.intersection(*(identifiers_of(one) for some in found for one in some if one.title == made.title))
    assert shared >= {f"doi:{made.doi}", f"arxiv:{made.arxiv}"}


def test_nothing_that_may_be_later_is_shown_in_any_search(server: LibraryServer, name: SourceName) -> None:
    source, seen = Asked(server, name).source, 0
    for excerpt in server.library.excerpts[::10]:
        before = server.library.paper(excerpt.source).published
        assert before is not None
        ranked = asyncio.run(source.search(excerpt.text, 30, before=before))
        cited = asyncio.run(source.search(excerpt.text.split()[-1], 30, by="citations", before=before))
        snippets = asyncio.run(source.search_snippets(excerpt.text, 30, before=before))
        papers = (*ranked.papers, *cited.papers, *(one.paper for one in snippets.snippets))
        assert in_time(papers, before)
        seen += len(papers)
    assert seen > 100


def test_a_server_that_ignores_dates_leaks_nothing(server: LibraryServer) -> None:
    before = PublicationDate(year=2015)
    query = server.library.excerpts[0].text
    everything = asyncio.run(Asked(server, "semantic-scholar").source.search_snippets(query, 20)).snippets
    assert not in_time(tuple(one.paper for one in everything), before)

    asked = Asked(server, "semantic-scholar")
    unfiltered = server.semantic_scholar_url.removeprefix(server.base_url) + "/snippet/search"
    body = _snippets_without_a_date(server, query)
    server.reply(unfiltered, body)
    shown = asyncio.run(asked.source.search_snippets(query, 20, before=before))
    assert in_time(tuple(one.paper for one in shown.snippets), before)
    assert any("may have been published after 2015" in note for note in shown.notes)


def _snippets_without_a_date(server: LibraryServer, query: str) -> bytes:
    return httpx2.get(f"{server.semantic_scholar_url}/snippet/search", params={"query": query, "limit": "40"}).content


def test_many_papers_are_read_page_by_page_each_once(server: LibraryServer, name: SourceName) -> None:
    query = " ".join(paper.title for paper in server.library.papers[::40])
    found = asyncio.run(Asked(server, name).source.search(query, 250)).papers
    assert len({paper.id for paper in found}) == len(found) == 250


def test_the_most_cited_come_first_over_all_batches(server: LibraryServer, name: SourceName) -> None:
    source = Asked(server, name).source
    longer = (word for paper in server.library.papers for word in set(words(paper.abstract)) if len(word) > 5)
    ((word, _),) = Counter(longer).most_common(1)
    found = asyncio.run(source.search(word, 60, by="citations")).papers
    counts = [paper.citations or 0 for paper in found]
    assert counts == sorted(counts, reverse=True)
    assert len(found) == 60  # of batches of 40, and pages of 60


def test_passages_have_papers_that_can_be_searched_for_and_read(server: LibraryServer) -> None:
    source = Asked(server, "semantic-scholar").source
    made = next(paper for paper in server.library.papers if paper.open_access)
    sentence = made.sections[1].text.split(". ")[0]
    (best, *_) = asyncio.run(source.search_snippets(sentence, 5)).snippets
    assert best.paper == asyncio.run(source.search(best.paper.title, 1)).papers[0]
    assert best.section


def test_a_wrong_key_is_refused_and_the_right_one_is_taken(server: LibraryServer) -> None:
    with pytest.raises(SourceRefused, match=r"Forbidden.*Check the key in SEMANTIC_SCHOLAR_API_KEY"):
        asyncio.run(Asked(server, "semantic-scholar", key="a-wrong-key").source.search("ships"))
    with pytest.raises(SourceRefused, match="OPENALEX_API_KEY") as error:
        asyncio.run(Asked(server, "openalex", key="a-wrong-key").source.search("ships"))
    assert "a-wrong-key" not in str(error.value)
    for name in NAMES:
        asyncio.run(Asked(server, name, key="the-right-key").source.search("ships"))


@pytest.mark.parametrize(("retry_after", "waited"), [(None, 1.0), (7, 7.0)])
def test_a_source_that_is_asked_too_often_is_asked_again(
    server: LibraryServer, name: SourceName, retry_after: float | None, waited: float
) -> None:
    server.fail(PATHS[name], 429, retry_after=retry_after)
    asked = Asked(server, name)
    assert asyncio.run(asked.source.search("coral reefs")).papers
    assert asked.time.now == waited


def test_a_broken_connection_is_asked_again_and_one_that_stays_broken_is_told(
    server: LibraryServer, name: SourceName
) -> None:
    server.drop(PATHS[name], 2)
    assert asyncio.run(Asked(server, name).source.search("coral reefs")).papers
    server.drop(PATHS[name], None)
    with pytest.raises(SourceUnreachable, match="No answer from http://127"):
        asyncio.run(Asked(server, name).source.search("coral reefs"))


def test_a_page_in_place_of_a_reply_is_told(server: LibraryServer, name: SourceName) -> None:
    server.reply(PATHS[name], b"<html>Sign in</html>", kind="text/html")
    with pytest.raises(SourceBadResponse, match="documents"):
        asyncio.run(Asked(server, name).source.search("coral reefs"))


def test_a_run_that_is_resumed_repeats_no_request(server: LibraryServer, name: SourceName, tmp_path: Path) -> None:
    queries = [excerpt.text for excerpt in server.library.excerpts[:6]]

    async def run(source: SemanticScholar | OpenAlex) -> list[tuple[Paper, ...]]:
        found = await asyncio.gather(*(source.search(query, 5) for query in queries))
        passages = await asyncio.gather(*(source.search_snippets(query, 5) for query in queries))
        return [*(each.papers for each in found), *(tuple(one.paper for one in each.snippets) for each in passages)]

    first = asyncio.run(run(Asked(server, name, cache=tmp_path).source))
    sent = len(server.requests)
    resumed = Asked(server, name, cache=tmp_path)
    assert asyncio.run(run(resumed.source)) == first
    assert (len(server.requests), resumed.time.now) == (sent, 0.0)


def test_64_searches_at_once_are_at_least_a_second_apart(server: LibraryServer) -> None:
    asked = Asked(server, "semantic-scholar")

    async def run() -> None:
        await asyncio.gather(*(asked.source.search(f"coral reefs {number}") for number in range(64)))

    asyncio.run(run())
    assert asked.time.now >= 63.0
