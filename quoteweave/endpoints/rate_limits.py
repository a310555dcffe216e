"""Limits on the concurrency and the token rate of a chat model."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from threading import Lock
from weakref import WeakKeyDictionary

from quoteweave.core.chat.tokens import UsageMeter, estimate_message_tokens
from quoteweave.core.errors import UsageError
from quoteweave.core.protocols import ChatModel
from quoteweave.endpoints.chat_wrappers import MeteredChat

_NOTHING = 1e-6
"""Tokens; what is less comes of rounding."""


class TokenBucket:
    """A token bucket: it starts with one minute's tokens and refills evenly. Thread-safe."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = float(per_minute)
        self._clock = clock
        self._level, self._at = self._most, clock()
        self._lock = Lock()

    def take(self, tokens: int) -> float:
        """Take tokens and return 0, or return the seconds to wait. A request for more than its size is granted when
        it is full, and leaves a debt."""
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


@dataclass(frozen=True, slots=True)
class _LoopLimits:
    calls: asyncio.Semaphore | None
    queue: asyncio.Lock


class RateLimitedChat(MeteredChat):
    """Wraps a chat model, with at most `concurrency` calls at once and a limited number of tokens per minute.

    Meets `core.protocols.StreamingChatModel`. Calls wait for their turn, in order, and a stream is under way until its
    end. Tokens are of questions and answers: those of a question are estimated before it is sent, and put right by what
    the endpoint counted. The number of calls is of each event loop, tokens are of all. A
    `bucket` is shared with other models. `clock` tells seconds, and
    `sleep` waits for them. Raises UsageError for a limit that nothing passes.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        concurrency: int | None = None,
        tokens_per_minute: int | None = None,
        bucket: TokenBucket | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        for name, limit in (("concurrency", concurrency), ("tokens_per_minute", tokens_per_minute)):
            if limit is not None and limit < 1:
                raise UsageError(f"{name} is {limit}; set it to 1 or more, or leave it out for no limit")
        super().__init__(model)
        self._concurrency = concurrency
        self._bucket = bucket if tokens_per_minute is None else TokenBucket(tokens_per_minute, clock)
        self._sleep = sleep
        self._gates: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopLimits] = WeakKeyDictionary()

    @asynccontextmanager
    async def _call(self, messages: Sequence[Mapping[str, object]]) -> AsyncIterator[UsageMeter]:
        """Wait until a call may be made and take its estimated tokens, corrected at its end by the measured usage."""
        gate, meter = self._gate(), UsageMeter(estimate_message_tokens(messages))
        async with gate.calls or nullcontext():
            await self._take(meter.input_tokens, gate.queue)
            try:
                yield meter
            finally:
                if self._bucket is not None and (took := meter.usage) is not None:
                    tokens = (took.input_tokens or 0) + (took.output_tokens or 0)
                    self._bucket.correct(tokens - meter.input_tokens)

    async def _take(self, tokens: int, queue: asyncio.Lock) -> None:
        if self._bucket is None:
            return
        async with queue:  # else many small calls would keep a large one waiting for ever
            while pause := self._bucket.take(tokens):
                await self._sleep(pause)

    def _gate(self) -> _LoopLimits:
        # Semaphores and locks belong to the loop that first waits for them, and a model may be asked from several.
        loop = asyncio.get_running_loop()
        gate = self._gates.get(loop)
        if gate is None:
            calls = None if self._concurrency is None else asyncio.Semaphore(self._concurrency)
            gate = self._gates[loop] = _LoopLimits(calls, asyncio.Lock())
        return gate
