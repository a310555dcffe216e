"""Indexes and pictures made by hand, for the tests of what keeps vectors and searches them."""

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from quoteweave.core.errors import CollectionError, DamagedDocument
from quoteweave.core.records import Quote
from quoteweave.index.base import SearchScope, Shard, TopItems

if TYPE_CHECKING:
    from quoteweave.core.protocols import Matrix
    from quoteweave.index.base import Rows


class PlainIndex:
    """A VectorIndex in numpy alone: every item is compared with every question."""

    def __init__(self, dimension: int, folder: Path | None) -> None:
        self.dimension = dimension
        self._items: dict[int, Matrix] = {}
        if folder is not None:
            try:
                with np.load(folder / "items.npz") as stored:
                    self._items = {int(row): stored[row] for row in stored.files}
            except (OSError, EOFError, ValueError, zipfile.BadZipFile) as error:
                raise CollectionError(f"{folder / 'items.npz'} is damaged") from error

    @property
    def rows(self) -> "Rows":
        return np.array(sorted(self._items), dtype=np.int64)

    def add(self, shard: Shard) -> None:
        if shard.dimension != self.dimension:
            raise ValueError(f"{shard.dimension} dimensions, not {self.dimension}")
        assert not set(shard.rows.tolist()) & set(self._items)
        assert len(shard.quotes) == len(shard.rows) == len(shard.lengths)
        parts = np.split(np.array(shard.vectors(), dtype=np.float32), np.cumsum(shard.lengths)[:-1])
        self._items.update(zip(shard.rows.tolist(), parts, strict=True))

    def remove(self, rows: "Rows") -> None:
        for row in rows.tolist():
            self._items.pop(row, None)

    def search(self, queries: "Sequence[Matrix]", k: int, scope: SearchScope | None = None) -> list[TopItems]:
        allowed = set(self._items) if scope is None else set(scope.rows.tolist()) & set(self._items)
        results = []
        for query in queries:
            scored = [(-float((query @ self._items[row].T).max(axis=1).sum()), row) for row in allowed]
            best = sorted(scored)[:k]
            rows, scores = [row for _, row in best], [-score for score, _ in best]
            results.append(TopItems(np.array(rows, dtype=np.int64), np.array(scores, dtype=np.float32)))
        return results

    def save(self, folder: Path) -> None:
        items: dict[str, Any] = {str(row): matrix for row, matrix in self._items.items()}
        np.savez(folder / "items.npz", **items)


class ColourPictures:
    """Pictures of quotes and pages that are all of one colour: what is written in the quote, or on the page, as colour.

    Documents named in `without` have none. `drawn` holds what was drawn.
    """

    def __init__(self, without: Sequence[str] = ()) -> None:
        self.drawn: list[str] = []
        self._without = without
        self.broken: set[str] = set()
        """Texts of quotes whose crop cannot be drawn."""
        self.damaged: set[str] = set()
        """Texts of quotes whose crop is an image file cut short."""
        self.on_crops: str | None = None
        """What OCR reads on every crop."""

    def crop_key(self, quote: Quote) -> str | None:
        return None if quote.document in self._without else f"{quote.text} {quote.bbox}"

    def crop(self, quote: Quote) -> Image.Image:
        self.drawn.append(quote.text)
        if quote.text in self.broken:
            raise DamagedDocument(f"{quote.document!r} cannot be drawn")
        if quote.text in self.damaged:
            return _cut_short()
        return Image.new("RGB", (8, 8), quote.text)

    def page_key(self, document: str, page: int) -> str | None:
        return None if document in self._without else f"{document} {page}"

    def page_image(self, document: str, page: int) -> Image.Image:
        self.drawn.append(f"{document} {page}")
        return Image.new("RGB", (8, 8), ("red", "lime", "blue", "white")[page])

    def ocr_text(self, quote: Quote, *, read: bool = True) -> str | None:
        return self.on_crops if read else None


def _cut_short() -> Image.Image:
    """A picture whose pixels are not there when they are asked for, as Pillow opens files without reading them."""
    stream = io.BytesIO()
    Image.effect_noise((64, 64), 50).save(stream, "PNG")
    return Image.open(io.BytesIO(stream.getvalue()[:500]))


def written(folder: Path) -> dict[str, object]:
    """What a generation says of itself."""
    description: dict[str, object] = json.loads((folder / "index.json").read_text("utf-8"))
    return description


def plain_index(kind: str, dimension: int, *, database_folder: Path, folder: Path | None = None) -> PlainIndex:
    """In place of `kinds.open_index`."""
    return PlainIndex(dimension, folder)
