"""Serialise the words of a page: first their texts as running text, then the differences between successive boxes.

The bytes are ordered for compression: for each kind of number, the lowest bytes of all words come first, because the
others are mostly zero. Boxes are rounded to a quarter of a point, half a pixel of a page drawn at 144 dpi.
"""

import struct
from collections.abc import Iterable, Sequence
from itertools import accumulate
from operator import add, sub

from quoteweave.core.boxes import Box

PlacedWord = tuple[str, Box, int, bool]
"""Text, box, line number, and whether OCR read it."""

STEPS_PER_POINT = 4
"""Quantisation steps of a coordinate in one point."""
MAX_STEPS = 1 << 28
"""The largest coordinate, in steps from the page's corner (over twenty kilometres); larger ones are clipped."""
_COUNTS = struct.Struct("<II")
_COLUMNS = 6
_BYTES = 4  # bytes of a number


def pack_words(words: Iterable[PlacedWord]) -> bytes:
    """Pack the words in order. Raises ValueError for a text with a space and for a box that is not finite."""
    placed = list(words)
    texts = [text for text, _, _, _ in placed]
    if any(" " in text for text in texts):
        raise ValueError("a word holds a space")
    text = " ".join(texts).encode()
    return _COUNTS.pack(len(placed), len(text)) + text + b"".join(map(_planes, _columns(placed)))


def unpack_words(packed: bytes) -> list[PlacedWord]:
    """Unpack what `pack_words` packed, boxes to a quarter of a point. Raises ValueError for other bytes."""
    count, size = _COUNTS.unpack_from(packed) if len(packed) >= _COUNTS.size else (0, len(packed))
    if len(packed) != _COUNTS.size + size + count * _COLUMNS * _BYTES:
        raise ValueError("these are no packed words")
    if not count:
        return []
    end, length = _COUNTS.size + size, count * _BYTES
    texts = packed[_COUNTS.size : end].decode().split(" ")
    columns = (packed[start : start + length] for start in range(end, len(packed), length))
    ocr, lines, gaps, widths, tops, heights = map(_from_planes, columns)
    rights = list(accumulate(map(add, gaps, widths)))
    lefts, tops, heights = list(map(sub, rights, widths)), list(accumulate(tops)), list(accumulate(heights))
    sides = (lefts, tops, rights, map(add, tops, heights))
    boxes = zip(*([step / STEPS_PER_POINT for step in side] for side in sides), strict=True)
    return list(zip(texts, boxes, accumulate(lines), map(bool, ocr), strict=True))


def _columns(words: Sequence[PlacedWord]) -> list[list[int]]:
    """For each word: whether OCR read it; its line, left edge, width, top and height as steps from the one before."""
    lefts, tops, rights, bottoms = (_in_steps([box[side] for _, box, _, _ in words]) for side in range(4))
    heights = [bottom - top for top, bottom in zip(tops, bottoms, strict=True)]
    return [
        [int(ocr) for _, _, _, ocr in words],
        _changes([line for _, _, line, _ in words]),
        [left - right for left, right in zip(lefts, [0, *rights], strict=False)],
        [right - left for left, right in zip(lefts, rights, strict=True)],
        _changes(tops),
        _changes(heights),
    ]


def _in_steps(edges: Sequence[float]) -> list[int]:
    try:
        steps = [round(edge * STEPS_PER_POINT) for edge in edges]
    except (OverflowError, ValueError):
        raise ValueError("the box of a word is not finite") from None
    if max(map(abs, steps), default=0) <= MAX_STEPS:
        return steps
    return [max(-MAX_STEPS, min(MAX_STEPS, step)) for step in steps]


def _changes(numbers: Sequence[int]) -> list[int]:
    return [number - before for number, before in zip(numbers, [0, *numbers], strict=False)]


def _planes(column: Sequence[int]) -> bytes:
    """The lowest bytes of all numbers, then the next; the sign is the lowest bit, so small numbers need one byte."""
    data = struct.pack(f"<{len(column)}I", *[2 * number if number >= 0 else -2 * number - 1 for number in column])
    return b"".join(data[place::_BYTES] for place in range(_BYTES))


def _from_planes(planes: bytes) -> list[int]:
    count, data = len(planes) // _BYTES, bytearray(len(planes))
    for place in range(_BYTES):
        data[place::_BYTES] = planes[place * count : (place + 1) * count]
    return [n >> 1 ^ -(n & 1) for n in struct.unpack(f"<{count}I", data)]
