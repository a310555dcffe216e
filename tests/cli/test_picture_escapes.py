"""What terminals are sent for a picture, decoded again as they would."""

import base64
import re
from io import BytesIO

import numpy as np
import pytest
from drawn_pictures import from_kitty, from_sixel
from PIL import Image

from quoteweave.cli.terminal_pictures import iterm, kitty, sixel

RED, GREEN = (255, 0, 0), (0, 255, 0)


def two_colours(width: int, height: int) -> Image.Image:
    """Red, with a green corner and a green line from corner to corner."""
    pixels = np.full((height, width, 3), RED, np.uint8)
    pixels[: height // 3, : width // 2] = GREEN
    diagonal = np.arange(min(width, height))
    pixels[diagonal, diagonal] = GREEN
    return Image.fromarray(pixels)


def noise(width: int, height: int) -> Image.Image:
    return Image.fromarray(np.random.default_rng(1).integers(0, 256, (height, width, 3), np.uint8))


def same(one: Image.Image, other: Image.Image) -> bool:
    return one.size == other.size and one.convert("RGB").tobytes() == other.convert("RGB").tobytes()


@pytest.mark.parametrize("image", [two_colours(5, 4), noise(80, 61)], ids=["small", "in parts"])
def test_kitty_gets_the_same_pixels_in_parts_of_4096_characters(image: Image.Image) -> None:
    keys, payloads = from_kitty(kitty(image))
    assert keys[0] == {"a": "T", "f": "100", "q": "2", "m": str(int(len(keys) > 1))}
    assert [of.pop("m") for of in keys] == ["1"] * (len(keys) - 1) + ["0"]
    assert all(of == {"q": "2"} for of in keys[1:])
    assert {len(payload) for payload in payloads[:-1]} <= {4096}
    assert 0 < len(payloads[-1]) <= 4096
    assert same(Image.open(BytesIO(base64.b64decode("".join(payloads)))), image)


def test_the_large_picture_of_these_tests_takes_several_parts() -> None:
    assert len(from_kitty(kitty(noise(80, 61)))[1]) > 2


def test_iterm_gets_the_same_pixels_and_their_size() -> None:
    image = noise(30, 20)
    match = re.fullmatch(
        r"\x1b\]1337;File=inline=1;size=(\d+);width=3;height=2:([A-Za-z0-9+/=]+)\x07", iterm(image, 3, 2)
    )
    assert match is not None
    png = base64.b64decode(match[2])
    assert len(png) == int(match[1])
    assert same(Image.open(BytesIO(png)), image)


@pytest.mark.parametrize("size", [(1, 1), (7, 5), (6, 6), (40, 13), (300, 12)])
def test_sixel_gets_two_colours_as_they_are(size: tuple[int, int]) -> None:
    image = two_colours(*size)
    assert same(from_sixel(sixel(image)), image)


def test_sixel_writes_runs_by_their_length() -> None:
    assert len(sixel(Image.new("RGB", (2000, 6), RED))) < 60


def test_sixel_has_at_most_256_colours_and_comes_near_to_the_others() -> None:
    across, down = np.meshgrid(np.arange(0, 256, 4), np.arange(0, 256, 8))
    image = Image.fromarray(np.stack([across, down, (across + down) // 2], axis=2).astype(np.uint8))
    text = sixel(image)
    assert len(re.findall(r"#\d+;2;", text)) <= 256
    difference = np.abs(np.asarray(from_sixel(text)).astype(int) - np.asarray(image))
    assert (difference.mean() < 8, difference.max() < 48) == (True, True)
