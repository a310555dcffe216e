"""A collection as a source of papers: what it finds, in which order, by which date, and what it says is missing."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_collections import made_quote, make_collection, put

from quoteweave.attribution.literature.sources import own_collection
from quoteweave.attribution.literature.sources.own_collection import OwnCollection
from quoteweave.attribution.literature.sources.paper_metadata import (
    abstract_in,
    metadata_of,
    paper_from_metadata,
    paper_of,
)
from quoteweave.attribution.literature.sources.papers import Paper, PublicationDate
from quoteweave.attribution.literature.sources.unseen import HidingRule, Unseen
from quoteweave.collection.collection import Collection
from quoteweave.core.records import Document
from quoteweave.pipeline.composition.make_search import make_search
from quoteweave.pipeline.settings import RetrievalSettings

PAPERS = {
    "grain.pdf": ("Grain Ships", {"published": "2019-05", "citations": "12", "authors": "Ada Reed; Bo Lee"}),
    "rail.pdf": ("Grain by Rail", {"year": "2021", "citations": "1,040", "doi": "10.1/rail", "venue": "Ports"}),
    "notes.md": (None, {}),
    "old.pdf": ("Old Grain", {"year": "about 1950", "date": "1950"}),
}


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    folder = tmp_path_factory.mktemp("papers")
    with make_collection(folder, {}) as made:
        with made.writer() as writer:
            for number, (name, (title, metadata)) in enumerate(PAPERS.items()):
                quotes = [
                    made_quote("Abstract. We count grain.").model_copy(update={"section": None}),
                    *[made_quote(f"Grain was counted {'again ' * n}on quay {number}.", page=1) for n in range(number)],
                    made_quote("Grain, page 1 of 9", layout="header", page=1),
                ]
                put(writer, folder, name, quotes, metadata={**({"title": title} if title else {}), **metadata})
        yield made


@pytest.fixture
def own(port: Collection) -> OwnCollection:
    return OwnCollection(port, make_search(port, RetrievalSettings()))


def test_documents_are_papers_with_what_their_metadata_say(own: OwnCollection) -> None:
    found = asyncio.run(own.search("grain"))

    papers = {paper.id: paper for paper in found.papers}
    assert papers.keys() == PAPERS.keys()
    assert papers["grain.pdf"] == Paper(
        id="grain.pdf",
        title="Grain Ships",
        abstract="We count grain.",
        authors=("Ada Reed", "Bo Lee"),
        published=PublicationDate(year=2019, month=5),
        citations=12,
        identifiers={"document": "grain.pdf"},
    )
    assert (papers["rail.pdf"].citations, papers["rail.pdf"].venue) == (1040, "Ports")
    assert papers["rail.pdf"].identifiers == {"document": "rail.pdf", "doi": "10.1/rail"}
    assert (papers["notes.md"].title, papers["notes.md"].published) == ("notes.md", None)
    assert papers["old.pdf"].published == PublicationDate(year=1950)  # the first of the dates that can be read
    assert found.notes == ()


def test_years_and_citations_that_a_data_frame_wrote_are_whole_numbers() -> None:
    found = paper_from_metadata("a", {"year": "2019.0", "citations": "1040.0"})
    assert (found.published, found.citations) == (PublicationDate(year=2019), 1040)
    assert paper_from_metadata("a", {"year": "2019.5", "citations": "1.5"}) == Paper(
        id="a", title="a", identifiers={"document": "a"}
    )


def test_the_number_asked_for_is_given_even_where_one_document_has_the_best_quotes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [f"Grain shipped {'very ' * n}well." for n in range(30)]
    with make_collection(
        tmp_path, {"many.md": many, "one.md": ["A long text that has grain once, at its end."]}
    ) as made:
        own = OwnCollection(made, make_search(made, RetrievalSettings()))
        assert [paper.id for paper in asyncio.run(own.search("grain shipped", 2)).papers] == ["many.md", "one.md"]
        assert [paper.id for paper in asyncio.run(own.search("grain shipped", 1)).papers] == ["many.md"]
        assert asyncio.run(own.search("zxqwv")).papers == ()
        monkeypatch.setattr(own_collection, "MAX_QUOTES", 8)
        found = asyncio.run(own.search("grain shipped", 2))
        assert len(found.papers) == 1
        assert found.notes == ("Only the documents of the first 10 quotes found are shown.",)


def test_by_citations_the_most_cited_stand_first_and_unknown_ones_last_with_a_note(own: OwnCollection) -> None:
    found = asyncio.run(own.search("grain", 3, by="citations"))

    assert [paper.citations for paper in found.papers] == [1040, 12, None]
    assert found.notes == ("The citations of 2 documents are not known; these stand last.",)


@pytest.mark.parametrize(
    ("before", "names"),
    [("2018", {"old.pdf"}), ("2020", {"old.pdf", "grain.pdf"}), ("2021-03", {"old.pdf", "grain.pdf"}), ("1900", set())],
)
def test_what_may_be_later_is_left_out_of_papers_and_passages(own: OwnCollection, before: str, names: set[str]) -> None:
    limit = PublicationDate.parse(before)
    found = asyncio.run(own.search("grain", before=limit))
    passages = asyncio.run(own.search_snippets("grain", 50, before=limit))

    assert {paper.id for paper in found.papers} == names
    assert {passage.paper.id for passage in passages.snippets} == names
    assert sum("1 document without a date" in note for note in found.notes) == 1
    assert ("No quote passes the filter, so that nothing was searched." in found.notes) == (not names)
    assert passages.notes == found.notes


def test_passages_are_quotes_best_first(own: OwnCollection) -> None:
    (first, *_) = asyncio.run(own.search_snippets("grain counted on quay 3", 5)).snippets

    assert (first.paper.id, first.text) == ("old.pdf", "Grain was counted on quay 3.")


def test_a_paper_is_read_page_by_page_without_headers(own: OwnCollection) -> None:
    (paper,) = asyncio.run(own.search("quay 1", 1)).papers
    read = asyncio.run(own.read(paper))

    assert (read.outcome, read.document, read.pages) == ("full_text", "rail.pdf", 2)
    assert read.text == "Abstract. We count grain.\n\nGrain was counted on quay 1."


def test_a_paper_that_is_not_there_any_more_is_an_outcome(own: OwnCollection) -> None:
    read = asyncio.run(own.read(Paper(id="gone.pdf", title="Gone")))

    assert (read.outcome, read.text) == ("unreachable", "")
    assert "'gone.pdf'" in (read.note or "")


def test_the_excerpts_own_document_is_not_shown_of_a_collection(own: OwnCollection) -> None:
    rule = HidingRule(own=Paper(id="-", title="GRAIN BY RAIL"), before=PublicationDate(year=2022))
    unseen = Unseen(own, rule)

    found = asyncio.run(unseen.search("grain"))
    passages = asyncio.run(unseen.search_snippets("grain", 50))

    shown = {paper.id for paper in found.papers} | {passage.paper.id for passage in passages.snippets}
    assert shown == {"grain.pdf", "old.pdf"}


def test_further_identifiers_of_a_paper_hide_it_too() -> None:
    metadata = {"title": "Another title", "source_id": "7", "same_as": "doi:10.1/own source_id:8"}
    document = Document(id="", name="d", content="", format="pdf", parser="", pages=1, quotes=1, metadata=metadata)
    rule = HidingRule(own=Paper(id="-", title="Grain", identifiers={"doi": "10.1/OWN"}))

    assert rule.reason(paper_of(document)) == "own_paper"


def test_documents_that_come_later_are_seen_and_dated(tmp_path: Path) -> None:
    limit = PublicationDate(year=2020)
    with make_collection(tmp_path, {}) as made:
        own = OwnCollection(made, make_search(made, RetrievalSettings()))
        assert asyncio.run(own.search("grain", before=limit)).papers == ()
        for name, year in (("a.md", "2019"), ("b.md", "2021"), ("c.md", "2020")):
            with made.writer() as writer:
                put(writer, tmp_path / "files", name, [made_quote("Grain went by rail.")], metadata={"year": year})
        assert {paper.id for paper in asyncio.run(own.search("grain", before=limit)).papers} == {"a.md", "c.md"}


def test_a_paper_reads_back_from_its_metadata() -> None:
    paper = Paper(
        id="ab12",
        title="Grain\nShips",
        authors=("Reed, A.; Jr.", "Bo Lee"),
        published=PublicationDate(year=2019, month=5),
        citations=0,
        identifiers={"doi": "10.1/x", "CorpusId": "7"},
        pdf_url="https://a.example/x.pdf",
    )
    metadata = metadata_of(paper)
    document = Document(id="", name="d", content="", format="pdf", parser="", pages=1, quotes=1, metadata=metadata)

    assert metadata["source_id"] == "ab12"
    assert paper_of(document) == paper.model_copy(
        update={
            "id": "d",
            "title": "Grain Ships",
            "authors": ("Reed, A., Jr.", "Bo Lee"),
            "identifiers": {"document": "d", "doi": "10.1/x"},
        }
    )


def test_a_summary_at_the_end_is_no_abstract() -> None:
    document = Document(id="", name="d", content="", format="pdf", parser="", pages=9, quotes=1)
    last = made_quote("We counted.", page=8).model_copy(update={"section": "Summary"})

    assert abstract_in(document, [last]) is None


@pytest.mark.parametrize(
    ("quotes", "abstract"),
    [
        ([("Abstract", "We count."), ("Abstract", "We ship."), ("1 Introduction", "Ships.")], "We count.\nWe ship."),
        ([(None, "Ada Reed"), (None, "Abstract—We count."), ("1 Introduction", "Ships.")], "We count."),
        ([("1 Introduction", "Abstract art is sold.")], None),
        ([("Abstract Interpretation", "Programs.")], None),
        ([], None),
    ],
)
def test_the_abstract_is_found_by_its_heading(quotes: list[tuple[str | None, str]], abstract: str | None) -> None:
    document = Document(id="", name="d", content="", format="pdf", parser="", pages=1, quotes=len(quotes))
    made = [made_quote(text).model_copy(update={"section": section}) for section, text in quotes]

    assert abstract_in(document, made) == abstract
