"""Repairs that are killed, or that cannot mend everything: what is lost stays named, and what can be had comes back."""

import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from killed_processes import die_at, in_a_process, left_by_kills

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import CollectionError, UsageError
from quoteweave.index.removal import remove_documents
from quoteweave.maintenance.check import check
from quoteweave.maintenance.repair import check_and_repair
from quoteweave.maintenance.salvage import salvage
from quoteweave.pipeline.composition.add_documents import add_documents
from quoteweave.pipeline.composition.manage_indexes import list_indexes, remove_indexes
from quoteweave.retrievers.spec import RetrieverSpec
from quoteweave.retrievers.vector import VectorRetriever
from quoteweave.testing.fakes import FakeEncoder

# Only one in this many of the states that kills leave is tried, as each is checked three times; each damage begins with
# another of them.
STRIDE = 5
NAMES = ["first.txt", "second.txt", "third.txt"]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three documents whose files are gone from where they were added, and an index of vectors."""
    folder = tmp_path_factory.mktemp("repair")
    (folder / "files").mkdir()
    for name in NAMES:
        (folder / "files" / name).write_text(f"The quay of {name} is long.\n\nThe crane of {name} is old.")
    add_documents(folder / "c", [folder / "files"])
    shutil.rmtree(folder / "files")
    with Collection.open(folder / "c") as collection:
        retriever(collection).refresh()
    return folder / "c"


def retriever(collection: Collection) -> VectorRetriever:
    return VectorRetriever(collection, FakeEncoder(name="one"), spec=RetrieverSpec(name="one", kind="flat"))


@pytest.fixture
def copy(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "c"))


def lose_a_document(root: Path) -> None:
    with closing(sqlite3.connect(root / "catalog.sqlite")) as db:
        db.execute("UPDATE quotes SET checksum = checksum + 1 WHERE document = 1")
        db.commit()


def lose_a_manifest(root: Path) -> None:
    next(root.glob("indexes/*/*/index.json")).write_bytes(b"{")


def lose_the_rows_of_indexes(root: Path) -> None:
    lose_a_document(root)
    with closing(sqlite3.connect(root / "catalog.sqlite")) as db:
        db.execute("DELETE FROM indexes")
        db.commit()


def held(root: Path) -> tuple[list[str], list[str]] | None:
    """Its documents and indexes, once a command has written; None where it refuses to."""
    with suppress(CollectionError):
        return _held(root)
    return None


def _held(root: Path) -> tuple[list[str], list[str]]:
    with Collection.open(root) as collection:
        with collection.writer():
            pass  # what nothing refers to is removed
        indexes = [state.name for state, manifest in list_indexes(collection) if manifest is not None]
        return [document.name for document in collection.documents()], indexes


@pytest.mark.parametrize(("begin", "lose"), [(0, lose_a_document), (1, lose_a_manifest), (3, lose_the_rows_of_indexes)])
def test_a_repair_that_was_killed_at_any_step_is_finished_by_the_next(
    original: Path, tmp_path: Path, begin: int, lose: Callable[[Path], None]
) -> None:
    damaged = Path(shutil.copytree(original, tmp_path / "damaged"))
    lose(damaged)
    left = left_by_kills(damaged, tmp_path / "copies", check_and_repair, damaged)
    for root in left[begin::STRIDE]:
        if held(root) != (NAMES, ["one@flat"]):
            assert not check(root).whole  # whatever another command that writes has done
        assert check_and_repair(root).whole
        assert held(root) == (NAMES, ["one@flat"])
        assert check(root).whole
    assert len(left) > 10


def test_what_a_repair_has_named_as_lost_before_it_was_killed_is_read_again_by_the_next(copy: Path) -> None:
    lose_a_document(copy)
    checksum = (copy / "catalog.sqlite.checksum").read_bytes()
    assert [*salvage(copy).documents] == ["first.txt"]
    # As a kill leaves it between the new catalogue and the removal of the old one's checksum.
    (copy / "catalog.sqlite.checksum").write_bytes(checksum)
    assert check_and_repair(copy).whole
    assert held(copy) == (NAMES, ["one@flat"])


@pytest.fixture
def lost(copy: Path) -> Path:
    """A collection of which a document is lost, and its stored file as well."""
    with Collection.open(copy) as collection:
        path = collection.source_file_by_key(collection.source_keys()["first.txt"])
    lose_a_document(copy)
    path.unlink()
    report = check_and_repair(copy)
    assert not report.whole
    return copy


def test_a_document_that_cannot_be_read_again_stays_named_until_it_is_added_or_removed(
    lost: Path, tmp_path: Path
) -> None:
    for _ in range(2):
        (damage,) = (found for found in check_and_repair(lost).damaged if not found.repaired)
        assert (damage.part, damage.document) == ("document", "first.txt")
        assert damage.what.startswith("the document 'first.txt' is lost: ")
        assert "add its file again, or remove it" in damage.what
    (tmp_path / "other.txt").write_text("Another quay.")
    add_documents(lost, [tmp_path / "other.txt"])
    with Collection.open(lost) as collection:
        assert [failure.name for failure in collection.failures()] == ["first.txt"]
    removed = Path(shutil.copytree(lost, tmp_path / "removed"))
    with Collection.open(removed) as collection:
        with pytest.raises(UsageError, match=r"no document is named 'none\.txt'"):
            remove_documents(collection, ["first.txt", "none.txt"])
        assert remove_documents(collection, ["first.txt"]).removed == ("first.txt",)
    assert check(removed).whole
    assert not any(b"first.txt" in path.read_bytes() for path in removed.rglob("*") if path.is_file())
    (tmp_path / "first.txt").write_text("The quay of first.txt is long.")
    add_documents(lost, [tmp_path / "first.txt"])
    assert check(lost).whole


def test_an_index_of_which_nothing_says_how_it_was_built_stays_named_until_it_is_built_or_removed(
    copy: Path, tmp_path: Path
) -> None:
    for path in (next(copy.glob("indexes/*/*/index.json")), next(copy.glob("indexes/*/plan.json"))):
        path.write_bytes(b"{")
    for number in range(3):
        damages = check_and_repair(copy).damaged
        (damage,) = (found for found in damages if not found.repaired)
        assert damage.advice == (
            f"how it was built is lost with it; build it again: quoteweave index build one@flat -c {copy}"
        )
        with Collection.open(copy) as collection:
            assert [(state.name, manifest) for state, manifest in list_indexes(collection)] == [("one@flat", None)]
            if number == 0:  # what is not whole is no hindrance to others
                with collection.writer():
                    pass
    removed = Path(shutil.copytree(copy, tmp_path / "removed"))
    with Collection.open(removed) as collection:
        assert remove_indexes(collection, ["one@flat"]) == 1
    assert check(removed).whole
    with Collection.open(copy) as collection:
        assert retriever(collection).refresh().encoded == 0  # its vectors were kept
    assert check(copy).whole


@pytest.mark.parametrize("missing", [False, True])
def test_a_damaged_or_missing_plan_is_written_again(missing: bool, copy: Path) -> None:
    plan = next(copy.glob("indexes/*/plan.json"))
    before = plan.read_bytes()
    plan.write_bytes(b"{")
    if missing:
        plan.unlink()
    (damage,) = check_and_repair(copy).damaged
    assert (damage.file, damage.repaired) == (plan.relative_to(copy).as_posix(), True)
    assert plan.read_bytes() == before


def test_files_of_documents_without_names_are_set_aside_before_the_catalogue_is_replaced(
    copy: Path, tmp_path: Path
) -> None:
    sources = {path.name for path in (copy / "sources").rglob("*.txt")}
    (copy / "catalog.sqlite").write_bytes(b"nothing is left")
    left = left_by_kills(copy, tmp_path / "copies", check_and_repair, copy)
    for root in left[::STRIDE]:
        check_and_repair(root)
        held(root)
        assert {path.name for path in (root / "recovered").iterdir()} == sources
        assert any(note.startswith("recovered/ holds 3 files whose documents' names") for note in check(root).notes)
    assert len(left) > 10


def test_what_a_killed_writer_said_of_itself_is_left_over_until_the_next_one(copy: Path) -> None:
    assert in_a_process(write_and_die, copy) == -signal.SIGKILL
    assert check(copy).leftovers == ("writer.json",)
    with Collection.open(copy) as collection:
        with collection.writer():
            assert check(copy).leftovers == ()
        assert check(copy).leftovers == ()


def write_and_die(root: Path) -> None:
    with Collection.open(root).writer():
        die_at(0)
        (root / "collection.json").open().close()
