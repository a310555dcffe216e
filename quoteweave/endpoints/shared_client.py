"""One HTTP client for each event loop: to make one takes some 20 ms, and its connections to servers stay open."""

import asyncio
from collections.abc import AsyncGenerator
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quoteweave.endpoints.bounded_client import BoundedClient

# A loop's client, and the generator that closes it. Keys are in requests, never in the client.
_clients: "dict[asyncio.AbstractEventLoop, tuple[BoundedClient, AsyncGenerator[None, None]]]" = {}


async def shared_client() -> "BoundedClient":
    """The client of the event loop that runs now; closed with the loop by `asyncio.run` and by every other runner that
    shuts asynchronous generators down."""
    from quoteweave.endpoints.bounded_client import BoundedClient

    loop = asyncio.get_running_loop()
    if loop not in _clients:
        for other in [other for other in list(_clients) if other.is_closed()]:
            _clients.pop(other, None)
        # Callers with different keys share it, so nothing that a server tells one of them may come back with another.
        client = BoundedClient(cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())))
        keeper = _closing(loop, client)
        _clients[loop] = client, keeper
        await anext(keeper)  # from its first step on, the loop knows the generator
    return _clients[loop][0]


async def _closing(loop: asyncio.AbstractEventLoop, client: "BoundedClient") -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        _clients.pop(loop, None)
        await client.aclose()
