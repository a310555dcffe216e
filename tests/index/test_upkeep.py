"""What happens to all indexes when documents change, without any model."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from made_collections import made_quote, make_collection, put
from made_vectors import ColourPictures, PlainIndex, plain_index

from quoteweave.collection import views
from quoteweave.collection.collection import Collection
from quoteweave.collection.stores.generations import try_read_manifest
from quoteweave.core.errors import EndpointUnreachable, FingerprintMismatch, MissingExtra, QuoteweaveError
from quoteweave.index import kinds
from quoteweave.index.encoder_index import EncoderIndex, make_plan
from quoteweave.index.sync import indexes_behind, sync_indexes
from quoteweave.testing import FakeEncoder

PORT = {"a.txt": ["grain", "timber"], "b.txt": ["coal", "salt", ""]}


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "open_index", plain_index)


@pytest.fixture
def port(tmp_path: Path) -> Iterator[Collection]:
    with make_collection(tmp_path, PORT) as collection:
        yield collection


def built(collection: Collection, encoder: FakeEncoder, pictures: ColourPictures | None = None) -> EncoderIndex:
    """An index of that encoder, up to date."""
    store = EncoderIndex(collection, encoder, make_plan(encoder, encoder.name), pictures)
    with collection.writer() as writer:
        store.refresh(writer)
    return store


def held(store: EncoderIndex) -> list[str]:
    """Texts of the quotes in the index."""
    index = store.current().index
    rows = [] if index is None else index.rows.tolist()
    return [quote.text if quote else "gone" for quote in store.collection.quotes_at(rows)]


def is_current(collection: Collection, store: EncoderIndex) -> bool:
    state = collection.index_state(store.plan.fingerprint)
    return state is not None and state.revision == collection.revision()


def test_what_was_removed_leaves_every_index(port: Collection) -> None:
    stores = [built(port, FakeEncoder(name=name, settings={"seed": name})) for name in ("one", "two")]
    with port.writer() as writer:
        writer.remove("a.txt")
        assert sync_indexes(port, writer) == ()
    for store in stores:
        assert held(store) == ["coal", "salt"]
        assert is_current(port, store)
    assert indexes_behind(port) == []


def test_what_is_new_keeps_an_index_behind_until_it_is_encoded(port: Collection, tmp_path: Path) -> None:
    store = built(port, FakeEncoder())
    with port.writer() as writer:
        writer.remove("a.txt")
        put(writer, tmp_path, "c.txt", [made_quote("wool")])
        assert sync_indexes(port, writer) == ()
    assert held(store) == ["coal", "salt"]
    assert [(manifest.spec, manifest.count) for manifest in indexes_behind(port)] == [("fake", 2)]
    with port.writer() as writer:
        store.refresh(writer)
    assert held(store) == ["coal", "salt", "wool"]
    assert indexes_behind(port) == []


def test_an_index_of_words_is_behind_once_pictures_have_been_described(tmp_path: Path) -> None:
    encoder = FakeEncoder()
    with make_collection(
        tmp_path, {"a.pdf": ["coal", made_quote("", layout="figure")], "b.txt": ["salt"]}
    ) as collection:
        store = built(collection, encoder)
        quote = collection.document_quotes("a.pdf")[1].id
        with collection.writer() as writer:
            writer.describe({"a.pdf": {quote: "a barge"}})
            assert sync_indexes(collection, writer) == ()
        assert "lacks a.pdf" in str(store.missing_documents_note())
        with collection.writer() as writer:
            store.refresh(writer)
        assert store.missing_documents_note() is None
        assert held(store) == ["salt", "coal", ""]
        assert encoder.views[-1] == ["coal", "a barge"]


def test_an_index_that_another_version_made_in_another_way_is_told_and_left_alone_until_something_is_removed(
    port: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built(port, FakeEncoder())
    (before,) = port.indexes()
    monkeypatch.setattr(views, "VIEWS_VERSION", views.VIEWS_VERSION + 1)
    with port.writer() as writer:
        put(writer, tmp_path, "c.txt", [made_quote("wool")])
        (note,) = sync_indexes(port, writer)
    assert "another version of quoteweave made it" in note
    assert port.indexes() == [before]
    with pytest.raises(FingerprintMismatch):
        EncoderIndex(port, FakeEncoder(), make_plan(FakeEncoder(), "fake")).current()
    with port.writer() as writer:
        writer.remove("a.txt")
        (note,) = sync_indexes(port, writer)
    assert "was dropped, as it still held what was removed: another version of quoteweave made it" in note
    (after,) = port.indexes()  # so that it is told until it is built or removed
    assert after.fingerprint == before.fingerprint
    assert not before.folder.exists()
    assert not after.folder.exists()


def test_vectors_that_an_index_still_reads_outlive_their_document(port: Collection) -> None:
    store = built(port, FakeEncoder())
    (manifest,) = [found for state in port.indexes() if (found := try_read_manifest(state)) is not None]
    with port.writer() as writer:
        writer.remove("a.txt")  # and no index hears of it, as where the process is killed
    kept = {path.stem for path in (port.root / "vectors").rglob("*.npz")}
    assert kept >= set(manifest.documents.values())
    with port.writer() as writer:
        sync_indexes(port, writer)
    kept = {path.stem for path in (port.root / "vectors").rglob("*.npz")}
    assert manifest.documents["a.txt"] not in kept
    assert held(store) == ["coal", "salt"]


def test_a_renamed_document_and_one_without_words_need_no_encoder(port: Collection, tmp_path: Path) -> None:
    encoder = FakeEncoder()
    store = built(port, encoder)
    with port.writer() as writer:
        writer.remove("a.txt")
        put(writer, tmp_path, "renamed.txt", [made_quote("grain"), made_quote("timber")])
        put(writer, tmp_path, "wordless.txt", [made_quote("", layout="figure")])
        assert sync_indexes(port, writer) == ()
    assert is_current(port, store)
    assert held(store) == ["coal", "salt", "grain", "timber"]
    with port.writer() as writer:
        store.refresh(writer)
    assert len(encoder.views) == 1


def test_a_renamed_document_keeps_the_vectors_of_its_pictures_where_these_are_at_hand(tmp_path: Path) -> None:
    encoder, pictures = FakeEncoder(reads="image"), ColourPictures()
    with make_collection(tmp_path, {"a.pdf": ["red", "lime"], "b.pdf": ["blue"]}) as collection:
        store = built(collection, encoder, pictures)
        for name, known in [("c.pdf", pictures), ("d.pdf", None)]:
            with collection.writer() as writer:
                writer.remove("a.pdf" if known else "c.pdf")
                put(writer, tmp_path, name, [made_quote("red"), made_quote("lime")])
                assert sync_indexes(collection, writer, known) == ()
            assert is_current(collection, store) == (known is not None)
            assert held(store) == (["blue", "red", "lime"] if known else ["blue"])
        assert len(encoder.views) == 1


@pytest.mark.parametrize(
    "error", [MissingExtra("faiss", "models"), EndpointUnreachable("no Milvus answers at http://localhost")]
)
def test_an_index_that_cannot_be_had_is_told_and_stops_nothing(
    port: Collection, error: QuoteweaveError, monkeypatch: pytest.MonkeyPatch
) -> None:
    built(port, FakeEncoder(name="away"))
    other = built(port, FakeEncoder(name="here", settings={"seed": 1}))

    def open_index(kind: str, dimension: int, *, database_folder: Path, folder: Path | None = None) -> PlainIndex:
        if folder is not None and "away" in (folder / "index.json").read_text():
            raise error
        return PlainIndex(dimension, folder)

    monkeypatch.setattr(kinds, "open_index", open_index)
    with port.writer() as writer:
        writer.remove("a.txt")
        (note,) = sync_indexes(port, writer)
    # A server's items lie elsewhere; files in the folder must not keep what was removed.
    dropped = isinstance(error, MissingExtra)
    how = " and was dropped, as it still held what was removed" if dropped else ""
    remedy = f"{error.remedy}; then build it" if error.remedy else "build it"
    why = f"{error.summary}; {remedy} with: quoteweave index build away -c {port.root}"
    assert note == f"the index away was not brought up to date{how}: {why}"
    assert held(other) == ["coal", "salt"]
    assert [manifest.spec for manifest in indexes_behind(port)] == ([] if dropped else ["away"])


def test_an_index_whose_description_is_damaged_is_told(port: Collection) -> None:
    built(port, FakeEncoder())
    folder = port.indexes()[0].folder
    for damaged in (folder / "index.json", folder.parent / "plan.json"):  # either says how it is built
        damaged.write_text("{")
    with port.writer() as writer:
        writer.remove("a.txt")
        (note,) = sync_indexes(port, writer)
    assert "index.json is damaged" in note
    assert note.endswith(f"; build it with: quoteweave index build fake -c {port.root}")


def test_a_damaged_index_is_made_again_from_its_vectors(port: Collection) -> None:
    store = built(port, FakeEncoder())
    (port.indexes()[0].folder / "items.npz").unlink()
    with port.writer() as writer:
        writer.remove("a.txt")
        assert sync_indexes(port, writer) == ()
    assert held(store) == ["coal", "salt"]


def test_without_changes_no_index_is_touched(port: Collection) -> None:
    built(port, FakeEncoder())
    with port.writer() as writer:
        sync_indexes(port, writer)
        before = port.indexes()
        sync_indexes(port, writer)
    assert port.indexes() == before
