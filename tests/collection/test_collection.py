import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from made_documents import made_document, made_page, made_quote, put

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import (
    CollectionError,
    CollectionExists,
    CollectionNotFound,
    FormatMismatch,
    QuoteNotFound,
    UsageError,
)
from quoteweave.core.records import Layout, ParsedDocument


def test_a_new_collection_is_empty_and_says_its_format(tmp_path: Path) -> None:
    root = tmp_path / "new" / "collection"
    with Collection.create(root) as collection:
        assert collection.revision() == 0
        assert collection.documents() == []
        assert collection.failures() == []
        assert collection.indexes() == []
        assert collection.origins() == {}
        assert collection.select().tolist() == []
        assert list(collection.iter_documents_quotes()) == []
        assert (collection.counts().documents, collection.counts().pages, collection.counts().quotes) == (0, 0, 0)
    header = json.loads((root / "collection.json").read_text())
    assert header["format"] == 3
    assert set(header) == {"format", "quoteweave", "checksum"}


def test_what_is_there_is_opened_and_never_taken_for_new(tmp_path: Path) -> None:
    with Collection.create(tmp_path / "c") as collection, collection.writer() as writer:
        put(writer, tmp_path, "a.txt", made_document(["text"]))
    with pytest.raises(CollectionExists, match=r"is at .*/c already; open it, or name a new"):
        Collection.create(tmp_path / "c")
    for opening in (Collection.open, Collection.open_or_create):
        with opening(tmp_path / "c") as collection:
            assert [document.name for document in collection.documents()] == ["a.txt"]
    with Collection.open_or_create(tmp_path / "new") as collection:
        assert collection.documents() == []


def test_many_may_open_or_create_the_same_collection_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        for collection in pool.map(Collection.open_or_create, [tmp_path / "c"] * 8):
            assert collection.revision() == 0
            collection.close()


def test_of_many_that_create_the_same_collection_one_does(tmp_path: Path) -> None:
    def create(root: Path) -> int:
        try:
            Collection.create(root).close()
        except CollectionExists:
            return 0
        return 1

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(create, [tmp_path / "c"] * 8)) == 1


def test_a_folder_with_other_things_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(CollectionError, match=r"thesis\.tex.*new or an empty folder"):
        Collection.create(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for root in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(CollectionError, match="is not a folder"):
            Collection.create(root)
        with pytest.raises(CollectionNotFound):
            Collection.open(root)


def test_creating_completes_what_a_killed_process_began(tmp_path: Path) -> None:
    Collection.create(tmp_path).close()
    (tmp_path / "collection.json").rename(tmp_path / ".collection.json.half-written")
    with Collection.create(tmp_path) as collection:
        assert collection.revision() == 0


def test_opening_where_nothing_is_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(CollectionNotFound, match=r"quoteweave add PATH -c '.*my notes'"):
        Collection.open(tmp_path / "my notes")


@pytest.mark.parametrize(("format", "way_out"), [(4, "pip install --upgrade"), (2, "into a new folder")])
def test_another_format_is_refused_with_the_way_out(tmp_path: Path, format: int, way_out: str) -> None:
    Collection.create(tmp_path).close()
    (tmp_path / "collection.json").write_text(json.dumps({"format": format, "quoteweave": "9.8", "more": []}))
    for get in (Collection.open, Collection.open_or_create):
        with pytest.raises(FormatMismatch, match=rf"quoteweave 9\.8 in format {format}.*{way_out}"):
            get(tmp_path)


@pytest.mark.parametrize("header", ["", "{", "[]", '{"format": "one"}', '{"quoteweave": "0.1"}'])
def test_a_damaged_header_is_named(tmp_path: Path, header: str) -> None:
    Collection.create(tmp_path).close()
    (tmp_path / "collection.json").write_text(header)
    with pytest.raises(CollectionError, match=r"collection\.json is damaged"):
        Collection.open(tmp_path)


def test_a_header_with_another_digit_is_damaged_and_not_of_another_format(tmp_path: Path) -> None:
    Collection.create(tmp_path).close()
    header = tmp_path / "collection.json"
    header.write_text(header.read_text().replace('"format":3', '"format":1'))
    with pytest.raises(CollectionError, match=r"collection\.json is damaged.*check"):
        Collection.open(tmp_path)
    header.write_text(json.dumps({"format": 3, "quoteweave": "0.1.0"}))  # as earlier versions have written it
    Collection.open(tmp_path).close()


def test_what_was_put_is_read_back(tmp_path: Path) -> None:
    parsed = ParsedDocument(
        pages=(made_page(0), made_page(1)),
        quotes=(
            made_quote("Running title", page=0, ordinal=0, layout="header"),
            made_quote("Lemmas № 1 — “quoted”, naïve, 中文, \0, \U0001f600", page=0, ordinal=1),
            made_quote("Year 2020 2021", page=1, ordinal=0, layout="table"),
        ),
        warnings=("page 2 has no text layer",),
    )
    name = 'sub folder/it\'s "odd"\n../name.txt'
    with Collection.create(tmp_path / "c") as collection:
        with collection.writer() as writer:
            stored = put(writer, tmp_path, name, parsed, metadata={"year": "2020"})
            put(writer, tmp_path, "0 first.txt", made_document(["other"]))
        document = collection.document(name)
        assert document == stored
        assert (document.format, document.parser, document.pages, document.quotes) == ("text", "made/1", 2, 3)
        assert (document.metadata, document.warnings) == ({"year": "2020"}, parsed.warnings)
        assert [found.name for found in collection.documents()] == ["0 first.txt", name]
        assert collection.pages(name) == list(parsed.pages)
        quotes = collection.document_quotes(name)
        assert [quote.id for quote in quotes] == [f"{document.id}:{quote.id}" for quote in parsed.quotes]
        assert [
            q.model_copy(update={"id": p.id, "document": ""}) for q, p in zip(quotes, parsed.quotes, strict=True)
        ] == [*parsed.quotes]
        assert collection.quote(quotes[1].id) == quotes[1]
        assert collection.source_file(name).read_bytes() == (tmp_path / Path(name).name).read_bytes()
        assert collection.origins()[name].root == tmp_path
        assert collection.origins()[name].content == document.content


def test_rows_lead_to_quotes_in_the_order_asked_and_removed_ones_to_none(tmp_path: Path) -> None:
    with Collection.create(tmp_path / "c") as collection:
        with collection.writer() as writer:
            put(writer, tmp_path, "b.txt", made_document(["b0", "b1"]))
            put(writer, tmp_path, "a.txt", made_document(["a0", "a1"]))
        found = {document.name: (rows, quotes) for document, rows, quotes in collection.iter_documents_quotes()}
        assert list(found) == ["a.txt", "b.txt"]
        (a0, a1), (b0, b1) = found["a.txt"][0], found["b.txt"][0]
        assert [quote.text for quote in found["b.txt"][1]] == ["b0", "b1"]
        with collection.writer() as writer:
            writer.remove("a.txt")
            put(writer, tmp_path, "c.txt", made_document(["c0", "c1"]))
        quotes = collection.quotes_at([b1, a0, b0, b1, a1, 10**12])
        assert [quote and quote.text for quote in quotes] == ["b1", None, "b0", "b1", None, None]
        assert collection.quotes_at([]) == []
        assert not {a0, a1} & set(collection.select().tolist())


def test_retrievable_rows_come_by_document_with_their_pages(tmp_path: Path) -> None:
    quotes = (made_quote("0"), made_quote("foot", ordinal=1, layout="footer"), made_quote("1", page=1))
    parsed = ParsedDocument(pages=(made_page(0), made_page(1)), quotes=quotes)
    with Collection.create(tmp_path / "c") as collection:
        with collection.writer() as writer:
            put(writer, tmp_path, "b.txt", parsed)
            put(writer, tmp_path, "a.txt", ParsedDocument(pages=(made_page(0),), quotes=()))
        found = {name: (rows.tolist(), pages.tolist()) for name, rows, pages in collection.iter_retrievable_rows()}
        assert list(found) == ["a.txt", "b.txt"]
        assert found["a.txt"] == ([], [])
        assert found["b.txt"] == (collection.select().tolist(), [0, 1])


def test_counts_tell_kinds_and_layouts_apart(tmp_path: Path) -> None:
    layouts: tuple[Layout, ...] = ("title", "paragraph", "paragraph", "footer", "table", "chart")
    quotes = tuple(made_quote("", ordinal=i, layout=layout) for i, layout in enumerate(layouts))
    with Collection.create(tmp_path / "c") as collection:
        with collection.writer() as writer:
            put(writer, tmp_path, "a.txt", ParsedDocument(pages=(made_page(0), made_page(1)), quotes=quotes))
        counts = collection.counts()
    assert (counts.documents, counts.pages, counts.quotes, counts.image_quotes) == (1, 2, 6, 2)
    assert counts.by_kind == {"text": 4, "image": 2}
    assert counts.by_layout == {"title": 1, "paragraph": 2, "footer": 1, "table": 1, "chart": 1}


def test_a_document_that_does_not_exist_is_answered_with_near_names(tmp_path: Path) -> None:
    with Collection.create(tmp_path / "c") as collection:
        with collection.writer() as writer:
            put(writer, tmp_path, "reports/Annual 2020.pdf", made_document(["text"]))
        for ask in (collection.document, collection.pages, collection.document_quotes, collection.source_file):
            for wrong in ("annual 2020.pdf", "reports/Anual 2020.pdf"):
                with pytest.raises(UsageError, match=r"did you mean 'reports/Annual 2020\.pdf'\?"):
                    ask(wrong)
            with pytest.raises(UsageError, match="no document is named 'zzz'") as caught:
                ask("zzz")
            assert "did you mean" not in str(caught.value)


def test_a_quote_that_does_not_exist_is_not_found(tmp_path: Path) -> None:
    with Collection.create(tmp_path) as collection, pytest.raises(QuoteNotFound, match="abc:0:0"):
        collection.quote("abc:0:0")
    with Collection.open(tmp_path) as collection, pytest.raises(QuoteNotFound, match="no quote has the id"):
        collection.quote("abc\udcff:0:0")


def test_a_source_removed_by_hand_is_named(tmp_path: Path) -> None:
    with Collection.create(tmp_path / "c") as collection:
        with collection.writer() as writer:
            put(writer, tmp_path, "a.txt", made_document(["text"]))
        collection.source_file("a.txt").unlink()
        with pytest.raises(CollectionError, match=r"the file of 'a\.txt', is missing"):
            collection.source_file("a.txt")


def test_a_closed_collection_cannot_be_read(tmp_path: Path) -> None:
    collection = Collection.create(tmp_path)
    collection.close()
    with pytest.raises(ValueError, match="is closed"):
        collection.revision()
