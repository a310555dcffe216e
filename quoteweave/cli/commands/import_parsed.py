"""`quoteweave import`: adds what another tool has parsed to a collection."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer

from quoteweave.cli.console import print_json, print_notes
from quoteweave.cli.options.collection import AttachOption, CollectionOption, JsonOption, pairs
from quoteweave.cli.progress import TerminalProgress
from quoteweave.collection.collection import Collection
from quoteweave.core.errors import UsageError
from quoteweave.documents.importers.import_file import import_file
from quoteweave.pipeline.composition.manage_indexes import update_indexes

JSON = "--json prints one object: imported, a list of documents as list --json prints them."


def import_parsed(
    format: Annotated[
        Literal["mineru", "mmdocir-layout", "mmdocir-pages", "papers"], typer.Argument(help="What the file is.")
    ],
    path: Annotated[Path, typer.Argument(help="MinerU's …_content_list.json, a parquet of MMDocIR, or a table.")],
    collection: CollectionOption,
    meta: AttachOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import what MinerU has parsed, MMDocIR's published layouts or pages, or a table of papers.

    MinerU's list is stored with its PDF when that lies beside it, so that pages
    can be shown. MMDocIR's files need the extra 'parquet'. Each of its pages
    becomes one quote: its screenshot, what OCR read and what a vision model wrote.
    Papers are JSON Lines or CSV with id, title and abstract; all other columns become
    metadata.
    """
    if not path.is_file():
        raise UsageError(f"{path} is no file")
    progress = TerminalProgress(quiet=as_json)
    with _without_empty_collection(collection), Collection.open_or_create(collection) as opened:
        with progress.task("importing documents") as task:
            documents = import_file(
                opened,
                path,
                format,
                metadata=pairs(meta),
                on_document=lambda _: task.advance(),
                on_note=lambda note: progress.note(f"note: {note}"),
            )
        print_notes(update_indexes(opened, progress=progress))
    if as_json:
        print_json({"imported": [document.model_dump(mode="json") for document in documents]})
        return
    print_notes(f"{document.name}: {warning}" for document in documents for warning in document.warnings)
    typer.echo(f"{collection}: {len(documents)} imported")


@contextmanager
def _without_empty_collection(folder: Path) -> Iterator[None]:
    """If an import fails and added nothing, remove the collection that it made."""
    is_new = not folder.exists()
    try:
        yield
    except Exception:
        if is_new and folder.is_dir():
            with Collection.open(folder) as collection:
                is_empty = not collection.origins()
            if is_empty:
                shutil.rmtree(folder)
        raise
