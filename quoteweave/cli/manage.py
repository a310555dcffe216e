"""`quoteweave status`, `list` and `remove`: what a collection holds."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from quoteweave.cli.add import read_by_ocr
from quoteweave.cli.options import CollectionOption, JsonOption
from quoteweave.cli.output import console, plain, print_json, printable

if TYPE_CHECKING:
    from quoteweave.index.collection import Collection
    from quoteweave.index.records import IndexState

LIST_JSON = """--json prints a list of documents: id, name, content (SHA-256), format, parser, pages,
quotes, metadata, warnings, ocr_language (null where OCR was off), ocr_pages and
ocr_pictures (how many pages without a text layer, and pictures on other pages, OCR read)."""
STATUS_JSON = """--json prints one object: documents, pages, quotes, image_quotes, by_layout,
ocr_pages, ocr_pictures, indexes (name, fingerprint, up_to_date, spec, kind, items, skipped; the last four are
null for lexical), failed (list of {name, reason})."""
REMOVE_JSON = "--json prints one object: removed (names of documents), index_notes (sentences)."


def list_documents(collection: CollectionOption, as_json: JsonOption = False) -> None:
    """List the documents of a collection."""
    from quoteweave.index.collection import Collection

    with Collection.open(collection) as opened:
        documents = opened.documents()
    if as_json:
        print_json([document.model_dump(mode="json") for document in documents])
        return
    from rich.table import Table

    table = Table("document", "format", "pages", "quotes", "metadata", box=None, pad_edge=False)
    for document in documents:
        meta = ", ".join(f"{key}={value}" for key, value in sorted(document.metadata.items()))
        table.add_row(plain(document.name), document.format, str(document.pages), str(document.quotes), plain(meta))
    console().print(table)


def status(collection: CollectionOption, as_json: JsonOption = False) -> None:
    """Say what a collection holds, and which files could not be read."""
    from quoteweave.index.collection import Collection

    with Collection.open(collection) as opened:
        counts, failures, documents = opened.counts(), opened.failures(), opened.documents()
        indexes = [_index(opened, state) for state in opened.indexes()]
    ocr_pages, ocr_pictures = (sum(doc.ocr_pages for doc in documents), sum(doc.ocr_pictures for doc in documents))
    if as_json:
        print_json(
            {
                "documents": counts.documents,
                "pages": counts.pages,
                "quotes": counts.quotes,
                "image_quotes": counts.image_quotes,
                "by_layout": dict(counts.by_layout),
                "ocr_pages": ocr_pages,
                "ocr_pictures": ocr_pictures,
                "indexes": indexes,
                "failed": [{"name": failure.name, "reason": failure.reason} for failure in failures],
            }
        )
        return
    typer.echo(f"{counts.documents} documents, {counts.pages} pages, {counts.quotes} quotes")
    if counts.by_layout:
        typer.echo("  " + ", ".join(f"{count} {layout}" for layout, count in sorted(counts.by_layout.items())))
    if read := read_by_ocr(ocr_pages, ocr_pictures):
        typer.echo(f"  {read}")
    for index in indexes:
        typer.echo(printable(_said_of(index)))
    for failure in failures:
        typer.echo(printable(f"not read: {failure.name!r}: {failure.reason}"))


def remove(
    names: Annotated[list[str], typer.Argument(help="Names of documents, as list gives them.", metavar="NAME…")],
    collection: CollectionOption,
    as_json: JsonOption = False,
) -> None:
    """Remove documents, and all that was made of them, from a collection. Your files are left alone."""
    from quoteweave.index.collection import Collection
    from quoteweave.index.upkeep import refresh_indexes

    with Collection.open(collection) as opened:
        for name in names:
            opened.document(name)  # all names are known before the first is removed
        with opened.writer() as writer:
            for name in dict.fromkeys(names):
                writer.remove(name)
            notes = refresh_indexes(opened, writer)
    if as_json:
        print_json({"removed": list(dict.fromkeys(names)), "index_notes": notes})
        return
    for note in notes:
        typer.echo(printable(f"note: {note}"), err=True)
    typer.echo(f"removed {len(set(names))} documents")


def _index(collection: "Collection", state: "IndexState") -> dict[str, object]:
    from quoteweave.index.manifests import manifest_of

    manifest = manifest_of(state)
    return {
        "name": state.name,
        "fingerprint": state.fingerprint,
        "up_to_date": state.revision == collection.revision(),
        "spec": manifest and manifest.spec,
        "kind": manifest and manifest.kind,
        "items": manifest and manifest.count,
        "skipped": manifest and manifest.skipped,
    }


def _said_of(index: Mapping[str, object]) -> str:
    said = f"index {index['spec'] or index['name']}: "
    if index["kind"] is not None:
        left_out = f", {index['skipped']} left out" if index["skipped"] else ""
        said += f"{index['kind']}, {index['items']} items{left_out}, "
    catching_up = "the next search" if index["kind"] is None else "quoteweave index"
    return said + ("up to date" if index["up_to_date"] else f"behind; {catching_up} brings it up to date")
