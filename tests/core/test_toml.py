"""TOML that a user has written: whatever is wrong with it is said, in one way."""

from pathlib import Path

import pytest

from quoteweave.core.errors import UsageError
from quoteweave.core.files.toml import read_toml


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"retriever = " + b"[" * 5000, "is no TOML: it nests too deep"),
        (b"k = " + b"9" * 6000, "is no TOML: Exceeds the limit"),
        (b"\xff\xfe\x00", "is no TOML: 'utf-8' codec"),
        (b"k = ", "is no TOML: Invalid value"),
    ],
)
def test_what_is_no_toml_is_said_with_the_reason(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=said):
        read_toml(path)


def test_what_is_toml_is_read(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("k = 3\n[limits]\nseconds = 2\n")
    assert read_toml(path) == {"k": 3, "limits": {"seconds": 2}}
    with pytest.raises(UsageError, match=r"none\.toml cannot be read: No such file or directory"):
        read_toml(tmp_path / "none.toml")
