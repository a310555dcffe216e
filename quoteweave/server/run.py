"""Runs the server: listens at its address, prints it, and ends when told to."""

import gc
import json
import logging
import multiprocessing
import os
import shutil
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from uvicorn.config import STARTUP_FAILURE

from quoteweave.core.confidence import read_calibration_file
from quoteweave.core.errors import CollectionNotFound, QuoteweaveError, UsageError
from quoteweave.server.access.control import AccessControl
from quoteweave.server.access.request_counts import REQUESTS_FILE
from quoteweave.server.app import make_app
from quoteweave.server.connections import BACKLOG, SharedSocket, TimedProtocol, allow_many_connections
from quoteweave.server.jobs.store import JobStore
from quoteweave.server.monitoring import MULTIPROCESS_VARIABLE
from quoteweave.server.served import Served
from quoteweave.server.settings import ServerSettings, read_server_settings
from quoteweave.server.state.state_folder import make_state

_SOURCE_VARIABLE = "QUOTEWEAVE_SERVER_SETTINGS"
# The thresholds of `gc.set_threshold`: new objects before a collection of the youngest generation, and how many such
# collections before one of the next generation.
_GARBAGE_THRESHOLDS = 5_000, 20, 100
_FORMAT = "%(asctime)s %(levelname)s %(message)s"


def run(config_file: Path | None, overrides: Mapping[str, object], *, notify: Callable[[str], None]) -> None:
    """Serve by the settings of a file and `overrides` of them, until the process is told to end.

    `notify` is given the lines for the operator. Raises UsageError where the address cannot be listened on, or only
    with keys, StorageError where the jobs cannot be read, and what `check_answer_settings` and opening a collection
    raise.
    """
    settings = read_server_settings(config_file, overrides)
    set_up_logging(settings)
    check_answer_settings(settings)
    for note in check_collections(settings):
        notify(f"note: {note}")
    # Opened here for the first time, so that an error is reported once and not by each process that answers.
    JobStore(settings.state).close()
    allow_many_connections()
    if settings.workers == 1:
        # Made before listening, as it collects garbage, and Python drops an interrupt that comes during a collection.
        server = uvicorn.Server(_config(settings, _app(settings)))
        listening = _listen(settings)
        notify(_address_line(settings, listening))
        server.run([listening])
        return
    listening = _listen(settings)
    _count_together(settings.state)
    source = [None if config_file is None else str(config_file), overrides]
    os.environ[_SOURCE_VARIABLE] = json.dumps(source, default=str)
    _run_workers(settings, listening, notify)


def _run_workers(settings: ServerSettings, listening: socket.socket, notify: Callable[[str], None]) -> None:
    """Run the processes that answer, and print the address once one does. Raises UsageError if they cannot start."""
    from uvicorn.supervisors import Multiprocess

    config = _config(settings, "quoteweave.server.run:app_of_environment")
    if isinstance(listening, SharedSocket):
        # Each process accepts one connection at a time (asyncio's meaning of a backlog). If several connections come
        # together, the first process to wake up then leaves some to the others.
        config.backlog, config.loop = 1, "asyncio"
        threading.Thread(target=_notify_once_ready, args=(settings, listening, notify), daemon=True).start()
    else:
        notify(_address_line(settings, listening))
    processes = Multiprocess(config, [listening])
    processes.run()
    if any(process.exitcode == STARTUP_FAILURE for process in processes.processes):
        raise UsageError("a process of the server could not start; its log says why")


def _notify_once_ready(settings: ServerSettings, listening: SharedSocket, notify: Callable[[str], None]) -> None:
    listening.ready.wait()
    notify(_address_line(settings, listening))


def _config(settings: ServerSettings, app: FastAPI | str) -> uvicorn.Config:
    """Return uvicorn's settings for an application, or for the name of the function that makes it in each process."""
    return uvicorn.Config(
        app,
        factory=isinstance(app, str),
        http=TimedProtocol,
        ws="none",
        workers=settings.workers,
        log_config=None,
        log_level=settings.log_level,
        access_log=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=settings.shutdown_seconds + 5,
        proxy_headers=False,
    )


def _address_line(settings: ServerSettings, listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    host_shown = f"[{host}]" if ":" in host else host
    names = ", ".join(Served(settings).folders()) or "no collection yet"
    if settings.behind_proxy:
        reached = f" (behind a proxy, as {settings.public_url})" if settings.public_url else " (behind a proxy)"
    else:
        reached = " (only this machine can reach it)" if settings.on_loopback else ""
    return f"quoteweave is serving {names} at http://{host_shown}:{port}{reached}"


def set_up_logging(settings: ServerSettings) -> None:
    """Write the log to the standard error stream, from the level of the settings on."""
    logging.basicConfig(level=settings.log_level.upper(), format=_FORMAT)
    # The MCP library logs the end of every request, which our own line does already.
    logging.getLogger("mcp").setLevel(logging.WARNING)


def app_of_environment() -> object:
    """Make the application in one of uvicorn's processes, from what its parent left in the environment.

    An error is logged in one line and ends the process, with an exit code that makes its parent end too.
    """
    file, overrides = json.loads(os.environ[_SOURCE_VARIABLE])
    try:
        settings = read_server_settings(None if file is None else Path(file), overrides)
        set_up_logging(settings)
        return _app(settings)
    except QuoteweaveError as error:
        logging.getLogger("quoteweave.server").error("%s", error)
        sys.exit(STARTUP_FAILURE)


def _app(settings: ServerSettings) -> FastAPI:
    """Make the application, and exclude all objects made so far from garbage collection, as they stay.

    Later objects are collected less often than by Python's defaults: a full collection makes every request wait for
    tens of milliseconds, and came with every thousandth request.
    """
    app = make_app(settings)
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GARBAGE_THRESHOLDS)
    return app


def _count_together(state: Path) -> None:
    """Make all processes count figures and requests in one place, after removing what an earlier server counted."""
    for file in state.glob(f"{REQUESTS_FILE}*"):
        file.unlink(missing_ok=True)
    folder = state / "metrics"
    shutil.rmtree(folder, ignore_errors=True)
    make_state(state)
    folder.mkdir()
    os.environ[MULTIPROCESS_VARIABLE] = str(folder)


def check_collections(settings: ServerSettings) -> list[str]:
    """Return a sentence on each collection that cannot be read; the others are served.

    Raises UsageError where there is nothing to serve, and if no question could be answered by the settings of answers;
    CollectionNotFound for a folder that holds none.
    """
    if not settings.collections and settings.collections_folder is None:
        raise UsageError(
            "there is nothing to serve: name a collection with -c DIR, or a folder of them with --collections"
        )
    served, notes = Served(settings), []
    for name in settings.collections:
        try:
            opened = served.collection(name)
        except CollectionNotFound:
            raise
        except QuoteweaveError as error:
            notes.append(f"{name} cannot be read: {error}")
            continue
        try:
            opened.rag(served.defaults)
        except QuoteweaveError as error:
            raise UsageError(f"answers: {error}") from error
    served.close()
    return notes


def check_answer_settings(settings: ServerSettings) -> None:
    """Raise UsageError or DatasetError, naming the setting, for a calibration that cannot be read, or a chat model
    without an address at which it could be asked.
    """
    calibrations = {f"calibrations.{name}": path for name, path in settings.calibrations.items()}
    if settings.answers.abstain is not None:
        calibrations = {"answers.abstain": settings.answers.abstain, **calibrations}
    models = {f"models.{name}": model for name, model in settings.models.items()}
    checks: dict[str, Callable[[], object]] = {
        **{name: partial(read_calibration_file, path) for name, path in calibrations.items()},
        "answers.model": settings.answers.with_environment().check_address,
        **{name: model.check_address for name, model in models.items()},
    }
    for name, check in checks.items():
        try:
            check()
        except QuoteweaveError as error:
            raise type(error)(f"{name}: {error}") from error


def _listen(settings: ServerSettings) -> socket.socket:
    """Listen at the address of the settings. Connections from now on are answered once there is an application.

    Raises UsageError if another server listens there, if the address cannot be used, or if it needs keys.
    """
    AccessControl(settings).check_start()
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    shared = settings.workers > 1 and sys.platform != "win32"
    # The protocol is named because asyncio sends at once (TCP_NODELAY) only on sockets that name it.
    listening = (SharedSocket if shared else socket.socket)(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if isinstance(listening, SharedSocket):
        listening.ready = multiprocessing.get_context("spawn").Event()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
        # Directly after `bind`, as two servers may both bind an address at which neither listens yet.
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise UsageError(
            f"{settings.host}:{settings.port} cannot be listened on: {error.strerror or error}; name another with "
            "--host and --port"
        ) from error
    listening.set_inheritable(True)
    return listening
