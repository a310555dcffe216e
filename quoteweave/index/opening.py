"""Opens generations of vector indexes, and explains errors of those that cannot be opened."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import finalize

from quoteweave.collection.arrays import np
from quoteweave.collection.collection import Collection
from quoteweave.collection.records import IndexPlan, IndexState, Manifest
from quoteweave.collection.stores.generations import MANIFEST, build_command, read_manifest
from quoteweave.collection.unreferenced import MILVUS_FOLDER
from quoteweave.collection.views import PageMap
from quoteweave.core.errors import CollectionError, CollectionLocked, FingerprintMismatch, StorageError
from quoteweave.index import kinds
from quoteweave.index.base import DatabaseIndex, SearchScope, TopItems, VectorIndex

if TYPE_CHECKING:
    from quoteweave.core.protocols import Matrix

# CollectionErrors that do not mean that the index is at fault.
NOT_INDEX_FAULTS = (CollectionLocked, StorageError)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class OpenedIndex:
    """One generation of an index, to be searched by any number of threads."""

    folder: Path
    manifest: Manifest
    index: VectorIndex | None
    """None while there are no vectors."""
    pages: PageMap | None
    """The quotes of each page if items are pages; None if items are quotes."""

    def search(self, queries: "Sequence[Matrix]", k: int, scope: SearchScope | None) -> list[TopItems]:
        """See `VectorIndex.search`."""
        if self.index is not None:
            return self.index.search(queries, k, scope)
        return [TopItems(np.empty(0, np.int64), np.empty(0, np.float32)) for _ in queries]


def open_generation(collection: Collection, state: IndexState) -> OpenedIndex:
    """Open the index of that generation; its connection to a database, if any, ends with its last user.

    Raises CollectionError where files are missing or damaged, and what `open_index` raises.
    """
    manifest = read_manifest(state)
    if manifest is None:
        raise CollectionError(f"{state.folder / MANIFEST} is missing")
    index = open_plan_index(collection, manifest, manifest.dimension, state.folder) if manifest.dimension else None
    pages = PageMap(collection.iter_retrievable_rows()) if manifest.unit == "page" else None
    opened = OpenedIndex(state.folder, manifest, index, pages)
    finalize(opened, close_index, index)
    return opened


def open_plan_index(collection: Collection, plan: IndexPlan, dimension: int, folder: Path | None = None) -> VectorIndex:
    """The index as it was saved in `folder`, or an empty one. Raises as `open_index`."""
    return kinds.open_index(plan.kind, dimension, database_folder=collection.root / MILVUS_FOLDER, folder=folder)


def open_if_intact(collection: Collection, plan: IndexPlan, dimension: int, folder: Path) -> VectorIndex | None:
    """As `open_plan_index`, but None if the saved index is damaged, or gone from its database."""
    try:
        return open_plan_index(collection, plan, dimension, folder)
    except NOT_INDEX_FAULTS:
        raise
    except CollectionError:
        return None


def close_index(index: VectorIndex | None) -> None:
    """End the connection of an index to its database, if it has one."""
    if isinstance(index, DatabaseIndex):
        index.close()


def with_rebuild_advice(error: CollectionError, collection: Collection, spec: str) -> CollectionError:
    """Return the error of an index that cannot be read, with advice on how to rebuild it."""
    if isinstance(error, (*NOT_INDEX_FAULTS, FingerprintMismatch)):
        return error
    command = build_command(collection.root, spec)
    summary = f"the index {spec} cannot be used: {error.summary}"
    return CollectionError(summary, remedy=f"build it anew with: {command}")
