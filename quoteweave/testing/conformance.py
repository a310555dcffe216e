"""Conformance tests of answers, parsers, retrievers, rerankers, metrics and sources: what must be true of all of them.

    check_parser(MyParser(), Path("file.eml"))
    check_retriever(MyRetriever(collection), [Query(text="grain"), Query(text="timber")])
    asyncio.run(check_reranker(my_reranker, query, hits))
    check_metric(MyMetric(), [(prediction, example), …])
    asyncio.run(check_source(MySource(), "grain by rail"))

An answer must meet the same requirements whether it is streamed, returned whole or read from a run:

    check_answer(asyncio.run(my_generator.answer(query, context)), context)

    events = [event async for event in my_generator.stream(query, context)]
    check_events(events, context)

All raise AssertionError, which says what is wrong.
"""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from quoteweave.attribution.literature.sources.papers import Paper, PaperSource, PaperText, PublicationDate
from quoteweave.core.answers import (
    Answer,
    AnswerEvent,
    Citation,
    CitationEvent,
    Context,
    Event,
    ImageBlock,
    ImageEvent,
    TextEvent,
    ThoughtEvent,
)
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.protocols import Parser, Reranker, Reranking, Retriever
from quoteweave.core.records import IMAGE_LAYOUTS, Filter, Hit, ParsedDocument, Query, Quote
from quoteweave.core.text.marks import parse_marks
from quoteweave.evaluation.metrics.metric import Metric
from quoteweave.evaluation.statistics.aggregates import Aggregate

# ruff: noqa: S101 - what holds is asserted


# Fields of a citation that are only filled in once the answer is complete.
_FILLED_IN_LATER = {"quoted": None, "page_size": None, "evidence": None, "spans": (), "regions": ()}


def check_answer(answer: Answer, context: Context) -> None:
    """Check an answer; `context` has the quotes that its marks number."""
    assert Answer.model_validate_json(answer.model_dump_json()) == answer, "it is not the same when read back"
    for citation in answer.citations:
        _check_citation(citation, answer, context)
    marks = [(mark.start, mark.kind, number) for mark in parse_marks(answer.text) for number in mark.numbers]
    real = [mark for mark in marks if context.quote(*mark[1:]) is not None]
    cited = [(citation.start, citation.kind, citation.number) for citation in answer.citations]
    assert cited == real, "its citations are not the marks of its text that name a quote"
    lost_numbers = {number for _, kind, number in marks if context.quote(kind, number) is None}
    assert lost_numbers <= {mark.number for mark in answer.unresolved}, "a mark names no quote, and nothing says so"
    _check_blocks(answer)


def check_events(events: Sequence[Event | ImageEvent], context: Context) -> Answer:
    """Check a stream of events; return the answer with which it ends."""
    last = events[-1]
    assert isinstance(last, AnswerEvent), "the last event is not the answer"
    assert not any(isinstance(event, AnswerEvent) for event in events[:-1]), "there are two answers"
    answer = last.answer
    check_answer(answer, context)
    sent, ends, citations = "", set[int](), list[Citation]()
    for event in events[:-1]:
        if isinstance(event, TextEvent):
            sent += event.text
            ends.add(len(sent))
        elif isinstance(event, CitationEvent):
            assert sent.endswith(event.citation.mark), "a citation does not follow its mark"
            assert event.citation.end == len(sent), "a citation does not follow its mark"
            citations.append(event.citation)
        elif isinstance(event, ImageEvent):
            assert citations[-1] == event.citation, "an image does not follow its citation"
        else:
            assert isinstance(event, ThoughtEvent)
    assert sent == answer.text, "the texts put together are not the answer's text"
    halves = [mark for mark in parse_marks(sent) if not ends.isdisjoint(range(mark.start + 1, mark.end))]
    assert not halves, "a mark was sent in halves"
    assert list(map(_without_check, citations)) == list(map(_without_check, answer.citations))
    return answer


def _check_citation(citation: Citation, answer: Answer, context: Context) -> None:
    quote = context.quote(citation.kind, citation.number)
    assert quote is not None, f"{citation.mark} points outside the context"
    assert answer.text[citation.start : citation.end] == citation.mark, f"{citation.mark} is not where it is said to be"
    assert (quote.id, quote.document, quote.page, quote.page_label, quote.bbox) == (
        citation.quote_id,
        citation.document,
        citation.page,
        citation.page_label,
        citation.bbox,
    ), f"{citation.mark} is not the quote of that number"


def _check_blocks(answer: Answer) -> None:
    at, cited = 0, list[Citation]()
    for block in answer.blocks:
        if isinstance(block, ImageBlock):
            assert not answer.text[at : block.citation.start].strip(), "a block lacks text"
            at = block.citation.end
            cited.append(block.citation)
        else:
            assert answer.text.startswith(block.text, at), "a block holds other text"
            at += len(block.text)
            cited += block.citations
    assert not answer.text[at:].strip(), "the blocks lack text"
    assert tuple(cited) == answer.citations, "the citations of the blocks are others"


def _without_check(citation: Citation) -> Citation:
    unchecked = {"verdict": None, "reason": None, "only_words_differ": False, "checker_verdict": None}
    return citation.model_copy(update={**unchecked, **_FILLED_IN_LATER})


def check_parser(parser: Parser, path: Path) -> ParsedDocument:
    """Check a parser with a file that it can read; return what it parsed."""
    assert parser.fingerprint, "the fingerprint is empty"
    parsed = parser.parse(path)
    assert parser.parse(path) == parsed, "the same file gives other quotes the second time"
    assert ParsedDocument.model_validate_json(parsed.model_dump_json()) == parsed, "it is not the same when read back"
    labels = {page.number: page.label for page in parsed.pages}
    assert sorted(labels) == list(range(len(parsed.pages))), "pages are not numbered from 0, each once"
    assert not parsed.page_words or sorted(words.page for words in parsed.page_words) == sorted(labels), (
        "the words are those of other pages"
    )
    ids = [quote.id for quote in parsed.quotes]
    assert len(set(ids)) == len(ids), "two quotes have one id"
    for quote in parsed.quotes:
        assert quote.page in labels, f"quote {quote.id} is on no page"
        assert quote.id.startswith(f"{quote.page}:"), f"the id {quote.id} is not <page>:<ordinal>"
        assert quote.page_label == labels[quote.page], f"quote {quote.id} has another label than its page"
        assert (quote.kind == "image") == (quote.layout in IMAGE_LAYOUTS), f"{quote.id}: the layout is of another kind"
        assert quote.all_text() or quote.image, f"quote {quote.id} has neither text nor image"
    return parsed


def check_retriever(retriever: Retriever, queries: Sequence[Query], *, k: int = 5) -> list[list[Hit]]:
    """Check a retriever with these queries, at least one of which must find something; return the hits of each."""
    hits_of_queries = retriever.search(queries, k)
    assert len(hits_of_queries) == len(queries), "there is not one list of hits for each query"
    assert any(hits_of_queries), "no query finds anything; ask for what is in the collection"
    for query, hits in zip(queries, hits_of_queries, strict=True):
        assert len(hits) <= k, f"{query.text!r}: more than {k} hits"
        _check_ranking(hits)
        (alone,) = retriever.search([query], k)
        assert _ids(alone) == _ids(hits), f"{query.text!r} finds other quotes when it is asked alone"
        for where in _filters(hits):
            (passed,) = retriever.search([query], k, where=where)
            _check_ranking(passed)
            assert len(passed) <= k, f"{query.text!r}: more than {k} hits with the filter {where!r}"
            assert all(_passes(hit.quote, where) for hit in passed), f"a hit does not pass the filter {where!r}"
    assert retriever.search([], k) == [], "there are hits without a query"
    return hits_of_queries


async def check_reranker(reranker: Reranker, query: Query, hits: Sequence[Hit]) -> Reranking:
    """Check a reranker with these hits; return its result."""
    assert reranker.name, "the name is empty"
    before = list(hits)
    reranking = await reranker.rerank(query, hits)
    assert list(hits) == before, "it changed the list that it was given"
    _check_ranking(reranking.hits)
    quotes = {hit.quote.id: hit.quote for hit in reranking.hits}
    assert quotes == {hit.quote.id: hit.quote for hit in hits}, "its hits are others than those that it was given"
    return reranking


def check_metric(metric: Metric, pairs: Sequence[tuple[Prediction, Example]]) -> list[float | None]:
    """Check a metric with these predictions, which must together define all columns; return its aggregates."""
    assert metric.name, "the name is empty"
    strange = [aggregate for aggregate in metric.aggregates if not isinstance(aggregate, Aggregate)]
    assert not strange, f"aggregates are made by mean_of, ratio_of or Aggregate, but {strange} are not"
    names = [aggregate.name for aggregate in metric.aggregates]
    assert len(set(names)) == len(names), "two aggregates have one name"
    rows = [metric.row(prediction, example) for prediction, example in pairs]
    for row in rows:
        wrong = [column for column, value in row.items() if value is not None and not math.isfinite(value)]
        assert not wrong, f"what is undefined is None, but {wrong} are not numbers"
    assert [metric.row(prediction, example) for prediction, example in pairs] == rows, "rows differ the second time"
    columns = set().union(*rows)
    values = []
    for aggregate in metric.aggregates:
        missing = sorted({*aggregate.columns} - aggregate.optional - columns)
        assert not missing, f"{aggregate.name} is made of columns that no row has: {missing}"
        value = aggregate.of(rows)
        assert value is None or math.isfinite(value), f"{aggregate.name} is not a number"
        assert aggregate.of(rows[::-1]) == value, f"{aggregate.name} depends on the order of the questions"
        undefined = dict.fromkeys(columns)
        assert aggregate.of([*rows, undefined]) == value, f"{aggregate.name} counts a question that it is undefined for"
        assert aggregate.of([]) is None, f"{aggregate.name} is a number without a question"
        values.append(value)
    return values


async def check_source(source: PaperSource, query: str, *, k: int = 5) -> tuple[Paper, ...]:
    """Check a source of papers with a query that finds some, at least one with a date; return the papers found.

    Each of them is read. Passages and texts are not checked where the source has none.
    """
    assert source.name, "the name is empty"
    papers = (await source.search(query, k)).papers
    assert papers, f"{query!r} finds no paper; ask for what the source has"
    _check_papers(papers, k)
    snippets = (await source.search_snippets(query, k)).snippets
    assert len(snippets) <= k, f"more than {k} passages"
    assert all(snippet.text.strip() for snippet in snippets), "a passage has no text"
    await _check_citations(source, query, k)
    await _check_dates(source, query, k, [*papers, *(snippet.paper for snippet in snippets)])
    for paper in papers:
        _check_text(paper, await source.read(paper))
    strange = Paper(id="of no paper (quoteweave.testing)", title="Of no paper")
    _check_text(strange, text := await source.read(strange))
    assert text.outcome != "full_text", "a paper that it does not have is read"
    assert not (await source.search("?! …", k)).papers, "a query without words finds papers"
    return papers


def _check_papers(papers: Sequence[Paper], k: int) -> None:
    assert len(papers) <= k, f"more than {k} papers"
    ids = [paper.id for paper in papers]
    assert len(set(ids)) == len(ids), "a paper is found twice"
    for paper in papers:
        assert paper.title.strip(), f"paper {paper.id} has no title"
        assert paper.pdf_url is None or paper.pdf_url.startswith(("https://", "http://")), (
            f"paper {paper.id}: {paper.pdf_url!r} is no address of a file; None where there is none"
        )
        assert Paper.model_validate_json(paper.model_dump_json()) == paper, f"paper {paper.id} differs when read back"


async def _check_citations(source: PaperSource, query: str, k: int) -> None:
    papers = (await source.search(query, k, by="citations")).papers
    _check_papers(papers, k)
    counts = [-1 if paper.citations is None else paper.citations for paper in papers]
    assert counts == sorted(counts, reverse=True), "by citations, the most cited are not first, and unknown ones last"


async def _check_dates(source: PaperSource, query: str, k: int, known: Sequence[Paper]) -> None:
    """Check that no search with a date limit shows papers that may be later, or papers without a date."""
    dates = [paper.published for paper in known if paper.published is not None]
    assert dates, f"no paper for {query!r} has a date"
    first = min(dates, key=lambda date: (date.year, date.month or 0, date.day or 0))
    for before in (PublicationDate(year=first.year - 1), PublicationDate(year=first.year), *dates):
        papers = list((await source.search(query, k, before=before)).papers)
        papers += (await source.search(query, k, by="citations", before=before)).papers
        papers += [snippet.paper for snippet in (await source.search_snippets(query, k, before=before)).snippets]
        for paper in papers:
            assert paper.published is not None, f"{paper.title!r} has no date, and is shown with the limit {before}"
            assert not paper.published.may_follow(before), (
                f"{paper.title!r} may have been published after {before}, and is shown with that limit"
            )


def _check_text(paper: Paper, text: PaperText) -> None:
    if text.outcome == "full_text":
        assert text.text.strip(), f"the full text of {paper.title!r} is empty"
    else:
        assert text.note, f"{paper.title!r} has no full text ({text.outcome}), and no note says why"


def _ids(hits: Iterable[Hit]) -> list[str]:
    return [hit.quote.id for hit in hits]


def _check_ranking(hits: Sequence[Hit]) -> None:
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1)), "ranks do not count from 1"
    scores = [hit.score for hit in hits]
    assert not any(map(math.isnan, scores)), "a score is not a number"
    assert scores == sorted(scores, reverse=True), "hits are not sorted by score"
    assert len(set(_ids(hits))) == len(hits), "a quote is found twice"


def _filters(hits: Sequence[Hit]) -> list[Filter]:
    """Filters that some hits pass, and two that no quote passes."""
    none = [Filter(documents=()), Filter(metadata={"quoteweave.testing": "of no document"})]
    if not hits:
        return none
    first, last = hits[0].quote, hits[-1].quote
    return [
        *none,
        Filter(kind="text"),
        Filter(kind="image"),
        Filter(documents=(last.document,)),
        Filter(layouts=(last.layout,)),
        Filter(first_page=last.page, last_page=last.page),
        Filter(documents=(first.document,), last_page=first.page, kind=first.kind),
    ]


def _passes(quote: Quote, where: Filter) -> bool:
    """Whether a quote passes a filter of `_filters`, whose metadata no document has."""
    return (
        not where.metadata
        and (where.documents is None or quote.document in where.documents)
        and (where.kind is None or quote.kind == where.kind)
        and (where.layouts is None or quote.layout in where.layouts)
        and (where.first_page is None or quote.page >= where.first_page)
        and (where.last_page is None or quote.page <= where.last_page)
    )
