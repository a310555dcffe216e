"""`quoteweave status`, `list`, `remove` and `check`: shows, checks and removes what a collection holds."""

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from quoteweave.cli.console import console, plain, print_json, print_notes, printable, read_by_ocr, shown_name
from quoteweave.cli.indexes import index_json, index_line
from quoteweave.cli.options.collection import CollectionOption, JsonOption, valid_text
from quoteweave.cli.progress import TerminalProgress
from quoteweave.cli.tables import make_table, show_table
from quoteweave.collection.collection import Collection
from quoteweave.collection.storage_errors import OTHER_VERSION, renewal_advice
from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.errors import CollectionLocked, StorageError, UsageError
from quoteweave.core.files.temporary import TemporaryFolder
from quoteweave.core.fingerprints import file_sha256
from quoteweave.core.messages import join_names, pluralize
from quoteweave.core.records import Document
from quoteweave.documents.parser import DocumentParser, ParserSettings
from quoteweave.index.removal import finish_removals_everywhere, remove_documents
from quoteweave.maintenance.check import CheckReport, Damage
from quoteweave.maintenance.check import check as check_only
from quoteweave.maintenance.removal_proof import check_removed
from quoteweave.maintenance.repair import check_and_repair
from quoteweave.pipeline.composition.manage_indexes import list_indexes

LIST_JSON = """--json prints a list of documents: id, name, content (SHA-256), format, parser, pages,
quotes, metadata, warnings, ocr_language (null where OCR was off), ocr_pages and
ocr_pictures (how many pages without a text layer, and pictures on other pages, OCR read)."""
STATUS_JSON = """--json prints one object: documents, pages, quotes, image_quotes, by_layout,
ocr_pages, ocr_pictures, lexical_up_to_date (false where another version made the index of
words), indexes of models (name, fingerprint, up_to_date, spec, kind,
items, skipped, left_out: how many for each reason; the last five are null where the index
is damaged), failed (list of {name, reason}), warned (names of documents of which
something was left out)."""
REMOVE_JSON = """--json prints one object: removed (names of documents), finished (names whose removal
was begun before), still_there (those removed whose files were not), index_notes and remaining_traces
(sentences: indexes that could not be kept in step, and where traces remain, and until when)."""


def list_documents(collection: CollectionOption, as_json: JsonOption = False) -> None:
    """List the documents of a collection."""
    with Collection.open(collection) as opened:
        documents, unread = opened.documents(), opened.unread_files_note()
    if as_json:
        print_json([document.model_dump(mode="json") for document in documents])
        return
    metadata_texts = [
        ", ".join(f"{key}={value}" for key, value in sorted(document.metadata.items())) for document in documents
    ]
    columns = ["document", "format", "pages", "quotes", *(["metadata"] if any(metadata_texts) else [])]
    table = make_table(columns, words=["document", "format", "metadata"], ruled=False)
    for document, metadata in zip(documents, metadata_texts, strict=True):
        cells = [shown_name(document.name), document.format, str(document.pages), str(document.quotes), metadata]
        table.add_row(*map(plain, cells[: len(columns)]))
    show_table(console(), table)
    if unread is not None:
        print_notes([unread])
    _print_warnings(documents)


def _print_warnings(documents: Sequence[Document]) -> None:
    """Say on stderr which documents have warnings, about what was left out or how the file was read."""
    warned = [shown_name(document.name) for document in documents if document.warnings]
    if warned:
        some = pluralize(len(warned), "document was", "documents were")
        print_notes([f"{some} read with warnings, which list --json shows: {join_names(warned)}"])


def status(collection: CollectionOption, as_json: JsonOption = False) -> None:
    """Show what a collection holds, and which files could not be read."""
    with Collection.open(collection) as opened:
        counts, failures, documents = opened.counts(), opened.failures(), opened.documents()
        has_older_segments = opened.has_older_segments()
        indexes = [index_json(opened, state, manifest) for state, manifest in list_indexes(opened)]
    ocr_pages = sum(document.ocr_pages for document in documents)
    ocr_pictures = sum(document.ocr_pictures for document in documents)
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
                "lexical_up_to_date": not has_older_segments,
                "indexes": indexes,
                "failed": [{"name": failure.name, "reason": failure.reason} for failure in failures],
                "warned": [document.name for document in documents if document.warnings],
            }
        )
        return
    documents_and_pages = f"{pluralize(counts.documents, 'document')}, {pluralize(counts.pages, 'page')}"
    typer.echo(f"{documents_and_pages}, {pluralize(counts.quotes, 'quote')}")
    if counts.by_layout:
        typer.echo("  " + ", ".join(f"{count} {layout}" for layout, count in sorted(counts.by_layout.items())))
    if ocr_text := read_by_ocr(ocr_pages, ocr_pictures):
        typer.echo(f"  {ocr_text}")
    if has_older_segments:
        typer.echo(f"{OTHER_VERSION}; {renewal_advice(collection)}")
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
    A file that could not be read is forgotten by the name that status gives it.
    """
    with Collection.open(collection) as opened:
        unread_names = {failure.name for failure in opened.failures()} - {
            document.name for document in opened.documents()
        }
        outcome = remove_documents(opened, names)
    if as_json:
        print_json(outcome.model_dump(mode="json"))
        return
    print_notes((*outcome.index_notes, *outcome.remaining_traces))
    if outcome.finished:
        state = "already removed" if outcome.remaining_traces else "already removed, and now without a trace"
        typer.echo(printable(f"{state}: {', '.join(outcome.finished)}"))
    forgotten = unread_names.intersection(outcome.removed)
    if len(outcome.removed) > len(forgotten):
        typer.echo(f"removed {pluralize(len(outcome.removed) - len(forgotten), 'document')}")
    if forgotten:
        typer.echo(f"forgot {pluralize(len(forgotten), 'file')} that could not be read")
    if outcome.still_there:
        names_shown = join_names([shown_name(name) for name in outcome.still_there])
        print_notes([f"still on disk, so that the next add of the folder adds it again: {names_shown}"])


CHECK_JSON = """--json prints one object: whole (true or false), files (how many were read), damaged (list of part,
file, what, document, repaired, advice), notes (sentences), leftovers (paths of files that nothing refers to).
With --removed: name, traces (sentences), mentions and same_content (names of documents), files and
size (how many files and bytes were searched), remaining_traces (sentences)."""


def check(
    collection: CollectionOption,
    repair: Annotated[bool, typer.Option("--repair", help="Rebuild what can be rebuilt.")] = False,
    removed: Annotated[
        str | None,
        typer.Option(help="Prove that nothing is left of this document.", metavar="NAME", parser=valid_text),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            help="With --removed, the file that was removed, where you still have it: its words are searched for.",
            metavar="PATH",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Read every file of a collection, and say what is damaged or missing.

    With --repair, indexes are rebuilt from their vectors, and crops and documents
    from the stored files; what cannot be rebuilt is named. The exit code is 1 if
    something is damaged.

    With --removed, search every byte of the folder for a document that was removed.
    An unfinished removal, left by a kill or by a command that was reading, is
    finished first. The exit code is 1 if traces are left.
    """
    if removed is not None and repair:
        raise UsageError("--repair and --removed are two things to do; run one after the other")
    if removed is None and file is not None:
        raise UsageError("--file goes with --removed NAME")
    passed = _show_removed(collection, removed, file, as_json) if removed else _show_check(collection, repair, as_json)
    if not passed:
        raise typer.Exit(1)


def _show_check(collection: Path, repair: bool, as_json: bool) -> bool:
    """Check, print what was found, and return whether everything is as it was written."""
    with TerminalProgress(quiet=as_json).task("checking", unit="files") as bar:
        checked = count(1)

        def on_file(remaining: int) -> None:
            bar.advance()
            bar.update(total=next(checked) + max(remaining, 0))

        report = (check_and_repair if repair else check_only)(collection, on_file)
    if as_json:
        print_json({"whole": report.whole, **report.model_dump(mode="json")})
    else:
        _print_check(report, repair=repair)
    return report.whole


def _print_check(report: CheckReport, *, repair: bool) -> None:
    for damage in report.damaged:
        typer.echo(printable(_damage_line(damage)))
    for note in report.notes:
        typer.echo(printable(f"note: {note}"))
    if report.leftovers:
        files = pluralize(len(report.leftovers), "file is", "files are")
        typer.echo(f"{files} left over; the next command that writes removes what is left over")
    unrepaired = sum(not damage.repaired for damage in report.damaged)
    if not unrepaired:
        typer.echo(f"{pluralize(report.files, 'file was', 'files were')} read; nothing is damaged")
    elif repair:
        typer.echo(f"{pluralize(unrepaired, 'damaged thing', 'damaged things')} could not be made again")
    else:
        typer.echo(f"{unrepaired} damaged; make again what can be made again with --repair")


def _damage_line(damage: Damage) -> str:
    state = "repaired" if damage.repaired else "damaged"
    owner = f" (of {damage.document!r})" if damage.document and damage.document not in damage.what else ""
    advice = f"; {damage.advice}" if damage.advice else ""
    return f"{state}: {damage.file}{owner}: {damage.what}{advice}"


def _show_removed(collection: Path, removed: str, file: Path | None, as_json: bool) -> bool:
    """Search for traces of a removed document, print them, and return whether there are none."""
    remaining_traces = _finish_removals(collection)
    texts, content = ([], None) if file is None else _read_removed(file)
    removal = check_removed(collection, removed, texts, content)
    if as_json:
        print_json({**removal.model_dump(mode="json"), "remaining_traces": remaining_traces})
    else:
        for line in (*remaining_traces, *removal.traces):
            typer.echo(printable(f"left: {line}"))
        for name in removal.mentions:
            typer.echo(printable(f"note: {name} names it in words of its own"))
        for name in removal.same_content:
            typer.echo(printable(f"note: the file of {name} has the same content, which is therefore no trace"))
        state = "something is left" if removal.traces else "nothing is left"
        typer.echo(printable(f"{state} of {removed!r} in {removal.files} files, {removal.size / 1e6:.1f} MB"))
    return not removal.traces


def _finish_removals(collection: Path) -> tuple[str, ...]:
    """Finish removals, unless another process is writing; return the traces that remain."""
    with Collection.open(collection) as opened:
        if not opened.may_have_traces():
            return ()
        try:
            with opened.writer() as writer:
                return finish_removals_everywhere(opened, writer)
        except (CollectionLocked, StorageError) as error:
            return (f"a removal could not be finished: {error}",)


def _read_removed(file: Path) -> tuple[list[str], str]:
    """The texts of a file's quotes, and its hash. Raises DocumentError if it cannot be read."""
    if not file.is_file():
        raise UsageError(f"{file} is no file")
    with TemporaryFolder() as folder:
        parsed = DocumentParser(ImageStore(folder), ParserSettings(ocr=False)).parse(file)
    return [quote.text for quote in parsed.quotes], file_sha256(file)
