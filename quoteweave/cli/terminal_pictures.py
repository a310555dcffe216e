"""Pictures of answers in a terminal: the protocol (Kitty, iTerm2 or sixel), their size, and their escape sequences.

Each sequence is ASCII text and leaves the cursor on the last line of the picture.
"""

import base64
import math
import os
import shutil
import struct
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import QuoteweaveError
from quoteweave.core.files.pictures import encode_picture
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.pipeline.pictures_for_models import CollectionPictures

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image

ESC = "\x1b"
END = f"{ESC}\\"
# Characters of base64 in one sequence, the limit of Kitty's protocol.
CHUNK = 4096
COLOURS = 256
# Rows of pixels in one character of sixel.
BAND = 6
# Runs of four or more equal characters, which are shorter when written as "!", the count, and the character.
_RUN = lazy_regex(r"(.)\1{3,}")


def kitty(image: "Image") -> str:
    """The picture at its own size in pixels, as PNG. The sequence tells the terminal not to reply."""
    encoded = base64.b64encode(encode_picture(image, "PNG")).decode()
    parts = [encoded[start : start + CHUNK] for start in range(0, len(encoded), CHUNK)]
    keys = ["a=T,f=100,q=2", *["q=2"] * (len(parts) - 1)]
    continues = [1] * (len(parts) - 1) + [0]
    return "".join(
        f"{ESC}_G{key},m={goes_on};{part}{END}" for key, goes_on, part in zip(keys, continues, parts, strict=True)
    )


def iterm(image: "Image", columns: int, rows: int) -> str:
    """The picture as PNG, as large as fits into so many cells without changing its proportions."""
    png = encode_picture(image, "PNG")
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
    """The sequence that defines a colour: red, green and blue in per cent."""
    red, green, blue = (round(value * 100 / 255) for value in palette[3 * index : 3 * index + 3])
    return f"#{index};2;{red};{green};{blue}"


def _band(indices: "np.ndarray") -> str:
    """Up to `BAND` rows of pixels: a line of characters for each colour, whose bits say which rows have the colour."""
    import numpy as np

    colours, colour_indices = np.unique(indices, return_inverse=True)
    bits = np.zeros((len(colours), indices.shape[1]), np.uint8)
    columns = np.arange(indices.shape[1])
    for row, row_colours in enumerate(colour_indices.reshape(indices.shape)):
        bits[row_colours, columns] |= 1 << row
    lines = []
    for colour, line in zip(colours.tolist(), bits + ord("?"), strict=True):
        text = line.tobytes().decode("ascii").rstrip("?")
        lines.append(f"#{colour}" + _RUN.sub(lambda run: f"!{len(run[0])}{run[1]}", text))
    return "$".join(lines)


MAX_ROWS = 24
# A photograph of so many pixels takes more than a megabyte, and a second or two to encode as sixel.
MAX_PIXELS = 800_000


PicturesName = Literal["auto", "kitty", "iterm", "sixel", "off"]
"""The protocol by which pictures are shown."""

PicturesOption = Annotated[
    PicturesName,
    typer.Option("--pictures", envvar="QUOTEWEAVE_PICTURES", help="How the terminal shows pictures of the answer."),
]

# Variables of programs that are terminals within a terminal, and take no pictures or only some protocols.
NESTING_VARIABLES = ("TMUX", "STY", "ZELLIJ", "NVIM", "VIM_TERMINAL", "INSIDE_EMACS")
# TERM comes first, as the terminal itself sets it; it may have inherited other variables from another terminal.
BY_TERM: Mapping[str, PicturesName] = {
    "xterm-kitty": "kitty",
    "xterm-ghostty": "kitty",
    "wezterm": "iterm",
    "foot": "sixel",
    "mlterm": "sixel",
}
BY_PROGRAM: Mapping[str, PicturesName] = {
    "kitty": "kitty",
    "ghostty": "kitty",
    "iTerm.app": "iterm",
    # WezTerm knows all three protocols, and this one best: docs/decisions/0015-pictures-in-terminals.md.
    "WezTerm": "iterm",
    "mintty": "iterm",
}
BY_VARIABLE: Mapping[str, PicturesName] = {
    "KITTY_WINDOW_ID": "kitty",
    "GHOSTTY_RESOURCES_DIR": "kitty",
    "KONSOLE_VERSION": "kitty",
    "WT_SESSION": "sixel",
}
# The first version of Konsole that shows pictures, 22.04.
KONSOLE = 220400


class Screen(NamedTuple):
    """A terminal's size in cells, and that of a cell in pixels."""

    columns: int
    rows: int
    cell_width: int
    cell_height: int


# The size of cells in pixels that is assumed if a terminal does not report it. Few are smaller, so that pictures fit.
USUAL_CELL = (8, 16)


def protocol_of(environment: Mapping[str, str]) -> PicturesName:
    """The protocol for a terminal with that environment; OFF if it is not known to show pictures, or should not."""
    term, program = environment.get("TERM", ""), environment.get("TERM_PROGRAM")
    nested = term.startswith(("tmux", "screen")) or any(environment.get(name) for name in NESTING_VARIABLES)
    if nested or term == "dumb" or environment.get("NO_COLOR"):
        return "off"
    for start, protocol in BY_TERM.items():
        if term.startswith(start):
            return protocol
    if program:
        return BY_PROGRAM.get(program, "off")
    variable = next((name for name in BY_VARIABLE if environment.get(name)), None)
    if variable is None or (variable == "KONSOLE_VERSION" and not _is_recent(environment[variable])):
        return "off"
    return BY_VARIABLE[variable]


def _is_recent(version: str) -> bool:
    return version.isdecimal() and int(version) >= KONSOLE


CropOf = Callable[[str], "Image | None"]
"""Returns the crop of an image quote, given its id; None if there is none to show."""


def stored_crops_of(collection: Collection) -> CropOf:
    """Return a function that gives a collection's stored crops."""

    def crop(quote_id: str) -> "Image | None":
        quote = collection.quote(quote_id)
        return CollectionPictures(collection).crop(quote) if quote.image is not None else None

    return crop


def pictures_on_stdout(name: PicturesName, crop_of: CropOf) -> Callable[[str], None] | None:
    """Return a function that shows the crop of an image quote, given its id; None if stdout is to get only text.

    This is always so if stdout is no terminal, or if TERM is `dumb`.
    """
    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return None
    protocol = protocol_of(os.environ) if name == "auto" else name
    return None if protocol == "off" else _PictureWriter(crop_of, protocol)


class _PictureWriter:
    """Writes crops to stdout, which is a terminal."""

    def __init__(self, crop_of: CropOf, protocol: PicturesName) -> None:
        self._crop_of, self._protocol = crop_of, protocol

    def __call__(self, quote_id: str) -> None:
        """Write the crop; write nothing if there is none or it cannot be read, which is reported elsewhere."""
        try:
            crop = self._crop_of(quote_id)
        except QuoteweaveError:
            return
        if crop is not None:
            sys.stdout.write(f"{picture_sequences(crop, self._protocol, screen_of(sys.stdout))}\n")
            sys.stdout.flush()


def screen_of(stream: IO[str]) -> Screen:
    """The size of the terminal that the stream writes to."""
    columns, rows = shutil.get_terminal_size()
    width = height = 0
    with suppress(ImportError, OSError):  # Windows lacks this call, and the stream may be no terminal
        import fcntl
        import termios

        sizes = struct.unpack("4H", fcntl.ioctl(stream.fileno(), termios.TIOCGWINSZ, bytes(8)))
        defaults = (rows, columns, 0, 0)
        rows, columns, width, height = (size or default for size, default in zip(sizes, defaults, strict=True))
    cell = (width // columns, height // rows)
    return Screen(columns, rows, *(cell if min(cell) > 1 else USUAL_CELL))


def picture_sequences(crop: "Image", protocol: PicturesName, screen: Screen) -> str:
    """The escape sequences of the crop, shrunk to fit the screen, `MAX_ROWS` and `MAX_PIXELS`.

    It is never enlarged. Raises ValueError for another protocol than Kitty's, iTerm2's or sixel.
    """
    from PIL.Image import Resampling

    # One column is left free, as terminals differ in where the cursor is after a picture of full width; two rows are
    # left for text.
    columns, rows = max(1, screen.columns - 1), max(1, min(MAX_ROWS, screen.rows - 2))
    width, height = crop.size
    fits = columns * screen.cell_width / width, rows * screen.cell_height / height
    scale = min(1.0, *fits, math.sqrt(MAX_PIXELS / (width * height)))
    image = crop.resize((max(1, round(width * scale)), max(1, round(height * scale))), Resampling.LANCZOS)
    if protocol == "kitty":
        return kitty(image)
    if protocol == "iterm":
        return iterm(image, max(1, image.width // screen.cell_width), math.ceil(image.height / screen.cell_height))
    if protocol == "sixel":
        return sixel(image)
    raise ValueError(f"{protocol} is no protocol")
