"""Searches sent before the code that reads papers is imported give the same results, and are not sent again."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_sources import library_options

from quoteweave.attribution.literature.asked_ahead import ask_ahead
from quoteweave.attribution.literature.opening import open_literature
from quoteweave.attribution.literature.sources.make_source import SourceName
from quoteweave.attribution.literature.sources.papers import Paper, PublicationDate
from quoteweave.attribution.records import Attribution
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.errors import SourceRefused, UsageError
from quoteweave.testing import LibraryServer

SEARCHES = ("snippet/search", "paper/batch", "paper/search", "works")


@pytest.fixture
def server(library_server: LibraryServer) -> Iterator[LibraryServer]:
    library_server.requests.clear()
    yield library_server
    library_server.clear_faults()


def paths(server: LibraryServer) -> list[str]:
    """What was searched for so far."""
    asked = [request.path.partition("?")[0] for request in server.requests]
    return [next(name for name in SEARCHES if path.endswith(name)) for path in asked if path.endswith(SEARCHES)]


def attribute(server: LibraryServer, folder: Path, name: SourceName, *, ahead: bool) -> tuple[Attribution, ...]:
    excerpt = server.library.excerpts[0]
    own = server.library.paper(excerpt.source)
    before = PublicationDate.parse(str(own.published))
    paced = library_options(server)
    with ask_ahead(
        [name], excerpt.text if ahead else "Two. Claims.", before=before, not_from=own.title, options=paced
    ) as asked:
        opened = open_literature(
            asked if ahead else [name], papers=folder, before=before, not_from=own.title, options=paced
        )
        with opened as literature:
            return run_sync(literature.attribute(excerpt.text))


@pytest.mark.parametrize("name", ["semantic-scholar", "openalex"])
def test_what_is_asked_ahead_is_found_as_without_and_asked_once(
    server: LibraryServer, tmp_path: Path, name: SourceName
) -> None:
    (plain,) = attribute(server, tmp_path / "plain", name, ahead=False)
    asked = paths(server)
    server.requests.clear()
    (ahead,) = attribute(server, tmp_path / "ahead", name, ahead=True)
    assert sorted(paths(server)) == sorted(asked)
    titles = [(one.title, one.passage, one.outcome) for one in ahead.candidates]
    assert titles == [(one.title, one.passage, one.outcome) for one in plain.candidates]
    assert ahead.trace.notes == plain.trace.notes, "of what is hidden, too"


def test_more_papers_are_asked_for_where_more_candidates_are_wanted(server: LibraryServer, tmp_path: Path) -> None:
    text = server.library.excerpts[0].text
    with ask_ahead(["openalex"], text, 90, options=library_options(server)) as asked:
        opened = open_literature(asked, papers=tmp_path, options=library_options(server))
        with opened as literature:
            run_sync(literature.attribute(text, 90))
    pages = [request.params["per_page"] for request in server.requests if "search" in request.params]
    assert pages[0] == "90"
    assert set(pages) <= {"90", "100"}, "further pages are as large as can be"


def test_a_service_is_asked_before_the_literature_is_opened(server: LibraryServer) -> None:
    held = server.hold("/graph/v1/snippet/search")
    with ask_ahead(["semantic-scholar"], "Blur fools networks.", options=library_options(server)) as (asked,):
        assert run_sync(first_request(server)) == "snippet/search"
        held.set()
        found = run_sync(asked.search_snippets("Blur fools networks.", 20))
    assert found.snippets
    assert paths(server).count("snippet/search") == 1


async def first_request(server: LibraryServer) -> str:
    while not (asked := paths(server)):  # noqa: ASYNC110 - the server has no event
        await asyncio.sleep(0)
    return asked[0]


def test_nothing_is_asked_for_several_claims_and_a_text_without_words_is_refused(server: LibraryServer) -> None:
    with ask_ahead(["openalex"], "Blur fools networks [1]. Fog does not [2].", options=library_options(server)):
        pass
    with pytest.raises(UsageError, match="no words"), ask_ahead(["openalex"], "…", options=library_options(server)):
        pass
    assert paths(server) == []


def test_an_error_is_that_of_the_first_asking(server: LibraryServer, tmp_path: Path) -> None:
    server.fail("/openalex/works", 400, None)
    with pytest.raises(SourceRefused, match="400"):
        attribute(server, tmp_path / "ahead", "openalex", ahead=True)
    # Of the searches that are sent side by side, the first that fails may end the others before they are sent.
    asked = [(request.path, tuple(request.params.items())) for request in server.requests]
    assert asked
    assert len(asked) == len(set(asked)), "what has failed is not asked again"


def test_papers_are_read_by_the_library_that_is_opened(server: LibraryServer, tmp_path: Path) -> None:
    with (
        ask_ahead(["openalex"], "Two claims. Of two.", options=library_options(server)) as (asked,),
        open_literature([asked], papers=tmp_path / "papers"),
    ):
        paper = Paper(id="W1", title="Grain by rail", abstract="It went.")
        assert run_sync(asked.read(paper)).outcome == "not_open_access"


def test_a_search_that_is_under_way_ends_with_the_block(server: LibraryServer) -> None:
    held = server.hold("/openalex/works")
    with ask_ahead(["openalex"], "Blur fools networks.", options=library_options(server)):
        run_sync(first_request(server))
    held.set()
    assert len(paths(server)) == 1
