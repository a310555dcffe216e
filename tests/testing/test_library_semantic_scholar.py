"""The made library as Semantic Scholar's Graph API shows it, and scripted faults, over real HTTP."""

import threading
from collections.abc import Iterator
from datetime import date
from typing import Any

import httpx2
import pytest

from quoteweave.testing import LibraryServer, MadePaper, make_library

LIBRARY = make_library()
PAPER = LIBRARY.paper(str(LIBRARY.excerpts[0].target))
CLIENT = httpx2.Client()


@pytest.fixture(scope="module")
def shared() -> Iterator[LibraryServer]:
    with LibraryServer(LIBRARY, keys=["right"], bulk_size=7) as server:
        yield server


@pytest.fixture
def server(shared: LibraryServer) -> Iterator[LibraryServer]:
    yield shared
    shared.clear_faults()


def get(server: LibraryServer, path: str, **params: object) -> tuple[int, Any]:
    sent = {name: str(value) for name, value in params.items()}
    response = CLIENT.get(f"{server.semantic_scholar_url}{path}", params=sent)
    return response.status_code, response.json()


def found(server: LibraryServer, path: str = "/paper/search", **params: object) -> Any:
    status, body = get(server, path, **params)
    assert status == 200, body
    return body


def papers_of(data: list[dict[str, Any]]) -> list[MadePaper]:
    return [LIBRARY.paper(each["paperId"]) for each in data]


def test_without_fields_a_paper_has_its_id_and_title(server: LibraryServer) -> None:
    body = found(server, query=PAPER.title.replace("-", " "), limit=1)
    assert body["data"] == [{"paperId": PAPER.id, "title": PAPER.title}]
    assert (body["offset"], body["next"]) == (0, 1)


def test_a_paper_has_the_fields_asked_for(server: LibraryServer) -> None:
    fields = "title,abstract,year,publicationDate,venue,citationCount,externalIds,authors,openAccessPdf"
    body = found(server, f"/paper/{PAPER.id}", fields=fields)
    assert PAPER.published is not None
    assert (body["abstract"], body["year"]) == (PAPER.abstract, PAPER.published.year)
    assert (body["venue"], body["citationCount"]) == (PAPER.venue, PAPER.citations)
    assert body["publicationDate"] == str(PAPER.published)
    assert body["externalIds"]["CorpusId"] == PAPER.corpus_id
    assert [author["name"] for author in body["authors"]] == list(PAPER.authors)
    assert body["openAccessPdf"]["url"] == (server.pdf_url(PAPER) if PAPER.open_access else "")


def test_a_paper_without_an_open_file_has_an_empty_address(server: LibraryServer) -> None:
    closed = next(paper for paper in LIBRARY.papers if not paper.open_access)
    body = found(server, f"/paper/{closed.id}", fields="openAccessPdf")
    assert body["openAccessPdf"]["url"] == ""


def test_some_abstracts_are_not_known(server: LibraryServer) -> None:
    unknown = next(paper for paper in LIBRARY.papers if not paper.abstract_known)
    body = found(server, f"/paper/{unknown.id}", fields="abstract")
    assert body == {"paperId": unknown.id, "abstract": None}
    snippets = found(server, "/snippet/search", query=unknown.abstract, limit=1000)["data"]
    own = {each["snippet"]["snippetKind"] for each in snippets if each["paper"]["corpusId"] == str(unknown.corpus_id)}
    assert "title" in own
    assert "abstract" not in own


def test_pages_of_a_search_have_all_papers_once(server: LibraryServer) -> None:
    whole = found(server, query="coral reef", limit=100)
    pages, offset = list[str](), 0
    while offset is not None:
        body = found(server, query="coral reef", limit=7, offset=offset)
        pages += [paper["paperId"] for paper in body["data"]]
        assert body["total"] == whole["total"]
        offset = body.get("next")
    assert pages == [paper["paperId"] for paper in whole["data"]]
    assert len(pages) == whole["total"] == len(set(pages)) >= 20


def test_the_best_match_comes_first_and_nothing_gives_an_empty_page(server: LibraryServer) -> None:
    body = found(server, query="prolonged shading of staghorn coral", limit=3)
    assert all(paper.topic == "coral bleaching" for paper in papers_of(body["data"]))
    assert found(server, query="qwertyuiop") == {"total": 0, "offset": 0, "data": []}
    assert found(server, query="back-translation")["total"] == 0
    assert found(server, query="back translation")["total"] > 0


@pytest.mark.parametrize(
    ("path", "params", "error"),
    [
        ("/paper/search", {"query": "x", "fields": "title,rubbish,authors.shoe"}, "rubbish, authors.shoe"),
        ("/paper/search", {"query": "x", "limit": "101"}, "limit=101"),
        ("/paper/search", {"query": "x", "year": "2015-"}, "year=2015-"),
        ("/paper/search", {"query": "x", "publicationDateOrYear": ":2020-13"}, "publicationDateOrYear"),
        ("/paper/search", {"query": "x", "sort": "year"}, "sort=year"),
        ("/paper/search", {"query": "x", "offset": "950", "limit": "100"}, "not available"),
        ("/paper/search", {}, "query"),
        ("/paper/search/bulk", {"query": "x", "sort": "title"}, "sort=title"),
        ("/paper/search/bulk", {"query": "x", "sort": "citationCount:desc", "token": "shoe"}, "token"),
        ("/snippet/search", {"query": "x", "fields": "paper"}, "[paper]"),
    ],
)
def test_bad_parameters_are_refused(server: LibraryServer, path: str, params: dict[str, str], error: str) -> None:
    status, body = get(server, path, **params)
    assert status == 400
    assert error in body["error"]


def bulk(server: LibraryServer, **params: object) -> list[MadePaper]:
    """All papers that the bulk search finds, read by its tokens."""
    papers, token = list[MadePaper](), dict[str, str]()
    while True:
        body = found(server, "/paper/search/bulk", query="coral", sort="citationCount:desc", **params, **token)
        papers += papers_of(body["data"])
        if body["token"] is None:
            assert len({paper.id for paper in papers}) == body["total"]
            return papers
        assert len(body["data"]) == 7
        token = {"token": body["token"]}


def test_the_bulk_search_reads_on_by_its_token_the_most_cited_first(server: LibraryServer) -> None:
    counts = [paper.citations for paper in bulk(server)]
    assert counts == sorted(counts, reverse=True)
    assert len(counts) > 14


@pytest.mark.parametrize(
    ("name", "value", "last"),
    [
        ("year", "-2015", date(2015, 12, 31)),
        ("publicationDateOrYear", ":2019-02", date(2019, 2, 28)),
        ("publicationDateOrYear", ":2012-11-05", date(2012, 11, 5)),
    ],
)
def test_dates_are_filtered_and_a_year_counts_as_its_first_day(
    server: LibraryServer, name: str, value: str, last: date
) -> None:
    dates = [(paper, paper.published) for paper in bulk(server) if paper.published is not None]
    fits = [paper for paper, known in dates if date(known.year, known.month or 1, known.day or 1) <= last]
    assert bulk(server, **{name: value}) == fits


def test_other_filters(server: LibraryServer) -> None:
    openly = papers_of(found(server, query="effect", openAccessPdf="", fieldsOfStudy="Biology")["data"])
    assert {(paper.field, paper.open_access) for paper in openly} == {("Biology", True)}


def test_a_paper_is_found_by_its_ids(server: LibraryServer) -> None:
    paper = next(paper for paper in LIBRARY.papers if paper.arxiv and paper.doi)
    for name in (paper.id, f"CorpusId:{paper.corpus_id}", f"DOI:{paper.doi}", f"ARXIV:{paper.arxiv}"):
        assert found(server, f"/paper/{name}")["paperId"] == paper.id, name
    for name in ("DOI:10.1/none", "MAG:1", "0" * 40, paper.openalex):
        assert get(server, f"/paper/{name}") == (404, {"error": f"Paper with id {name} not found"})
    assert CLIENT.get(f"{server.base_url}/elsewhere").status_code == 404


def test_papers_are_described_in_batches(server: LibraryServer) -> None:
    url = f"{server.semantic_scholar_url}/paper/batch"
    response = CLIENT.post(url, params={"fields": "year"}, json={"ids": [f"CorpusId:{PAPER.corpus_id}", "MAG:1"]})
    assert PAPER.published is not None
    assert response.json() == [{"paperId": PAPER.id, "year": PAPER.published.year}, None]
    assert [CLIENT.post(url, json=body).status_code for body in ({"ids": ["x"] * 501}, {"ids": 3}, {})] == [400] * 3


def test_snippets_have_no_dates_and_are_of_full_texts_too(server: LibraryServer) -> None:
    excerpt = LIBRARY.excerpts[3]
    data = found(server, "/snippet/search", query=excerpt.text, limit=5)["data"]
    assert set(data[0]["paper"]) == {"corpusId", "title"}
    assert data[0]["paper"]["corpusId"] == str(LIBRARY.paper(excerpt.source).corpus_id)  # it is what is asked for
    assert (data[0]["snippet"]["snippetKind"], data[0]["snippet"]["section"]) == ("body", "Introduction")
    kinds = {
        each["snippet"]["snippetKind"] for each in found(server, "/snippet/search", query="coral", limit=300)["data"]
    }
    assert kinds == {"title", "abstract", "body"}


def test_snippets_are_filtered_by_date_where_that_is_asked_for_alone(server: LibraryServer) -> None:
    excerpt = next(each for each in LIBRARY.excerpts if LIBRARY.paper(each.later[0]).open_access)
    later = str(LIBRARY.paper(excerpt.later[0]).corpus_id)

    def ids(**params: str) -> set[str]:
        data = found(server, "/snippet/search", query=excerpt.text, limit=1000, **params)["data"]
        return {each["paper"]["corpusId"] for each in data}

    assert later in ids()
    assert later not in ids(year="-2020")
    assert ids(fields="snippet.text") == ids()


def test_no_key_and_the_right_key_are_taken_and_a_wrong_one_is_forbidden(server: LibraryServer) -> None:
    url = f"{server.semantic_scholar_url}/paper/{PAPER.id}"
    assert CLIENT.get(url).status_code == 200
    assert CLIENT.get(url, headers={"x-api-key": "right"}).status_code == 200
    wrong = CLIENT.get(url, headers={"x-api-key": "wrong"})
    assert (wrong.status_code, wrong.json()) == (403, {"message": "Forbidden"})


def test_scripted_errors_come_so_often_and_then_no_more(server: LibraryServer) -> None:
    server.fail("/graph/v1/paper/search*", 429, 2, retry_after=1.5)
    server.fail("/graph/v1/paper/search*", 503)
    url, params = f"{server.semantic_scholar_url}/paper/search", {"query": "coral"}
    responses = [CLIENT.get(url, params=params) for _ in range(4)]
    assert [response.status_code for response in responses] == [429, 429, 503, 200]
    assert [response.headers.get("retry-after") for response in responses] == ["1.5", "1.5", None, None]
    assert (set(responses[0].json()), responses[0].json()["code"]) == ({"message", "code"}, "429")
    assert CLIENT.get(f"{server.semantic_scholar_url}/paper/{PAPER.id}").status_code == 200


def test_a_request_waits_and_fails_as_scripted(server: LibraryServer) -> None:
    gate = server.hold("/graph/v1/*")
    gate.set()
    server.fail("/graph/v1/*", 500)
    server.fail("/graph/v1/*", 429)
    assert [get(server, f"/paper/{PAPER.id}")[0] for _ in range(3)] == [500, 429, 200]


def test_rubbish_and_broken_connections_are_scripted(server: LibraryServer) -> None:
    server.reply("/graph/v1/paper/search", b"<html>", kind="text/html")
    server.drop("/graph/v1/paper/search")
    url, params = f"{server.semantic_scholar_url}/paper/search", {"query": "coral"}
    assert CLIENT.get(url, params=params).text == "<html>"
    with pytest.raises(httpx2.TransportError):
        CLIENT.get(url, params=params)
    assert CLIENT.get(url, params=params).status_code == 200


def test_requests_wait_for_the_test(server: LibraryServer) -> None:
    gate, statuses = server.hold("/graph/v1/paper/*"), list[int]()
    threads = [threading.Thread(target=lambda: statuses.append(get(server, f"/paper/{PAPER.id}")[0])) for _ in range(3)]
    before = len(server.requests)
    for thread in threads:
        thread.start()
    while len(server.requests) < before + 3:
        threading.Event().wait(0.005)
    assert statuses == []
    gate.set()
    for thread in threads:
        thread.join()
    assert statuses == [200] * 3
