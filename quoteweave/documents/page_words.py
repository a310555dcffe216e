"""The words of a page in reading order, line by line, gathered while its elements are read into pieces."""

from collections.abc import Iterable, Sequence

from quoteweave.core.packed_words import PlacedWord, pack_words
from quoteweave.core.records import PageWords
from quoteweave.documents.blocks import Block, rows_of
from quoteweave.documents.layout import Element
from quoteweave.documents.lines import Line

# A single character may stand for several words, such as the Arabic U+FDFA.
NO_BREAK_SPACE = "\u00a0"


class WordsInOrder:
    """Takes the elements of a page in their order; a word that is in two of them is kept where it comes first."""

    def __init__(self) -> None:
        self._placed: list[PlacedWord] = []
        self._lines = 0
        self._taken: set[int] = set()  # ids of words, which stay in memory as long as the page's elements

    def add(self, element: Element, *, ocr: bool) -> None:
        """The words of an element, of tables and figures row by row; `ocr` says whether OCR read them."""
        rows = [element.lines] if isinstance(element, Block) else rows_of(element.lines)
        self.add_lines((line for row in rows for line in row), ocr=ocr)

    def add_lines(self, lines: Iterable[Line], *, ocr: bool) -> None:
        """The words of lines, in the order in which these are given."""
        for line in lines:
            words = [word for word in line.words if id(word) not in self._taken]
            self._taken.update(map(id, words))
            self._placed += [(word.text.replace(" ", NO_BREAK_SPACE), word.box, self._lines, ocr) for word in words]
            self._lines += bool(words)

    def packed(self, page: int) -> PageWords:
        """All of them, as the words of the page of that number."""
        return PageWords(page=page, packed=pack_words(self._placed))


def of_every_page(words: Sequence[PageWords | None]) -> tuple[PageWords, ...]:
    """The words of pages that follow each other from the first; a page that could not be read has none."""
    return tuple(PageWords.of(page, ()) if own is None else own for page, own in enumerate(words))
