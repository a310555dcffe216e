"""A page as read from its file, before layout analysis: its rendered picture and the lines of its text layer."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from quoteweave.core.boxes import Box
from quoteweave.core.records import Rotation
from quoteweave.documents.sources.bookmarks import Bookmark
from quoteweave.documents.sources.lines import Line

Pixels = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Raster:
    """A rendered page: pixels (height, width, 3) in RGB, and the number of pixels per point."""

    pixels: Pixels
    scale: float

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in points."""
        height, width = (side / self.scale for side in self.pixels.shape[:2])
        return width, height

    def turned(self, turns: int) -> "Raster":
        """The picture after quarter turns, counter-clockwise."""
        return Raster(np.ascontiguousarray(np.rot90(self.pixels, turns)), self.scale) if turns else self

    def cut(self, box: Box, margin: float = 0.0) -> Pixels:
        """The pixels of a box given in points; at least one pixel."""
        height, width = self.pixels.shape[:2]
        x1, y1 = (max(0, int((edge - margin) * self.scale)) for edge in box[:2])
        x2, y2 = (int((edge + margin) * self.scale + 0.999) for edge in box[2:])
        x1, y1 = min(x1, width - 1), min(y1, height - 1)
        return self.pixels[y1 : max(y1 + 1, min(y2, height)), x1 : max(x1 + 1, min(x2, width))]


class Doubt(Enum):
    """Why a page may show other words than its text layer has."""

    NOT_DRAWN = "not drawn"
    """They are invisible, or an image covers them, as on scans."""
    RENAMED = "renamed"
    """The file names other words for what it draws."""
    MISDRAWN = "misdrawn"
    """A digit has the shape of another sign."""


class Doubtful(NamedTuple):
    """A place with words that a page may show otherwise; its box is in the coordinates of the lines."""

    box: Box
    doubt: Doubt


@dataclass(frozen=True, slots=True)
class RawPage:
    """One page of an open file. `number` counts from 0; boxes are in points from the page's top left."""

    number: int
    picture: Raster
    lines: Sequence[Line] = ()
    """The lines of the text layer, in the order of the file."""
    label: str | None = None
    """The page's label in the file."""
    warnings: tuple[str, ...] = ()
    """Which parts of the page were not read, and why."""
    bookmarks: tuple[Bookmark, ...] = ()
    """The bookmarks of the whole file, given with its first page."""
    rotation: Rotation | None = None
    """The rotation that the file sets, already applied to the picture and all boxes; None where it is not known."""
    is_misread: bool = False
    """Whether fonts do not identify most letters of the text layer, so that it has others."""
    turns: int = 0
    """Quarter turns, counter-clockwise, from the page as shown to where most text is upright, as `lines` are."""
    fields: Sequence[Line] = ()
    """The lines of what annotations show: values of form fields, notes and stamps."""
    buttons: Sequence[Box] = ()
    """The places of push buttons, whose words are not read."""
    doubtful: Sequence[Doubtful] = ()
    """Where the page may show other words than those of the text layer."""

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in points."""
        return self.picture.size
