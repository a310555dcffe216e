from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_documents import made_page, made_quote, put

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import UsageError
from quoteweave.core.records import Document, Filter, Layout, ParsedDocument, Quote

LAYOUTS: tuple[Layout, ...] = ("header", "title", "paragraph", "figure", "table")
METADATA = {"a.txt": {"year": "2020", "lang": "en"}, "b.txt": {"year": "2021", "lang": "en"}, "c.txt": {}}


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    """Three documents of three pages, with a quote of each layout on each page."""
    folder = tmp_path_factory.mktemp("selection")
    quotes = tuple(
        made_quote("text", page=page, ordinal=ordinal, layout=layout)
        for page in range(3)
        for ordinal, layout in enumerate(LAYOUTS)
    )
    parsed = ParsedDocument(pages=tuple(map(made_page, range(3))), quotes=quotes)
    with Collection.create(folder / "c") as collection:
        with collection.writer() as writer:
            for name, metadata in METADATA.items():
                put(writer, folder, name, parsed, metadata=metadata)
        yield collection


def passes(document: Document, quote: Quote, where: Filter) -> bool:
    return (
        (where.documents is None or document.name in where.documents)
        and (where.first_page is None or quote.page >= where.first_page)
        and (where.last_page is None or quote.page <= where.last_page)
        and (where.kind is None or quote.kind == where.kind)
        and (where.layouts is None or quote.layout in where.layouts)
        and where.metadata.items() <= document.metadata.items()
    )


def in_order(pages: tuple[int | None, int | None]) -> bool:
    return pages[0] is None or pages[1] is None or pages[0] <= pages[1]


page = st.none() | st.integers(0, 3)
filters = st.builds(
    lambda pages, **fields: Filter(first_page=pages[0], last_page=pages[1], **fields),
    st.tuples(page, page).filter(in_order),
    documents=st.none() | st.lists(st.sampled_from(sorted(METADATA)), max_size=3).map(tuple),
    kind=st.sampled_from([None, "text", "image"]),
    layouts=st.none() | st.lists(st.sampled_from(LAYOUTS), max_size=3).map(tuple),
    metadata=st.dictionaries(
        st.sampled_from(["year", "lang", "x"]), st.sampled_from(["2020", "2021", "en"]), max_size=2
    ),
)


@given(where=filters, retrievable_only=st.booleans())
def test_what_is_selected_is_what_passes_the_filter(
    collection: Collection, where: Filter, retrievable_only: bool
) -> None:
    expected = [
        row
        for document, rows, quotes in collection.iter_documents_quotes()
        for row, quote in zip(rows, quotes, strict=True)
        if passes(document, quote, where) and (quote.retrievable or not retrievable_only)
    ]
    rows = collection.select(where, retrievable_only=retrievable_only)
    assert rows.dtype == np.int64
    assert rows.tolist() == sorted(expected)


def test_without_a_filter_all_but_headers_and_footers_are_selected(collection: Collection) -> None:
    assert len(collection.select()) == 3 * 3 * 4
    assert len(collection.select(retrievable_only=False)) == 3 * 3 * 5


def test_filters_hold_together(collection: Collection) -> None:
    where = Filter(metadata={"lang": "en"}, kind="image", first_page=1, last_page=1, layouts=("table", "title"))
    quotes = [quote for quote in collection.quotes_at(collection.select(where).tolist()) if quote]
    assert [(quote.document, quote.page, quote.layout) for quote in quotes] == [
        ("a.txt", 1, "table"),
        ("b.txt", 1, "table"),
    ]


def test_no_documents_is_not_all_documents(collection: Collection) -> None:
    assert collection.select(Filter(documents=())).tolist() == []


def test_every_document_that_does_not_exist_is_named(collection: Collection) -> None:
    with pytest.raises(UsageError, match=r"'A.text'; did you mean 'a\.txt'.*\"x'; DROP TABLE quotes\""):
        collection.select(Filter(documents=("b.txt", "A.text", "x'; DROP TABLE quotes")))
