"""Processes that are killed at a moment of their work, counted in what they do to files."""

import itertools
import multiprocessing
import os
import shutil
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

# Events that change files or come just before a change. At each of them, and at each SQLite statement, the process may
# be killed.
STEPS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree"}
CODE = (".py", ".pyc", ".so")
# Processes begin as forks of one that never had a thread. In a fork of the tests' process any lock that one of its
# threads held, those of the allocator among them, stays locked for ever. What gRPC runs does not survive a fork either.
# What each would import later is imported once: pymilvus imports scipy.sparse at its first search. Not pyarrow.dataset,
# after which a fork reads no file.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    [
        "pytest",
        "pdfplumber",
        "pypdfium2",
        "quoteweave.documents.file_reading",
        "quoteweave.attribution.literature.library.paper_library",
        "quoteweave.cli.app",
        "quoteweave.cli.commands.add",
        "quoteweave.index.sync",
        "quoteweave.testing",
        "pymilvus",
        "milvus_lite.adapter.grpc.server",
        "quoteweave.index.milvus.index",
        "filelock",
        "hypothesis",
        "psutil",
        "PIL.Image",
        "reportlab.pdfgen.canvas",
        "scipy.sparse",
    ]
)


def die_at(moment: int) -> None:
    """From now on this process counts its steps, and kills itself at that one."""
    moments = itertools.count()

    def step() -> None:
        if next(moments) == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    _at_each_step(step)


def _at_each_step(step: Callable[[], None]) -> None:
    connect = sqlite3.connect

    def traced(database: str, **options: Any) -> sqlite3.Connection:
        db: sqlite3.Connection = connect(database, **options)
        db.set_trace_callback(lambda statement: step())
        return db

    sqlite3.connect = traced  # type: ignore[assignment]
    sys.addaudithook(
        lambda event, arguments: step() if event in STEPS and not str(arguments[0]).endswith(CODE) else None
    )


def in_a_process(action: Callable[..., None], *arguments: object) -> int:
    """Runs a function of a module in a process of its own; its exit status, or minus the signal that ended it.

    What it is given is pickled, and nothing is patched there that a test has patched here.
    """
    process = PROCESSES.Process(target=action, args=arguments)
    process.start()
    process.join()
    assert process.exitcode is not None
    return process.exitcode


def left_by_kills(folder: Path, copies: Path, action: Callable[..., object], *arguments: object) -> list[Path]:
    """Copies of the folder as a kill at each step of a function would leave it, once for equal ones after each other.

    What a process has written stays when it is killed, and its locks go: a copy that another process makes while this
    one stands still at the step is what a kill would leave, and costs no process of its own.
    """
    ours, theirs = PROCESSES.Pipe()
    process = PROCESSES.Process(target=_stop_at_each_step, args=(theirs, action, *arguments))
    process.start()
    theirs.close()
    found_copies: list[Path] = []
    before: dict[str, bytes] = {}
    with suppress(EOFError):
        while True:
            ours.recv_bytes()
            if (now := _content(folder)) != before:
                before = now
                found_copies.append(Path(shutil.copytree(folder, copies / str(len(found_copies)))))
            ours.send_bytes(b"go on")
    process.join()
    assert process.exitcode == 0
    return found_copies


def _stop_at_each_step(connection: Connection, action: Callable[..., object], *arguments: object) -> None:
    one_at_a_time = threading.Lock()

    def stop() -> None:
        with one_at_a_time:
            connection.send_bytes(b"at a step")
            connection.recv_bytes()

    _at_each_step(stop)
    action(*arguments)


def _content(folder: Path) -> dict[str, bytes]:
    """What its folders and files hold; to compare that is several times as fast as to hash it at each step."""
    content: dict[str, bytes] = {}
    for root, folders, files in os.walk(folder):  # several times as fast as rglob
        content.update((f"{root}/{name}/", b"") for name in folders)
        for name in files:
            with open(f"{root}/{name}", "rb", buffering=0) as file:  # noqa: PTH123 - a Path takes as long as the reading
                content[f"{root}/{name}"] = file.read()
    return content
