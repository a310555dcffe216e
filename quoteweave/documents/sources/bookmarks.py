"""The bookmarks of a PDF, read through pdfium with limits on number, depth and time, as files are untrusted."""

import ctypes
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from quoteweave.documents.sources import pdfium

# The longest manuals have some ten thousand bookmarks.
MAX_BOOKMARKS = 20_000
# Limit in seconds of processor time, well within what a page may take; a bookmark takes a tenth of a millisecond.
MAX_SECONDS = 3.0
MAX_LEVELS = 8
MAX_ON_PAGE = 50
MAX_TITLE_CHARACTERS = 200
# Bytes of UTF-16 in the file.
MAX_TITLE_BYTES = 8_000


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of a document's outline: its level (0 is outermost), its title, and the page (from 0) it begins on."""

    level: int
    title: str
    page: int


def read_bookmarks(document: Any) -> tuple[tuple[Bookmark, ...], tuple[str, ...]]:
    """Return the bookmarks of an open pypdfium2 document in order, and warnings about what was left out.

    A bookmark that leads to no page of the document begins where the first one within it does; without one, it is
    left out.
    """
    walk = _Walk(document)
    bookmarks = _with_pages_from_within(list(walk.entries()))
    bookmarks_kept: list[Bookmark] = []
    counts: Counter[int] = Counter()
    for bookmark in bookmarks:
        counts[bookmark.page] += 1
        if counts[bookmark.page] <= MAX_ON_PAGE:
            bookmarks_kept.append(bookmark)
    if len(bookmarks) > len(bookmarks_kept):
        more = len(bookmarks) - len(bookmarks_kept)
        walk.left_out.append(f"more than {MAX_ON_PAGE} bookmarks begin on a page; {more:,} others were left out")
    return tuple(bookmarks_kept), tuple(walk.left_out)


def clean_title(title: str) -> str:
    """Clean a title: one line of at most 200 characters, without control characters and lone surrogates."""
    return _on_one_line(title[: 10 * MAX_TITLE_CHARACTERS])[:MAX_TITLE_CHARACTERS].rstrip()


def _on_one_line(title: str) -> str:
    return " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", " ", title).split())


@dataclass(frozen=True, slots=True)
class _Entry:
    level: int
    title: str
    page: int | None


class _Walk:
    """A traversal of the tree of bookmarks, which may contain loops; `left_out` has warnings about what it skipped."""

    def __init__(self, document: Any) -> None:
        self.left_out: list[str] = []
        self._document, self._pages = document, len(document)
        self._cut = self._without_title = 0

    def entries(self) -> Iterator[_Entry]:
        """Each bookmark before those within it. A bookmark that is repeated, as in a loop, ends its branch."""
        began, known, deep = time.process_time(), set[int](), False
        # For each open level, the next bookmark.
        waiting = [pdfium.FPDFBookmark_GetFirstChild(self._document.raw, None)]
        while waiting:
            raw = waiting[-1]
            address = ctypes.addressof(raw.contents) if raw else 0
            if not raw or address in known:
                waiting.pop()
                continue
            known.add(address)
            if len(known) > MAX_BOOKMARKS or time.process_time() - began > MAX_SECONDS:
                self.left_out.append(f"only {len(known) - 1:,} bookmarks were read; it has more than can be looked at")
                break
            yield _Entry(len(waiting) - 1, self._title(raw), self._page(raw))
            waiting[-1] = pdfium.FPDFBookmark_GetNextSibling(self._document.raw, raw)
            child = pdfium.FPDFBookmark_GetFirstChild(self._document.raw, raw)
            if len(waiting) < MAX_LEVELS:
                waiting.append(child)
            else:
                deep = deep or bool(child)
        if deep:
            self.left_out.append(f"bookmarks deeper than {MAX_LEVELS} levels were left out")
        if self._cut:
            self.left_out.append(f"titles of bookmarks were cut after {MAX_TITLE_CHARACTERS} characters: {self._cut:,}")
        if self._without_title:
            characters = f"{MAX_TITLE_BYTES // 2:,} characters"
            self.left_out.append(f"bookmarks of more than {characters} were left out: {self._without_title:,}")

    def _title(self, raw: Any) -> str:
        """The title; empty if there is none, or if it is too long to be a title."""
        size = pdfium.FPDFBookmark_GetTitle(raw, None, 0)
        if not 2 < size <= MAX_TITLE_BYTES:
            self._without_title += size > MAX_TITLE_BYTES
            return ""
        buffer = ctypes.create_string_buffer(size)
        pdfium.FPDFBookmark_GetTitle(raw, buffer, size)
        title = buffer.raw[: size - 2].decode("utf-16-le", "replace")
        self._cut += len(_on_one_line(title)) > MAX_TITLE_CHARACTERS
        return clean_title(title)

    def _page(self, raw: Any) -> int | None:
        action = pdfium.FPDFBookmark_GetAction(raw)
        # A bookmark that leads to another file names a page of that file.
        if action and pdfium.FPDFAction_GetType(action) != pdfium.PDFACTION_GOTO:
            return None
        destination = pdfium.FPDFBookmark_GetDest(self._document.raw, raw)
        page = pdfium.FPDFDest_GetDestPageIndex(self._document.raw, destination) if destination else -1
        return page if 0 <= page < self._pages else None


def _with_pages_from_within(entries: list[_Entry]) -> list[Bookmark]:
    """The entries that have a title and a page, which may be that of the first entry within them that has one."""
    bookmarks: list[Bookmark] = []
    # From the last entry to the first: by level, the page of the first entry so far that is within the next outer one.
    first_pages: dict[int, int] = {}
    for entry in reversed(entries):
        within = first_pages.get(entry.level + 1)
        page = within if entry.page is None else entry.page
        first_pages = {level: number for level, number in first_pages.items() if level <= entry.level}
        if page is not None:
            first_pages[entry.level] = page
            if entry.title:
                bookmarks.append(Bookmark(entry.level, entry.title, page))
    return bookmarks[::-1]
