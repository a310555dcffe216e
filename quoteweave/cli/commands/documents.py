"""`quoteweave status`, `list` and `remove`: lists and removes the documents of a collection."""

from collections.abc import Sequence
from typing import Annotated

import typer

from quoteweave.cli.console import (
    console,
    plain,
    print_json,
    print_message,
    print_notes,
    printable,
    read_by_ocr,
    shown_name,
)
from quoteweave.cli.indexes import index_json, index_line
from quoteweave.cli.options.collection import CollectionOption, JsonOption
from quoteweave.cli.tables import make_table, show_table
from quoteweave.collection.collection import Collection
from quoteweave.core.messages import join_names, pluralize
from quoteweave.core.records import Document
from quoteweave.index.sync import remove_documents
from quoteweave.pipeline.runs.build import list_indexes

LIST_JSON = """--json prints a list of documents: id, name, content (SHA-256), format, parser, pages,
quotes, metadata, warnings, ocr_language (null where OCR was off), ocr_pages and
ocr_pictures (how many pages without a text layer, and pictures on other pages, OCR read)."""
STATUS_JSON = """--json prints one object: documents, pages, quotes, image_quotes, by_layout,
ocr_pages, ocr_pictures, indexes of models (name, fingerprint, up_to_date, spec, kind,
items, skipped, left_out: how many for each reason; the last five are null where the index
is damaged), failed (list of {name, reason}), warned (names of documents of which
something was left out)."""
REMOVE_JSON = """--json prints one object: removed (names of documents), finished (names whose removal
was begun before), index_notes and remains (sentences: indexes that could not be kept in
step, and where traces remain, and until when)."""


def list_documents(collection: CollectionOption, as_json: JsonOption = False) -> None:
    """List the documents of a collection."""
    with Collection.open(collection) as opened:
        documents = opened.documents()
    if as_json:
        print_json([document.model_dump(mode="json") for document in documents])
        return
    metadata_texts = [", ".join(f"{key}={value}" for key, value in sorted(one.metadata.items())) for one in documents]
    columns = ["document", "format", "pages", "quotes", *(["metadata"] if any(metadata_texts) else [])]
    table = make_table(columns, words=["document", "format", "metadata"], ruled=False)
    for document, metadata in zip(documents, metadata_texts, strict=True):
        cells = [shown_name(document.name), document.format, str(document.pages), str(document.quotes), metadata]
        table.add_row(*map(plain, cells[: len(columns)]))
    show_table(console(), table)
    _print_warnings(documents)


def _print_warnings(documents: Sequence[Document]) -> None:
    """Say on stderr of how many documents something was left out."""
    lacking = [shown_name(document.name) for document in documents if document.warnings]
    if lacking:
        some = pluralize(len(lacking), "document has", "documents have")
        print_message(f"note: {some} been read with something left out, which list --json says: {join_names(lacking)}")


def status(collection: CollectionOption, as_json: JsonOption = False) -> None:
    """Say what a collection holds, and which files could not be read."""
    with Collection.open(collection) as opened:
        counts, failures, documents = opened.counts(), opened.failures(), opened.documents()
        indexes = [index_json(opened, *found) for found in list_indexes(opened)]
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
                "warned": [document.name for document in documents if document.warnings],
            }
        )
        return
    typer.echo(
        ", ".join(
            (
                pluralize(counts.documents, "document"),
                pluralize(counts.pages, "page"),
                pluralize(counts.quotes, "quote"),
            )
        )
    )
    if counts.by_layout:
        typer.echo("  " + ", ".join(f"{count} {layout}" for layout, count in sorted(counts.by_layout.items())))
    if read := read_by_ocr(ocr_pages, ocr_pictures):
        typer.echo(f"  {read}")
    for index in indexes:
        typer.echo(printable(index_line(index)))
    for failure in failures:
        typer.echo(printable(f"not read: {failure.name!r}: {failure.reason}"))
    _print_warnings(documents)


def remove(
    names: Annotated[list[str], typer.Argument(help="Names of documents, as list gives them.", metavar="NAME…")],
    collection: CollectionOption,
    as_json: JsonOption = False,
) -> None:
    """Remove documents, and every trace of them, from a collection.

    Their text, names, vectors, crops, descriptions and copies are deleted from its
    folder. If that is not possible at once, for example while another command
    reads, the command says what remains, and the next command that writes removes
    it. Your own files are not touched. Proof: quoteweave check --removed NAME.
    """
    with Collection.open(collection) as opened:
        outcome = remove_documents(opened, names)
    if as_json:
        print_json(outcome.model_dump(mode="json"))
        return
    print_notes((*outcome.index_notes, *outcome.remains))
    if outcome.finished:
        how = "already removed" if outcome.remains else "already removed, and now without a trace"
        typer.echo(printable(f"{how}: {', '.join(outcome.finished)}"))
    if outcome.removed:
        typer.echo(f"removed {pluralize(len(outcome.removed), 'document')}")
