"""`POST /mcp`: the tools over streamable HTTP, each request by itself, so that any of several workers can answer it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup, TaskStatus
from starlette.concurrency import run_in_threadpool
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from quoteweave.core.errors import MissingExtra
from quoteweave.server.served import Served

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PATH = "/mcp"


class McpEndpoint:
    """The ASGI application behind `/mcp`. It answers while its `run` block lasts.

    Tools get the HTTP request with its ASGI scope, which holds the grant of its key. The first request imports the MCP
    SDK, as the import would make the start of the server about a third longer.
    """

    def __init__(self, served: Served) -> None:
        self._served = served
        self._running: _Running | None = None
        # Without sessions, a server sends nothing but responses, so that a stream opened by GET would stay empty.
        self.route = Route(PATH, self, methods=["POST"], include_in_schema=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request. Raises MissingExtra where the MCP SDK is not installed."""
        if self._running is None:
            raise RuntimeError("the application was not started: its lifespan has to run before its first request")
        scope["route"] = self.route  # log and metrics read it, and FastAPI sets it for its own routes only
        manager = await self._running.manager()
        await manager.handle_request(scope, receive, send)

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Answer requests until the block ends; requests under way are ended then."""
        async with anyio.create_task_group() as tasks:
            self._running = _Running(self._served, tasks)
            try:
                yield
            finally:
                self._running = None
                tasks.cancel_scope.cancel()


class _Running:
    """One run of the application, which makes a session manager at its first request."""

    def __init__(self, served: Served, tasks: TaskGroup) -> None:
        self._served, self._tasks = served, tasks
        self._starting = anyio.Lock()
        self._manager: StreamableHTTPSessionManager | None = None

    async def manager(self) -> "StreamableHTTPSessionManager":
        """Return the manager, started by the first call; if that fails, by the next one."""
        async with self._starting:
            if self._manager is None:
                manager = await run_in_threadpool(_make_manager, self._served)
                # In a task of its own, so that it does not end with the first request.
                await self._tasks.start(_hold, manager)
                self._manager = manager
        return self._manager


def _make_manager(served: Served) -> "StreamableHTTPSessionManager":
    try:
        from quoteweave.server.mcp.server import make_session_manager
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "mcp", "server") from error
    return make_session_manager(served)


async def _hold(manager: "StreamableHTTPSessionManager", *, task_status: TaskStatus[None]) -> None:
    """Keep a manager running until this task is cancelled."""
    async with manager.run():
        task_status.started()
        await anyio.sleep_forever()
