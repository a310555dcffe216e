"""Made documents whose image quotes have crops, as large as those of charts and tables cut out at 144 dpi."""

import io
import random
from collections.abc import Sequence
from itertools import count

from made_quotes import Writing, make_document, put

from quoteweave.collection.collection import Collection
from quoteweave.core.records import ParsedDocument

CROPS = 200
SIZE = (990, 560)
BARS = 24


def fill_with_crops(collection: Collection, writing: Writing, *, quotes: int, documents: int) -> None:
    """Put made documents into a collection, whose image quotes reuse `CROPS` crops in turn; build its index."""
    with collection.writer() as writer:
        chance = random.Random(4)
        crops = [collection.images.put(_chart(chance), suffix=".png") for _ in range(CROPS)]
        first = count()
        for number in range(documents):
            share = quotes * (number + 1) // documents - quotes * number // documents
            put(writer, f"made-{number:04d}.txt", _with_crops(make_document(writing, share), crops, first))


def _with_crops(parsed: ParsedDocument, crops: Sequence[str], number: "count[int]") -> ParsedDocument:
    quotes = (
        quote.model_copy(update={"image": crops[next(number) % len(crops)]}) if quote.kind == "image" else quote
        for quote in parsed.quotes
    )
    return parsed.model_copy(update={"quotes": tuple(quotes)})


def _chart(chance: random.Random) -> bytes:
    """A PNG of bars with a little noise, so that it compresses no better than a crop of a real page."""
    from PIL import Image

    width, height = SIZE
    chart, step = Image.new("RGB", SIZE, "white"), width // BARS
    for bar in range(BARS):
        size = step - 8, chance.randrange(40, height - 20)
        grain = Image.frombytes("L", size, chance.randbytes(size[0] * size[1])).point(lambda value: 120 + value // 32)
        chart.paste(Image.merge("RGB", (grain, grain, grain)), (bar * step + 4, height - size[1]))
    data = io.BytesIO()
    chart.save(data, "PNG")
    return data.getvalue()
