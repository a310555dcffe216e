import hashlib
from pathlib import Path

import pytest

from quoteweave.collection.stores.content import SourceStore
from quoteweave.core.errors import DamagedDocument, DocumentError, StorageError


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("a.PDF", ".pdf"), ("a", ""), ("a.tar.gz", ".gz"), ("a.p df", ""), ("a.ünï", ""), ("a." + "x" * 40, "")],
)
def test_a_copy_keeps_the_content_and_a_plain_suffix(tmp_path: Path, name: str, suffix: str) -> None:
    source = tmp_path / name
    source.write_bytes(b"content")
    store = SourceStore(tmp_path / "sources")
    key = store.put(source, sha256(b"content"))
    assert key == f"{sha256(b'content')[:2]}/{sha256(b'content')}{suffix}"
    source.unlink()
    assert store.path(key).read_bytes() == b"content"


def test_a_file_that_changed_since_it_was_read_is_not_stored(tmp_path: Path) -> None:
    source = tmp_path / "a.pdf"
    source.write_bytes(b"newer")
    store = SourceStore(tmp_path / "sources")
    with pytest.raises(DamagedDocument, match=r"'a\.pdf' changed while"):
        store.put(source, sha256(b"older"))
    assert [path for path in store.root.rglob("*") if path.is_file()] == []


def test_a_file_that_cannot_be_read_is_the_documents_fault_not_the_disks(tmp_path: Path) -> None:
    store = SourceStore(tmp_path / "sources")
    (tmp_path / "folder.pdf").mkdir()
    for name in ("gone.pdf", "folder.pdf"):
        with pytest.raises(DocumentError, match=f"cannot read .*{name}") as caught:
            store.put(tmp_path / name, sha256(b""))
        assert not isinstance(caught.value, StorageError)
