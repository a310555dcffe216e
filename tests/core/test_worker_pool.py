"""Many tasks with a limit on how many run at once."""

import asyncio
from collections.abc import Iterator

import pytest

from quoteweave.core.concurrency.pools import for_each


def test_never_more_at_once_and_each_once_in_order() -> None:
    begun, most, now = list[int](), 0, 0

    async def one(item: int) -> None:
        nonlocal most, now
        begun.append(item)
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.001 * (item % 3))
        now -= 1

    asyncio.run(for_each(range(20), one, concurrency=4))
    assert begun == list(range(20))
    assert (most, now) == (4, 0)


def test_an_item_is_taken_when_its_turn_comes() -> None:
    taken = list[int]()

    def items() -> Iterator[int]:
        for item in range(10):
            taken.append(item)
            yield item

    async def one(item: int) -> None:
        await asyncio.sleep(0)
        assert len(taken) <= item + 3

    asyncio.run(for_each(items(), one, concurrency=2))
    assert len(taken) == 10


@pytest.mark.parametrize("error", [ValueError, asyncio.CancelledError])
def test_an_error_cancels_the_others_and_is_raised_after_them(error: type[BaseException]) -> None:
    told = list[str]()

    async def one(item: int) -> None:
        if item == 2:
            raise error
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            told.append(f"{item} cleaned up")

    with pytest.raises(error):
        asyncio.run(for_each(range(9), one, concurrency=3))
    assert sorted(told) == ["0 cleaned up", "1 cleaned up"]


def test_nothing_to_do() -> None:
    async def one(_: int) -> None:
        raise AssertionError

    asyncio.run(for_each([], one, concurrency=3))
