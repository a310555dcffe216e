"""The words of pages in a collection: stored, read page by page, removed and repaired with their documents."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from made_documents import made_document, made_page, made_words, put
from reportlab.pdfgen.canvas import Canvas

from quoteweave.collection.checksums import row_checksum
from quoteweave.collection.collection import Collection
from quoteweave.core.errors import CollectionError, UsageError
from quoteweave.core.records import PageWord, PageWords, ParsedDocument
from quoteweave.documents.ingest import AddOptions, add
from quoteweave.documents.parser import ParserSettings
from quoteweave.index.removal import remove_documents
from quoteweave.maintenance.check import check
from quoteweave.maintenance.removal_proof import check_removed
from quoteweave.maintenance.repair import check_and_repair

TEXTS = ["rotkehlchen sang", "goldammer sang"]
READ = ["The harbour was dredged in spring.", "The cranes were moved to the north quay."]
OPTIONS = AddOptions(settings=ParserSettings(ocr=False), processes=1)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A collection of a document by hand and a PDF, and one without words."""
    canvas = Canvas(str(tmp_path / "read.pdf"))
    for line in READ:
        canvas.drawString(72, 600, line)
        canvas.showPage()
    canvas.save()
    with Collection.create(tmp_path / "c") as collection:
        add(collection, [tmp_path / "read.pdf"], OPTIONS)
        with collection.writer() as writer:
            put(writer, tmp_path, "made.pdf", made_document(TEXTS))
            put(writer, tmp_path, "imported.pdf", made_document(["other"]).model_copy(update={"page_words": ()}))
    return tmp_path / "c"


def change(root: Path, statement: str) -> None:
    """In the catalogue, as a writer that is killed then leaves it."""
    with closing(sqlite3.connect(root / "catalog.sqlite")) as db, db:
        db.execute(statement)
    (root / "catalog.sqlite.checksum").unlink(missing_ok=True)


def texts(collection: Collection, name: str) -> list[list[str]]:
    pages = (collection.page_words(name, page.number) for page in collection.pages(name))
    return [[word.text for word in page.words] for page in pages if page is not None]


def test_words_are_read_page_by_page(root: Path) -> None:
    with Collection.open(root) as collection:
        assert texts(collection, "read.pdf") == [line.split() for line in READ]
        assert texts(collection, "made.pdf") == [["rotkehlchen", "sang"], ["goldammer", "sang"]]
        found = collection.page_words("made.pdf", 1)
        assert found is not None
        assert (found.page, found.words[0]) == (1, PageWord("goldammer", (72, 72.25, 120, 90), 0))


def test_pages_whose_words_are_not_known_have_none_and_pages_that_are_not_there_are_refused(root: Path) -> None:
    with Collection.open(root) as collection:
        assert collection.page_words("imported.pdf", 0) is None
        with pytest.raises(UsageError, match=r"'made\.pdf' has no page 3"):
            collection.page_words("made.pdf", 2)
        with pytest.raises(UsageError, match=r"gone\.pdf"):
            collection.page_words("gone.pdf", 0)


def test_a_page_of_a_thousand_words_is_read_as_it_was_stored(tmp_path: Path) -> None:
    words = [
        PageWord(f"word{i}", (72.0 + i % 12, 72.0 + i / 12, 90.0 + i % 12, 80.0 + i / 12), i // 12) for i in range(1000)
    ]
    parsed = ParsedDocument(pages=(made_page(0),), quotes=(), page_words=(PageWords.of(0, words),))
    with Collection.create(tmp_path / "c") as collection:
        with collection.writer() as writer:
            put(writer, tmp_path, "long.pdf", parsed, content=b"x")
        found = collection.page_words("long.pdf", 0)
    assert found is not None
    assert [(word.text, word.line) for word in found.words] == [(word.text, word.line) for word in words]


def test_a_document_that_is_replaced_has_the_words_of_its_new_pages_alone(root: Path, tmp_path: Path) -> None:
    with Collection.open(root) as collection, collection.writer() as writer:
        put(writer, tmp_path, "made.pdf", made_document(["amsel"]))
        assert texts(collection, "made.pdf") == [["amsel"]]
        put(writer, tmp_path, "made.pdf", made_document(["amsel"]).model_copy(update={"page_words": ()}))
        assert collection.page_words("made.pdf", 0) is None


@pytest.mark.parametrize("pages", [(0,), (0, 2), (0, 1, 1)])
def test_words_of_some_pages_only_are_refused(tmp_path: Path, pages: tuple[int, ...]) -> None:
    words = tuple(made_words("one", page) for page in pages)
    with Collection.create(tmp_path / "c") as collection, collection.writer() as writer:
        with pytest.raises(ValueError, match="the words of other pages than it has"):
            put(writer, tmp_path, "a.pdf", made_document(["one", "two"]).model_copy(update={"page_words": words}))
        assert collection.documents() == []


def test_a_collection_of_an_earlier_version_is_read_and_gains_words_with_the_next_add(
    root: Path, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(root / "catalog.sqlite")) as db:
        db.create_function("row_checksum", -1, row_checksum)
        with db:
            db.execute("DROP TABLE page_words")
            db.execute("""UPDATE documents SET record = replace(record, '"parser":"', '"parser":"3')""")
            db.execute("UPDATE documents SET checksum = row_checksum(record, name, root, path, source)")
    (root / "catalog.sqlite.checksum").unlink()
    with Collection.open(root) as collection:
        assert collection.page_words("read.pdf", 0) is None
        assert check(root).whole
        remove_documents(collection, ["imported.pdf"])
        assert collection.page_words("read.pdf", 0) is None
        assert add(collection, [tmp_path / "read.pdf"], OPTIONS).updated == ("read.pdf",)
        assert texts(collection, "read.pdf") == [line.split() for line in READ]
        assert check(root).whole


DAMAGE = {
    "bytes": "UPDATE page_words SET words = CAST(words || x'00' AS BLOB) WHERE document = {key}",
    "page": "UPDATE page_words SET number = 7 WHERE document = {key} AND number = 1",
    "row": "DELETE FROM page_words WHERE document = {key} AND number = 1",
    "document": "UPDATE page_words SET document = {other}, number = {key} WHERE document = {key} AND number = 1",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_words_are_told_and_read_again_where_that_can_be(root: Path, damage: str) -> None:
    for name in ("read.pdf", "made.pdf"):
        change(root, DAMAGE[damage].format(**keys(root, name)))
    told = {found.document: found.what for found in check(root).damaged if found.document}
    assert {"read.pdf", "made.pdf"} <= set(told)
    assert all("words of" in what for what in told.values())
    with Collection.open(root) as collection:
        before = collection.document_quotes("made.pdf"), collection.document_quotes("read.pdf")
        if damage == "bytes":
            with pytest.raises(CollectionError, match=r"not what was written.*check .*--repair"):
                collection.page_words("read.pdf", 1)
    report = check_and_repair(root)
    left = [found for found in report.damaged if not found.repaired]
    lost = "the words of the pages of 'made.pdf' are lost: it was parsed with other settings"
    assert any(found.what.startswith(lost) and found.document == "made.pdf" and found.advice for found in left)
    assert {found.document for found in left} <= {"made.pdf", "imported.pdf"}
    assert check(root).whole
    with Collection.open(root) as collection:
        assert texts(collection, "read.pdf") == [line.split() for line in READ]
        assert collection.page_words("made.pdf", 0) is None
        assert (collection.document_quotes("made.pdf"), collection.document_quotes("read.pdf")) == before


def keys(root: Path, name: str) -> dict[str, int]:
    with closing(sqlite3.connect(root / "catalog.sqlite")) as db:
        found = dict(db.execute("SELECT name, key FROM documents"))
    return {"key": found[name], "other": found["imported.pdf"]}


def test_words_in_the_place_of_another_pages_are_not_believed(root: Path) -> None:
    move = "UPDATE OR REPLACE page_words SET number = 0 WHERE document = {key} AND number = 1"
    change(root, move.format(**keys(root, "made.pdf")))
    with Collection.open(root) as collection, pytest.raises(CollectionError, match="not what was written"):
        collection.page_words("made.pdf", 0)


def test_words_that_are_left_anywhere_in_the_catalogue_are_found(root: Path) -> None:
    """They are compressed, with the quotes of their page as the dictionary, so that no search for words finds them."""
    with closing(sqlite3.connect(root / "catalog.sqlite")) as db:
        query = "SELECT words FROM page_words WHERE document = ? AND number = 0"
        ((left,),) = db.execute(query, (keys(root, "made.pdf")["key"],)).fetchall()
    assert b"rotkehlchen" not in left
    with Collection.open(root) as collection:
        remove_documents(collection, ["made.pdf"])
    path = root / "catalog.sqlite"
    whole = path.read_bytes()
    assert left[:16] not in whole
    assert check_removed(root, "made.pdf", TEXTS).traces == ()
    path.write_bytes(whole + b"\0" * 64 + left)
    path.with_name(f"{path.name}.checksum").unlink()
    (trace,) = check_removed(root, "made.pdf", TEXTS).traces
    assert trace == f"{path} holds words of a removed page, at byte {len(whole) + 64:,}"


def test_words_stay_when_pictures_are_described(root: Path) -> None:
    with Collection.open(root) as collection, collection.writer() as writer:
        id = collection.document_quotes("made.pdf")[0].id
        writer.describe({"made.pdf": {id: "A robin."}})
        assert texts(collection, "made.pdf") == [["rotkehlchen", "sang"], ["goldammer", "sang"]]
    assert check(root).whole


def test_words_that_do_not_fit_the_quotes_of_their_page_are_damage(root: Path) -> None:
    change(root, "DELETE FROM quotes WHERE document = {key} AND page = 0".format(**keys(root, "made.pdf")))
    with Collection.open(root) as collection, pytest.raises(CollectionError, match="words of a page do not fit"):
        collection.page_words("made.pdf", 0)


def test_words_take_less_than_four_bytes_each_beside_their_quotes(tmp_path: Path) -> None:
    text = " ".join(f"{word}{number}" for number in range(100) for word in ("amsel", "drossel", "fink", "star"))
    with Collection.create(tmp_path / "c") as collection:
        with collection.writer() as writer:
            put(writer, tmp_path, "birds.pdf", made_document([text]))
        assert texts(collection, "birds.pdf") == [text.split()]
    with closing(sqlite3.connect(tmp_path / "c" / "catalog.sqlite")) as db:
        ((size,),) = db.execute("SELECT length(words) FROM page_words").fetchall()
    assert size < 4 * 400
