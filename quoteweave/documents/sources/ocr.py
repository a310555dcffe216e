"""OCR with RapidOCR, whose PP-OCR models for Latin script and Chinese ship in its wheel."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Protocol

from quoteweave.collection.checksums import bytes_checksum
from quoteweave.core.boxes import Box
from quoteweave.core.errors import UsageError, by_setting
from quoteweave.documents.sources.lines import Line, TextRun, Word, lines_of
from quoteweave.documents.sources.raw_page import Raster

# The ratio of the height of a detected line's box to its font size: the detector leaves a margin around the ink.
BOX_TO_FONT = 1.35
# Results with less certainty than this are more often noise than words.
MIN_CONFIDENCE = 0.5
# How many pictures' lines a process caches, because a logo may be on every page.
MAX_CACHED = 64


class Ocr(Protocol):
    """Recognises the lines of text in an image."""

    def read(self, picture: Raster) -> list[Line]:
        """Return lines with boxes in points, in reading order as far as the engine knows it."""
        ...


class RapidOcr:
    """RapidOCR on one thread; the model is loaded on first use.

    `language` is one of RapidOCR's names (`ch` reads Chinese and English and needs no download; `latin`, `cyrillic`,
    `arabic`, `japan`, `korean`, … fetch their recognition model on first use).
    """

    def __init__(self, language: str = "ch") -> None:
        self.language = language

    def read(self, picture: Raster) -> list[Line]:
        """Recognise lines. Raises UsageError for a language that is unknown or whose model cannot be downloaded."""
        if min(picture.pixels.shape[:2]) < 8:
            return []
        key = self.language, picture.scale, picture.pixels.shape, bytes_checksum(picture.pixels.tobytes())
        with _line_cache_lock:
            known = _line_cache.get(key)
        if known is None:
            known = self._read(picture)
            with _line_cache_lock:
                _line_cache[key] = known
                while len(_line_cache) > MAX_CACHED:
                    del _line_cache[next(iter(_line_cache))]
        return list(known)

    def _read(self, picture: Raster) -> list[Line]:
        result = _engine(self.language)(picture.pixels[:, :, ::-1], return_word_box=True)
        if result.txts is None:
            return []
        runs = [
            (run, float(score))
            for text, score, quad, words in zip(
                result.txts, result.scores, result.boxes.tolist(), result.word_results, strict=True
            )
            if score >= MIN_CONFIDENCE and text.strip() and (run := _text_run(text, quad, words, picture.scale))
        ]
        return [replace(line, sureness=score) for run, score in runs for line in lines_of([run])]


# Cache of this process, the oldest entry first; one thread changes it at a time, while others read pictures.
_line_cache: dict[tuple[object, ...], list[Line]] = {}
_line_cache_lock = threading.Lock()


def _text_run(text: str, quad: Sequence[Sequence[float]], words: Sequence[Any], scale: float) -> TextRun | None:
    line_box = _box_of_quad(quad, scale)
    pieces = [Word(word, _box_of_quad(box, scale)) for word, _, box in words if word.strip() and box]
    if "".join(word.text for word in pieces) != "".join(text.split()):
        pieces = _evenly(text.split(), line_box)
    pieces = _join_unspaced(text, pieces)
    upright = line_box[2] - line_box[0] >= 0.8 * (line_box[3] - line_box[1]) or len(text) < 3
    height = line_box[3] - line_box[1] if upright else line_box[2] - line_box[0]
    return TextRun(tuple(pieces), height / BOX_TO_FONT, line_box[3], "", False, upright)


def _evenly(words: Sequence[str], box: Box) -> list[Word]:
    """Spread words over a line's box in proportion to their length, if their own boxes are unknown."""
    axis = 0 if box[2] - box[0] >= box[3] - box[1] else 1
    letter = (box[axis + 2] - box[axis]) / len(" ".join(words))
    placed, start = [], box[axis]
    for word in words:
        end = start + letter * len(word)
        placed.append(Word(word, (start, box[1], end, box[3]) if axis == 0 else (box[0], start, box[2], end)))
        start = end + letter
    return placed


def _join_unspaced(text: str, words: list[Word]) -> list[Word]:
    """Join words without a space between them in the text: RapidOCR returns Chinese and Japanese characters singly."""
    joined: list[Word] = []
    position = 0
    for word in words:
        start = text.find(word.text, position)
        if joined and start == position:
            last = joined[-1]
            box = (last.box[0], last.box[1], word.box[2], max(last.box[3], word.box[3]))
            joined[-1] = Word(last.text + word.text, box)
        else:
            joined.append(word)
        position = start + len(word.text)
    return joined


def _box_of_quad(quad: Sequence[Sequence[float]], scale: float) -> Box:
    xs, ys = [point[0] / scale for point in quad], [point[1] / scale for point in quad]
    return (min(xs), min(ys), max(xs), max(ys))


@lru_cache(maxsize=2)
def _engine(language: str) -> Callable[..., Any]:
    """One engine per language and process: loading takes a second, and the weights take 120 MB."""
    try:
        from quoteweave.documents.sources.ocr_engine import Engine

        return Engine(language)
    except Exception as error:
        # RapidOCR raises ValueError for unknown languages, and errors of several kinds if a model cannot be downloaded.
        remedy = by_setting("{} ch needs no download", "ocr_language")
        raise UsageError(f"OCR cannot read language {language!r}: {error}", remedy=remedy) from error
