"""Options that the commands about a server share."""

from pathlib import Path
from typing import Annotated

import typer

from quoteweave.cli.options.collection import parse_path
from quoteweave.server.state.state_folder import STATE_VARIABLE

StateOption = Annotated[
    Path | None,
    typer.Option(
        "--state",
        envvar=STATE_VARIABLE,
        help="The server's folder of keys, jobs, uploads and conversations; ~/.local/state/quoteweave if left out.",
        metavar="DIR",
        parser=parse_path,
    ),
]
