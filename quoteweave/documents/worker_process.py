"""The code of a process that reads files: it does the tasks that come through its pipe, and ends with its parent."""

import contextlib
import errno
import gc
import logging
import multiprocessing
import os
import pickle
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from enum import StrEnum
from importlib import import_module
from multiprocessing.connection import Connection

# Allocating more than this many times the limit at once fails in the process itself.
ALLOCATION_FACTOR = 1.5
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENCV_FOR_THREADS_NUM": "1"}
PID_BYTES = 8
# What the messages of onnxruntime and of OpenCV hold if they get no more memory.
_NO_MEMORY = ("std::bad_alloc", "Failed to allocate memory", "Insufficient memory")
# What reading needs, including the libraries that the first file of a format would import: each fork would import them
# again, in 50 ms where reading takes 10. None of these starts a thread.
PRELOADED = (
    "quoteweave.documents.file_reading",
    "quoteweave.documents.sources.pdf_objects.losses",
    *("PIL.Image", "cv2", "lxml.etree", "markdown_it", "pdfplumber", "pypdfium2", "xxhash"),
)


class Message(StrEnum):
    """The messages that a process sends, each with a value."""

    START = "start"
    ITEM = "item"
    LONGER = "longer"
    END = "end"
    ERROR = "error"
    MEMORY = "memory"


_parent: Connection | None = None  # in a process of the pool, the pipe to the parent


def extend_time_limit(sheets: int) -> None:
    """In a process of the pool: report that OCR reads the current item, which is as large as so many sheets."""
    if _parent is not None:
        _parent.send((Message.LONGER, sheets))


def do_nothing() -> Iterator[None]:
    """In a process of the pool: a task that only starts the process; it is defined here to import nothing else."""
    return iter(())


def fork_on_request(requests: socket.socket) -> None:
    """In a new process without threads: fork one that runs the tasks of each pipe received, until the parent ends."""
    os.environ.update(ONE_THREAD)
    gc.disable()  # there is hardly any garbage in what is imported, and looking for it takes a sixth of the time
    for name in PRELOADED:
        with contextlib.suppress(ImportError):  # told where a file needs it
            import_module(name)
    gc.freeze()  # collecting these objects again would give each fork its own copy of them
    gc.enable()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nothing waits for them here
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # the parent, which may ignore it, ends this process with it
    while True:
        try:
            request, handles, *_ = socket.recv_fds(requests, 1, 1)
        except ConnectionError:
            return
        if not request:
            return
        try:
            pid = os.fork()
        except OSError as error:  # too many processes, or no memory for one
            pid = -(error.errno or errno.EAGAIN)
        if pid == 0:
            try:
                requests.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                run_tasks(Connection(handles[0]))
            finally:
                os._exit(0)
        os.close(handles[0])
        try:
            requests.sendall(pid.to_bytes(PID_BYTES, "little", signed=True))
        except OSError:  # the parent was killed meanwhile; the forked process ends with its pipe
            return


def run_tasks(pipe: Connection) -> None:
    """In a new process: do the tasks that come, until the pipe or the parent ends.

    The first message has the bytes that it may take, and its parent's working folder, module path and environment.
    """
    global _parent  # noqa: PLW0603 - one a process
    _parent = pipe
    try:
        memory, folder, sys.path[:], environment = pipe.recv()
    except EOFError:
        return
    if folder is not None:
        with contextlib.suppress(OSError):  # removed meanwhile, so that files with relative paths are not found
            os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment | ONE_THREAD)
    if sys.platform != "win32":
        time.tzset()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _refuse_beyond(int(ALLOCATION_FACTOR * memory))
    _return_freed_memory()
    _silence_native_code()
    while True:
        try:
            call, args, kwargs = pipe.recv()
        except EOFError:
            return
        pipe.send((Message.START, None))
        try:
            for item in call(*args, **kwargs):
                pipe.send((Message.ITEM, item))
        except Exception as error:
            pipe.send((Message.MEMORY, None) if lacks_memory(error) else (Message.ERROR, _sendable(error)))
        else:
            pipe.send((Message.END, None))


def lacks_memory(error: Exception) -> bool:
    """Whether a library got no more memory: those in C++, as onnxruntime and OpenCV, raise errors of their own."""
    return isinstance(error, MemoryError) or any(sign in str(error) for sign in _NO_MEMORY)


def _refuse_beyond(memory: int) -> None:
    """Make allocations fail that go far beyond the limit between two checks of the process; not on Windows.

    A limit that the system cannot hold in a number is none.
    """
    with contextlib.suppress(ImportError, ValueError, OSError, OverflowError):
        import resource

        # Not RLIMIT_AS, the address space, of which libraries reserve much more than they use.
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def _return_freed_memory() -> None:
    """Return large blocks to the system when they are freed, if the C library is glibc.

    Otherwise memory of pictures stays with the process: a quarter more for a document that is read by OCR.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):
        import ctypes

        mmap_threshold, trim_threshold = -3, -1
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(mmap_threshold, 4 * 2**20)
        mallopt(trim_threshold, 64 * 2**20)


def _silence_native_code() -> None:
    """Hide what C libraries write about damaged files to file 2, bypassing Python, and what Pillow logs."""
    sys.stderr = os.fdopen(os.dup(2), "w", buffering=1)
    logging.getLogger("PIL").addHandler(logging.NullHandler())  # otherwise its errors go to this process's stderr
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)


def _sendable(error: Exception) -> Exception:
    """The error, or another with its text if it cannot be sent."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - made here
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
