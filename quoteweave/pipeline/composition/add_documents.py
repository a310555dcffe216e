"""Adds files and folders to a collection, and encodes what is new for the indexes that it has."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from quoteweave.collection.collection import Collection
from quoteweave.documents.discovery import folders_among, given_paths
from quoteweave.documents.document_names import check_prefix
from quoteweave.documents.file_reading import AddProgress
from quoteweave.documents.ingest import AddOptions, AddReport, add
from quoteweave.pipeline.composition.manage_indexes import update_indexes
from quoteweave.pipeline.composition.progress import NO_PROGRESS, Progress
from quoteweave.pipeline.pictures_for_models import CollectionPictures


def add_documents(
    collection: Path | str,
    paths: Sequence[Path | str],
    options: AddOptions | None = None,
    *,
    encode: bool = True,
    progress: Progress = NO_PROGRESS,
    add_progress: AddProgress | None = None,
) -> AddReport:
    """Add files and folders to the collection in that folder, which is made if there is none.

    With `encode`, new documents are encoded for the existing indexes. `add_progress` is called with documents and pages
    in place of `progress`. Raises UsageError for a path that does not exist or an invalid prefix; CollectionLocked
    while another process writes; StorageError when the disk refuses; FormatMismatch.
    """
    options = options or AddOptions()
    # Checked first, so that a mistyped path or prefix leaves no empty collection behind.
    folders_among(given_paths(paths))
    if options.prefix is not None:
        check_prefix(options.prefix)
    with Collection.open_or_create(collection) as opened:
        options = replace(options, pictures=CollectionPictures(opened))
        with progress.task("looking at files", unit="pages") as task:
            pages = [0]

            def on_total(new_pages: int) -> None:
                pages[0] += new_pages
                task.update(total=pages[0], label="reading")

            def on_pages(name: str, done: int) -> None:
                task.update(label=f"reading {name[-40:]}")
                task.advance(done)

            reading_progress = AddProgress(on_total, on_pages, lambda: task.update(label="indexing"))
            report = add(opened, paths, options, add_progress or reading_progress)
        if not encode:
            return report
        notes = update_indexes(opened, wait=options.wait_s is None, progress=progress)
    return report.model_copy(update={"index_notes": tuple(notes)})
