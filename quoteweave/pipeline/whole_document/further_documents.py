"""Adds to a context a quote of each further document that has as much of the question as the best quote found.

A context has room for some quotes. Where these are of documents that are alike, such as leases, there may be others
that say as much, and an answer must not look as if these were all.
"""

from collections.abc import Sequence

from quoteweave.core.answers import Context
from quoteweave.core.records import Hit, copy_key
from quoteweave.core.text.question_analysis import with_words_alike
from quoteweave.generation.extractive.locating import MAX_PLACES
from quoteweave.generation.extractive.whole_document.other_documents import MAX_DOCUMENTS, has_words
from quoteweave.generation.relevance import question_terms, subject_terms, words_with_headings

MAX_SEARCHED = 200
"""How many quotes are searched for further documents, at most."""


def repeated_words(question: str, context: Context) -> frozenset[str]:
    """The words of the question in the best quote, if more documents than an answer shows have them all; else none."""
    if len({hit.quote.document for hit in context.hits}) <= MAX_PLACES:
        return frozenset()
    subject = frozenset(subject_terms(question_terms(question)))
    held = [with_words_alike(words_with_headings(hit.quote), subject) & subject for hit in context.hits]
    most = max(held, key=len, default=frozenset[str]())
    documents = {hit.quote.document for hit, own in zip(context.hits, held, strict=True) if own >= most}
    return most if len(documents) > MAX_PLACES else frozenset()


def add_further_documents(context: Context, found: Sequence[Hit], words_held: frozenset[str]) -> Context:
    """Return the context with the best of these hits, in their order, of each further document, if it has these words.

    They are its `further` hits; the first of them take the place of texts that only repeat those of other documents.
    """
    known, best = {hit.quote.document for hit in context.hits}, dict[str, Hit]()
    for hit in found:
        best.setdefault(hit.quote.document, hit)
    further = [hit for name, hit in best.items() if name not in known and has_words(hit.quote, words_held)]
    context = _without_copies(context, [hit for hit in further if hit.quote.kind == "text"])
    held_now = {hit.quote.document for hit in context.hits}
    kept = [hit for hit in further if hit.quote.document not in held_now]
    return context.model_copy(update={"further": tuple(kept[: MAX_DOCUMENTS + 1])})


def _without_copies(context: Context, further: Sequence[Hit]) -> Context:
    """The context with texts of further documents in place of those that repeat a text of another document."""
    first: dict[str, Hit] = {}
    spare = [hit for hit in context.texts if first.setdefault(copy_key(hit.quote), hit) is not hit]
    others = [hit for hit in further if first.setdefault(copy_key(hit.quote), hit) is hit]
    dropped = {hit.quote.id for hit in spare[::-1][: len(others)]}
    filled = [hit for hit in context.texts if hit.quote.id not in dropped] + others[: len(spare)]
    ranked = [hit.model_copy(update={"rank": rank}) for rank, hit in enumerate(filled, start=1)]
    return context.model_copy(update={"texts": tuple(ranked)})
