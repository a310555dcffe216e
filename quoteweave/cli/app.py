"""The command line's entry: commands, and what becomes of errors. Commands import what they need when they run."""

import os
import sys
from contextlib import suppress
from importlib import metadata
from io import TextIOWrapper
from typing import Annotated

import typer

from quoteweave.cli import (
    add,
    ask,
    check,
    demo,
    describe,
    eval,
    imports,
    index,
    manage,
    models,
    plan,
    run,
    search,
    sft,
    show,
)
from quoteweave.cli.output import printable
from quoteweave.core.urls import without_credentials

app = typer.Typer(
    name="quoteweave",
    help="Ask your documents, and check every claim of the answer on its page.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("add", epilog=add.JSON)(add.add)
app.command("import", epilog=imports.JSON)(imports.import_parsed)
app.command("describe", epilog=describe.JSON)(describe.describe)
app.command("ask", epilog=ask.JSON)(ask.ask)
app.command("search", epilog=search.JSON)(search.search)
app.command("index", epilog=index.JSON)(index.index)
app.command("plan", epilog=plan.JSON)(plan.plan)
app.command("models", epilog=models.JSON)(models.models)
app.command("run", epilog=run.JSON)(run.run)
app.command("show", epilog=show.JSON)(show.show)
app.command("list", epilog=manage.LIST_JSON)(manage.list_documents)
app.command("status", epilog=manage.STATUS_JSON)(manage.status)
app.command("remove", epilog=manage.REMOVE_JSON)(manage.remove)
app.command("check", epilog=check.JSON)(check.check)
app.command("demo", epilog=demo.JSON)(demo.demo)
app.add_typer(eval.app, name="eval")
app.add_typer(sft.app, name="sft")

INTERRUPTED = 130


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"quoteweave {metadata.version('quoteweave')}")
        raise typer.Exit


@app.callback()
def quoteweave(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Ask your documents, and check every claim of the answer on its page."""


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 something failed, 2 wrong use, 130 interrupted."""
    from quoteweave.core.errors import QuoteweaveError, UsageError

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # names and quotes may hold what a terminal's encoding lacks
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except UsageError as error:
        _complain(error)
        sys.exit(2)
    except QuoteweaveError as error:
        _complain(error)
        sys.exit(1)
    except OSError as error:  # files are named by errors of our own; what is left is the output
        with suppress(OSError, ValueError):  # what is in its buffer would fail again at the end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        what = "the output" if error.filename is None else error.filename
        _complain(OSError(f"{what} cannot be read or written ({error.strerror or error})"))
        sys.exit(1)
    except SystemExit as end:
        if end.code == INTERRUPTED:
            typer.echo("interrupted; what was done is kept, and the same command goes on from there", err=True)
        raise


def _complain(error: Exception) -> None:
    typer.echo(printable(without_credentials(f"error: {error}")), err=True)


if __name__ == "__main__":
    main()
