"""Who may do what, and from where: the key or session of each request, and what is refused before any route sees it."""

import logging
from collections.abc import MutableMapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope

from quoteweave.core.errors import StateError, UsageError
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.server.access.keys import PREFIX, Key, KeyStore, Scope
from quoteweave.server.access.limits import BodyLimit, TimeLimit, caller_of
from quoteweave.server.access.origins import OriginRules
from quoteweave.server.access.request_counts import REQUESTS_FILE, RequestCounts
from quoteweave.server.access.sessions import SessionStore
from quoteweave.server.problems import ProblemError, problem_of, respond
from quoteweave.server.settings import ServerSettings
from quoteweave.server.state.conversations import Viewer
from quoteweave.server.state.state_folder import make_state

LOG = logging.getLogger("quoteweave.server")
GRANT = "quoteweave.grant"
"""The name under which a request's ASGI scope holds its `Grant`."""
SESSION_PATH = "/v1/session"
# Paths that need no key: their responses are the same for everybody and show nothing of any collection. The path of a
# quote returns the page, which then asks for the quote with the user's session.
_PUBLIC = frozenset({"/", "/openapi.json", "/favicon.ico", SESSION_PATH})
_PUBLIC_FOLDERS = ("/page/", "/c/")
# Paths for load balancers, which know neither a key nor the server's name.
_HEALTH = frozenset({"/healthz", "/readyz"})
_GRACE_SECONDS = 60.0
_PORT = lazy_regex(r":(\d{1,5})$")
_EXPOSED = ("Retry-After", "X-Request-Id", "Content-Disposition", "Mcp-Session-Id", "X-Conversation-Id", "X-Turn-Id")


@dataclass(frozen=True, slots=True)
class Grant:
    """What a request may do."""

    key: Key | None = None
    """The key that it was sent with, or that its session stands for."""
    is_open: bool = False
    """Whether the server needs no key; everything is allowed then."""

    @property
    def is_known(self) -> bool:
        """Whether the request may do anything at all."""
        return self.is_open or self.key is not None

    def may(self, scope: Scope) -> bool:
        """Whether the key has this scope."""
        return self.is_open or (self.key is not None and self.key.may(scope))

    def opens(self, collection: str) -> bool:
        """Whether the request may know of the collection of this name."""
        return self.is_open or (self.key is not None and self.key.opens(collection))

    def limits(self, settings: ServerSettings) -> ServerSettings:
        """Return the server's settings, with the key's own limits in place of the server's."""
        key_limits = {} if self.key is None else self.key.own_limits
        return settings.model_copy(update=key_limits) if key_limits else settings

    @property
    def owner(self) -> str | None:
        """Id of the key to which conversations of this request belong; None without keys."""
        return None if self.key is None else self.key.id

    @property
    def viewer(self) -> Viewer:
        """Which conversations the request sees: those of its key; for an admin, those of all keys."""
        collections = None if self.key is None else self.key.collections
        return Viewer(self.owner, everyone=self.may("admin"), collections=collections if self.is_known else ())


NOBODY = Grant()


class AccessControl:
    """Decides what each request of a process may do."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.keys, self.sessions = KeyStore(settings.state), SessionStore(settings.state)
        self.rules = OriginRules(settings)
        self.counts = RequestCounts(make_state(settings.state) / REQUESTS_FILE if settings.workers > 1 else None)
        self._required = not settings.on_loopback

    def needs_key(self) -> bool:
        """Whether requests need a key: on all addresses but loopback, and on loopback once a key was ever made.

        Once they need one, they do until the process ends, whatever happens to the file of keys.
        """
        self._required = self._required or self.keys.in_use()
        return self._required

    def check_start(self) -> None:
        """Raise UsageError if other machines could reach the server and no key was made."""
        if self.keys.in_use():
            return
        none, make = f"there is no key in {self.keys.path.parent}", "make one with: quoteweave keys add NAME"
        if not self.settings.on_loopback:
            raise UsageError(
                f"{self.settings.host} can be reached from other machines, and {none}; {make}, or listen on 127.0.0.1"
            )
        if self.settings.behind_proxy:
            raise UsageError(
                f"public_url or trusted_proxies say that a proxy shows the server to other machines, and {none}, so "
                f"that whoever reaches the proxy could do everything; {make}"
            )

    def grant(self, request: Request) -> Grant:
        """Return what a request may do. Raises ProblemError if its key is refused, or a foreign page sent it."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        # Clients of other APIs always send some key; if none is needed, a key that is not ours is ignored.
        if scheme.lower() == "bearer" and (token.strip().startswith(f"{PREFIX}_") or self.needs_key()):
            key = self.keys.verify(token.strip())
            if key is None:
                raise refused_key()
            return Grant(key)
        key, by_cookie = self._key_of_session(request), cookie_name(request) in request.cookies
        self.rules.check_origin(request, by_cookie=by_cookie)
        return Grant(key) if key is not None else Grant(is_open=not self.needs_key())

    def _key_of_session(self, request: Request) -> Key | None:
        token = request.cookies.get(cookie_name(request))
        key_id = None if token is None else self.sessions.key_of(token)
        return None if key_id is None else self.keys.active(key_id)


class Access:
    """Passes requests to the application with their `Grant`, or answers them with the reason for refusing them."""

    def __init__(self, app: ASGIApp, control: AccessControl) -> None:
        self._app, self._control = app, control

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http" or scope["path"] in _HEALTH:
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        with ExitStack() as stack:
            try:
                caller = await self._admit(request)
                at_once = grant_of(scope).limits(self._control.settings).concurrency
                stack.enter_context(self._control.counts.hold(caller, at_once))
            except ProblemError as refused:
                await respond(problem_of(refused), request, refused.headers)(scope, receive, send)
                return
            except StateError as error:
                LOG.error("request %s is refused: %s", scope.get("request_id"), error)
                await respond(_unreadable_state().problem, request)(scope, receive, send)
                return
            await self._app(scope, receive, send)

    async def _admit(self, request: Request) -> str:
        """Give the request its grant; return the name under which its caller is counted. Raises ProblemError."""
        control = self._control
        if "transfer-encoding" in request.headers and "content-length" in request.headers:
            raise _two_lengths()
        control.rules.check_host(request)
        try:
            # In a thread, as a session is looked up in a file, which may take time; keys are in memory.
            if cookie_name(request) in request.cookies:
                grant = await run_in_threadpool(control.grant, request)
            else:
                grant = control.grant(request)
        except ProblemError:
            self._count(request, NOBODY)  # refused requests count too, so that keys cannot be guessed quickly
            raise
        caller = self._count(request, grant)
        if not grant.is_known and not _is_public(request.scope):
            raise missing_key()
        request.scope[GRANT] = grant
        return caller

    def _count(self, request: Request, grant: Grant) -> str:
        control = self._control
        caller = caller_of(request.scope, grant.owner)
        if request.scope["path"] == SESSION_PATH or not _is_public(request.scope):
            control.counts.take(caller, grant.limits(control.settings).requests_per_minute)
        return caller


def protect(app: FastAPI, settings: ServerSettings) -> AccessControl:
    """Put access control and limits in front of the application; middleware added later is in front of them."""
    control = AccessControl(settings)
    app.state.access = control
    app.add_middleware(BodyLimit, limit=lambda scope: grant_of(scope).limits(settings).max_body)
    # Answers end by themselves before this limit; what takes longer is stuck.
    app.add_middleware(TimeLimit, seconds=settings.answer_seconds + _GRACE_SECONDS)
    app.add_middleware(Access, control=control)
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=_EXPOSED,
        )
    return control


def grant_of(scope: MutableMapping[str, Any]) -> Grant:
    """Return what the request of this ASGI scope may do."""
    grant = scope.get(GRANT, NOBODY)
    return grant if isinstance(grant, Grant) else NOBODY


def cookie_name(request: Request) -> str:
    """Return the name of the session's cookie, which has the port in it, as cookies go to all ports of a host."""
    port = _PORT.search(request.headers.get("host", ""))
    return f"quoteweave_{port[1]}" if port else "quoteweave"


def refused_key() -> ProblemError:
    """Return the problem of a key that is not accepted, which does not say whether it ever was."""
    return ProblemError(
        401,
        "refused-key",
        "the key is unknown, or was revoked, or has expired; ask whoever runs the server for another",
        headers={"WWW-Authenticate": 'Bearer realm="quoteweave", error="invalid_token"'},
    )


def missing_key() -> ProblemError:
    """Return the problem of a request without a key."""
    return ProblemError(
        401,
        "missing-key",
        "send a key as Authorization: Bearer qw_…, or sign in with one on the page; whoever runs the server makes keys",
        headers={"WWW-Authenticate": 'Bearer realm="quoteweave"'},
    )


def missing_scope(scope: Scope) -> ProblemError:
    """Return the problem of a key that may not do this."""
    return ProblemError(
        403,
        "missing-scope",
        f"this needs a key with the scope {scope}; ask whoever runs the server for one",
        headers={"WWW-Authenticate": f'Bearer realm="quoteweave", error="insufficient_scope", scope="{scope}"'},
    )


def _two_lengths() -> ProblemError:
    return ProblemError(
        400,
        "two-lengths",
        "it has both Content-Length and Transfer-Encoding, which a proxy may read differently; send one of them",
        headers={"Connection": "close"},
    )


def _unreadable_state() -> ProblemError:
    return ProblemError(
        503,
        "unreadable-state",
        "the server cannot read its keys, sessions or counts of requests, so nobody is let in; its log says more under "
        "the request's id",
    )


def _is_public(scope: AsgiScope) -> bool:
    # The path by which routes are found; the one of Request.url depends on the Host header that the client sends.
    path = scope["path"]
    return path in _PUBLIC or path.startswith(_PUBLIC_FOLDERS)
