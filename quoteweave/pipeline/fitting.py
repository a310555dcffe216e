"""A context is cut to what a model can read: the longest quotes first, by one rule, and counted."""

from collections.abc import Sequence

from quoteweave.core.answers import Context
from quoteweave.core.estimates import PICTURE_TOKENS, tokens_of
from quoteweave.core.records import Hit, Quote

PROMPT_TOKENS = 1_000
"""Instructions, question, and the names and places of quotes."""


def fit(context: Context, window: int | None, *, pictures: bool) -> tuple[Context, int]:
    """The context with its quotes cut so that it takes about `window` tokens at most, and how many were cut.

    The rule: there is one greatest length, the same for all quotes, and what is longer is cut to it; it is the greatest
    with which all of them fit. Quotes that are shown as `pictures` take no words. None of `window` cuts nothing.
    """
    if window is None:
        return context, 0
    shown = [hit for hit in context.images if pictures and hit.quote.image is not None]
    worded = [*context.texts, *(hit for hit in context.images if hit not in shown)]
    room = max(0, window - PROMPT_TOKENS - PICTURE_TOKENS * len(shown))
    sizes = [tokens_of(hit.quote.words()) for hit in worded]
    most = _greatest(sizes, room)
    if most is None:
        return context, 0
    cut = {id(hit) for hit, size in zip(worded, sizes, strict=True) if size > most}
    texts, images = (
        tuple(_cut(hit, most) if id(hit) in cut else hit for hit in hits) for hits in (context.texts, context.images)
    )
    return Context(texts=texts, images=images), len(cut)


def _greatest(sizes: Sequence[int], room: int) -> int | None:
    """The greatest length with which sizes cut to it sum to `room` at most; None where nothing has to be cut."""
    left, ordered = room, sorted(sizes)
    for place, size in enumerate(ordered):
        share = left // (len(ordered) - place)
        if size > share:
            return share
        left -= size
    return None


def _cut(hit: Hit, tokens: int) -> Hit:
    words = hit.quote.words()
    low, high = 0, len(words)
    while low < high:  # the longest beginning of so many tokens
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens_of(words[:middle]) <= tokens else (low, middle - 1)
    quote: Quote = hit.quote.model_copy(
        update={"caption": None, "text": words[:low], "ocr_text": None, "vlm_text": None}
    )
    return hit.model_copy(update={"quote": quote})
