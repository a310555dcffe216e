"""Semantic Scholar: what is asked of its API, how its replies are read, and what of them is not shown."""

import asyncio
from collections.abc import Sequence
from urllib.parse import parse_qsl

import httpx2
import pytest
from scripted_sources import NamingReader, Reply, Script, reply, search, titles

from quoteweave.attribution.literature.sources import semantic_scholar
from quoteweave.attribution.literature.sources.papers import FieldOfStudy, Paper, PapersFound, PublicationDate, SortBy
from quoteweave.attribution.literature.sources.semantic_scholar import SEMANTIC_SCHOLAR, SemanticScholar
from quoteweave.attribution.literature.sources.source_client import SourceLimits
from quoteweave.core.errors import SourceBadResponse, SourceRefused, UsageError

# As the API's documentation shows a paper, with fields that are not asked for.
SENT: dict[str, object] = {
    "paperId": "5c5751d45e298cea054f32b392c12c61027d2fe7",
    "corpusId": 215416146,
    "externalIds": {
        "MAG": "3015453090",
        "DBLP": "conf/acl/LoWNKW20",
        "ACL": "2020.acl-main.447",
        "DOI": "10.18653/V1/2020.ACL-MAIN.447",
        "ArXiv": None,
        "CorpusId": 215416146,
    },
    "url": "https://www.semanticscholar.org/paper/5c5751d45e298cea054f32b392c12c61027d2fe7",
    "title": "Construction of the Literature Graph in Semantic Scholar",
    "abstract": "We describe a deployed scalable system.",
    "venue": "Annual Meeting of the Association for Computational Linguistics",
    "year": 2020,
    "citationCount": 453,
    "isOpenAccess": True,
    "openAccessPdf": {"url": "https://www.aclweb.org/anthology/2020.acl-main.447.pdf", "status": "HYBRID"},
    "publicationDate": "2020-07-01",
    "authors": [{"authorId": "1741101", "name": "Oren Etzioni"}, {"authorId": None, "name": None}],
    "tldr": None,
}
BARE: dict[str, object] = {
    "paperId": "b" * 40,
    "externalIds": {},
    "url": None,
    "title": "Ships",
    "abstract": None,
    "venue": "",
    "year": None,
    "citationCount": None,
    "openAccessPdf": None,
    "publicationDate": None,
    "authors": [],
}


def paper(number: int, date: str | None = "2020-05-01", year: int | None = 2020) -> dict[str, object]:
    return {"paperId": f"p{number}", "title": f"Paper {number}", "publicationDate": date, "year": year}


def page(papers: Sequence[object], following: int | None = None, **more: object) -> httpx2.Response:
    return reply(
        {"total": 9999, "offset": 0, "data": papers} | ({} if following is None else {"next": following}) | more
    )


def source(
    *replies: Reply, open_access_only: bool = False, field: FieldOfStudy | None = None
) -> tuple[SemanticScholar, Script]:
    script = Script(*replies)
    client = script.client(SEMANTIC_SCHOLAR, limits=SourceLimits(per_second=1000))
    return SemanticScholar(client, NamingReader(), open_access_only=open_access_only, field=field), script


def test_a_paper_is_read_as_the_api_documents_it() -> None:
    scholar, _ = source(page([SENT, BARE]))
    full, bare = search(scholar).papers
    assert full == Paper(
        id="5c5751d45e298cea054f32b392c12c61027d2fe7",
        title="Construction of the Literature Graph in Semantic Scholar",
        abstract="We describe a deployed scalable system.",
        authors=("Oren Etzioni",),
        published=PublicationDate(year=2020, month=7, day=1),
        venue="Annual Meeting of the Association for Computational Linguistics",
        citations=453,
        identifiers={
            "mag": "3015453090",
            "dblp": "conf/acl/LoWNKW20",
            "acl": "2020.acl-main.447",
            "doi": "10.18653/v1/2020.acl-main.447",
            "corpus_id": "215416146",
            "semantic_scholar": "5c5751d45e298cea054f32b392c12c61027d2fe7",
        },
        url="https://www.semanticscholar.org/paper/5c5751d45e298cea054f32b392c12c61027d2fe7",
        pdf_url="https://www.aclweb.org/anthology/2020.acl-main.447.pdf",
    )
    assert bare == Paper(id="b" * 40, title="Ships", identifiers={"semantic_scholar": "b" * 40})


@pytest.mark.parametrize("open_access", [None, {"url": "", "status": "CLOSED"}, {"url": None, "status": None}])
def test_a_paper_without_an_open_access_file_has_no_link(open_access: object) -> None:
    scholar, _ = source(page([{**SENT, "openAccessPdf": open_access}]))
    assert search(scholar).papers[0].pdf_url is None


@pytest.mark.parametrize(
    ("number", "file"),
    [
        ("2407.12861", "https://arxiv.org/pdf/2407.12861"),
        ("cs/0112017", "https://arxiv.org/pdf/cs/0112017"),
        ("math.GT/0309136v2", "https://arxiv.org/pdf/math.GT/0309136v2"),
        ("../admin?x=", None),
        ("", None),
    ],
)
def test_a_paper_that_arxiv_has_is_read_there_where_no_other_address_is_given(number: str, file: str | None) -> None:
    ids = {"ArXiv": number}
    scholar, _ = source(
        page([{**SENT, "externalIds": ids, "openAccessPdf": {"url": ""}}, {**SENT, "externalIds": ids}])
    )
    assert search(scholar).papers[0].pdf_url == file
    scholar, _ = source(page([{**SENT, "externalIds": ids}]))
    assert search(scholar).papers[0].pdf_url == "https://www.aclweb.org/anthology/2020.acl-main.447.pdf"


def test_the_search_by_relevance_asks_as_documented() -> None:
    scholar, script = source(page([SENT]))
    search(scholar, "multi-hop ships", 7)
    assert script.asked[0].method == "GET"
    assert script.asked[0].url.path == "/graph/v1/paper/search"
    params = script.params()
    fields = params.pop("fields").split(",")
    assert params == {"query": "multi hop ships", "limit": "7", "offset": "0"}
    assert set(fields) <= set(SENT)
    assert {"abstract", "citationCount", "externalIds", "openAccessPdf", "publicationDate", "year"} <= set(fields)


@pytest.mark.parametrize(
    ("before", "sent"),
    [
        ("2023", {"year": "-2023"}),
        ("2023-05", {"publicationDateOrYear": ":2023-05"}),
        ("2023-05-09", {"publicationDateOrYear": ":2023-05-09"}),
    ],
)
def test_a_limit_of_dates_is_sent_in_every_search(before: str, sent: dict[str, str]) -> None:
    for by in ("relevance", "citations"):
        scholar, script = source(page([]))
        search(scholar, by=by, before=before)
        assert {name: script.params().get(name) for name in sent} == sent
    scholar, script = source(reply({"data": []}))
    asyncio.run(scholar.search_snippets("ships", before=PublicationDate.parse(before)))
    assert {name: script.params().get(name) for name in sent} == sent


def test_papers_without_an_open_access_file_can_be_left_out_at_the_source() -> None:
    scholar, script = source(page([]), open_access_only=True)
    search(scholar)
    assert script.params()["openAccessPdf"] == ""
    scholar, script = source(page([]))
    search(scholar)
    assert "openAccessPdf" not in script.params()


@pytest.mark.parametrize("by", ["relevance", "citations"])
def test_papers_of_other_fields_can_be_left_out_at_the_source(by: SortBy) -> None:
    scholar, script = source(page([]), reply({"data": []}), field="Computer Science")
    search(scholar, by=by)
    asyncio.run(scholar.search_snippets("ships"))
    assert [dict(parse_qsl(one.url.query.decode()))["fieldsOfStudy"] for one in script.asked] == [
        "Computer Science"
    ] * 2


def test_what_is_published_later_or_at_no_known_date_is_never_shown_and_counted() -> None:
    sent = [
        paper(1, "2023-05-09", 2023),
        paper(2, "2023-05-10", 2023),
        paper(3, None, 2023),  # some time in that year
        paper(4, None, None),
        paper(5, None, 2022),
        paper(6, "soon", None),
        paper(7, "2022-01-01", 2024),  # the later of the two counts
        paper(8, "2024-01-01", 2022),
    ]
    scholar, _ = source(page(sent))
    found = search(scholar, before="2023-05-09")
    assert titles(found.papers) == ["Paper 1", "Paper 5"]
    assert found.notes == (
        "Left out: 4 papers that may have been published after 2023-05-09.",
        "Left out: 2 papers of unknown date.",
    )
    scholar, _ = source(page(sent))
    assert len(search(scholar).papers) == 8


def test_pages_are_turned_until_enough_papers_are_found() -> None:
    late, good = [paper(n, "2024-01-01") for n in range(6)], [paper(n) for n in range(10, 20)]
    scholar, script = source(page(late, following=6), page(good, following=16))
    found = search(scholar, k=3, before="2020")
    assert titles(found.papers) == ["Paper 10", "Paper 11", "Paper 12"]
    assert [(script.params(n)["offset"], script.params(n)["limit"]) for n in range(2)] == [("0", "6"), ("6", "100")]


def test_pages_end_where_the_source_has_no_more_or_turns_in_a_circle() -> None:
    scholar, script = source(page([paper(1)]))
    assert len(search(scholar).papers) == 1
    assert len(script.asked) == 1
    scholar, script = source(page([paper(1)], following=10), page([paper(1), paper(2)], following=10))
    assert titles(search(scholar).papers) == ["Paper 1", "Paper 2"]
    assert len(script.asked) == 2


def test_a_next_page_that_the_source_does_not_have_ends_the_list() -> None:
    refused = {"error": "Requested data for this limit and/or offset is not available"}
    scholar, script = source(page([paper(1)], following=10), reply(refused, 400), reply(refused, 400))
    assert titles(search(scholar).papers) == ["Paper 1"]
    assert len(script.asked) == 2
    with pytest.raises(SourceRefused, match="is not available"):
        search(scholar)


def test_no_more_is_asked_for_than_the_source_ranks() -> None:
    script_pages = [page([paper(0)], following=start) for start in range(100, 1100, 100)]
    scholar, script = source(*script_pages)
    assert search(scholar, k=5000).notes == ("Only the first 10 papers that it found were looked at.",)
    sent = [(int(script.params(n)["offset"]), int(script.params(n)["limit"])) for n in range(len(script.asked))]
    assert sent[0] == (0, 100)
    assert max(offset + limit for offset, limit in sent) == 999


def test_the_search_by_citations_is_sorted_by_them_and_goes_on_by_its_token() -> None:
    scholar, script = source(page([paper(1)], token="TOKEN"), page([paper(2)], token=None))
    assert titles(search(scholar, '"ship | boats" -canoe fish*', by="citations").papers) == ["Paper 1", "Paper 2"]
    assert [request.url.path for request in script.asked] == ["/graph/v1/paper/search/bulk"] * 2
    assert script.params(0)["sort"] == "citationCount:desc"
    assert script.params(0)["query"] == "ship boats canoe fish"
    assert "token" not in script.params(0)
    assert "limit" not in script.params(0)
    assert script.params(1)["token"] == "TOKEN"


def test_a_search_by_citations_does_not_follow_tokens_for_ever() -> None:
    scholar, script = source(*(page([paper(n)], token="T") for n in range(9)))
    found = search(scholar, k=100, by="citations")
    assert len(found.papers) == len(script.asked) == 5
    assert found.notes == ("Only the first 5 papers that it found were looked at.",)


@pytest.mark.parametrize("nothing", [{"total": 0, "offset": 0}, {"total": 0, "offset": 0, "data": []}, {"data": []}])
def test_nothing_found_is_no_error(nothing: object) -> None:
    scholar, _ = source(reply(nothing))
    assert search(scholar) == PapersFound(papers=())


@pytest.mark.parametrize(
    "bad",
    [
        {**SENT, "paperId": None},
        {**SENT, "paperId": ""},
        {**SENT, "title": None},
        {**SENT, "title": {"text": "x"}},
        {**SENT, "citationCount": -1},
        {**SENT, "year": "MMXX"},
        {**SENT, "authors": "Etzioni"},
        {**SENT, "externalIds": []},
        {**SENT, "openAccessPdf": "https://x"},
        None,
        7,
        [],
    ],
)
def test_one_bad_paper_amid_good_ones_is_left_out_and_counted(bad: object) -> None:
    scholar, _ = source(page([paper(1), bad, paper(2)]))
    found = search(scholar)
    assert titles(found.papers) == ["Paper 1", "Paper 2"]
    (note,) = found.notes
    assert note.startswith("Left out: 1 paper whose description cannot be read (")


@pytest.mark.parametrize(
    "rubbish", [{"total": 3}, {"data": {}}, {"total": 2, "data": [{}, {}]}, {"message": "none"}, [], "data", None]
)
def test_rubbish_is_no_result(rubbish: object) -> None:
    scholar, _ = source(reply(rubbish))
    with pytest.raises(SourceBadResponse, match="other than Semantic Scholar documents"):
        search(scholar)


@pytest.mark.parametrize("query", ["", "  \n", '"*" -'])
def test_a_query_without_a_word_asks_nothing_and_says_so(query: str) -> None:
    scholar, script = source()
    assert search(scholar, query).notes == ("The query holds no word, so that nothing was searched for.",)
    assert asyncio.run(scholar.search_snippets(query)).snippets == ()
    assert script.asked == []


def test_an_endless_query_is_cut_and_a_broken_one_can_be_sent() -> None:
    scholar, script = source(page([]), page([]), page([]))
    found = search(scholar, "many words " * 50_000)
    assert found.notes == ("The query is longer than a source takes; its first 1495 characters were searched for.",)
    search(scholar, "論文" * 5000)  # written without spaces
    assert script.params()["query"] == "論文" * 83
    search(scholar, "half \ud800 a character")
    assert all(len(str(request.url)) < 2000 for request in script.asked)


def test_no_result_at_all_cannot_be_asked_for() -> None:
    scholar, _ = source()
    for ask in (scholar.search, scholar.search_snippets):
        with pytest.raises(UsageError, match="k is 0; ask for 1"):
            asyncio.run(ask("ships", 0))


def passage(corpus_id: object, text: str, section: str | None = "Results", kind: str = "body") -> dict[str, object]:
    snippet = {"text": text, "snippetKind": kind, "section": section}
    return {"snippet": snippet, "score": 0.5, "paper": {"corpusId": corpus_id, "title": "As the passage names it"}}


def test_passages_are_shown_with_their_papers_as_these_are_described() -> None:
    found = reply(
        {
            "data": [
                passage("11", "Ships sail."),
                passage("22", "Boats row.", None, "abstract"),
                passage("11", "Ships sink.", "Losses"),
            ],
            "retrievalVersion": "x",
        }
    )
    scholar, script = source(found, reply([paper(1), paper(2)]))
    snippets = asyncio.run(scholar.search_snippets("ships that sail")).snippets
    assert [(one.paper.title, one.text, one.section) for one in snippets] == [
        ("Paper 1", "Ships sail.", "Results"),
        ("Paper 2", "Boats row.", "abstract"),
        ("Paper 1", "Ships sink.", "Losses"),
    ]
    assert script.asked[0].url.path == "/graph/v1/snippet/search"
    assert script.params(0) == {
        "query": "ships that sail",
        "limit": "10",
        "fields": "snippet.text,snippet.section,snippet.snippetKind",
    }
    assert (script.asked[1].method, script.asked[1].url.path) == ("POST", "/graph/v1/paper/batch")
    assert script.asked[1].content == b'{"ids":["CorpusId:11","CorpusId:22"]}'


def test_passages_of_papers_published_later_are_not_shown_whatever_the_source_sends() -> None:
    found = reply({"data": [passage(n, f"Text {n}.") for n in (1, 2, 3, 4, 5)]})
    described = reply([paper(1), paper(2, "2024-02-02", 2024), None, {"paperId": 5}, paper(5, None, None)])
    scholar, _ = source(found, described)
    shown = asyncio.run(scholar.search_snippets("ships", before=PublicationDate(year=2023)))
    assert [one.text for one in shown.snippets] == ["Text 1."]
    assert shown.notes == (
        "Left out: 1 paper that may have been published after 2023.",
        "Left out: 2 papers of unknown date.",
        "Left out: 1 paper whose description cannot be read (paperId: Input should be a valid string).",
    )


def test_that_no_more_passages_are_sent_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(semantic_scholar, "MAX_SNIPPETS", 2)
    scholar, _ = source(reply({"data": [passage(n, f"Text {n}.") for n in (1, 2)]}), reply([paper(1), paper(2)]))
    shown = asyncio.run(scholar.search_snippets("ships", 3))
    assert shown.notes == ("Only the first 2 passages that it found were looked at.",)


def test_a_passage_of_a_paper_that_is_not_described_has_its_title_alone() -> None:
    scholar, _ = source(reply({"data": [passage("11", "Ships sail.")]}), reply([None]))
    (one,) = asyncio.run(scholar.search_snippets("ships")).snippets
    assert one.paper == Paper(id="CorpusId:11", title="As the passage names it")


def test_one_bad_passage_is_left_out_and_counted() -> None:
    bad = {"snippet": {"text": None}, "paper": {"corpusId": "3"}}
    scholar, _ = source(reply({"data": [bad, passage("1", "Ships sail.")]}), reply([paper(1)]))
    shown = asyncio.run(scholar.search_snippets("ships"))
    assert len(shown.snippets) == 1
    assert shown.notes == ("Left out: 1 passage that cannot be read (snippet.text: Input should be a valid string).",)


@pytest.mark.parametrize(
    "replies",
    [[{"total": 0}], [{"data": [{}]}], [{"data": [passage("1", "x")]}, []], [{"data": [passage("1", "x")]}, {}]],
)
def test_rubbish_in_place_of_passages_is_no_result(replies: list[object]) -> None:
    scholar, _ = source(*map(reply, replies))
    with pytest.raises(SourceBadResponse):
        asyncio.run(scholar.search_snippets("ships"))


def test_reading_is_left_to_the_reader() -> None:
    scholar, _ = source()
    assert asyncio.run(scholar.read(Paper(id="1", title="Ships"))).text == "Ships"
