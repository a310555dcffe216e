"""What a question's words tell of the pages and quotes of one document, among which they may be frequent.

Over a collection the name of a document, and whatever it is about, is rare, and decides which document is found. On its
own pages it is everywhere and does not tell which of them answers: of the pages on jq, "How is jq built?" asks for the
one with "build". So the best documents are searched once more as if each were asked alone, where a word's rarity is the
mean of that within the document and that in the collection.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from quoteweave.index.lexical import LexicalIndex, best_positions
from quoteweave.retrievers.pages.page_feedback import NEARBY, PAGE_B

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Scores = npt.NDArray[np.float32]

BEST_QUOTE = 0.5
OUTLINE = 0.4
BEST_PAGES = 20
"""Documents of so many of the best pages are searched once more."""


class WithinDocuments(NamedTuple):
    """What pages and quotes are worth within their documents."""

    gained: "Scores"
    """(m,) what each page gains or loses beside the others of its document, of which the best keeps its score."""
    quote_scores: "Scores"
    """(n,) BM25 of each quote; among all quotes for documents that were not searched once more."""
    best_quote: "Scores"
    """(m,) the best of these of each page."""


def score_within_documents(
    index: LexicalIndex, tokens: Sequence[str], total: "Scores", by_words: "Scores", among_all: "tuple[Scores, Scores]"
) -> WithinDocuments:
    """Score the best documents by a question's words as if each were asked alone.

    `total` (m,) is the evidence so far, `by_words` (m,) the share of words, best quote and outline in it, and
    `among_all` are BM25 of each quote (n,) and of the best of each page (m,) among all. Documents stay in the order of
    their best pages, and no page that was found is lost.
    """
    import numpy as np

    gained, own_scores, best_quotes = np.zeros_like(total), among_all[0].copy(), among_all[1].copy()
    best = best_positions(total, BEST_PAGES, index.page_order)
    documents: list[int] = np.unique(index.document_of[best]).tolist()
    if not documents:
        return WithinDocuments(gained, own_scores, best_quotes)
    of_quotes = index.scores_in_documents("quotes", tokens, documents)
    of_pages = index.scores_in_documents("pages", tokens, documents, b=PAGE_B)
    of_outline = index.scores_in_documents("outline", tokens, documents)
    for document, own, words, outline in zip(documents, of_quotes, of_pages, of_outline, strict=True):
        pages, quotes = index.pages_of(document), index.quotes_of_document(document)
        own_scores[quotes] = own
        best_quote = np.zeros_like(words)
        np.maximum.at(best_quote, index.page_of[quotes] - pages.start, own)
        before = total[pages]
        best_quotes[pages] = best_quote
        own_words = words + np.float32(BEST_QUOTE) * best_quote + np.float32(OUTLINE) * outline
        after = before + own_words - by_words[pages]
        after += before.max() - after[before > 0].max()
        gained[pages] = np.where(before > 0, np.maximum(after, np.float32(NEARBY)) - before, np.float32(0))
    return WithinDocuments(gained, own_scores, best_quotes)
