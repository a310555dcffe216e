"""The names of pages, the search for the last chapter and the count of chapters go by one rule."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest
from made_documents import made_page, made_quote

from quoteweave.collection.collection import Collection
from quoteweave.collection.records import Origin
from quoteweave.core.place_names import PlaceName
from quoteweave.core.records import Filter, ParsedDocument
from quoteweave.index import lexical
from quoteweave.pipeline.whole_document.document_structure import structure_context


@pytest.mark.parametrize(
    ("shown", "outline", "count", "last"),
    [
        # Steps of a manual.
        (
            [["Use", "1 Touch", "¶x"], ["2 Press", "¶x"], ["Cleaning", "3 Turn", "¶x"], ["Repair"]],
            [["Use"], ["Use", "Hoses"], ["Cleaning"], ["Repair"]],
            3,
            [3],
        ),
        ([["1 Oak"], ["2 Elm"], ["20 Years of Elms"], ["3 Ash"], ["¶x"]], [[]] * 5, 3, [3, 4]),
        ([["Chapter 1"], ["¶x", "1 Leaves"], ["Chapter 2"], ["9 Leaves"]], [[]] * 4, 2, [2, 3]),
        ([["1 Oak"], ["2 Elm"], ["4 Fir"], ["5 Yew"]], [[]] * 4, 4, [3]),
    ],
)
def test_the_last_chapter_is_the_last_of_those_that_are_counted(
    shown: Sequence[Sequence[str]], outline: Sequence[Sequence[str]], count: int, last: list[int], tmp_path: Path
) -> None:
    pages = [made_page(at).model_copy(update={"headings": tuple(headings)}) for at, headings in enumerate(outline)]
    quotes = [
        made_quote(text.removeprefix("¶"), page=page, ordinal=at, layout="paragraph" if text[0] == "¶" else "title")
        for page, texts in enumerate(shown)
        for at, text in enumerate(texts)
    ]
    file = tmp_path / "book.md"
    file.write_text("x")
    origin = Origin(root=tmp_path, content=hashlib.sha256(b"x").hexdigest(), parser="made/1", metadata={})
    with Collection.create(tmp_path / "made") as made:
        with made.writer() as writer:
            parsed = ParsedDocument(pages=tuple(pages), quotes=tuple(quotes))
            writer.store([writer.prepare(file, name="book.md", format="text", origin=origin, parsed=parsed)])
        index = lexical.current_lexical_index(made)
        context = structure_context("How many chapters does this document have?", made, Filter())
    assert context is not None
    assert context.structure is not None
    assert context.structure.counts[0].count == count
    assert index.pages_meant_by(PlaceName.parse("chapter last")).tolist() == last
