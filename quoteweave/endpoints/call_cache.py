"""A cache of chat model calls in a folder: to resume without paying twice, and to replay without a key.

ab/ab12….json    one call: SHA-256 of its request, the completion, and when it came; the request itself is not kept
"""

import hashlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from quoteweave.core.answers import Completion, CompletionDelta
from quoteweave.core.chat.streams import as_stream, stream_completion
from quoteweave.core.concurrency.shared_calls import SharedCall, SharedCalls
from quoteweave.core.errors import StorageError
from quoteweave.core.files.sealed_json import sealed_json, unsealed_json
from quoteweave.core.files.whole_files import written_whole
from quoteweave.core.protocols import ChatModel
from quoteweave.core.records import Record
from quoteweave.endpoints.chat_wrappers import WrappedChat

Messages = Sequence[Mapping[str, object]]


class _Call(Record):
    request: str
    completion: Completion
    when: datetime


class CachedChat(WrappedChat):
    """Wraps a chat model and caches its calls in `folder`. Implements `core.protocols.StreamingChatModel`.

    A call that the folder holds is not made again. Calls are the same whose model's name, messages and
    `request_settings` are, whatever endpoint answered. Of equal calls at the same time one is made. A call that failed,
    or a stream that was not read to its end, is not kept, and a file that is damaged is as if it were not there.
    Processes may share a folder.
    """

    def __init__(self, model: ChatModel, folder: Path) -> None:
        super().__init__(model)
        self._folder = folder
        self._calls: SharedCalls[Completion] = SharedCalls()

    async def complete(self, messages: Messages) -> Completion:
        """Return the cached completion, or else call the model.

        Raises StorageError where the folder cannot be read or written, and what the model raises.
        """
        async with self._turn(messages) as turn:
            return turn.result or self._keep(turn, await self._model.complete(messages))

    async def stream(self, messages: Messages) -> AsyncGenerator[CompletionDelta | Completion, None]:
        """Stream the completion; a cached one, or one of an identical concurrent call, comes in one piece.

        Raises what `complete` does.
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
        _write(self._path(turn.key), _Call(request=turn.key, completion=completion, when=datetime.now(UTC)))
        return completion

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"

    @asynccontextmanager
    async def _turn(self, messages: Messages) -> AsyncIterator[SharedCall[Completion]]:
        """Wait for identical calls; the result is set if the folder or an identical call provided one."""
        async with self._calls.turn(request_key(self.name, messages, self.request_settings())) as turn:
            turn.result = turn.result or _read(self._path(turn.key), turn.key)
            yield turn


def request_key(model: str, messages: Messages, settings: Mapping[str, object]) -> str:
    """SHA-256 of a request as JSON, in hexadecimal; the order of fields is left aside, that of messages is not."""
    request = {"model": model, "messages": list(messages), "settings": dict(settings)}
    text = json.dumps(request, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _read(path: Path, key: str) -> Completion | None:
    try:
        call = _Call.model_validate_json(unsealed_json(path.read_bytes()))
    except (FileNotFoundError, ValueError):  # damaged, or of another format
        return None
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error
    return call.completion if call.request == key else None


def _write(path: Path, call: _Call) -> None:
    try:
        with written_whole(path) as file:
            file.write(sealed_json(call.model_dump_json().encode()))
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}; free space and resume") from error
