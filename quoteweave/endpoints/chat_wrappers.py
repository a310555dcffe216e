"""What chat models that stand before others have in common."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing

from quoteweave.core.answers import Completion, Piece
from quoteweave.core.chat.streams import stream_of
from quoteweave.core.chat.token_estimates import Heard
from quoteweave.core.protocols import ChatModel


class WrappedChat:
    """Goes by the other model's name and settings."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """The other model's."""
        return self._model.name

    @property
    def settings(self) -> Mapping[str, object]:
        """The other model's; none where it tells none."""
        return settings_of(self._model)


class HeardChat(WrappedChat, ABC):
    """Asks the other model within a call of its own, which learns what was heard. Meets `StreamingChatModel`."""

    @abstractmethod
    def _call(self, messages: Sequence[Mapping[str, object]]) -> AbstractAsyncContextManager[Heard]:
        """Lasts from before the model is asked until its answer, or its stream, has ended."""

    async def complete(self, messages: Sequence[Mapping[str, object]]) -> Completion:
        """What the model answers. Raises what it raises, and what the call does."""
        async with self._call(messages) as heard:
            completion = await self._model.complete(messages)
            heard.add(completion)
            return completion

    async def stream(self, messages: Sequence[Mapping[str, object]]) -> AsyncGenerator[Piece | Completion, None]:
        """The same as it is written: a call is under way until its stream has ended, or is closed."""
        async with self._call(messages) as heard, aclosing(stream_of(self._model, messages)) as items:
            async for item in items:
                heard.add(item)
                yield item


def settings_of(model: ChatModel) -> Mapping[str, object]:
    """What a model says of its sampling and the like, in `settings`; none where it says nothing."""
    settings: Mapping[str, object] = getattr(model, "settings", {})
    return settings
