"""Decodes what terminals are sent for pictures."""

import re

import numpy as np
from PIL import Image


def from_kitty(text: str) -> tuple[list[dict[str, str]], list[str]]:
    """Keys and payloads of the sequences of Kitty's graphics protocol, between which there must be nothing."""
    parts = re.findall(r"\x1b_G([^;]*);([A-Za-z0-9+/=]*)\x1b\\", text)
    assert "".join(f"\x1b_G{keys};{payload}\x1b\\" for keys, payload in parts) == text
    pairs = [[pair.partition("=") for pair in keys.split(",")] for keys, _ in parts]
    return [{key: value for key, _, value in of} for of in pairs], [payload for _, payload in parts]


def from_sixel(text: str) -> Image.Image:
    """The picture of a sixel sequence, whose colours are in per cent. What is not drawn is blue."""
    match = re.fullmatch(r'\x1bPq"1;1;(\d+);(\d+)([!-~]*)\x1b\\', text)
    assert match is not None
    width, height = int(match[1]), int(match[2])
    pixels = np.full((height + 5, width, 3), (0, 0, 255), np.uint8)
    palette: dict[int, tuple[int, ...]] = {}
    x = y = colour = 0
    for token in re.finditer(r"#(\d+)(?:;2;(\d+);(\d+);(\d+))?|!(\d+)([?-~])|([?-~])|(\$)|(-)", match[3]):
        index, *percents, count, repeated, single, back, down = token.groups()
        if index is not None:
            colour = int(index)
            if percents[0] is not None:
                palette[colour] = tuple(round(int(value) * 255 / 100) for value in percents)
        elif back or down:
            x, y = 0, y + 6 * bool(down)
        else:
            bits, times = ord(repeated or single) - 63, int(count or 1)
            for row in range(6):
                if bits >> row & 1:
                    pixels[y + row, x : x + times] = palette[colour]
            x += times
            assert x <= width
    return Image.fromarray(pixels[:height])
