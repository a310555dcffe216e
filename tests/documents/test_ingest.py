"""A collection kept in step with files and folders: what is read, what is left alone, what goes, and what is told."""

import os
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from made_files import PROSE, InlineWorkers, pdf, picture, write
from PIL import Image

from quoteweave.collection.collection import Collection
from quoteweave.collection.stores.content import SourceStore
from quoteweave.core.errors import CollectionLocked, DocumentError, StorageError, UsageError
from quoteweave.core.records import Query
from quoteweave.documents import file_reading as reading
from quoteweave.documents import ingest
from quoteweave.documents import parser as parse
from quoteweave.documents.file_reading import AddProgress
from quoteweave.documents.ingest import AddOptions, AddReport, add
from quoteweave.documents.parser import ParserSettings
from quoteweave.pipeline.composition.add_documents import add_documents
from quoteweave.retrievers.lexical import LexicalRetriever

PLAIN = ParserSettings(ocr=False)


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "WorkerPool", InlineWorkers)


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    with Collection.create(tmp_path / "c") as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "docs", {"a.txt": "Anchors.", "sub/b.txt": "Buoys.", "c.txt": "Cranes."})


def update(collection: Collection, *paths: Path, progress: AddProgress | None = None, **options: Any) -> AddReport:
    return add(collection, paths, AddOptions(**{"settings": PLAIN, **options}), progress)


def texts(collection: Collection) -> dict[str, str]:
    return {
        document.name: " ".join(quote.text for quote in quotes)
        for document, _, quotes in collection.iter_documents_quotes()
    }


def failures(collection: Collection) -> dict[str, str]:
    return {failure.name: failure.reason for failure in collection.failures()}


def nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> object:
        raise AssertionError("an unchanged file was read")

    monkeypatch.setattr(reading, "inspect_file", refuse)


def test_a_folder_becomes_documents_that_can_be_found(collection: Collection, folder: Path) -> None:
    report = update(collection, folder)
    assert report == AddReport(added=("a.txt", "c.txt", "sub/b.txt"))
    assert texts(collection) == {"a.txt": "Anchors.", "c.txt": "Cranes.", "sub/b.txt": "Buoys."}
    ((hit,),) = LexicalRetriever(collection).search([Query(text="Which buoys?")], 3)
    assert hit.quote.document == "sub/b.txt"


@pytest.mark.parametrize("pause", [0.0, 60.0])
def test_what_is_listed_while_files_are_added_is_what_can_be_found(
    collection: Collection, folder: Path, monkeypatch: pytest.MonkeyPatch, pause: float
) -> None:
    for number in range(20):
        (folder / f"z{number:02}.txt").write_text(f"Cranes, {number} of them.")
    counts: list[int] = []

    def look(_name: str, _pages: int) -> None:
        with Collection.open(collection.root) as other:
            hits = LexicalRetriever(other).search([Query(text="cranes anchors buoys")], 50)[0]
            assert {hit.quote.document for hit in hits} == {document.name for document in other.documents()}
            counts.append(len(hits))

    monkeypatch.setattr(ingest, "MIN_PAUSE_S", pause)
    monkeypatch.setattr(ingest, "PAUSE_RATIO", 0)
    update(collection, folder, progress=AddProgress(on_pages=look))
    assert counts == (list(range(23)) if pause == 0 else [0, *[1] * 22])
    assert len(collection.documents()) == 23


def test_unchanged_files_are_not_read_again(
    collection: Collection, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    update(collection, folder)
    before = collection.revision()
    nothing_is_read(monkeypatch)
    assert update(collection, folder).unchanged == ("a.txt", "c.txt", "sub/b.txt")
    os.utime(folder / "a.txt", (0, 0))  # content counts, not times
    assert update(collection, folder / "a.txt") == AddReport(unchanged=("a.txt",))
    assert collection.revision() == before


def test_new_changed_vanished_and_renamed_files_are_told_apart(collection: Collection, folder: Path) -> None:
    update(collection, folder)
    write(folder, {"new.txt": "Nets.", "a.txt": "Astrolabes."})
    (folder / "c.txt").unlink()
    (folder / "sub" / "b.txt").rename(folder / "sub" / "d.txt")
    report = update(collection, folder)
    assert report == AddReport(added=("new.txt", "sub/d.txt"), updated=("a.txt",), removed=("c.txt", "sub/b.txt"))
    assert texts(collection) == {"a.txt": "Astrolabes.", "new.txt": "Nets.", "sub/d.txt": "Buoys."}
    assert LexicalRetriever(collection).search([Query(text="anchors or cranes")], 3) == [[]]


def test_only_folders_are_kept_in_step(collection: Collection, folder: Path) -> None:
    update(collection, folder / "a.txt", folder / "c.txt")
    (folder / "a.txt").unlink()
    assert update(collection, folder / "c.txt") == AddReport(unchanged=("c.txt",))
    assert sorted(texts(collection)) == ["a.txt", "c.txt"]
    assert update(collection, folder) == AddReport(added=("sub/b.txt",), unchanged=("c.txt",), removed=("a.txt",))


def test_other_folders_are_left_alone(collection: Collection, folder: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other", {"o.txt": "Oars."})
    update(collection, folder, other)
    (other / "o.txt").unlink()
    (folder / "a.txt").unlink()
    assert update(collection, folder).removed == ("a.txt",)
    assert sorted(texts(collection)) == ["c.txt", "o.txt", "sub/b.txt"]


def test_other_settings_read_everything_again(collection: Collection, folder: Path) -> None:
    update(collection, folder)
    assert update(collection, folder, settings=ParserSettings()).updated == ("a.txt", "c.txt", "sub/b.txt")
    assert {document.parser for document in collection.documents()} == {ParserSettings().fingerprint}


def test_metadata_is_added_and_kept(collection: Collection, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    update(collection, folder, metadata={"year": "2023", "port": "Riga"})
    write(folder, {"a.txt": "Astrolabes."})
    update(collection, folder / "a.txt", metadata={"year": "2024"})
    assert collection.document("a.txt").metadata == {"year": "2024", "port": "Riga"}
    assert collection.document("c.txt").metadata == {"year": "2023", "port": "Riga"}
    nothing_is_read(monkeypatch)
    assert update(collection, folder, metadata={"seen": "yes"}).updated == ("a.txt", "c.txt", "sub/b.txt")
    assert update(collection, folder, metadata={"seen": "yes"}).unchanged == ("a.txt", "c.txt", "sub/b.txt")
    assert collection.document("c.txt").metadata == {"year": "2023", "port": "Riga", "seen": "yes"}


def test_files_of_one_name_in_two_folders_are_two_documents(
    collection: Collection, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = write(tmp_path / "other", {"a.txt": "Albatrosses."})
    update(collection, folder)
    identifier = collection.document("a.txt").id
    report = update(collection, other)
    assert report == AddReport(added=("other/a.txt",), renamed=("other/a.txt",))
    nothing_is_read(monkeypatch)
    for paths in ([other, folder], [folder, other], [other / "a.txt", folder / "a.txt"]):
        again = update(collection, *paths)
        assert {"a.txt", "other/a.txt"} <= set(again.unchanged)
        assert (again.removed, again.failed, again.renamed) == ((), (), ())
    assert texts(collection)["a.txt"] == "Anchors."
    assert texts(collection)["other/a.txt"] == "Albatrosses."
    assert collection.document("a.txt").id == identifier
    assert failures(collection) == {}


def test_what_vanishes_changes_or_fails_is_found_by_its_longer_name(
    collection: Collection, folder: Path, tmp_path: Path
) -> None:
    other = write(tmp_path / "other", {"a.txt": "Albatrosses.", "b.pdf": "no PDF"})
    write(folder, {"b.pdf": "nor this"})
    update(collection, folder)
    assert [refused.name for refused in update(collection, other).failed] == ["other/b.pdf"]
    assert sorted(failures(collection)) == ["b.pdf", "other/b.pdf"]
    write(other, {"a.txt": "Auks."})
    pdf(other / "b.pdf", [PROSE])
    report = update(collection, other)
    assert (report.updated, report.added) == (("other/a.txt",), ("other/b.pdf",))
    assert sorted(failures(collection)) == ["b.pdf"]
    assert texts(collection)["other/a.txt"] == "Auks."
    (folder / "a.txt").unlink()
    assert update(collection, other).unchanged == ("other/a.txt", "other/b.pdf")
    (other / "a.txt").unlink()
    assert update(collection, other).removed == ("other/a.txt",)
    assert update(collection, folder).removed == ("a.txt",)


def test_documents_of_equal_names_follow_their_moved_folders(
    collection: Collection, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = write(tmp_path / "other", {"a.txt": "Albatrosses."})
    update(collection, folder)
    update(collection, other)
    (tmp_path / "new").mkdir()
    moved = [folder.rename(tmp_path / "new" / "texts"), other.rename(tmp_path / "new" / "birds")]
    nothing_is_read(monkeypatch)
    for path in reversed(moved):
        assert update(collection, path).added == ()
    assert texts(collection)["other/a.txt"] == "Albatrosses."
    assert collection.origins()["other/a.txt"].file("other/a.txt") == moved[1].resolve() / "a.txt"
    assert update(collection, *moved).unchanged == ("a.txt", "c.txt", "other/a.txt", "sub/b.txt")


def test_equal_content_in_two_folders_stays_two_documents(collection: Collection, tmp_path: Path) -> None:
    folders = [write(tmp_path / name, {"README.md": "The same."}) for name in ("one", "two")]
    report = update(collection, *folders)
    assert report.added == report.renamed == ("one/README.md", "two/README.md")
    assert len({document.id for document in collection.documents()}) == 2
    (folders[0] / "README.md").unlink()
    assert update(collection, *folders).removed == ("one/README.md",)
    assert texts(collection) == {"two/README.md": "The same."}


def test_a_prefix_stands_before_names_that_are_new(collection: Collection, folder: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other", {"a.txt": "Albatrosses.", "d.txt": "Ducks."})
    update(collection, folder)
    report = update(collection, other, prefix="birds/2024")
    assert report == AddReport(added=("birds/2024/a.txt", "birds/2024/d.txt"))
    assert update(collection, other).unchanged == report.added
    assert update(collection, folder, prefix="texts").unchanged == ("a.txt", "c.txt", "sub/b.txt")
    (other / "d.txt").unlink()
    assert update(collection, other).removed == ("birds/2024/d.txt",)
    for wrong in ("", "/", "..", "a/../b", "a//b", "a\nb"):
        with pytest.raises(UsageError, match="cannot stand before names"):
            update(collection, other, prefix=wrong)


def test_a_folder_above_or_below_one_that_was_added_doubles_nothing(collection: Collection, folder: Path) -> None:
    update(collection, folder / "sub")
    assert update(collection, folder) == AddReport(added=("a.txt", "c.txt"), unchanged=("b.txt",))
    assert update(collection, folder / "sub", folder / "a.txt").unchanged == ("a.txt", "b.txt")
    (folder / "sub" / "b.txt").unlink()
    assert update(collection, folder).removed == ("b.txt",)


def test_a_file_that_the_folder_does_not_mean_stays_while_it_is_there(collection: Collection, folder: Path) -> None:
    hidden = write(folder, {".hidden.txt": "Herons."}) / ".hidden.txt"
    update(collection, hidden)
    assert update(collection, folder).removed == ()
    hidden.unlink()
    assert update(collection, folder).removed == (".hidden.txt",)


def test_a_failure_is_told_and_forgotten_when_the_file_is_mended_or_vanishes(
    collection: Collection, folder: Path
) -> None:
    write(folder, {"mended.pdf": "<html>", "gone.pdf": "<html>", "alone.pdf": "<html>", "old.docx": "PK"})
    report = update(collection, folder)
    assert [refused.name for refused in report.failed] == ["alone.pdf", "gone.pdf", "mended.pdf", "old.docx"]
    assert report.failed[2].reason == "'mended.pdf' is not .pdf: it seems to be an HTML page; check the file"
    assert "LibreOffice" in report.failed[3].reason
    assert report.added == ("a.txt", "c.txt", "sub/b.txt")
    assert failures(collection) == {refused.name: refused.reason for refused in report.failed}
    pdf(folder / "mended.pdf", [PROSE])
    (folder / "gone.pdf").unlink()
    (folder / "old.docx").unlink()
    report = update(collection, folder)
    assert report.added == ("mended.pdf",)
    assert sorted(failures(collection)) == ["alone.pdf"]
    (folder / "alone.pdf").unlink()
    update(collection, folder / "a.txt")
    assert failures(collection) == {}


def test_what_is_no_document_is_not_read_whole(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_whole(path: Path) -> str:
        raise AssertionError(path)

    monkeypatch.setattr(ingest, "file_sha256", read_whole)
    (tmp_path / "disk.img").write_bytes(b"\x00" * 9000)
    assert update(collection, tmp_path / "disk.img").failed[0].reason.startswith("'disk.img': .img files are not read")


def test_an_older_version_stays_when_the_new_one_cannot_be_read(collection: Collection, folder: Path) -> None:
    pdf(folder / "x.pdf", [PROSE])
    update(collection, folder)
    old, good = texts(collection)["x.pdf"], (folder / "x.pdf").read_bytes()
    (folder / "x.pdf").write_bytes(good[:200])
    for _ in range(2):
        report = update(collection, folder)
        assert [refused.name for refused in report.failed] == ["x.pdf"]
        assert texts(collection)["x.pdf"] == old
        assert failures(collection)["x.pdf"].endswith("damaged or incomplete")
    (folder / "x.pdf").write_bytes(good)
    assert update(collection, folder).unchanged == ("a.txt", "c.txt", "sub/b.txt", "x.pdf")
    assert failures(collection) == {}


def test_a_folder_that_cannot_be_looked_into_keeps_its_documents(
    collection: Collection, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, {"subway.txt": "Trains."})
    update(collection, folder)
    (folder / "subway.txt").unlink()
    scan = os.scandir

    def refuse(path: Any) -> object:
        if path == str(folder / "sub"):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    report = update(collection, folder)
    assert report.removed == ("subway.txt",)
    assert [(refused.name, refused.reason) for refused in report.failed] == [
        ("sub", "this folder cannot be read (Permission denied)")
    ]
    assert sorted(texts(collection)) == ["a.txt", "c.txt", "sub/b.txt"]


def test_a_folder_that_holds_the_collection_itself(collection: Collection, tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "Anchors."})
    for _ in range(2):
        update(collection, tmp_path)
        assert texts(collection) == {"a.txt": "Anchors."}
    with pytest.raises(UsageError, match="is a collection, not a folder of documents"):
        update(collection, collection.root)


def test_documents_of_a_folder_in_which_nothing_is_left_stay(collection: Collection, folder: Path) -> None:
    write(folder, {"drive/d.txt": "Docks.", "drive/deeper/e.txt": "Eddies."})
    update(collection, folder)

    def unplug(drive: Path) -> None:
        shutil.rmtree(drive)
        drive.mkdir()

    for drive, there in ((folder / "drive", 2), (folder, 5)):
        unplug(drive)
        report = update(collection, folder)
        (refused,) = report.failed
        assert (refused.name, report.removed) == (str(drive), ())
        assert refused.reason.startswith(f"no file is left in it; {there} documents stay, in case its drive is missing")
    assert len(collection.documents()) == 5
    write(folder, {"a.txt": "Anchors."})
    assert update(collection, folder).removed == ("c.txt", "drive/d.txt", "drive/deeper/e.txt", "sub/b.txt")


def test_a_file_that_changes_while_it_is_read_is_not_stored(collection: Collection, folder: Path) -> None:
    update(collection, folder / "a.txt")  # so that a copy of the old content is there already

    def meddle(_: int) -> None:
        write(folder, {"a.txt": "Arrows. "})

    report = update(collection, folder, settings=ParserSettings(), progress=AddProgress(on_total=meddle))
    assert [(refused.name, refused.reason) for refused in report.failed] == [
        ("a.txt", "'a.txt' changed while it was being read; add it again")
    ]
    assert report.added == ("c.txt", "sub/b.txt")
    assert texts(collection)["a.txt"] == "Anchors."
    assert update(collection, folder, settings=ParserSettings()).updated == ("a.txt",)


def test_a_file_that_vanishes_while_it_is_read_is_told(collection: Collection, folder: Path) -> None:
    pdf(folder / "x.pdf", [PROSE])

    def before_reading(_: int) -> None:
        for name in ("a.txt", "x.pdf"):
            (folder / name).unlink()

    report = update(collection, folder, progress=AddProgress(on_total=before_reading))
    assert {refused.name: refused.reason for refused in report.failed} == {
        "a.txt": "'a.txt' cannot be read: No such file or directory",
        "x.pdf": "'x.pdf' cannot be opened as a PDF; it is gone, or may not be read",
    }
    assert sorted(texts(collection)) == ["c.txt", "sub/b.txt"]


def test_progress_ends_where_it_said_it_would(collection: Collection, folder: Path) -> None:
    pdf(folder / "long.pdf", [PROSE] * 15)
    write(folder, {"bad.pdf": "<html>"})
    expected: list[int] = []
    done: list[tuple[str, int]] = []
    indexed: list[int] = []
    progress = AddProgress(
        on_total=expected.append,
        on_pages=lambda name, pages: done.append((name, pages)),
        on_index=lambda: indexed.append(len(done)),
    )
    update(collection, folder, progress=progress)
    assert expected == [18]
    assert sum(pages for _, pages in done) == 18
    assert sum(pages for name, pages in done if name == "long.pdf") == 15
    assert indexed == [len(done)]


def test_a_document_that_is_stopped_is_refused_alone(collection: Collection, folder: Path) -> None:
    for name, pages in {"long.pdf": 7, "other.pdf": 2, "wide.pdf": 8}.items():
        pdf(folder / name, [PROSE] * pages)
    asked: list[str] = []
    totals: list[int] = []
    done: list[int] = []

    def stop(name: str, pages: int) -> str | None:
        asked.append(name)
        if pages > 7:
            return "It has too many pages."
        return "It takes too long." if name == "long.pdf" and asked.count(name) > 1 else None

    progress = AddProgress(totals.append, lambda _, pages: done.append(pages))
    report = update(collection, folder, progress=progress, stop=stop)
    assert failures(collection) == {"long.pdf": "It takes too long.", "wide.pdf": "It has too many pages."}
    assert report.added == ("a.txt", "c.txt", "other.pdf", "sub/b.txt")
    assert (collection.document("other.pdf").pages, sum(done)) == (2, sum(totals))
    assert asked.count("wide.pdf") == 1  # none of its pages was read


def test_what_was_left_out_is_a_warning(collection: Collection, folder: Path) -> None:
    picture(folder / "scan.png")
    (warning,) = update(collection, folder).warnings
    assert (warning.name, warning.reason) == (
        "scan.png",
        "OCR is off, and pages without a text layer were not read: 1",
    )
    assert collection.document("scan.png").warnings == (warning.reason,)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (DocumentError("'a.txt' is\n odd"), "'a.txt' is odd"),
        (PermissionError(13, "Permission denied"), "it cannot be read (Permission denied)"),
        (KeyError("x\ny"), r"reading it failed (KeyError: 'x\ny'); please report this"),
        (
            MemoryError(),
            "it ran out of memory: reading takes more than the 600 MB that it may take; allow more, or split it",
        ),
    ],
)
def test_whatever_reading_raises_costs_that_file_only(
    collection: Collection, folder: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:

    def fails(call: Any) -> Any:
        def failing(source: Any, *arguments: Any) -> Any:
            if source.name == "a.txt":
                raise error
            return call(source, *arguments)

        return failing

    for name, call in {"inspect_file": parse.inspect_file, "read_whole": parse.read_whole}.items():
        with monkeypatch.context() as patched:
            patched.setattr(reading, name, fails(call))
            report = update(collection, folder)
        assert [(refused.name, refused.reason) for refused in report.failed] == [("a.txt", said)]
        assert sorted(texts(collection)) == ["c.txt", "sub/b.txt"]


def test_what_is_no_fault_of_a_file_ends_the_run_and_leaves_what_was_done(
    collection: Collection, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = SourceStore.put

    def full(self: SourceStore, source: Path, content: str) -> str:
        if source.name == "b.txt":
            raise StorageError("cannot write: the disk is full")
        return put(self, source, content)

    with monkeypatch.context() as patched:
        patched.setattr(SourceStore, "put", full)
        with pytest.raises(StorageError, match="the disk is full"):
            update(collection, folder)
    assert sorted(texts(collection)) == ["a.txt", "c.txt"]
    assert failures(collection) == {}
    assert update(collection, folder).added == ("sub/b.txt",)


def test_a_language_that_ocr_does_not_know_is_a_mistake(collection: Collection, folder: Path) -> None:
    Image.effect_noise((40, 50), 100).save(folder / "scan.png")
    with pytest.raises(UsageError, match="OCR cannot read language 'klingon'"):
        update(collection, folder, settings=ParserSettings(ocr_language="klingon"))


def test_images_of_a_failed_or_removed_document_do_not_stay(collection: Collection, folder: Path) -> None:
    picture(folder / "scan.png")
    update(collection, folder)
    (quote,) = collection.document_quotes("scan.png")
    image = collection.images.path(str(quote.image))
    assert image.is_file()
    (folder / "scan.png").unlink()
    update(collection, folder)
    assert not image.exists()


def test_while_another_writes_nothing_is_added(collection: Collection, folder: Path) -> None:
    with Collection.open(collection.root) as other, other.writer(), pytest.raises(CollectionLocked, match="process"):
        update(collection, folder)
    assert texts(collection) == {}


def test_a_mistyped_path_adds_nothing(collection: Collection, folder: Path) -> None:
    with pytest.raises(UsageError, match="nowhere does not exist"):
        update(collection, folder, folder / "nowhere")
    assert texts(collection) == {}


def test_a_path_in_place_of_a_list_is_told(collection: Collection, folder: Path) -> None:
    for adding in (partial(add, collection), partial(add_documents, str(collection.root))):
        with pytest.raises(UsageError, match=r"a list of paths is needed; write \["):
            adding(str(folder))


def test_nothing_to_add_is_no_error(collection: Collection, tmp_path: Path) -> None:
    (tmp_path / "empty.pdf").mkdir()
    assert update(collection, tmp_path / "empty.pdf") == AddReport()
    assert LexicalRetriever(collection).search([Query(text="anything")], 3) == [[]]


def test_a_text_without_words_is_a_document_that_nothing_finds(collection: Collection, tmp_path: Path) -> None:
    write(tmp_path, {"blank.txt": " \n\n ", "signs.txt": "… — !?"})
    update(collection, tmp_path / "blank.txt", tmp_path / "signs.txt")
    assert len(collection.documents()) == 2
    assert LexicalRetriever(collection).search([Query(text="signs")], 3) == [[]]


def test_a_moved_folder_is_not_read_again(tmp_path: Path) -> None:
    before = tmp_path / "before"
    before.mkdir()
    (before / "a.txt").write_text("Tides are high on Monday.")
    with Collection.create(tmp_path / "collection") as collection:
        add(collection, [before])
        after = before.rename(tmp_path / "after")
        revision = collection.revision()
        assert add(collection, [after]).unchanged == ("a.txt",)
        assert (collection.origins()["a.txt"].root, collection.revision()) == (after.resolve(), revision)
        (after / "a.txt").unlink()
        assert add(collection, [after]).removed == ("a.txt",)


def test_a_document_is_read_again_when_a_picture_that_it_shows_changes(collection: Collection, tmp_path: Path) -> None:
    write(tmp_path, {"docs/a.md": "# Tides\n\n![One](one.png)\n\n![Two](sub/two.png)", "docs/b.txt": "Buoys."})
    picture(tmp_path / "docs" / "one.png")
    options = ParserSettings(ocr=False)

    def images() -> int:
        return sum(quote.image is not None for quote in collection.document_quotes("a.md"))

    def updated() -> tuple[str, ...]:
        return update(collection, tmp_path / "docs" / "a.md", tmp_path / "docs" / "b.txt", settings=options).updated

    assert (updated(), images()) == ((), 1)
    assert updated() == ()
    (tmp_path / "docs" / "sub").mkdir()
    picture(tmp_path / "docs" / "sub" / "two.png")
    assert (updated(), images()) == (("a.md",), 2)
    Image.new("RGB", (300, 200), "red").save(tmp_path / "docs" / "one.png")
    assert (updated(), images()) == (("a.md",), 2)
    (tmp_path / "docs" / "one.png").unlink()
    assert (updated(), images(), updated()) == (("a.md",), 1, ())


def test_files_of_a_folder_that_are_no_documents_are_counted(collection: Collection, folder: Path) -> None:
    write(folder, {"x.py": "", "sub/y.PY": "", "tool": "", ".hidden": "", "..md": "", "._x.md": "", "z.zip": ""})
    assert update(collection, folder).passed_over == {"": 1, ".py": 2, ".zip": 1, "hidden": 1}
    assert update(collection, folder / "a.txt").passed_over == {}


def test_folders_that_are_not_looked_into_are_counted(collection: Collection, folder: Path, tmp_path: Path) -> None:
    write(folder, {".git/x.txt": "", "sub/.cache/y.txt": ""})
    write(tmp_path / "elsewhere", {"o.txt": "Otters."})
    (folder / "out").symlink_to(tmp_path / "elsewhere")
    (folder / "within").symlink_to(folder / "sub")
    report = update(collection, folder)
    assert report.passed_over == {"hidden folders": 2, "links to folders": 1}
    assert report.added == ("a.txt", "c.txt", "sub/b.txt")
    assert update(collection, folder / "out").added == ("o.txt",)


def test_a_collection_in_a_folder_is_counted_unless_documents_are_added_to_it(folder: Path) -> None:
    write(folder, {"other/collection.json": "", "other/catalog.sqlite": "", "other/sources/ab/x.txt": "Auks."})
    with Collection.create(folder / "own") as own:
        report = update(own, folder)
        assert report.passed_over == {"collections": 1}
        assert report.added == ("a.txt", "c.txt", "sub/b.txt")
