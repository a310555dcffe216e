"""Damaged files: whatever byte is flipped and wherever a file ends, it is told, or nothing depends on it."""

import os
import random
import shutil
import signal
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import made_collections
import pytest
from killed_processes import in_a_process
from made_documents import made_document, put
from other_user import printed_by_nobody

from quoteweave.collection.catalog.file_checksum import read_catalog_checksum
from quoteweave.collection.collection import Collection
from quoteweave.collection.folder import RECOVERED_FOLDER, CollectionFolder
from quoteweave.collection.writer import Writer
from quoteweave.core.errors import CollectionError, QuoteweaveError
from quoteweave.core.records import Filter, Query
from quoteweave.index.removal import remove_documents
from quoteweave.maintenance.check import check
from quoteweave.maintenance.repair import check_and_repair
from quoteweave.retrievers.spec import RetrieverSpec
from quoteweave.retrievers.vector import VectorRetriever
from quoteweave.testing.fakes import FakeEncoder

ENCODERS = FakeEncoder(name="one"), FakeEncoder(name="many", multi_vector=True)
KINDS = ((0, "flat"), (1, "exact"), (1, "two-stage"), (1, "binary"))
WORDS = ["salt", "timber", "grain", "coal", "rope", "sail", "anchor"]


def texts(seed: int) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=8)) + f" {seed} {number}" for number in range(20)]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three documents, of which one has a picture, and an index of each family."""
    folder = tmp_path_factory.mktemp("damage")
    with Collection.create(folder / "c") as collection:
        with collection.writer() as writer:
            for seed in range(3):
                image = collection.images.put(b"a picture " * 100, suffix=".png") if seed == 0 else None
                put(
                    writer, folder, f"{seed}.txt", made_document(texts(seed), image=image), metadata={"team": str(seed)}
                )
        for retriever in retrievers(collection):
            retriever.refresh()
    return folder / "c"


@pytest.fixture
def copy(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "c"))


def retrievers(collection: Collection) -> Iterator[VectorRetriever]:
    for which, kind in KINDS:
        encoder = ENCODERS[which]
        yield VectorRetriever(collection, encoder, spec=RetrieverSpec(name=encoder.name, kind=kind))


def read_all(root: Path) -> list[Any]:
    """What was read; a QuoteweaveError or a note as its text."""
    found: list[Any] = []
    try:
        with Collection.open(root) as collection:
            found += [collection.documents(), list(map(str, collection.iter_documents_quotes())), collection.counts()]
            for document in collection.documents():
                found += [collection.page_words(document.name, page) for page in range(document.pages)]
                found += [collection.pages(document.name), collection.source_file(document.name).read_bytes()]
            keys = {q.image for d in collection.documents() for q in collection.document_quotes(d.name) if q.image}
            for key in sorted(keys):
                found.append(collection.images.read(key))
            for retriever in retrievers(collection):
                for where in (None, Filter(documents=("1.txt",)), Filter(kind="text", first_page=3)):
                    found.append(retriever.search([Query(text="coal and rope")], 5, where=where))
                found += retriever.warnings()
    except QuoteweaveError as error:
        found.append(str(error))
    return found


@pytest.fixture(scope="module")
def whole(original: Path) -> list[Any]:
    """What is read of the undamaged collection."""
    return read_all(original)


def flipped(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    if chance.random() < 0.25:
        del data[chance.randrange(len(data)) :]
    else:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


@pytest.mark.parametrize("seed", range(40))
def test_damage_anywhere_is_told_or_changes_nothing(whole: list[Any], copy: Path, seed: int) -> None:
    chance = random.Random(seed)
    files = sorted(path for path in copy.rglob("*") if path.is_file() and path.stat().st_size)
    path = chance.choice([*files, *[copy / "catalog.sqlite"] * (len(files) // 5)])
    flipped(path, chance)
    found = read_all(copy)
    if found == whole:
        return
    told = [text for text in found if isinstance(text, str)]
    assert told
    of_index = [folder for folder in path.parents if folder.parent.parent == copy / "indexes"]
    assert path.name in told[0] or path.parent.name in told[0] or any(str(folder) in told[0] for folder in of_index)
    assert "quoteweave " in told[0]  # what to do about it
    named = [damage.file for damage in check(copy).damaged]
    assert any(path.relative_to(copy).as_posix().startswith(name) for name in named)


@pytest.mark.parametrize("where", ["catalog.sqlite", "collection.json", "images", "sources", "indexes", "vectors"])
def test_a_check_names_what_is_damaged_and_repairs_what_it_can(whole: list[Any], copy: Path, where: str) -> None:
    place = copy / where
    path = place if place.is_file() else max(p for p in place.rglob("*") if p.is_file())
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data if where != "collection.json" else b"{")
    (damage, *_) = check(copy).damaged
    assert path.relative_to(copy).as_posix().startswith(damage.file)
    report = check_and_repair(copy)
    left = [damage for damage in report.damaged if not damage.repaired]
    # No parser of this package made these documents, so that pictures and rows cannot be had again from their files;
    # these lie where they were added.
    assert [damage.part for damage in left] == (["picture"] if where == "images" else [])
    assert all(damage.advice for damage in left)
    if where in ("sources", "indexes", "collection.json"):
        assert check(copy).whole
        assert read_all(copy) == whole


@pytest.mark.parametrize("beside", ["", "collection.json"])  # without which nothing says what the folder holds
def test_an_index_whose_manifest_is_lost_is_built_from_its_vectors(whole: list[Any], copy: Path, beside: str) -> None:
    with Collection.open(copy) as collection:
        (folder,) = (state.folder for state in collection.indexes() if state.name == "one@flat")
    (folder / "index.json").write_bytes(b"{")
    if beside:
        (copy / beside).write_bytes(b"{")
    assert not check(copy).whole
    assert check_and_repair(copy).whole
    assert check(copy).damaged == ()
    assert read_all(copy) == whole


@pytest.mark.parametrize("of", ["another collection", "another index"])
def test_an_index_in_the_place_of_another_is_damage(whole: list[Any], copy: Path, tmp_path: Path, of: str) -> None:
    """Its files are whole, but its rows stand for other quotes, or its vectors come from another model."""
    with Collection.open(copy) as collection:
        here, other = (state.folder for state in collection.indexes() if state.name in ("many@exact", "many@binary"))
    if of == "another collection":
        other = tmp_path / "other" / "indexes" / here.relative_to(copy / "indexes")
        with Collection.create(tmp_path / "other") as collection:
            with collection.writer() as writer:
                for seed in range(2, -1, -1):  # the same documents in another order
                    put(writer, tmp_path, f"{seed}.txt", made_document(texts(seed)), metadata={"team": str(seed)})
            next(one for one in retrievers(collection) if one.encoder_index.plan.spec == "many@binary").refresh()
            (other,) = (state.folder for state in collection.indexes())
            here = copy / "indexes" / other.parent.name
            (here,) = (path for path in here.iterdir() if path.is_dir())
    shutil.rmtree(here)
    shutil.copytree(other, here)
    told = [text for text in read_all(copy) if isinstance(text, str)]
    assert f"{here} is damaged: its files are not those that were written for it" in told[0]
    assert [damage.file for damage in check(copy).damaged] == [here.relative_to(copy).as_posix()]
    assert check_and_repair(copy).whole
    assert read_all(copy) == whole


def test_an_index_of_which_an_earlier_version_recorded_no_seal_is_read(whole: list[Any], copy: Path) -> None:
    with sqlite3.connect(copy / "catalog.sqlite") as db:
        db.execute("DROP TABLE index_seals")
    db.close()
    (copy / "catalog.sqlite.checksum").unlink()
    assert read_all(copy) == whole
    assert check(copy).whole


@pytest.mark.parametrize("where", ["sources", "lexical", "indexes", "vectors"])
def test_folders_in_the_place_of_files_and_files_in_that_of_folders_are_repaired(
    whole: list[Any], copy: Path, where: str
) -> None:
    path = max(path for path in (copy / where).rglob("*") if path.is_file())
    path.unlink()
    (path / "within").mkdir(parents=True)
    assert not check(copy).whole
    assert all(damage.repaired for damage in check_and_repair(copy).damaged)
    shutil.rmtree(copy / where)
    (copy / where).write_text("a file")
    assert not check(copy).whole
    # How an index was built is lost with its whole folder.
    assert all(damage.repaired or where == "indexes" for damage in check_and_repair(copy).damaged)
    with Collection.open(copy) as collection:
        for retriever in retrievers(collection):
            retriever.refresh()
    assert check(copy).whole
    assert read_all(copy) == whole


def test_a_folder_in_the_place_of_the_header_is_damage(whole: list[Any], copy: Path) -> None:
    (copy / "collection.json").unlink()
    (copy / "collection.json" / "within").mkdir(parents=True)
    with pytest.raises(CollectionError, match=r"collection.json is damaged: something else is in its place"):
        Collection.open(copy)
    assert check_and_repair(copy).whole
    assert read_all(copy) == whole


def test_a_folder_in_the_place_of_the_catalogue_is_damage_and_is_kept(copy: Path) -> None:
    (copy / "catalog.sqlite").unlink()
    (copy / "catalog.sqlite" / "within").mkdir(parents=True)
    with (
        pytest.raises(CollectionError, match=r"catalog.sqlite is damaged: something else is in its place"),
        Collection.open(copy) as collection,
    ):
        collection.documents()
    assert "something else is in its place" in {damage.what for damage in check(copy).damaged}
    check_and_repair(copy)
    assert check(copy).whole
    assert (copy / RECOVERED_FOLDER / "catalog.sqlite" / "within").is_dir()
    (copy / "catalog.sqlite").unlink()
    (copy / "catalog.sqlite" / "again").mkdir(parents=True)
    what = f"what stood in place of the catalogue is {copy / RECOVERED_FOLDER / 'catalog.sqlite-2'} now"
    assert what in {damage.what for damage in check_and_repair(copy).damaged}
    assert (copy / RECOVERED_FOLDER / "catalog.sqlite-2" / "again").is_dir()


def test_a_whole_collection_is_found_whole_and_left_alone(copy: Path) -> None:
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    report = check_and_repair(copy)
    assert (report.whole, report.damaged, report.notes, report.leftovers) == (True, (), (), ())
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before


def test_files_that_could_not_be_read_are_told_of_a_whole_collection(copy: Path) -> None:
    with Collection.open(copy) as collection, collection.writer() as writer:
        writer.fail("broken.pdf", root=copy, reason="it is damaged", content=None)
    report = check(copy)
    assert (report.whole, [note.split(":")[0] for note in report.notes]) == (True, ["1 file could not be read"])


def test_a_catalogue_that_cannot_be_read_at_all_keeps_the_files_of_its_documents(copy: Path) -> None:
    sources = {path.name: path.read_bytes() for path in (copy / "sources").rglob("*") if path.is_file()}
    (copy / "catalog.sqlite").write_bytes(b"nothing is left")
    report = check_and_repair(copy)
    assert not report.whole
    assert {path.name: path.read_bytes() for path in (copy / RECOVERED_FOLDER).iterdir()} == sources
    assert all(name in " ".join(damage.what for damage in report.damaged) for name in sources)
    with Collection.open(copy) as collection:
        assert collection.documents() == []


def test_who_has_a_collection_open_reads_the_catalogue_that_a_repair_has_made(copy: Path) -> None:
    with Collection.open(copy) as collection:
        before = collection.documents(), collection.quotes(), collection.revision()
        with closing(sqlite3.connect(copy / "catalog.sqlite")) as db, db:
            db.execute("UPDATE quotes SET record = record || ' ' WHERE document = 1")
        check_and_repair(copy)
        with Collection.open(copy) as other:
            remove_documents(other, ["1.txt"])
        with Collection.open(copy) as other:
            after = other.documents(), other.quotes(), other.revision()
        assert (collection.documents(), collection.quotes(), collection.revision()) == after
        assert after != before


def test_damaged_rows_are_told_though_the_file_has_no_checksum_any_more(copy: Path) -> None:
    path = copy / "catalog.sqlite"
    (copy / "catalog.sqlite.checksum").unlink()  # as a writer that was killed leaves it
    data = path.read_bytes()
    text, place = texts(0)[0].encode(), b'"document":"0.txt","page":1,'
    for old, new in ((text, text.upper()), (place, place.replace(b"1", b"7"))):
        path.write_bytes(data.replace(old, new, 1))
        with Collection.open(copy) as collection, pytest.raises(CollectionError, match=r"not what was written.*check"):
            list(collection.iter_documents_quotes())
        (damage,) = check(copy).damaged
        assert (damage.part, damage.document) == ("catalogue", "0.txt")


def test_a_row_that_an_index_knows_and_the_catalogue_has_lost_is_damage(copy: Path) -> None:
    import sqlite3

    with sqlite3.connect(copy / "catalog.sqlite") as db:
        db.execute("DELETE FROM quotes WHERE document = 1")
    db.close()
    (copy / "catalog.sqlite.checksum").unlink()
    with Collection.open(copy) as collection, pytest.raises(CollectionError, match="catalogue lacks quotes"):
        next(retrievers(collection)).search([Query(text="coal")], 60)


def test_the_catalogue_has_a_checksum_only_while_nobody_writes(copy: Path, tmp_path: Path) -> None:
    path = copy / "catalog.sqlite"
    before = read_catalog_checksum(path)
    assert before is not None
    with Collection.open(copy) as collection, Collection.open(copy) as reader:
        with collection.writer():
            assert read_catalog_checksum(path) == before  # nothing was written yet
        assert read_catalog_checksum(path) == before
        with collection.writer() as writer:
            put(writer, tmp_path, "new.txt", made_document(["new"]))
            assert read_catalog_checksum(path) is None
            assert len(reader.documents()) == 4
            with Collection.open(copy) as other:  # while somebody writes
                assert len(other.documents()) == 4
        after = read_catalog_checksum(path)
        assert after not in (None, before)
        written = path.read_bytes()
    assert path.read_bytes() == written  # closing changes nothing
    with pytest.raises(KeyboardInterrupt), Collection.open(copy) as collection, collection.writer() as writer:
        interrupt(writer)
    assert read_catalog_checksum(path) is None
    with Collection.open(copy) as collection:
        assert len(collection.documents()) == 3
        with collection.writer():
            pass
    assert read_catalog_checksum(path) is not None


def test_an_older_copy_of_the_catalogue_with_its_checksum_is_damage(copy: Path, tmp_path: Path) -> None:
    before = {name: (copy / name).read_bytes() for name in ("catalog.sqlite", "catalog.sqlite.checksum")}
    with Collection.open(copy) as collection, collection.writer() as writer:
        put(writer, tmp_path, "new.txt", made_document(["new"]))
    newer = {name: (copy / name).read_bytes() for name in before}
    for name, data in before.items():
        (copy / name).write_bytes(data)
    with Collection.open(copy) as collection, pytest.raises(CollectionError, match=r"lacks 1 change .*older copy"):
        collection.documents()
    with Collection.open(copy) as collection, pytest.raises(CollectionError, match="older copy"), collection.writer():
        pass
    assert [damage.what for damage in check(copy).damaged if "older copy" in damage.what]
    for name, data in newer.items():
        (copy / name).write_bytes(data)
    assert check(copy).whole
    for name, data in before.items():
        (copy / name).write_bytes(data)
    report = check_and_repair(copy)
    assert [RECOVERED_FOLDER in damage.what for damage in report.damaged if not damage.repaired] == [True]
    with Collection.open(copy) as collection:
        assert [document.name for document in collection.documents()] == ["0.txt", "1.txt", "2.txt"]
    assert check(copy).whole


def interrupt(writer: Writer) -> None:
    writer.remove("0.txt")
    raise KeyboardInterrupt


def test_shards_that_are_damaged_are_encoded_again_when_their_index_is_built(whole: list[Any], copy: Path) -> None:
    for path in (copy / "vectors").rglob("*.npz"):
        data = bytearray(path.read_bytes())
        data[300] ^= 1  # among the numbers
        path.write_bytes(data)
    with Collection.open(copy) as collection:
        for retriever in retrievers(collection):
            retriever.refresh()
    assert check(copy).whole
    assert read_all(copy) == whole


def test_what_was_set_aside_goes_with_the_document_that_was_added_again(tmp_path: Path) -> None:
    with made_collections.make_collection(tmp_path, {"a.txt": ["grain"], "b.txt": ["timber"]}) as collection:
        root = collection.root
    (root / "catalog.sqlite").write_bytes(b"nothing is left")
    check_and_repair(root)
    assert len(list((root / RECOVERED_FOLDER).iterdir())) == 2
    with Collection.open(root) as collection:
        with collection.writer() as writer:
            made_collections.put(writer, tmp_path / "files", "a.txt", [made_collections.made_quote("grain")])
        remove_documents(collection, ["a.txt"])
    assert [path.read_text() for path in (root / RECOVERED_FOLDER).iterdir()] == ["['timber']"]


def add_remove_and_die(root: Path, folder: Path) -> None:
    """Adds one document and removes another, and is killed before SQLite's log is moved away."""
    with Collection.open(root).writer() as writer:
        put(writer, folder, "new.txt", made_document(["new words"]))
        writer.remove("0.txt")
        os.kill(os.getpid(), signal.SIGKILL)


def test_changes_that_a_damaged_log_has_lost_are_told(copy: Path, tmp_path: Path) -> None:
    assert in_a_process(add_remove_and_die, copy, tmp_path) == -signal.SIGKILL
    log = copy / "catalog.sqlite-wal"
    whole = shutil.copytree(copy, tmp_path / "whole")
    with Collection.open(whole) as collection:
        assert [document.name for document in collection.documents()] == ["1.txt", "2.txt", "new.txt"]
    data = log.read_bytes()
    for number, (size, added) in enumerate([(len(data) - 1, {"new.txt"}), (100, set()), (0, set())]):
        cut = shutil.copytree(copy, tmp_path / str(number))
        (cut / log.name).write_bytes(data[:size])
        with pytest.raises(CollectionError, match=r"it lacks \d changes? made last.*check"):
            Collection.open(cut).revision()
        with pytest.raises(CollectionError, match="it lacks"), CollectionFolder(cut).catalog.write():
            pass
        assert [damage.part for damage in check(cut).damaged] == ["catalogue"]
        report = check_and_repair(cut)
        assert "made last" in report.damaged[0].what
        assert report.damaged[0].repaired
        with Collection.open(cut) as collection:
            names = {document.name for document in collection.documents()}
            assert names == {"0.txt", "1.txt", "2.txt"} | added
            assert bool(added) != bool(list((cut / RECOVERED_FOLDER).glob("*")))
            with collection.writer():
                pass
        assert check(cut).whole
    (copy / log.name).unlink()
    with pytest.raises(CollectionError, match="it lacks"):
        Collection.open(copy).revision()


def test_a_count_of_changes_that_was_cut_short_is_none(copy: Path, tmp_path: Path) -> None:
    assert in_a_process(add_remove_and_die, copy, tmp_path) == -signal.SIGKILL
    (copy / "catalog.sqlite.checksum").write_bytes(b'{"committed": 9')
    with Collection.open(copy) as collection, collection.writer() as writer:
        writer.remove("1.txt")
    assert check(copy).whole


CHECKING = """
from pathlib import Path
from quoteweave.core.errors import CollectionError
from quoteweave.maintenance.check import check
from quoteweave.maintenance.removal_proof import check_removed
from quoteweave.maintenance.repair import check_and_repair
"""
UNREADABLE = """
for act in (check, check_and_repair, lambda root: check_removed(root, "gone.txt")):
    try:
        print(act(Path(sys.argv[1])))
    except CollectionError as error:
        print(error)
"""


@pytest.mark.parametrize("closed", [".", "catalog.sqlite", "lexical", "images", "sources"])
def test_what_may_not_be_read_is_named_and_neither_damaged_nor_gone(original: Path, closed: str) -> None:
    # Not under tmp_path, which only its owner may enter.
    with tempfile.TemporaryDirectory() as folder:
        root = Path(shutil.copytree(original, Path(folder, "c")))
        for path in (Path(folder), root, *root.rglob("*")):
            path.chmod(0o777 if path.is_dir() else 0o666)
        mode = 0o755 if (root / closed).is_dir() else 0o644
        (root / closed).chmod(0)
        said = printed_by_nobody(CHECKING, UNREADABLE, root)
        (root / closed).chmod(mode)
        assert said == [f"cannot read {root / closed}: Permission denied; allow reading it, then try again"] * 3
        assert check(root).damaged == ()


def test_a_writers_lock_that_may_not_be_read_hinders_no_check(original: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(shutil.copytree(original, Path(folder, "c")))
        for path in (Path(folder), root, *root.rglob("*")):
            path.chmod(0o777 if path.is_dir() else 0o666)
        (root / "writer.lock").touch()
        (root / "writer.lock").chmod(0)
        imports = f"import encodings.cp437, encodings.utf_16_le, encodings.utf_16_be\n{CHECKING}"
        said = printed_by_nobody(imports, UNREADABLE, root)
        assert [line.partition(" ")[2].startswith("damaged=()") for line in said[:2]] == [True, True]
        assert "cannot read" not in said[2]
