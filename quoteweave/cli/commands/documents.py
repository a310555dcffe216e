"""`quoteweave list`, `status`, `remove` and `show`: the documents of a collection, and single quotes of them."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from quoteweave.cli.console import (
    console,
    place,
    plain,
    print_json,
    print_message,
    print_notes,
    printable,
    read_by_ocr,
    shown_name,
    writing_output,
)
from quoteweave.cli.indexes import index_json, index_line
from quoteweave.cli.options.collection import CollectionOption, JsonOption, PasswordOption
from quoteweave.cli.tables import make_table, show_table
from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Span
from quoteweave.core.messages import join_names, pluralize
from quoteweave.core.records import Document, Quote
from quoteweave.generation.highlights import text_of
from quoteweave.index.sync import remove_documents
from quoteweave.pipeline.highlighting import evidence_for
from quoteweave.pipeline.page_pictures import crop, marked_page
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

    Their text, names, vectors, crops, descriptions and copies leave its folder.
    Where that cannot be done at once, as while another command reads, what
    remains is said, and the next command that writes removes it. Your own files
    are left alone. Proof: quoteweave check --removed NAME.
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


SHOW_JSON = """--json prints one object: quote (the whole record), crop and page (paths of the pictures
written, null where the document has no pictures of its pages), and spans: with --claim the words that
support it (start, end, boxes in points, estimated)."""


def show(
    quote_id: Annotated[str, typer.Argument(help="The quote's id, as search and ask give it.")],
    collection: CollectionOption,
    out: Annotated[Path | None, typer.Option(help="Where the pictures go; else a temporary folder.")] = None,
    password: PasswordOption = None,
    claim: Annotated[
        str | None, typer.Option(help="Mark the words of the quote that support this sentence.", metavar="TEXT")
    ] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open the page's picture.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show a quote: its words, its crop, and its page with the box drawn."""

    with Collection.open(collection) as opened:
        quote = opened.quote(quote_id)
        spans = evidence_for(claim, quote, opened) if claim else ()
        boxes = [box for span in spans for box in span.boxes]
        pictures = {
            "crop": crop(opened, quote, password=password),
            "page": marked_page(opened, quote, boxes, password=password),
        }
    paths = _write_pictures(pictures, quote, out)
    if as_json:
        shown = {name: str(path) if path else None for name, path in paths.items()}
        found = [span.model_dump(mode="json") for span in spans]
        print_json({"quote": quote.model_dump(mode="json"), **shown, "spans": found})
    else:
        _print_quote(quote, paths)
        if claim:
            _print_spans(quote, spans)
    if open_it and paths["page"] is not None:
        typer.launch(str(paths["page"]))


def _write_pictures(pictures: dict[str, bytes | None], quote: Quote, out: Path | None) -> dict[str, Path | None]:
    if not any(pictures.values()):
        return dict.fromkeys(pictures)
    folder = out or Path(tempfile.mkdtemp(prefix="quoteweave-"))
    written: dict[str, Path | None] = {}
    for name, data in pictures.items():
        written[name] = None
        if data is not None:
            suffix = ".jpg" if data.startswith(b"\xff\xd8") else ".png"
            path = folder / f"{quote.id.replace(':', '-')}-{name}{suffix}"
            with writing_output(path):
                folder.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            written[name] = path
    return written


def _print_quote(quote: Quote, paths: dict[str, Path | None]) -> None:
    out = console()
    out.print(plain(place(quote), "bold"), plain(f"  {quote.layout}  {quote.id}", "dim"))
    if quote.section:
        out.print(plain(f"under: {quote.section}", "dim"))
    out.print(plain(quote.words()))
    for name, path in paths.items():
        if path is not None:
            out.print(plain(f"{name}: {path}"), soft_wrap=True)


def _print_spans(quote: Quote, spans: Sequence[Span]) -> None:
    out = console()
    if not spans:
        out.print(plain("supports it: not sure which words; the quote is to be read as a whole"))
    for span in spans:
        words = " ".join(text_of(quote)[span.start : span.end].split())
        out.print(plain(f"supports it: “{words}”{'' if span.boxes else ' (not found on the page)'}"))
