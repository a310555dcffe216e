"""Runs the server: listens, says where, and ends when it is told to."""

import json
import logging
import os
import shutil
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

import uvicorn

from quoteweave.core.errors import UsageError
from quoteweave.server.access import AccessControl
from quoteweave.server.app import make_app
from quoteweave.server.metrics import MULTIPROCESS_VARIABLE
from quoteweave.server.served import Served
from quoteweave.server.settings import ServerSettings, read_server_settings

_SOURCE_VARIABLE = "QUOTEWEAVE_SERVER_SETTINGS"
_FORMAT = "%(asctime)s %(levelname)s %(message)s"


def run(config_file: Path | None, given: Mapping[str, object], *, tell: Callable[[str], None]) -> None:
    """Serve by the settings of a file and those given, until the process is told to end.

    `tell` is given the lines for the operator. Raises UsageError where the address cannot be listened on, or only with
    keys, and what opening a collection raises.
    """
    settings = read_server_settings(config_file, given)
    check_collections(settings)
    listening = _listen(settings)
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    tell(
        f"quoteweave is serving {', '.join(Served(settings).folders()) or 'no collection yet'} at http://{shown}:{port}"
    )
    if settings.on_loopback:
        tell("only this machine can reach it")
    logging.basicConfig(level=settings.log_level.upper(), format=_FORMAT)
    alone = settings.workers == 1
    if not alone:
        _count_together(settings.state)
        os.environ[_SOURCE_VARIABLE] = json.dumps(
            [None if config_file is None else str(config_file), given], default=str
        )
    config = uvicorn.Config(
        make_app(settings) if alone else "quoteweave.server.run:app_of_environment",
        factory=not alone,
        workers=settings.workers,
        log_config=None,
        log_level=settings.log_level,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=settings.shutdown_seconds + 5,
        proxy_headers=False,
    )
    server = uvicorn.Server(config)
    if alone:
        server.run([listening])
    else:
        from uvicorn.supervisors import Multiprocess

        Multiprocess(config, [listening]).run()


def app_of_environment() -> object:
    """Make the application in a process of uvicorn's, from what its parent left in the environment."""
    file, given = json.loads(os.environ[_SOURCE_VARIABLE])
    settings = read_server_settings(None if file is None else Path(file), given)
    logging.basicConfig(level=settings.log_level.upper(), format=_FORMAT)
    return make_app(settings)


def _count_together(state: Path) -> None:
    """Have all processes write their figures into one folder, emptied of those of an earlier server."""
    folder = state / "metrics"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.environ[MULTIPROCESS_VARIABLE] = str(folder)


def check_collections(settings: ServerSettings) -> None:
    """Raise UsageError where there is nothing to serve, and what opening a named collection raises."""
    if not settings.collections and settings.collections_folder is None:
        raise UsageError(
            "there is nothing to serve: name a collection with -c DIR, or a folder of them with --collections"
        )
    served = Served(settings)
    try:
        for name in settings.collections:
            served.collection(name)
    finally:
        served.close()


def _listen(settings: ServerSettings) -> socket.socket:
    AccessControl(settings).check_start()
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # The protocol is named because asyncio sends at once (TCP_NODELAY) only on sockets that name it.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except OSError as error:
        listening.close()
        raise UsageError(
            f"{settings.host}:{settings.port} cannot be listened on: {error.strerror or error}; name another with "
            "--host and --port"
        ) from error
    listening.set_inheritable(True)
    return listening
