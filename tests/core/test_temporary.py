"""Temporary folders go with their process, and those of killed processes with the next folder."""

import subprocess
import sys
from pathlib import Path

import pytest

from quoteweave.core.files.temporary import TemporaryFolder

_HOLDS = """
import sys, time
from quoteweave.core.files.temporary import TemporaryFolder
folder = TemporaryFolder()
(folder.path / "paper.pdf").write_text("words of a paper")
print(folder.path, flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


def test_nothing_is_left_of_one_that_was_used(place: Path) -> None:
    with TemporaryFolder() as folder:
        (folder / "a").write_text("a")
        assert folder.parent == place
        assert folder.stat().st_mode & 0o777 == 0o700
    assert list(place.iterdir()) == []


def test_that_of_a_killed_process_goes_when_the_next_is_made(place: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", _HOLDS], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        held = Path(process.stdout.readline().strip())
        try:
            with TemporaryFolder() as folder:  # while the other runs
                assert held.is_dir()
                assert folder != held
        finally:
            process.kill()
    assert (held / "paper.pdf").exists()
    with TemporaryFolder() as folder:
        assert not held.exists()
        assert {path for path in place.iterdir() if path.is_dir()} == {folder}
    assert list(place.iterdir()) == []


def test_what_only_looks_like_one_stays(place: Path, tmp_path: Path) -> None:
    (place / "quoteweave-used-x").mkdir()  # without a lock, which is none of ours
    (place / "quoteweave-used-y.lock").symlink_to(tmp_path / "elsewhere")
    with TemporaryFolder():
        pass
    assert sorted(path.name for path in place.iterdir()) == ["quoteweave-used-x", "quoteweave-used-y.lock"]
