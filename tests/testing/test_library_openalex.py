"""The made library as OpenAlex shows it, over real HTTP."""

from collections.abc import Iterator
from datetime import date
from typing import Any

import httpx2
import pytest

from quoteweave.testing import LibraryServer, MadePaper, make_library

LIBRARY = make_library()
PAPER = LIBRARY.paper(str(LIBRARY.excerpts[0].target))
BY_WORK = {f"https://openalex.org/{paper.openalex}": paper for paper in LIBRARY.papers}
CLIENT = httpx2.Client()


@pytest.fixture(scope="module")
def shared() -> Iterator[LibraryServer]:
    with LibraryServer(LIBRARY, keys=["right"]) as server:
        yield server


@pytest.fixture
def server(shared: LibraryServer) -> Iterator[LibraryServer]:
    yield shared
    shared.clear_faults()


def get(server: LibraryServer, path: str = "/works", /, **params: object) -> tuple[int, Any]:
    sent = {name: str(value) for name, value in params.items()}
    response = CLIENT.get(f"{server.openalex_url}{path}", params=sent)
    return response.status_code, response.json()


def found(server: LibraryServer, path: str = "/works", /, **params: object) -> Any:
    status, body = get(server, path, **params)
    assert status == 200, body
    return body


def works(server: LibraryServer, **params: object) -> list[MadePaper]:
    """All works that are found, read by cursors."""
    papers, cursor = list[MadePaper](), "*"
    while cursor is not None:
        body = found(server, per_page=100, cursor=cursor, select="id", **params)
        papers += [BY_WORK[work["id"]] for work in body["results"]]
        cursor = body["meta"]["next_cursor"]
    assert len(papers) == body["meta"]["count"]
    return papers


def test_a_work_has_its_fields(server: LibraryServer) -> None:
    work = found(server, f"/works/{PAPER.openalex}")
    assert PAPER.published is not None
    assert (work["id"], work["title"]) == (f"https://openalex.org/{PAPER.openalex}", PAPER.title)
    assert (work["publication_year"], work["publication_date"]) == (PAPER.published.year, str(PAPER.published))
    assert work["cited_by_count"] == PAPER.citations
    assert [each["author"]["display_name"] for each in work["authorships"]] == list(PAPER.authors)
    assert work["primary_location"]["source"]["display_name"] == PAPER.venue


def test_an_abstract_is_an_inverted_index(server: LibraryServer) -> None:
    index = found(server, f"/works/{PAPER.openalex}")["abstract_inverted_index"]
    placed = {place: word for word, places in index.items() for place in places}
    assert " ".join(placed[place] for place in sorted(placed)) == PAPER.abstract


def test_some_abstracts_are_not_known(server: LibraryServer) -> None:
    unknown = next(paper for paper in LIBRARY.papers if not paper.abstract_known)
    work = found(server, f"/works/{unknown.openalex}", select="abstract_inverted_index")
    assert work == {"abstract_inverted_index": None}


def test_open_access_works_have_a_location_and_others_none(server: LibraryServer) -> None:
    for is_open in (True, False):
        paper = next(each for each in LIBRARY.papers if each.open_access is is_open)
        work = found(server, f"/works/{paper.openalex}")
        if is_open:
            assert work["best_oa_location"]["pdf_url"] == server.pdf_url(paper)
        else:
            assert work["best_oa_location"] is None


def test_a_year_alone_is_the_first_of_january(server: LibraryServer) -> None:
    for paper in LIBRARY.papers:
        if paper.published is not None and paper.published.month is None:
            work = found(server, f"/works/{paper.openalex}", select="publication_date")
            assert work == {"publication_date": f"{paper.published.year}-01-01"}
            break
    unknown = next(paper for paper in LIBRARY.papers if paper.published is None)
    assert found(server, f"/works/{unknown.openalex}", select="publication_year") == {"publication_year": None}


def test_all_words_of_a_search_have_to_be_there(server: LibraryServer) -> None:
    both = works(server, search="staghorn shading")
    assert both
    for paper in both:
        text = f"{paper.title} {paper.known_abstract} {paper.full_text if paper.open_access else ''}".lower()
        assert "staghorn" in text
        assert "shad" in text
    either = works(server, search="staghorn OR shading")
    assert len(either) > len(both)
    assert works(server, search=LIBRARY.excerpts[0].text.replace("[CITATION]", "") + " qwertyuiop") == []


@pytest.mark.parametrize("query", ["what is it?", "cor*"])
def test_wildcards_are_refused(server: LibraryServer, query: str) -> None:
    status, body = get(server, search=query)
    assert status == 400
    assert "Wildcards" in body["message"]


def test_works_are_filtered(server: LibraryServer) -> None:
    last = date(2019, 12, 31)
    dates = [(paper.id, paper.published) for paper in LIBRARY.papers if paper.published is not None]
    fits = {id for id, known in dates if date(known.year, known.month or 1, known.day or 1) <= last}
    assert {paper.id for paper in works(server, filter=f"to_publication_date:{last}")} == fits
    both = works(server, filter="is_oa:true,primary_topic.field.id:17|16")
    assert {paper.field for paper in both} == {"Computer Science", "Chemistry"}
    assert all(paper.open_access for paper in both)


def test_cursors_give_all_works_once_the_most_cited_first(server: LibraryServer) -> None:
    papers = works(server)
    assert len({paper.id for paper in papers}) == 500
    counts = [paper.citations for paper in papers]
    assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"per_page": "101"}, "between 1 and 100"),
        ({"filter": "shoe_size:3"}, "shoe_size"),
        ({"filter": "to_publication_date:abc"}, "to_publication_date"),
        ({"select": "id,shoe"}, "shoe is not a valid select field"),
        ({"sort": "shoe"}, "shoe"),
        ({"cursor": "shoe"}, "shoe"),
        ({"query": "coral"}, "query"),
    ],
)
def test_bad_parameters_are_refused(server: LibraryServer, params: dict[str, str], message: str) -> None:
    status, body = get(server, **params)
    assert (status, set(body)) == (400, {"error", "message"})
    assert message in body["message"]


def test_a_work_that_is_not_there_and_a_wrong_key(server: LibraryServer) -> None:
    assert get(server, "/works/W9")[0] == 404
    assert get(server, api_key="right")[0] == 200
    assert get(server, api_key="wrong")[0] == 401


@pytest.mark.parametrize("status", [403, 429, 500])
def test_scripted_errors_have_the_form_of_the_service(server: LibraryServer, status: int) -> None:
    server.fail("/openalex/*", status, retry_after="3")
    response = CLIENT.get(f"{server.openalex_url}/works")
    assert (response.status_code, response.headers["retry-after"]) == (status, "3")
    assert set(response.json()) == {"error", "message"}
    assert get(server)[0] == 200
