"""The SDK's manager of requests over streamable HTTP, as our settings want it."""

import sys
from urllib.parse import urlsplit

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from quoteweave.server.mcp.server import make_mcp_server
from quoteweave.server.served import Served
from quoteweave.server.settings import LOOPBACK, ServerSettings


def make_session_manager(served: Served) -> StreamableHTTPSessionManager:
    """Make the manager that answers requests with the tools over these collections. It runs once."""
    return StreamableHTTPSessionManager(
        make_mcp_server(served),
        stateless=True,
        security_settings=transport_security(served.settings),
        max_request_body_size=sys.maxsize,  # `BodyLimit`, which stands before it, knows the limits of keys
    )


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
