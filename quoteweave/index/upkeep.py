"""Every index of a collection after its documents have changed, as far as that goes without any model."""

from collections.abc import Sequence

from pydantic import Field

from quoteweave.core.errors import CollectionLocked, EndpointError, FingerprintMismatch, QuoteweaveError
from quoteweave.core.protocols import Pictures
from quoteweave.core.records import Record
from quoteweave.index.collection import Collection
from quoteweave.index.embedding import survey
from quoteweave.index.manifests import building_command, manifest_of, read_manifest
from quoteweave.index.records import IndexState, Manifest
from quoteweave.index.synchronise import synchronise
from quoteweave.index.writer import Writer


class Removal(Record):
    """What became of documents that were to be removed."""

    removed: tuple[str, ...] = Field(description="names of documents that were removed now")
    finished: tuple[str, ...] = Field(description="names whose removal an earlier command had begun")
    index_notes: tuple[str, ...] = Field(description="indexes that could not be kept in step, and why")
    remains: tuple[str, ...] = Field(description="where traces of what was removed remain, why, and until when")


def remove_documents(collection: Collection, names: Sequence[str]) -> Removal:
    """Removes documents, and every trace of them from the collection's folder.

    Raises UsageError for an unknown name, and then removes nothing; CollectionLocked while another process writes,
    StorageError where the disk refuses.
    """
    with collection.writer() as writer:
        known = {document.name for document in collection.documents()}
        begun = writer.unfinished_removals(name for name in names if name not in known)
        wanted = [name for name in dict.fromkeys(names) if name not in begun]
        for name in wanted:
            collection.document(name)  # all names are known before the first is removed
        if wanted:
            writer.remove(*wanted)
        writer.prune()  # makes room for the indexes, on a disk that is full
        notes = refresh_indexes(collection, writer)
        remains = writer.finish_removals()
    return Removal(removed=tuple(wanted), finished=tuple(sorted(begun)), index_notes=notes, remains=remains)


def finish_removals(collection: Collection, writer: Writer) -> tuple[str, ...]:
    """Finishes what killed commands, and readers that were in the way, left of removed documents.

    Returns what remains and until when, a sentence each. Raises what `refresh_indexes` raises.
    """
    if not collection.may_have_traces():
        return ()
    return (*refresh_indexes(collection, writer), *writer.finish_removals())


def refresh_indexes(collection: Collection, writer: Writer, pictures: Pictures | None = None) -> tuple[str, ...]:
    """Takes documents that are gone out of all indexes of vectors; the lexical index is always in step.

    They gain what is encoded already: a document that was renamed, or has a twin, keeps its vectors;
    those of pictures where `pictures` say that they are the same. What could not be done is returned, a sentence each:
    a library or a server that is missing must not undo the change, and what was removed is found nowhere in any case.
    An index that holds what was removed, and cannot be changed, is dropped: its vectors are kept.
    """
    revision, unclean, notes = collection.revision(), writer.may_hold_removed(), []
    for state in collection.indexes():
        holds_removed = state.fingerprint in unclean
        try:
            if state.revision != revision or holds_removed:
                refresh_index(collection, writer, state, pictures)
            if holds_removed:
                writer.holds_nothing_removed(state.fingerprint)
        except QuoteweaveError as error:
            spec = _spec(state)
            dropped = holds_removed and not isinstance(error, CollectionLocked | EndpointError)
            if dropped:
                writer.drop_index(state.fingerprint, keep_shards=True)
            what = " and was dropped, as it still held what was removed" if dropped else ""
            command = building_command(collection.root, spec)
            notes.append(f"the index {spec} was not brought up to date{what}: {error}. Do it later with: {command}")
    return tuple(notes)


def indexes_behind(collection: Collection) -> list[Manifest]:
    """Indexes of vectors that lack documents, to be brought up to date with their encoders."""
    revision = collection.revision()
    behind = [manifest_of(state) for state in collection.indexes() if state.revision != revision]
    return [manifest for manifest in behind if manifest is not None]


def refresh_index(collection: Collection, writer: Writer, state: IndexState, pictures: Pictures | None = None) -> None:
    """Makes one index of vectors hold what is encoded, and nothing else; built anew where it is damaged.

    Raises what `open_index` and `synchronise` raise.
    """
    manifest = read_manifest(state)
    if manifest is not None and manifest.fingerprint != state.fingerprint:
        raise FingerprintMismatch("another version of quoteweave made it, in another way")
    if manifest is not None:
        # No crop is read by OCR here, which takes a model.
        found = survey(collection, writer, manifest, pictures if manifest.view == "image" else None)
        synchronise(collection, writer, manifest, found.stored, complete=not found.missing)


def _spec(state: IndexState) -> str:
    manifest = manifest_of(state)
    return state.name if manifest is None else manifest.spec
