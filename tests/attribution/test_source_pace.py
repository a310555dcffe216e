"""No two requests with one key are closer to each other than the source allows, whoever asks."""

import asyncio
from threading import Thread

from scripted_sources import Time

from quoteweave.attribution.literature.sources.service import SourcePace, Timing, shared_pace
from quoteweave.endpoints.address import EndpointAddress


def test_64_callers_at_once_are_let_through_a_second_apart_in_the_order_in_which_they_came() -> None:
    time = Time()
    pace = SourcePace(time.timing())
    let_through: list[tuple[int, float]] = []

    async def call(number: int) -> None:
        await pace.wait(1.0)
        let_through.append((number, time.now))

    async def run() -> None:
        await asyncio.gather(*(call(number) for number in range(64)))

    asyncio.run(run())
    assert let_through == [(number, float(number)) for number in range(64)]


def test_one_who_was_let_through_late_brings_the_next_one_no_closer() -> None:
    time = Time()

    async def oversleep(seconds: float) -> None:
        await time.sleep(seconds + 0.3)

    pace = SourcePace(Timing(clock=lambda: time.now, sleep=oversleep))
    at: list[float] = []

    async def run() -> None:
        for _ in range(3):
            await pace.wait(1.0)
            at.append(round(time.now, 6))

    asyncio.run(run())
    assert at == [0.0, 1.3, 2.6]


def test_one_who_wakes_too_early_waits_on() -> None:
    time = Time()

    async def undersleep(seconds: float) -> None:
        await time.sleep(seconds if seconds < 0.01 else seconds * 0.9)

    pace = SourcePace(Timing(clock=lambda: time.now, sleep=undersleep))

    async def run() -> None:
        await pace.wait(1.0)
        await pace.wait(1.0)

    asyncio.run(run())
    assert time.now >= 1.0
    assert len(time.slept) > 1


def test_who_comes_later_than_the_interval_does_not_wait() -> None:
    time = Time()
    pace = SourcePace(time.timing())

    async def run() -> None:
        await pace.wait(1.0)
        time.now = 5.0
        await pace.wait(1.0)

    asyncio.run(run())
    assert time.slept == []


def test_a_caller_that_gives_up_leaves_its_turn_to_the_next() -> None:
    time = Time()
    pace = SourcePace(time.timing())
    at: list[float] = []

    async def call() -> None:
        await pace.wait(1.0)
        at.append(time.now)

    async def run() -> None:
        calls = [asyncio.create_task(call()) for _ in range(3)]
        await asyncio.sleep(0)
        calls[1].cancel()
        await asyncio.gather(*calls, return_exceptions=True)

    asyncio.run(run())
    assert at == [0.0, 1.0]


def test_nobody_is_let_through_while_the_source_wants_to_be_left_alone() -> None:
    time = Time()
    pace = SourcePace(time.timing())
    pace.hold(7.0)
    pace.hold(2.0)

    asyncio.run(pace.wait(1.0))
    assert time.now == 7.0


def test_callers_of_several_event_loops_share_the_pace() -> None:
    time = Time()
    pace = SourcePace(time.timing())

    def run() -> None:
        asyncio.run(pace.wait(1.0))

    for _ in range(3):
        thread = Thread(target=run)
        thread.start()
        thread.join()
    assert time.slept == [1.0, 1.0]


def test_all_who_use_one_key_at_one_address_share_one_pace() -> None:
    def pace(url: str, key: str) -> SourcePace:
        return shared_pace(EndpointAddress(url, key))

    first = pace("https://papers.example/graph/v1", "key-one-of-two")
    assert pace("https://papers.example/v2", "key-one-of-two") is first
    assert pace("https://papers.example/graph/v1", "key-two-of-two") is not first
    assert pace("https://others.example/graph/v1", "key-one-of-two") is not first
