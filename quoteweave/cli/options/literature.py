"""Options that commands share for the sources of the literature."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from quoteweave.cli.options.collection import parse_path, valid_text

_PANEL = "Literature"


class Source(StrEnum):
    """The sources of the literature."""

    SEMANTIC_SCHOLAR = "semantic-scholar"
    OPENALEX = "openalex"


SourceOption = Annotated[
    list[Source] | None,
    typer.Option(help="Search this source of papers; may be given again.", rich_help_panel=_PANEL),
]
BeforeOption = Annotated[
    str | None,
    typer.Option(
        help="Nothing published after this: 2023, 2023-05 or 2023-05-09.", metavar="DATE", rich_help_panel=_PANEL
    ),
]
NotFromOption = Annotated[
    str | None,
    typer.Option(
        "--not-from",
        help="Title of the text that the sentence is from, which is not its own source.",
        metavar="TITLE",
        parser=valid_text,
        rich_help_panel=_PANEL,
    ),
]
PapersOption = Annotated[
    Path | None,
    typer.Option(
        help="Keep the papers that are found here; a collection. Otherwise in the user's folder of caches.",
        metavar="DIR",
        parser=parse_path,
        rich_help_panel=_PANEL,
    ),
]
