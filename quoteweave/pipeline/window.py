"""Fits the context of a question to the window of the model that reads it."""

from collections.abc import Sequence

from pydantic import Field

from quoteweave.core.answers import Context
from quoteweave.core.chat.usage import estimate_tokens, max_fair_share
from quoteweave.core.records import Hit, Quote, Record
from quoteweave.generation.prompt_messages import source_of
from quoteweave.generation.prompt_pictures import PictureLimits

PROMPT_TOKENS = 1_000
"""Tokens that are reserved for instructions, the question, and the names and places of quotes."""


class Window(Record):
    """The context window of a model, and how much of it is reserved.

    >>> rag = Rag(LexicalRetriever(collection), ExtractiveGenerator(), window=Window(tokens=8192, answer=1024))
    >>> rag.answer("What went by rail?").text.splitlines()[0]
    'Timber went by rail [1].'
    """

    tokens: int = Field(ge=1, description="that the model reads and writes together")
    answer: int = Field(default=0, ge=0, description="of these, tokens that are left for the answer")
    pictures: bool = Field(default=False, description="whether it is shown pictures")
    limits: PictureLimits = Field(default=PictureLimits(), description="of these")


def fit_to_window(context: Context, window: Window | None, question: str = "") -> tuple[Context, int]:
    """Cut quotes so that the context fits the window; return the context and how many quotes were cut.

    All quotes are cut to the same length, the greatest with which all of them fit; shorter ones are not cut. A quote
    that is shown as a picture, within the limits, counts as a picture of the greatest size and not by its words.
    Without a window, nothing is cut.
    """
    if window is None:
        return context, 0
    limits = window.limits
    pictured = [hit for hit in context.images if window.pictures and hit.quote.image is not None][: limits.max_pictures]
    worded = [*context.texts, *(hit for hit in context.images if hit not in pictured)]
    reserved = PROMPT_TOKENS + _extra_tokens(context, pictured, question) + limits.tokens(len(pictured))
    room = max(0, window.tokens - window.answer - reserved)
    sizes = [_size(hit.quote.shown_text) for hit in worded]
    most = max_fair_share(sizes, room)
    if most is None:
        return context, 0
    cut = {id(hit) for hit, size in zip(worded, sizes, strict=True) if size > most}
    texts, images = (
        tuple(_cut(hit, most) if id(hit) in cut else hit for hit in hits) for hits in (context.texts, context.images)
    )
    return context.model_copy(update={"texts": texts, "images": images}), len(cut)


def _size(words: str) -> int:
    """Estimate the tokens of words in a prompt, in which the indentation of each further line takes a token."""
    return estimate_tokens(words) + max(0, len(words.splitlines()) - 1)


def _extra_tokens(context: Context, pictured: Sequence[Hit], question: str) -> int:
    """Estimate tokens of question, names, places and picture captions that exceed `PROMPT_TOKENS`."""
    texts_read = [question, *(source_of(hit.quote) for hit in context.hits)]
    texts_read += [hit.quote.caption_and_unit or "" for hit in pictured]
    return max(0, sum(map(estimate_tokens, texts_read)) - 3 * PROMPT_TOKENS // 10)


def _cut(hit: Hit, tokens: int) -> Hit:
    words = hit.quote.shown_text
    low, high = 0, len(words)
    while low < high:  # binary search for the longest beginning of at most so many tokens
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _size(words[:middle]) <= tokens else (low, middle - 1)
    quote: Quote = hit.quote.model_copy(
        update={**dict.fromkeys(("caption", "unit", "chapter_unit", "ocr_text", "vlm_text")), "text": words[:low]}
    )
    return hit.model_copy(update={"quote": quote})
