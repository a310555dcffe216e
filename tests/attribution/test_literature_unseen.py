"""The made library, searched and read for its excerpts: nothing leaks, and every broken link is an outcome."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from quoteweave.attribution.literature.library.fetching import FetchLimits, PdfFetcher
from quoteweave.attribution.literature.library.paper_library import PaperLibrary
from quoteweave.attribution.literature.sources.make_source import SourceName, SourceOptions, make_source
from quoteweave.attribution.literature.sources.papers import Paper, PaperText, PublicationDate
from quoteweave.attribution.literature.sources.unseen import HidingRule, Unseen
from quoteweave.collection.collection import Collection
from quoteweave.maintenance.check import check
from quoteweave.testing.literature.records import MadePaper
from quoteweave.testing.literature_server.pdfs import PDF_FAULTS, PdfFault
from quoteweave.testing.literature_server.server import LibraryServer


@pytest.fixture(scope="module")
def server() -> Iterator[LibraryServer]:
    with LibraryServer() as running:
        yield running


class NoReader:
    """Reads nothing."""

    async def read(self, paper: Paper) -> PaperText:
        raise AssertionError(f"{paper.title} was read")


@pytest.mark.parametrize("name", ["semantic-scholar", "openalex"])
def test_no_search_for_an_excerpt_shows_its_paper_or_a_later_one(server: LibraryServer, name: SourceName) -> None:
    url = server.semantic_scholar_url if name == "semantic-scholar" else server.openalex_url
    source = make_source(name, NoReader(), SourceOptions(base_url=url, per_second=1_000))
    made = {paper.title: paper for paper in server.library.papers}
    assert len(made) == len(server.library.papers)
    shown = hidden = 0

    async def search(unseen: Unseen, query: str) -> list[Paper]:
        found = await unseen.search(query, 10)
        cited = await unseen.search(query, 10, by="citations")
        snippets = await unseen.search_snippets(query, 10)
        return [*found.papers, *cited.papers, *(snippet.paper for snippet in snippets.snippets)]

    async def search_all() -> None:
        nonlocal shown, hidden
        for excerpt in server.library.excerpts[::5]:  # two of each kind
            source_paper = server.library.paper(excerpt.source)
            day = source_paper.day
            rule = HidingRule(
                own=Paper(id="-", title=source_paper.title.upper()),
                before=PublicationDate(year=day.year, month=day.month, day=day.day),
            )
            unseen = Unseen(source, rule)
            for query in (source_paper.title, excerpt.text.replace("[CITATION]", "")[:200]):
                papers = [made[paper.title] for paper in await search(unseen, query)]
                assert [paper.title for paper in papers if paper.id == source_paper.id or paper.day > day] == []
                shown += len(papers)
            hidden += sum(unseen.hidden.values())

    asyncio.run(search_all())
    assert shown > 50
    assert hidden > 10


OUTCOMES: dict[PdfFault | None, str] = {
    None: "full_text",
    "html": "not_a_pdf",
    "wrong_type": "not_a_pdf",
    "missing": "unreachable",
    "dead": "unreachable",
    "slow": "unreachable",
    "endless": "too_large",
    "too_large": "too_large",
    "truncated": "damaged",
    "many_pages": "too_large",
    "other_paper": "other_paper",
    "redirect": "full_text",
    "redirect_loop": "unreachable",
    "redirect_private": "unreachable",
    "redirect_link_local": "unreachable",
    "redirect_localhost": "unreachable",
    "redirect_elsewhere": "unreachable",
}


async def inner_names(host: str, port: int) -> Sequence[str]:
    """A name server by which every name is an address within."""
    return ["10.0.0.1" if host and port else ""]


def test_every_broken_link_is_an_outcome_and_the_library_stays_whole(server: LibraryServer, tmp_path: Path) -> None:
    assert OUTCOMES.keys() == {None, *PDF_FAULTS}
    fetcher = PdfFetcher(
        FetchLimits(bytes=3_000_000, seconds=2.0),
        allowed_hosts=[server.base_url.removeprefix("http://")],
        resolver=inner_names,
    )
    broken = dict(zip(OUTCOMES, (paper for paper in server.library.papers if paper.open_access), strict=False))

    async def read(library: PaperLibrary, paper: MadePaper) -> PaperText:
        options = SourceOptions(base_url=server.semantic_scholar_url, per_second=1_000)
        source = make_source("semantic-scholar", library, options)
        found = (await source.search(paper.title, 5)).papers
        return await source.read(next(one for one in found if one.title == paper.title))

    outcomes = {}
    with PaperLibrary(tmp_path / "papers", fetcher) as library:
        for fault, paper in broken.items():
            server.break_pdf(paper, fault)
            outcomes[fault] = asyncio.run(read(library, paper)).outcome
        server.clear_faults()
    assert outcomes == OUTCOMES
    assert check(tmp_path / "papers").damaged == ()
    with Collection.open(tmp_path / "papers") as collection:
        titles = {document.metadata["title"]: document.format for document in collection.documents()}
    assert titles == {
        paper.title: "pdf" if OUTCOMES[fault] == "full_text" else "markdown" for fault, paper in broken.items()
    }
