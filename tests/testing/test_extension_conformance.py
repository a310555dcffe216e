"""The checks for authors of extensions: this package's own parser, retrievers and metrics pass; wrong ones do not."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from builders import make_context, make_example, make_hits, make_quote
from made_collections import make_collection

from quoteweave import (
    Bm25Retriever,
    Collection,
    Example,
    Filter,
    FusedRetriever,
    HidingRule,
    Hit,
    LexicalRetriever,
    OwnCollection,
    Page,
    Paper,
    PaperLibrary,
    PapersFound,
    PaperText,
    ParsedDocument,
    ParserSettings,
    PdfFetcher,
    Prediction,
    PublicationDate,
    Query,
    Quote,
    Reference,
    Reranking,
    Retriever,
    Search,
    Snippet,
    SnippetsFound,
    SourceOptions,
    SplitHybrid,
    Unseen,
    build_answer,
    make_source,
)
from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.answers import Usage
from quoteweave.core.examples import GoldBox, GoldLayout, GoldRegion, NamedPaper, PageBoxes, PaperSearch, SearchStep
from quoteweave.core.records import PageHit
from quoteweave.documents.parser import DocumentParser
from quoteweave.evaluation import METRICS, Aggregate, MetricOptions, mean_of
from quoteweave.retrievers.sparse import TfidfRetriever
from quoteweave.testing import (
    FakeReranker,
    FakeRetriever,
    LibraryServer,
    check_metric,
    check_parser,
    check_reranker,
    check_retriever,
    check_source,
)

HITS = make_hits([make_quote("Grain."), make_quote("Timber."), make_quote("Coal.")])
GRAIN = Query(text="grain by ship")
RETRIEVERS: dict[str, Callable[[Collection], Retriever]] = {
    "bm25": Bm25Retriever,
    "tfidf": TfidfRetriever,
    "lexical": LexicalRetriever,
    "fused": lambda collection: FusedRetriever([Bm25Retriever(collection), LexicalRetriever(collection)]),
    "split": lambda collection: SplitHybrid(Bm25Retriever(collection), LexicalRetriever(collection)),
}


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html", "harbour-report.pdf"])
def test_the_parser_passes(name: str, samples: Path, tmp_path: Path) -> None:
    path = samples / "pdf" / name if name.endswith(".pdf") else tmp_path / name
    if not name.endswith(".pdf"):
        path.write_text("<p>Grain by ship.</p>" if name == "a.html" else "# Freight\n\nGrain by ship.\n")
    parser = DocumentParser(ImageStore(tmp_path / "images"), ParserSettings(ocr=False))
    assert check_parser(parser, path).quotes


@pytest.mark.parametrize("name", RETRIEVERS)
def test_retrievers_pass(name: str, tmp_path: Path) -> None:
    chart = make_quote("a chart of grain", layout="chart", page=1)
    port: list[Quote | str] = ["Grain by ship.", "Timber by rail in spring.", chart, make_quote("The grain.", page=2)]
    with make_collection(tmp_path, {"port.pdf": port, "mill.pdf": ["The mill ground grain."]}) as collection:
        check_retriever(RETRIEVERS[name](collection), [GRAIN, Query(text="timber"), Query(text="zinc")], k=3)


def answered() -> tuple[Prediction, Example]:
    """A question whose context was retrieved, with an answer and gold of every sort."""
    text, image = make_quote("Grain rose 5%.", layout_id=1), make_quote(kind="image", layout_id=2)
    context, response = make_context(text, image), "Grain rose 5% [1] ![grain](image1)."
    prediction = Prediction(
        example="q",
        hits=tuple(make_hits([text, image])),
        pages=(PageHit(rank=1, score=1, document="report.pdf", page=0),),
        context=context,
        response=response,
        answer=build_answer("?", response, context, model="m"),
        model="m",
        usage=Usage(input_tokens=9, output_tokens=3),
        seconds=1,
    )
    reference = Reference(
        answer=response,
        short_answer="5%",
        answer_format="str",
        pages=(0,),
        boxes=(GoldBox(page=0, bbox=text.bbox),),
        layouts=tuple(
            GoldLayout(document="report.pdf", layout_id=quote.layout_id or 0, kind=quote.kind)
            for quote in (text, image)
        ),
    )
    return prediction, make_example("q", reference, context=context, document="report.pdf")


def tasks() -> list[tuple[Prediction, Example]]:
    """An answer to each task that has a metric of its own."""
    lettered = Reference(short_answer="A")
    long = Reference(short_answers=(("5%", "five"),), long_answers=("Grain rose 5%.",))
    region = GoldRegion(document="report.pdf", page=0, bbox=(0, 0, 500, 500))
    boxed = "Grain rose <bbox 1 0 0 500 500 />."
    examples = [
        make_example("source", lettered).model_copy(update={"task": "choose_source", "choices": {"A": "1"}}),
        make_example("answer", lettered).model_copy(update={"task": "choose_answer", "choices": {"A": "5%"}}),
        make_example("paper", Reference(short_answer="A")).model_copy(update={"task": "name_paper"}),
        make_example("long", long),
        make_example("boxed", Reference(regions=(region,))).model_copy(update={"documents": ("report.pdf",)}),
    ]
    answers = [Prediction(example="q", scope="context", response=said) for said in ("A", "A", "A", "Grain rose 5%.")]
    read = SearchStep(action="read", papers=(NamedPaper(title="A"),))
    search = PaperSearch(outcome="selected", selected=NamedPaper(title="A"), steps=(read,))
    answers[2] = answers[2].model_copy(update={"paper_search": search})
    quote, page = make_quote("Grain rose 5%."), PageBoxes(document="report.pdf", page=0, boxes=(region.bbox,))
    answers.append(
        Prediction(
            example="q",
            context=make_context(quote),
            quote_boxes={quote.id: (region.bbox,)},
            gold_pages=(page,),
            response=boxed,
        )
    )
    return list(zip(answers, examples, strict=True))


@pytest.mark.parametrize("name", METRICS)
def test_metrics_pass(name: str) -> None:
    prediction, example = answered()
    source = Reference(short_answer="A", relevant={"Figure 1": 1})
    pairs = [
        (prediction, example),
        (Prediction(example="q"), example),
        (prediction, make_example("q")),
        (Prediction(example="q:source", scope="context", response="A [Figure 1]"), make_example("q:source", source)),
        *tasks(),
    ]
    values = check_metric(METRICS[name](MetricOptions()), pairs)
    assert any(value is not None for value in values)


class Parsed:
    """A parser that gives one quote, or what is made of it."""

    fingerprint = "parsed"

    def __init__(self, *quotes: Quote) -> None:
        self._quotes = quotes

    def parse(self, path: Path) -> ParsedDocument:
        page = Page(number=0, label="1", width=612, height=792, text_source="file")
        return ParsedDocument(pages=(page,), quotes=self._quotes)


@pytest.mark.parametrize(
    ("quotes", "said"),
    [
        ([make_quote("a", id="0:0"), make_quote("b", id="0:0")], "two quotes have one id"),
        ([make_quote("a", id="1:0", page=1)], "on no page"),
        ([make_quote("a", id="7")], "not <page>:<ordinal>"),
        ([make_quote("a", id="0:0", page_label="iv")], "another label"),
        ([make_quote("", id="0:0")], "neither text nor image"),
        ([make_quote("a", id="0:0", kind="text", layout="chart")], "another kind"),
    ],
)
def test_a_parser_that_is_wrong_is_told_so(quotes: Sequence[Quote], said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        check_parser(Parsed(*quotes), Path("a.eml"))


class Found:
    """A retriever that returns what a function makes of `HITS`."""

    def __init__(self, change: Callable[[list[Hit], int, Filter | None], list[Hit]]) -> None:
        self._change = change

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        return [self._change(HITS, k, where) for _ in queries]


@pytest.mark.parametrize(
    ("retriever", "said"),
    [
        (FakeRetriever([hit.quote for hit in HITS]), "does not pass the filter"),
        (FakeRetriever([]), "no query finds anything"),
        (Found(lambda hits, k, where: hits), "more than 2 hits"),
        (Found(lambda hits, k, where: hits[1 : k + 1]), "ranks do not count from 1"),
        (Found(lambda hits, k, where: [hits[0], hits[0].model_copy(update={"rank": 2})]), "found twice"),
        (Found(lambda hits, k, where: [hits[1].model_copy(update={"rank": 1}), with_rank(hits[0], 2)]), "not sorted"),
    ],
)
def test_a_retriever_that_is_wrong_is_told_so(retriever: Retriever, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        check_retriever(retriever, [GRAIN], k=2)


def with_rank(hit: Hit, rank: int) -> Hit:
    return hit.model_copy(update={"rank": rank})


class Half:
    """A reranker that drops the last hit."""

    name = "half"

    async def rerank(self, query: Query, hits: Sequence[Hit]) -> Reranking:
        return Reranking(hits=tuple(hits[:-1]))


def test_a_reranker_gives_what_it_was_given() -> None:
    fake = FakeReranker(lambda question, quote: float("Coal" in quote.text))
    assert asyncio.run(check_reranker(fake, GRAIN, HITS)).hits[0].quote.text == "Coal."
    with pytest.raises(AssertionError, match="others than those"):
        asyncio.run(check_reranker(Half(), GRAIN, HITS))


class Given:
    """A metric whose rows are the responses, read as numbers."""

    name = "given"
    aggregates: tuple[Aggregate, ...] = (mean_of("given"),)

    def row(self, prediction: Prediction, example: Example) -> Mapping[str, float | None]:
        return {"given": float(prediction.response or "nan")}


class Misnamed(Given):
    """A metric whose figure is of another column."""

    aggregates = (mean_of("gievn"),)


class Counted(Given):
    """A metric whose figure counts questions without a value."""

    aggregates = (
        Aggregate("given", ("given",), lambda sums: sums[1] / (sums[0] + 1), optional=frozenset({"given"})),
        Aggregate("constant", ("given",), lambda sums: sums[1] * 0 + 1),
    )


class Unmade(Given):
    """A metric that names its column in place of an aggregate."""

    aggregates = ("given",)  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("metric", "response", "said"),
    [
        (Given(), "nan", "are not numbers"),
        (Unmade(), "1", r"made by mean_of, ratio_of or Aggregate, but \['given'\] are not"),
        (Misnamed(), "1", r"no row has: \['gievn'\]"),
        (Counted(), "1", "a number without a question"),
    ],
)
def test_a_metric_that_is_wrong_is_told_so(metric: Given, response: str, said: str) -> None:
    example = Example(id="q", query=Query(text="?"), reference=Reference())
    assert check_metric(Given(), [(Prediction(example="q", response="2"), example)]) == [2.0]
    with pytest.raises(AssertionError, match=said):
        check_metric(metric, [(Prediction(example="q", response=response), example)])


DATED = [
    Paper(id=str(year), title=f"Grain of {year}", published=PublicationDate(year=year), citations=year - 2000)
    for year in (2019, 2021)
]


class RightSource:
    """A source that keeps what is asked of it."""

    name = "right"
    papers: Sequence[Paper] = DATED

    async def search(
        self, query: str, k: int = 10, *, by: str = "relevance", before: PublicationDate | None = None
    ) -> PapersFound:
        shown = (
            [one for one in self.papers if before is None or not self.later(one, before)] if "grain" in query else []
        )
        return PapersFound(papers=tuple(shown[::-1] if by == "citations" else shown)[:k])

    async def search_snippets(self, query: str, k: int = 10, *, before: PublicationDate | None = None) -> SnippetsFound:
        papers = (await self.search(query, k, before=before)).papers
        return SnippetsFound(snippets=tuple(Snippet(paper=paper, text="Grain.") for paper in papers))

    async def read(self, paper: Paper) -> PaperText:
        known = any(one.id == paper.id for one in self.papers)
        return PaperText(outcome="full_text" if known else "not_open_access", text="Grain.", note="It is not here.")

    def later(self, paper: Paper, before: PublicationDate) -> bool:
        return paper.published is None or paper.published.may_follow(before)


class AnyDate(RightSource):
    """Shows papers whatever the limit."""

    def later(self, paper: Paper, before: PublicationDate) -> bool:
        return False


class LaterPassages(RightSource):
    """Filters papers by date, and not passages."""

    async def search_snippets(self, query: str, k: int = 10, *, before: PublicationDate | None = None) -> SnippetsFound:
        return await super().search_snippets(query, k)


class Undated(RightSource):
    """Shows what has no date with a limit of date."""

    papers = (*DATED, Paper(id="?", title="Grain of old", citations=99))

    def later(self, paper: Paper, before: PublicationDate) -> bool:
        return paper.published is not None and paper.published.may_follow(before)


class Unsorted(RightSource):
    """Has one order alone."""

    papers = DATED[::-1]


class Twice(RightSource):
    """Finds a paper twice."""

    papers = (*DATED, DATED[1])


class Uncounted(RightSource):
    """Finds more than is asked for."""

    async def search(
        self, query: str, k: int = 10, *, by: str = "relevance", before: PublicationDate | None = None
    ) -> PapersFound:
        return await super().search(query, k + 1, by=by, before=before)


class Inventing(RightSource):
    """Reads what it does not have."""

    async def read(self, paper: Paper) -> PaperText:
        return PaperText(outcome="full_text", text="Grain.")


class Silent(RightSource):
    """Does not say why there is no text."""

    async def read(self, paper: Paper) -> PaperText:
        return PaperText(outcome="unreachable", text="")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (AnyDate(), "may have been published after 2018"),
        (LaterPassages(), "may have been published after 2018"),
        (Undated(), "has no date, and is shown"),
        (Unsorted(), "the most cited are not first"),
        (Twice(), "found twice"),
        (Uncounted(), "more than 1 papers"),
        (Inventing(), "that it does not have is read"),
        (Silent(), "no note says why"),
    ],
)
def test_a_source_that_is_wrong_is_told_so(source: RightSource, said: str) -> None:
    assert asyncio.run(check_source(RightSource(), "grain")) == tuple(DATED)
    with pytest.raises(AssertionError, match=said):
        asyncio.run(check_source(source, "grain", k=1 if isinstance(source, Uncounted) else 5))


def test_this_packages_sources_pass(tmp_path: Path) -> None:
    """Both services, with what is hidden and without, and a collection of one's own."""
    rule = HidingRule(own=Paper(id="own", title="Ships of Skarn"), before=PublicationDate(year=2022))
    with LibraryServer() as server, PaperLibrary(tmp_path / "papers", PdfFetcher(allowed_hosts=["127.0.0.1"])) as read:
        one = server.library.papers[0]
        urls = {"semantic-scholar": server.semantic_scholar_url, "openalex": server.openalex_url}
        for name, url in urls.items():
            source = make_source(name, read, SourceOptions(base_url=url, per_second=1000))  # type: ignore[arg-type]
            asyncio.run(check_source(source, one.title, k=2))
            asyncio.run(check_source(Unseen(source, rule), one.title, k=2))
        own = OwnCollection(read.collection, Search(LexicalRetriever(read.collection)))
        asyncio.run(check_source(own, one.title))
