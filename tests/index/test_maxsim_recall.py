"""The recall that a user is told is that of the kind on the user's own items."""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pytest
from made_shards import made_shard, topics

from quoteweave.core.errors import CollectionError
from quoteweave.index import recall
from quoteweave.index.kinds import MULTI_VECTOR_KINDS
from quoteweave.index.maxsim import index as maxsim_index
from quoteweave.index.maxsim.index import MultiVectorIndex
from quoteweave.index.recall import measure_maxsim_recall

ITEMS = 400
LENGTHS = [len(vectors) for vectors in topics(ITEMS).values()]
# In half precision 64 numbers are 128 bytes; an item's place in a table is 32.
BYTES = {
    "two-stage": 4 * 64 + 32,
    "pool2": 128 * mean(max(1, length // 2) for length in LENGTHS) + 64,
    "pool3": 128 * mean(max(1, length // 3) for length in LENGTHS) + 64,
    "binary": 8 * mean(LENGTHS) + 64,
}


def made_index(folder: Path, items: int = ITEMS) -> MultiVectorIndex:
    index = MultiVectorIndex("exact", 64)
    for first in range(1, items + 1, 90):
        own = {row: vectors for row, vectors in topics(ITEMS).items() if first <= row < min(first + 90, items + 1)}
        index.add(made_shard(folder / f"{first}.bin", own))
    return index


@pytest.mark.parametrize("kind", MULTI_VECTOR_KINDS[1:])
def test_it_is_high_where_the_kind_fits(kind: str, tmp_path: Path) -> None:
    told = measure_maxsim_recall(kind, made_index(tmp_path))
    assert told is not None
    assert (told.kind, told.items) == (kind, ITEMS)
    assert told.recall > 0.9
    assert told.vector_bytes == 128 * mean(LENGTHS)
    assert told.item_bytes == pytest.approx(BYTES[kind], rel=0.05)


@pytest.mark.parametrize("kind", MULTI_VECTOR_KINDS[1:])
@pytest.mark.parametrize("items", [3, 150, 300])
def test_where_all_items_are_equal_what_is_found_is_as_good(kind: str, items: int, tmp_path: Path) -> None:
    index = MultiVectorIndex("exact", 64)
    index.add(made_shard(tmp_path / "zero.bin", {row: np.zeros((3, 64), np.float32) for row in range(items)}))
    told = measure_maxsim_recall(kind, index)
    assert (None if told is None else told.recall) == (1 if index_narrows(kind, items) else None)


def index_narrows(kind: str, items: int) -> bool:
    """Whether the best 11 are looked for among fewer than all items: 15 times as many, or 10 where compressed."""
    return items > 11 * (15 if kind == "two-stage" else 10)


def test_it_falls_with_the_candidates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = made_index(tmp_path)
    monkeypatch.setattr(maxsim_index, "TIMES_COMPRESSED", 1)
    narrow = measure_maxsim_recall("binary", index)
    assert narrow is not None
    assert 0.3 < narrow.recall < 0.95


def test_a_first_stage_that_knows_nothing_finds_little(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = made_index(tmp_path)

    def lowest_rows(_: object, queries: Sequence[object], count: int, __: object) -> Any:
        return [index.rows[:count] for _ in queries]

    monkeypatch.setattr(maxsim_index.CompressedCandidates, "nearest", lowest_rows)
    told = measure_maxsim_recall("pool2", index)
    assert told is not None
    assert told.recall < 0.5


def test_where_all_items_are_scored_there_is_nothing_to_tell(tmp_path: Path) -> None:
    index = made_index(tmp_path)
    assert measure_maxsim_recall("exact", index) is None
    assert measure_maxsim_recall("two-stage", made_index(tmp_path, 150)) is None


def test_it_takes_a_bounded_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = made_index(tmp_path)
    monkeypatch.setattr(recall, "MIN_ITEMS", 130)
    monkeypatch.setattr(recall, "VECTORS", 1300)
    told = measure_maxsim_recall("binary", index)
    assert told is not None
    assert 150 < told.items < 250
    monkeypatch.setattr(recall, "VECTORS", 1)
    told = measure_maxsim_recall("binary", index)
    assert told is not None
    assert told.items == 130


def test_it_is_told_in_a_line() -> None:
    told = recall.MaxSimRecall("binary", 0.9876, 2000, 1234.5, 98765.4)
    assert str(told) == (
        "binary finds 98.8 % of the first 10 of exact search, and keeps 1,234 bytes an item, whose vectors take 98,765 "
        "(measured on 2,000 of your own)"
    )


def test_a_missing_shard_is_said(tmp_path: Path) -> None:
    index = made_index(tmp_path)
    (tmp_path / "91.bin").unlink()
    with pytest.raises(CollectionError, match=r"91\.bin is missing"):
        measure_maxsim_recall("binary", index)
