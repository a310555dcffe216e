"""A run killed at any moment of building an index goes on where it ended, and ends with the same index."""

import os
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from killed_processes import in_a_process, left_by_kills
from made_collections import made_quote, make_collection, put
from made_vectors import plain_index

from quoteweave.collection.collection import Collection
from quoteweave.index import embedding, kinds
from quoteweave.index.encoder_index import EncoderIndex, make_plan
from quoteweave.testing import FakeEncoder

DOCUMENTS = {"a.txt": ["one", "two"], "b.txt": ["three", "four", "five"], "c.txt": ["six"], "d.txt": ["seven"]}
AT_ONCE = 3


def plain(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(kinds, "open_index", plain_index)
    patch.setattr(embedding, "TEXTS_AT_ONCE", AT_ONCE)


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    plain(monkeypatch)


def refresh(root: Path, encoder: FakeEncoder) -> None:
    with Collection.open(root) as collection, collection.writer() as writer:
        EncoderIndex(collection, encoder, make_plan(encoder, "fake")).refresh(writer)


def refresh_plain(root: Path) -> None:
    plain(pytest.MonkeyPatch())
    refresh(root, FakeEncoder())


def refresh_and_die_in_a_call(root: Path, call: int) -> None:
    """When the encoder has been called so many times."""
    plain(pytest.MonkeyPatch())
    encoder = FakeEncoder()

    def die(matrices: list[Any]) -> list[Any]:
        if len(encoder.views) == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return matrices

    encoder.spoil = die
    refresh(root, encoder)


def change(folder: Path) -> None:
    """Puts documents; an index that was built before has another one."""
    with Collection.open(folder / "collection") as collection, collection.writer() as writer:
        for name, texts in DOCUMENTS.items():
            put(writer, folder / "files", name, [made_quote(text) for text in texts])
        writer.remove("old.txt")


def prepare(folder: Path) -> Path:
    with make_collection(folder, {"old.txt": ["zero"]}) as collection:
        root = collection.root
    refresh(root, FakeEncoder())
    change(folder)
    return root


def assert_whole(root: Path) -> None:
    """The index, whichever it is by now, holds the vectors of its quotes, and all files are in use."""
    encoder = FakeEncoder()
    with Collection.open(root) as collection:
        opened = EncoderIndex(collection, encoder, make_plan(encoder, "fake")).current()
        assert opened.index is not None
        for name, texts in DOCUMENTS.items():
            rows = set(opened.index.rows.tolist()) & set(collection.select().tolist())
            for text in texts if name in opened.manifest.documents else []:
                (best,) = opened.search(encoder.encode_queries([text]), 1, None)
                assert best.scores[0] == pytest.approx(1)
                assert best.rows[0] in rows
                assert [quote and quote.text for quote in collection.quotes_at(best.rows.tolist())] == [text]


def assert_finished(root: Path) -> None:
    assert_whole(root)
    with Collection.open(root) as collection:
        (state,) = collection.indexes()
        assert state.revision == collection.revision()
        shards = {path.stem for path in (root / "vectors").rglob("*.npz")}
        assert shards == set(collection.shard_keys(state.fingerprint.partition(".")[0]).values())
        assert len(shards) == len(DOCUMENTS)
        assert [path.parent for path in (root / "indexes").rglob("index.json")] == [state.folder]


def test_killed_at_each_step_it_goes_on_where_it_ended(tmp_path: Path) -> None:
    prepared = prepare(tmp_path / "prepared")
    left = left_by_kills(prepared, tmp_path / "copies", refresh_plain, prepared)
    for root in (*left, prepared):
        assert_whole(root)
        with Collection.open(root) as collection:
            done = sum(len(DOCUMENTS[name]) for name in collection.shard_keys(_shards()) if name in DOCUMENTS)
        encoder = FakeEncoder()
        refresh(root, encoder)
        assert_finished(root)
        again = [text for call in encoder.views for text in call]
        assert len(again) == len(set(again)) <= 7 - done
    assert len(left) > 20
    assert again == []


def _shards() -> str:
    return make_plan(FakeEncoder(), "fake").shards


def test_killed_while_the_model_works_it_has_lost_one_call_at_most(tmp_path: Path) -> None:
    texts = [text for texts in DOCUMENTS.values() for text in texts]
    for calls in range(1, 4):
        root = prepare(tmp_path / str(calls))
        assert in_a_process(refresh_and_die_in_a_call, root, calls) == -signal.SIGKILL
        encoder = FakeEncoder()
        refresh(root, encoder)
        assert_finished(root)
        before = Counter(texts[: AT_ONCE * (calls - 1)])
        assert Counter(text for call in encoder.views for text in call) == Counter(texts) - before
