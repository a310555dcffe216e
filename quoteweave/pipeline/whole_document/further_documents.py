"""Finds a quote of each further document that has as much of the question as the best quote of a context.

A context has room for some quotes. Where these are of documents that are alike, such as leases, there may be others
that say as much, and an answer must not look as if these were all.
"""

from collections.abc import Sequence

from quoteweave.core.answers import Context
from quoteweave.core.records import WITHOUT_STATEMENTS, Hit, copy_key
from quoteweave.core.text.foreign_languages import permission_stems
from quoteweave.core.text.question_analysis import with_words_alike
from quoteweave.generation.extractive.locating import MAX_PLACES
from quoteweave.generation.relevance import (
    coverage,
    question_terms,
    says_all,
    weigh_terms,
    words_with_headings,
)

MAX_SEARCHED = 200
"""How many quotes are searched for further documents, at most."""
MAX_FURTHER = 30
"""How many further documents are read, at most."""
MIN_HELD = 0.6
"""The least share of the question's weight, by the rarity of its words, that the best quote has."""


def repeated_words(question: str, context: Context) -> frozenset[str]:
    """The words of the question in the best quote, if more documents than an answer shows have them all; else none.

    There are none either if they have less of its weight than `MIN_HELD`. Words for what is allowed are left out, as
    others may forbid it.
    """
    if len({hit.quote.document for hit in context.hits}) <= MAX_PLACES:
        return frozenset()
    terms, texts = question_terms(question), [words_with_headings(hit.quote) for hit in context.hits]
    words_held = [with_words_alike(words_of_text, terms.subject) & terms.subject for words_of_text in texts]
    most = max(words_held, key=len, default=frozenset[str]())
    documents = {
        hit.quote.document for hit, hit_words in zip(context.hits, words_held, strict=True) if hit_words >= most
    }
    weights = weigh_terms(terms, texts, context.rarity)
    enough = coverage(weights, most) >= MIN_HELD * coverage(weights, terms.subject)
    return (most - permission_stems() or most) if enough and len(documents) > MAX_PLACES else frozenset()


def find_further(hits: Sequence[Hit], words_held: frozenset[str]) -> list[Hit]:
    """The best of these hits of each document, in their order, that has these words and may have statements."""
    best = dict[str, Hit]()
    for hit in hits:
        if hit.quote.layout not in WITHOUT_STATEMENTS and says_all(words_with_headings(hit.quote), words_held):
            best.setdefault(hit.quote.document, hit)
    return list(best.values())[:MAX_FURTHER]


def replace_copies(context: Context, further: Sequence[Hit]) -> Context:
    """The context with texts of further documents in place of those that repeat a text of another document."""
    first, documents = dict[str, Hit](), {hit.quote.document for hit in context.hits}
    spare = [hit for hit in context.texts if first.setdefault(copy_key(hit.quote), hit) is not hit]
    texts = (hit for hit in further if hit.quote.kind == "text" and hit.quote.document not in documents)
    replacements = [hit for hit in texts if first.setdefault(copy_key(hit.quote), hit) is hit]
    dropped = {hit.quote.id for hit in spare[::-1][: len(replacements)]}
    filled = [hit for hit in context.texts if hit.quote.id not in dropped] + replacements[: len(spare)]
    ranked = [hit.model_copy(update={"rank": rank}) for rank, hit in enumerate(filled, start=1)]
    return context.model_copy(update={"texts": tuple(ranked)})
