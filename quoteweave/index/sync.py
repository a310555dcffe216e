"""Brings indexes up to date after their documents have changed, as far as that goes without any model.

A quote's row is never used again, so the rows in an index say what it holds: those that are gone are taken out, shards
whose rows are missing are added. That may be repeated after a kill at any moment, and no encoder is needed.
"""

from collections.abc import Collection as Container
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

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
    """Remove an index, what it keeps in a database, and its vectors unless another kind of index uses them."""
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
    made: EmbedResult | None = None,
    complete: bool = True,
) -> Manifest:
    """Make the index hold what is stored and nothing else, and publish it where that changes it.

    `made` says what was encoded now and of which quotes nothing could be; of others it goes on to say it. Unless
    `complete`, it stays behind its collection. Raises what `open_index` and `Writer.publish` raise.
    """
    made, state = made or EmbedResult({}), collection.index_state(plan.fingerprint)
    items = {name: item_rows(rows, pages, plan.unit) for name, rows, pages in collection.iter_retrievable_rows()}
    held = {name: items[name][vectors.lengths > 0] for name, vectors in stored.items()}
    published = _without_traces(_open_published(collection, plan, state, stored), collection, plan, held)
    try:
        known = published.manifest.documents if published.manifest is not None else {}
        renewed = {name for name, vectors in stored.items() if name in made.fresh or known.get(name) != vectors.key}
        changed = _change(collection, published, stored, held, renewed)
        skipped = [items[name][vectors.lengths == 0] for name, vectors in stored.items()]
        holds = {
            **{"dimension": published.dimension, "count": sum(map(len, held.values()))},
            "skipped": sum(map(len, skipped)),
            "refused": _current_refusals(collection, state, made, skipped),
            "documents": {name: vectors.key for name, vectors in stored.items()},
        }
        manifest = Manifest.model_validate({**plan.model_dump(include=set(IndexPlan.model_fields)), **holds})
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
    collection: Collection, state: IndexState | None, made: EmbedResult, skipped: "Iterable[Rows]"
) -> dict[str, str]:
    """Why quotes at these rows were refused, now or as the index says of before."""
    old = try_read_manifest(state)
    refused = {**(old.refused if old is not None else {}), **made.refused}
    rows = [row for found in skipped for row in found.tolist()] if refused else []
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


def _open_published(
    collection: Collection, plan: IndexPlan, state: IndexState | None, stored: Mapping[str, StoredVectors]
) -> _Published:
    """As it was published; empty where it was not, or cannot be read; without an index while there are no vectors."""
    manifest = try_read_manifest(state)
    recorded = manifest.dimension if manifest is not None else 0
    dimension = next((vectors.dimension for vectors in stored.values() if vectors.dimension), recorded)
    if not dimension:
        return _Published(0, manifest, None)
    index = (
        open_if_intact(collection, plan, dimension, state.folder)
        if state is not None and recorded == dimension
        else None
    )
    if index is None:  # what is in it is in the shards too
        return _Published(dimension, None, open_plan_index(collection, plan, dimension))
    return _Published(dimension, manifest, index, in_database=plan.kind in DATABASE_KINDS)


def _without_traces(
    published: _Published, collection: Collection, plan: IndexPlan, held: "Mapping[str, Rows]"
) -> _Published:
    """The index as it is; an empty one where documents are gone and it would keep what it is told to remove."""
    import numpy as np

    if published.index is None or not (isinstance(published.index, DatabaseIndex) and published.index.keeps_removed):
        return published
    try:
        if np.isin(published.index.rows, np.concatenate([np.empty(0, dtype=np.int64), *held.values()])).all():
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
    held: "Mapping[str, Rows]",
    renewed: Container[str],
) -> bool:
    """Take out what is gone or renewed, add what is missing; return whether there was any of it.

    An index in a database is seen while it changes, and after a kill. Its items are replaced where they lie, and what
    is gone goes last, so that nothing is ever missing from it.
    """
    import numpy as np

    if published.index is None:
        return False
    present = published.index.rows
    kept = {name for name, rows in held.items() if name not in renewed and _all_within(rows, present)}
    staying = [rows for name, rows in held.items() if name in kept]
    gone = np.setdiff1d(present, np.concatenate([np.empty(0, dtype=np.int64), *staying]))
    added = [name for name, rows in held.items() if name not in kept and len(rows)]
    if not published.in_database and len(gone):
        published.index.remove(gone)
    for name in added:
        published.index.add(_shard(collection, name, stored[name], held[name]))
    if published.in_database:
        gone = np.setdiff1d(gone, np.concatenate([np.empty(0, dtype=np.int64), *(held[name] for name in added)]))
        if len(gone):
            published.index.remove(gone)
    return bool(len(gone) or added)


def _all_within(rows: "Rows", present: "Rows") -> bool:
    """Whether all rows are among those present; both are ascending."""
    import numpy as np

    at = np.searchsorted(present, rows)
    return not len(rows) or bool(at[-1] < len(present) and (present[at] == rows).all())


def _shard(collection: Collection, name: str, vectors: StoredVectors, rows: "Rows") -> Shard:
    quotes = [quote for quote in collection.quotes_at(rows.tolist()) if quote is not None]
    lengths = vectors.lengths[vectors.lengths > 0]
    of_file = (vectors.path, vectors.offset, vectors.dtype, vectors.dimension)
    return Shard(name, *of_file, rows, quotes, lengths, vectors.blocks)


def _write(index: VectorIndex | None, manifest: Manifest, folder: Path) -> None:
    if index is not None:
        index.save(folder)
    (folder / MANIFEST).write_bytes(sealed_record(manifest))
    write_plan(folder, manifest)


def sync_indexes(collection: Collection, writer: Writer, pictures: ImageProvider | None = None) -> tuple[str, ...]:
    """Take documents that are gone out of all indexes of vectors; the lexical index is always in step.

    They gain what is encoded already: a document that was renamed, or has a twin, keeps its vectors;
    those of pictures where `pictures` say that they are the same. What could not be done is returned, a sentence each:
    a library or a server that is missing must not undo the change, and what was removed is found nowhere in any case.
    An index that holds what was removed, and cannot be changed, is emptied: its vectors are kept.
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
            what = " and was dropped, as it still held what was removed" if dropped else ""
            notes.append(rebuild_note(collection, spec, f"was not brought up to date{what}", error))
    return tuple(notes)


def rebuild_note(collection: Collection, spec: str, what: str, error: QuoteweaveError) -> str:
    """Return a note that says what became of an index, and why, with what mends that and builds the index."""
    command, remedy = build_command(collection.root, spec), error.remedy
    if remedy is None:
        remedy = f"build it with: {command}"
    elif command not in remedy:
        remedy = f"{remedy}; then build it with: {command}"
    return note_text(f"the index {spec} {what}: {error.summary.rstrip('.')}", remedy=remedy)


def indexes_behind(collection: Collection) -> list[Manifest]:
    """Indexes of vectors that lack documents, to be brought up to date with their encoders."""
    revision = collection.revision()
    behind = [try_read_manifest(state) for state in collection.indexes() if state.revision != revision]
    return [manifest for manifest in behind if manifest is not None]


def sync_index(
    collection: Collection, writer: Writer, state: IndexState, pictures: ImageProvider | None = None
) -> None:
    """Make one index of vectors hold what is encoded, and nothing else; built anew where it is damaged or gone.

    Raises CollectionError where it is lost how the index was built, and what `open_index` and `publish_index` raise.
    """
    plan = read_plan(state)
    if plan is None:
        raise CollectionError(f"{state.folder / MANIFEST} is damaged or missing, and how the index was built is lost")
    if plan.fingerprint != state.fingerprint:
        raise FingerprintMismatch("another version of quoteweave made it, in another way")
    # No crop is read by OCR here, which takes a model.
    found = embedding_status(collection, writer, plan, pictures if plan.view in VISUAL_VIEWS else None)
    publish_index(collection, writer, plan, found.stored, complete=not found.missing)
