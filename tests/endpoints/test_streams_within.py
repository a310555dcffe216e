"""Streams through what keeps, limits and pays for calls: over real HTTP, cut off and closed early too."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from quoteweave.core.answers import Usage
from quoteweave.core.chat.completions import Completion, CompletionDelta
from quoteweave.core.chat.streams import stream_completion
from quoteweave.core.chat.usage import Price
from quoteweave.core.errors import BudgetSpent, EndpointBadResponse, EndpointError, EndpointUnreachable
from quoteweave.core.protocols import ChatModel, StreamingChatModel
from quoteweave.endpoints.budget import Budget, BudgetedChat
from quoteweave.endpoints.call_cache import CachedChat
from quoteweave.endpoints.chat import OpenAIChat
from quoteweave.endpoints.rate_limits import RateLimitedChat, TokenBucket
from quoteweave.testing import ModelServer, Reply

HUNDRED = [{"role": "user", "content": "a" * 400}]
"""Tokens, as they are estimated."""
GREW = Reply(text="Sales grew.", reasoning="Hm.", sizes=(4,), usage=Usage(input_tokens=90, output_tokens=7))
CUT = Reply(text="Sales grew by far.", sizes=(4,), cut_after=3)
WAITS = Reply(text="Sales grew", sizes=(4,), delays_s=(0, 0, 600))

Wrap = Callable[[ChatModel, Path], ChatModel]
WRAPS: Sequence[Wrap] = (
    CachedChat,
    lambda chat, folder: RateLimitedChat(chat, TokenBucket(1000)),
    lambda chat, folder: BudgetedChat(chat, Budget(max_tokens=1000)),
    lambda chat, folder: CachedChat(RateLimitedChat(BudgetedChat(chat, Budget()), TokenBucket(1000)), folder),
)
wraps = pytest.mark.parametrize("wrap", WRAPS, ids=["calls", "limits", "spending", "all"])


class Whole:
    """A model that does not stream."""

    name = "whole"

    def request_settings(self) -> Mapping[str, object]:
        return {}

    async def complete(self, messages: Sequence[Mapping[str, object]]) -> Completion:
        return Completion(text="Yes.", reasoning="Hm.", model=self.name)


def at(server: ModelServer) -> OpenAIChat:
    return OpenAIChat("m", base_url=server.base_url, max_retries=0)


async def items_of(chat: ChatModel) -> list[CompletionDelta | Completion]:
    async with aclosing(stream_completion(chat, HUNDRED)) as stream:
        return [item async for item in stream]


async def first_of(chat: ChatModel) -> CompletionDelta | Completion:
    """The first piece of a stream that is closed then."""
    async with aclosing(stream_completion(chat, HUNDRED)) as stream:
        return await anext(stream)


@wraps
def test_pieces_come_as_they_are_sent_and_then_the_completion(wrap: Wrap, tmp_path: Path) -> None:
    with ModelServer([GREW]) as server:
        chat = wrap(at(server), tmp_path)
        assert isinstance(chat, StreamingChatModel)
        *pieces, last = asyncio.run(items_of(chat))
    assert [piece.text for piece in pieces if isinstance(piece, CompletionDelta)] == ["", "Sale", "s gr", "ew."]
    assert last == Completion(
        text="Sales grew.", reasoning="Hm.", model="m", finish_reason="stop", usage=GREW.usage or Usage()
    )


@wraps
def test_a_piece_is_there_before_the_next_is_sent(wrap: Wrap, tmp_path: Path) -> None:
    with ModelServer([WAITS]) as server:
        assert asyncio.run(first_of(wrap(at(server), tmp_path))) == CompletionDelta(text="Sale")


@wraps
def test_what_does_not_stream_comes_in_one_piece(wrap: Wrap, tmp_path: Path) -> None:
    said = [CompletionDelta(text="Yes.", reasoning="Hm."), Completion(text="Yes.", reasoning="Hm.", model="whole")]
    assert asyncio.run(items_of(Whole())) == asyncio.run(items_of(wrap(Whole(), tmp_path))) == said


@wraps
def test_a_stream_that_breaks_off_or_is_closed_leaves_room_for_the_next(wrap: Wrap, tmp_path: Path) -> None:
    async def three(server: ModelServer) -> list[CompletionDelta | Completion]:
        chat = wrap(at(server), tmp_path)
        with pytest.raises(EndpointUnreachable, match="broke off after 8 characters"):
            await items_of(chat)
        await first_of(chat)
        return await items_of(chat)

    with ModelServer([CUT, WAITS, GREW]) as server:
        *_, last = asyncio.run(three(server))
    assert isinstance(last, Completion)
    assert (last.text, len(server.requests)) == ("Sales grew.", 3)


def test_what_was_read_to_its_end_is_kept_for_both_ways_of_asking(tmp_path: Path) -> None:
    with ModelServer([GREW]) as server:
        *_, last = asyncio.run(items_of(CachedChat(at(server), tmp_path)))
    replay = CachedChat(OpenAIChat("m"), tmp_path)
    assert asyncio.run(replay.complete(HUNDRED)) == last
    assert asyncio.run(items_of(replay)) == [CompletionDelta(text="Sales grew.", reasoning="Hm."), last]


def test_what_was_not_read_to_its_end_is_not_kept(tmp_path: Path) -> None:
    with ModelServer([CUT, WAITS]) as server:
        with pytest.raises(EndpointUnreachable):
            asyncio.run(items_of(CachedChat(at(server), tmp_path)))
        asyncio.run(first_of(CachedChat(at(server), tmp_path)))
    assert list(tmp_path.iterdir()) == []


def test_of_equal_streams_at_the_same_time_one_is_asked_for(tmp_path: Path) -> None:
    async def both(chat: ChatModel) -> list[list[CompletionDelta | Completion]]:
        return list(await asyncio.gather(items_of(chat), items_of(chat)))

    with ModelServer([GREW]) as server:
        first, second = asyncio.run(both(CachedChat(at(server), tmp_path)))
    assert (len(first), len(second), len(server.requests)) == (5, 2, 1)
    assert first[-1] == second[-1]


@pytest.mark.parametrize(("read", "left"), [(items_of, 400 - 97), (first_of, 400 - 101)])
def test_a_minutes_tokens_are_put_right_by_what_came(read: Callable[[ChatModel], Awaitable[object]], left: int) -> None:
    """GREW takes 97 as it was counted; closed after `Hm.`, 100 for the question and 1 for that, as estimated."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        raise EndpointError("would wait")

    async def run(server: ModelServer) -> None:
        chat = RateLimitedChat(at(server), TokenBucket(400, lambda: 0.0), sleep=sleep)
        await read(chat)
        with pytest.raises(EndpointError, match="would wait"):
            await chat.complete([{"role": "user", "content": "a" * 4 * 400}])

    with ModelServer([GREW]) as server:
        asyncio.run(run(server))
    assert pauses == [pytest.approx((400 - left) * 60 / 400)]


@pytest.mark.parametrize(
    ("reply", "spent"),
    [(GREW, 97), (GREW.model_copy(update={"usage": None}), 100 + 4), (CUT, 100 + 2), (Reply(status=500), 0)],
    ids=["counted", "estimated", "cut", "refused"],
)
def test_what_a_stream_took_is_spent(reply: Reply, spent: int) -> None:
    budget = Budget(max_tokens=1000)
    with ModelServer([reply]) as server:
        chat = BudgetedChat(at(server), budget, price=Price(input=1, output=1))
        try:
            asyncio.run(items_of(chat))
        except EndpointUnreachable:
            assert reply.cut_after or reply.status == 500
    assert budget.spent.tokens == spent
    assert budget.spent.usd == pytest.approx(spent / 1e6)


def test_of_a_stream_that_is_closed_what_came_is_spent_and_the_rest_given_back() -> None:
    async def run(server: ModelServer) -> int:
        budget = Budget(max_tokens=250)
        chat = BudgetedChat(at(server), budget)
        async with aclosing(chat.stream(HUNDRED)) as one, aclosing(chat.stream(HUNDRED)) as two:
            await anext(one)
            await anext(two)
            with pytest.raises(BudgetSpent, match="under way"):
                await chat.complete(HUNDRED)
        budget.max_tokens = 303
        await chat.complete(HUNDRED)  # 101 each of the others: with what they had set aside, this would be too much
        return budget.spent.tokens

    with ModelServer([WAITS, WAITS, GREW]) as server:
        assert asyncio.run(run(server)) == 2 * 101 + 97


def test_an_answer_that_cannot_be_used_was_paid() -> None:
    budget = Budget()
    with ModelServer([Reply(text=" "), Reply(empty=True)]) as server:
        for _ in range(2):
            with pytest.raises(EndpointBadResponse):
                asyncio.run(items_of(BudgetedChat(at(server), budget)))
    assert budget.spent.tokens == (100 + 1) + 100
