"""Views of a document for an encoder: a string or an image for each item, which is a quote or a whole page."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from quoteweave.collection.arrays import np
from quoteweave.core.protocols import ImageProvider, OcrTextProvider
from quoteweave.core.records import Quote, View

if TYPE_CHECKING:
    from PIL.Image import Image

    Rows = np.ndarray[tuple[int], np.dtype[np.int64]]

Unit = Literal["quote", "page"]
TextView = Literal["text", "ocr_text", "vlm_text"]

# Views that are made from a quote's picture.
CROP_VIEWS = frozenset({"image", "mixed", "ocr_text"})
# Views in which the encoder sees pictures.
VISUAL_VIEWS = frozenset({"image", "mixed"})

# Part of every fingerprint of vectors; changed whenever the same quotes would be encoded as other strings.
VIEWS_VERSION = 1


@dataclass(frozen=True, slots=True)
class ItemView:
    """How one item is shown to an encoder."""

    quote: Quote
    """The item's quote; for a page, its first quote."""
    key: str | None
    """A key that changes whenever the view does; None for an item with nothing to encode."""
    load: "Callable[[], str | Image]"
    """Returns the string or the picture. Raises DocumentError where the picture cannot be drawn."""


def item_views(quotes: Sequence[Quote], view: View, unit: Unit, pictures: ImageProvider | None) -> list[ItemView]:
    """A view for each item of one document; `quotes` are all its retrievable quotes, in the order of their rows.

    Texts are their own keys. The views `image` and `ocr_text` need `pictures`; crops that OCR has not read yet are read
    now. Raises DocumentError where such a crop is missing.
    """
    if view in CROP_VIEWS and pictures is None:
        raise ValueError(f"the view {view!r} needs pictures")
    if view == "ocr_text" and pictures is not None:
        quotes = [with_ocr_text(quote, pictures) for quote in quotes]
    quotes_of_items = [[quote] for quote in quotes] if unit == "quote" else _pages(quotes)
    if view not in VISUAL_VIEWS or pictures is None:
        return [_text_view(item_quotes, view, unit) for item_quotes in quotes_of_items]
    return [
        _text_view(item_quotes, view, unit)
        if view == "mixed" and unit == "quote" and item_quotes[0].kind == "text"
        else _picture_view(item_quotes[0], unit, pictures)
        for item_quotes in quotes_of_items
    ]


def with_ocr_text(quote: Quote, pictures: OcrTextProvider) -> Quote:
    """The quote with what OCR reads on it, if it is an image quote. Raises DocumentError where it has no crop."""
    if quote.kind == "text" or quote.ocr_text is not None:
        return quote
    return quote.model_copy(update={"ocr_text": pictures.ocr_text(quote)})


def item_rows(rows: "Rows", pages: "Rows", unit: Unit) -> "Rows":
    """The row of each item of one document in an index, in the order of `item_views`: for a page, its first row."""
    return rows if unit == "quote" else np.unique(_first_rows(rows, pages))


class PageMap:
    """Which quotes are on one page, over all documents: the row, the page and the page's first row of each quote."""

    def __init__(self, documents: "Iterable[tuple[str, Rows, Rows]]") -> None:
        quotes_and_firsts = [(rows, _first_rows(rows, pages)) for _, rows, pages in documents]
        empty = np.empty(0, dtype=np.int64)
        rows = np.concatenate([empty, *(rows for rows, _ in quotes_and_firsts)])
        firsts = np.concatenate([empty, *(firsts for _, firsts in quotes_and_firsts)])
        order = np.lexsort((rows, firsts))
        self._rows, self._firsts = rows[order], firsts[order]

    def firsts_of(self, rows: "Rows") -> "Rows":
        """First rows of the pages of these quotes, ascending; unknown rows are skipped."""
        return np.unique(self._firsts[np.isin(self._rows, rows)])

    def rows_of(self, first: int) -> "Rows":
        """Rows of the quotes on the page with that first row, ascending."""
        begin, end = np.searchsorted(self._firsts, [first, first + 1])
        return self._rows[begin:end]


def _first_rows(rows: "Rows", pages: "Rows") -> "Rows":
    """The first row on the page of each of one document's quotes."""
    _, index, inverse = np.unique(pages, return_index=True, return_inverse=True)
    return rows[index][inverse]


def _pages(quotes: Sequence[Quote]) -> list[list[Quote]]:
    pages: dict[int, list[Quote]] = defaultdict(list)
    for quote in quotes:
        pages[quote.page].append(quote)
    return list(pages.values())


def _text_view(item_quotes: Sequence[Quote], view: View, unit: Unit) -> ItemView:
    text = (
        _page_words(item_quotes, view)
        if unit == "page"
        else _words(item_quotes[0], view, section=item_quotes[0].section)
    )
    return ItemView(item_quotes[0], text if text.strip() else None, lambda: text)


def _page_words(quotes: Sequence[Quote], view: View) -> str:
    """All text of the page once: a scanned page's picture repeats as a whole what its other quotes say."""
    quotes_and_words = [(quote, _words(quote, view, section=None)) for quote in quotes]
    parts = [words for quote, words in quotes_and_words if words and quote.layout != "page"]
    return "\n".join(parts or [words for _, words in quotes_and_words if words])


def _words(quote: Quote, view: View, *, section: str | None) -> str:
    """The words of a quote; for an image also its section's title, because a chart seldom says what it is about."""
    if quote.kind == "text":
        return quote.all_text()
    if view == "ocr_text":
        return quote.ocr_text or ""
    if view == "vlm_text":
        return quote.vlm_text or ""
    return "\n".join(part for part in (section, quote.all_text()) if part)


def _picture_view(quote: Quote, unit: Unit, pictures: ImageProvider) -> ItemView:
    if unit == "quote":
        return ItemView(quote, pictures.crop_key(quote), partial(pictures.crop, quote))
    page = (quote.document, quote.page)
    return ItemView(quote, pictures.page_key(*page), partial(pictures.page_image, *page))
