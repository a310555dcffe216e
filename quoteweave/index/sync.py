"""Brings indexes up to date after their documents have changed, as far as that is possible without a model.

A quote's row is never used again, so the rows of an index say what it holds: rows that are gone are removed, and shards
whose rows are missing are added. This may be repeated after a kill at any moment, and needs no encoder.
"""

from collections.abc import Collection as Container
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from quoteweave.collection.arrays import np
from quoteweave.collection.checksums import sealed_record
from quoteweave.collection.collection import Collection
from quoteweave.collection.records import IndexPlan, IndexState, Manifest
from quoteweave.collection.stores.generations import (
    MANIFEST,
    build_command,
    read_plan,
    spec_of,
    try_read_manifest,
    write_plan,
)
from quoteweave.collection.stores.vectors import StoredVectors
from quoteweave.collection.views import VISUAL_VIEWS, item_rows
from quoteweave.collection.writer import Writer
from quoteweave.core.errors import (
    CollectionError,
    CollectionLocked,
    EndpointError,
    FingerprintMismatch,
    QuoteweaveError,
    note_text,
)
from quoteweave.core.protocols import ImageProvider
from quoteweave.index.base import DatabaseIndex, Shard, VectorIndex
from quoteweave.index.embedding import EmbedResult, embedding_status
from quoteweave.index.kinds import DATABASE_KINDS
from quoteweave.index.opening import close_index, open_if_intact, open_plan_index

if TYPE_CHECKING:
    from quoteweave.index.base import Rows


def drop_index(collection: Collection, writer: Writer, state: IndexState) -> None:
    """Remove an index, its items in a database, and its vectors unless another kind of index uses them."""
    manifest = try_read_manifest(state)
    if manifest is not None and manifest.kind in DATABASE_KINDS and manifest.dimension:
        index = open_if_intact(collection, manifest, manifest.dimension, state.folder)
        try:
            if isinstance(index, DatabaseIndex):
                index.drop()
        finally:
            close_index(index)
    writer.drop_index(state.fingerprint)


def publish_index(
    collection: Collection,
    writer: Writer,
    plan: IndexPlan,
    stored: Mapping[str, StoredVectors],
    *,
    encoded: EmbedResult | None = None,
    complete: bool = True,
) -> Manifest:
    """Make the index hold the stored vectors and nothing else, and publish it if that changes it.

    `encoded` says what was encoded now, and which quotes could not be; earlier refusals of other quotes are kept.
    Unless `complete`, the index does not count as up to date. Raises what `open_index` and `Writer.publish` raise.
    """
    encoded, state = encoded or EmbedResult({}), collection.index_state(plan.fingerprint)
    all_rows = {name: item_rows(rows, pages, plan.unit) for name, rows, pages in collection.iter_retrievable_rows()}
    rows_by_name = {name: all_rows[name][vectors.lengths > 0] for name, vectors in stored.items()}
    published = _without_traces(_open_published(collection, plan, state, stored), collection, plan, rows_by_name)
    try:
        keys = {name: vectors.key for name, vectors in stored.items()}
        renewed = {name for name, key in keys.items() if name in encoded.fresh or published.keys.get(name) != key}
        changed = _change(collection, published, stored, rows_by_name, renewed)
        skipped = [all_rows[name][vectors.lengths == 0] for name, vectors in stored.items()]
        contents = {
            **{"dimension": published.dimension, "count": sum(map(len, rows_by_name.values()))},
            "skipped": sum(map(len, skipped)),
            "refused": _current_refusals(collection, state, encoded, skipped),
            "documents": keys,
        }
        manifest = Manifest.model_validate({**plan.model_dump(include=set(IndexPlan.model_fields)), **contents})
        if changed or manifest != published.manifest:
            revision = collection.revision() if complete else state.revision if state is not None else 0
            build = partial(_write, published.index, manifest)
            writer.publish(plan.spec, plan.fingerprint, build=build, revision=revision)
            _drop_leftovers(collection, published.index)
        elif complete:
            writer.advance(plan.fingerprint, collection.revision())
    finally:
        close_index(published.index)
    return manifest


def _current_refusals(
    collection: Collection, state: IndexState | None, encoded: EmbedResult, skipped: "Iterable[Rows]"
) -> dict[str, str]:
    """Why quotes at these rows were refused, now or, by the index's manifest, before."""
    previous = try_read_manifest(state)
    refused = {**(previous.refused if previous is not None else {}), **encoded.refused}
    rows = [row for document_rows in skipped for row in document_rows.tolist()] if refused else []
    ids = {quote.id for quote in collection.quotes_at(rows) if quote is not None}
    return {quote: reason for quote, reason in sorted(refused.items()) if quote in ids}


def _drop_leftovers(collection: Collection, index: VectorIndex | None) -> None:
    """Drop what killed runs left in the database of an index."""
    if isinstance(index, DatabaseIndex):
        index.drop_others([state.folder for state in collection.indexes()])


@dataclass(frozen=True, slots=True)
class _Published:
    """An index as it is before a change."""

    dimension: int
    manifest: Manifest | None
    index: VectorIndex | None
    in_database: bool = False
    """Whether its items lie in a database, where they are changed in place."""

    @property
    def keys(self) -> Mapping[str, str]:
        """The key of the shard of each document in it."""
        return self.manifest.documents if self.manifest is not None else {}


def _open_published(
    collection: Collection, plan: IndexPlan, state: IndexState | None, stored: Mapping[str, StoredVectors]
) -> _Published:
    """Open the published index; an empty one if there is none or it cannot be read, and none without vectors."""
    manifest = try_read_manifest(state)
    recorded = manifest.dimension if manifest is not None else 0
    dimension = next((vectors.dimension for vectors in stored.values() if vectors.dimension), recorded)
    if not dimension:
        return _Published(0, manifest, None)
    index = None
    if state is not None and recorded == dimension:
        index = open_if_intact(collection, plan, dimension, state.folder)
    if index is None:  # a new one can be filled from the shards
        return _Published(dimension, None, open_plan_index(collection, plan, dimension))
    return _Published(dimension, manifest, index, in_database=plan.kind in DATABASE_KINDS)


def _without_traces(
    published: _Published, collection: Collection, plan: IndexPlan, rows_by_name: "Mapping[str, Rows]"
) -> _Published:
    """The index as it is, or an empty one if documents are gone and its files would keep their items."""
    if published.index is None or not (isinstance(published.index, DatabaseIndex) and published.index.keeps_removed):
        return published
    try:
        if np.isin(published.index.rows, np.concatenate([np.empty(0, dtype=np.int64), *rows_by_name.values()])).all():
            return published
    except BaseException:
        close_index(published.index)
        raise
    close_index(published.index)
    return _Published(published.dimension, None, open_plan_index(collection, plan, published.dimension))


def _change(
    collection: Collection,
    published: _Published,
    stored: Mapping[str, StoredVectors],
    rows_by_name: "Mapping[str, Rows]",
    renewed: Container[str],
) -> bool:
    """Remove items that are gone or renewed, and add missing ones; return whether there were any.

    An index in a database is searched while it changes, and after a kill. So its items are replaced in place, and items
    that are gone are removed last: then nothing is ever missing from it.
    """
    if published.index is None:
        return False
    present = published.index.rows
    unchanged = {name for name, rows in rows_by_name.items() if name not in renewed and _all_within(rows, present)}
    unchanged_rows = [rows for name, rows in rows_by_name.items() if name in unchanged]
    gone = np.setdiff1d(present, np.concatenate([np.empty(0, dtype=np.int64), *unchanged_rows]))
    added = [name for name, rows in rows_by_name.items() if name not in unchanged and len(rows)]
    if not published.in_database and len(gone):
        published.index.remove(gone)
    for name in added:
        published.index.add(_shard(collection, name, stored[name], rows_by_name[name]))
    if published.in_database:
        gone = np.setdiff1d(
            gone, np.concatenate([np.empty(0, dtype=np.int64), *(rows_by_name[name] for name in added)])
        )
        if len(gone):
            published.index.remove(gone)
    return bool(len(gone) or added)


def _all_within(rows: "Rows", present: "Rows") -> bool:
    """Whether all rows are among those present; both are ascending."""
    at = np.searchsorted(present, rows)
    return not len(rows) or bool(at[-1] < len(present) and (present[at] == rows).all())


def _shard(collection: Collection, name: str, vectors: StoredVectors, rows: "Rows") -> Shard:
    quotes = [quote for quote in collection.quotes_at(rows.tolist()) if quote is not None]
    lengths = vectors.lengths[vectors.lengths > 0]
    location = (vectors.path, vectors.offset, vectors.dtype, vectors.dimension)
    return Shard(name, *location, rows, quotes, lengths, vectors.blocks)


def _write(index: VectorIndex | None, manifest: Manifest, folder: Path) -> None:
    if index is not None:
        index.save(folder)
    (folder / MANIFEST).write_bytes(sealed_record(manifest))
    write_plan(folder, manifest)


def sync_indexes(collection: Collection, writer: Writer, pictures: ImageProvider | None = None) -> tuple[str, ...]:
    """Remove documents that are gone from all vector indexes; the lexical index is always up to date.

    Vectors that exist already are added: a document that was renamed, or has a copy, keeps its vectors; those of
    pictures only if `pictures` show that they are the same. Returns a sentence for each thing that could not be done:
    if a library or a server is missing, the change of documents still stands, and no search finds removed quotes. An
    index that holds removed quotes and cannot be changed is emptied, and its vectors are kept.
    """
    revision, unclean, notes = collection.revision(), writer.unclean_indexes(), []
    for state in collection.indexes():
        holds_removed = state.fingerprint in unclean
        try:
            if state.revision != revision or holds_removed or not state.folder.is_dir():
                sync_index(collection, writer, state, pictures)
            if holds_removed:
                writer.mark_index_clean(state.fingerprint)
        except QuoteweaveError as error:
            spec = spec_of(state)
            dropped = holds_removed and not isinstance(error, CollectionLocked | EndpointError)
            if dropped:
                writer.remove_index_files(state.fingerprint)
            consequence = " and was dropped, as it still held what was removed" if dropped else ""
            notes.append(rebuild_note(collection, spec, f"was not brought up to date{consequence}", error))
    return tuple(notes)


def rebuild_note(collection: Collection, spec: str, event: str, error: QuoteweaveError) -> str:
    """Return a note that says what happened to an index, and why, with the command that rebuilds it."""
    command, remedy = build_command(collection.root, spec), error.remedy
    if remedy is None:
        remedy = f"build it with: {command}"
    elif command not in remedy:
        remedy = f"{remedy}; then build it with: {command}"
    return note_text(f"the index {spec} {event}: {error.summary.rstrip('.')}", remedy=remedy)


def indexes_behind(collection: Collection) -> list[Manifest]:
    """The vector indexes that lack documents; their encoders are needed to bring them up to date."""
    revision = collection.revision()
    behind = [try_read_manifest(state) for state in collection.indexes() if state.revision != revision]
    return [manifest for manifest in behind if manifest is not None]


def sync_index(
    collection: Collection, writer: Writer, state: IndexState, pictures: ImageProvider | None = None
) -> None:
    """Make one vector index hold what is encoded and nothing else; it is rebuilt if it is damaged or gone.

    Raises CollectionError if the record of how it was built is lost, and what `open_index` and `publish_index` raise.
    """
    plan = read_plan(state)
    if plan is None:
        raise CollectionError(f"{state.folder / MANIFEST} is damaged or missing, and how the index was built is lost")
    if plan.fingerprint != state.fingerprint:
        raise FingerprintMismatch("another version of quoteweave made it, in another way")
    # Crops are not read by OCR here, because that takes a model.
    status = embedding_status(collection, writer, plan, pictures if plan.view in VISUAL_VIEWS else None)
    publish_index(collection, writer, plan, status.stored, complete=not status.missing)
