"""Page feedback (pseudo-relevance feedback): from the best pages to those that belong with them.

- Pages of the same document, in proportion to what they share of the rarest words of one of the `SEEDS` best pages.
- The pages after and before the best one, where its content goes on or begins; more where one of its tables does.
- Of a comparison, the best page of each side.
- Where few pages are found at all, others of their documents, nearest first.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from quoteweave.collection.arrays import np
from quoteweave.collection.segments.builder import layout_token
from quoteweave.core.records import Quote
from quoteweave.core.text.references.mentions import first_label, says_continued
from quoteweave.core.text.tokens import words, written_forms
from quoteweave.index.lexical import LexicalIndex, best_positions
from quoteweave.index.term_weights import distinct

if TYPE_CHECKING:
    from quoteweave.index.term_weights import Mask, Positions, Scores

PAGE_B = 0.5
"""BM25's b for pages, whose lengths differ for other reasons than those of quotes."""
SIMILARITY = 0.3
NEXT, PREVIOUS = 0.3, 0.15
CONTINUED = 0.15
"""Added for a page on which a table of the best page goes on or begins."""
SIDE = 0.3
# How many best pages page feedback starts from, how many words of each it uses, and how many it considers.
SEEDS, SEED_WORDS, SEED_CANDIDATES = 2, 20, 40
# Most quotes of a page that are read, and most pages that one table goes on over, each way.
MAX_QUOTES, MAX_PAGES = 200, 5
# Most sides of a comparison that are searched for.
MAX_SIDES = 4
# Most words that two pages share and that an explanation shows.
SHOWN = 8
NEARBY = 1e-3
"""If fewer than `MIN_PAGES` pages are found, other pages of their documents gain at most this, the nearest most."""
MIN_PAGES = 10
# Fewest cells of a table's first line if that is to be a header by which tables are told apart.
_CELLS = 2

LoadQuotes = Callable[["Positions"], list[Quote]]
"""The quotes at some positions."""


class PageFeedback:
    """Finds the pages that belong with the best pages of one index."""

    def __init__(self, index: LexicalIndex, quotes: LoadQuotes) -> None:
        self._index, self._quotes = index, quotes
        # Different questions often have the same best pages.
        self._rare = lru_cache(maxsize=1024)(self._rare_words)
        self._similar = lru_cache(maxsize=1024)(self._similar_pages)
        self._tables = lru_cache(maxsize=1024)(self._tables_of)
        self._continues = lru_cache(maxsize=4096)(self._goes_on)

    def seeds(self, scores: "Scores") -> list[int]:
        """The pages that it starts from, best first."""
        best_pages: list[int] = best_positions(scores, SEEDS, self._index.page_order).tolist()
        return best_pages

    def scores(self, scores: "Scores", seeds: Sequence[int], sides: Sequence[str], within: "Mask | None") -> "Scores":
        """(m,) what pages gain from these seeds; the best of `scores` (m,) stays the best.

        `sides` are those of a comparison.
        """
        index, gained = self._index, np.zeros(len(scores), dtype=np.float32)
        if not seeds:
            return gained
        first = seeds[0]
        for seed in seeds:
            pages = index.pages_of(int(index.document_of[seed]))
            if pages.stop - pages.start == 1:
                continue  # the document has no other page
            similarity = self._similar(seed) if within is None else self._similar_pages(seed, within)
            share = similarity / max(float(similarity[seed - pages.start]), 1e-9) * (scores[seed] / scores[first])
            share[seed - pages.start] = 0
            gained[pages] = np.maximum(gained[pages], np.minimum(share, 1).astype(np.float32) * np.float32(SIMILARITY))
        for page, worth in ((first + 1, NEXT), (first - 1, PREVIOUS)):
            if self._is_followed(min(page, first)):
                gained[page] += worth
        for page in self.continued(first):
            gained[page] += CONTINUED
        for side in sides[:MAX_SIDES]:
            gained[self._best_of_side(side, first, within)] += SIDE
        gained *= np.float32(index.max_idf)
        if within is not None:
            gained[~within] = 0
        self._add_nearby_pages(scores + gained, gained, within)
        gained[first] = 0
        gained[first] = max(0.0, float((scores + gained).max() * 1.0001 - scores[first]))
        return gained

    def continued(self, page: int) -> list[int]:
        """The pages on which a table of this one goes on or begins."""
        after = takewhile(lambda at: self._continues(at - 1), range(page + 1, page + 1 + MAX_PAGES))
        before = takewhile(self._continues, range(page - 1, page - 1 - MAX_PAGES, -1))
        return [*after, *before]

    def _best_of_side(self, side: str, first: int, within: "Mask | None") -> "Positions":
        """The page, other than the first, that matches a side of a comparison best; none where none does."""
        side_scores = self._index.scores("pages", words(side), b=PAGE_B, within=within)
        side_scores[first] = 0
        if within is not None:
            side_scores[~within] = 0
        return best_positions(side_scores, 1, self._index.page_order)

    def reasons(
        self, seeds: Sequence[int], page: int, sides: Sequence[str] = (), within: "Mask | None" = None
    ) -> Iterator[str]:
        """How a page is related to the pages that page feedback started from and to `sides`, one phrase for each."""
        if page in seeds[:1]:
            yield "keeps the page with the most other evidence first"
            return
        for side in sides[:MAX_SIDES]:
            if page in self._best_of_side(side, seeds[0], within):
                yield f"best for: {side}"
        for seed in seeds:
            if page == seed or self._index.document_of[page] != self._index.document_of[seed]:
                continue
            seed_quotes = self._quotes(self._index.quotes_on([seed])[:1])
            place = seed_quotes[0].place if seed_quotes else "a page of headers and footers alone"
            if seed == seeds[0] and page in self.continued(seed):
                yield f"the table of {place} goes on"
            elif seed == seeds[0] and abs(page - seed) == 1:
                yield f"next to {place}"
            shared = [word for word in self._rare(seed) if self._index.scores("pages", [word])[page] > 0]
            if shared:
                forms = written_forms("\n".join(quote.all_text() for quote in self._first_quotes(seed)))
                yield f"shares with {place}: {', '.join(forms.get(word, word) for word in shared[:SHOWN])}"

    def _is_followed(self, page: int) -> bool:
        """Whether another page of the same document follows."""
        document_of = self._index.document_of
        return 0 <= page < len(document_of) - 1 and bool(document_of[page] == document_of[page + 1])

    def _goes_on(self, page: int) -> bool:
        """Whether the last table of a page goes on as the first of the next one."""
        if not self._is_followed(page):
            return False
        before, after = self._tables(page), self._tables(page + 1)
        return bool(before and after) and is_continued(before[-1], after[0])

    def _tables_of(self, page: int) -> list[Quote]:
        if page not in self._index.pages_with_reference(layout_token("table")):
            return []
        return [quote for quote in self._first_quotes(page) if quote.layout == "table"]

    def _first_quotes(self, page: int) -> Sequence[Quote]:

        return self._quotes(self._index.quotes_on([page])[:MAX_QUOTES])

    def _similar_pages(self, page: int, within: "Mask | None" = None) -> "Scores":
        """BM25 of the pages of a page's document for the rarest words of that page."""
        scores = self._index.scores("pages", self._rare(page), b=PAGE_B, within=within)
        return scores[self._index.pages_of(int(self._index.document_of[page]))].copy()

    def _rare_words(self, page: int) -> list[str]:
        """The most distinctive words of a page, by (1 + ln tf) × idf, that occur on other pages of its document too."""
        counts = Counter(word for quote in self._first_quotes(page) for word in words(quote.all_text()))
        weights = {}
        for word, count in counts.items():
            if not (word[0].isdigit() and len(word) < 3):
                weights[word] = (1 + math.log(count)) * self._index.idf(word)
        ranked = sorted(weights, key=lambda word: (-weights[word], word))[:SEED_CANDIDATES]
        shared = (word for word in ranked if self._index.on_several_pages(word, page))
        return list(islice(shared, SEED_WORDS))

    def _add_nearby_pages(self, scores: "Scores", gained: "Scores", within: "Mask | None") -> None:
        """Where few pages are found, give the other pages of their documents a score just above 0."""
        scored_pages = np.flatnonzero(scores > 0)
        if len(scored_pages) >= MIN_PAGES:
            return
        for document in distinct(self._index.document_of[scored_pages]).tolist():
            pages = self._index.pages_of(document)
            nearness = NEARBY / (1 + np.abs(np.arange(pages.stop - pages.start) - int(scores[pages].argmax())))
            gained[pages] += np.where(scores[pages] <= 0, nearness, 0).astype(np.float32)
        if within is not None:
            gained[~within] = 0


def is_continued(before: Quote, after: Quote) -> bool:
    """Whether the table `after` continues `before`, which is the last table of the page before.

    It does if its caption says so or has the same label. Without a caption of its own, it does if its first line says
    so or equals that of `before`, as continued tables repeat their header.
    """
    if after.caption:
        label = first_label(after.caption)
        return (label is not None and label == first_label(before.caption or "")) or says_continued(after.caption)
    return _header(before) == _header(after) != "" or says_continued(after.text.partition("\n")[0])


def _header(table: Quote) -> str:
    """The first line of a table in lower case; "" where it has a single cell."""
    line = " ".join(table.text.partition("\n")[0].casefold().split())
    return line if line.count("|") + 1 >= _CELLS else ""
