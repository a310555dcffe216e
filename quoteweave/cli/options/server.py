"""Options of commands that read a collection in its folder or ask a running server for it."""

from collections.abc import Collection
from pathlib import Path
from typing import Annotated

import typer

from quoteweave.cli.options.collection import parse_path
from quoteweave.core.errors import UsageError

ServerOption = Annotated[
    str | None,
    typer.Option(
        "--server",
        help="Ask this running server (quoteweave serve); its key, if it wants one, is that of QUOTEWEAVE_KEY.",
        metavar="URL",
    ),
]
FolderOrNameOption = Annotated[
    Path | None,
    typer.Option(
        "--collection",
        "-c",
        envvar="QUOTEWEAVE_COLLECTION",
        help="The collection's folder; with --server its name there, where that serves several.",
        metavar="DIR",
        parser=parse_path,
    ),
]


def folder(collection: Path | None) -> Path:
    """Return the folder of the collection. Raises UsageError if none is named."""
    if collection is None:
        raise UsageError("no collection is named: give its folder with --collection (-c), or a server with --server")
    return collection


def name_on_server(ctx: typer.Context, collection: Path | None) -> str | None:
    """Return the name of the collection that a server is asked for; None for its only one.

    QUOTEWEAVE_COLLECTION is ignored, as it names a folder on this machine.
    """
    return str(collection) if _is_given(ctx, "collection") else None


def refuse_others(ctx: typer.Context, usable: Collection[str]) -> None:
    """Raise UsageError for options that cannot be used with a server; `usable` are the parameters that can."""
    refused = [
        parameter.opts[0]
        for parameter in ctx.command.params
        if parameter.name is not None and parameter.name not in usable and _is_given(ctx, parameter.name)
    ]
    if refused:
        raise UsageError(
            f"{', '.join(refused)}: not with --server, where the server's own settings hold; leave it out, or ask the "
            "collection's folder without --server"
        )


def _is_given(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
