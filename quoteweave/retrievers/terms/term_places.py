"""Find the places of terms: the pages that contain a balance sheet, an income statement, and the like."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quoteweave.index.lexical import LexicalIndex
from quoteweave.retrievers.terms import Phrase, Terms

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Scores = npt.NDArray[np.float32]
    Mask = npt.NDArray[np.bool_]

# Share of a place's components that a page must contain in its tables and pictures.
MIN_COMPONENTS_SHARE = 0.5


class TermPlaces:
    """The places of terms in an index: pages whose tables contain their components. Each is looked up once."""

    def __init__(self, index: LexicalIndex) -> None:
        self._index = index
        self._pages: dict[Terms, dict[str, Scores]] = {}
        self._documents: dict[Terms, Mask] = {}

    def pages(self, terms: Terms, place: str) -> "Scores":
        """(m,) how well each page matches a place, 0 to 1; 0 in documents with too few of the terms' places."""
        if terms not in self._pages:
            self._look_up(terms)
        return self._pages[terms][place]

    def documents(self, terms: Terms) -> "Mask":
        """(m,) whether each page's document contains enough of the terms' places for the terms to apply."""
        if terms not in self._documents:
            self._look_up(terms)
        return self._documents[terms]

    def _look_up(self, terms: Terms) -> None:
        import numpy as np

        index = self._index
        shares = {name: self._shares(parts) for name, parts in terms.places.items()}
        shown = np.zeros(index.document_count, dtype=np.int64)
        best = {name: np.zeros(index.document_count, dtype=np.float32) for name in shares}
        for name, share in shares.items():
            np.maximum.at(best[name], index.document_of, share)
            shown += best[name] >= MIN_COMPONENTS_SHARE
        searched = self._documents[terms] = (shown >= terms.least_places)[index.document_of]
        self._pages[terms] = {
            name: np.where(
                (share >= MIN_COMPONENTS_SHARE) & searched, share / np.maximum(best[name], 1e-9)[index.document_of], 0
            ).astype(np.float32)
            ** 2
            for name, share in shares.items()
        }

    def having(self, phrase: Phrase, *, tables: bool) -> "Scores":
        """(m,) 1 for pages with one quote, or one table or picture, that contains all words of a phrase."""
        import numpy as np

        found = self._index.quotes_with(phrase)
        found = found[self._index.is_image[found]] if tables else found
        pages = np.zeros(self._index.page_count, dtype=np.float32)
        pages[self._index.page_of[found]] = 1
        return pages

    def _shares(self, parts: Sequence[Sequence[Phrase]]) -> "Scores":
        import numpy as np

        share = np.zeros(self._index.page_count, dtype=np.float32)
        for ways in parts:
            share += np.maximum.reduce([self.having(way, tables=True) for way in ways])
        return share / np.float32(max(len(parts), 1))
