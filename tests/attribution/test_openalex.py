"""OpenAlex: what is asked of its API, how its replies are read, and what of them is not shown."""

import asyncio
from collections.abc import Sequence

import httpx2
import pytest
from scripted_sources import NamingReader, Reply, Script, reply, search, titles

from quoteweave.attribution.literature.sources.openalex import OPENALEX, OpenAlex
from quoteweave.attribution.literature.sources.papers import FieldOfStudy, Paper, PapersFound, PublicationDate, SortBy
from quoteweave.attribution.literature.sources.source_client import SourceLimits
from quoteweave.core.errors import SourceBadResponse, UsageError

# As the API's documentation shows a work, with fields that are not asked for.
SENT: dict[str, object] = {
    "id": "https://openalex.org/W2741809807",
    "doi": "https://doi.org/10.7717/PeerJ.4375",
    "title": "The state of <i>OA</i>:\n a large-scale analysis &amp; more",
    "display_name": "The state of OA",
    "relevance_score": 9.5,
    "publication_year": 2018,
    "publication_date": "2018-02-13",
    "ids": {
        "openalex": "https://openalex.org/W2741809807",
        "doi": "https://doi.org/10.7717/peerj.4375",
        "mag": 2741809807,
        "pmid": "https://pubmed.ncbi.nlm.nih.gov/29456894",
        "pmcid": None,
    },
    "cited_by_count": 382,
    "authorships": [
        {"author_position": "first", "author": {"id": "https://openalex.org/A1", "display_name": "Heather Piwowar"}},
        {"author": {"id": None, "display_name": None}, "raw_author_name": "Priem, J."},
        {"author": None},
    ],
    "primary_location": {
        "is_oa": True,
        "landing_page_url": "https://doi.org/10.7717/peerj.4375",
        "pdf_url": "https://peerj.com/articles/4375.pdf",
        "source": {"id": "https://openalex.org/S1983995261", "display_name": "PeerJ"},
    },
    "best_oa_location": {"is_oa": True, "landing_page_url": "https://arxiv.org/abs/1801.00001v2", "pdf_url": None},
    "abstract_inverted_index": {"Despite": [0], "growing": [1], "interest": [2, 5], "in": [3], "Open": [4]},
}
BARE: dict[str, object] = {
    "id": "https://openalex.org/W1",
    "title": "Ships",
    "doi": None,
    "ids": None,
    "publication_date": None,
    "publication_year": None,
    "cited_by_count": None,
    "authorships": None,
    "primary_location": {"is_oa": False, "pdf_url": "https://closed.example/x.pdf", "source": None},
    "best_oa_location": None,
    "abstract_inverted_index": None,
}


def work(number: int, date: str | None = "2020-05-02", year: int | None = 2020) -> dict[str, object]:
    return {"id": f"https://openalex.org/W{number}", "title": f"Work {number}", "publication_date": date} | {
        "publication_year": year
    }


def page(works: Sequence[object], cursor: str | None = None) -> httpx2.Response:
    return reply({"meta": {"count": 9, "per_page": 25, "page": None, "next_cursor": cursor}, "results": works})


def source(
    *replies: Reply, open_access_only: bool = False, field: FieldOfStudy | None = None
) -> tuple[OpenAlex, Script]:
    script = Script(*replies)
    client = script.client(OPENALEX, limits=SourceLimits(per_second=1000))
    return OpenAlex(client, NamingReader(), open_access_only=open_access_only, field=field), script


def test_a_work_is_read_as_the_api_documents_it() -> None:
    alex, _ = source(page([SENT, BARE]))
    full, bare = search(alex).papers
    assert full == Paper(
        id="W2741809807",
        title="The state of OA: a large-scale analysis & more",
        abstract="Despite growing interest in Open interest",
        authors=("Heather Piwowar", "Priem, J."),
        published=PublicationDate(year=2018, month=2, day=13),
        venue="PeerJ",
        citations=382,
        identifiers={
            "doi": "10.7717/peerj.4375",
            "arxiv": "1801.00001",
            "pubmed": "29456894",
            "mag": "2741809807",
            "openalex": "W2741809807",
        },
        url="https://openalex.org/W2741809807",
        pdf_url="https://peerj.com/articles/4375.pdf",
    )
    assert bare == Paper(id="W1", title="Ships", identifiers={"openalex": "W1"}, url="https://openalex.org/W1")


def test_the_number_of_arxiv_is_read_of_its_doi() -> None:
    alex, _ = source(page([{**BARE, "doi": "https://doi.org/10.48550/arXiv.2407.12861"}]))
    (paper,) = search(alex).papers
    assert paper.identifiers["arxiv"] == "2407.12861"
    assert paper.pdf_url == "https://arxiv.org/pdf/2407.12861"  # as no other is given


def test_the_best_open_access_copy_is_linked() -> None:
    best = {"is_oa": True, "pdf_url": "https://arxiv.org/pdf/1801.00001"}
    alex, _ = source(page([{**SENT, "best_oa_location": best}]))
    assert search(alex).papers[0].pdf_url == "https://arxiv.org/pdf/1801.00001"


def test_markup_of_publishers_is_left_out_and_comparisons_are_not() -> None:
    words = ["<jats:p>For", "a<b", "and", "c>d,", "p", "<", "0.05", "&amp;", "<sub>n</sub>", "<br/>", "holds.</jats:p>"]
    index = {word: [place] for place, word in enumerate(words)}
    alex, _ = source(
        page([{**SENT, "title": '  H<sub>2</sub>O <span class="x">now</span>', "abstract_inverted_index": index}])
    )
    (paper,) = search(alex).papers
    assert paper.title == "H2O now"
    assert paper.abstract == "For a<b and c>d, p < 0.05 & n holds."


def test_places_of_an_abstract_that_are_out_of_range_take_no_memory() -> None:
    alex, _ = source(page([{**SENT, "abstract_inverted_index": {"far": [10**15], "near": [-3]}}]))
    assert search(alex).papers[0].abstract == "near far"


def test_the_search_asks_as_documented() -> None:
    alex, script = source(page([SENT]))
    search(alex, "multi-hop ships, AND (boats)", 7)
    assert script.asked[0].url.path == "/works"
    params = script.params()
    fields = params.pop("select").split(",")
    assert params == {"search": "multi hop ships, and boats", "per_page": "7", "cursor": "*"}
    assert set(fields) <= set(SENT)


def test_the_search_by_citations_is_sorted_by_them() -> None:
    alex, script = source(page([SENT]))
    search(alex, by="citations")
    assert script.params()["sort"] == "cited_by_count:desc"


@pytest.mark.parametrize(
    ("before", "sent"),
    [("2023", "2023-12-31"), ("2023-02", "2023-02-28"), ("2024-02", "2024-02-29"), ("2023-05-09", "2023-05-09")],
)
def test_a_limit_of_dates_is_sent(before: str, sent: str) -> None:
    alex, script = source(page([]))
    search(alex, before=before)
    assert script.params()["filter"] == f"to_publication_date:{sent}"


def test_closed_papers_can_be_left_out_at_the_source() -> None:
    alex, script = source(page([]), page([]), open_access_only=True)
    search(alex)
    assert script.params()["filter"] == "is_oa:true"
    search(alex, before="2020")
    assert script.params()["filter"] == "to_publication_date:2020-12-31,is_oa:true"


def test_papers_of_other_fields_can_be_left_out_at_the_source() -> None:
    alex, script = source(page([]), open_access_only=True, field="Computer Science")
    search(alex)
    assert script.params()["filter"] == "is_oa:true,primary_topic.field.id:17"
    with pytest.raises(UsageError, match="OpenAlex has no field 'Law'; there are Agricultural and Food Sciences, "):
        source(field="Law")


def test_what_is_published_later_or_at_no_known_date_is_never_shown_and_counted() -> None:
    sent = [
        work(1, "2023-05-09", 2023),
        work(2, "2023-05-10", 2023),
        work(3, "2023-01-01", 2023),  # of such a date only the year is known
        work(4, None, None),
        work(5, "2022-01-01", 2022),
    ]
    alex, _ = source(page(sent))
    found = search(alex, before="2023-05-09")
    assert titles(found.papers) == ["Work 1", "Work 5"]
    assert found.notes == (
        "Left out: 2 papers that may have been published after 2023-05-09.",
        "Left out: 1 paper of unknown date.",
    )
    alex, _ = source(page(sent))
    assert titles(search(alex, before="2023").papers) == ["Work 1", "Work 2", "Work 3", "Work 5"]


def test_where_no_paper_has_all_words_those_with_some_are_searched_for() -> None:
    alex, script = source(page([]), page([work(1)]))
    found = search(alex, "ships not AND boats", before="2021")
    assert titles(found.papers) == ["Work 1"]
    assert found.notes == ("No paper has all words of the query; those shown have some of them.",)
    assert [script.params(n)["search"] for n in range(2)] == ["ships not and boats", "ships OR not OR and OR boats"]
    assert script.params(1)["filter"] == script.params(0)["filter"]

    alex, script = source(page([]), page([]))
    assert search(alex, "ships boats") == PapersFound(papers=())


@pytest.mark.parametrize(
    ("query", "by", "first"),
    [
        ("ships", "relevance", []),
        ("ships boats", "citations", []),
        ("ships boats", "relevance", [work(1, "2024-03-03", 2024)]),  # found, and left out for its date
    ],
)
def test_else_it_is_searched_for_once(query: str, by: SortBy, first: list[object]) -> None:
    alex, script = source(page(first))
    assert search(alex, query, by=by, before="2021").papers == ()
    assert len(script.asked) == 1


def test_a_sentence_is_found_in_its_own_text_and_others_with_some_of_its_words_follow() -> None:
    alex, script = source(page([work(1)]), page([work(2), work(1)]))
    found = search(alex, "One two three four five six seven eight", k=3)
    assert titles(found.papers) == ["Work 1", "Work 2"]
    assert found.notes == ("Hardly a paper has all words of the query; those shown have some of them.",)
    assert " OR " in script.params(1)["search"]


def test_pages_are_turned_by_cursors_until_enough_papers_are_found() -> None:
    late = [work(n, "2024-03-03", 2024) for n in range(6)]
    alex, script = source(page(late, "NEXT"), page([work(7), work(8)], "MORE"))
    assert titles(search(alex, k=2, before="2020").papers) == ["Work 7", "Work 8"]
    assert [(script.params(n)["cursor"], script.params(n)["per_page"]) for n in range(2)] == [
        ("*", "4"),
        ("NEXT", "100"),
    ]


@pytest.mark.parametrize("last", [page([]), page([], "SECOND"), page([work(2)], "SECOND"), page([work(2)])])
def test_pages_end(last: httpx2.Response) -> None:
    alex, script = source(page([work(1)], "SECOND"), last)
    search(alex)
    assert len(script.asked) == 2


def test_pages_do_not_go_on_for_ever() -> None:
    alex, script = source(*(page([work(n)], f"C{n}") for n in range(50)))
    found = search(alex, k=100)
    assert len(found.papers) == len(script.asked) == 10
    assert found.notes == ("Only the first 10 papers that it found were looked at.",)


def test_all_that_was_asked_for_is_not_cut() -> None:
    alex, _ = source(*(page([work(n)], f"C{n}") for n in range(10)), page([work(n) for n in range(10, 20)]))
    assert search(alex, "One two three four five six seven eight", k=12).notes == (
        "Hardly a paper has all words of the query; those shown have some of them.",
    )


@pytest.mark.parametrize(
    "bad",
    [
        {**SENT, "id": None},
        {**SENT, "title": None},
        {**SENT, "title": " \n"},
        {**SENT, "abstract_inverted_index": {"word": ["first"]}},
        {**SENT, "abstract_inverted_index": ["word"]},
        {**SENT, "cited_by_count": "many"},
        {**SENT, "primary_location": "here"},
        None,
    ],
)
def test_one_bad_work_amid_good_ones_is_left_out_and_counted(bad: object) -> None:
    alex, _ = source(page([work(1), bad, work(2)]))
    found = search(alex)
    assert titles(found.papers) == ["Work 1", "Work 2"]
    (note,) = found.notes
    assert note.startswith("Left out: 1 paper whose description cannot be read (")


@pytest.mark.parametrize(
    "rubbish", [{}, {"results": []}, {"meta": {}, "results": None}, {"meta": {}, "results": [1]}, []]
)
def test_rubbish_is_no_result(rubbish: object) -> None:
    alex, _ = source(reply(rubbish))
    with pytest.raises(SourceBadResponse, match="other than OpenAlex documents"):
        search(alex)


def test_that_there_is_no_search_for_passages_is_said() -> None:
    alex, script = source()
    found = asyncio.run(alex.search_snippets("ships", before=PublicationDate(year=2020)))
    assert found.snippets == ()
    assert found.notes[0].startswith("OpenAlex has no search for passages")
    assert script.asked == []


def test_no_result_at_all_cannot_be_asked_for() -> None:
    alex, _ = source()
    for ask in (alex.search, alex.search_snippets):
        with pytest.raises(UsageError, match="k is -1; ask for 1"):
            asyncio.run(ask("ships", -1))


def test_reading_is_left_to_the_reader() -> None:
    alex, _ = source()
    assert asyncio.run(alex.read(Paper(id="1", title="Ships"))).text == "Ships"
