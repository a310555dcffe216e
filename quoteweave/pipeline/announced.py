"""Adds to a context what its texts announce: the code, list, formula or table behind "To install it, run:".

A heading that is the question ("Who can nominate members?") announces the text under it.

A text that ends with a colon says half of what it has to say, and the quotes behind it the other half. A search ranks
each by itself, so that it may find the one without the other.
"""

import re
from collections.abc import Iterator, Sequence

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Context, ContextSize
from quoteweave.core.errors import UsageError
from quoteweave.core.records import Filter, Hit, Quote
from quoteweave.core.text.continuations import announces
from quoteweave.core.text.question_analysis import interrogative_words
from quoteweave.core.text.tokens import words
from quoteweave.generation.relevance import question_terms, subject_terms

MOST_ANNOUNCING = 6
"""Most texts of a context, the best, for which what they announce is looked up."""
MOST_FOLLOWING = 5
"""Most quotes that are added of what one text announces, such as the items of a list; all of them are named."""
# The caption of a listing stands above it, and a figure at the top of the page on which a list goes on.
_BETWEEN = ("caption", "figure", "chart")
# On a page a footnote may stand between a sentence and what it announces; its number touches its first word.
_FOOTNOTE = re.compile(r"\s*(?:\d{1,2}(?=[^\W\d_])|[*†‡§])")


def add_announced(
    question: str, context: Context, collection: Collection, where: Filter, split: ContextSize
) -> Context:
    """Return the context with what its best texts announce.

    What the search did not find stands behind its hits, in place of the last ones where the context would outgrow
    `split`: at most half of the quotes of a kind are such, so that a context of 15 quotes is one of 15. A filter by
    kind or layout leaves everything as it is. Raises CollectionError for a damaged collection.
    """
    if where.kind is not None or where.layouts is not None:
        return context
    subject = frozenset(subject_terms(question_terms(question)))
    announcing = [hit.quote for hit in context.texts if announces(hit.quote.text) or _is_asked(hit.quote, subject)]
    announcing = announcing[:MOST_ANNOUNCING]
    announced = {quote.id: found for quote in announcing if (found := _announced_by(quote, collection, where))}
    there = {hit.quote.id for hit in (*context.texts, *context.images)}
    added = {one.id: one for found in announced.values() for one in found[:MOST_FOLLOWING] if one.id not in there}
    return context.model_copy(
        update={
            "texts": _with_added(context.texts, [one for one in added.values() if one.kind == "text"], split.texts),
            "images": _with_added(context.images, [one for one in added.values() if one.kind == "image"], split.images),
            "announced": {id: tuple(one.id for one in found) for id, found in announced.items()},
        }
    )


def _is_asked(quote: Quote, subject: frozenset[str]) -> bool:
    """Whether a quote is a heading with the very words that the question is about."""
    return quote.layout == "title" and bool(subject) and subject == frozenset(words(quote.text)) - interrogative_words()


def _with_added(found: Sequence[Hit], added: Sequence[Quote], most: int) -> tuple[Hit, ...]:
    lowest = found[-1].score if found else 0.0
    added = added[: most // 2]
    hits = found[: most - len(added)]
    return (*hits, *(Hit(rank=len(hits) + at, score=lowest, quote=quote) for at, quote in enumerate(added, start=1)))


def _announced_by(quote: Quote, collection: Collection, where: Filter) -> list[Quote]:
    """The quote behind a text, or those of a list; what announces something in turn ("Filename:") brings that too."""
    found: list[Quote] = []
    for one in _quotes_behind(quote, collection, where):
        if one.layout in ("title", "page"):
            break
        if not found and (one.layout in _BETWEEN or _FOOTNOTE.match(one.text)):
            continue
        if quote.has_pages and one.page != quote.page and one.layout != "list":
            break  # at the top of a page may stand a caption, or what goes on from elsewhere
        if found and not announces(found[-1].text) and not found[-1].layout == one.layout == "list":
            break
        found.append(one)
    return found


def _quotes_behind(quote: Quote, collection: Collection, where: Filter) -> Iterator[Quote]:
    """Those behind a quote on its page and the next, without headers and footers; none where it is no longer there."""
    near = Filter(documents=(quote.document,), first_page=quote.page, last_page=quote.page + 1)
    try:
        quotes = collection.quotes_at(collection.select(where.intersect(near)).tolist())
    except UsageError:  # its document was removed since the search
        return
    here = False
    for one in quotes:
        if here and one is not None:
            yield one
        here = here or (one is not None and one.id == quote.id)
