"""Slices of pies and rings, paired with values that their angles confirm and with labels or a legend."""

import math
from collections.abc import Sequence

import pytest
from made_pages import WHITE, canvas, fill, line, picture

from quoteweave.core.boxes import Box
from quoteweave.documents.charts.pies import find_pie
from quoteweave.documents.charts.values import read_chart
from quoteweave.documents.sources.lines import Line
from quoteweave.documents.sources.raw_page import Pixels

CHART: Box = (50.0, 90.0, 500.0, 400.0)
MIDDLE, RADIUS = (170.0, 240.0), 80.0
COLOURS = ((78, 121, 167), (242, 142, 43), (225, 87, 89), (118, 183, 178))
SHARES = (("Road", 45), ("Rail", 25), ("River", 18), ("Air", 12))


def at(turn: float, radius: float) -> tuple[float, float]:
    """A point by its turn, 0 to 1 clockwise from the top, and its distance from the middle of the pie."""
    angle = 2 * math.pi * turn
    return MIDDLE[0] + radius * math.sin(angle), MIDDLE[1] - radius * math.cos(angle)


def centred(text: str, point: tuple[float, float]) -> Line:
    width = line(text, 0, 0).box[2]
    return line(text, point[0] - width / 2, point[1] - 5)


def pie(
    pixels: Pixels, shares: Sequence[int], *, inner: float = 0.0, colours: Sequence[Sequence[int]] = COLOURS
) -> None:
    """Draws slices with white lines between them."""
    import cv2

    centre, radius, start = (round(2 * MIDDLE[0]), round(2 * MIDDLE[1])), round(2 * RADIUS), -90.0
    for share, colour in zip(shares, colours, strict=True):
        end = start + 3.6 * share
        cv2.ellipse(pixels, centre, (radius, radius), 0, start, end, [*map(int, colour)], cv2.FILLED)
        start = end
    turn = 0.0
    for share in shares:
        x, y = at(turn, RADIUS)
        cv2.line(pixels, centre, (round(2 * x), round(2 * y)), WHITE, 2)
        turn += share / 100
    if inner:
        cv2.circle(pixels, centre, round(2 * inner), WHITE, cv2.FILLED)


def middles(shares: Sequence[int]) -> list[float]:
    return [(sum(shares[:number]) + share / 2) / 100 for number, share in enumerate(shares)]


def values(texts: Sequence[str], *, radius: float = 55.0) -> list[Line]:
    """A text in the middle of each slice."""
    return [centred(text, at(turn, radius)) for text, turn in zip(texts, middles([n for _, n in SHARES]), strict=True)]


def legend(pixels: Pixels, colours: Sequence[Sequence[int]] = COLOURS) -> list[Line]:
    lines = []
    for row, ((name, _), colour) in enumerate(zip(SHARES, colours, strict=True)):
        fill(pixels, (300, 200 + 18 * row, 308, 208 + 18 * row), colour)
        lines.append(line(name, 313, 199 + 18 * row))
    return lines


PERCENT = [f"{share}%" for _, share in SHARES]
ROWS = "Road | 45%\nRail | 25%\nRiver | 18%\nAir | 12%"


def text_of(pixels: Pixels, lines: Sequence[Line]) -> str | None:
    found = read_chart(picture(pixels), CHART, lines, lines)
    return None if found is None else found.text


@pytest.mark.parametrize("inner", [0.0, 35.0])
def test_percentages_on_slices_are_named_by_the_legend(inner: float) -> None:
    pixels = canvas()
    pie(pixels, [share for _, share in SHARES], inner=inner)
    assert text_of(pixels, [*values(PERCENT), *legend(pixels)]) == ROWS


def test_numbers_that_are_no_percentages_are_compared_with_their_sum() -> None:
    pixels = canvas()
    pie(pixels, [share for _, share in SHARES])
    text = text_of(pixels, [*values(["900", "500", "360", "240"]), *legend(pixels)])
    assert text == "Road | 900\nRail | 500\nRiver | 360\nAir | 240"


def test_zeros_on_slices_are_no_values() -> None:
    pixels = canvas()
    pie(pixels, [share for _, share in SHARES])
    assert text_of(pixels, [*values(["0", "0", "0", "0"]), *legend(pixels)]) is None


def test_labels_around_a_pie_name_the_slices_that_they_are_at() -> None:
    pixels = canvas()
    shares = [share for _, share in SHARES]
    pie(pixels, shares)
    names = [centred(name, at(turn, 100)) for (name, _), turn in zip(SHARES, middles(shares), strict=True)]
    assert text_of(pixels, [*values(PERCENT), *names]) == ROWS


@pytest.mark.parametrize("above", [True, False])
def test_a_title_is_the_name_of_no_slice(*, above: bool) -> None:
    """A large slice has its name in it and the others have theirs outside: the title stands outside the large one."""
    pixels = canvas()
    shares = [share for _, share in SHARES]
    pie(pixels, shares)
    turns = dict(zip(dict(SHARES), middles(shares), strict=True))
    names = [centred(name, at(turn, 30 if name == "Road" else 100)) for name, turn in turns.items()]
    title = centred("Freight in 2023", at(0.1 if above else 0.35, 105))
    assert text_of(pixels, [*values(PERCENT), *names, title]) is None


def test_two_slices_of_one_name_are_not_paired() -> None:
    pixels = canvas()
    shares = [share for _, share in SHARES]
    pie(pixels, shares)
    names = ["Other", "Rail", "Other", "Air"]
    outside = [centred(name, at(turn, 100)) for name, turn in zip(names, middles(shares), strict=True)]
    assert text_of(pixels, [*values(PERCENT), *outside]) is None


def test_labels_on_the_slices_name_them() -> None:
    pixels = canvas()
    shares = [share for _, share in SHARES]
    pie(pixels, shares)
    names = [line(name, one.box[0], one.box[1] - 11) for (name, _), one in zip(SHARES, values(PERCENT), strict=True)]
    assert text_of(pixels, [*values(PERCENT), *names]) == ROWS


def test_values_that_the_angles_deny_are_not_paired() -> None:
    pixels = canvas()
    pie(pixels, [share for _, share in SHARES])
    lines = [*values(["45%", "18%", "25%", "12%"]), *legend(pixels)]
    assert text_of(pixels, lines) is None


def test_a_total_in_a_ring_is_no_value_of_a_slice() -> None:
    pixels = canvas()
    pie(pixels, [share for _, share in SHARES], inner=40)
    lines = [*values(PERCENT, radius=62), centred("2,000", MIDDLE), *legend(pixels)]
    assert (text_of(pixels, lines) or "").startswith(ROWS)


def test_a_slice_without_a_value_or_without_a_name_leaves_the_pie_unpaired() -> None:
    pixels = canvas()
    pie(pixels, [share for _, share in SHARES])
    names = legend(pixels)
    assert text_of(pixels, [*values(PERCENT)[:3], *names]) is None
    assert text_of(pixels, [*values(PERCENT), *names[:3]]) is None


def test_a_legend_of_other_colours_does_not_name_slices() -> None:
    pixels = canvas()
    pie(pixels, [share for _, share in SHARES])
    others = [(30 * number, 10, 200) for number in range(4)]
    assert text_of(pixels, [*values(PERCENT), *legend(pixels, others)]) is None


def test_slices_of_one_colour_and_a_plain_disc_are_no_pie() -> None:
    pixels = canvas()
    pie(pixels, [share for _, share in SHARES], colours=[COLOURS[0], COLOURS[1], COLOURS[0], COLOURS[1]])
    assert find_pie(picture(pixels), CHART, []) is None
    pixels = canvas()
    pie(pixels, [100], colours=COLOURS[:1])
    assert find_pie(picture(pixels), CHART, []) is None
