"""What a server keeps, opened on a nearly full disk in small blocks: an error says so, and no process is ended."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

_BEFORE = """
import sys
from pathlib import Path
from quoteweave.core.errors import QuoteweaveError
state = Path(sys.argv[1])
def keep_conversations():
    from quoteweave.server.state.conversations import ConversationStore
    store = ConversationStore(state)
    return lambda number: store.create("c", None, f"Harbour {number}")
def keep_jobs():
    from quoteweave.interchange.responses import Job
    from quoteweave.server.jobs.records import RemoveWork
    from quoteweave.server.jobs.store import JobStore
    store, work = JobStore(state), RemoveWork(root=state, names=("Harbour",))
    return lambda number: store.add(Job(id=str(number), collection="c", kind="remove", created=0.0), work)
def keep_counts():
    from quoteweave.server.access.request_counts import RequestCounts
    store = RequestCounts(state / "requests.sqlite")
    return lambda number: store.take(f"caller {number}", 10**9)
"""
_WRITE = """
try:
    write = keep_{}()
    for number in range({}, {}):
        write(number)
except QuoteweaveError as error:
    assert "make room" in str(error), error
"""


@pytest.mark.parametrize("kept", ["conversations", "jobs", "counts"])
def test_nothing_is_written_into_holes(small_blocks: Path, kept: str) -> None:
    def write(first: int, last: int) -> int:
        command = [sys.executable, "-c", _BEFORE + _WRITE.format(kept, first, last), str(small_blocks)]
        return subprocess.run(command, check=False).returncode

    assert write(0, 20) == 0
    _fill(small_blocks, leaving=9 * 1024)  # room for some blocks of the file that is mapped into memory
    assert write(20, 30) == 0  # not ended by SIGBUS


def _fill(disk: Path, leaving: int) -> None:
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 10):
            with suppress(OSError):
                while file.write(b"x" * size):
                    pass
    os.truncate(filler, filler.stat().st_size - leaving)
