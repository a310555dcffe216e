"""A question is expanded, searched for, pooled and reranked; each step does what it says, and the trace tells."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from made_collections import made_quote, make_collection

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import C15, C20, TOP_10, ContextSize
from quoteweave.core.errors import EndpointUnreachable, QuestionEmpty
from quoteweave.core.protocols import Expansion, Reranking
from quoteweave.core.records import Filter, Hit, Kind, Query, Quote
from quoteweave.generation.extractive.generator import ExtractiveGenerator
from quoteweave.pipeline.composition.add_documents import add_documents
from quoteweave.pipeline.composition.make_rag import make_rag
from quoteweave.pipeline.composition.make_search import make_search
from quoteweave.pipeline.rag import Rag
from quoteweave.pipeline.search import RetrievedContext, Search
from quoteweave.pipeline.settings import AnswerSettings, RetrievalSettings
from quoteweave.retrievers.lexical import LexicalRetriever

QUERY = Query(text="grain")


def numbered(text: str, layout: str = "paragraph") -> Quote:
    return made_quote(text, layout=layout).model_copy(update={"id": text})  # type: ignore[arg-type]


class Shelf:
    """Finds whatever it holds of the kind asked for, in its own order; a clause may have an order of its own."""

    def __init__(self, quotes: Sequence[Quote], orders: dict[str, Sequence[int]] | None = None) -> None:
        self.quotes, self.orders = quotes, orders or {}
        self.asked: list[tuple[list[str], int, Filter | None]] = []

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        self.asked.append(([query.text for query in queries], k, where))
        return [self._hits(query.text, k, where.kind if where else None) for query in queries]

    def _hits(self, text: str, k: int, kind: str | None) -> list[Hit]:
        order = self.orders.get(text, range(len(self.quotes)))
        kept = [quote for quote in (self.quotes[i] for i in order) if kind in (None, quote.kind)][:k]
        return [Hit(rank=rank, score=1 / rank, quote=quote) for rank, quote in enumerate(kept, 1)]


class Clauses:
    name = "clauses"

    def __init__(self, *clauses: str, note: str | None = None) -> None:
        self.expansion = Expansion(clauses=clauses, note=note)

    async def expand(self, query: Query, *, where: Filter | None = None) -> Expansion:
        return self.expansion


def test_feedback_reads_only_documents_that_the_filter_of_the_question_passes(tmp_path: Path) -> None:
    documents: dict[str, list[str | Quote]] = {"a.md": ["Grain came by ship."], "b.md": ["Grain went by zeppelin."]}
    with make_collection(tmp_path, documents) as collection:
        settings, where = AnswerSettings(retriever=("bm25",), expand="rm3"), Filter(documents=("a.md",))
        search, rag = make_search(collection, settings), make_rag(collection, settings)
        traces = [
            asyncio.run(search.find(QUERY, 5, where=where)).trace,
            asyncio.run(search.context(QUERY, where=where)).trace,
            rag.answer_with_context("grain", where=where).trace,
            make_rag(collection, settings, where=where).answer_with_context("grain").trace,
        ]
    assert [("ship" in one.clauses[0], "zeppelin" in one.clauses[0]) for one in traces] == [(True, False)] * 4


class Backwards:
    """Puts the last candidate first, and keeps what it was given."""

    name = "backwards"

    def __init__(self, note: str | None = None) -> None:
        self.note = note
        self.given: list[tuple[str, list[str]]] = []

    async def rerank(self, query: Query, hits: Sequence[Hit]) -> Reranking:
        self.given.append((query.text, [hit.quote.text for hit in hits]))
        backwards = [hit.model_copy(update={"rank": rank}) for rank, hit in enumerate(reversed(hits), 1)]
        return Reranking(hits=tuple(backwards), note=self.note)


def shelf(texts: int, images: int) -> Shelf:
    return Shelf([numbered(f"t{i}") for i in range(texts)] + [numbered(f"i{i}", "chart") for i in range(images)])


def context(search: Search, size: ContextSize = C15, where: Filter | None = None) -> RetrievedContext:
    return asyncio.run(search.context(QUERY, size, where=where))


def words(hits: Sequence[Hit]) -> list[str]:
    return [hit.quote.text for hit in hits]


@pytest.mark.parametrize(("size", "texts", "images"), [(TOP_10, 7, 3), (C15, 10, 5), (C20, 12, 8)])
def test_a_size_fixes_how_many_of_each_kind(size: ContextSize, texts: int, images: int) -> None:
    found = context(Search(shelf(30, 30)), size).context
    assert words(found.texts) == [f"t{i}" for i in range(texts)]
    assert words(found.images) == [f"i{i}" for i in range(images)]
    assert [hit.rank for hit in found.images] == list(range(1, images + 1))


def test_one_kind_does_not_take_the_places_of_the_other() -> None:
    found = context(Search(shelf(30, 1))).context
    assert (len(found.texts), len(found.images)) == (10, 1)


@pytest.mark.parametrize(("kind", "texts", "images"), [("text", 10, 0), ("image", 0, 5)])
def test_a_filter_by_kind_leaves_the_other_empty(kind: Kind, texts: int, images: int) -> None:
    found = context(Search(shelf(30, 30)), where=Filter(kind=kind)).context
    assert (len(found.texts), len(found.images)) == (texts, images)


def test_the_rest_of_a_filter_is_kept_and_nothing_is_searched_deeper_than_asked() -> None:
    retriever = shelf(1, 1)
    context(Search(retriever), ContextSize(texts=2, images=1), Filter(documents=("a",), last_page=3))
    kept = {"documents": ("a",), "last_page": 3}
    assert retriever.asked == [
        (["grain"], 2, Filter.model_validate({**kept, "kind": "text"})),
        (["grain"], 1, Filter.model_validate({**kept, "kind": "image"})),
    ]


def test_a_kind_of_which_none_is_wanted_is_not_searched() -> None:
    retriever = shelf(3, 3)
    found = context(Search(retriever), ContextSize(texts=0, images=2)).context
    assert (len(found.texts), len(found.images), len(retriever.asked)) == (0, 2, 1)


def test_clauses_are_searched_in_one_call_and_a_quote_found_by_several_counts_once_and_more() -> None:
    quotes = [numbered(name) for name in "abcd"]
    retriever = Shelf(quotes, {"first": [0, 1], "second": [2, 1], "third": [3, 1]})
    found = asyncio.run(Search(retriever, expander=Clauses("first", "second", "third")).find(QUERY, 4))
    # b: 3/62; a, c, d: 1/61 each.
    assert words(found.hits)[0] == "b"
    assert sorted(words(found.hits)) == ["a", "b", "c", "d"]
    assert [hit.rank for hit in found.hits] == [1, 2, 3, 4]
    assert [texts for texts, _, _ in retriever.asked] == [["first", "second", "third"]]


def test_a_single_ranking_keeps_its_scores() -> None:
    found = asyncio.run(Search(shelf(3, 0)).find(QUERY, 2))
    assert [hit.score for hit in found.hits] == [1, 1 / 2]


def test_a_reranker_sees_the_pool_of_each_kind_and_the_question_itself() -> None:
    reranker = Backwards()
    search = Search(shelf(9, 4), expander=Clauses("other"), reranker=reranker, pool=6)
    found = context(search, ContextSize(texts=2, images=2)).context
    assert reranker.given == [
        ("grain", ["t0", "t1", "t2", "t3", "t4", "t5"]),
        ("grain", ["i0", "i1", "i2", "i3"]),
    ]
    assert (words(found.texts), words(found.images)) == (["t5", "t4"], ["i3", "i2"])


def test_a_pool_is_never_smaller_than_what_is_asked_for() -> None:
    found = asyncio.run(Search(shelf(9, 0), reranker=Backwards(), pool=1).find(QUERY, 5))
    assert words(found.hits) == ["t4", "t3", "t2", "t1", "t0"]


def test_a_reranker_is_not_asked_about_nothing() -> None:
    reranker = Backwards()
    assert context(Search(shelf(0, 0), reranker=reranker)).context.texts == ()
    assert reranker.given == []


def test_the_trace_tells_what_was_done() -> None:
    search = Search(shelf(9, 1), expander=Clauses("a", "b", note="the model was away"), reranker=Backwards(), pool=7)
    trace = context(search, ContextSize(texts=2, images=2)).trace
    assert (trace.clauses, trace.notes) == (("a", "b"), ("the model was away",))
    assert (trace.expander, trace.reranker) == ("clauses", "backwards")
    assert trace.candidates == {"text": 7, "image": 1}
    assert set(trace.seconds) == {"expand", "search", "rerank"}


def test_notes_of_expander_and_reranker_stand_in_the_trace_once_each() -> None:
    search = Search(shelf(3, 3), expander=Clauses("a", note="no clauses"), reranker=Backwards("no order"))
    assert context(search).trace.notes == ("no clauses", "no order")


def test_without_steps_the_trace_holds_the_question_alone() -> None:
    trace = context(Search(shelf(1, 0))).trace
    assert (trace.clauses, trace.notes, trace.expander, trace.reranker) == (("grain",), (), None, None)


def test_an_empty_question_is_not_searched_for() -> None:
    retriever = shelf(1, 1)
    search = Search(retriever, expander=Clauses("grain"))
    for work in (search.find(Query(text=" \t"), 5), search.context(Query(text=""))):
        with pytest.raises(QuestionEmpty, match="the question is empty"):
            asyncio.run(work)
    assert retriever.asked == []


def test_errors_of_a_reranker_come_through_as_they_are() -> None:
    class Broken:
        name = "broken"

        async def rerank(self, query: Query, hits: Sequence[Hit]) -> Reranking:
            raise EndpointUnreachable("no answer")

    with pytest.raises(EndpointUnreachable, match="no answer"):
        context(Search(shelf(1, 0), reranker=Broken()))


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What needs 230V?", "230 volts"),
        ("Which service is the XR200?", "XR 200"),
        ("What is case 21cv1234?", "21-cv-1234"),
        ("What needs 400V?", None),
        ("Who made the ZX81?", None),
    ],
)
def test_what_search_knows_by_another_spelling_is_not_declined(question: str, told: str | None, tmp_path: Path) -> None:
    texts = (
        "The pump needs a supply of 230 volts. The hose is made of rubber and lasts for ten years.",
        "Keep the pump dry, and call the XR 200 service at once when it leaks.",
        "The case number is 21-cv-1234. It was heard in May.",
    )
    with make_collection(tmp_path, {"pump.pdf": texts}) as collection:
        answer = make_rag(collection, AnswerSettings()).answer(question)
    assert (answer.status == "abstained") == (told is None)
    assert told is None or told in answer.text


@pytest.mark.parametrize(
    ("question", "documents", "told"),
    [
        ("What is harbour-report.pdf about?", ["harbour-report.pdf"], "Asked within {}, which the question names."),
        ("How did the grain come, says Notes.md?", ["a/notes.md", "b/notes.md"], "Asked within {}, which"),
        ("How did the grain come, says a/notes.md?", ["a/notes.md"], "Asked within {}, which"),
        (
            "How did the grain come, says lost.pdf?",
            ["a/notes.md", "b/notes.md", "harbour-report.pdf"],
            "No document that was asked is named lost.pdf, and no quote that was found has this name.",
        ),
        ("How did the grain come, says robots.txt?", ["a/notes.md", "b/notes.md", "harbour-report.pdf"], None),
        (
            "How did the grain come, says a/notes.md, and lost.pdf?",
            ["a/notes.md"],
            "Asked within {}, which the question names. No document that was asked is named lost.pdf",
        ),
        (
            "How did the grain come, says https://example.com/lost.pdf?",
            ["a/notes.md", "b/notes.md", "harbour-report.pdf"],
            None,
        ),
    ],
)
def test_a_question_that_names_files_is_asked_within_them_and_says_so(
    question: str, documents: list[str], told: str | None, tmp_path: Path
) -> None:
    ways = {"harbour-report.pdf": "ship", "a/notes.md": "rail", "b/notes.md": "road"}
    texts = {name: [f"Grain came by {way}, which robots.txt tells."] for name, way in ways.items()}
    with make_collection(tmp_path, texts) as collection:
        search = Search(LexicalRetriever(collection), collection=collection)
        found = asyncio.run(search.context(Query(text=question)))
        about = make_rag(collection, AnswerSettings()).answer("What is harbour-report.pdf about?")
    assert sorted({hit.quote.document for hit in found.context.hits}) == documents
    assert " ".join(found.trace.notes).startswith(told.format(", ".join(documents))) if told else not found.trace.notes
    assert [citation.document for citation in about.citations] == ["harbour-report.pdf"]


@pytest.mark.parametrize(
    ("question", "status", "said"),
    [
        ("Where is barley stored?", "answered", "Barley is stored in the east barn"),
        ("According to a.md, where is barley stored?", "answered", "Barley is stored in the east barn"),
        ("In farm/a.md, where is barley stored?", "answered", "Barley is stored in the east barn"),
        ("According to this report, where is barley stored?", "answered", "Barley is stored in the east barn"),
        ("What does a.md say about grain?", "located", "The grain was cut in August"),
        ("What do a.md and b.md say about grain?", "located", "The grain was cut in August"),
        ("How many headings does a.md have?", "answered", "1 heading in farm/a.md"),
        ("What does a.md say about wine?", "abstained", "No page that was read has the word wine."),
        ("Where is barley stored according to farm\\A.MD?", "answered", "Barley is stored in the east barn"),
        ("Where is rye stored in My notes (1).md?", "answered", "Rye is stored in the west barn"),
        ("Where is rye stored in barns/my notes (1).md?", "answered", "Rye is stored in the west barn"),
        ("Was sagt b.md über Weizen?", "located", "Weizen wird im Speicher gelagert"),
        ("Wie viele Überschriften hat b.md?", "answered", "1 heading in b.md"),
    ],
)
def test_the_name_of_a_file_to_look_in_is_no_word_of_the_question(
    question: str, status: str, said: str, tmp_path: Path
) -> None:
    texts = {
        "farm/a.md": "# Harvest\n\nThe grain was cut in August. Barley is stored in the east barn.\n",
        "b.md": "# Prices\n\nThe price of grain rose in 2024. Weizen wird im Speicher gelagert.\n",
        "farm/barns/my notes (1).md": "# Barns\n\nRye is stored in the west barn.\n",
    }
    (tmp_path / "files" / "farm" / "barns").mkdir(parents=True)
    for name, text in texts.items():
        (tmp_path / "files" / name).write_text(text)
    add_documents(tmp_path / "collection", [tmp_path / "files"])
    with Collection.open(tmp_path / "collection") as collection:
        answered = make_rag(collection, AnswerSettings()).answer_with_context(question)
    assert (answered.answer.status, answered.answer.question) == (status, question)
    assert said in " ".join([answered.answer.text, *answered.answer.warnings])


@pytest.mark.parametrize(
    ("question", "is_told"),
    [
        ("How did the grain come?", False),
        ("How many pages does the document have?", False),
        ("Who won the football world cup?", True),
        ("How did the grain come, says b.pdf?", True),
    ],
)
def test_files_that_could_not_be_read_are_told_where_an_answer_may_lack_them(
    question: str, is_told: bool, tmp_path: Path
) -> None:
    with make_collection(tmp_path, {"a.md": ["Grain came by ship.", "More grain came."]}) as collection:
        with collection.writer() as writer:
            for name in ("b.pdf", "c.pdf"):
                writer.fail(name, root=tmp_path, reason="is damaged", content=None)
        told = (
            "2 files could not be read: what they say is missing here; "
            f"see which with: quoteweave status -c {collection.root}"
        )
        answered = Rag(LexicalRetriever(collection), ExtractiveGenerator()).answer_with_context(question)
        assert (answered.trace.notes, told in answered.answer.warnings) == ((), is_told)
        search = make_search(collection, RetrievalSettings(retriever=("bm25", "tfidf"), fusion="rrf"))
        assert asyncio.run(search.find(Query(text=question), 5)).trace.notes == (told,)


def test_files_that_a_filter_excludes_by_their_names_are_not_told(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.md": ["Grain came by ship."]}) as collection:
        with collection.writer() as writer:
            for name in ("a.md", "b.pdf"):  # a.md has changed, and can no longer be read
                writer.fail(name, root=tmp_path, reason="is damaged", content=None)
        search = make_search(collection, RetrievalSettings())
        (note,) = asyncio.run(search.find(QUERY, 5, where=Filter(documents=("a.md",)))).trace.notes
        assert note.startswith("1 file could not be read: what it says is missing here")
        note, _ = asyncio.run(search.find(QUERY, 5, where=Filter(metadata={"year": "2024"}))).trace.notes
        assert note.startswith("2 files")
        with collection.writer() as writer:
            writer.clear_failure("a.md")
        assert asyncio.run(search.find(QUERY, 5, where=Filter(documents=("a.md",)))).trace.notes == ()


class InlineShelf(Shelf):
    """Is searched on the event loop, and writes down when."""

    runs_inline = True

    def __init__(self, happened: list[str]) -> None:
        super().__init__([numbered("t0")])
        self.happened = happened

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        self.happened.append(queries[0].text)
        return super().search(queries, k, where=where)


def test_between_two_of_many_searches_on_the_event_loop_it_does_what_else_is_due() -> None:
    happened: list[str] = []
    search, wanted = Search(InlineShelf(happened)), ["first", "second", "third", "fourth"]

    async def look_in() -> None:
        while not set(wanted) <= set(happened):
            happened.append("else")
            await asyncio.sleep(0)

    async def together() -> None:
        await asyncio.gather(*(search.find(Query(text=text), 1) for text in wanted), look_in())

    asyncio.run(together())
    assert [one for one in happened if one != "else"] == wanted
    at = [happened.index(one) for one in wanted]
    assert all("else" in happened[one:other] for one, other in pairwise(at))


@pytest.mark.parametrize(
    ("where", "is_told"),
    [
        (Filter(metadata={"year": "2031"}), True),
        (Filter(kind="image"), True),
        (Filter(first_page=90), True),
        (Filter(documents=("a.md",)), False),
        (None, False),
    ],
)
def test_a_filter_that_no_quote_passes_is_told(where: Filter | None, is_told: bool, tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.md": ["Grain came by rail."]}) as collection:
        search = Search(LexicalRetriever(collection), collection=collection)
        found = asyncio.run(search.find(Query(text="zeppelins"), 5, where=where))
        context = asyncio.run(search.context(Query(text="zeppelins"), where=where))
        none = asyncio.run(search.context(Query(text="zeppelins"), ContextSize(texts=0, images=0), where=where))
    told = ("No quote passes the filter, so that nothing was searched.",) if is_told else ()
    assert (found.hits, found.trace.notes, context.trace.notes, none.trace.notes) == ((), told, told, ())
