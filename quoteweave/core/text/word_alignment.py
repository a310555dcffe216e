"""Locates the characters of a quote on its page by aligning its text with the page's words and their boxes.

A quote's text is that of its page's words, but with hyphens at line ends removed and, in pictures and tables, in
another order. So both are split into runs of letters and of digits, and aligned as sequences; runs that a hyphen
separated are joined again.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from itertools import groupby

from quoteweave.core.boxes import Box, hull, share_in
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import PageWord
from quoteweave.core.text.tokens import normalize_text

MIN_INSIDE = 0.5
"""The least share of a word's box that is inside the quote's box for it to be one of the quote's words."""
MIN_FOUND = 0.8
"""The least share of the runs of a span that must be found on the page for the span to have boxes."""
MAX_JOINED = 3
"""The most runs of the page that may together be one run of the text, separated on the page by hyphens."""
MAX_WORD_GAP = 3.0
"""The largest gap between two words of a line, in line heights, for them to share a box."""

# Text in scripts without spaces is split into single characters.
_UNSPACED = r"\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_RUN = lazy_regex(rf"[{_UNSPACED}]|[^\W\d_{_UNSPACED}]+|\d+")
MAX_PAIRS = 20_000
"""The most pairs of equal words that are aligned; the time grows with at least the square of the pairs."""


class WordAlignment:
    """The alignment of a quote's text with the words of its page."""

    def __init__(self, text: str, bbox: Box, page_words: Sequence[PageWord]) -> None:
        x1, y1, x2, y2 = bbox
        # Most words of the page are elsewhere, which comparing edges shows faster than computing areas.
        near = [w for w in page_words if w.bbox[0] < x2 and w.bbox[2] > x1 and w.bbox[1] < y2 and w.bbox[3] > y1]
        self._words = [word for word in near if share_in(word.bbox, bbox) >= MIN_INSIDE]
        # If the page has no words here, the text need not be split into runs.
        matches = _RUN.finditer(text) if self._words else ()
        runs = [(normalize_text(match[0]), match.start(), match.end()) for match in matches]
        self._starts, self._ends = [run[1] for run in runs], [run[2] for run in runs]
        page_runs = [
            (normalize_text(match[0]), at) for at, word in enumerate(self._words) for match in _RUN.finditer(word.text)
        ]
        self._words_of_runs = _aligned([run[0] for run in runs], page_runs)

    def boxes(self, start: int, end: int) -> tuple[Box, ...]:
        """The boxes of the characters `[start:end]`, one for each line or part of a line; empty if they are not found.

        Words are boxed whole, in the order of the page's words.
        """
        first, last = bisect_right(self._ends, start), bisect_left(self._starts, end)
        words_of_runs = self._words_of_runs[first:last]
        known = [places for places in words_of_runs if places]
        if not known or len(known) < MIN_FOUND * len(words_of_runs):
            return ()
        chosen = [self._words[at] for at in sorted({at for places in known for at in places})]
        return tuple(box for _, line in groupby(chosen, key=lambda word: word.line) for box in _boxes(list(line)))

    def estimated(self) -> bool:
        """Whether OCR read any of its words; their boxes are then accurate to about a letter."""
        return any(word.ocr for word in self._words)


def alignable(first: Iterable[str], second: Iterable[str]) -> bool:
    """Whether two sequences of words can be aligned quickly; those that repeat the same few words cannot."""
    times_in_second = Counter(second)
    return sum(times * times_in_second[word] for word, times in Counter(first).items()) <= MAX_PAIRS


def _aligned(runs: Sequence[str], page_runs: Sequence[tuple[str, int]]) -> list[tuple[int, ...]]:
    """For each run of the text, the words of the page that contain it; none if it is not found."""
    page_words: list[tuple[int, ...]] = [()] * len(runs)
    if not alignable(runs, (run for run, _ in page_runs)):
        return page_words
    matcher = SequenceMatcher(None, runs, [run for run, _ in page_runs], autojunk=False)
    text_end = page_end = 0
    for block in matcher.get_matching_blocks():
        between = page_runs[page_end : block.b]
        parted = "".join(run for run, _ in between)
        if block.a - text_end == 1 and 0 < len(between) <= MAX_JOINED and parted == runs[text_end]:
            page_words[text_end] = tuple(at for _, at in between)
        for step in range(block.size):
            page_words[block.a + step] = (page_runs[block.b + step][1],)
        text_end, page_end = block.a + block.size, block.b + block.size
    # The rows of a chart are in another order than its words on the page; what occurs once in both is the same.
    in_text, on_page = Counter(runs), Counter(run for run, _ in page_runs)
    places = {run: at for run, at in page_runs if on_page[run] == 1}
    for at, run in enumerate(runs):
        if not page_words[at] and in_text[run] == 1 and run in places:
            page_words[at] = (places[run],)
    return page_words


def _boxes(line: Sequence[PageWord]) -> list[Box]:
    """A box around each group of words of a line that are close to each other."""
    groups: list[list[Box]] = []
    for word in line:
        box = word.bbox
        if groups and _near(groups[-1][-1], box):
            groups[-1].append(box)
        else:
            groups.append([box])
    return [hull(group) for group in groups]


def _near(a: Box, b: Box) -> bool:
    height = min(max(a[3] - a[1], 1.0), max(a[2] - a[0], 1.0))
    across = max(b[0] - a[2], a[0] - b[2], 0.0)
    down = max(b[1] - a[3], a[1] - b[3], 0.0)
    return max(across, down) <= MAX_WORD_GAP * height
