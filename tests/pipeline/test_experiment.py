"""Questions are searched as deep as the figures need, within their document or everywhere, and fail one by one."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from made_collections import made_quote, make_collection

from quoteweave.core.answers import C20
from quoteweave.core.errors import EndpointUnreachable, MissingExtra, ModelNotFound
from quoteweave.core.examples import Example, GoldBox, Prediction, Reference
from quoteweave.core.records import Filter, Hit, Layout, Query, Quote
from quoteweave.pipeline.composition.make_search import make_search
from quoteweave.pipeline.runs.ranking import SCOPES, RememberingExpander, SearchRetriever, run_retrieval
from quoteweave.pipeline.runs.search_dataset import make_run_search
from quoteweave.pipeline.search import POOL, Search
from quoteweave.pipeline.settings import RetrievalSettings
from quoteweave.retrievers.expanders.chat import ChatExpander
from quoteweave.testing import FakeChat, FakeExpander, FakeReranker

DOCUMENTS = {"a.pdf", "b.pdf"}


def quote(document: str, page: int, ordinal: int, layout: Layout = "paragraph") -> Quote:
    return Quote(
        id=f"{document}:{page}:{ordinal}",
        document=document,
        page=page,
        page_label=str(page + 1),
        bbox=(0, 0, 1, 1),
        kind="image" if layout == "page" else "text",
        layout=layout,
    )


class OfKind:
    """Ranks the quotes of a kind in the order given."""

    def __init__(self, quotes: Sequence[Quote]) -> None:
        self.quotes = quotes

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        of_kind = [one for one in self.quotes if where is not None and one.kind == where.kind][:k]
        return [[Hit(rank=rank, score=1 / rank, quote=one) for rank, one in enumerate(of_kind, 1)] for _ in queries]


class Fixed:
    """Ranks all its quotes in the order given, whatever the question; fails on "fail"."""

    def __init__(self, quotes: Sequence[Quote]) -> None:
        self.quotes = quotes
        self.depths: list[int] = []

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        self.depths.append(k)
        if any(query.text == "fail" for query in queries):
            raise RuntimeError("the index is gone")
        wanted = [one for one in self.quotes if where is None or one.document in (where.documents or ())]
        hits = [Hit(rank=rank, score=1 / rank, quote=one) for rank, one in enumerate(wanted[:k], start=1)]
        return [hits for _ in queries]


def ask(name: str, text: str = "what?", document: str | None = "a.pdf") -> Example:
    return Example(id=name, query=Query(text=text), document=document, reference=Reference())


def test_searches_within_the_document_or_everywhere() -> None:
    retriever = Fixed([quote("b.pdf", 3, 0), quote("a.pdf", 1, 0), quote("a.pdf", 1, 1), quote("a.pdf", 0, 0)])
    (near,) = run_retrieval([ask("q")], retriever, scope="document", documents=DOCUMENTS)
    (far,) = run_retrieval([ask("q")], retriever, scope="collection", documents=DOCUMENTS)
    assert (near.example, near.scope, far.scope) == ("q", "document", "collection")
    assert [hit.quote.id for hit in near.hits] == ["a.pdf:1:0", "a.pdf:1:1", "a.pdf:0:0"]
    assert [(page.document, page.page) for page in near.pages] == [("a.pdf", 1), ("a.pdf", 0)]
    assert [(page.document, page.page) for page in far.pages] == [("b.pdf", 3), ("a.pdf", 1), ("a.pdf", 0)]


def test_searches_deeper_until_enough_pages_are_seen() -> None:
    crowd = [quote("a.pdf", 0, ordinal) for ordinal in range(300)]
    rest = [quote("a.pdf", page, 0) for page in range(1, 30)]
    retriever = Fixed([*crowd, *rest])
    (prediction,) = run_retrieval([ask("q")], retriever, scope="document", documents=DOCUMENTS)
    assert [page.page for page in prediction.pages] == list(range(10))
    assert len(prediction.hits) == 309, "kept down to the tenth page and no further"
    assert retriever.depths == sorted(set(retriever.depths))
    assert len(retriever.depths) > 1


def test_whole_pages_do_not_count_as_quotes() -> None:
    pages = [quote("a.pdf", page, 0, "page") for page in range(100)]
    parts = [quote("a.pdf", page, 1) for page in range(50)]
    (prediction,) = run_retrieval([ask("q")], Fixed([*pages, *parts]), scope="document", documents=DOCUMENTS)
    assert sum(hit.quote.layout != "page" for hit in prediction.hits) == 20
    assert len(prediction.hits) == 120


def boxed(document: str | None = "a.pdf", text: str = "what?") -> Example:
    reference = Reference(boxes=(GoldBox(page=0, bbox=(0, 0, 1, 1)),))
    return Example(id="q", query=Query(text=text), document=document, reference=reference)


def test_a_question_with_gold_boxes_keeps_the_contexts_that_a_generator_would_see() -> None:
    texts = [quote("a.pdf", page, 0) for page in range(100)]
    images = [quote("a.pdf", page, 1, "page") for page in range(10)]
    ranking, search = Fixed([*texts, *images]), Search(OfKind([*texts, *images]))
    near, plain, far = (
        next(run_retrieval([example], ranking, scope=scope, documents=DOCUMENTS, search=search))
        for example, scope in ((boxed(), SCOPES[0]), (ask("q"), SCOPES[0]), (boxed(), SCOPES[1]))
    )
    assert {name: (len(one.texts), len(one.images)) for name, one in near.contexts.items()} == {
        "c15": (10, 5),
        "c20": (12, 8),
    }
    assert [hit.quote.page for hit in near.contexts["c20"].texts] == list(range(12))
    assert (far.contexts, plain.contexts) == ({}, {})
    assert near.hits == plain.hits, "what is kept of the ranking is the same"


def test_contexts_of_runs_are_those_of_ask_and_of_published_presets_the_ranking_alone(tmp_path: Path) -> None:
    quotes: list[str | Quote] = [
        "The pump needs three parts:",
        made_quote("a seal, a valve, a hose", layout="list"),
        "Rain.",
    ]
    example = boxed("pump.md", "Which parts does the pump need?")
    with make_collection(tmp_path, {"pump.md": quotes}) as made:
        usual = RetrievalSettings()
        asked = asyncio.run(make_search(made, usual).context(example.query, C20, where=Filter(documents=("pump.md",))))
        predictions: list[Prediction] = []
        for settings in (usual, usual.model_copy(update={"preset": "mmdocir"})):
            retriever, search = make_run_search(made, settings, [])
            predictions += run_retrieval([example], retriever, scope="document", documents=["pump.md"], search=search)
    run, published = (one.contexts["c20"] for one in predictions)
    assert run == asked.context
    assert (len(run.introduced), len(published.introduced)) == (1, 0)


def test_feedback_of_a_run_reads_the_document_of_the_question_or_all(tmp_path: Path) -> None:
    documents: dict[str, list[str | Quote]] = {"a.md": ["Grain came by ship."], "b.md": ["Grain went by zeppelin."]}
    settings = RetrievalSettings(retriever=("bm25",), expand="rm3")
    with make_collection(tmp_path, documents) as made:
        _, search = make_run_search(made, settings, [])
        filters = (Filter(documents=("a.md",)), None)
        traces = [asyncio.run(search.find(Query(text="grain"), 5, where=where)).trace for where in filters]
    assert ["zeppelin" in one.clauses[0] for one in traces] == [False, True]


def test_a_ranking_that_ends_early_is_kept_whole() -> None:
    retriever = Fixed([quote("a.pdf", 0, ordinal) for ordinal in range(5)])
    (prediction,) = run_retrieval([ask("q")], retriever, scope="document", documents=DOCUMENTS)
    assert len(prediction.hits) == 5
    assert len(retriever.depths) == 1


def test_a_document_that_is_not_there_is_not_searched_and_finds_nothing() -> None:
    retriever = Fixed([quote("a.pdf", 0, 0)])
    example = ask("q", document="gone.pdf")
    (near,) = run_retrieval([example], retriever, scope="document", documents=DOCUMENTS)
    assert (near.hits, near.pages, near.error) == ((), (), None)
    assert retriever.depths == []
    (far,) = run_retrieval([example], retriever, scope="collection", documents=DOCUMENTS)
    assert len(far.hits) == 1


def test_a_question_that_fails_is_recorded_and_the_others_go_on() -> None:
    examples = [ask("q1"), ask("q2", "fail"), ask("q3", document=None), ask("q4")]
    predictions = list(run_retrieval(examples, Fixed([quote("a.pdf", 0, 0)]), scope="document", documents=DOCUMENTS))
    assert [prediction.example for prediction in predictions] == ["q1", "q2", "q3", "q4"]
    assert [prediction.error is None for prediction in predictions] == [True, False, False, True]
    assert predictions[1].error == "unexpected runtime error: the index is gone"
    assert predictions[1].hits == ()
    assert "no document" in (predictions[2].error or "")


@pytest.mark.parametrize("error", [ModelNotFound("no weights"), MissingExtra("torch", "models")])
def test_what_no_question_can_do_without_ends_the_run(error: Exception) -> None:
    class Lacking(Fixed):
        def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
            raise error

    with pytest.raises(type(error)):
        list(run_retrieval([ask("q")], Lacking([]), scope="collection", documents=DOCUMENTS))


def test_a_search_of_several_steps_ranks_and_its_notes_are_told() -> None:
    retriever, told = Fixed([quote("a.pdf", page, 0) for page in range(100)]), list[str]()
    search = Search(retriever, expander=FakeExpander(["how?"], note="odd"))
    searching = SearchRetriever(search, reranks=False, on_note=told.append)
    (found,) = run_retrieval([ask("q")], searching, scope="document", documents=DOCUMENTS)
    assert [page.page for page in found.pages] == list(range(10))
    assert told == ["odd"]


def test_what_a_reranker_puts_in_order_is_its_pool() -> None:
    crowd = [quote("a.pdf", page // 10, page) for page in range(300)]
    reranker = FakeReranker(lambda _, one: float(one.id.rpartition(":")[2]))
    searching = SearchRetriever(Search(Fixed(crowd), reranker=reranker), reranks=True)
    (found,) = run_retrieval([ask("q")], searching, scope="document", documents=DOCUMENTS)
    assert [page.page for page in found.pages] == [3, 2, 1, 0]
    assert len(found.hits) == POOL == 40
    assert len(reranker.queries) == 1


def test_an_expansion_is_asked_for_once_unless_it_went_wrong() -> None:
    chat = FakeChat([EndpointUnreachable("away"), '["How many ships came?"]'])
    expander = RememberingExpander(ChatExpander(chat))
    notes = [asyncio.run(expander.expand(Query(text="what?"))).note for _ in range(3)]
    assert [note is None for note in notes] == [False, True, True]
    assert (len(chat.requests), expander.name) == (2, "chat:fake")


def test_an_interrupt_is_no_failure() -> None:
    class Interrupted(Fixed):
        def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(run_retrieval([ask("q")], Interrupted([]), scope="collection", documents=DOCUMENTS))


def test_nothing_is_searched_before_it_is_asked_for() -> None:
    retriever = Fixed([quote("a.pdf", 0, 0)])
    predictions = run_retrieval([ask("q1"), ask("q2")], retriever, scope="document", documents=DOCUMENTS)
    assert retriever.depths == []
    next(predictions)
    assert len(retriever.depths) == 1
