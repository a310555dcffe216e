import hashlib
from pathlib import Path

import pytest

from quoteweave.collection.stores.content import ImageStore


def test_an_image_is_named_by_its_content_and_stored_once(tmp_path: Path) -> None:
    store = ImageStore(tmp_path / "images")
    key = store.put(b"pixels", suffix=".png")
    digest = hashlib.sha256(b"pixels").hexdigest()
    assert key == f"{digest[:2]}/{digest}.png"
    assert store.path(key).read_bytes() == b"pixels"
    written = store.path(key).stat().st_mtime_ns
    assert store.put(b"pixels", suffix=".png") == key
    assert store.path(key).stat().st_mtime_ns == written
    assert [path for path in store.root.rglob("*") if path.is_file()] == [store.path(key)]


def test_what_a_power_cut_left_empty_is_written_again(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    key = store.put(b"pixels", suffix=".png")
    store.path(key).write_bytes(b"")
    store.put(b"pixels", suffix=".png")
    assert store.path(key).read_bytes() == b"pixels"


@pytest.mark.parametrize("suffix", ["png", ".PNG", "./../x", ".png/", "."])
def test_only_a_plain_suffix_becomes_part_of_a_path(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(ValueError, match="not the key"):
        ImageStore(tmp_path).put(b"x", suffix=suffix)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("key", ["../collection.json", "/etc/passwd", "ab/../../x.png", "", "ab/ab.png", "ab\n"])
def test_what_is_no_key_is_no_path(tmp_path: Path, key: str) -> None:
    with pytest.raises(ValueError, match="not the key"):
        ImageStore(tmp_path).path(key)


def test_pruning_removes_what_is_not_kept_and_what_a_killed_process_left(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    kept, gone = store.put(b"kept", suffix=".png"), store.put(b"gone", suffix=".jpg")
    half_written = store.path(kept).with_name(".half-written")
    half_written.write_bytes(b"ke")
    assert store.prune({kept}) == 2
    assert store.path(kept).is_file()
    assert not store.path(gone).exists()
    assert not half_written.exists()


def test_a_store_without_a_folder_has_nothing_to_prune(tmp_path: Path) -> None:
    assert ImageStore(tmp_path / "nothing").prune(set()) == 0
