"""How the quotes of a context are put before a model: in which order, and in which words.

Models overlook what stands in the middle or at the end of a context (MMDocRAG, arXiv 2505.16470, section 4.6 and Figure
8), so its quotes can be shuffled, or the gold ones put at a place.
"""

import random
from collections.abc import Container, Sequence
from typing import Literal

from pydantic import Field, model_validator

from quoteweave.collection.views import with_ocr_text
from quoteweave.core.answers import Context
from quoteweave.core.protocols import ImageProvider
from quoteweave.core.records import Hit, Quote, Record

ImageView = Literal["all", "ocr_text", "vlm_text"]


class Arrangement(Record):
    """The order of a context's quotes, texts and images each by themselves."""

    order: Literal["kept", "shuffled", "gold_at"] = "kept"
    seed: int = Field(default=0, description="of what is shuffled; each question has an order of its own")
    place: int | None = Field(default=None, ge=1, description="where the first gold quote of a kind stands, from 1")

    @model_validator(mode="after")
    def _place_with_gold(self) -> "Arrangement":
        if (self.order == "gold_at") != (self.place is not None):
            raise ValueError("order 'gold_at' wants a place, and no other order takes one")
        return self

    def of(self, context: Context, example: str, gold: Container[str]) -> Context:
        """The context in this order; `gold` holds ids of quotes.

        With `gold_at`, the gold quotes of a kind stand together from that place on, or at the end where there are not
        so many others; all others keep their order.
        """
        if self.order == "kept":
            return context
        texts, images = (self._ordered(hits, example, gold) for hits in (context.texts, context.images))
        return context.model_copy(update={"texts": _numbered(texts), "images": _numbered(images)})

    def _ordered(self, hits: Sequence[Hit], example: str, gold: Container[str]) -> list[Hit]:
        if self.order == "shuffled":
            shuffled = list(hits)
            # Named by kind, so that a question with as many texts as images does not order both alike.
            kind = hits[0].quote.kind if hits else ""
            random.Random(f"{self.seed}:{example}:{kind}").shuffle(shuffled)
            return shuffled
        first = [hit for hit in hits if hit.quote.id in gold]
        rest = [hit for hit in hits if hit.quote.id not in gold]
        before = min((self.place or 1) - 1, len(rest))
        return [*rest[:before], *first, *rest[before:]]


def in_view(context: Context, view: ImageView) -> Context:
    """Image quotes with only those words, where they have them: what OCR read, or what a vision model wrote.

    The pure-text inputs of MMDocRAG (section 4.5 and Table 5). Captions stay. Raises ValueError where no image quote
    has such words: all would be read in others, and the run would not be what it says of itself.
    """
    if view == "all":
        return context
    if context.images and not any(_words(hit.quote, view) for hit in context.images):
        raise ValueError(f"no image quote of this question has {view}; describe the pictures, or name another view")
    images = tuple(hit.model_copy(update={"quote": _in_view(hit.quote, view)}) for hit in context.images)
    return context.model_copy(update={"images": images})


def with_ocr_texts(context: Context, pictures: ImageProvider) -> Context:
    """Image quotes with what OCR reads on their crops. Raises DocumentError where a crop cannot be had."""
    images = (hit.model_copy(update={"quote": with_ocr_text(hit.quote, pictures)}) for hit in context.images)
    return context.model_copy(update={"images": tuple(images)})


def _words(quote: Quote, view: ImageView) -> str | None:
    return quote.vlm_text if view == "vlm_text" else quote.ocr_text or quote.text


def _in_view(quote: Quote, view: ImageView) -> Quote:
    kept = _words(quote, view)
    if not kept:
        return quote
    if view == "vlm_text":
        return quote.model_copy(update={"text": "", "ocr_text": None})
    return quote.model_copy(update={"text": kept, "ocr_text": None, "vlm_text": None})


def _numbered(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    return tuple(hit.model_copy(update={"rank": rank}) for rank, hit in enumerate(hits, start=1))
