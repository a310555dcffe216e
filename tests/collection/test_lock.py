import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from forked_programs import ForkedProgram
from made_collections import make_collection

from quoteweave.collection.collection import Collection
from quoteweave.collection.writer_lock import OWNER_NAME, Owner, is_being_written, writer_lock
from quoteweave.core.errors import CollectionError, CollectionLocked
from quoteweave.core.files.whole_files import remove_path
from quoteweave.maintenance.check import check

HOLD = """
import sys
from pathlib import Path
from quoteweave.collection.writer_lock import writer_lock
with writer_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def another_writer(root: Path) -> Iterator["subprocess.Popen[str]"]:
    """A process that holds the lock until a line comes in, or until it is killed."""
    command = [sys.executable, "-c", HOLD, str(root)]
    with ForkedProgram(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def test_a_second_process_is_refused_and_told_who_writes_since_when(tmp_path: Path) -> None:
    with (
        another_writer(tmp_path) as other,
        pytest.raises(CollectionLocked, match=rf"process {other.pid} on \S+ has been writing since \d{{4}}-\d\d-\d\d "),
        writer_lock(tmp_path),
    ):
        pytest.fail("two writers")


def test_a_wait_that_is_too_short_ends_in_the_same_refusal(tmp_path: Path) -> None:
    with (
        another_writer(tmp_path) as other,
        pytest.raises(CollectionLocked, match=str(other.pid)),
        writer_lock(tmp_path, 0.1),
    ):
        pytest.fail("two writers")


def test_the_lock_of_a_killed_owner_is_taken_over(tmp_path: Path) -> None:
    with another_writer(tmp_path) as other:
        other.send_signal(signal.SIGKILL)
        other.wait()
        assert (tmp_path / "writer.json").exists()
        with writer_lock(tmp_path):
            assert str(other.pid) not in (tmp_path / "writer.json").read_text()


def test_a_patient_writer_goes_on_when_the_other_ends(tmp_path: Path) -> None:
    held = threading.Event()

    def wait() -> None:
        with writer_lock(tmp_path, None):
            held.set()

    with another_writer(tmp_path) as other:
        patient = threading.Thread(target=wait)
        patient.start()
        assert not held.is_set()
        other.communicate("\n")
        patient.join(timeout=30)
    assert held.is_set()


def test_the_lock_is_free_again_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), writer_lock(tmp_path):
        raise KeyboardInterrupt
    with writer_lock(tmp_path):
        assert (tmp_path / "writer.json").exists()
    assert not (tmp_path / "writer.json").exists()


def test_a_lock_within_one_process_holds_too(tmp_path: Path) -> None:
    with writer_lock(tmp_path), pytest.raises(CollectionLocked), writer_lock(tmp_path):
        pytest.fail("two writers")


def test_an_owner_that_could_not_sign_is_another_process(tmp_path: Path) -> None:
    with writer_lock(tmp_path):
        (tmp_path / "writer.json").write_text("{")
        with pytest.raises(CollectionLocked, match="another process is writing"), writer_lock(tmp_path):
            pytest.fail("two writers")


def test_a_process_that_began_after_the_owner_is_another(tmp_path: Path) -> None:
    with writer_lock(tmp_path):
        assert is_being_written(tmp_path)
        owner = Owner.model_validate_json((tmp_path / OWNER_NAME).read_bytes())
    for pid, since, writes in ((owner.pid, owner.since, True), (owner.pid, 1.0, False), (2**30, owner.since, False)):
        (tmp_path / OWNER_NAME).write_text(Owner(pid=pid, host=owner.host, since=since).model_dump_json())
        assert is_being_written(tmp_path) == writes


@pytest.mark.parametrize("part", ["images", "sources", "ocr_texts", "vectors/34af1baa1a37", "sources/ab"])
def test_nothing_behind_a_link_is_removed_as_left_over(part: str, tmp_path: Path) -> None:
    of_the_user = tmp_path / "user" / "letters" / "a.txt"
    of_the_user.parent.mkdir(parents=True)
    of_the_user.write_text("mine")
    make_collection(tmp_path, {"a.txt": ["grain"]}).close()
    link = tmp_path / "collection" / part
    link.parent.mkdir(exist_ok=True)
    remove_path(link)
    link.symlink_to(tmp_path / "user", target_is_directory=True)
    with (
        Collection.open(tmp_path / "collection") as collection,
        pytest.raises(CollectionError, match="is a link"),
        collection.writer(),
    ):
        pass
    assert of_the_user.read_text() == "mine"
    (note,) = check(tmp_path / "collection").notes
    assert note == f"{part} is a link: nothing is written until it is replaced"


@pytest.mark.parametrize(
    "part", ["writer.lock", "reserve", "writer.json", "catalog.sqlite.checksum", "changes-of-catalog.sqlite"]
)
def test_nothing_behind_a_link_is_overwritten(part: str, tmp_path: Path) -> None:
    of_the_user = tmp_path / "key"
    of_the_user.write_text("mine")
    make_collection(tmp_path, {"a.txt": ["grain"]}).close()
    link = tmp_path / "collection" / part
    link.unlink(missing_ok=True)
    link.symlink_to(of_the_user)
    with suppress(CollectionError), Collection.open(tmp_path / "collection") as collection, collection.writer():
        pass
    assert of_the_user.read_text() == "mine"


def test_the_folder_of_a_collection_may_be_a_link(tmp_path: Path) -> None:
    make_collection(tmp_path, {"a.txt": ["grain"]}).close()
    (tmp_path / "linked").symlink_to(tmp_path / "collection", target_is_directory=True)
    with Collection.open(tmp_path / "linked") as collection, collection.writer() as writer:
        writer.remove("a.txt")
