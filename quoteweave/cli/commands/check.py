"""`quoteweave check`: verifies a collection, repairs what can be made again, and proves a removal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from quoteweave.cli.console import print_json, printable
from quoteweave.cli.options.collection import CollectionOption, JsonOption, valid_text
from quoteweave.collection.collection import Collection
from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.errors import CollectionLocked, StorageError, UsageError
from quoteweave.core.files.temporary import TemporaryFolder
from quoteweave.core.fingerprints import file_sha256
from quoteweave.core.messages import pluralize
from quoteweave.documents.parser import DocumentParser, ParserSettings
from quoteweave.index.sync import finish_removals
from quoteweave.maintenance.check import CheckReport, Damage
from quoteweave.maintenance.check import check as check_only
from quoteweave.maintenance.removal_proof import check_removed
from quoteweave.maintenance.repair import check_and_repair

JSON = """--json prints one object: whole (true or false), files (how many were read), damaged (list of part, file,
what, document, repaired, advice), notes (sentences), leftovers (paths of files that nothing refers to).
With --removed: name, traces (sentences), mentions and same_content (names of documents), files and
size (how many files and bytes were searched), remains (sentences)."""


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
    whole = _show_removed(collection, removed, file, as_json) if removed else _show_check(collection, repair, as_json)
    if not whole:
        raise typer.Exit(1)


def _show_check(collection: Path, repair: bool, as_json: bool) -> bool:
    """Checks, prints what was found, and returns whether all is as it was written."""

    with _bar(quiet=as_json) as on_file:
        report = (check_and_repair if repair else check_only)(collection, on_file)
    if as_json:
        print_json({"whole": report.whole, **report.model_dump(mode="json")})
    else:
        _print(report, repair=repair)
    return report.whole


def _print(report: CheckReport, *, repair: bool) -> None:
    for damage in report.damaged:
        typer.echo(printable(_line(damage)))
    for note in report.notes:
        typer.echo(printable(f"note: {note}"))
    if report.leftovers:
        files = pluralize(len(report.leftovers), "file is", "files are")
        typer.echo(f"{files} left over; the next command that writes removes what is left over")
    left = sum(not damage.repaired for damage in report.damaged)
    if not left:
        typer.echo(f"{report.files} files are as they were written")
    elif repair:
        typer.echo(f"{pluralize(left, 'damaged thing', 'damaged things')} could not be made again")
    else:
        typer.echo(f"{left} damaged; make again what can be made again with --repair")


def _line(damage: Damage) -> str:
    state = "repaired" if damage.repaired else "damaged"
    of = f" (of {damage.document!r})" if damage.document and damage.document not in damage.what else ""
    advice = f"; {damage.advice}" if damage.advice else ""
    return f"{state}: {damage.file}{of}: {damage.what}{advice}"


@contextmanager
def _bar(*, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A bar of files on stderr, on a terminal only."""

    stderr = Console(stderr=True)
    columns = (TextColumn("checking"), BarColumn(), MofNCompleteColumn(), "files", TimeRemainingColumn())
    with Progress(*columns, console=stderr, transient=True, disable=quiet or not stderr.is_terminal) as progress:
        task = progress.add_task("", total=None)

        def on_file(left: int) -> None:
            done = int(progress.tasks[0].completed) + 1
            progress.update(task, advance=1, total=done + max(left, 0))

        yield on_file


def _show_removed(collection: Path, removed: str, file: Path | None, as_json: bool) -> bool:
    """Searches for a removed document, prints what was found, and returns whether nothing was."""

    remains = _finish(collection)
    texts, content = ([], None) if file is None else _read(file)
    found = check_removed(collection, removed, texts, content)
    if as_json:
        print_json({**found.model_dump(mode="json"), "remains": remains})
    else:
        for line in (*remains, *found.traces):
            typer.echo(printable(f"left: {line}"))
        for name in found.mentions:
            typer.echo(printable(f"note: {name} names it in words of its own"))
        for name in found.same_content:
            typer.echo(printable(f"note: the file of {name} has the same content, which is therefore no trace"))
        state = "something is left" if found.traces else "nothing is left"
        typer.echo(printable(f"{state} of {removed!r} in {found.files} files, {found.size / 1e6:.1f} MB"))
    return not found.traces


def _finish(collection: Path) -> tuple[str, ...]:
    """Finishes removals, unless another process writes; what remains of them."""

    with Collection.open(collection) as opened:
        if not opened.may_have_traces():
            return ()
        try:
            with opened.writer() as writer:
                return finish_removals(opened, writer)
        except (CollectionLocked, StorageError) as error:
            return (f"a removal could not be finished: {error}",)


def _read(file: Path) -> tuple[list[str], str]:
    """The text of a file's quotes, and its hash. Raises a DocumentError where it cannot be read."""

    if not file.is_file():
        raise UsageError(f"{file} is no file")
    with TemporaryFolder() as folder:
        parsed = DocumentParser(ImageStore(folder), ParserSettings(ocr=False)).parse(file)
    return [quote.text for quote in parsed.quotes], file_sha256(file)
