"""A spatial index of the items on a page."""

from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np

from quoteweave.core.boxes import Box


class Boxed(Protocol):
    """Anything that has a box."""

    @property
    def box(self) -> Box:
        """The box in points from the top left."""
        ...


T = TypeVar("T", bound=Boxed)


class SpatialIndex(Generic[T]):
    """Items on a page, searchable by position."""

    def __init__(self, items: Sequence[T]) -> None:
        self.items = items
        self._boxes = np.array([item.box for item in items], dtype=np.float64).reshape(-1, 4)

    def intersecting(self, box: Box, reach: float = 0.0) -> list[T]:
        """Return the items, in order, whose boxes intersect this one or are within `reach` points of it."""
        x1, y1, x2, y2 = self._boxes.T
        is_near = (x1 <= box[2] + reach) & (x2 >= box[0] - reach) & (y1 <= box[3] + reach) & (y2 >= box[1] - reach)
        return [self.items[i] for i in np.flatnonzero(is_near).tolist()]
