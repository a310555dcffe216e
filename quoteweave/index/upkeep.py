"""Every index of a collection after its documents have changed, as far as that goes without any model."""

from quoteweave.core.errors import FingerprintMismatch, QuoteweaveError
from quoteweave.core.protocols import Pictures
from quoteweave.index import lexical
from quoteweave.index.collection import Collection
from quoteweave.index.embedding import survey
from quoteweave.index.manifests import building_command, manifest_of, read_manifest
from quoteweave.index.records import IndexState, Manifest
from quoteweave.index.synchronise import synchronise
from quoteweave.index.writer import Writer


def refresh_indexes(collection: Collection, writer: Writer, pictures: Pictures | None = None) -> tuple[str, ...]:
    """Brings the lexical index up to date, and takes documents that are gone out of all others.

    Indexes of vectors gain what is encoded already: a document that was renamed, or has a twin, keeps its vectors;
    those of pictures where `pictures` say that they are the same. What could not be done is returned, a sentence each:
    a library or a server that is missing must not undo the change, and what was removed is found nowhere in any case.
    Raises StorageError where the disk refuses the lexical index.
    """
    lexical.refresh(collection, writer)
    revision, notes = collection.revision(), []
    for state in collection.indexes():
        if state.revision != revision:
            try:
                _refresh(collection, writer, state, pictures)
            except QuoteweaveError as error:
                spec = _spec(state)
                command = building_command(collection.root, spec)
                notes.append(f"the index {spec} was not brought up to date: {error}. Do it later with: {command}")
    return tuple(notes)


def indexes_behind(collection: Collection) -> list[Manifest]:
    """Indexes of vectors that lack documents, to be brought up to date with their encoders."""
    revision = collection.revision()
    behind = [manifest_of(state) for state in collection.indexes() if state.revision != revision]
    return [manifest for manifest in behind if manifest is not None]


def _refresh(collection: Collection, writer: Writer, state: IndexState, pictures: Pictures | None) -> None:
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
