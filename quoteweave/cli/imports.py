"""`quoteweave import`: documents that another tool has parsed already."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from quoteweave.cli.indexing import Building, bring_up_to_date
from quoteweave.cli.options import CollectionOption, JsonOption, pairs
from quoteweave.cli.output import print_json
from quoteweave.cli.retrieving import Finding, tell

JSON = "--json prints one object: imported, a list of documents as list --json prints them."


class Importer(StrEnum):
    """What can be imported."""

    MINERU = "mineru"
    MMDOCIR_LAYOUT = "mmdocir-layout"


def import_parsed(
    format: Annotated[Importer, typer.Argument(help="Which tool's output it is.")],
    path: Annotated[Path, typer.Argument(help="MinerU's …_content_list.json, or MMDocIR's layout parquet.")],
    collection: CollectionOption,
    meta: Annotated[
        list[str] | None, typer.Option(help="Say this of each document; may be given again.", metavar="KEY=VALUE")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Import what MinerU has parsed, or MMDocIR's published layouts.

    MinerU's list is stored with its PDF when that lies beside it, so that pages
    can be shown. The layout parquet needs the extra 'parquet'.
    """
    from rich.console import Console
    from rich.progress import Progress

    from quoteweave.collection.collection import Collection
    from quoteweave.core.errors import UsageError
    from quoteweave.documents.importers.import_file import import_file

    if not path.is_file():
        raise UsageError(f"{path} is no file")
    stderr = Console(stderr=True)
    bar = Progress(console=stderr, transient=True, disable=as_json or not stderr.is_terminal)
    with Collection.open_or_create(collection) as opened:
        with bar:
            task = bar.add_task("importing documents", total=None)
            documents = import_file(
                opened,
                path,
                format.value,
                metadata=pairs(meta),
                on_document=lambda _: bar.advance(task),
                on_note=lambda note: tell(f"note: {note}"),
            )
        for note in bring_up_to_date(opened, Building(Finding(), quiet=as_json)):
            tell(f"note: {note}")
    if as_json:
        print_json({"imported": [document.model_dump(mode="json") for document in documents]})
        return
    for warning in (f"note: {document.name}: {text}" for document in documents for text in document.warnings):
        typer.echo(warning, err=True)
    typer.echo(f"{collection}: {len(documents)} imported")
