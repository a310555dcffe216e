"""The estimate of the time that remains is steady where pages are unlike, and right where they are alike."""

import random

import pytest

from quoteweave.cli.progress import Estimate, in_words


def estimates(durations: list[float], *, before: int = 0, every: float = 0.5) -> list[tuple[float, float]]:
    """What is shown, and what it should be, twice a second while pages take these seconds each."""
    estimate, shown = Estimate(), []
    now, done, ends = 0.0, before, 0.0
    total, whole = before + len(durations), sum(durations)
    waiting = iter(durations)
    ends = next(waiting)
    while now < whole:
        while ends <= now:
            done, ends = done + 1, ends + next(waiting, whole)
        found = estimate.at(done, total, now)
        if found is not None:
            shown.append((found, whole - now))
        now += every
    return shown


def test_pages_that_are_alike_give_what_is_true() -> None:
    shown = estimates([0.2] * 1000)
    assert len(shown) > 330
    assert all(abs(found - true) < 0.02 * true + 2 for found, true in shown)


@pytest.mark.parametrize("seed", range(5))
def test_pages_that_are_unlike_do_not_shake_it(seed: int) -> None:
    """Digital pages of 40 ms and scans of 5 s, in documents of up to 40 pages: no half minute becomes many."""
    chance = random.Random(seed)
    durations: list[float] = []
    while len(durations) < 600:
        durations += [chance.choice((0.04, 0.04, 5.0))] * chance.randint(1, 40)
    shown = estimates(durations)
    found = [seconds for seconds, _ in shown]
    half_minutes = [max(a, b) / min(a, b) for a, b in zip(found, found[60:], strict=False) if min(a, b) > 60]
    assert max(half_minutes) < 5
    errors = sorted(max(seconds / true, true / seconds) for seconds, true in shown if true > 60)
    assert errors[len(errors) // 2] < 2.2


def test_pages_that_were_there_before_say_nothing_of_the_pace() -> None:
    shown = estimates([2.0] * 100, before=500)
    assert all(abs(found - true) < 0.15 * true + 5 for found, true in shown)


def test_nothing_is_said_before_anything_is_known() -> None:
    estimate = Estimate()
    assert estimate.at(0, 100, 0.0) is None
    assert estimate.at(50, 100, 1.0) is None
    assert estimate.at(2, 100, 20.0) is None
    assert estimate.at(50, 100, 21.0) == 21.0
    assert [in_words(seconds) for seconds in (None, 3.0, 89.0, 150.0, 7200.0)] == [
        "",
        "less than a minute left",
        "about 1 min left",
        "about 2 min left",
        "about 2.0 h left",
    ]
