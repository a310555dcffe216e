"""`quoteweave check`: whether a collection is as it was written, and making again what is not."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from quoteweave.cli.options import CollectionOption, JsonOption
from quoteweave.cli.output import print_json, printable

if TYPE_CHECKING:
    from quoteweave.index.checks import CheckReport, Damage

JSON = """--json prints one object: whole (true or false), files (how many were read), damaged (list of part, file,
what, document, repaired, advice), notes (sentences), leftovers (paths of files that nothing refers to)."""


def check(
    collection: CollectionOption,
    repair: Annotated[bool, typer.Option("--repair", help="Make again what can be made again.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Read every file of a collection, and say what is damaged or missing.

    With --repair, indexes are built from their vectors, crops and documents are made
    from the stored files; what cannot be made again is named. Exits with 1 where
    something is damaged.
    """
    from quoteweave.documents.repair import check_and_repair
    from quoteweave.index.checks import check as check_only

    with _bar(quiet=as_json) as on_file:
        report = (check_and_repair if repair else check_only)(collection, on_file)
    if as_json:
        print_json({"whole": report.whole, **report.model_dump(mode="json")})
    else:
        _print(report, repair=repair)
    if not report.whole:
        raise typer.Exit(1)


def _print(report: "CheckReport", *, repair: bool) -> None:
    for damage in report.damaged:
        typer.echo(printable(_line(damage)))
    for note in report.notes:
        typer.echo(printable(f"note: {note}"))
    if report.leftovers:
        typer.echo(f"{len(report.leftovers)} files are left over; the next command that writes removes them")
    left = sum(not damage.repaired for damage in report.damaged)
    if not left:
        typer.echo(f"{report.files} files are as they were written")
    elif repair:
        typer.echo(f"{left} damaged things could not be made again")
    else:
        typer.echo(f"{left} damaged; make again what can be made again with --repair")


def _line(damage: "Damage") -> str:
    state = "repaired" if damage.repaired else "damaged"
    of = f" (of {damage.document!r})" if damage.document and damage.document not in damage.what else ""
    advice = f"; {damage.advice}" if damage.advice else ""
    return f"{state}: {damage.file}{of}: {damage.what}{advice}"


@contextmanager
def _bar(*, quiet: bool) -> "Iterator[Callable[[int], None]]":
    """A bar of files on stderr, on a terminal only."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    stderr = Console(stderr=True)
    columns = (TextColumn("checking"), BarColumn(), MofNCompleteColumn(), "files", TimeRemainingColumn())
    with Progress(*columns, console=stderr, transient=True, disable=quiet or not stderr.is_terminal) as progress:
        task = progress.add_task("", total=None)

        def on_file(left: int) -> None:
            done = int(progress.tasks[0].completed) + 1
            progress.update(task, advance=1, total=done + max(left, 0))

        yield on_file
