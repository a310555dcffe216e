"""Checks by which name of the server, and from which pages in browsers, a request was sent."""

from urllib.parse import urlsplit

from starlette.requests import Request

from quoteweave.server.problems import ProblemError
from quoteweave.server.settings import LOOPBACK, ServerSettings

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class OriginRules:
    """Checks a request's `Host` and `Origin`: by which name the server was asked, and from which page in a browser.

    A page of another origin can make a browser send requests to a server that only this machine can reach. Even if it
    cannot read the responses, it could cause changes; and by rebinding its own name to 127.0.0.1 (DNS rebinding) it
    could read them, too.
    """

    def __init__(self, settings: ServerSettings) -> None:
        public = None if settings.public_url is None else urlsplit(settings.public_url)
        allowed_names = {host.lower() for host in settings.allowed_hosts}
        self._any_host = not settings.on_loopback and not allowed_names
        self._hosts = LOOPBACK | allowed_names | ({public.hostname or ""} if public else set())
        self._origins = {origin.lower().rstrip("/") for origin in settings.cors_origins}
        if public is not None:
            self._origins.add(f"{public.scheme}://{public.netloc}".lower())

    def check_host(self, request: Request) -> None:
        """Raise ProblemError (421) where the request names another host than this server's."""
        if self._any_host:
            return
        name = _host_name(request.headers.get("host", ""))
        if name not in self._hosts:
            raise ProblemError(
                421,
                "unknown-host",
                "the Host header names none of this server's names; use http://127.0.0.1 and the port, or name the "
                "host among allowed_hosts in the server's settings",
            )

    def check_origin(self, request: Request, *, by_cookie: bool) -> None:
        """Raise ProblemError (403) where a page of another origin sent a request that carries no key.

        Browsers say where a request comes from, in `Origin` or `Sec-Fetch-Site`. Programs send neither; this is refused
        only for requests that change something and carry a cookie, as programs use keys.
        """
        site = request.headers.get("sec-fetch-site")
        if request.method in _SAFE:
            # Links from other sites are allowed, but not resources that a foreign page loads into itself.
            foreign = site == "cross-site" and request.headers.get("sec-fetch-mode") != "navigate"
            if foreign and not self._is_ours(request, request.headers.get("origin")):
                raise _foreign()
            return
        origin = request.headers.get("origin")
        if origin is not None:
            allowed = self._is_ours(request, origin)
        else:
            allowed = site in ("same-origin", "none") or (site is None and not by_cookie)
        if not allowed:
            raise _foreign()

    def _is_ours(self, request: Request, origin: str | None) -> bool:
        if origin is None:
            return False
        host = request.headers.get("host", "").lower()
        return origin.lower() in self._origins or origin.lower() in (f"http://{host}", f"https://{host}")


def _host_name(host: str) -> str | None:
    """The name in a `Host` header, without port and brackets; None if the header is malformed."""
    if any(sign in host for sign in "/?#@\\") or host != host.strip():
        return None
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port  # raises ValueError for one that is no number
    except ValueError:
        return None
    return parts.hostname


def _foreign() -> ProblemError:
    return ProblemError(
        403,
        "foreign-origin",
        "the request was sent by a page that this server does not know; send a key as Authorization: Bearer, or name "
        "the page's origin among cors_origins in the server's settings",
    )
