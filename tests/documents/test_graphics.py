"""What a drawn page shows besides its text."""

import numpy as np
import pytest
from made_pages import GREY, WHITE, canvas, fill, grid, ink_words, line, picture, prose, scatter

from quoteweave.core.boxes import Box, iou
from quoteweave.documents.layout.analyse import analyse_layout
from quoteweave.documents.layout.graphics import MAX_CLUSTERS, find_graphics
from quoteweave.documents.sources.raw_page import Raster


def rounded(boxes: tuple[Box, ...]) -> list[tuple[int, ...]]:
    return sorted(tuple(round(edge) for edge in box) for box in boxes)


def test_an_empty_page_shows_nothing() -> None:
    graphics = find_graphics(picture(canvas()), [])
    assert (graphics.horizontal, graphics.vertical, graphics.clusters) == ((), (), ())


def test_text_is_no_drawing_and_no_rule() -> None:
    pixels, lines = canvas(), prose(50, 100)
    ink_words(pixels, lines)
    graphics = find_graphics(picture(pixels), lines)
    assert (graphics.horizontal, graphics.vertical, graphics.clusters) == ((), (), ())


def test_rules_are_found_and_are_no_clusters() -> None:
    pixels = canvas()
    fill(pixels, (50, 100, 300, 100.5))
    fill(pixels, (400, 100, 401, 300), (120, 120, 220))
    graphics = find_graphics(picture(pixels), [])
    assert rounded(graphics.horizontal) == [(50, 100, 300, 101)]
    assert rounded(graphics.vertical) == [(400, 100, 401, 300)]
    assert graphics.clusters == ()


def test_short_strokes_are_no_rules() -> None:
    pixels = canvas()
    fill(pixels, (50, 100, 70, 101))
    assert find_graphics(picture(pixels), []).horizontal == ()


def test_rules_that_cross_are_not_broken_where_they_meet() -> None:
    pixels = canvas()
    grid(pixels, [50, 100, 150], [100, 130, 160])
    graphics = find_graphics(picture(pixels), [])
    assert rounded(graphics.horizontal) == [(50, y, 151, y + 1) for y in (100, 130, 160)]
    assert rounded(graphics.vertical) == [(x, 100, x + 1, 161) for x in (50, 100, 150)]


def test_rules_on_a_shade_are_found_and_the_shade_ends_like_rules() -> None:
    pixels = canvas()
    fill(pixels, (50, 100, 350, 160), GREY)
    fill(pixels, (50, 130, 350, 130.5))
    words = [line("Month Tonnes", 60, 107)]
    ink_words(pixels, words)
    ys = [round(rule[1]) for rule in find_graphics(picture(pixels), words).horizontal]
    assert sorted(ys) == [100, 130, 159]


def test_light_rules_on_a_dark_page_are_found() -> None:
    pixels = canvas(colour=(20, 30, 60))
    fill(pixels, (50, 100, 300, 101), WHITE)
    assert rounded(find_graphics(picture(pixels), []).horizontal) == [(50, 100, 300, 101)]


def test_an_underline_belongs_to_its_words() -> None:
    pixels, lines = canvas(), [line("see the harbour report", 50, 100)]
    ink_words(pixels, lines)
    fill(pixels, (50, 109, 150, 109.5))
    assert find_graphics(picture(pixels), lines).horizontal == ()


def test_ink_that_stands_close_is_one_cluster_and_ink_further_away_another() -> None:
    pixels = canvas()
    scatter(pixels, (100, 100, 180, 180))
    scatter(pixels, (188, 100, 268, 180))
    scatter(pixels, (400, 400, 480, 480))
    one, other = sorted(find_graphics(picture(pixels), []).clusters)
    assert iou(one, (100, 100, 268, 180)) > 0.95
    assert iou(other, (400, 400, 480, 480)) > 0.95


def test_a_cluster_at_the_pages_edge_keeps_its_box() -> None:
    pixels = canvas()
    scatter(pixels, (0, 0, 80, 80))
    assert iou(find_graphics(picture(pixels), []).clusters[0], (0, 0, 80, 80)) > 0.95


def test_icons_are_left_out() -> None:
    pixels = canvas()
    fill(pixels, (100, 100, 112, 112))
    assert find_graphics(picture(pixels), []).clusters == ()


def test_a_band_along_the_edge_is_background_and_so_is_the_pages_own_colour() -> None:
    pixels = canvas(colour=(200, 220, 240))
    fill(pixels, (0, 0, 600, 60), (30, 60, 120))
    scatter(pixels, (200, 300, 300, 400))
    clusters = find_graphics(picture(pixels), []).clusters
    assert len(clusters) == 1
    assert iou(clusters[0], (200, 300, 300, 400)) > 0.95


def test_a_pattern_of_hundreds_of_pieces_is_bounded() -> None:
    pixels = canvas()
    for x in range(5, 570, 34):
        for y in range(5, 770, 34):
            fill(pixels, (x, y, x + 23, y + 23))
    assert len(find_graphics(picture(pixels), []).clusters) == MAX_CLUSTERS


@pytest.mark.parametrize(("side", "told"), [(6, True), (1, False)], ids=["dots", "dust"])
def test_small_drawings_beyond_the_limit_are_told_and_dust_is_not(side: int, told: bool) -> None:
    pixels = canvas()
    for x in range(5, 570, 24):
        for y in range(5, 770, 24):
            fill(pixels, (x, y, x + side, y + side))
    layout = analyse_layout([], picture(pixels), (600.0, 800.0))
    count = len(range(5, 570, 24)) * len(range(5, 770, 24)) - MAX_CLUSTERS
    said = (f"has more than {MAX_CLUSTERS} small drawings: the {count} smallest were left out",)
    assert layout.left_out == (said if told else ())


@pytest.mark.parametrize("shape", [(1, 1), (1, 3000), (3000, 1), (5, 7)])
@pytest.mark.parametrize("scale", [2.0, 0.01, 50.0])
def test_pictures_of_any_shape_and_scale_are_read(shape: tuple[int, int], scale: float) -> None:
    pixels = np.zeros((*shape, 3), dtype=np.uint8)
    find_graphics(Raster(pixels, scale), [line("a", 0, 0)])


def test_a_page_of_200_inches_gives_boxes_in_points() -> None:
    pixels = np.full((4000, 4000, 3), 255, dtype=np.uint8)
    pixels[1000:2000, 1000:3000] = np.random.default_rng(1).integers(0, 255, (1000, 2000, 3))
    (cluster,) = find_graphics(Raster(pixels, 4000 / 14400), []).clusters
    assert iou(cluster, (3600, 3600, 10800, 7200)) > 0.98
