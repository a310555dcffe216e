"""A picture like a photograph: a lighthouse at the end of a mole, at sunset."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from samples.raster import Floats, jpeg, mix, noise, to_image

WIDTH, HEIGHT = 1080, 640
HORIZON = 372
SUN = (330.0, 338.0)
# The foreground is drawn larger and scaled down, which smooths its edges.
SCALE = 3


def lighthouse_photo() -> bytes:
    """The picture as JPEG."""
    rng = np.random.default_rng(1907)
    ys, xs = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float64)
    scene = np.where((ys < HORIZON)[..., None], _sky(rng, xs, ys), _water(rng, xs, ys))
    scene = _headland(rng, scene, ys)
    front, mask = _foreground()
    picture = Image.composite(front, to_image(scene), mask)
    pixels = np.asarray(picture.filter(ImageFilter.GaussianBlur(0.6)), dtype=np.float64)
    return jpeg(to_image(_lens(rng, pixels, xs, ys)), 80)


def _ramp(t: Floats, stops: list[tuple[float, tuple[int, int, int]]]) -> Floats:
    """A gradient of colours through the stops."""
    places = [place for place, _ in stops]
    channels = [np.interp(t, places, [colour[c] for _, colour in stops]) for c in range(3)]
    return np.stack(channels, axis=-1)


def _sky(rng: np.random.Generator, xs: Floats, ys: Floats) -> Floats:
    stops = [(0.0, (44, 58, 98)), (0.45, (122, 104, 136)), (0.78, (226, 142, 104)), (1.0, (252, 200, 122))]
    sky = _ramp(ys / HORIZON, stops)
    distance = np.hypot(xs - SUN[0], ys - SUN[1])
    glow = np.full_like(sky, 1.0) * np.array([255.0, 222.0, 150.0])
    sky = mix(sky, glow, 0.75 * np.exp(-distance / 130.0))
    # Clouds are long and low: coarse cells across, fine cells down, and lit from below near the sun.
    clouds = np.clip((noise(rng, (HEIGHT, WIDTH), (9, 3)) - 0.52) * 3.2, 0.0, 1.0)
    clouds *= np.clip(1.15 - ys / HORIZON, 0.0, 1.0)
    lit = _ramp(np.exp(-distance / 320.0), [(0.0, (70, 68, 100)), (0.5, (196, 112, 104)), (1.0, (255, 176, 110))])
    sky = mix(sky, lit, clouds * 0.85)
    disk = np.full_like(sky, 1.0) * np.array([255.0, 244.0, 208.0])
    return mix(sky, disk, np.clip(21.0 - distance, 0.0, 1.0))


def _water(rng: np.random.Generator, xs: Floats, ys: Floats) -> Floats:
    depth = np.clip((ys - HORIZON) / (HEIGHT - HORIZON), 0.0, 1.0)
    stops = [(0.0, (226, 158, 118)), (0.15, (158, 118, 124)), (0.55, (76, 78, 108)), (1.0, (32, 42, 70))]
    water = _ramp(depth, stops)
    # Waves look flatter and closer towards the horizon, so the noise is read along a bent vertical axis.
    waves = noise(rng, (HEIGHT, WIDTH), (56, 5), 4)
    rows = (np.power(depth[:, 0], 0.55) * (HEIGHT - 1)).astype(int)
    waves = waves[rows, :]
    water += (waves - 0.5)[..., None] * (26 + 46 * depth)[..., None]
    width = 16 + 150 * depth
    path = np.exp(-(((xs - SUN[0]) / width) ** 2)) * np.clip((waves - 0.42) * 5.0, 0.0, 1.0)
    gold = np.full_like(water, 1.0) * np.array([255.0, 214.0, 140.0])
    return mix(water, gold, path * (0.95 - 0.45 * depth))


def _headland(rng: np.random.Generator, scene: Floats, ys: Floats) -> Floats:
    """Hills on the far shore, hazy with distance."""
    xs = np.arange(WIDTH)
    rough = noise(rng, (4, WIDTH), (1, 24), 4)[1]
    for start, height, colour in ((520, 46, (146, 104, 116)), (700, 66, (96, 76, 98))):
        slope = np.clip((xs - start) / 330.0, 0.0, 1.0)
        top = HORIZON - height * np.sqrt(slope) * (0.65 + 0.5 * rough)
        inside = np.clip(ys - top[None, :], 0.0, 1.0) * (ys < HORIZON)
        scene = mix(scene, np.full_like(scene, 1.0) * np.array(colour, dtype=np.float64), inside)
    return scene


def _foreground() -> tuple[Image.Image, Image.Image]:
    """The mole and the lighthouse, and the mask of where they stand."""
    size = (WIDTH * SCALE, HEIGHT * SCALE)
    picture, mask = Image.new("RGB", size, (40, 36, 48)), Image.new("L", size, 0)
    _mole(np.random.default_rng(41), picture, mask)
    _tower(ImageDraw.Draw(picture), ImageDraw.Draw(mask))
    small = (WIDTH, HEIGHT)
    return picture.resize(small, Image.Resampling.LANCZOS), mask.resize(small, Image.Resampling.LANCZOS)


def _scaled(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(x * SCALE, y * SCALE) for x, y in points]


def _mole(rng: np.random.Generator, picture: Image.Image, mask: Image.Image) -> None:
    ink, stencil = ImageDraw.Draw(picture), ImageDraw.Draw(mask)
    deck = _scaled([(668, 404), (780, 402), (WIDTH, 408), (WIDTH, 500), (900, 476), (668, 428)])
    ink.polygon(deck, fill=(74, 64, 72))
    stencil.polygon(deck, fill=255)
    ink.polygon(_scaled([(668, 404), (780, 402), (WIDTH, 408), (WIDTH, 420), (780, 410)]), fill=(142, 114, 106))
    # Armour blocks lie along the foot of the mole, larger towards the viewer.
    for number in range(130):
        along = (number / 130) ** 0.8
        x, y = 660 + along * 430, 424 + along * 72 + rng.normal(0.0, 4.0 + 9.0 * along)
        radius = 6 + 13 * along
        angles = np.sort(rng.random(6)) * 2 * np.pi
        block = [(x + radius * np.cos(a) * 1.25, y + radius * np.sin(a) * 0.8) for a in angles]
        light = int(rng.integers(44, 92))
        ink.polygon(_scaled(block), fill=(light + 12, light, light + 6))
        stencil.polygon(_scaled(block), fill=255)


def _tower(ink: ImageDraw.ImageDraw, stencil: ImageDraw.ImageDraw) -> None:
    middle, foot, top = 742.0, 404.0, 190.0
    bands = 7
    # Thin upright slices, each a little darker than the one to its left, make the tower look round.
    slices = 28
    for band in range(bands):
        low, high = foot - (foot - top) * band / bands, foot - (foot - top) * (band + 1) / bands
        base = (196, 52, 44) if band % 2 == 0 else (244, 232, 220)
        for part in range(slices):
            shade = 1.06 - 0.72 * (part / slices) ** 1.2
            corners = [
                (middle + _half(y) * (2 * p / slices - 1), y)
                for y, p in ((low, part), (low, part + 1), (high, part + 1), (high, part))
            ]
            ink.polygon(_scaled(corners), fill=tuple(min(255, int(c * shade)) for c in base))
    stencil.polygon(
        _scaled([(middle - _half(foot), foot), (middle + _half(foot), foot), (middle + 19, top), (middle - 19, top)]),
        fill=255,
    )
    parts: list[tuple[tuple[float, float, float, float], tuple[int, int, int]]] = [
        ((middle - 27, top - 6, middle + 27, top), (52, 46, 54)),
        ((middle - 13, top - 34, middle + 13, top - 6), (255, 232, 170)),
        ((middle - 15, top - 36, middle + 15, top - 33), (52, 46, 54)),
        ((middle - 1, top - 34, middle + 1, top - 6), (70, 58, 58)),
        ((middle - 5, foot - 24, middle + 5, foot), (58, 48, 50)),
        ((middle - 3, foot - 112, middle + 3, foot - 100), (58, 48, 50)),
    ]
    for (x0, y0, x1, y1), colour in parts:
        corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
        ink.polygon(_scaled(corners), fill=colour)
        stencil.polygon(_scaled(corners), fill=255)
    roof = _scaled([(middle - 17, top - 36), (middle + 17, top - 36), (middle + 2, top - 54), (middle - 2, top - 54)])
    ink.polygon(roof, fill=(150, 44, 40))
    stencil.polygon(roof, fill=255)


def _half(y: float) -> float:
    """Half the width of the tower at a height: it tapers upwards."""
    return 19.0 + 13.0 * (y - 190.0) / 214.0


def _lens(rng: np.random.Generator, pixels: Floats, xs: Floats, ys: Floats) -> Floats:
    """Darker corners, the glow of the lamp, and the grain of the film."""
    lamp = np.hypot(xs - 742.0, ys - 170.0)
    pixels = pixels + np.exp(-lamp / 26.0)[..., None] * np.array([120.0, 100.0, 60.0])
    corner = np.hypot((xs - WIDTH / 2) / WIDTH, (ys - HEIGHT / 2) / HEIGHT)
    pixels = pixels * (1.05 - 0.42 * corner**2)[..., None]
    return pixels + rng.normal(0.0, 2.4, pixels.shape[:2])[..., None]
