"""Temporary folders go with their process, and those of killed processes with the next folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from quoteweave.core.files.temporary import TemporaryFolder, remove_abandoned

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


def test_a_lock_of_this_process_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    def tried(*_: object, **__: object) -> FileLock:
        raise AssertionError("another thread may be about to lock it")

    with TemporaryFolder() as folder:
        with monkeypatch.context() as patched:
            patched.setattr("filelock.FileLock", tried)
            remove_abandoned()
        assert folder.is_dir()


def test_what_only_looks_like_one_stays(place: Path, tmp_path: Path) -> None:
    (place / "quoteweave-used-x").mkdir()  # without a lock, which is none of ours
    (place / "quoteweave-used-y.lock").symlink_to(tmp_path / "elsewhere")
    with TemporaryFolder():
        pass
    assert sorted(path.name for path in place.iterdir()) == ["quoteweave-used-x", "quoteweave-used-y.lock"]


def _killed(place: Path) -> Path:
    """The folder that a process left which was killed."""
    with subprocess.Popen([sys.executable, "-c", _HOLDS], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        held = Path(process.stdout.readline().strip())
        process.kill()
    return held


def test_one_that_cannot_be_made_leaves_no_lock(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, *_: object, **__: object) -> None:
        if path.name.startswith("quoteweave-used-"):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(OSError, match="No space"):
        TemporaryFolder()
    assert list(place.iterdir()) == []


def test_those_of_other_users_stay(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = _killed(place)
    own = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: own + 1)
    remove_abandoned()
    assert (held / "paper.pdf").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to another user")
def test_a_folder_of_another_user_beside_a_lock_of_ours_stays(place: Path) -> None:
    held = _killed(place)
    os.chown(held, 12345, 12345)
    remove_abandoned()
    assert (held / "paper.pdf").exists()


def test_a_lock_is_gone_before_it_is_free(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = list[bool]()
    release = FileLock.release

    def note(self: FileLock, force: bool = False) -> None:
        there.append(Path(self.lock_file).exists())
        release(self, force)

    folder = TemporaryFolder()
    monkeypatch.setattr(FileLock, "release", note)
    folder.remove()
    assert there[:1] == [False], "another process that waits for it would hold a file which is then removed"


def test_one_that_does_not_clean_leaves_what_others_left(place: Path) -> None:
    held = _killed(place)
    with TemporaryFolder(clean=False):
        assert held.exists()
    remove_abandoned()
    assert list(place.iterdir()) == []
