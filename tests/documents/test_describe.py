"""Every image quote with a crop is described, and nothing else."""

from pathlib import Path

from quoteweave.core.records import Kind, Layout, Page, ParsedDocument, Quote
from quoteweave.documents.describe import described
from quoteweave.index.images import ImageStore


class Parrot:
    """Describes a picture by its caption and its size in bytes."""

    name = "parrot-1"

    async def describe(self, image: bytes, caption: str | None) -> str:
        return f"{caption}: {len(image)} bytes" if caption else ""


def quote(ordinal: int, kind: Kind, layout: Layout, *, image: str | None = None, caption: str | None = None) -> Quote:
    place = {"id": f"0:{ordinal}", "document": "", "page": 0, "page_label": "1", "bbox": (0.0, 0.0, 10.0, 10.0)}
    return Quote.model_validate({**place, "kind": kind, "layout": layout, "image": image, "caption": caption})


def test_only_stored_crops_are_described(tmp_path: Path) -> None:
    images = ImageStore(tmp_path)
    key = images.put(b"picture", suffix=".png")
    quotes = (
        quote(0, "text", "paragraph"),
        quote(1, "image", "chart", image=key, caption="Tides"),
        quote(2, "image", "table", caption="Dues"),
        quote(3, "image", "figure", image=key),
    )
    page = Page(number=0, label="1", width=100, height=100, text_source="text_layer")
    result = described(ParsedDocument(pages=(page,), quotes=quotes), images, Parrot())
    assert [found.vlm_text for found in result.quotes] == [None, "Tides: 7 bytes", None, None]
    assert "Tides: 7 bytes" in result.quotes[1].words()
