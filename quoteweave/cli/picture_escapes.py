"""Escape sequences that draw a picture in a terminal: Kitty's graphics protocol, iTerm2's inline images, sixel.

Each is ASCII text, and leaves the cursor on the last line of the picture.
"""

import base64
import re
from typing import TYPE_CHECKING

from quoteweave.core.files.pictures import encoded

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image

ESC = "\x1b"
END = f"{ESC}\\"
# Characters of base64 in one sequence, as Kitty's protocol limits them.
CHUNK = 4096
COLOURS = 256
# Pixels above one another in one character.
BAND = 6
# From four on, a repeated character is shorter as "!", how often, and the character.
_RUN = re.compile(r"(.)\1{3,}")


def kitty(image: "Image") -> str:
    """The picture at its own size in pixels, as PNG. The terminal is told to answer nothing."""
    data = base64.b64encode(encoded(image, "PNG")).decode()
    parts = [data[start : start + CHUNK] for start in range(0, len(data), CHUNK)]
    keys = ["a=T,f=100,q=2", *["q=2"] * (len(parts) - 1)]
    more = [1] * (len(parts) - 1) + [0]
    return "".join(
        f"{ESC}_G{key},m={goes_on};{part}{END}" for key, goes_on, part in zip(keys, more, parts, strict=True)
    )


def iterm(image: "Image", columns: int, rows: int) -> str:
    """The picture as PNG, as large as that many cells hold without changing its proportions."""
    png = encoded(image, "PNG")
    keys = f"inline=1;size={len(png)};width={columns};height={rows}"
    return f"{ESC}]1337;File={keys}:{base64.b64encode(png).decode()}\a"


def sixel(image: "Image") -> str:
    """The picture at its own size in pixels, in `COLOURS` colours at most."""
    import numpy as np

    reduced = image.convert("RGB").quantize(COLOURS)
    indices, palette = np.asarray(reduced), reduced.getpalette() or []
    colours = "".join(_colour(index, palette) for index in np.unique(indices).tolist())
    bands = "-".join(_band(indices[top : top + BAND]) for top in range(0, reduced.height, BAND))
    return f'{ESC}Pq"1;1;{reduced.width};{reduced.height}{colours}{bands}{END}'


def _colour(index: int, palette: list[int]) -> str:
    """The definition of a colour: red, green and blue in per cent."""
    red, green, blue = (round(value * 100 / 255) for value in palette[3 * index : 3 * index + 3])
    return f"#{index};2;{red};{green};{blue}"


def _band(indices: "np.ndarray") -> str:
    """Up to `BAND` rows: for each colour a line of characters, whose bits say which of the rows have it."""
    import numpy as np

    colours, places = np.unique(indices, return_inverse=True)
    bits = np.zeros((len(colours), indices.shape[1]), np.uint8)
    columns = np.arange(indices.shape[1])
    for row, of in enumerate(places.reshape(indices.shape)):
        bits[of, columns] |= 1 << row
    lines = []
    for colour, line in zip(colours.tolist(), bits + ord("?"), strict=True):
        text = line.tobytes().decode("ascii").rstrip("?")
        lines.append(f"#{colour}" + _RUN.sub(lambda run: f"!{len(run[0])}{run[1]}", text))
    return "$".join(lines)
