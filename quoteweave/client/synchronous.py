"""`Client`: asks a running server from programs without an event loop."""

from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from quoteweave.client.asynchronous import RETRIES, TIMEOUT_S, AsyncClient
from quoteweave.core.concurrency.sync_bridge import run_sync

P = ParamSpec("P")
Result = TypeVar("Result")


def _waiting(
    method: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, Result]],
) -> Callable[Concatenate["Client", P], Result]:
    """Make a method of `Client` that waits for the result of a method of `AsyncClient`."""

    @wraps(method)
    def call(self: "Client", /, *args: P.args, **kwargs: P.kwargs) -> Result:
        return run_sync(method(self._client, *args, **kwargs))

    return call


def _iterating(
    method: Callable[Concatenate[AsyncClient, P], AsyncGenerator[Result, None]],
) -> Callable[Concatenate["Client", P], Generator[Result, None, None]]:
    """Make a method of `Client` that yields what a method of `AsyncClient` yields."""

    @wraps(method)
    def call(self: "Client", /, *args: P.args, **kwargs: P.kwargs) -> Generator[Result, None, None]:
        items = method(self._client, *args, **kwargs)

        async def next_item() -> Result | None:
            return await anext(items, None)

        async def close() -> None:
            await items.aclose()

        try:
            while (item := run_sync(next_item())) is not None:
                yield item
        finally:
            run_sync(close())

    return call


class Client:
    """Asks a running quoteweave server: the same records, events and errors as from `Rag` and `Collection`.

    Methods, parameters and errors are those of `AsyncClient`. `progress` is called from another thread, and
    `contextlib.closing` closes a stream early. Threads may share a client.

    >>> client = Client(server.url)
    >>> client.answer("How much grain was shipped in May?").citations[0].document
    'port.md'
    >>> [hit.place for hit in client.search("timber", k=1).hits]
    ['Freight in May']
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        collection: str | None = None,
        timeout_s: float = TIMEOUT_S,
        max_retries: int = RETRIES,
    ) -> None:
        """Raises UsageError for a malformed address, and for a key that no request could carry."""
        self._client = AsyncClient(url, key, collection=collection, timeout_s=timeout_s, max_retries=max_retries)

    answer = _waiting(AsyncClient.answer)
    ask = _waiting(AsyncClient.ask)
    stream = _iterating(AsyncClient.stream)
    search = _waiting(AsyncClient.search)
    quote = _waiting(AsyncClient.quote)
    quote_image = _waiting(AsyncClient.quote_image)
    page = _waiting(AsyncClient.page)
    page_image = _waiting(AsyncClient.page_image)
    page_words = _waiting(AsyncClient.page_words)
    documents = _waiting(AsyncClient.documents)
    document = _waiting(AsyncClient.document)
    collections = _waiting(AsyncClient.collections)
    models = _waiting(AsyncClient.models)
    create_collection = _waiting(AsyncClient.create_collection)
    remove_collection = _waiting(AsyncClient.remove_collection)
    add = _waiting(AsyncClient.add)
    remove = _waiting(AsyncClient.remove)
    build_index = _waiting(AsyncClient.build_index)
    jobs = _waiting(AsyncClient.jobs)
    job = _waiting(AsyncClient.job)
    cancel_job = _waiting(AsyncClient.cancel_job)
    wait_for_job = _waiting(AsyncClient.wait_for_job)
    conversations = _waiting(AsyncClient.conversations)
    begin_conversation = _waiting(AsyncClient.begin_conversation)
    conversation = _waiting(AsyncClient.conversation)
    remove_conversation = _waiting(AsyncClient.remove_conversation)
    export_conversation = _waiting(AsyncClient.export_conversation)
