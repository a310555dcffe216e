"""Makes the context of a question from all quotes of its documents: nothing is searched."""

from collections.abc import Sequence

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Context
from quoteweave.core.messages import pluralize
from quoteweave.core.records import HEADERS_AND_FOOTERS, Hit, Quote
from quoteweave.pipeline.window import Window, fit_to_window


class AllQuotes:
    """Makes the context of a question from all quotes of its documents, except headers and footers."""

    def __init__(self, collection: Collection, window: Window | None) -> None:
        self._collection = collection
        self._window = window

    def context(self, documents: Sequence[str], question: str) -> tuple[Context, int, tuple[str, ...]]:
        """The quotes in order of documents, pages and reading; how many were left out for lack of room; and a note.

        Quotes at the end are left out: the longest beginning that fits the window without cutting a quote is taken, but
        the first quote in any case. Raises UsageError for a document that the collection does not hold.
        """
        all_quotes = [quote for name in documents for quote in self._collection.document_quotes(name)]
        quotes = [quote for quote in all_quotes if quote.layout not in HEADERS_AND_FOOTERS]
        most = self._longest_beginning(quotes, question)
        left_out = len(quotes) - most
        if not left_out or self._window is None:
            return _context_of(quotes), 0, ()
        note = (
            f"{pluralize(left_out, 'quote')} of {len(quotes)} left out, at the end of the documents: the window of "
            f"{self._window.tokens:,} tokens holds no more"
        )
        return _context_of(quotes[:most]), left_out, (note,)

    def _longest_beginning(self, quotes: Sequence[Quote], question: str) -> int:
        if self._window is None or not quotes:
            return len(quotes)
        low, high = 1, len(quotes)
        while low < high:
            middle = (low + high + 1) // 2
            _, cut = fit_to_window(_context_of(quotes[:middle]), self._window, question)
            low, high = (low, middle - 1) if cut else (middle, high)
        return low


def _context_of(quotes: Sequence[Quote]) -> Context:
    texts, images = ([quote for quote in quotes if quote.kind == kind] for kind in ("text", "image"))
    return Context(texts=_ranked(texts), images=_ranked(images))


def _ranked(quotes: Sequence[Quote]) -> tuple[Hit, ...]:
    return tuple(Hit(rank=rank, score=0.0, quote=quote) for rank, quote in enumerate(quotes, start=1))
