"""`quoteweave add` on small text files; other formats and faults are tested beside the parsers."""

from pathlib import Path

import pytest
from command_line import Quoteweave
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import UsageError
from quoteweave.documents.file_reading import FileIssue
from quoteweave.documents.ingest import AddOptions, AddReport
from quoteweave.documents.layout.page import WITHOUT_TILES
from quoteweave.documents.worker_pool import MAX_PROCESSES, ProcessLimits, StopReason, stop_message


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    (folder / "sub").mkdir(parents=True)
    (folder / "[bold]x[red].md").write_text("# Port\n\nGrain came by ship.\n")
    (folder / "sub" / "b.txt").write_text("Timber came by rail.\n")
    return folder


def test_a_folder_is_kept_in_step_and_json_says_what_became_of_each_file(
    quoteweave: Quoteweave, files: Path, tmp_path: Path
) -> None:
    collection = tmp_path / "collection"
    (files / "letter.docx").write_bytes(b"PK\x03\x04 no document")
    first = quoteweave("add", files, "-c", collection, "--json")
    assert first.code == 1
    value = first.json()
    assert list(value) == [
        "added", "updated", "unchanged", "removed", "failed", "warnings", "ocr_pages", "ocr_pictures", "index_notes",
        "remaining_traces", "renamed", "passed_over",
    ]  # fmt: skip
    assert value["added"] == ["[bold]x[red].md", "sub/b.txt"]
    assert [list(failure) for failure in value["failed"]] == [["name", "reason"]]
    assert value["failed"][0]["name"] == "letter.docx"
    assert first.err == ""

    (files / "letter.docx").unlink()
    (files / "sub" / "b.txt").unlink()
    (files / "[bold]x[red].md").write_text("# Port\n\nGrain came by barge.\n")
    (files / "c.html").write_text("<p>Fish came by night.</p>")
    second = quoteweave("add", files, "-c", collection, "--json").json()
    assert second["added"] == ["c.html"]
    assert second["updated"] == ["[bold]x[red].md"]
    assert second["removed"] == ["sub/b.txt"]
    assert (second["unchanged"], second["failed"]) == ([], [])
    assert quoteweave("search", "barge", "-c", collection, "--json").json()["hits"] != []
    assert quoteweave("search", "timber", "-c", collection, "--json").json()["hits"] == []

    third = quoteweave("add", files, "-c", collection, "--json")
    assert (third.code, third.json()["unchanged"]) == (0, ["[bold]x[red].md", "c.html"])


def test_people_are_told_what_was_added_and_what_was_not(quoteweave: Quoteweave, files: Path, tmp_path: Path) -> None:
    (files / "[red]empty.pdf").write_text("")
    got = quoteweave("add", files, "-c", tmp_path / "collection", "--meta", "year=2023", "--meta", "note=a=b")
    assert got.code == 1
    assert got.out == f"{tmp_path}/collection: 2 added, 1 not added\n"
    assert got.err.startswith("not added: ")
    assert "[red]empty.pdf" in got.err
    with Collection.open(tmp_path / "collection") as collection:
        assert [document.metadata for document in collection.documents()] == [{"year": "2023", "note": "a=b"}] * 2
    again = quoteweave("add", files / "sub", "-c", tmp_path / "collection", "--json")
    assert again.json()["unchanged"] == ["sub/b.txt"]


def test_equal_names_are_told_with_the_way_to_choose_them(quoteweave: Quoteweave, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "README.md").write_text(f"Read {name}.")
    collection = tmp_path / "collection"
    assert quoteweave("add", tmp_path / "one", "-c", collection, "--prefix", "..").code == 2
    assert not collection.exists()
    got = quoteweave("add", tmp_path / "one", tmp_path / "two", "-c", collection)
    assert (got.code, got.out) == (0, f"{collection}: 2 added\n")
    assert "2 names have the folder in front" in got.err
    assert "'one/README.md', 'two/README.md'; --prefix NAME" in got.err
    assert quoteweave("add", tmp_path / "two", "-c", collection).err == ""
    (tmp_path / "two" / "new.md").write_text("New.")
    chosen = quoteweave("add", tmp_path / "two", "-c", collection, "--prefix", "mine", "--json").json()
    assert (chosen["added"], chosen["renamed"]) == (["mine/new.md"], [])


def test_nothing_to_add(quoteweave: Quoteweave, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    got = quoteweave("add", tmp_path / "empty", "-c", tmp_path / "collection")
    assert (got.code, got.out) == (0, f"{tmp_path}/collection: nothing to add\n")


@pytest.mark.parametrize("meta", ["year", "=2023", " =x"])
def test_metadata_that_cannot_be_read(meta: str, quoteweave: Quoteweave, files: Path, tmp_path: Path) -> None:
    got = quoteweave("add", files, "-c", tmp_path / "collection", "--meta", meta)
    assert (got.code, got.out) == (2, "")
    assert got.err == f"error: --meta {meta!r}: write it as KEY=VALUE\n"
    assert not (tmp_path / "collection").exists()


def test_a_mistyped_path_leaves_no_collection_behind(quoteweave: Quoteweave, tmp_path: Path) -> None:
    got = quoteweave("add", tmp_path / "flies", "-c", tmp_path / "collection", "--json")
    assert (got.code, got.out) == (2, "")
    assert "flies" in got.err
    assert not (tmp_path / "collection").exists()


def test_a_folder_of_other_things_is_no_collection(quoteweave: Quoteweave, files: Path) -> None:
    got = quoteweave("add", files, "-c", files)
    assert (got.code, got.out) == (1, "")
    assert "is no collection and holds other things" in got.err


def test_another_writer_is_named(quoteweave: Quoteweave, files: Path, tmp_path: Path) -> None:
    with Collection.create(tmp_path / "collection") as collection, collection.writer():
        got = quoteweave("add", files, "-c", tmp_path / "collection")
    assert (got.code, got.out) == (1, "")
    assert "is locked: process" in got.err


def test_status_says_how_much_was_read_by_ocr(quoteweave: Quoteweave, sample_collection: Path) -> None:
    # The guide's map is a raster image with names on it; its other pictures have a text layer.
    assert "read by OCR: 1 page, 1 picture on other pages" in quoteweave("status", "-c", sample_collection).out
    status = quoteweave("status", "-c", sample_collection, "--json").json()
    assert (status["ocr_pages"], status["ocr_pictures"]) == (1, 1)


def test_a_limit_beyond_what_any_machine_has_is_none(quoteweave: Quoteweave, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Grain came by sea.", encoding="utf-8")
    added = quoteweave("add", tmp_path / "a.txt", "-c", tmp_path / "c", "--memory", "99999999999999999999")
    assert (added.out, added.err) == (f"{tmp_path / 'c'}: 1 added\n", "")


def test_no_more_processes_than_a_machine_can_have_are_started(quoteweave: Quoteweave, tmp_path: Path) -> None:
    refused = quoteweave("add", tmp_path, "-c", tmp_path / "c", "--processes", "99999999999999999999")
    assert "less than or equal to 1024" in refused.err
    for processes in (-1, MAX_PROCESSES + 1):
        with pytest.raises(UsageError, match=f"^{processes} processes cannot read files; give 1 to 1,024, or 0$"):
            AddOptions(processes=processes)


def test_no_less_memory_is_allowed_than_a_process_takes_before_it_reads(quoteweave: Quoteweave, tmp_path: Path) -> None:
    refused = quoteweave("add", tmp_path, "-c", tmp_path / "c", "--memory", "60")
    assert (refused.code, "greater than or equal to 100" in refused.err) == (2, True)


def test_people_are_told_which_option_helps(
    quoteweave: Quoteweave, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    canvas = Canvas(str(tmp_path / "locked.pdf"), encrypt=StandardEncryption("other", strength=128))
    canvas.drawString(72, 700, "Grain came by ship.")
    canvas.save()
    locked = quoteweave("add", tmp_path / "locked.pdf", "-c", tmp_path / "collection")
    assert "give its password, or save a copy that needs none (--password)" in locked.err

    limits = ProcessLimits(memory=10**9, seconds=5)
    memory, time = (f"it {stop_message(stop, limits)}" for stop in (StopReason.MEMORY, StopReason.TIME))
    tiles = f"page 1 {WITHOUT_TILES}"
    told = [
        ("slow.pdf", f"page 3: {time}"),
        ("scan.pdf", tiles),
        ("a.pdf", "page 1: cut"),
        *((f"{n}.html", "a menu") for n in range(4)),
    ]
    report = AddReport(
        failed=(FileIssue(name="bomb.pdf", reason=memory),),
        warnings=tuple(FileIssue(name=name, reason=reason) for name, reason in told),
    )
    monkeypatch.setattr("quoteweave.cli.commands.add.add_documents", lambda *_, **__: report)
    shown = quoteweave("add", tmp_path, "-c", tmp_path / "collection").err.splitlines()
    assert shown == [
        f"note: slow.pdf: page 3: {time} (--page-seconds)",
        f"note: scan.pdf: {tiles} (--memory, --page-seconds)",
        "note: a.pdf: page 1: cut",
        "note: 0.html and 3 other documents: a menu",
        f"not added: 'bomb.pdf': {memory} (--memory)",
    ]
