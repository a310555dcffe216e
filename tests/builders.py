"""Quotes, hits, contexts and examples for tests in which most of their fields play no part; and files of JSON lines."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TypedDict, Unpack
from zlib import crc32

from quoteweave.core.answers import Context
from quoteweave.core.boxes import Box
from quoteweave.core.examples import Example, Reference
from quoteweave.core.records import IMAGE_LAYOUTS, Hit, Kind, Layout, Query, Quote


class QuoteFields(TypedDict, total=False):
    """The fields of a quote but for its text."""

    id: str
    document: str
    page: int
    page_label: str
    bbox: Box
    kind: Kind
    layout: Layout
    layout_id: int | None
    section: str | None
    caption: str | None
    unit: str | None
    chapter_unit: str | None
    ocr_text: str | None
    vlm_text: str | None
    image: str | None
    has_pages: bool


def make_quote(text: str = "", **fields: Unpack[QuoteFields]) -> Quote:
    """A paragraph of the first page of report.pdf, unless `fields` say otherwise.

    A kind alone makes it a paragraph or a figure, a layout alone decides its kind. Other texts have other ids.
    """
    quote_fields: QuoteFields = {"document": "report.pdf", "page": 0, "bbox": (0, 0, 1, 1), **fields}
    layout = quote_fields.setdefault("layout", "figure" if quote_fields.get("kind") == "image" else "paragraph")
    quote_fields.setdefault("kind", "image" if layout in IMAGE_LAYOUTS else "text")
    quote_fields.setdefault("page_label", str(quote_fields["page"] + 1))
    quote_fields.setdefault(
        "id", f"{quote_fields['document']}:{quote_fields['page']}:{crc32(text.encode('utf-8', 'surrogatepass'))}"
    )
    return Quote(text=text, **quote_fields)


def make_hits(quotes: Iterable[Quote]) -> list[Hit]:
    """The quotes as a retriever ranks them: in this order, with scores that fall."""
    return [Hit(rank=rank, score=1 / rank, quote=quote) for rank, quote in enumerate(quotes, start=1)]


def make_context(*quotes: Quote | str) -> Context:
    """The context of these quotes, ranked in this order; a string stands for a paragraph."""
    hits = make_hits(make_quote(quote) if isinstance(quote, str) else quote for quote in quotes)
    texts, images = (tuple(hit for hit in hits if hit.quote.kind == kind) for kind in ("text", "image"))
    return Context(texts=texts, images=images)


def make_example(
    name: str = "q",
    reference: Reference | None = None,
    *,
    question: str = "?",
    context: Context | None = None,
    document: str | None = None,
) -> Example:
    """A question of a dataset; without `reference`, nothing is known of its answer."""
    known_reference = Reference() if reference is None else reference
    return Example(id=name, query=Query(text=question), context=context, document=document, reference=known_reference)


def write_json_lines(path: Path, rows: Iterable[object]) -> Path:
    """Write a file with a line of JSON for each row, and return its path."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path
