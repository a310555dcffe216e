"""Removes documents, and every trace of them from the collection's folder and its indexes."""

from collections.abc import Sequence

from pydantic import Field

from quoteweave.collection.collection import Collection
from quoteweave.collection.writer import Writer
from quoteweave.core.records import Record
from quoteweave.index.sync import sync_indexes


class RemovalReport(Record):
    """The result of removing documents.

    >>> with Collection.open("my-collection") as collection:
    ...     remove_documents(collection, ["port.md"]).remaining_traces
    ()
    """

    removed: tuple[str, ...] = Field(description="names of documents that were removed now")
    finished: tuple[str, ...] = Field(description="names whose removal an earlier command had begun")
    index_notes: tuple[str, ...] = Field(description="indexes that could not be kept in step, and why")
    remaining_traces: tuple[str, ...] = Field(
        description="where traces of what was removed remain, why, and until when"
    )
    still_there: tuple[str, ...] = Field(
        default=(), description="names of which the file is where it was added from: adding that folder adds it again"
    )


def remove_documents(collection: Collection, names: Sequence[str]) -> RemovalReport:
    """Remove documents, and every trace of them from the collection's folder; what `quoteweave remove` calls.

    A file that could not be read is forgotten by its name in `Collection.failures`.

    >>> with Collection.open("my-collection") as collection:
    ...     remove_documents(collection, ["port.md"]).removed
    ('port.md',)

    Raises UsageError for an unknown name, and then removes nothing; CollectionLocked while another process writes,
    StorageError where the disk refuses.
    """
    with collection.writer() as writer:
        origins = collection.origins()
        files = {
            name: origin.file(name) for name, origin in origins.items() if not origin.uploaded and not origin.imported
        }
        files |= {failure.name: failure.root / (failure.path or failure.name) for failure in collection.failures()}
        known_names = {*origins, *files}
        begun = writer.unfinished_removals(name for name in names if name not in known_names)
        removed = [name for name in dict.fromkeys(names) if name not in begun]
        for name in (name for name in removed if name not in known_names):
            collection.document(name)  # raises for an unknown name before anything is removed
        if removed:
            writer.remove(*removed)
        writer.prune()  # makes room for the indexes if the disk is full
        notes = sync_indexes(collection, writer)
        remaining_traces = writer.finish_removals()
    return RemovalReport(
        removed=tuple(removed),
        finished=tuple(sorted(begun)),
        index_notes=notes,
        remaining_traces=remaining_traces,
        still_there=tuple(name for name in removed if name in files and files[name].exists()),
    )


def finish_removals_everywhere(collection: Collection, writer: Writer) -> tuple[str, ...]:
    """Remove what is left of removed documents after commands were killed, or while readers had files open.

    Returns a sentence for each thing that remains, and until when. Raises what `sync_indexes` raises.
    """
    if not collection.may_have_traces():
        return ()
    return (*sync_indexes(collection, writer), *writer.finish_removals())
