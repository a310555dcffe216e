"""Finds what stands near a place on a page without looking at everything on it."""

from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np

from quoteweave.core.boxes import Box


class Boxed(Protocol):
    """Anything that has a box."""

    @property
    def box(self) -> Box:
        """Points from the top left."""
        ...


T = TypeVar("T", bound=Boxed)


class Nearby(Generic[T]):
    """Items by place."""

    def __init__(self, items: Sequence[T]) -> None:
        self.items = items
        self._boxes = np.array([item.box for item in items], dtype=np.float64).reshape(-1, 4)

    def meeting(self, box: Box, reach: float = 0.0) -> list[T]:
        """The items, in their order, whose boxes meet this one or stand within `reach` points of it."""
        x1, y1, x2, y2 = self._boxes.T
        met = (x1 <= box[2] + reach) & (x2 >= box[0] - reach) & (y1 <= box[3] + reach) & (y2 >= box[1] - reach)
        return [self.items[i] for i in np.flatnonzero(met).tolist()]
