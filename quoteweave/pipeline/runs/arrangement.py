"""Orders the quotes of contexts for a run, and chooses the words by which image quotes are represented.

Models overlook quotes in the middle or at the end of a context (MMDocRAG, arXiv 2505.16470, section 4.6 and Figure 8),
so the quotes can be shuffled, or the gold ones put at a given place.
"""

import random
from collections.abc import Container, Sequence
from typing import Literal

from pydantic import Field, model_validator

from quoteweave.collection.views import with_ocr_text
from quoteweave.core.answers import Context
from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.examples import Example
from quoteweave.core.protocols import OcrTextProvider
from quoteweave.core.records import Hit, Quote, Record

ImageView = Literal["all", "ocr_text", "vlm_text"]
Order = Literal["kept", "shuffled", "gold_at", "published", "published_local"]
PUBLISHED_SEED = 42


class Arrangement(Record):
    """The order of a context's quotes, separately for text and image quotes; sources are ordered all together."""

    order: Order = "kept"
    seed: int = Field(default=0, description="of what is shuffled; each question has an order of its own")
    place: int | None = Field(default=None, ge=1, description="where the first gold quote of a kind stands, from 1")

    @model_validator(mode="after")
    def _place_with_gold(self) -> "Arrangement":
        if (self.order == "gold_at") != (self.place is not None):
            raise ValueError("order 'gold_at' wants a place, and no other order takes one")
        return self

    def arrange(self, context: Context, example: str, gold: Container[str]) -> Context:
        """Return the context in this order; `gold` holds ids of quotes.

        With `gold_at`, the gold quotes of a kind are together from that place on, or at the end if there are fewer
        others; all others keep their order.
        """
        if self.order == "kept":
            return context
        texts, images = (self._ordered(hits, example, gold) for hits in (context.texts, context.images))
        return context.model_copy(update={"texts": _numbered(texts), "images": _numbered(images)})

    def order_sources(self, example: Example) -> tuple[str, ...]:
        """Return the ids of the example's quotes in the order in which they are shown as sources, kinds mixed.

        `published` and `published_local` are MCiteBench's own (caiyuhu/MCiteBench, generation/). For models behind an
        API, `published` shuffles evidence and distractors with seed 42, which is set again for each question. So five
        sources always come as the fourth, second, third, fifth and first of the list, and the first piece of evidence
        is always last, unless it is a text. Among the places of texts, texts are sorted by their numbers. For open
        models, `published_local` puts texts first, sorted by their numbers, then pictures, those of the evidence before
        others. Raises UsageError for these two orders if the dataset does not list evidence and distractors.
        """
        context = example.context or Context()
        texts = [hit.quote.id for hit in context.texts]
        names = [*texts, *(hit.quote.id for hit in context.images)]
        if self.order == "shuffled":
            random.Random(f"{self.seed}:{example.id}:sources").shuffle(names)
        elif self.order == "gold_at":
            gold = [name for name in names if (example.reference.relevant or {}).get(name, 0) > 0]
            other_names = [name for name in names if name not in gold]
            before = min((self.place or 1) - 1, len(other_names))
            names = [*other_names[:before], *gold, *other_names[before:]]
        elif self.order != "kept":
            names = self._as_published(example, texts)
        return tuple(names)

    def _as_published(self, example: Example, texts: Sequence[str]) -> list[str]:
        listed = list(example.sources)
        if not listed:
            raise UsageError(
                f"order {self.order!r} is of MCiteBench's lists of evidence and distractors, and question "
                f"{example.id!r} has none (distractor_contents); set another order"
            )
        if self.order == "published_local":
            return [*texts, *(name for name in listed if name not in texts)]
        random.Random(PUBLISHED_SEED).shuffle(listed)
        by_number = iter(texts)
        return [next(by_number) if name in texts else name for name in listed]

    def _ordered(self, hits: Sequence[Hit], example: str, gold: Container[str]) -> list[Hit]:
        if self.order == "shuffled":
            shuffled = list(hits)
            # The kind is part of the seed, so that as many texts as images are not ordered alike.
            kind = hits[0].quote.kind if hits else ""
            random.Random(f"{self.seed}:{example}:{kind}").shuffle(shuffled)
            return shuffled
        first = [hit for hit in hits if hit.quote.id in gold]
        other_hits = [hit for hit in hits if hit.quote.id not in gold]
        before = min((self.place or 1) - 1, len(other_hits))
        return [*other_hits[:before], *first, *other_hits[before:]]


def with_image_view(context: Context, view: ImageView) -> Context:
    """Represent image quotes by one view alone, if it is known: OCR text or a vision model's description.

    Captions stay, and a picture on which OCR read nothing is represented by its caption alone. These are the pure-text
    inputs of MMDocRAG (section 4.5 and Table 5). Raises DatasetError if no image quote has that view: all would be
    represented by other words, and the run would not be what its settings say.
    """
    if view == "all":
        return context
    if context.images and all(_words(hit.quote, view) is None for hit in context.images):
        advice = (
            "describe the pictures"
            if view == "vlm_text"
            else "name the folder of a dataset's pictures with --image-folder, to have them read"
        )
        raise DatasetError(f"no image quote of this question has {view}; {advice}, or name another view")
    images = tuple(hit.model_copy(update={"quote": _with_view(hit.quote, view)}) for hit in context.images)
    return context.model_copy(update={"images": images})


def with_ocr_texts(context: Context, pictures: OcrTextProvider) -> Context:
    """Give image quotes the text that OCR reads on their crops. Raises DocumentError if a crop cannot be read."""
    images = (hit.model_copy(update={"quote": with_ocr_text(hit.quote, pictures)}) for hit in context.images)
    return context.model_copy(update={"images": tuple(images)})


def _words(quote: Quote, view: ImageView) -> str | None:
    """The words of a view; None if they are not known."""
    if view == "vlm_text":
        return quote.vlm_text or None
    return quote.ocr_text or quote.text or (None if quote.ocr_text is None else "")


def _with_view(quote: Quote, view: ImageView) -> Quote:
    view_words = _words(quote, view)
    if view_words is None:
        return quote
    if view == "vlm_text":
        return quote.model_copy(update={"text": "", "ocr_text": None})
    return quote.model_copy(update={"text": view_words, "ocr_text": None, "vlm_text": None})


def _numbered(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    return tuple(hit.model_copy(update={"rank": rank}) for rank, hit in enumerate(hits, start=1))


def no_collection(setting: str, examples: Sequence[Example]) -> UsageError:
    """The error for a setting whose quotes are to be retrieved although no collection is named."""
    has_own_quotes = any(example.context is not None for example in examples)
    advice = ', or answer from the dataset\'s own with quotes = "dataset"' if has_own_quotes else ""
    return UsageError(f"setting {setting} takes its quotes from a collection: name it with -c{advice}")
