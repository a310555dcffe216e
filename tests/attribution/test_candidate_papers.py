"""What several sources find for a claim is fused; a source that cannot be asked costs its own papers alone."""

import asyncio
from collections.abc import Sequence

import pytest

from quoteweave.attribution.excerpts import Excerpt
from quoteweave.attribution.literature import candidate_papers
from quoteweave.attribution.literature.candidate_papers import (
    MIN_PAPERS,
    PAPERS_PER_QUERY,
    CandidatePapers,
    find_candidate_papers,
)
from quoteweave.attribution.literature.sources.papers import (
    Paper,
    PapersFound,
    PaperSource,
    PaperText,
    PublicationDate,
    Snippet,
    SnippetsFound,
    SortBy,
)
from quoteweave.core.errors import SourceError, SourceRefused, SourceUnreachable

CLAIM = "Blur fools ResNet classifiers."
EXCERPT = Excerpt(mark=None, start=0, claim=CLAIM, text=f"{CLAIM} Gaussian noise harms transformers.")


def paper(id: str, title: str | None = None, **fields: object) -> Paper:
    return Paper.model_validate({"id": id, "title": title or f"Title {id}", **fields})


class Scripted:
    """A source that answers every search alike, and remembers what it was asked."""

    def __init__(
        self,
        name: str,
        papers: Sequence[Paper] = (),
        passages: Sequence[Paper] = (),
        *,
        error: SourceError | None = None,
    ) -> None:
        self.name, self.papers, self.passages, self.error = name, papers, passages, error
        self.asked: list[str] = []

    async def search(
        self, query: str, k: int = 10, *, by: SortBy = "relevance", before: PublicationDate | None = None
    ) -> PapersFound:
        self.asked.append(query)
        if self.error is not None:
            raise self.error
        return PapersFound(papers=tuple(self.papers[:k]), notes=(f"{self.name} answered.",))

    async def search_snippets(self, query: str, k: int = 10, *, before: PublicationDate | None = None) -> SnippetsFound:
        if self.error is not None:
            raise self.error
        return SnippetsFound(snippets=tuple(Snippet(paper=one, text="Blur.") for one in self.passages[:k]))

    async def read(self, paper: Paper) -> PaperText:
        raise AssertionError("nothing is read")


MANY = [paper(f"m{number}") for number in range(MIN_PAPERS)]


def find(*sources: PaperSource, excerpt: Excerpt = EXCERPT) -> CandidatePapers:
    return asyncio.run(find_candidate_papers(sources, excerpt))


@pytest.mark.parametrize(("k", "asked_for"), [(5, PAPERS_PER_QUERY), (100, 100)])
def test_as_many_papers_are_asked_for_as_candidates_are_wanted(k: int, asked_for: int) -> None:
    source = Scripted("openalex", [paper(f"p{number}") for number in range(120)])
    assert len(asyncio.run(find_candidate_papers([source], EXCERPT, k)).papers) == asked_for


def test_passages_that_semantic_scholar_sends_are_kept_with_their_papers() -> None:
    found = find(Scripted("semantic-scholar", [paper("a")], [paper("b"), paper("a"), paper("b")]))
    assert {one.paper.id: one.snippets for one in found.papers} == {"a": ("Blur.",), "b": ("Blur.", "Blur.")}
    own = find(Scripted("collection", [paper("a")], [paper("a")]))
    assert own.papers[0].snippets == ()


def test_a_link_to_the_file_of_another_paper_does_not_make_one_candidate_of_two() -> None:
    right = paper("1", "Blur fools", identifiers={"arxiv": "2301.00001"}, abstract="Of blur.")
    wrong = paper("2", "Noise harms", pdf_url="https://arxiv.org/pdf/2301.00001")
    found = find(Scripted("one", [wrong, right]))
    assert [(one.paper.title, one.paper.abstract) for one in found.papers] == [
        ("Noise harms", None),
        ("Blur fools", "Of blur."),
    ]


def test_one_paper_of_two_sources_is_one_candidate_with_what_both_know() -> None:
    first = Scripted("one", [paper("1", "Blur fools", identifiers={"doi": "10.1/x"}, citations=3), *MANY])
    second = Scripted(
        "two", [*MANY[:1], paper("9", "Other title", identifiers={"doi": "https://doi.org/10.1/X"}, abstract="A.")]
    )
    found = find(first, second)
    (same,) = [one for one in found.papers if one.paper.identifiers.get("doi") == "10.1/x"]
    assert (same.paper.title, same.paper.abstract, same.paper.citations) == ("Blur fools", "A.", 3)
    assert same.sources == ("one", "two")
    assert sum(one.paper.title == "Title m0" for one in found.papers) == 1, "papers of one title are one"
    assert found.notes == ("one answered.", "two answered.")


def test_a_paper_that_is_found_by_its_passage_too_stands_first() -> None:
    found = find(Scripted("one", MANY, [MANY[3]]))
    assert [(one.paper.id, one.passage_rank) for one in found.papers[:2]] == [("m3", 1), ("m0", None)]


def test_the_other_queries_are_asked_where_the_claim_finds_little() -> None:
    rich, poor = Scripted("rich", MANY), Scripted("poor", MANY[:2])
    find(rich, poor)
    assert rich.asked == [CLAIM]
    assert poor.asked == [CLAIM, "ResNet classifiers fools Blur", "ResNet classifiers transformers Gaussian"]


def test_a_source_that_cannot_be_asked_is_named_and_the_others_answer() -> None:
    dead = Scripted("dead", error=SourceUnreachable("no answer from dead"))
    found = find(dead, Scripted("one", MANY))
    assert len(found.papers) == MIN_PAPERS
    assert found.refused == {"dead": "no answer from dead"}
    assert "dead could not be asked: no answer from dead" in found.notes


def test_where_none_can_be_asked_the_first_sources_error_is_raised() -> None:
    with pytest.raises(SourceRefused, match="wrong key"):
        find(Scripted("a", error=SourceRefused("wrong key")), Scripted("b", error=SourceUnreachable("gone")))


def test_where_none_can_be_asked_the_error_says_why_of_each() -> None:
    with pytest.raises(SourceRefused) as raised:
        find(Scripted("a", error=SourceRefused("wrong key.")), Scripted("b", error=SourceUnreachable("gone")))
    assert str(raised.value) == raised.value.summary == "wrong key. b could not be asked either: gone"


def test_a_claim_without_words_asks_nothing() -> None:
    source = Scripted("one", MANY)
    assert find(source, excerpt=Excerpt(mark=None, start=0, claim="?", text="?")).papers == ()
    assert source.asked == []


def test_passages_are_asked_for_first_and_papers_also_where_no_passage_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Ordered(Scripted):
        async def search(
            self, query: str, k: int = 10, *, by: SortBy = "relevance", before: PublicationDate | None = None
        ) -> PapersFound:
            asked.append("papers")
            came.set()
            return await super().search(query, k, by=by, before=before)

        async def search_snippets(
            self, query: str, k: int = 10, *, before: PublicationDate | None = None
        ) -> SnippetsFound:
            asked.append("passages")
            for _ in range(5):
                await asyncio.sleep(0)
            if slow:
                await came.wait()
            asked.append("passages found")
            return await super().search_snippets(query, k, before=before)

    for slow, order in ((False, ["passages", "passages found", "papers"]), (True, ["passages", "papers"])):
        came = asyncio.Event()
        asked.clear()
        monkeypatch.setattr(candidate_papers, "PASSAGES_SECONDS", 0.01 if slow else 60)
        source = Ordered("one", [paper(str(at)) for at in range(MIN_PAPERS)], [paper("p")])
        found = asyncio.run(find_candidate_papers([source], EXCERPT))
        assert asked[: len(order)] == order
        assert len(found.papers) == MIN_PAPERS + 1
