"""The characters of a page's text layer as pdfium lists them, with accents set on the letters they belong to."""

import ctypes
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from pypdfium2.raw import FPDF_TEXTPAGE

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SPACE = 32
# Accents that stand alone, and the combining characters that do the same to the letter before them.
ACCENTS = {
    0xB4: "\u0301",
    0x60: "\u0300",
    0xA8: "\u0308",
    0x2C6: "\u0302",
    0x2DC: "\u0303",
    0xAF: "\u0304",
    0x2D8: "\u0306",
    0x2D9: "\u0307",
    0x2DA: "\u030a",
    0xB8: "\u0327",
    0x2DD: "\u030b",
    0x2DB: "\u0328",
    0x2C7: "\u030c",
}
DOTLESS = {"\u0131": "i", "\u0237": "j"}
# In heights of a letter: a gap between letters that parts no words.
LETTER_GAP = 0.3


@dataclass(frozen=True, slots=True)
class Characters:
    """Code points (n), boxes as shown (n, 4), and the numbers (n) by which pdfium knows them."""

    codes: Ints
    boxes: Floats
    numbers: Ints


def read_characters(raw: "FPDF_TEXTPAGE", count: int, shown: Floats) -> Characters:
    """The first `count` characters; `shown` (2, 3) maps PDF user space to points from the top left."""
    import pypdfium2.raw as pdfium

    # One call a character is pdfium's only way, so this loop is a large part of the time that a page takes.
    unicode, char_box = pdfium.FPDFText_GetUnicode, pdfium.FPDFText_GetCharBox
    edges = (ctypes.c_double * 4)()
    left, right, bottom, top = (ctypes.pointer(ctypes.c_double.from_buffer(edges, 8 * i)) for i in range(4))
    nowhere = np.full(4, np.nan).tobytes()
    codes = [unicode(raw, i) for i in range(count)]
    found = (bytes(edges) if char_box(raw, i, left, right, bottom, top) else nowhere for i in range(count))
    x1, x2, y1, y2 = np.frombuffer(b"".join(found), dtype=np.float64).reshape(count, 4).T
    corners = np.stack([np.stack([x1, y1], axis=1), np.stack([x2, y2], axis=1)])  # (2, n, 2)
    points = corners @ shown[:, :2].T + shown[:, 2]
    boxes = np.concatenate([points.min(axis=0), points.max(axis=0)], axis=1)
    return _with_accents(Characters(np.array(codes, dtype=np.int64), boxes, np.arange(count)))


def _with_accents(characters: Characters) -> Characters:
    """TeX draws "é" as an accent and a letter, which text layers list far apart: put them together again."""
    codes, boxes = characters.codes.copy(), characters.boxes
    keep = np.ones(len(codes), dtype=bool)
    for i in map(int, np.flatnonzero(np.isin(codes, list(ACCENTS)))):
        letter = _letter_under(i, codes, boxes)
        if letter is None:
            continue
        base = chr(codes[letter])
        composed = unicodedata.normalize("NFC", DOTLESS.get(base, base) + ACCENTS[int(codes[i])])
        if len(composed) == 1:
            codes[letter], codes[i] = ord(composed), SPACE
            gap = LETTER_GAP * float(boxes[letter, 3] - boxes[letter, 1])
            keep[_spaces_around(i, codes, boxes, gap)] = False
    return Characters(codes[keep], boxes[keep], characters.numbers[keep])


def _letter_under(accent: int, codes: Ints, boxes: Floats) -> int | None:
    """The letter above, below or under which the accent stands, if there is one."""
    x1, y1, x2, y2 = boxes[accent]
    middle = (x1 + x2) / 2
    height = boxes[:, 3] - boxes[:, 1]
    apart = np.maximum(boxes[:, 1] - y2, y1 - boxes[:, 3])
    near = (boxes[:, 0] <= middle) & (middle <= boxes[:, 2]) & (apart < 0.5 * height) & (codes > SPACE)
    letters = [j for j in map(int, np.flatnonzero(near)) if codes[j] not in ACCENTS and chr(codes[j]).isalpha()]
    return min(letters, key=lambda j: float(abs(apart[j])), default=None)


def _spaces_around(accent: int, codes: Ints, boxes: Floats, gap: float) -> slice:
    """The accent's place, with the spaces around it where they part letters that stand closer than `gap` points."""
    first, last = accent, accent
    while first > 0 and codes[first - 1] == SPACE:
        first -= 1
    while last + 1 < len(codes) and codes[last + 1] == SPACE:
        last += 1
    if first == 0 or last + 1 == len(codes):
        return slice(accent, accent + 1)
    before, after = boxes[first - 1], boxes[last + 1]
    joined = min(before[3], after[3]) > max(before[1], after[1]) - gap and abs(after[0] - before[2]) < gap
    return slice(first, last + 1) if joined else slice(accent, accent + 1)
