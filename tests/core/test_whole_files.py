"""Files that are written whole or not at all, whatever interrupts or refuses the writing."""

import errno
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from quoteweave.core.errors import StorageError
from quoteweave.core.files.whole_files import output_file, written_whole

INTERRUPTED = """
import os, signal, sys
from pathlib import Path
from quoteweave.core.files.whole_files import written_whole

with written_whole(Path(sys.argv[1])) as file:
    file.write(b"new" * 100_000)
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""
WITHOUT_ROOM = """
import resource, signal, sys
from pathlib import Path
from quoteweave.core.files.whole_files import written_whole

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    with written_whole(Path(sys.argv[1])) as file:
        file.write(b"new" * 100_000)
except OSError as error:
    print(error.errno)
"""


def in_a_process(program: str, path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    return path


def drafts(path: Path) -> list[Path]:
    return [other for other in path.parent.iterdir() if other != path]


def test_a_file_and_its_folder_are_there_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "file"
    with written_whole(path) as file:
        file.write(b"new")
        assert not path.exists()
    assert (path.read_bytes(), drafts(path)) == (b"new", [])


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_block_that_fails_changes_nothing(path: Path, error: type[BaseException]) -> None:
    def fail() -> None:
        with written_whole(path) as file:
            file.write(b"new")
            raise error

    with pytest.raises(error):
        fail()
    assert (path.read_bytes(), drafts(path)) == (b"old", [])


def test_a_process_killed_before_the_end_leaves_the_old_file(path: Path) -> None:
    assert in_a_process(INTERRUPTED, path).returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"
    assert [len(draft.name) for draft in drafts(path)] == [len(".file.") + 32]
    with written_whole(path) as file:
        file.write(b"newer")
    assert path.read_bytes() == b"newer"


def test_where_there_is_no_room_the_old_file_stays(path: Path) -> None:
    assert in_a_process(WITHOUT_ROOM, path).stdout.split() == [str(errno.EFBIG)]
    assert (path.read_bytes(), drafts(path)) == (b"old", [])


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system has no users as POSIX knows them")
def test_a_folder_that_refuses_keeps_the_old_file(path: Path) -> None:
    path.parent.chmod(0o555)
    user = os.geteuid()
    try:
        if user == 0:
            os.seteuid(65534)  # root may write everywhere
        with pytest.raises(PermissionError), written_whole(path) as file:
            file.write(b"new")
    finally:
        os.seteuid(user)
        path.parent.chmod(0o755)
    assert (path.read_bytes(), drafts(path)) == (b"old", [])


def test_two_writers_do_not_mix(path: Path) -> None:
    with written_whole(path) as first, written_whole(path) as second:
        first.write(b"first")
        second.write(b"second")
    assert path.read_bytes() == b"first"


def test_a_file_that_a_user_names_keeps_its_permissions_and_the_link_to_it(path: Path) -> None:
    path.chmod(0o600)
    link = path.with_name("link")
    link.symlink_to(path)
    with output_file(link) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert (path.read_bytes(), path.stat().st_mode & 0o777, link.is_symlink()) == (b"new", 0o600, True)


def test_a_pipe_that_a_user_names_is_written_as_it_is(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    with ThreadPoolExecutor() as pool:
        reading = pool.submit(pipe.read_bytes)
        with output_file(pipe) as file:
            file.write(b"new")
        assert reading.result() == b"new"
    assert pipe.is_fifo()


def test_a_stream_that_is_open_is_not_replaced(path: Path) -> None:
    with path.open("r+b") as stream:
        with output_file(Path(f"/dev/fd/{stream.fileno()}")) as file:
            file.write(b"new")
        assert os.fstat(stream.fileno()).st_ino == path.stat().st_ino
    assert path.read_bytes() == b"new"


def test_what_a_user_protects_is_not_replaced(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # root may write everywhere
    with pytest.raises(StorageError, match=r"file cannot be written \(Permission denied\)"), output_file(path):
        pass
    assert drafts(path) == []


@pytest.mark.parametrize("what", ["folder", "owner"])
def test_a_file_that_cannot_be_replaced_unnoticed_is_written_as_it_is(
    what: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = path.stat().st_ino
    if what == "folder":
        monkeypatch.setattr(os, "access", lambda place, _: place != path.parent.resolve())  # root may write everywhere
    else:
        monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    with output_file(path) as file:
        file.write(b"new")
    assert (path.read_bytes(), path.stat().st_ino) == (b"new", node)


def test_a_link_to_itself_is_told(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "link")
    with pytest.raises(StorageError, match="link cannot be written"), output_file(tmp_path / "link"):
        pass


def test_a_file_with_a_name_too_long_for_a_draft_is_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 240)
    with output_file(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
