"""Writes to a collection: stores and removes documents, records failures, and publishes derived indexes."""

import json
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from quoteweave.collection import removals
from quoteweave.collection.catalog.stored_documents import (
    describe_document,
    insert_document,
    stored_pages,
    stored_quotes,
)
from quoteweave.collection.catalog.stored_indexes import index_states, put_index
from quoteweave.collection.catalog.stored_words import store_words
from quoteweave.collection.filters import require_documents
from quoteweave.collection.folder import RECOVERED_FOLDER, CollectionFolder
from quoteweave.collection.prepared import (
    PreparedDocument,
    escape_invalid_unicode,
    prepare_document,
    storable_json,
    storable_text,
)
from quoteweave.collection.records import Failure, IndexState, LostDocument, Origin
from quoteweave.collection.removals import record_removal
from quoteweave.collection.segments.builder import SegmentBuilder
from quoteweave.collection.storage_errors import guard_writing
from quoteweave.collection.stores.generations import generation_seal
from quoteweave.collection.unreferenced import remove_unused, shards_fingerprint, shards_of_pictures
from quoteweave.core.errors import StorageError
from quoteweave.core.records import Document, ParsedDocument

_FAILURE = "INSERT OR REPLACE INTO failures VALUES (?1, ?2, row_checksum(?2, ?1))"
_FORGET = "DELETE FROM failures WHERE name = ? OR name = json_extract(record, '$.root') || '/' || ?"
_FAILED = "SELECT name FROM failures"
# How many documents are counted at once when the lexical index is rebuilt.
_DOCUMENTS_AT_ONCE = 200
_SHARD = "INSERT OR REPLACE INTO shards (document, fingerprint, key) SELECT key, ?, ? FROM documents WHERE name = ?"


class Writer:
    """The write operations of a collection, for one thread at a time of the process that holds the lock.

    See `Collection.writer`. Each method is one transaction: it is done whole or not at all. All raise StorageError
    where the disk is full or cannot be written.
    """

    def __init__(self, folder: CollectionFolder) -> None:
        self._folder = folder

    def prepare(
        self, source: Path, *, name: str, format: str, origin: Origin, parsed: ParsedDocument
    ) -> PreparedDocument:
        """Call `prepare_document` with this collection's source store."""
        return prepare_document(source, self._folder.sources, name=name, format=format, origin=origin, parsed=parsed)

    def store(self, documents: Sequence[PreparedDocument]) -> None:
        """Store documents, each in place of one of the same name, and clear their recorded failures.

        They can be searched by words as soon as they are listed. No two may have the same name.
        """
        names = [document.document.name for document in documents]
        with self._folder.catalog.write() as db:
            replaced = _stored_names(db, names)
            for name in replaced:
                db.execute("DELETE FROM documents WHERE name = ?", (name,))
                record_removal(db, name)
            db.executemany("DELETE FROM failures WHERE name = ?", ((name,) for name in names))
            builder = SegmentBuilder()
            for document in documents:
                insert_document(db, document, builder)
            self._folder.segments.update(db, removed=replaced, added=builder.segment())
            _increment_revision(db)
        self._prune_segments()

    def store_words(self, prepared: PreparedDocument) -> None:
        """Store only the page words of a document that is already stored."""
        with self._folder.catalog.write() as db:
            (key,) = db.execute("SELECT key FROM documents WHERE name = ?", (prepared.document.name,)).fetchone()
            store_words(db, key, prepared.words)

    def put(self, source: Path, *, name: str, format: str, origin: Origin, parsed: ParsedDocument) -> Document:
        """Prepare and store one document. Raises what `prepare` and `store` raise."""
        prepared = self.prepare(source, name=name, format=format, origin=origin, parsed=parsed)
        self.store([prepared])
        return prepared.document

    def remove(self, *names: str) -> None:
        """Remove documents and everything that belongs to them. Raises UsageError for an unknown name.

        Vector indexes and the catalogue's free pages still hold traces of them: `quoteweave.remove_documents` removes
        documents and traces, and so does the next command that writes.

        If the disk is too full to remove them, room is made in this order: by releasing the reserve, by overwriting
        deleted data only later, by dropping vector indexes (rebuilt later from their stored vectors) and the lexical
        index (rebuilt at once), and by removing the pages kept of an interrupted `add`. Raises StorageError otherwise.
        """
        for make_room, overwrite in (
            (None, True),
            (self._folder.reserve.release, True),
            (None, False),
            (self._remove_all_index_files, False),
        ):
            if self._try_remove(names, make_room, overwrite=overwrite) is None:
                return
        refusal = self._try_remove(names, self._drop_segments, overwrite=False)
        if refusal is None:
            self._rebuild_dropped(names)
            return
        self._restore_dropped(refusal)
        raise refusal

    def _try_remove(
        self, names: Sequence[str], make_room: Callable[[], None] | None, *, overwrite: bool
    ) -> StorageError | None:
        """Make room and remove documents; return the error that prevented it, None where they are removed."""
        try:
            if make_room is not None:
                make_room()
            self._remove(names, overwrite=overwrite)
        except StorageError as error:
            self._prune_segments()  # frees the room that the attempt has taken
            return StorageError(str(error))  # without the error's frames, which keep deleted files open
        return None

    def _restore_dropped(self, refusal: StorageError) -> None:
        """Rebuild the lexical index, which was dropped without success. Raises StorageError where there is no room."""
        try:
            self.rebuild_lexical()
        except StorageError:
            raise StorageError(
                f"{refusal}, except for the lexical index, which was dropped to make room: until the next command that "
                "writes makes it anew, no words are found"
            ) from refusal

    def _rebuild_dropped(self, removed: Sequence[str]) -> None:
        try:
            remove_unused(self._folder)
            self._folder.catalog.empty_log()
            try:
                self.rebuild_lexical()
            except StorageError:
                self._folder.unfinished.prune()
                self.rebuild_lexical()
        except StorageError as error:
            raise StorageError(
                f"removed: {', '.join(removed)}. The lexical index was dropped to make room, and there is too little "
                f"to make it anew ({error}). Make room, and run any command that writes: until then no words are found"
            ) from error

    def _remove(self, names: Sequence[str], *, overwrite: bool) -> None:
        with self._folder.catalog.write(overwrite=overwrite) as db:
            require_documents(db, {*names} - {name for (name,) in db.execute(_FAILED)})
            self._drop_recovered(db, names)
            for name in names:
                db.execute("DELETE FROM documents WHERE name = ?", (name,))
                # A file of that name that was not added because the name was taken is recorded under its whole path.
                db.execute(_FORGET, (name, name))
                record_removal(db, name)
            self._folder.segments.update(db, removed=set(names))
            _increment_revision(db)
        self._prune_segments()

    def _drop_recovered(self, db: sqlite3.Connection, names: Sequence[str]) -> None:
        """Remove the files of these documents that a repair set aside before they were added again."""
        query = "SELECT source FROM documents WHERE name IN (SELECT value FROM json_each(?))"
        for (key,) in db.execute(query, (json.dumps(names),)):
            path = self._folder.root / RECOVERED_FOLDER / Path(key).name
            with guard_writing(path):
                path.unlink(missing_ok=True)

    def unfinished_removals(self, names: Iterable[str]) -> set[str]:
        """Return those of the names whose removal has left traces so far."""
        return removals.unfinished_removals(self._folder, names)

    def unclean_indexes(self) -> set[str]:
        """Fingerprints of the indexes that may still hold removed data."""
        with self._folder.catalog.read() as db:
            return {fingerprint for (fingerprint,) in db.execute("SELECT fingerprint FROM unclean_indexes")}

    def mark_index_clean(self, fingerprint: str) -> None:
        """Record that an index was brought up to date, or is gone."""
        with self._folder.catalog.write() as db:
            db.execute("DELETE FROM unclean_indexes WHERE fingerprint = ?", (fingerprint,))

    def finish_removals(self) -> tuple[str, ...]:
        """Remove every trace of removed documents; return sentences that say what remains, and until when.

        Call this once the indexes are up to date. Raises CollectionError where the catalogue is damaged.
        """
        return removals.finish_removals(self._folder, self.prune)

    def set_metadata(self, name: str, metadata: Mapping[str, str]) -> Document:
        """Replace a document's metadata; its quotes and their rows stay. Raises UsageError for an unknown name."""
        with self._folder.catalog.write() as db:
            require_documents(db, [name])
            query = "SELECT record FROM checked_documents WHERE name = ?"
            (record,) = db.execute(query, (name,)).fetchone()
            stored = Document.model_validate_json(record)
            updated = stored.model_copy(update={"metadata": dict(metadata)})
            if updated != stored:
                update = """UPDATE documents SET record = ?1, checksum = row_checksum(?1, name, root, path, source)
                WHERE name = ?2"""
                db.execute(update, (storable_json(updated, name), name))
                _increment_revision(db)
        return updated

    def describe(self, descriptions: Mapping[str, Mapping[str, str]]) -> None:
        """Store a vision model's descriptions of image quotes: by document, from quote id to `vlm_text`.

        All quotes of these documents get new rows, in the same order, because a row in an index stands for the words
        that the quote had when it was indexed; vectors of the old words no longer belong to the document. Raises
        UsageError for an unknown name, DamagedDocument for text that cannot be stored.
        """
        picture_shards = json.dumps(sorted(shards_of_pictures(self._folder)))
        with self._folder.catalog.write() as db:
            require_documents(db, descriptions)
            builder = SegmentBuilder()
            for name, quote_descriptions in descriptions.items():
                describe_document(db, name, quote_descriptions, picture_shards, builder)
            self._folder.segments.update(db, removed=set(descriptions), added=builder.segment())
            _increment_revision(db)
        self._prune_segments()

    def move(self, name: str, root: Path, path: str | None = None) -> None:
        """Record that a document's file is now in another root folder, at `path` below it where that is not its name.

        Raises UsageError for an unknown name.
        """
        with self._folder.catalog.write() as db:
            require_documents(db, [name])
            update = """UPDATE documents
            SET root = ?1, path = ?2,
                checksum = row_checksum(verified(checksum, record, name, root, path, source), name, ?1, ?2, source)
            WHERE name = ?3"""
            db.execute(update, (storable_text(str(root), name), path, name))

    def fail(
        self,
        name: str,
        *,
        root: Path,
        reason: str,
        content: str | None,
        path: str | None = None,
        lost: LostDocument | None = None,
    ) -> None:
        """Record why a file could not be stored, replacing an earlier reason; a stored document of that name stays."""
        failure = Failure(
            name=escape_invalid_unicode(name),
            root=Path(escape_invalid_unicode(str(root))),
            path=path and escape_invalid_unicode(path),
            reason=escape_invalid_unicode(reason),
            content=content,
            time=time.time(),
            lost=lost,
        )
        with self._folder.catalog.write() as db:
            db.execute(_FAILURE, (failure.name, failure.model_dump_json()))

    def clear_failure(self, name: str) -> None:
        """Delete the recorded failure of that name, if there is one."""
        with self._folder.catalog.write() as db:
            db.execute("DELETE FROM failures WHERE name = ?", (escape_invalid_unicode(name),))

    def keep_shards(self, fingerprint: str, keys: Mapping[str, str]) -> None:
        """Assign to each document its shard of an encoder's vectors, which is kept as long as the document.

        Raises UsageError for an unknown name.
        """
        with self._folder.catalog.write() as db:
            require_documents(db, keys)
            db.executemany(_SHARD, ((fingerprint, key, name) for name, key in keys.items()))

    def drop_shard_parts(self, fingerprint: str, name: str) -> None:
        """Record that the parts of a document's shard (`part_fingerprint`) are no longer needed."""
        query = "DELETE FROM shards WHERE fingerprint GLOB ? AND document IN (SELECT key FROM documents WHERE name = ?)"
        with self._folder.catalog.write() as db:
            db.execute(query, (f"{fingerprint}.*", name))

    def drop_shard(self, fingerprint: str, key: str) -> None:
        """Unlink a damaged shard from the documents that have it."""
        with self._folder.catalog.write() as db:
            db.execute("DELETE FROM shards WHERE fingerprint = ? AND key = ?", (fingerprint, key))

    def put_source(self, source: Path, content: str) -> str:
        """Store a document's file again. Raises what `SourceStore.put` raises."""
        return self._folder.sources.put(source, content)

    def publish(self, name: str, fingerprint: str, *, build: Callable[[Path], None], revision: int) -> IndexState:
        """Have `build` fill an empty folder with a derived index, and make it the current one of that fingerprint.

        `revision` is the revision of the documents from which the index is built. The previous index stays current
        until then, and is removed afterwards. Raises what `build` raises, and ValueError for a fingerprint that cannot
        name a folder.
        """
        generations = self._folder.generations
        with self._folder.catalog.read() as db:
            (after,) = db.execute("SELECT generation FROM state").fetchone()
        generation = generations.add(fingerprint, build, after=after)
        seal = generation_seal(generations.path(fingerprint, generation))
        with self._folder.catalog.write() as db:
            put_index(db, (fingerprint, name, generation, revision), seal)
            (state,) = (state for state in index_states(db, generations) if state.fingerprint == fingerprint)
        self._prune_generations()
        return state

    def advance(self, fingerprint: str, revision: int) -> None:
        """Record that an index is up to date with that revision of the documents without a change."""
        with self._folder.catalog.write() as db:
            db.execute("UPDATE indexes SET revision = ? WHERE fingerprint = ?", (revision, fingerprint))

    def remove_index_files(self, fingerprint: str) -> None:
        """Remove the files of a derived index; its shards, and the record of how it was built, stay."""
        with self._folder.catalog.read() as db:
            query = "SELECT generation FROM indexes WHERE fingerprint = ?"
            for (generation,) in db.execute(query, (fingerprint,)):
                shutil.rmtree(self._folder.generations.path(fingerprint, generation), ignore_errors=True)

    def drop_index(self, fingerprint: str) -> None:
        """Remove a derived index, and its shards unless another index uses them; do nothing if there is no such index.

        The fingerprint of an index's shards is its own fingerprint, or the part of it before the dot.
        """
        shards = shards_fingerprint(fingerprint)
        with self._folder.catalog.write() as db:
            db.execute("DELETE FROM indexes WHERE fingerprint = ?", (fingerprint,))
            remaining = {shards_fingerprint(index) for (index,) in db.execute("SELECT fingerprint FROM indexes")}
            if shards not in remaining:
                db.execute("DELETE FROM shards WHERE fingerprint = ? OR fingerprint GLOB ?", (shards, f"{shards}.*"))
        self._prune_generations()

    def prune(self) -> None:
        """Remove images, sources, shards, indexes and unfinished pages that nothing needs; called as a writer ends."""
        self._folder.unfinished.prune()
        remove_unused(self._folder)

    def _remove_all_index_files(self) -> None:

        with self._folder.catalog.read() as db:
            fingerprints = [fingerprint for (fingerprint,) in db.execute("SELECT fingerprint FROM indexes")]
        for fingerprint in fingerprints:
            self.remove_index_files(fingerprint)

    def _drop_segments(self) -> None:
        """Remove the files of the lexical index; until it is rebuilt, searches report that it is missing."""
        self._folder.segments.prune(())  # first, because the transaction may need the room
        with self._folder.catalog.write(overwrite=False) as db:
            db.execute("DELETE FROM segments")

    def restore_lexical(self) -> None:
        """Rebuild the lexical index if it was dropped on a full disk or made by other rules, unless that is full."""
        with self._folder.catalog.read() as db:
            is_outdated = self._folder.segments.is_outdated(db)
        if is_outdated:
            with suppress(StorageError):
                self.rebuild_lexical()

    def rebuild_lexical(self) -> None:
        """Rebuild the lexical index from the catalogue's quotes, whatever its files contain."""
        with self._folder.catalog.write() as db:
            db.execute("DELETE FROM segments")
            names = [name for (name,) in db.execute("SELECT name FROM documents ORDER BY key")]
            for first in range(0, len(names), _DOCUMENTS_AT_ONCE):
                builder = SegmentBuilder()
                for name in names[first : first + _DOCUMENTS_AT_ONCE]:
                    builder.add(name, stored_quotes(db, name), stored_pages(db, name))
                self._folder.segments.update(db, added=builder.segment())
        self._prune_segments()

    def _prune_segments(self) -> None:
        with self._folder.catalog.read() as db:
            self._folder.segments.prune({name for (name,) in db.execute("SELECT name FROM segments")})

    def _prune_generations(self) -> None:
        with self._folder.catalog.read() as db:
            current = dict(db.execute("SELECT fingerprint, generation FROM indexes").fetchall())
        self._folder.generations.prune(current)


def part_fingerprint(fingerprint: str, number: int) -> str:
    """The fingerprint under which the parts of unfinished shards are stored."""
    return f"{fingerprint}.{number}"


def _stored_names(db: sqlite3.Connection, names: Sequence[str]) -> set[str]:
    """Return those of the names that belong to stored documents."""
    query = "SELECT name FROM documents WHERE name IN (SELECT value FROM json_each(?))"
    return {name for (name,) in db.execute(query, (json.dumps(names),))}


def _increment_revision(db: sqlite3.Connection) -> None:
    db.execute("UPDATE state SET revision = revision + 1")
