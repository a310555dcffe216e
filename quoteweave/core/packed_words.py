"""Words of a page as a few bytes: their texts and the steps from one box to the next, compressed apart.

A word takes about six bytes. Boxes are kept to an eighth of a point, a quarter of a pixel of a page drawn at 144 dpi.
"""

import struct
import zlib
from collections.abc import Iterable, Sequence
from itertools import accumulate

from quoteweave.core.boxes import Box

PlacedWord = tuple[str, Box, int, bool]
"""Text, box, number of its line, and whether OCR read it."""

START = b"QWwords1"
"""How packed words begin, so that they are known wherever they lie."""
STEPS = 8
"""Of a coordinate, to a point."""
FURTHEST = 1 << 28
"""Steps from the page's corner; what lies beyond, some ten kilometres away, is placed there."""
_COUNTS = struct.Struct("<II")
_COLUMNS = 6
_BYTES = 4  # of a number
_SLICE = 64


def pack_words(words: Iterable[PlacedWord]) -> bytes:
    """The words in their order. Raises ValueError for a text with a line break and for a box that is not finite."""
    placed = list(words)
    texts = [text for text, _, _, _ in placed]
    if any("\n" in text for text in texts):
        raise ValueError("a word holds a line break")
    text, columns = "\n".join(texts).encode(), _columns(placed)
    packer = zlib.compressobj(wbits=-15)
    data = packer.compress(_COUNTS.pack(len(placed), len(text)) + text)
    # Numbers are coded apart from the text, which saves six bytes in a hundred.
    data += packer.flush(zlib.Z_FULL_FLUSH)
    return START + data + packer.compress(_planes(columns)) + packer.flush()


def unpack_words(packed: bytes) -> list[PlacedWord]:
    """What `pack_words` was given, with boxes to an eighth of a point. Raises ValueError for other bytes."""
    try:
        data = zlib.decompress(packed.removeprefix(START), wbits=-15)
        count, size = _COUNTS.unpack_from(data)
        end = _COUNTS.size + size
        if not packed.startswith(START) or len(data) != end + count * _COLUMNS * _BYTES:
            raise ValueError("these are no packed words")
        texts = data[_COUNTS.size : end].decode().split("\n") if count else []
        ocr, lines, gaps, widths, tops, heights = _from_planes(data[end:], count)
    except (zlib.error, struct.error) as error:
        raise ValueError(f"these are no packed words ({error})") from error
    rights = accumulate(gap + width for gap, width in zip(gaps, widths, strict=True))
    boxes = [
        ((right - width) / STEPS, top / STEPS, right / STEPS, (top + height) / STEPS)
        for right, width, top, height in zip(rights, widths, accumulate(tops), accumulate(heights), strict=True)
    ]
    return list(zip(texts, boxes, accumulate(lines), map(bool, ocr), strict=True))


def readable_text(data: bytes) -> str:
    """The texts of packed words, a line each, as far as they can be read where what follows is something else."""
    unpacker, text = zlib.decompressobj(wbits=-15), b""
    try:
        for at in range(len(START), len(data), _SLICE):
            text += unpacker.decompress(data[at : at + _SLICE])
            if unpacker.eof:
                break
    except zlib.error:
        pass
    size = _COUNTS.unpack_from(text)[1] if len(text) >= _COUNTS.size else 0
    return text[_COUNTS.size : _COUNTS.size + size].decode("utf-8", "replace")


def _columns(words: Sequence[PlacedWord]) -> list[list[int]]:
    """Of each word: whether by OCR, and the steps to its line, left edge, width, top and height from the one before."""
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
        steps = [round(edge * STEPS) for edge in edges]
    except OverflowError:
        raise ValueError("the box of a word is not finite") from None
    if max(map(abs, steps), default=0) <= FURTHEST:
        return steps
    return [max(-FURTHEST, min(FURTHEST, step)) for step in steps]


def _changes(numbers: Sequence[int]) -> list[int]:
    return [number - before for number, before in zip(numbers, [0, *numbers], strict=False)]


def _planes(columns: Sequence[Sequence[int]]) -> bytes:
    """The numbers' lowest bytes, then the next: small numbers, and their signs, are so told by the first alone."""
    numbers = [2 * number if number >= 0 else -2 * number - 1 for column in columns for number in column]
    data = struct.pack(f"<{len(numbers)}I", *numbers)
    return b"".join(data[place::_BYTES] for place in range(_BYTES))


def _from_planes(planes: bytes, count: int) -> list[list[int]]:
    data, total = bytearray(len(planes)), count * _COLUMNS
    for place in range(_BYTES):
        data[place::_BYTES] = planes[place * total : (place + 1) * total]
    numbers = [n >> 1 if n % 2 == 0 else -(n >> 1) - 1 for n in struct.unpack(f"<{total}I", data)]
    return [numbers[start : start + count] for start in range(0, total, count or 1)] or [[]] * _COLUMNS
