"""Base classes of chat models that wrap another chat model."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from copy import copy
from typing import Any

from quoteweave.core.chat.completions import ChatMessage, Completion, CompletionDelta
from quoteweave.core.chat.streams import stream_completion
from quoteweave.core.chat.tools import Tool, offer_tools
from quoteweave.core.chat.usage import UsageMeter
from quoteweave.core.protocols import ChatModel


class WrappedChat:
    """A base class of wrappers, with the wrapped model's name and request settings."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self._model.name

    def request_settings(self) -> Mapping[str, object]:
        """Return the wrapped model's request settings."""
        return self._model.request_settings()

    def with_tools(self, tools: Sequence[Tool]) -> ChatModel | None:
        """The same wrapper around the model with these tools; None if the model cannot be offered any."""
        model = offer_tools(self._model, tools)
        if model is None:
            return None
        wrapper: Any = copy(self)  # shares counters and caches with this one
        wrapper._model = model
        chat: ChatModel = wrapper  # all subclasses are chat models
        return chat


class MeteredChat(WrappedChat, ABC):
    """Calls the wrapped model in a context that measures usage. Implements `StreamingChatModel`."""

    @abstractmethod
    def _call(self, messages: Sequence[ChatMessage]) -> AbstractAsyncContextManager[UsageMeter]:
        """The context of one call: from before the model is called until its completion or stream has ended."""

    async def complete(self, messages: Sequence[ChatMessage]) -> Completion:
        """Call the model. Raises what the model and the context raise."""
        async with self._call(messages) as meter:
            completion = await self._model.complete(messages)
            meter.add(completion)
            return completion

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[CompletionDelta | Completion, None]:
        """Stream the completion; the call lasts until the stream has ended or is closed."""
        async with self._call(messages) as meter, aclosing(stream_completion(self._model, messages)) as items:
            async for item in items:
                meter.add(item)
                yield item
