"""`POST /mcp`: the tools over streamable HTTP, each request by itself, so that any of several workers can answer it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from fastapi import FastAPI
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from quoteweave.server.mcp.server import make_mcp_server
from quoteweave.server.served import Served
from quoteweave.server.settings import LOOPBACK, ServerSettings

PATH = "/mcp"


class McpEndpoint:
    """The ASGI application behind `/mcp`. It answers while its `run` block lasts.

    The HTTP request reaches the tools with its ASGI scope, and with whatever stands there of the key that it was sent
    with.
    """

    def __init__(self, served: Served) -> None:
        self._server, self._settings = make_mcp_server(served), served.settings
        self._manager: StreamableHTTPSessionManager | None = None
        self.route = Route(PATH, self, methods=["POST"], include_in_schema=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if self._manager is None:
            raise RuntimeError("the application was not started: its lifespan has to run before its first request")
        scope["route"] = self.route  # as FastAPI's own routes have it, for the log and the metrics
        await self._manager.handle_request(scope, receive, send)

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Answer requests until the block ends, and end those that are being answered then."""
        # A manager runs once, an application may start again.
        manager = StreamableHTTPSessionManager(
            self._server,
            stateless=True,
            security_settings=transport_security(self._settings),
            max_request_body_size=self._settings.max_body,
        )
        async with manager.run():
            self._manager = manager
            try:
                yield
            finally:
                self._manager = None


def add_mcp(app: FastAPI, served: Served) -> McpEndpoint:
    """Add `/mcp` to an application, whose lifespan has to `run` what this returns.

    Only POST: without sessions a server has nothing to send but answers, and a stream opened by GET would stay empty.
    """
    endpoint = McpEndpoint(served)
    app.router.routes.append(endpoint.route)
    return endpoint


def transport_security(settings: ServerSettings) -> TransportSecuritySettings:
    """Return which Host and Origin headers are answered: loopback's and those that the settings name.

    A server that other machines may reach under any name checks no Host, as each request there needs a key.
    """
    public = None if settings.public_url is None else urlsplit(settings.public_url)
    named = [*settings.allowed_hosts, *([public.hostname] if public is not None and public.hostname else [])]
    hosts = [f"[{host}]" if ":" in host else host for host in (*sorted(LOOPBACK), *named)]
    origins = [f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=settings.on_loopback or bool(settings.allowed_hosts),
        allowed_hosts=_with_ports(hosts),
        allowed_origins=[*_with_ports(origins), *settings.cors_origins],
    )


def _with_ports(names: list[str]) -> list[str]:
    return [shown for name in names for shown in (name, f"{name}:*")]
