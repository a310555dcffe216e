"""A context holds the words of a document once, however often the document repeats them."""

from pathlib import Path

from made_collections import made_quote, make_collection

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Context, ContextSize
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.records import Filter, Query
from quoteweave.generation.extractive.generator import ExtractiveGenerator
from quoteweave.pipeline.rag import Rag
from quoteweave.pipeline.search import Search
from quoteweave.retrievers.lexical import LexicalRetriever

NOTICE = "Crane drivers wear a helmet."


def context(collection: Collection, texts: int, images: int = 0, *, ranked_only: bool = False) -> Context:
    search = Search(LexicalRetriever(collection), collection=None if ranked_only else collection)
    return run_sync(search.context(Query(text="crane drivers"), ContextSize(texts=texts, images=images))).context


def test_what_is_repeated_on_other_pages_takes_one_place_and_the_search_goes_deeper(tmp_path: Path) -> None:
    repeated = [made_quote(NOTICE, page=page) for page in range(20)]
    other = made_quote("Most crane drivers came from the north of the country in those years.", page=20)
    with make_collection(tmp_path, {"a.pdf": [*repeated, other], "b.pdf": [made_quote(NOTICE)]}) as collection:
        found, ranked = context(collection, 3), context(collection, 3, ranked_only=True)
    assert sorted((hit.quote.document, hit.quote.text) for hit in found.texts) == [
        ("a.pdf", NOTICE),
        ("a.pdf", other.text),
        ("b.pdf", NOTICE),
    ]
    assert [hit.rank for hit in found.texts] == [1, 2, 3]
    assert {hit.quote.text for hit in ranked.texts} == {NOTICE}, "without a collection the ranking stays as it is"


def test_a_picture_takes_the_place_of_the_page_that_shows_nothing_else(tmp_path: Path) -> None:
    whole = made_quote(NOTICE, layout="page", bbox=(0, 0, 600, 800))
    figure = made_quote(NOTICE, layout="figure", bbox=(50, 50, 500, 400))
    empty = [made_quote("", layout="figure"), made_quote("", layout="figure")]
    with make_collection(tmp_path, {"a.pdf": [whole, figure, *empty]}) as collection:
        images = context(collection, 1, 5).images
    assert [hit.quote.layout for hit in images if hit.quote.all_text()] == ["figure"]


def leases(folder: Path, count: int) -> Collection:
    texts = (f"The rent is {700 + at} euros." for at in range(count))
    pets = ("Pets are allowed." if at == count - 1 else "Pets must not be kept." for at in range(count))
    quotes = {
        f"{at:02}.md": [made_quote(rent), made_quote(rule, page=1)]
        for at, (rent, rule) in enumerate(zip(texts, pets, strict=True))
    }
    return make_collection(folder, quotes)


def test_documents_for_which_a_context_has_no_room_are_known(tmp_path: Path) -> None:
    with leases(tmp_path, 30) as collection:
        rag = Rag(LexicalRetriever(collection), ExtractiveGenerator())
        rent = rag.answer_with_context("What is the rent?")
        within = rag.answer_with_context("What is the rent?", where=Filter(documents=("04.md", "05.md")))
    assert (len(rent.answer.citations), len(rent.context.further) >= 20) == (3, True)
    assert rent.answer.warnings[-1].startswith(
        "At least 27 other documents say something else on this, such as 03.md, "
    )
    assert (len(within.context.further), len(within.answer.warnings)) == (0, 1)
    assert "further" not in rent.context.model_dump(), "a response does not give quotes that the answer does not show"


def test_what_few_documents_forbid_is_cited_beside_what_most_allow(tmp_path: Path) -> None:
    rules = ["Pets must not be kept here." if at in (3, 8) else "Pets are allowed." for at in range(14)]
    quotes = {f"{at:02}.md": [made_quote(rule)] for at, rule in enumerate(rules)}
    with make_collection(tmp_path, quotes) as collection:
        answer = Rag(LexicalRetriever(collection), ExtractiveGenerator()).answer("Are pets allowed?")
    assert "Pets are allowed [" in answer.text
    assert "Pets must not be kept here [" in answer.text


def test_a_document_that_gives_way_to_what_a_heading_introduces_is_known_further(tmp_path: Path) -> None:
    quotes = [
        [
            made_quote("Deposit", layout="title"),
            made_quote(f"It is {at} euros.").model_copy(update={"section": "Deposit"}),
        ]
        for at in range(20)
    ]
    with make_collection(tmp_path, {f"{at:02}.md": own for at, own in enumerate(quotes)}) as collection:
        search = Search(LexicalRetriever(collection), collection=collection)
        found = run_sync(search.context(Query(text="How much is the deposit?"))).context
    assert len({hit.quote.document for hit in (*found.hits, *found.further)}) == 20
    assert {hit.quote.layout for hit in found.further} == {"paragraph"}


def test_what_few_of_many_documents_say_otherwise_takes_the_place_of_copies(tmp_path: Path) -> None:
    with leases(tmp_path, 30) as collection:
        answer = Rag(LexicalRetriever(collection), ExtractiveGenerator()).answer("Are pets allowed?")
    assert {cited.document for cited in answer.citations} >= {"29.md"}
    assert "Pets must not be kept" in answer.text
    assert "other documents" not in " ".join(answer.warnings), "the others say the same"
