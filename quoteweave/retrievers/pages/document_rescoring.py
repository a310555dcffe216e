"""What a question's words tell of the pages and quotes of one document, among which they may be frequent.

Over a collection the name of a document, and whatever it is about, is rare, and decides which document is found. On its
own pages it is everywhere and does not tell which of them answers: of the pages on jq, "How is jq built?" asks for the
one with "build". So the best documents are searched once more as if each were asked alone, where a word's rarity is the
mean of that within the document and that in the collection.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quoteweave.collection.arrays import np
from quoteweave.index.lexical import LexicalIndex, best_positions
from quoteweave.index.term_weights import distinct
from quoteweave.retrievers.pages.page_feedback import NEARBY, PAGE_B

if TYPE_CHECKING:
    from quoteweave.index.term_weights import Scores

BEST_QUOTE = 0.5
OUTLINE = 0.4
BEST_PAGES = 20
"""The documents of this many of the best pages are searched once more."""


def rescore_within_documents(
    index: LexicalIndex, tokens: Sequence[str], total: "Scores", by_words: "Scores", among_all: "tuple[Scores, Scores]"
) -> "Scores":
    """Score the best documents by a question's words as if each were asked alone.

    `total` (m,) is the evidence so far, and `by_words` (m,) the part of it that comes from words, best quote and
    outline. `among_all` is the BM25 of each quote (n,) and of the best quote of each page (m,) in a search of all
    documents; the values of the best documents are overwritten. Returns what each page (m,) gains or loses beside the
    others of its document. Documents stay in the order of their best pages, and no page that was found is lost.
    """
    gained, (quote_scores, best_quote) = np.zeros_like(total), among_all
    best = best_positions(total, BEST_PAGES, index.page_order)
    if not len(best):
        return gained
    documents = distinct(index.document_of[best])
    quotes, own_scores = index.scores_in_documents("quotes", tokens, documents)
    pages, words = index.scores_in_documents("pages", tokens, documents, b=PAGE_B)
    _, outline = index.scores_in_documents("outline", tokens, documents)
    quote_scores[quotes], best_quote[pages] = own_scores, 0
    np.maximum.at(best_quote, index.page_of[quotes], own_scores)
    before, document_index = total[pages], documents.searchsorted(index.document_of[pages])
    own_words = words + np.float32(BEST_QUOTE) * best_quote[pages] + np.float32(OUTLINE) * outline
    after = before + own_words - by_words[pages]
    first = document_index.searchsorted(np.arange(len(documents)))
    lost = np.maximum.reduceat(before, first) - np.maximum.reduceat(np.where(before > 0, after, -np.inf), first)
    after += lost[document_index]
    gained[pages] = np.where(before > 0, np.maximum(after, np.float32(NEARBY)) - before, np.float32(0))
    return gained
