"""A call of a tool: what the caller may see, where links lead, and how the caller is told of progress."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from starlette.requests import Request

from quoteweave.core.errors import UsageError
from quoteweave.core.records import Quote
from quoteweave.interchange.quotes import QuoteUrls
from quoteweave.server.access.control import Grant
from quoteweave.server.depends import check_grant, get_base_url
from quoteweave.server.served import Served, ServedCollection

LOCAL = "quoteweave://local"
"""The beginning of the URLs of quotes if no HTTP server shows them; the MCP server reads these URLs as resources."""
_SECONDS_BETWEEN = 0.5


class Progress:
    """Tells a client that asked for it how far a call is, by growing numbers, and at most every half second."""

    def __init__(self, report: Callable[[float, float | None, str | None], Awaitable[None]]) -> None:
        self._report = report
        self._count, self._last_sent = 0, float("-inf")

    async def notify(self, message: str) -> None:
        """Send the message, unless another was sent just before."""
        now = time.monotonic()
        self._count += 1
        if now - self._last_sent >= _SECONDS_BETWEEN:
            self._last_sent = now
            await self._report(self._count, None, message)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool."""

    served: Served
    names: Sequence[str]
    """Names of the collections that the caller may see."""
    grant: Grant
    """What the caller may do."""
    base_url: str
    """The beginning of the URLs of quotes."""
    progress: Progress = field(repr=False)

    def collection(self, name: str | None) -> ServedCollection:
        """Return the collection of that name; without a name, the only one.

        Raises UsageError, naming the collections, if there is none of that name or the name is needed; and what
        `Served.collection` raises if it cannot be read.
        """
        known = ", ".join(self.names)
        if not self.names:
            raise UsageError("no collection may be read here; ask whoever runs the server")
        if name is None and len(self.names) > 1:
            raise UsageError(f"collection: there are several, and the call has to name one of them: {known}")
        if name is not None and name not in self.names:
            raise UsageError(f"collection: there is none of the name {name!r}; there are: {known}")
        return self.served.collection(self.names[0] if name is None else name)

    def quote(self, id: str) -> tuple[ServedCollection, Quote]:
        """Return the quote of an id that `id_of` made. Raises UsageError for another, and QuoteNotFound."""
        name, slash, quote_id = id.partition("/")
        if not slash:
            raise UsageError(f"id: {id!r} is not the id of a search result, which is COLLECTION/QUOTE")
        collection = self.collection(name)
        return collection, collection.collection.quote(quote_id)

    def urls(self, collection: ServedCollection) -> QuoteUrls:
        """Return what makes the URLs of a collection's quotes."""
        return QuoteUrls(base_url=self.base_url, collection=collection.name)


def id_of(collection: ServedCollection, quote: Quote) -> str:
    """Return the id that names a quote among those of all collections."""
    return f"{collection.name}/{quote.id}"


def grant_of_call(request: Request | None) -> Grant:
    """Return what a caller may do; over stdio, where `request` is None, everything.

    Raises ProblemError for a key that may not read.
    """
    return Grant(is_open=True) if request is None else check_grant(request, "read")


async def base_url(served: Served, request: Request | None) -> str:
    """Return the beginning of the URLs of quotes: the server's address, or `LOCAL` if no HTTP server shows them."""
    return served.settings.public_url or LOCAL if request is None else await get_base_url(request, served)
