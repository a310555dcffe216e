"""Indexes of vectors, made from the shards of a collection and kept in step with it.

A quote's row is never used again, so the rows in an index say what it holds: those that are gone are taken out, shards
whose rows are missing are added. That may be repeated after a kill at any moment, and no encoder is needed but where
shards are missing.
"""

from collections.abc import Collection as Container
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from quoteweave.core.errors import CollectionError, FingerprintMismatch, IndexMissing, UsageError
from quoteweave.core.fingerprints import differences
from quoteweave.core.protocols import Encoder, Pictures
from quoteweave.core.records import Record, View
from quoteweave.index import kinds
from quoteweave.index.collection import Collection
from quoteweave.index.embedding import Embedded, EmbedProgress, embed
from quoteweave.index.manifests import MANIFEST, building_command, manifest_of
from quoteweave.index.opened import (
    OpenedIndex,
    closing,
    explained,
    open_generation,
    open_if_whole,
    open_planned,
)
from quoteweave.index.records import IndexPlan, IndexState, Manifest
from quoteweave.index.seen import DimensionChanged, Unreadable
from quoteweave.index.shards import StoredVectors
from quoteweave.index.vectors import Shard, VectorIndex
from quoteweave.index.views import Unit, item_rows
from quoteweave.index.writer import Writer

if TYPE_CHECKING:
    from quoteweave.index.vectors import Rows

# The kind whose items lie outside of its generation, which only points to them.
_OUTSIDE = "milvus"


class IndexReport(Record):
    """What became of an index that was built or brought up to date."""

    items: int = Field(description="quotes or pages in the index")
    encoded: int = Field(description="views that were encoded for it now")
    skipped: int = Field(description="quotes or pages left out: without words or picture, or with a damaged picture")
    unreadable: tuple[Unreadable, ...] = Field(default=(), description="pictures that could not be had just now")


def make_plan(
    encoder: Encoder, spec: str, *, kind: str | None = None, unit: Unit = "quote", view: View | None = None
) -> IndexPlan:
    """The index of an encoder that a retriever uses; by default of quotes, exact, and of what the encoder reads.

    Raises UsageError for a kind or a view that does not fit the encoder.
    """
    kind = kind or kinds.default_kind(many=encoder.many)
    kinds.check_kind(kind, many=encoder.many)
    view = view or ("image" if encoder.reads == "image" else "text")
    if (view == "image") != (encoder.reads == "image"):
        reads = "pictures" if encoder.reads == "image" else "text"
        raise UsageError(f"{encoder.name} reads {reads}; it cannot be given the view {view!r}")
    return IndexPlan(
        name=encoder.name, spec=spec, kind=kind, many=encoder.many, unit=unit, view=view, settings=encoder.settings
    )


class VectorStore:
    """An encoder's vectors over a collection, and the index that `plan` makes of them."""

    def __init__(
        self, collection: Collection, encoder: Encoder, plan: IndexPlan, pictures: Pictures | None = None
    ) -> None:
        if plan.view == "image" and pictures is None:
            raise UsageError(
                f"{plan.name} reads pictures, and was not told where they are: in Python, "
                "make_retriever(NAME, collection, Means(pictures=CollectionPictures(collection)))"
            )
        self.collection, self.plan, self.pictures = collection, plan, pictures
        self._encoder = encoder
        self._fingerprint = plan.fingerprint

    def refresh(self, writer: Writer, progress: EmbedProgress | None = None, *, replace: bool = False) -> IndexReport:
        """Encodes what is missing and builds the index, or brings it up to date; what is damaged is made anew.

        Raises FingerprintMismatch where there is an index of the same spec with other settings, and DimensionChanged
        where its vectors are of another dimension than the encoder's; with `replace` these are dropped. Raises what
        `embed` and `open_index` raise, and StorageError where the disk refuses.
        """
        rivals, progress = self._rivals(), progress or EmbedProgress()
        if rivals and not replace and self.collection.index_state(self._fingerprint) is None:
            raise self._missing()
        try:
            embedded = self._embed(writer, progress)
        except DimensionChanged:
            if not replace:
                raise
            for state in self.collection.indexes():
                if state.fingerprint.startswith(f"{self.plan.shards}."):
                    drop_index(self.collection, writer, state)
            writer.drop_index(self._fingerprint)
            writer.prune()
            embedded = self._embed(writer, progress)
        progress.on_index()
        manifest = synchronise(self.collection, writer, self.plan, embedded.stored, fresh=embedded.fresh)
        if replace:
            for state, _ in rivals:
                drop_index(self.collection, writer, state)
        return IndexReport(
            items=manifest.count,
            encoded=embedded.encoded,
            skipped=manifest.skipped,
            unreadable=tuple(embedded.unreadable),
        )

    def _embed(self, writer: Writer, progress: EmbedProgress) -> Embedded:
        return embed(self.collection, writer, self._encoder, self.plan, pictures=self.pictures, progress=progress)

    def lacking(self) -> str | None:
        """Which documents the index lacks, and the command that adds them; None where it has all that can be found."""
        state = self.collection.index_state(self._fingerprint)
        if state is None or state.revision == self.collection.revision():
            return None
        manifest = manifest_of(state)
        held, tied = manifest.documents if manifest else {}, self.collection.shard_keys(self.plan.shards)
        names = [document.name for document in self.collection.documents()]
        lacking = [name for name in names if name not in held or held[name] != tied.get(name)]
        if not lacking:
            return None
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        command = building_command(self.collection.root, self.plan.spec)
        return f"the index {self.plan.spec} lacks {lacking[0]}{more}, so nothing is found there; add it with: {command}"

    def current(self, opened: OpenedIndex | None = None) -> OpenedIndex:
        """The index as it was last brought up to date, `opened` if it still is that.

        Raises IndexMissing where it was never built, FingerprintMismatch where one with other settings is there, and
        CollectionError, with what to do, where its files are damaged.
        """
        while (state := self.collection.index_state(self._fingerprint)) is not None:
            if opened is not None and opened.folder == state.folder:
                return opened
            try:
                return open_generation(self.collection, state)
            except CollectionError as error:
                # Unless another process has just put the next generation in its place.
                if self.collection.index_state(self._fingerprint) == state:
                    raise explained(error, self.collection, self.plan.spec) from error
        raise self._missing()

    def _rivals(self) -> list[tuple[IndexState, Manifest]]:
        """Indexes that go by the same word and were made with other settings."""
        others = [state for state in self.collection.indexes() if state.fingerprint != self._fingerprint]
        found = [(state, other) for state in others if (other := manifest_of(state)) is not None]
        return [(state, other) for state, other in found if other.spec == self.plan.spec]

    def _missing(self) -> CollectionError:
        spec, command = self.plan.spec, building_command(self.collection.root, self.plan.spec)
        rivals = self._rivals()
        if not rivals:
            return IndexMissing(f"the index {spec} has not been built; build it with: {command}")
        changed = differences(rivals[-1][1].settings, self.plan.settings) or "those of another version of quoteweave"
        return FingerprintMismatch(
            f"the index {spec} was built with other settings ({changed}); go back to them, or build the index anew "
            f"with: {command} --replace"
        )


def drop_index(collection: Collection, writer: Writer, state: IndexState) -> None:
    """Removes an index, what it keeps in a database, and its vectors unless another kind of index uses them."""
    manifest = manifest_of(state)
    if manifest is not None and manifest.kind == _OUTSIDE and manifest.dimension:
        index = open_if_whole(collection, manifest, manifest.dimension, state.folder)
        try:
            getattr(index, "drop", lambda: None)()
        finally:
            closing(index)()
    writer.drop_index(state.fingerprint)


def synchronise(
    collection: Collection,
    writer: Writer,
    plan: IndexPlan,
    stored: Mapping[str, StoredVectors],
    *,
    fresh: Container[str] = (),
    complete: bool = True,
) -> Manifest:
    """Makes the index hold what is stored and nothing else, and publishes it where that changes it.

    `fresh` are documents whose vectors were made anew. Unless `complete`, the index stays behind its collection. Raises
    what `open_index` and `Writer.publish` raise.
    """
    state = collection.index_state(plan.fingerprint)
    items = {name: item_rows(rows, pages, plan.unit) for name, rows, pages in collection.iter_retrievable_rows()}
    held = {name: items[name][vectors.lengths > 0] for name, vectors in stored.items()}
    before = _before(collection, plan, state, stored)
    try:
        known = before.manifest.documents if before.manifest is not None else {}
        renewed = {name for name, vectors in stored.items() if name in fresh or known.get(name) != vectors.key}
        changed = _change(collection, before, stored, held, renewed)
        manifest = Manifest.model_validate(
            {
                **plan.model_dump(include=set(IndexPlan.model_fields)),
                "dimension": before.dimension,
                "count": sum(len(rows) for rows in held.values()),
                "skipped": sum(len(items[name]) - len(rows) for name, rows in held.items()),
                "documents": {name: vectors.key for name, vectors in stored.items()},
            }
        )
        if changed or manifest != before.manifest:
            revision = collection.revision() if complete else state.revision if state is not None else 0
            build = partial(_write, before.index, manifest)
            writer.publish(plan.name, plan.fingerprint, build=build, revision=revision)
        elif complete:
            writer.advance(plan.fingerprint, collection.revision())
    finally:
        closing(before.index)()
    return manifest


@dataclass(frozen=True, slots=True)
class _Before:
    """An index as it is before a change."""

    dimension: int
    manifest: Manifest | None
    index: VectorIndex | None


def _before(
    collection: Collection, plan: IndexPlan, state: IndexState | None, stored: Mapping[str, StoredVectors]
) -> _Before:
    """As it was published; empty where it was not, or cannot be read; without an index while there are no vectors."""
    manifest = manifest_of(state)
    said = manifest.dimension if manifest is not None else 0
    dimension = next((vectors.dimension for vectors in stored.values() if vectors.dimension), said)
    if not dimension:
        return _Before(0, manifest, None)
    index = (
        open_if_whole(collection, plan, dimension, state.folder) if state is not None and said == dimension else None
    )
    if index is None:  # what is in it is in the shards too
        return _Before(dimension, None, open_planned(collection, plan, dimension))
    return _Before(dimension, manifest, index)


def _change(
    collection: Collection,
    before: _Before,
    stored: Mapping[str, StoredVectors],
    held: "Mapping[str, Rows]",
    renewed: Container[str],
) -> bool:
    """Takes out what is gone or renewed, adds what is missing; whether there was any of it."""
    import numpy as np

    if before.index is None:
        return False
    present = before.index.rows
    kept = {name for name, rows in held.items() if name not in renewed and _all_within(rows, present)}
    staying = [rows for name, rows in held.items() if name in kept]
    gone = np.setdiff1d(present, np.concatenate([np.empty(0, dtype=np.int64), *staying]))
    if len(gone):
        before.index.remove(gone)
    added = [name for name, rows in held.items() if name not in kept and len(rows)]
    for name in added:
        before.index.add(_shard(collection, name, stored[name], held[name]))
    return bool(len(gone) or added)


def _all_within(rows: "Rows", present: "Rows") -> bool:
    """Whether all rows are among those present; both are ascending."""
    import numpy as np

    at = np.searchsorted(present, rows)
    return not len(rows) or bool(at[-1] < len(present) and (present[at] == rows).all())


def _shard(collection: Collection, name: str, vectors: StoredVectors, rows: "Rows") -> Shard:
    quotes = [quote for quote in collection.quotes_at(rows.tolist()) if quote is not None]
    lengths = vectors.lengths[vectors.lengths > 0]
    return Shard(name, vectors.path, vectors.offset, vectors.dtype, vectors.dimension, rows, quotes, lengths)


def _write(index: VectorIndex | None, manifest: Manifest, folder: Path) -> None:
    if index is not None:
        index.save(folder)
    (folder / MANIFEST).write_text(manifest.model_dump_json(), "utf-8")
