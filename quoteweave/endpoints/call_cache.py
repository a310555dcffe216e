"""A cache of chat model calls in a folder: to resume without paying twice, and to replay without a key."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from quoteweave.core.chat.completions import ChatMessage, Completion, CompletionDelta
from quoteweave.core.chat.streams import as_stream, stream_completion
from quoteweave.core.concurrency.shared_calls import SharedCall, SharedCalls
from quoteweave.core.files.result_cache import CachedResult, ResultCache
from quoteweave.core.fingerprints import json_sha256
from quoteweave.core.protocols import ChatModel
from quoteweave.endpoints.chat_wrappers import WrappedChat

Messages = Sequence[ChatMessage]


class _Call(CachedResult):
    completion: Completion


class CachedChat(WrappedChat):
    """Wraps a chat model and caches its calls in `folder`. Implements `core.protocols.StreamingChatModel`.

    A call that is in the folder is not made again. Calls are equal if the model's name, the messages and the
    `request_settings` are, whatever endpoint answered. If equal calls are made at the same time, only one is sent.
    Failed calls, and streams that were not read to their end, are not stored; a damaged file is ignored. Processes may
    share a folder.
    """

    def __init__(self, model: ChatModel, folder: Path) -> None:
        super().__init__(model)
        self._cache = ResultCache(folder, _Call)
        self._calls: SharedCalls[Completion] = SharedCalls()

    async def complete(self, messages: Messages) -> Completion:
        """Return the cached completion, or else call the model.

        Raises StorageError if the folder cannot be read or written, and what the model raises.
        """
        async with self._turn(messages) as turn:
            return turn.result or self._keep(turn, await self._model.complete(messages))

    async def stream(self, messages: Messages) -> AsyncGenerator[CompletionDelta | Completion, None]:
        """Stream the completion; if it is cached or comes from an equal concurrent call, it comes in one piece.

        Raises what `complete` raises.
        """
        async with self._turn(messages) as turn:
            if turn.result is None:
                async with aclosing(stream_completion(self._model, messages)) as items:
                    async for item in items:
                        yield self._keep(turn, item) if isinstance(item, Completion) else item
                return
        for item in as_stream(turn.result):
            yield item

    def _keep(self, turn: SharedCall[Completion], completion: Completion) -> Completion:
        turn.result = completion
        self._cache.keep(_Call(request=turn.key, completion=completion))
        return completion

    @asynccontextmanager
    async def _turn(self, messages: Messages) -> AsyncIterator[SharedCall[Completion]]:
        """Wait for equal calls; the result is set if the folder or an equal call provided one."""
        async with self._calls.turn(request_key(self.name, messages, self.request_settings())) as turn:
            if turn.result is None and (call := self._cache.find(turn.key)) is not None:
                turn.result = call.completion
            yield turn


def request_key(model: str, messages: Messages, settings: Mapping[str, object]) -> str:
    """The cache key of a request; it does not depend on the order of fields, but on that of messages."""
    return json_sha256({"model": model, "messages": list(messages), "settings": dict(settings)})
