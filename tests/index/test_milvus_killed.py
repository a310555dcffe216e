"""A run killed at any moment of changing an index in embedded Milvus leaves all in it that was found before."""

import functools
import itertools
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from killed_processes import STEPS, in_a_process
from made_collections import made_quote, make_collection, put

from quoteweave.collection.checksums import unsealed_record
from quoteweave.collection.collection import Collection
from quoteweave.collection.unreferenced import MILVUS_POINTER as POINTER
from quoteweave.index.encoder_index import EncoderIndex, make_plan
from quoteweave.index.milvus import index as milvus
from quoteweave.index.milvus.index import MilvusPointer
from quoteweave.testing import FakeEncoder

BEFORE = {"gone.txt": ["zero"], "kept.txt": ["one", "two"], "renewed.txt": ["three", "four", "five"]}
AFTER = {"kept.txt": ["one", "two"], "renewed.txt": ["three", "four", "five"], "new.txt": ["six", "seven", "eight"]}
STAYING = [text for name, texts in BEFORE.items() if name in AFTER for text in texts]
# Only one in this many moments of being killed is tried, as each takes several processes.
STRIDE = 13
# Calls during which Milvus's own threads write, of which Python has no events.
WRITES = ("create_collection", "drop_collection"), ("upsert", "delete", "flush")


def store_of(collection: Collection) -> EncoderIndex:
    encoder = FakeEncoder()
    return EncoderIndex(collection, encoder, make_plan(encoder, "fake@milvus", kind="milvus"))


def refresh(root: Path) -> None:
    milvus.ROWS_AT_ONCE = 2
    with Collection.open(root) as collection, collection.writer() as writer:
        store_of(collection).refresh(writer)


def refresh_and_die(root: Path, moment: int) -> None:
    die_at(moment, root)
    refresh(root)


def die_at(moment: int, root: Path) -> None:
    """From now on this process counts its writes of Milvus and changes of files in `root`, and dies at that one."""
    from milvus_lite.db import MilvusLite
    from milvus_lite.engine.collection import Collection as Engine

    moments = itertools.count()

    def step() -> None:
        if next(moments) == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    def traced(write: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(write)
        def stepping(*given: Any, **named: Any) -> Any:
            step()
            done = write(*given, **named)
            step()
            return done

        return stepping

    for owner, names in zip((MilvusLite, Engine), WRITES, strict=True):
        for name in names:
            setattr(owner, name, traced(getattr(owner, name)))
    sys.addaudithook(lambda event, given: step() if event in STEPS and str(root) in str(given[0]) else None)


def mend(root: Path, found_before: list[str]) -> None:
    """What was found before is found; after the next build all is, and nothing else lies in Milvus."""
    with Collection.open(root) as collection:
        if found_before:
            assert_found(collection, found_before)
    refresh(root)
    with Collection.open(root) as collection:
        texts = [text for document in collection.documents() for text in _texts(collection, document.name)]
        assert_found(collection, texts)
        (state,) = collection.indexes()
        assert state.revision == collection.revision()
        opened = store_of(collection).current()
        assert opened.index is not None
        assert opened.manifest.count == len(opened.index.rows) == len(texts)
        pointer = unsealed_record(MilvusPointer, (state.folder / POINTER).read_bytes())
        assert [path.name for path in (root / "milvus" / "collections").iterdir()] == [pointer.collection]


def assert_found(collection: Collection, texts: list[str]) -> None:
    opened = store_of(collection).current()
    for text in texts:
        (best,) = opened.search(FakeEncoder().encode_queries([text]), 1, None)
        assert best.scores[0] == pytest.approx(1)
        assert [quote and quote.text for quote in collection.quotes_at(best.rows.tolist())] == [text]


def _texts(collection: Collection, name: str) -> list[str]:
    return [quote.text for quote in collection.document_quotes(name)]


def kill_at_many_moments(prepared: Path, found_before: list[str], folder: Path) -> int:
    """How many there are."""
    for moment in itertools.count(step=STRIDE):
        root = shutil.copytree(prepared, folder / str(moment))
        status = in_a_process(refresh_and_die, root, moment)
        assert in_a_process(mend, root, found_before) == 0, f"killed at {moment}"
        if status == 0:
            return moment
        assert status == -signal.SIGKILL
    raise AssertionError


def test_a_killed_first_build_leaves_nothing_behind(tmp_path: Path) -> None:
    with make_collection(tmp_path / "prepared", BEFORE) as collection:
        root = collection.root
    assert kill_at_many_moments(root, [], tmp_path) > 50


def test_nothing_that_was_found_is_missing_after_a_kill(tmp_path: Path) -> None:
    with make_collection(tmp_path / "prepared", BEFORE) as collection:
        root = collection.root
    assert in_a_process(refresh, root) == 0
    with Collection.open(root) as collection, collection.writer() as writer:
        put(writer, tmp_path / "files", "new.txt", [made_quote(text) for text in AFTER["new.txt"]])
        writer.remove("gone.txt")
        shard = collection.shard_keys(store_of(collection).plan.shards)["renewed.txt"]
    (path,) = (root / "vectors").rglob(f"{shard}.npz")
    path.write_bytes(path.read_bytes()[:-9])
    assert kill_at_many_moments(root, STAYING, tmp_path) > 50
