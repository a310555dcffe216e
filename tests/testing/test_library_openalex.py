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
    assert [BY_WORK[id].id for id in work["referenced_works"]] == list(PAPER.references)


def test_an_abstract_is_an_inverted_index(server: LibraryServer) -> None:
    index = found(server, f"/works/{PAPER.openalex}")["abstract_inverted_index"]
    placed = {place: word for word, places in index.items() for place in places}
    assert " ".join(placed[place] for place in sorted(placed)) == PAPER.abstract


def test_some_abstracts_are_not_known(server: LibraryServer) -> None:
    unknown = [paper for paper in LIBRARY.papers if not paper.abstract_known]
    work = found(server, f"/works/{unknown[0].openalex}", select="abstract_inverted_index")
    assert work == {"abstract_inverted_index": None}
    assert {paper.id for paper in works(server, filter="has_abstract:false")} == {paper.id for paper in unknown}


def test_open_access_works_have_a_location_and_others_none(server: LibraryServer) -> None:
    for is_open in (True, False):
        paper = next(each for each in LIBRARY.papers if each.open_access is is_open)
        work = found(server, f"/works/{paper.openalex}")
        assert work["open_access"]["is_oa"] is is_open
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


def test_every_form_of_id_finds_the_work(server: LibraryServer) -> None:
    paper = next(each for each in LIBRARY.papers if each.doi)
    names = [paper.openalex, paper.openalex.lower(), f"https://openalex.org/{paper.openalex}"]
    for name in [*names, f"doi:{paper.doi}", f"https://doi.org/{paper.doi}"]:
        assert found(server, f"/works/{name}", select="title") == {"title": paper.title}, name
    status, body = get(server, "/works/W9")
    assert (status, set(body)) == (404, {"error", "message"})


def test_the_id_of_a_merged_work_redirects_to_the_other(server: LibraryServer) -> None:
    assert len(server.merged_works) == 20
    old, new = next(iter(server.merged_works.items()))
    response = CLIENT.get(f"{server.openalex_url}/works/{old}", params={"select": "id"})
    assert (response.status_code, response.headers["location"]) == (301, f"{server.openalex_url}/works/{new}?select=id")
    assert CLIENT.get(response.headers["location"]).json() == {"id": f"https://openalex.org/{new}"}


def test_all_words_of_a_search_have_to_be_there(server: LibraryServer) -> None:
    both = works(server, search="staghorn shading")
    assert both
    for paper in both:
        text = f"{paper.title} {paper.known_abstract} {paper.full_text if paper.open_access else ''}".lower()
        assert "staghorn" in text
        assert "shad" in text
    either = works(server, search="staghorn OR shading")
    assert len(either) > len(both)
    assert {paper.id for paper in works(server, search="shading NOT staghorn")} == {
        paper.id for paper in works(server, search="shading")
    } - {paper.id for paper in both}
    assert works(server, search=LIBRARY.excerpts[0].text.replace("[CITATION]", "") + " qwertyuiop") == []


def test_a_search_ranks_titles_and_abstracts_and_gives_scores(server: LibraryServer) -> None:
    results = found(server, search="staghorn coral", per_page=50)["results"]
    scores = [work["relevance_score"] for work in results]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > 0
    assert "relevance_score" not in found(server, per_page=1)["results"][0]


@pytest.mark.parametrize("query", ["what is it?", "cor*"])
def test_wildcards_are_refused(server: LibraryServer, query: str) -> None:
    status, body = get(server, search=query)
    assert status == 400
    assert "Wildcards" in body["message"]


@pytest.mark.parametrize(
    ("written", "first", "last"),
    [
        ("publication_year:2015", date(2015, 1, 1), date(2015, 12, 31)),
        ("publication_year:>2021", date(2022, 1, 1), date.max),
        ("publication_year:<1990", date.min, date(1989, 12, 31)),
        ("publication_year:2010-2012", date(2010, 1, 1), date(2012, 12, 31)),
        ("to_publication_date:2019-12-31", date.min, date(2019, 12, 31)),
        ("from_publication_date:2021-05-01,to_publication_date:2022-03-01", date(2021, 5, 1), date(2022, 3, 1)),
    ],
)
def test_dates_are_filtered(server: LibraryServer, written: str, first: date, last: date) -> None:
    fits = {
        paper.id
        for paper in LIBRARY.papers
        if paper.published is not None
        and first <= date(paper.published.year, paper.published.month or 1, paper.published.day or 1) <= last
    }
    assert 0 < len(fits) < 500
    assert {paper.id for paper in works(server, filter=written)} == fits


def test_other_filters(server: LibraryServer) -> None:
    assert all(paper.open_access for paper in works(server, filter="open_access.is_oa:true"))
    assert all(paper.citations > 90 for paper in works(server, filter="cited_by_count:>90"))
    citing = {paper.id for paper in LIBRARY.papers if PAPER.id in paper.references}
    assert {paper.id for paper in works(server, filter=f"cites:{PAPER.openalex}")} == citing
    assert {paper.id for paper in works(server, filter=f"cited_by:{PAPER.openalex}")} == set(PAPER.references)
    two = [LIBRARY.papers[3], LIBRARY.papers[7]]
    assert works(server, filter=f"openalex:{two[0].openalex}|{two[1].openalex}", sort="display_name") == sorted(
        two, key=lambda paper: paper.title
    )
    titled = works(server, filter="title.search:staghorn,type:!article")
    assert all("staghorn" in paper.title.lower() and paper.role in ("survey", "resource") for paper in titled)
    fields = works(server, filter="primary_topic.field.id:17|fields/16")
    assert {paper.field for paper in fields} == {"Computer Science", "Chemistry"}
    doi = next(paper for paper in LIBRARY.papers if paper.doi)
    assert works(server, filter=f"doi:https://doi.org/{doi.doi}") == [doi]


def test_works_are_sorted(server: LibraryServer) -> None:
    counts = [paper.citations for paper in works(server, sort="cited_by_count:desc")]
    assert counts == sorted(counts, reverse=True)
    dates = [paper.published for paper in works(server, sort="publication_date")]
    years = [each.year for each in dates if each is not None]
    assert years == sorted(years)
    assert dates[-1] is None


def test_pages_and_cursors_give_all_works_once(server: LibraryServer) -> None:
    first = found(server, filter="publication_year:2015")
    assert (first["meta"]["page"], first["meta"]["per_page"], "next_cursor" in first["meta"]) == (1, 25, False)
    by_cursor = [paper.openalex for paper in works(server)]
    by_page = list[str]()
    for page in range(1, 6):
        by_page += [work["id"].rpartition("/")[2] for work in found(server, per_page=100, page=page)["results"]]
    assert by_page == by_cursor
    assert len(set(by_page)) == 500
    assert found(server, per_page=100, page=6)["results"] == []
    assert found(server, **{"per-page": 3})["meta"]["per_page"] == 3


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"per_page": "101"}, "between 1 and 100"),
        ({"page": "101", "per_page": "100"}, "10,000"),
        ({"page": "0"}, "page"),
        ({"cursor": "rubbish"}, "cursor"),
        ({"filter": "shoe_size:3"}, "shoe_size is not a valid field"),
        ({"filter": "publication_year:abc"}, "publication_year"),
        ({"filter": "rubbish"}, "rubbish"),
        ({"select": "id,shoe"}, "shoe is not a valid select field"),
        ({"sort": "shoe"}, "shoe"),
        ({"sort": "relevance_score:desc"}, "search query"),
        ({"search": "(coral"}, "cannot be read"),
        ({"query": "coral"}, "query"),
    ],
)
def test_bad_parameters_are_refused(server: LibraryServer, params: dict[str, str], message: str) -> None:
    status, body = get(server, **params)
    assert (status, set(body)) == (400, {"error", "message"})
    assert message in body["message"]


def test_a_wrong_key_is_refused_however_it_is_sent(server: LibraryServer) -> None:
    assert get(server, api_key="right")[0] == 200
    assert get(server, api_key="wrong")[0] == 401
    url = f"{server.openalex_url}/works"
    assert CLIENT.get(url, headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert CLIENT.get(url, headers={"Authorization": "Bearer right"}).status_code == 200


@pytest.mark.parametrize("status", [403, 429, 500])
def test_scripted_errors_have_the_form_of_the_service(server: LibraryServer, status: int) -> None:
    server.fail("/openalex/*", status, retry_after="3")
    response = CLIENT.get(f"{server.openalex_url}/works")
    assert (response.status_code, response.headers["retry-after"]) == (status, "3")
    assert set(response.json()) == {"error", "message"}
    assert get(server)[0] == 200
