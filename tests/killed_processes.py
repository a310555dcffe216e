"""Processes that are killed at a moment of their work, counted in what they do to files."""

import itertools
import multiprocessing
import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from typing import Any

# What changes files, or comes just before a change: with each statement of SQLite, the moments to die at.
STEPS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree"}
CODE = (".py", ".pyc", ".so")
# Processes begin as forks of one that never had a thread. In a fork of the tests' process any lock that one of its
# threads held, those of the allocator among them, stays locked for ever. What gRPC runs does not survive a fork either.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    [
        "pytest",
        "quoteweave.attribution.literature.library.paper_library",
        "quoteweave.index.sync",
        "quoteweave.testing",
        "pymilvus",
        "milvus_lite.adapter.grpc.server",
        "quoteweave.index.milvus.index",
    ]
)


def die_at(moment: int) -> None:
    """From now on this process counts its steps, and kills itself at that one."""
    moments = itertools.count()
    connect = sqlite3.connect

    def step(*_: object) -> None:
        if next(moments) == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    def traced(database: str, **options: Any) -> sqlite3.Connection:
        db: sqlite3.Connection = connect(database, **options)
        db.set_trace_callback(step)
        return db

    sqlite3.connect = traced  # type: ignore[assignment]
    sys.addaudithook(lambda event, given: step() if event in STEPS and not str(given[0]).endswith(CODE) else None)


def in_a_process(action: Callable[..., None], *given: object) -> int:
    """Runs a function of a module in a process of its own; its exit status, or minus the signal that ended it.

    What it is given is pickled, and nothing is patched there that a test has patched here.
    """
    process = PROCESSES.Process(target=action, args=given)
    process.start()
    process.join()
    assert process.exitcode is not None
    return process.exitcode
