"""The samples behind a server that listens on loopback and runs in the process of the tests."""

import subprocess
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from forked_programs import ForkedProgram

from quoteweave.server.settings import ServerSettings


class LiveServer:
    """An application that is listening on a free port of loopback."""

    def __init__(self, settings: ServerSettings) -> None:
        import uvicorn

        from quoteweave.server.app import make_app
        from quoteweave.server.connections import TimedProtocol

        self.app = make_app(settings)
        config = uvicorn.Config(
            self.app,
            host="127.0.0.1",
            port=0,
            log_config=None,
            access_log=False,
            proxy_headers=False,
            http=TimedProtocol,
            ws="none",
        )
        self.server = uvicorn.Server(config)
        self._started = threading.Event()
        startup = self.server.startup

        async def announce(*arguments: object, **named: object) -> None:
            await startup(*arguments, **named)  # type: ignore[arg-type]
            self._started.set()

        self.server.startup = announce  # type: ignore[method-assign]
        self._thread = threading.Thread(target=self.server.run, daemon=True)

    def __enter__(self) -> "LiveServer":
        import httpx2

        self._thread.start()
        assert self._started.wait(30), "the server did not start"
        self.port = self.server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.client = httpx2.Client(base_url=self.url, timeout=60)
        return self

    def __exit__(self, *exception: object) -> None:
        self.client.close()
        self.server.should_exit = True
        self._thread.join(30)


Serve = Callable[..., LiveServer]


@pytest.fixture(scope="session")
def forked_jobs() -> Iterator[None]:
    """The processes of jobs that this process has run from now on are forks."""
    start = SimpleNamespace(**vars(subprocess) | {"Popen": partial(ForkedProgram, text=False)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("quoteweave.server.jobs.runner.subprocess", start)
        yield


@pytest.fixture(scope="session")
def live(forked_jobs: None, sample_collection: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """The sample documents, served under the name `port`, for tests that change nothing."""
    state = tmp_path_factory.mktemp("state")
    with LiveServer(ServerSettings(collections={"port": sample_collection}, state=state)) as server:
        yield server


@pytest.fixture
def serve(forked_jobs: None, tmp_path: Path, sample_collection: Path) -> Iterator[Serve]:
    """Starts a server of the samples with other settings; it ends with the test."""
    started: list[LiveServer] = []

    def start(**settings: object) -> LiveServer:
        values = {"collections": {"port": sample_collection}, "state": tmp_path / "state", **settings}
        server = LiveServer(ServerSettings.model_validate(values))
        started.append(server.__enter__())
        return server

    yield start
    for server in started:
        server.__exit__()
