"""A limit on the token rate of chat models."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from threading import Lock
from weakref import WeakKeyDictionary

from quoteweave.core.chat.completions import ChatMessage
from quoteweave.core.chat.usage import UsageMeter, estimate_message_tokens
from quoteweave.core.protocols import ChatModel
from quoteweave.endpoints.chat_wrappers import MeteredChat

_NOTHING = 1e-6
"""Fewer tokens than this count as none, as they come from rounding."""


class TokenBucket:
    """A token bucket: it starts with one minute's tokens and refills evenly. Thread-safe."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = float(per_minute)
        self._clock = clock
        self._level, self._at = self._most, clock()
        self._lock = Lock()

    def take(self, tokens: int) -> float:
        """Take tokens and return 0, or return the seconds to wait.

        A request for more tokens than fit into the bucket is granted when the bucket is full, and leaves a debt.
        """
        with self._lock:
            now = self._clock()
            self._level = min(self._most, self._level + (now - self._at) * self._most / 60)
            self._at = now
            missing = min(tokens, self._most) - self._level
            if missing > _NOTHING:
                return missing * 60 / self._most
            self._level -= tokens
            return 0.0

    def correct(self, tokens: int) -> None:
        """Take more tokens without waiting, or give some back if the number is negative."""
        with self._lock:
            self._level -= tokens


class RateLimitedChat(MeteredChat):
    """Wraps a chat model whose calls take tokens from a bucket, which other models may share.

    Implements `core.protocols.StreamingChatModel`.

    Calls wait for their turn, in order. Tokens of both questions and answers count: those of a question are estimated
    before it is sent, and corrected afterwards by the endpoint's counts. `sleep` waits for seconds of the bucket's
    clock.
    """

    def __init__(
        self,
        model: ChatModel,
        bucket: TokenBucket,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__(model)
        self._bucket = bucket
        self._sleep = sleep
        self._queues: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()

    @asynccontextmanager
    async def _call(self, messages: Sequence[ChatMessage]) -> AsyncIterator[UsageMeter]:
        """Wait until a call may be made and take its estimated tokens, corrected at its end by the measured usage."""
        meter = UsageMeter(estimate_message_tokens(messages))
        # One lock for each event loop, as a lock belongs to one loop, and a model may be asked from several.
        async with self._queues.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            # Calls take tokens one after another; otherwise many small calls could keep a large one waiting forever.
            while pause := self._bucket.take(meter.input_tokens):
                await self._sleep(pause)
        try:
            yield meter
        finally:
            if (usage := meter.usage) is not None:
                tokens = (usage.input_tokens or 0) + (usage.output_tokens or 0)
                self._bucket.correct(tokens - meter.input_tokens)
