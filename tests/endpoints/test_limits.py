"""How many tokens a minute calls take; on a clock of its own, without waiting."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from quoteweave.core.answers import Usage
from quoteweave.core.chat.completions import Completion
from quoteweave.core.protocols import ChatModel
from quoteweave.endpoints.rate_limits import RateLimitedChat, TokenBucket
from quoteweave.testing.fakes import FakeChat


class Time:
    """Passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


class Counted:
    """Says that each call took so many tokens, and notes when it was asked what."""

    def __init__(self, time: Time, usage: Usage) -> None:
        self.name = "counted"
        self.asked: list[tuple[float, str]] = []
        self._time, self._usage = time, usage

    def request_settings(self) -> Mapping[str, object]:
        return {}

    async def complete(self, messages: Sequence[Mapping[str, object]]) -> Completion:
        self.asked.append((self._time.now, str(messages[0]["content"])[:1]))
        return Completion(text="", model=self.name, usage=self._usage)


def words(tokens: int, letter: str = "a") -> list[dict[str, object]]:
    return [{"role": "user", "content": letter * 4 * tokens}]


async def ask_in_turn(chat: ChatModel, *sizes: int) -> None:
    for size in sizes:
        await chat.complete(words(size))


def test_one_model_serves_one_event_loop_after_another() -> None:
    chat = RateLimitedChat(FakeChat(["x"] * 6), TokenBucket(1000))

    async def three() -> int:
        return len(await asyncio.gather(*(chat.complete(words(1)) for _ in range(3))))

    assert asyncio.run(three()) + asyncio.run(three()) == 6


def test_tokens_beyond_a_minutes_wait_until_they_have_filled_up() -> None:
    time = Time()
    model = Counted(time, Usage(input_tokens=40, output_tokens=0))
    chat = RateLimitedChat(model, TokenBucket(60, time), sleep=time.sleep)
    asyncio.run(ask_in_turn(chat, 40, 40, 40))
    # 60 to begin with: 20 are left, so that 20 s bring the next 40, and 40 s those after.
    assert [at for at, _ in model.asked] == pytest.approx([0, 20, 60])


def test_what_the_endpoint_counts_puts_the_estimate_right() -> None:
    time = Time()
    more = Counted(time, Usage(input_tokens=10, output_tokens=80))
    asyncio.run(ask_in_turn(RateLimitedChat(more, TokenBucket(60, time), sleep=time.sleep), 10, 10))
    assert [at for at, _ in more.asked] == pytest.approx([0, 40])  # 30 too many were taken, and 10 are wanted
    less = Counted(time, Usage(input_tokens=1, output_tokens=1))
    time.slept.clear()
    asyncio.run(ask_in_turn(RateLimitedChat(less, TokenBucket(60, time), sleep=time.sleep), 50, 50, 50))
    assert time.slept == []


def test_a_call_of_more_than_a_minutes_tokens_is_made_when_nothing_else_was() -> None:
    time = Time()
    model = Counted(time, Usage(input_tokens=120, output_tokens=0))
    asyncio.run(ask_in_turn(RateLimitedChat(model, TokenBucket(60, time), sleep=time.sleep), 120, 120))
    assert [at for at, _ in model.asked] == pytest.approx([0, 120])


def test_calls_keep_their_order_so_that_a_large_one_is_not_passed_by_for_ever() -> None:
    time = Time()
    model = Counted(time, Usage())
    chat = RateLimitedChat(model, TokenBucket(60, time), sleep=time.sleep)

    async def run() -> None:
        asked = (words(50, "a"), words(60, "b"), words(1, "c"), words(1, "d"))
        await asyncio.gather(*(chat.complete(each) for each in asked))

    asyncio.run(run())
    assert "".join(letter for _, letter in model.asked) == "abcd"


def test_a_bucket_does_not_fill_up_beyond_a_minute() -> None:
    time = Time()
    bucket = TokenBucket(60, time)
    time.now = 1000.0
    assert bucket.take(60) == 0
    assert bucket.take(30) == pytest.approx(30)
    bucket.correct(-30)
    assert bucket.take(30) == 0


def test_name_and_settings_are_the_models_own() -> None:
    model = FakeChat([], name="m")
    limited = RateLimitedChat(model, TokenBucket(60))
    assert (limited.name, limited.request_settings()) == ("m", {})
