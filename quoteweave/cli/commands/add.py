"""`quoteweave add`: adds files as documents of a collection."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from quoteweave.cli.console import print_json, print_notes, printable, read_by_ocr
from quoteweave.cli.options.collection import (
    AttachOption,
    CollectionOption,
    JsonOption,
    PasswordOption,
    WaitOption,
    pairs,
    parse_path,
    valid_text,
)
from quoteweave.cli.progress import TerminalProgress
from quoteweave.core.messages import join_names, pluralize
from quoteweave.documents.discovery import COLLECTIONS, HIDDEN, HIDDEN_FOLDERS, LINKED_FOLDERS
from quoteweave.documents.ingest import AddOptions, AddReport
from quoteweave.documents.parser import ParserSettings
from quoteweave.documents.worker_pool import MAX_PROCESSES, MEGABYTE, ProcessLimits
from quoteweave.pipeline.composition.add_documents import add_documents

JSON = """--json prints one object: added, updated, unchanged, removed (names of documents);
failed and warnings (lists of {name, reason}); ocr_pages and ocr_pictures (how many pages without a text layer, and
pictures on other pages, OCR read); index_notes (indexes that could not be kept in step, and why);
renamed (of the added, names with more of the folder's path in front, to tell them from others);
passed_over (how many files of folders are no documents, by suffix; how many documents and folders are hidden, how many
links lead to other folders, and how many folders are collections);
remaining_traces (where traces of what was removed or replaced remain, and until when)."""


def add(
    paths: Annotated[
        list[Path], typer.Argument(help="Files, or folders to keep in step with.", metavar="PATH…", parser=parse_path)
    ],
    collection: CollectionOption,
    meta: AttachOption = None,
    prefix: Annotated[
        str | None,
        typer.Option(
            help="Put NAME/ before the names of new documents. The default is the folder's name, only where names "
            "clash.",
            metavar="NAME",
            parser=valid_text,
        ),
    ] = None,
    password: PasswordOption = None,
    ocr: Annotated[bool, typer.Option(help="Read what has no text layer by OCR.")] = True,
    ocr_language: Annotated[
        str, typer.Option(help="RapidOCR's language; others than ch are downloaded.", metavar="NAME")
    ] = "ch",
    processes: Annotated[
        int, typer.Option(min=0, max=MAX_PROCESSES, help="Processes that read; 0 for one a core, four at most.")
    ] = 0,
    memory: Annotated[
        int | None,
        typer.Option(min=100, help="Megabytes that each process may take.", show_default="600, or less", metavar="MB"),
    ] = None,
    page_seconds: Annotated[
        float,
        typer.Option(
            min=0.1,
            help="Processor time that a page may take; four times as long or more with OCR.",
            metavar="SECONDS",
        ),
    ] = 10.0,
    document_seconds: Annotated[
        float,
        typer.Option(
            min=0.1,
            help="Processor time that all pages of a document may take; OCR counts a quarter.",
            metavar="SECONDS",
        ),
    ] = 1800.0,
    encode: Annotated[bool, typer.Option(help="Encode new quotes for the existing indexes of models.")] = True,
    wait: WaitOption = False,
    as_json: JsonOption = False,
) -> None:
    """Add documents: PDF, PNG, JPEG, WebP, TIFF, Markdown, HTML, CSV and text.

    Any text is read if you name the file; of a folder .txt, .text and .rst files,
    and those with a usual name without one, such as README or LICENSE-MIT.

    A folder is kept in step: new and changed files are read, documents whose
    files have vanished are removed. Files that cannot be read are listed with
    the reason, the others are added, and the exit code is 1. If interrupted,
    run the same command again to continue.
    """
    options = AddOptions(
        settings=ParserSettings(ocr=ocr, ocr_language=ocr_language),
        metadata=pairs(meta),
        password=password,
        processes=processes,
        limits=ProcessLimits(memory * MEGABYTE if memory else None, page_seconds, document_seconds),
        wait_s=None if wait else 0.0,
        prefix=prefix,
    )
    report = add_documents(collection, paths, options, encode=encode, progress=TerminalProgress(quiet=as_json))
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        _show(report, collection)
    if report.failed:
        raise typer.Exit(1)


MAX_NAMED = 3
"""If more documents than this have the same note, it is printed once."""
# Things in folders that are skipped: in the singular, in the plural, and how to add them nevertheless.
_PASSED_OVER = {
    HIDDEN: ("hidden document", "hidden documents", "name hidden files to add them"),
    HIDDEN_FOLDERS: ("hidden folder", "hidden folders", "name such a folder to add what it holds"),
    LINKED_FOLDERS: ("link to another folder", "links to other folders", "name such a link to add what it leads to"),
    COLLECTIONS: ("collection", "collections", "its documents are copies, so add the files that they were made from"),
}
# Phrases in reasons that say what to do, with the option that does it. Reasons do not name options themselves, as a
# server gives the same reasons.
_OPTIONS = {
    "give its password": "--password",
    "under another name": "--prefix NAME",
    "with another prefix": "--prefix NAME",
    "ran out of memory": "--memory",
    "ran out of time": "--page-seconds",
    "ran out of the": "--document-seconds",
}


def _show(report: AddReport, collection: Path) -> None:
    warned = defaultdict[str, list[str]](list)
    for warning in report.warnings:
        warned[_with_options(warning.reason)].append(warning.name)
    print_notes([f"{name}: {reason}" for reason, names in warned.items() for name in _shortened(names)])
    for refused in report.failed:
        reason = refused.reason if repr(refused.name) in refused.reason else f"{refused.name!r}: {refused.reason}"
        typer.echo(printable(f"not added: {_with_options(reason)}"), err=True)
    passed_over = _passed_over_notes(report.passed_over)
    print_notes((*_renamed_notes(report), *report.index_notes, *report.remaining_traces, *passed_over))
    outcomes: dict[str, Sequence[object]] = {
        "added": report.added,
        "updated": report.updated,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "not added": report.failed,
    }
    counts = ", ".join(f"{len(names)} {outcome}" for outcome, names in outcomes.items() if names)
    typer.echo(f"{collection}: {counts or 'nothing to add'}")
    if ocr_text := read_by_ocr(report.ocr_pages, report.ocr_pictures):
        typer.echo(f"  {ocr_text}")


def _shortened(names: Sequence[str]) -> Sequence[str]:
    """The names, or the first of many and how many others there are, which --json names."""
    return names if len(names) <= MAX_NAMED else [f"{names[0]} and {len(names) - 1} other documents"]


def _with_options(reason: str) -> str:
    options = dict.fromkeys(option for phrase, option in _OPTIONS.items() if phrase in reason)
    return f"{reason} ({', '.join(options)})" if options else reason


def _renamed_notes(report: AddReport) -> list[str]:
    if not report.renamed:
        return []
    names = pluralize(len(report.renamed), "name has", "names have")
    shown = join_names([repr(name) for name in report.renamed])
    return [f"{names} the folder in front, to tell them from others: {shown}; --prefix NAME puts a name of yours there"]


def _passed_over_notes(counts: Mapping[str, int]) -> Iterator[str]:
    counts_by_suffix = {suffix: count for suffix, count in counts.items() if suffix not in _PASSED_OVER}
    if counts_by_suffix:
        files = pluralize(sum(counts_by_suffix.values()), "file that is no document", "files that are no documents")
        by_suffix = join_names(
            [f"{count} {suffix or 'without a suffix'}" for suffix, count in counts_by_suffix.items()]
        )
        yield f"passed over {files}: {by_suffix}; name a file to add it as text"
    for kind, (singular, plural, advice) in _PASSED_OVER.items():
        if kind in counts:
            yield f"passed over {pluralize(counts[kind], singular, plural)}; {advice}"
