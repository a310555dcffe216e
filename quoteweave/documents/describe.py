"""What a vision model would say of an image quote: the hook through which `vlm_text` is filled."""

import asyncio

from quoteweave.core.protocols import Describer
from quoteweave.core.records import ParsedDocument, Quote
from quoteweave.index.images import ImageStore


def described(parsed: ParsedDocument, images: ImageStore, describer: Describer) -> ParsedDocument:
    """The document with `vlm_text` on every image quote that has a stored crop. Raises what the describer raises."""
    return asyncio.run(_described(parsed, images, describer))


async def _described(parsed: ParsedDocument, images: ImageStore, describer: Describer) -> ParsedDocument:
    quotes = await asyncio.gather(*(_with_words(quote, images, describer) for quote in parsed.quotes))
    return parsed.model_copy(update={"quotes": tuple(quotes)})


async def _with_words(quote: Quote, images: ImageStore, describer: Describer) -> Quote:
    if quote.kind != "image" or quote.image is None:
        return quote
    words = await describer.describe(images.path(quote.image).read_bytes(), quote.caption)
    return quote.model_copy(update={"vlm_text": words or None})
