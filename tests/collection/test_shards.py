from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.collection.stores.vectors import ShardStore, shard_key
from quoteweave.core.errors import CollectionError

VECTORS: dict[str, np.ndarray[Any, Any]] = {
    "vectors": np.arange(12, dtype=np.float32).reshape(4, 3),
    "lengths": np.array([1, 3], dtype=np.int64),
    "allow_pickle": np.zeros((0, 3), dtype=np.float16),
}


def test_arrays_come_back_with_their_names_types_and_shapes(tmp_path: Path) -> None:
    store = ShardStore(tmp_path)
    store.put("f1", "ab", VECTORS)
    found = store.get("f1", "ab")
    assert found is not None
    assert list(found) == list(VECTORS)
    for name, array in VECTORS.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)
    assert store.get("f1", "cd") is None
    assert store.get("f2", "ab") is None


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_a_truncated_shard_counts_as_none_until_it_is_put_again(tmp_path: Path, share: float) -> None:
    store = ShardStore(tmp_path)
    store.put("f1", "ab", VECTORS)
    path = tmp_path / "f1" / "ab.npz"
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    assert store.get("f1", "ab") is None
    assert path.exists()  # a reader removes nothing, and `check` is to find it
    store.put("f1", "ab", VECTORS)
    assert store.get("f1", "ab") is not None


def put_vectors(store: ShardStore) -> np.ndarray[Any, Any]:
    """Seven vectors of four items, of which the second has none."""
    vectors = np.arange(28, dtype=np.float16).reshape(7, 4)
    store.put_vectors("f1", "ab", vectors, [1, 0, 4, 2])
    return vectors


def test_vectors_are_found_where_they_lie_and_need_not_be_read(tmp_path: Path) -> None:
    store = ShardStore(tmp_path)
    vectors = put_vectors(store)
    found = store.vectors("f1", "ab")
    assert found is not None
    assert (found.key, found.dtype.name, found.dimension) == ("ab", "float16", 4)
    assert found.lengths.tolist() == [1, 0, 4, 2]
    assert found.offset % 64 == 0
    mapped = np.memmap(found.path, dtype=found.dtype, mode="r", offset=found.offset, shape=(7, 4))
    np.testing.assert_array_equal(mapped, vectors)
    stored = store.get("f1", "ab")
    assert stored is not None
    np.testing.assert_array_equal(stored["vectors"], vectors)
    assert store.vectors("f1", "cd") is None


def test_vectors_in_the_file_of_others_count_as_none(tmp_path: Path) -> None:
    store = ShardStore(tmp_path)
    put_vectors(store)
    (tmp_path / "f1" / "ab.npz").rename(tmp_path / "f1" / "cd.npz")
    assert store.vectors("f1", "cd") is None
    assert store.damage("f1", "cd") is not None


def test_vectors_in_another_order_in_memory_are_stored_row_by_row(tmp_path: Path) -> None:
    store = ShardStore(tmp_path)
    columns = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    store.put_vectors("f1", "ab", columns, [1, 1])
    found = store.vectors("f1", "ab")
    assert found is not None
    mapped = np.memmap(found.path, dtype=found.dtype, mode="r", offset=found.offset, shape=(2, 3))
    np.testing.assert_array_equal(mapped, columns)


def test_items_without_any_vectors_have_no_dimension(tmp_path: Path) -> None:
    store = ShardStore(tmp_path)
    store.put_vectors("f1", "ab", np.empty((0, 0), dtype=np.float32), [0, 0])
    found = store.vectors("f1", "ab")
    assert found is not None
    assert (found.dimension, found.lengths.tolist()) == (0, [0, 0])


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_truncated_vectors_count_as_none_until_they_are_put_again(tmp_path: Path, share: float) -> None:
    store = ShardStore(tmp_path)
    put_vectors(store)
    path = tmp_path / "f1" / "ab.npz"
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    assert store.vectors("f1", "ab") is None
    assert path.exists()
    put_vectors(store)
    assert store.vectors("f1", "ab") is not None


@pytest.mark.parametrize("lengths", [[1, 0, 4], [8]])
def test_vectors_of_which_there_are_fewer_or_more_than_is_said_count_as_none(
    tmp_path: Path, lengths: list[int]
) -> None:
    store = ShardStore(tmp_path)
    store.put_vectors("f1", "ab", np.zeros((7, 4), dtype=np.float32), lengths)
    assert store.vectors("f1", "ab") is None


def test_arrays_that_are_no_vectors_count_as_none(tmp_path: Path) -> None:
    store = ShardStore(tmp_path)
    store.put("f1", "ab", {"words": np.zeros(3, dtype=np.uint8)})
    assert store.vectors("f1", "ab") is None


def test_a_shard_with_one_wrong_bit_in_its_vectors_counts_as_none(tmp_path: Path) -> None:
    store = ShardStore(tmp_path)
    store.put("f1", "ab", {"vectors": np.full(100, 7, dtype=np.uint8)})
    path = tmp_path / "f1" / "ab.npz"
    data = bytearray(path.read_bytes())
    data[data.index(bytes([7] * 100)) + 50] ^= 1
    path.write_bytes(data)
    assert store.get("f1", "ab") is None


@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_any_flipped_bit_makes_a_shard_none_or_its_vectors_fail_or_changes_nothing(place: float, bit: int) -> None:
    with TemporaryDirectory() as folder:
        store = ShardStore(Path(folder))
        vectors = np.arange(40_000, dtype=np.float32).reshape(1000, 40)  # more than half a block
        store.put_vectors("f1", "ab", vectors, [1, 0, 700, 299])
        path = Path(folder, "f1", "ab.npz")
        data = bytearray(path.read_bytes())
        data[int(place * len(data))] ^= 1 << bit
        path.write_bytes(data)
        found = store.vectors("f1", "ab")
        if found is not None:
            numbers = np.fromfile(path, "<f4", 40_000, offset=found.offset)
            if not np.array_equal(numbers, vectors.ravel()):
                with pytest.raises(CollectionError, match=rf"{path}, which holds vectors of the index, is damaged"):
                    found.verify()
            else:
                found.verify()
                assert (found.dtype, found.dimension, found.lengths.tolist()) == (vectors.dtype, 40, [1, 0, 700, 299])


def test_a_shard_that_would_run_code_when_loaded_is_refused_both_ways(tmp_path: Path) -> None:
    store = ShardStore(tmp_path)
    objects = np.array([{"any": "object"}], dtype=object)
    with pytest.raises(ValueError, match="Object arrays"):
        store.put("f1", "ab", {"vectors": objects})
    assert list((tmp_path / "f1").iterdir()) == []
    np.savez(tmp_path / "f1" / "ab.npz", vectors=objects)
    assert store.get("f1", "ab") is None


def test_pruning_keeps_only_what_is_named(tmp_path: Path) -> None:
    store = ShardStore(tmp_path)
    for fingerprint, key in [("f1", "ab"), ("f1", "cd"), ("f2", "ab")]:
        store.put(fingerprint, key, VECTORS)
    (tmp_path / "f1" / ".half-written").write_bytes(b"")
    assert store.prune({"f1": ["ab"]}) == 3
    assert [path.relative_to(tmp_path).as_posix() for path in sorted(tmp_path.rglob("*"))] == ["f1", "f1/ab.npz"]


@pytest.mark.parametrize("name", ["..", "../x", "a/b", "", ".hidden", "a\n", "x" * 129])
def test_names_that_would_leave_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="cannot name a folder"):
        ShardStore(tmp_path).put(name, "ab", VECTORS)
    with pytest.raises(ValueError, match="cannot name a folder"):
        ShardStore(tmp_path).get("f1", name)


views = st.lists(st.text() | st.binary(), max_size=4)


@given(views, views)
def test_two_lists_of_views_share_a_key_only_if_they_are_equal(a: list[str | bytes], b: list[str | bytes]) -> None:
    def data(views: list[str | bytes]) -> list[bytes]:
        return [view.encode() if isinstance(view, str) else view for view in views]

    assert (shard_key(a) == shard_key(b)) == (data(a) == data(b))


def test_views_are_not_merely_joined() -> None:
    assert shard_key(["ab", "c"]) != shard_key(["a", "bc"]) != shard_key(["abc"])
    assert shard_key(["a", "b"]) != shard_key(["b", "a"])
    assert shard_key([]) != shard_key([""])
