"""Where quotes stand, in thousandths of the page, and whole documents as contexts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from made_collections import made_quote, put

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Context
from quoteweave.core.boxes import Box
from quoteweave.core.errors import UsageError
from quoteweave.core.examples import Example, GoldRegion, PageBoxes, Reference
from quoteweave.core.records import Hit, Query, Quote
from quoteweave.pipeline.runs.answerer import AllQuotes, EvidenceBoxes
from quoteweave.pipeline.window import Window

CAPTION = "Table 1: Grain by month"
LONG = "Grain was shipped. " * 200


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    """A document of two pages of 612 × 792 points: header, table with caption, paragraph; and a long paragraph."""
    quotes = [
        made_quote("Port report", layout="header", bbox=(61.2, 7.92, 122.4, 15.84)),
        made_quote(CAPTION, layout="caption", bbox=(61.2, 79.2, 306, 95.04)),
        made_quote("May 4,210", layout="table", caption=CAPTION, bbox=(61.2, 99, 550.8, 396)),
        made_quote("Grain went by rail.", bbox=(61.2, 475.2, 550.8, 554.4)),
        made_quote(LONG, page=1, bbox=(0, 0, 612, 792)),
    ]
    with Collection.create(tmp_path / "c") as opened:
        with opened.writer() as writer:
            put(writer, tmp_path, "a.pdf", quotes)
            put(writer, tmp_path, "b.pdf", [made_quote("Timber.", bbox=(61.2, 79.2, 306, 95.04))])
        yield opened


def quotes_of(collection: Collection, name: str = "a.pdf") -> dict[str, Quote]:
    return {quote.layout if quote.page == 0 else "long": quote for quote in collection.document_quotes(name)}


def context_of(*quotes: Quote) -> Context:
    texts, images = ([quote for quote in quotes if quote.kind == kind] for kind in ("text", "image"))
    return Context(
        texts=tuple(Hit(rank=1, score=1, quote=quote) for quote in texts),
        images=tuple(Hit(rank=1, score=1, quote=quote) for quote in images),
    )


def asked(*gold: tuple[str, int]) -> Example:
    box: Box = (0, 0, 10, 10)
    regions = tuple(GoldRegion(document=document, page=page, bbox=box) for document, page in gold)
    return Example(id="q", query=Query(text="?"), documents=("a.pdf",), reference=Reference(regions=regions))


def test_a_table_and_its_caption_are_boxes_of_their_own(collection: Collection) -> None:
    found = quotes_of(collection)
    boxes = EvidenceBoxes(collection, {}).of_context(context_of(found["table"], found["paragraph"]))
    assert boxes == {
        found["table"].id: ((100, 125, 900, 500), (100, 100, 500, 120)),
        found["paragraph"].id: ((100, 600, 900, 700),),
    }


def test_the_caption_of_a_table_that_was_cut_to_a_window_is_looked_up(collection: Collection) -> None:
    cut = quotes_of(collection)["table"].model_copy(update={"caption": None, "text": "May"})
    assert EvidenceBoxes(collection, {}).of_context(context_of(cut))[cut.id][1] == (100, 100, 500, 120)


def test_quotes_without_pages_have_no_boxes(collection: Collection) -> None:
    reflowed = quotes_of(collection)["paragraph"].model_copy(update={"has_pages": False})
    assert EvidenceBoxes(collection, {}).of_context(context_of(reflowed)) == {}


def test_gold_pages_hold_all_quotes_and_those_that_are_not_there_are_left_out(collection: Collection) -> None:
    boxes = EvidenceBoxes(collection, {"a.pdf": "a.pdf"})
    gold = asked(("a.pdf", 1), ("a.pdf", 1), ("a.pdf", 7), ("c.pdf", 0))
    assert boxes.of_gold_pages(gold) == (
        PageBoxes(document="a.pdf", page=1, boxes=((0, 0, 1000, 1000),)),
        PageBoxes(document="c.pdf", page=0, boxes=()),  # the collection lacks the document: its gold is missed
    )
    (first,) = boxes.of_gold_pages(asked(("a.pdf", 0)))
    assert len(first.boxes) == 4
    assert (100, 10, 200, 20) in first.boxes  # the header, which may be gold


def test_whole_documents_are_in_their_order_without_headers(collection: Collection) -> None:
    context, left_out, notes = AllQuotes(collection, None).context(["b.pdf", "a.pdf"], "?")
    assert [hit.quote.text for hit in context.texts] == ["Timber.", CAPTION, "Grain went by rail.", LONG]
    assert [hit.quote.text for hit in context.images] == ["May 4,210"]
    assert [hit.rank for hit in context.texts] == [1, 2, 3, 4]
    assert (left_out, notes) == (0, ())


def test_what_the_window_does_not_hold_is_left_out_at_the_end_and_told(collection: Collection) -> None:
    window = Window(tokens=1_100)
    context, left_out, notes = AllQuotes(collection, window).context(["a.pdf"], "?")
    assert [hit.quote.text for hit in context.texts] == [CAPTION, "Grain went by rail."]
    assert left_out == 1
    assert notes == ("1 quote of 4 left out, at the end of the documents: the window of 1,100 tokens holds no more",)


def test_a_document_that_is_not_there_is_told(collection: Collection) -> None:
    with pytest.raises(UsageError, match=r"c\.pdf"):
        AllQuotes(collection, None).context(["c.pdf"], "?")
