import shutil
from pathlib import Path

import pytest
from command_line import Quoteweave
from made_collections import made_quote, make_collection, put
from made_vectors import PlainIndex, plain_index

from quoteweave.collection.collection import Collection
from quoteweave.collection.segments import store
from quoteweave.core.errors import MissingExtra
from quoteweave.core.records import Document
from quoteweave.index import kinds
from quoteweave.retrievers.spec import RetrieverSpec
from quoteweave.retrievers.vector import VectorRetriever
from quoteweave.testing import FakeEncoder

REMOVED = {"removed": ["reports/harbour.pdf"], "finished": [], "index_notes": [], "remaining_traces": []}
REMOVED["still_there"] = []


@pytest.fixture
def port(tmp_path: Path) -> Path:
    folder = tmp_path / "collection"
    with Collection.create(folder) as collection, collection.writer() as writer:
        chart = made_quote("", page=1, layout="chart")
        put(writer, tmp_path, "reports/harbour.pdf", [made_quote("Grain."), chart], metadata={"year": "[b]2023[/b]"})
        put(writer, tmp_path, "[bold]x[/].md", [made_quote("Timber.")])
        writer.fail("bad.pdf", root=tmp_path, reason="it is truncated \x1b[31m", content=None)
    return folder


@pytest.fixture
def with_vectors(port: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, with an index of vectors."""
    monkeypatch.setattr(kinds, "open_index", plain_index)
    with Collection.open(port) as collection:
        VectorRetriever(collection, FakeEncoder(), spec=RetrieverSpec(name="fake", kind="fp16")).refresh()
    return port


def test_list_as_json_gives_the_documents_records(quoteweave: Quoteweave, port: Path) -> None:
    got = quoteweave("list", "-c", port, "--json")
    assert (got.code, got.err) == (0, "")
    keys = ["id", "name", "content", "format", "parser", "pages", "quotes", "metadata", "warnings"]
    keys += ["ocr_language", "ocr_pages", "ocr_pictures", "linked_files"]
    assert [list(document) for document in got.json()] == [keys, keys]
    assert [Document.model_validate(document).name for document in got.json()] == [
        "[bold]x[/].md",
        "reports/harbour.pdf",
    ]
    assert got.json()[1]["metadata"] == {"year": "[b]2023[/b]"}


def test_list_shows_names_and_metadata_as_they_are(quoteweave: Quoteweave, port: Path) -> None:
    rows = [line.split() for line in quoteweave("list", "-c", port).out.splitlines()]
    assert ["[bold]x[/].md", "text", "1", "1"] in rows
    assert ["reports/harbour.pdf", "text", "2", "2", "year=[b]2023[/b]"] in rows


def test_documents_of_which_something_was_left_out_are_named(quoteweave: Quoteweave, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("![gone](gone.png)")
    (tmp_path / "docs" / "b.py").write_text("no document")
    (tmp_path / "docs" / ".c.md").write_text("hidden")
    (tmp_path / "docs" / ".git").mkdir()
    (tmp_path / "docs" / "out").symlink_to(tmp_path)
    added = quoteweave("add", tmp_path / "docs", "-c", tmp_path / "c", "--no-ocr")
    assert "note: passed over 1 hidden document; name hidden files to add them" in added.err
    assert "note: passed over 1 hidden folder; name such a folder to add what it holds" in added.err
    assert "note: passed over 1 link to another folder; name such a link to add what it leads to" in added.err
    assert "note: passed over 1 file that is no document: 1 .py; name a file to add it as text" in added.err
    told = "note: 1 document was read with warnings, which list --json shows: a.md"
    for command in ("list", "status"):
        assert told in " ".join(quoteweave(command, "-c", tmp_path / "c").err.split())
    assert quoteweave("status", "-c", tmp_path / "c", "--json").json()["warned"] == ["a.md"]


def test_the_list_says_that_files_could_not_be_read(quoteweave: Quoteweave, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("Grain came by ship.")
    (tmp_path / "docs" / "b.docx").write_text("no document")
    quoteweave("add", tmp_path / "docs", "-c", tmp_path / "c")
    assert "note: 1 file could not be read" in quoteweave("list", "-c", tmp_path / "c").err


def test_status_as_json(quoteweave: Quoteweave, port: Path) -> None:
    before = quoteweave("status", "-c", port, "--json").json()
    assert before == {
        "documents": 2,
        "pages": 3,
        "quotes": 3,
        "image_quotes": 1,
        "by_layout": {"chart": 1, "paragraph": 2},
        "ocr_pages": 0,
        "ocr_pictures": 0,
        "lexical_up_to_date": True,
        "indexes": [],
        "failed": [{"name": "bad.pdf", "reason": "it is truncated \x1b[31m"}],
        "warned": [],
    }


def test_an_index_of_another_version_is_told_and_made_anew(
    quoteweave: Quoteweave, port: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "SEGMENT_RULES", store.SEGMENT_RULES + 1)
    told = "the lexical index was made by another version"
    remedy = f"the next add makes it anew, and so does: quoteweave check -c {port} --repair"
    assert f"{told}; {remedy}" in quoteweave("status", "-c", port).out
    assert quoteweave("status", "-c", port, "--json").json()["lexical_up_to_date"] is False
    for retriever in ("lexical", "bm25", "tfidf"):
        search = quoteweave("search", "grain", "-c", port, "-r", retriever)
        assert search.out
        assert " ".join(search.err.split()).count(f"note: {told}") == 1
    assert any(told in note for note in quoteweave("check", "-c", port, "--json").json()["notes"])
    assert not any(told in note for note in quoteweave("check", "-c", port, "--repair", "--json").json()["notes"])
    assert quoteweave("status", "-c", port, "--json").json()["lexical_up_to_date"] is True
    assert told not in quoteweave("search", "grain", "-c", port).err


def test_status_of_indexes_of_vectors(quoteweave: Quoteweave, with_vectors: Path) -> None:
    assert (
        "index fake@fp16: fp16, 2 items, 1 left out with no words, up to date"
        in quoteweave("status", "-c", with_vectors).out
    )
    (index,) = quoteweave("status", "-c", with_vectors, "--json").json()["indexes"]
    assert (index["name"], index["spec"], index["kind"]) == ("fake", "fake@fp16", "fp16")
    assert (index["items"], index["skipped"], index["up_to_date"]) == (2, 1, True)
    assert index["left_out"] == {"with no words": 1}
    with Collection.open(with_vectors) as collection, collection.writer() as writer:
        writer.remove("reports/harbour.pdf")
    told = quoteweave("status", "-c", with_vectors).out
    assert "1 left out with no words, out of date; quoteweave index build brings it up to date" in told


def test_status_for_people(quoteweave: Quoteweave, port: Path, tmp_path: Path) -> None:
    with Collection.open(port) as collection, collection.writer() as writer:
        put(writer, tmp_path, "new.md", [made_quote("New.")])
    assert quoteweave("status", "-c", port).out.splitlines() == [
        "3 documents, 4 pages, 4 quotes",
        "  1 chart, 3 paragraph",
        "not read: 'bad.pdf': it is truncated [31m",
    ]


def test_a_damaged_or_deleted_index_is_not_called_up_to_date(quoteweave: Quoteweave, with_vectors: Path) -> None:
    (manifest,) = with_vectors.glob("indexes/*/*/index.json")
    for damage in (lambda: manifest.write_bytes(b"{"), lambda: shutil.rmtree(manifest.parent)):
        damage()
        for command in (["status"], ["index", "list"]):
            told = "index fake@fp16: damaged or gone; quoteweave check --repair rebuilds it from its vectors"
            assert told in quoteweave(*command, "-c", with_vectors).out
        (index,) = quoteweave("status", "-c", with_vectors, "--json").json()["indexes"]
        assert index["up_to_date"] is False
    assert quoteweave("check", "-c", with_vectors, "--repair").code == 0
    (index,) = quoteweave("status", "-c", with_vectors, "--json").json()["indexes"]
    assert index["up_to_date"] is True


def test_an_empty_collection(quoteweave: Quoteweave, tmp_path: Path) -> None:
    make_collection(tmp_path, {}).close()
    assert quoteweave("status", "-c", tmp_path / "collection").out == "0 documents, 0 pages, 0 quotes\n"
    assert quoteweave("list", "-c", tmp_path / "collection", "--json").json() == []
    assert "build one with: quoteweave index build" in quoteweave("index", "list", "-c", tmp_path / "collection").err


def test_a_removed_document_is_found_no_more(quoteweave: Quoteweave, port: Path) -> None:
    assert quoteweave("search", "grain", "-c", port, "--json").json()["hits"] != []
    got = quoteweave("remove", "reports/harbour.pdf", "reports/harbour.pdf", "-c", port, "--json")
    assert (got.code, got.json(), got.err) == (0, REMOVED, "")
    assert quoteweave("status", "-c", port, "--json").json()["documents"] == 1
    assert quoteweave("search", "grain", "-c", port, "--json").json()["hits"] == []


def test_a_removed_document_that_the_next_add_of_its_folder_adds_again_is_told(
    quoteweave: Quoteweave, tmp_path: Path
) -> None:
    reports = tmp_path / "reports"
    reports.mkdir()
    for name in ("a.md", "b.md", "bad.pdf"):
        (reports / name).write_text("Grain.")
    quoteweave("add", reports, "-c", tmp_path / "c")
    (reports / "b.md").unlink()
    got = quoteweave("remove", "a.md", "b.md", "bad.pdf", "-c", tmp_path / "c")
    assert "so that the next add of the folder adds it again: a.md, bad.pdf\n" in got.err
    assert "1 added" in quoteweave("add", reports, "-c", tmp_path / "c").out


def test_an_empty_text_is_no_file_that_could_not_be_read(quoteweave: Quoteweave, tmp_path: Path) -> None:
    for name in ("a.md", "b.csv", "c.html", "d.rst"):
        (tmp_path / name).touch()
    got = quoteweave("add", tmp_path, "-c", tmp_path / "c")
    assert got.code == 0
    assert "a.md and 3 other documents: There is no text in it." in got.err
    assert "could not be read" not in quoteweave("search", "grain", "-c", tmp_path / "c").err


def test_a_file_that_could_not_be_read_is_forgotten(quoteweave: Quoteweave, port: Path) -> None:
    assert "could not be read" in quoteweave("search", "grain", "-c", port).err
    assert quoteweave("remove", "bad.pdf", "-c", port).out == "forgot 1 file that could not be read\n"
    got = quoteweave("status", "-c", port, "--json").json()
    assert (got["documents"], got["failed"]) == (2, [])
    assert quoteweave("search", "grain", "-c", port).err == ""


def test_an_index_that_cannot_be_kept_in_step_is_told_and_the_document_is_gone(
    quoteweave: Quoteweave, with_vectors: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(kind: str, dimension: int, *, database_folder: Path, folder: Path | None = None) -> PlainIndex:
        raise MissingExtra("faiss", "models")

    monkeypatch.setattr(kinds, "open_index", away)
    told = "the index fake@fp16 was not brought up to date and was dropped, as it still held what was removed: faiss"
    got = quoteweave("remove", "reports/harbour.pdf", "-c", with_vectors)
    assert (got.code, got.out) == (0, "removed 1 document\n")
    assert got.err.startswith(f"note: {told}")
    assert "pip install 'quoteweave[models]'" in got.err
    assert got.err.endswith(f"quoteweave index build fake@fp16 -c {with_vectors}\n")
    monkeypatch.undo()
    monkeypatch.setattr(kinds, "open_index", plain_index)
    with Collection.open(with_vectors) as collection:
        report = VectorRetriever(collection, FakeEncoder(), spec=RetrieverSpec(name="fake", kind="fp16")).refresh()
    assert (report.items, report.encoded) == (1, 0)  # its vectors were kept
    got = quoteweave("remove", "[bold]x[/].md", "-c", with_vectors, "--json")
    assert (got.code, got.err, got.json()["index_notes"]) == (0, "", [])
    assert quoteweave("list", "-c", with_vectors, "--json").json() == []


@pytest.mark.parametrize(
    ("name", "near"),
    [("harbour.pdf", "did you mean 'reports/harbour.pdf'?"), ("zzz", "no document is named 'zzz'")],
)
def test_an_unknown_name_removes_nothing_at_all(name: str, near: str, quoteweave: Quoteweave, port: Path) -> None:
    got = quoteweave("remove", "[bold]x[/].md", name, "-c", port)
    assert (got.code, got.out) == (2, "")
    assert near in got.err
    assert quoteweave("status", "-c", port, "--json").json()["documents"] == 2


def test_remove_says_who_holds_the_lock(quoteweave: Quoteweave, port: Path) -> None:
    with Collection.open(port) as collection, collection.writer():
        got = quoteweave("remove", "[bold]x[/].md", "-c", port)
    assert (got.code, got.out) == (1, "")
    assert "is locked: process" in got.err


@pytest.mark.parametrize("command", [["status"], ["list"], ["remove", "x"]])
def test_no_collection(command: list[str], quoteweave: Quoteweave, tmp_path: Path) -> None:
    got = quoteweave(*command, "-c", tmp_path / "none", "--json")
    assert (got.code, got.out) == (1, "")
    assert got.err.startswith("error: no collection is at")
