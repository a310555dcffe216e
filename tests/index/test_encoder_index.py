"""Indexes of vectors: built, kept in step, refused, mended and dropped. What searches them is plain numpy here."""

import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest
from made_collections import made_quote, make_collection, put
from made_vectors import PlainIndex, plain_index, written

from quoteweave.collection.collection import Collection
from quoteweave.collection.stores.generations import try_read_manifest
from quoteweave.core.errors import (
    CollectionError,
    CollectionLocked,
    FingerprintMismatch,
    IndexMissing,
    ModelFailed,
    StorageError,
    UsageError,
    withhold_remedies,
)
from quoteweave.core.protocols import SettingValue
from quoteweave.index import kinds
from quoteweave.index.base import Shard
from quoteweave.index.encoder_index import EncoderIndex, IndexReport, SkippedItem, make_plan
from quoteweave.index.sync import drop_index
from quoteweave.testing import FakeEncoder

if TYPE_CHECKING:
    from quoteweave.index.base import Rows

PORT = {"a.txt": ["grain", "timber"], "b.txt": ["coal", "salt", ""]}


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "open_index", plain_index)


@pytest.fixture
def port(tmp_path: Path) -> Iterator[Collection]:
    with make_collection(tmp_path, PORT) as collection:
        yield collection


def store_of(collection: Collection, encoder: FakeEncoder, kind: str | None = None) -> EncoderIndex:
    return EncoderIndex(collection, encoder, make_plan(encoder, f"fake@{kind}" if kind else "fake", kind=kind))


def wordless(store: EncoderIndex) -> tuple[SkippedItem, ...]:
    """The quote of the port that has no words."""
    quote = store.collection.document_quotes("b.txt")[2]
    return (
        SkippedItem(
            quote=quote.id, document="b.txt", page=quote.page, page_label=quote.page_label, reason="it has no words"
        ),
    )


def build(store: EncoderIndex, *, replace: bool = False) -> IndexReport:
    with store.collection.writer() as writer:
        return store.refresh(writer, replace=replace)


def found(store: EncoderIndex, text: str, k: int = 10) -> list[str]:
    """Texts of the quotes that are near that text, best first."""
    query = FakeEncoder().encode_queries([text])
    (one,) = store.current().search(query, k, None)
    return [quote.text for quote in store.collection.quotes_at(one.rows.tolist()) if quote is not None]


def add(collection: Collection, folder: Path, name: str, *texts: str) -> None:
    with collection.writer() as writer:
        put(writer, folder, name, [made_quote(text) for text in texts])


def folders(collection: Collection) -> set[str]:
    return {path.parent.name for path in (collection.root / "indexes").glob("*/*")}


def test_an_index_is_built_and_says_what_it_holds(port: Collection) -> None:
    store = store_of(port, FakeEncoder(settings={"max_length": 8}))
    assert build(store) == IndexReport(items=4, encoded=4, skipped=1, left_out=wordless(store))
    assert found(store, "salt")[0] == "salt"
    (state,) = port.indexes()
    assert (state.name, state.fingerprint, state.revision) == ("fake", store.plan.fingerprint, port.revision())
    said = written(state.folder)
    assert {key: said[key] for key in said if key not in ("documents", "checksum")} == {
        "name": "fake",
        "spec": "fake",
        "kind": "flat",
        "many": False,
        "unit": "quote",
        "view": "text",
        "settings": {"checkpoint": "fake", "dimensions": 64, "max_length": 8},
        "dimension": 64,
        "count": 4,
        "skipped": 1,
        "refused": {},
    }
    assert said["documents"] == port.shard_keys(store.plan.shards)
    manifest = try_read_manifest(state)
    assert manifest is not None
    assert manifest.fingerprint == state.fingerprint


def test_an_index_is_brought_up_to_date_by_what_has_changed(port: Collection, tmp_path: Path) -> None:
    encoder = FakeEncoder()
    store = store_of(port, encoder)
    build(store)
    with port.writer() as writer:
        writer.remove("a.txt")
    add(port, tmp_path, "b.txt", "coal", "tin")
    add(port, tmp_path, "c.txt", "wool")
    build(store)
    assert sorted(found(store, "coal")) == ["coal", "tin", "wool"]
    assert encoder.views[1:] == [["coal", "tin", "wool"]]
    assert len(folders(port)) == len(list((port.root / "indexes").glob("*/0*"))) == 1


def test_what_is_up_to_date_is_not_written_again(port: Collection) -> None:
    store = store_of(port, FakeEncoder())
    build(store)
    before = port.indexes()
    opened = store.current()
    assert build(store) == IndexReport(items=4, encoded=0, skipped=1, left_out=wordless(store))
    assert port.indexes() == before
    with port.writer() as writer:
        writer.set_metadata("a.txt", {"year": "2020"})
    assert store.missing_documents_note() is None
    build(store)
    assert port.indexes() == [before[0].model_copy(update={"revision": port.revision()})]
    assert store.current(opened) is opened


def test_an_index_that_was_never_built_is_missing_and_the_command_is_told(port: Collection) -> None:
    store = store_of(port, FakeEncoder(), "hnsw")
    command = f"quoteweave index build fake@hnsw -c {port.root}"
    with pytest.raises(IndexMissing, match=f"^the index fake@hnsw has not been built; build it with: {command}$"):
        store.current()


def test_an_index_of_other_settings_is_refused_until_it_is_replaced(port: Collection) -> None:
    old, new = store_of(port, FakeEncoder(settings={"max_length": 512})), store_of(port, FakeEncoder())
    build(old)
    told = (
        rf"built with other settings \(max_length: 512 → None\).*quoteweave index build fake -c {port.root} --replace$"
    )
    for refused in (new.current, lambda: build(new)):
        with pytest.raises(FingerprintMismatch, match=told):
            refused()
    assert found(old, "salt")[0] == "salt"
    assert build(new, replace=True).encoded == 4
    assert folders(port) == {new.plan.fingerprint}
    assert [path.name for path in (port.root / "vectors").iterdir()] == [new.plan.shards]
    with pytest.raises(FingerprintMismatch, match="max_length: None → 512"):
        old.current()


def test_other_kinds_views_units_and_checkpoints_are_no_rivals(port: Collection) -> None:
    build(store_of(port, FakeEncoder(settings={"max_length": 512})))
    encoder = FakeEncoder()
    plans = [
        make_plan(encoder, "fake@fp16", kind="fp16"),
        make_plan(encoder, "fake@vlm_text", view="vlm_text"),
        make_plan(encoder, "fake@page", unit="page"),
        make_plan(FakeEncoder(settings={"checkpoint": "/mine"}), "fake=/mine"),
    ]
    for plan in plans:
        build(EncoderIndex(port, encoder, plan))
    assert len(port.indexes()) == 5


def test_kinds_share_vectors_and_are_dropped_alone(port: Collection) -> None:
    encoder = FakeEncoder()
    stores = {kind: store_of(port, encoder, kind) for kind in ("flat", "hnsw")}
    for store in stores.values():
        build(store)
    assert len(encoder.views) == 1
    for kind, left in (("flat", [stores["hnsw"].plan.shards]), ("hnsw", [])):
        state = port.index_state(stores[kind].plan.fingerprint)
        assert state is not None
        with port.writer() as writer:
            drop_index(port, writer, state)
        assert [path.name for path in (port.root / "vectors").glob("*")] == left
    assert port.indexes() == []


def test_a_folder_deleted_by_hand_is_built_again_without_encoding(port: Collection) -> None:
    encoder = FakeEncoder()
    store = store_of(port, encoder)
    build(store)
    shutil.rmtree(port.root / "indexes")
    with pytest.raises(IndexMissing, match="quoteweave index build fake"):
        store.current()
    assert build(store) == IndexReport(items=4, encoded=0, skipped=1, left_out=wordless(store))
    assert (found(store, "salt")[0], len(encoder.views)) == ("salt", 1)


@pytest.mark.parametrize("file", ["items.npz", "index.json"])
@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_a_damaged_index_is_told_and_built_again_without_encoding(port: Collection, file: str, damage: str) -> None:
    encoder = FakeEncoder()
    store = store_of(port, encoder)
    build(store)
    path = port.indexes()[0].folder / file
    whole = path.read_bytes()
    path.unlink()
    if damage == "cut":
        path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CollectionError, match=rf"{file} is \w+; build it anew with: quoteweave index build fake -c"):
        store.current()
    assert build(store) == IndexReport(items=4, encoded=0, skipped=1, left_out=wordless(store))
    assert (found(store, "salt")[0], len(encoder.views)) == ("salt", 1)


def test_a_shard_that_was_truncated_is_made_again_and_its_items_with_it(port: Collection) -> None:
    encoder = FakeEncoder()
    store = store_of(port, encoder)
    build(store)
    first = port.indexes()[0]
    for path in (port.root / "vectors").rglob("*.npz"):
        path.write_bytes(path.read_bytes()[:100])
    assert build(store).encoded == 4
    assert port.indexes()[0].generation > first.generation
    assert sorted(found(store, "salt")) == ["coal", "grain", "salt", "timber"]


def test_an_empty_collection_and_one_of_which_all_was_removed(tmp_path: Path) -> None:
    with make_collection(tmp_path, {}) as collection:
        store = store_of(collection, FakeEncoder())
        assert build(store) == IndexReport(items=0, encoded=0, skipped=0)
        assert found(store, "salt") == []
        add(collection, tmp_path, "a.txt", "grain")
        build(store)
        assert found(store, "salt") == ["grain"]
        with collection.writer() as writer:
            writer.remove("a.txt")
        build(store)
        assert found(store, "salt") == []
        add(collection, tmp_path, "a.txt", "wool")
        build(store)
        assert found(store, "salt") == ["wool"]


def test_what_an_index_lacks_is_told_and_what_was_removed_is_not(port: Collection, tmp_path: Path) -> None:
    store = store_of(port, FakeEncoder())
    build(store)
    with port.writer() as writer:
        writer.remove("a.txt")
    assert store.missing_documents_note() is None
    add(port, tmp_path, "b.txt", "tin")
    told, logged = "the index fake lacks b.txt: nothing is found there until it is built again", list[str]()
    whole = f"{told}; build it with: quoteweave index build fake -c {port.root}"
    assert store.missing_documents_note() == whole
    with withhold_remedies(logged.append):
        assert (store.missing_documents_note(), logged) == (told, [whole])
    add(port, tmp_path, "c.txt", "wool")
    assert (store.missing_documents_note() or "").startswith(
        "the index fake lacks b.txt and 1 more: nothing is found there "
    )
    build(store)
    assert store.missing_documents_note() is None


UNSAID: Mapping[str, SettingValue] = {"dimensions": None}


def test_a_model_that_changes_its_dimension_needs_replace(port: Collection, tmp_path: Path) -> None:
    build(store_of(port, FakeEncoder(dimension=8, settings=UNSAID)))
    add(port, tmp_path, "c.txt", "wool")
    store = store_of(port, FakeEncoder(dimension=16, settings=UNSAID))
    with pytest.raises(ModelFailed, match=r"gave 16 numbers .* have 8; .* --replace$"):
        build(store)
    report = build(store, replace=True)
    assert (report.encoded, report.items) == (5, 5)
    assert store.current().manifest.dimension == 16


class Outside(PlainIndex):
    """An index whose items lie in a database, and whose generations only point there; as that of Milvus."""

    databases: ClassVar[dict[str, dict[int, object]]] = {}
    opened: ClassVar[list["Outside"]] = []

    def __init__(self, dimension: int, folder: Path | None) -> None:
        super().__init__(dimension, None)
        self.name = (folder / "pointer").read_text() if folder else f"database {len(self.databases)}"
        if folder is not None and self.name not in self.databases:
            raise CollectionError(f"the database has no {self.name!r}")
        self._items = self.databases.setdefault(self.name, {})  # type: ignore[assignment]
        self.closed = False
        self.opened.append(self)

    def add(self, shard: Shard) -> None:
        self.remove(shard.rows)  # of the same rows, the new items replace the old ones
        super().add(shard)

    def save(self, folder: Path) -> None:
        (folder / "pointer").write_text(self.name)

    keeps_removed = False

    def drop(self) -> None:
        del self.databases[self.name]

    def drop_others(self, folders: Iterable[Path]) -> None:
        """Nothing is left by killed runs here."""

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> type[Outside]:
    monkeypatch.setattr(Outside, "databases", {})
    monkeypatch.setattr(Outside, "opened", [])
    monkeypatch.setattr(
        kinds, "open_index", lambda kind, dimension, *, database_folder, folder=None: Outside(dimension, folder)
    )
    return Outside


def test_what_lies_in_a_database_goes_with_its_index(port: Collection, outside: type[Outside]) -> None:
    old = store_of(port, FakeEncoder(settings={"max_length": 512}), "milvus")
    new = store_of(port, FakeEncoder(), "milvus")
    build(old)
    build(old)
    assert list(outside.databases) == ["database 0"]
    build(new, replace=True)
    assert {name: len(items) for name, items in outside.databases.items()} == {"database 1": 4}
    with port.writer() as writer:
        drop_index(port, writer, port.indexes()[0])
    assert outside.databases == {}
    assert port.indexes() == []
    assert {index.closed for index in outside.opened} == {True}


def test_a_run_that_ended_between_the_database_and_the_catalogue_is_mended(
    port: Collection, tmp_path: Path, outside: type[Outside], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_of(port, FakeEncoder(), "milvus")
    build(store)
    with port.writer() as writer:
        writer.remove("a.txt")
    add(port, tmp_path, "c.txt", "wool", "tin")
    add(port, tmp_path, "d.txt", "hemp")
    complete = Outside.add

    def half(index: Outside, shard: Shard) -> None:
        complete(index, shard)
        index.remove(shard.rows[:1])
        raise StorageError("the disk is full")

    monkeypatch.setattr(Outside, "add", half)
    with pytest.raises(StorageError):
        build(store)
    monkeypatch.setattr(Outside, "add", complete)
    build(store)
    assert sorted(found(store, "wool")) == ["coal", "hemp", "salt", "tin", "wool"]
    assert len(outside.databases["database 0"]) == 5


@pytest.mark.parametrize("moment", range(1, 6))
def test_nothing_is_missing_from_a_database_while_it_changes_nor_after_a_kill(
    port: Collection, tmp_path: Path, outside: type[Outside], monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    store = store_of(port, FakeEncoder(), "milvus")
    build(store)
    add(port, tmp_path, "c.txt", "wool")
    with port.writer() as writer:
        writer.remove("a.txt")
    for path in (port.root / "vectors").rglob("*.npz"):
        path.write_bytes(path.read_bytes()[:-9])  # all is made anew
    left, add_whole, remove_whole = iter(range(1, moment)), Outside.add, PlainIndex.remove

    def add_or_die(index: Outside, shard: Shard) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        add_whole(index, shard)

    def remove_or_die(index: Outside, rows: "Rows") -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        remove_whole(index, rows)

    monkeypatch.setattr(Outside, "add", add_or_die)
    monkeypatch.setattr(Outside, "remove", remove_or_die)
    with suppress(KeyboardInterrupt):
        build(store)
    assert {"coal", "salt"} <= set(found(store, "salt")), "what was found before and is still there"
    monkeypatch.setattr(Outside, "add", add_whole)
    monkeypatch.setattr(Outside, "remove", remove_whole)
    build(store)
    assert sorted(found(store, "wool")) == ["coal", "salt", "wool"]
    assert len(outside.databases["database 0"]) == 3


def test_a_database_that_lost_the_index_gets_it_again(port: Collection, outside: type[Outside]) -> None:
    encoder = FakeEncoder()
    store = store_of(port, encoder, "milvus")
    build(store)
    outside.databases.clear()
    with pytest.raises(
        CollectionError, match=r"has no 'database 0'; build it anew with: quoteweave index build fake@milvus"
    ):
        store.current()
    build(store)
    assert (found(store, "salt")[0], len(encoder.views)) == ("salt", 1)


def test_an_index_that_its_database_lost_can_be_dropped(port: Collection, outside: type[Outside]) -> None:
    build(store_of(port, FakeEncoder(), "milvus"))
    outside.databases.clear()
    with port.writer() as writer:
        drop_index(port, writer, port.indexes()[0])
    assert port.indexes() == []


def test_an_index_that_another_process_has_open_is_not_taken_for_a_damaged_one(
    port: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_of(port, FakeEncoder())
    build(store)

    def locked(kind: str, dimension: int, *, database_folder: Path, folder: Path | None = None) -> PlainIndex:
        raise CollectionLocked("another process has it open")

    monkeypatch.setattr(kinds, "open_index", locked)
    for ask in (store.current, lambda: build(store)):
        with pytest.raises(CollectionLocked, match=r"^another process has it open$"):
            ask()


def test_a_connection_ends_with_the_last_who_searches(port: Collection, outside: type[Outside]) -> None:
    store = store_of(port, FakeEncoder(), "milvus")
    build(store)
    opened = store.current()
    assert store.current(opened) is opened
    assert not outside.opened[-1].closed
    del opened
    assert outside.opened[-1].closed


def test_a_view_or_kind_that_does_not_fit_the_encoder_is_refused(port: Collection) -> None:
    with pytest.raises(UsageError, match="fake reads text; it cannot be given the view 'image'"):
        make_plan(FakeEncoder(), "fake", view="image")
    visual = FakeEncoder(reads="image", multi_vector=True)
    with pytest.raises(UsageError, match="fake reads pictures; it cannot be given the view 'ocr_text'"):
        make_plan(visual, "fake", view="ocr_text")
    with pytest.raises(UsageError, match="no index 'flat' for items of many vectors"):
        make_plan(visual, "fake", kind="flat")
    with pytest.raises(UsageError, match="CollectionPictures"):
        EncoderIndex(port, visual, make_plan(visual, "fake"))
