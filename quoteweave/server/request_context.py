"""What wraps every request: an id, security headers, a line in the log, and the handling of unexpected errors."""

import json
import logging
import time
import uuid

import anyio
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quoteweave.core.errors import withhold_remedies
from quoteweave.server.monitoring import Metrics
from quoteweave.server.problems import REQUEST_ID, note_log, problem_of, respond
from quoteweave.server.settings import ServerSettings

LOG = logging.getLogger("quoteweave.server")
ID_HEADER = "x-request-id"
_MAX_ID = 128
_METHODS = frozenset({"GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"})


class RequestContext:
    """Gives each request an id and each response security headers; logs each request as JSON, without its text."""

    def __init__(self, app: ASGIApp, settings: ServerSettings, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics
        self._headers = security_headers(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope["request_id"] = request_id = _request_id(scope)
        REQUEST_ID.set(request_id)
        started, status, has_begun = time.perf_counter(), 500, False

        async def send_with_headers(message: Message) -> None:
            nonlocal status, has_begun
            if message["type"] == "http.response.start":
                status, has_begun = message["status"], True
                headers = MutableHeaders(scope=message)
                headers[ID_HEADER] = request_id
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            with withhold_remedies(note_log()):
                await self._app(scope, receive, send_with_headers)
        except Exception as error:
            LOG.exception("request %s failed", request_id)
            if has_begun:
                raise
            await respond(problem_of(error), Request(scope))(scope, receive, send_with_headers)
        finally:
            seconds = time.perf_counter() - started
            route = getattr(scope.get("route"), "path", "none")
            # Clients can send any method, and each value of a label is kept in memory forever.
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._metrics.count_request(method, route, status, seconds)
            _log(scope, status, seconds)


class HeadAsGet:
    """Answers HEAD with the headers of GET, and stops there, as the body may be a stream of events that never ends."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        handled = {**scope, "method": "GET"}
        with anyio.CancelScope() as answering:

            async def send_head(message: Message) -> None:
                if message["type"] == "http.response.start":
                    await send(message)
                    await send({"type": "http.response.body"})
                    answering.cancel()

            await self._app(handled, receive, send_head)
        scope["route"] = handled.get("route")


def security_headers(settings: ServerSettings) -> dict[str, str]:
    """Return the headers of every response, which say what the server's page may load and who may embed it."""
    ancestors = " ".join(settings.frame_ancestors) or "'none'"
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
        f"font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors {ancestors}"
    )
    headers = {
        "content-security-policy": policy,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "cross-origin" if settings.cors_origins else "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=()",
    }
    return headers if settings.frame_ancestors else {**headers, "x-frame-options": "DENY"}


def _request_id(scope: Scope) -> str:
    """Take the id that a proxy gave the request if it is a plain word; else make one."""
    header = next((value for name, value in scope["headers"] if name == ID_HEADER.encode()), b"")
    text = header.decode("ascii", "replace")
    return text if text and len(text) <= _MAX_ID and all(c.isalnum() or c in "-_.:" for c in text) else uuid.uuid4().hex


def _log(scope: Scope, status: int, seconds: float) -> None:
    if not LOG.isEnabledFor(logging.INFO):
        return
    route = scope.get("route")
    fields = {
        "request_id": scope["request_id"],
        "method": scope["method"],
        "route": getattr(route, "path", None),
        "status": status,
        "ms": round(seconds * 1000, 1),
        "client": scope["client"][0] if scope.get("client") else None,
    }
    LOG.info("%s", json.dumps(fields))
