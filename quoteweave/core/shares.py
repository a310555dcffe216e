"""How much of a limited whole each of several things gets."""

from collections.abc import Sequence


def greatest_share(sizes: Sequence[int], room: int) -> int | None:
    """The greatest size with which sizes cut to it sum to `room` at most; None where nothing has to be cut."""
    left, ordered = room, sorted(sizes)
    for place, size in enumerate(ordered):
        share = left // (len(ordered) - place)
        if size > share:
            return share
        left -= size
    return None
