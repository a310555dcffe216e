"""`quoteweave add`: files and folders become documents of a collection."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quoteweave.cli.options import CollectionOption, JsonOption, PasswordOption, a_path, pairs, valid_text
from quoteweave.cli.output import adding_progress, print_json, printable
from quoteweave.cli.retrieving import Finding
from quoteweave.core.messages import counted, listed

if TYPE_CHECKING:
    from quoteweave.documents.ingest import AddOptions, AddReport

JSON = """--json prints one object: added, updated, unchanged, removed (names of documents);
failed and warnings (lists of {name, reason}); ocr_pages and ocr_pictures (how many pages without a text layer, and
pictures on other pages, OCR read); index_notes (indexes that could not be kept in step, and why);
renamed (of the added, names with more of the folder's path in front, to tell them from others);
passed_over (how many files of folders are no documents, by suffix);
remains (where traces of what was removed or replaced remain, and until when)."""


def add(
    paths: Annotated[
        list[Path], typer.Argument(help="Files, or folders to keep in step with.", metavar="PATH…", parser=a_path)
    ],
    collection: CollectionOption,
    meta: Annotated[
        list[str] | None,
        typer.Option(help="Say this of each document; may be given again.", metavar="KEY=VALUE", parser=valid_text),
    ] = None,
    prefix: Annotated[
        str | None,
        typer.Option(
            help="Put NAME/ before the names of new documents; without it the added folder's name, where a name is "
            "that of another document.",
            metavar="NAME",
            parser=valid_text,
        ),
    ] = None,
    password: PasswordOption = None,
    ocr: Annotated[bool, typer.Option(help="Read what has no text layer by OCR.")] = True,
    ocr_language: Annotated[
        str, typer.Option(help="RapidOCR's language; others than ch are downloaded.", metavar="NAME")
    ] = "ch",
    processes: Annotated[int, typer.Option(min=0, help="Processes that read; 0 for one a core, four at most.")] = 0,
    memory: Annotated[
        int | None,
        typer.Option(min=50, help="Megabytes that each of them may take.", show_default="600, or less", metavar="MB"),
    ] = None,
    page_seconds: Annotated[
        float,
        typer.Option(
            min=0.1, help="Processor time that a page may take; four times as long with OCR.", metavar="SECONDS"
        ),
    ] = 10.0,
    encode: Annotated[bool, typer.Option(help="Encode what is new for the indexes of models that there are.")] = True,
    wait: Annotated[bool, typer.Option(help="Wait while another process writes to the collection.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Add documents: PDF, PNG, JPEG, WebP, TIFF, Markdown, HTML and plain text.

    A folder is kept in step: new and changed files are read, documents whose
    files have vanished are removed. Files that cannot be read are listed with
    the reason, the others are added, and the exit code is 1. Stopped at any
    moment, the same command goes on where it ended.
    """
    from quoteweave.documents.ingest import AddOptions
    from quoteweave.documents.parser import ParserSettings
    from quoteweave.documents.worker_pool import MEGABYTE, Limits

    options = AddOptions(
        settings=ParserSettings(ocr=ocr, ocr_language=ocr_language),
        metadata=pairs(meta),
        password=password,
        processes=processes,
        limits=Limits(memory * MEGABYTE if memory else None, page_seconds),
        wait_s=None if wait else 0.0,
        prefix=prefix,
    )
    report = add_paths(collection, paths, options, encode=encode, quiet=as_json)
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        _show(report, collection)
    if report.failed:
        raise typer.Exit(1)


def add_paths(
    collection: Path, paths: Sequence[Path], options: "AddOptions | None" = None, *, encode: bool = True, quiet: bool
) -> "AddReport":
    """Add to the collection at that path, made if there is none, with a progress bar. Raises a QuoteweaveError."""
    from quoteweave.cli.indexing import Building, bring_up_to_date
    from quoteweave.collection.collection import Collection
    from quoteweave.documents.discovery import folders_among
    from quoteweave.documents.document_names import check_prefix
    from quoteweave.documents.ingest import AddOptions
    from quoteweave.documents.ingest import add as add_files
    from quoteweave.pipeline.pictures import CollectionPictures

    folders_among(paths)  # so that a mistyped path leaves no empty collection behind, nor a prefix that is none
    if options is not None and options.prefix is not None:
        check_prefix(options.prefix)
    with Collection.open_or_create(collection) as opened:
        options = replace(options or AddOptions(), pictures=CollectionPictures(opened))
        with adding_progress(quiet=quiet) as progress:
            report = add_files(opened, paths, options, progress)
        how = Building(Finding(), wait=options.wait_s is None, quiet=quiet)
        notes = bring_up_to_date(opened, how) if encode else report.index_notes
    return report.model_copy(update={"index_notes": tuple(notes)})


def _show(report: "AddReport", collection: Path) -> None:
    for warning in report.warnings:
        typer.echo(printable(f"note: {warning.name}: {warning.reason}"), err=True)
    for refused in report.failed:
        reason = refused.reason if repr(refused.name) in refused.reason else f"{refused.name!r}: {refused.reason}"
        typer.echo(printable(f"not added: {reason}"), err=True)
    for note in (*_names_told(report), *report.index_notes, *report.remains):
        typer.echo(printable(f"note: {note}"), err=True)
    if report.passed_over:
        suffixes = [f"{count} {suffix or 'without a suffix'}" for suffix, count in report.passed_over.items()]
        files = counted(sum(report.passed_over.values()), "file that is no document", "files that are no documents")
        typer.echo(printable(f"note: passed over {files}: {listed(suffixes)}"), err=True)
    outcome = [(len(names), what) for what, names in _outcomes(report) if names]
    said = ", ".join(f"{count} {what}" for count, what in outcome) or "nothing to add"
    typer.echo(f"{collection}: {said}")
    if read := read_by_ocr(report.ocr_pages, report.ocr_pictures):
        typer.echo(f"  {read}")


def read_by_ocr(pages: int, pictures: int) -> str:
    """`read by OCR: 3 pages, 1 picture on other pages`; "" where nothing was."""
    counts = [(pages, "page", ""), (pictures, "picture", " on other pages")]
    said = [f"{count} {what}{'s' if count > 1 else ''}{where}" for count, what, where in counts if count]
    return f"read by OCR: {', '.join(said)}" if said else ""


def _names_told(report: "AddReport") -> list[str]:
    if not report.renamed:
        return []
    names = counted(len(report.renamed), "name has", "names have")
    shown = listed([repr(name) for name in report.renamed])
    return [f"{names} the folder in front, to tell them from others: {shown}; --prefix NAME puts a name of yours there"]


def _outcomes(report: "AddReport") -> list[tuple[str, Sequence[object]]]:
    return [
        ("added", report.added),
        ("updated", report.updated),
        ("unchanged", report.unchanged),
        ("removed", report.removed),
        ("not added", report.failed),
    ]
