"""Threads for what would keep an event loop standing still: no more than there should be."""

import asyncio
import os
import threading

import pytest

from quoteweave.core.concurrency.pools import PoolName, run_in_pool


@pytest.mark.parametrize(("lane", "most"), [("answer", 1), ("search", os.cpu_count() or 1)])
def test_no_more_threads_work_at_once_than_a_lane_has(lane: PoolName, most: int) -> None:
    working, seen, changed, lane_is_full = 0, list[int](), threading.Condition(), threading.Barrier(most)

    def work() -> None:
        nonlocal working
        with changed:
            working += 1
            seen.append(working)
            changed.notify_all()
        lane_is_full.wait(30)
        with changed:
            changed.wait_for(lambda: working > most, timeout=0.05)  # one too many would come at once
            working -= 1

    async def together() -> None:
        await asyncio.gather(*(run_in_pool(lane, work) for _ in range(4 * most)))

    asyncio.run(together())
    assert (len(seen), max(seen)) == (4 * most, most)
