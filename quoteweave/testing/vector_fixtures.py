"""Fixtures for tests of vector indexes: a collection of synthetic quotes with vectors, and brute-force search."""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from quoteweave.collection.collection import Collection
from quoteweave.collection.records import Origin
from quoteweave.core.fingerprints import file_sha256
from quoteweave.core.records import IMAGE_LAYOUTS, Filter, Layout, Page, ParsedDocument, Quote
from quoteweave.index.base import Shard, TopItems

if TYPE_CHECKING:
    import numpy as np

    from quoteweave.core.protocols import Matrix

    Items = Mapping[int, Matrix]

DIMENSION = 8
QUOTES_ON_A_PAGE = 6
# The quotes have these layouts in turn; headers have rows in the catalogue but are no items, so that rows have gaps.
LAYOUTS: tuple[Layout, ...] = ("title", "paragraph", "header", "figure", "paragraph", "list", "table")
DOCUMENTS: dict[str, dict[str, str]] = {
    "harbour.txt": {"year": "2023", "team": "ships"},
    "mill.txt": {"year": "2024"},
    "reports/road's end.txt": {"year": "2024", "team": "roads"},
}


@dataclass(frozen=True)
class VectorFixture:
    """A collection with the three documents of `DOCUMENTS`, and the folder where shards of its items are written.

    Do not change its documents.
    """

    collection: Collection
    folder: Path

    @cached_property
    def quotes(self) -> Mapping[str, Mapping[int, Quote]]:
        """The items of each document by row, ascending."""
        names = [document.name for document in self.collection.documents()]
        return {name: _quotes_of(self.collection, name) for name in names}

    def rows(self, document: str) -> list[int]:
        """Rows of the document's items, ascending."""
        return [*self.quotes[document]]

    def shard(self, document: str, items: "Items", *, dtype: str = "float32") -> Shard:
        """A new file with the vectors of those items that belong to the document."""
        import numpy as np

        rows = [row for row in self.rows(document) if row in items]
        dimension = next((matrix.shape[1] for matrix in items.values()), DIMENSION)
        vectors = np.concatenate([np.empty((0, dimension)), *(items[row] for row in rows)]).astype(dtype)
        path = self.folder / f"{len(list(self.folder.iterdir()))}.bin"
        path.write_bytes(b"before them " + vectors.tobytes())
        return Shard(
            document=document,
            path=path,
            offset=len(b"before them "),
            dtype=np.dtype(dtype),
            dimension=dimension,
            rows=np.array(rows, dtype=np.int64),
            quotes=[self.quotes[document][row] for row in rows],
            lengths=np.array([len(items[row]) for row in rows], dtype=np.int64),
        )


def make_vector_fixture(folder: Path) -> VectorFixture:
    """Make a new collection of three documents with 30 quotes each on five pages."""
    vectors, file = folder / "vectors", folder / "document.txt"
    vectors.mkdir()
    collection = Collection.create(folder / "collection")
    with collection.writer() as writer:
        for name, metadata in DOCUMENTS.items():
            file.write_text(name, "utf-8")
            content = file_sha256(file)
            origin = Origin(root=folder, content=content, parser="made", metadata=metadata)
            writer.put(file, name=name, format="text", origin=origin, parsed=_parsed(5))
    return VectorFixture(collection, vectors)


def make_vectors(chance: "np.random.Generator", number: int, *, integers: bool) -> "Matrix":
    """(number, DIMENSION): whole numbers from -2 to 2, or normally distributed numbers that half precision can hold."""
    import numpy as np

    shape = (number, DIMENSION)
    vectors = chance.integers(-2, 3, shape) if integers else chance.normal(size=shape).astype(np.float16)
    return vectors.astype(np.float32)


def brute_force(items: "Items", query: "Matrix", k: int, among: Container[int] | None = None) -> TopItems:
    """The best `k` of the items, or of those whose rows are in `among`, by MaxSim in double precision."""
    import numpy as np

    scored: list[tuple[float, int]] = []
    if rows := [row for row in items if among is None or row in among]:
        starts = np.cumsum([0, *(len(items[row]) for row in rows[:-1])])
        products = np.concatenate([items[row] for row in rows]).astype(np.float64) @ query.astype(np.float64).T
        scores = np.maximum.reduceat(products, starts, axis=0).sum(axis=1)
        scored = list(zip((-scores).tolist(), rows, strict=True))
    best = sorted(scored)[:k]
    return TopItems(np.array([row for _, row in best], np.int64), np.array([-score for score, _ in best], np.float32))


def _quotes_of(collection: Collection, document: str) -> dict[int, Quote]:
    rows = collection.select(Filter(documents=(document,))).tolist()
    return {row: quote for row, quote in zip(rows, collection.quotes_at(rows), strict=True) if quote is not None}


def _parsed(pages: int) -> ParsedDocument:
    return ParsedDocument(
        pages=tuple(Page(number=n, label=str(n + 1), width=612, height=792, text_source="file") for n in range(pages)),
        quotes=tuple(_quote(number) for number in range(pages * QUOTES_ON_A_PAGE)),
    )


def _quote(number: int) -> Quote:
    page, layout = number // QUOTES_ON_A_PAGE, LAYOUTS[number % len(LAYOUTS)]
    return Quote(
        id=f"{page}:{number}",
        document="",
        page=page,
        page_label=str(page + 1),
        bbox=(72, 72, 540, 90),
        kind="image" if layout in IMAGE_LAYOUTS else "text",
        layout=layout,
        text=f"quote {number}",
    )
