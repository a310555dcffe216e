"""Options that commands share for the sources of the literature."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, get_args

import typer

from quoteweave.attribution.literature.sources.make_source import SourceName, SourceOptions
from quoteweave.attribution.literature.sources.papers import FieldOfStudy
from quoteweave.attribution.settings import AttributionSettings
from quoteweave.cli.options.collection import parse_path, valid_text
from quoteweave.cli.options.settings import option
from quoteweave.core.errors import UsageError

_PANEL = "Literature"
CheckOption = Annotated[str | None, option(AttributionSettings, "check", metavar="NAME", panel="Model")]


def _read_field(text: str) -> str:
    """Read a field of study, in whatever case. Raises BadParameter for an unknown one."""
    names_by_lower: dict[str, str] = {name.lower(): name for name in get_args(FieldOfStudy)}
    if text.strip().lower() not in names_by_lower:
        raise typer.BadParameter(f"{text!r} is no field of study; there are {', '.join(names_by_lower.values())}")
    return names_by_lower[text.strip().lower()]


class Source(StrEnum):
    """The sources of the literature: an enumeration, as typer repeats no option whose type is a Literal."""

    SEMANTIC_SCHOLAR = "semantic-scholar"
    OPENALEX = "openalex"


SourceOption = Annotated[
    list[Source] | None,
    typer.Option(help="Search this source of papers; can be repeated.", rich_help_panel=_PANEL),
]
BeforeOption = Annotated[
    str | None,
    typer.Option(
        help="No paper published after this: 2023, 2023-05 or 2023-05-09. Your own documents are not limited.",
        metavar="DATE",
        rich_help_panel=_PANEL,
    ),
]
NotFromOption = Annotated[
    str | None,
    typer.Option(
        "--not-from",
        help="Title of the text that the sentence is from; it is never taken for the source.",
        metavar="TITLE",
        parser=valid_text,
        rich_help_panel=_PANEL,
    ),
]
PapersOption = Annotated[
    Path | None,
    typer.Option(
        help="Collection in which to keep the papers found; the default is a folder in your cache.",
        metavar="DIR",
        parser=parse_path,
        rich_help_panel=_PANEL,
    ),
]
SourceTimeoutOption = Annotated[
    float | None,
    typer.Option(
        "--source-timeout",
        min=1,
        help=f"Seconds to wait for a source in all, for one sentence ({SourceOptions().timeout_s:g}).",
        metavar="SECONDS",
        rich_help_panel=_PANEL,
    ),
]
FieldOption = Annotated[
    str | None,
    typer.Option(
        help="Only papers of this field of study, such as computer science.",
        metavar="NAME",
        parser=_read_field,
        rich_help_panel=_PANEL,
    ),
]


def require_source(
    source: list[Source] | None,
    *,
    before: str | None,
    not_from: str | None,
    papers: Path | None,
    timeout_s: float | None,
    field: str | None,
) -> None:
    """Raise UsageError for options of the literature without a source, as they would have no effect."""
    option_values: dict[str, object] = {
        "--before": before,
        "--not-from": not_from,
        "--papers": papers,
        "--field": field,
    }
    option_values["--source-timeout"] = timeout_s
    useless = [name for name, value in option_values.items() if value is not None]
    if useless and not source:
        raise UsageError(
            f"{useless[0]} is of the literature, and no source of it is named: add --source, or leave it out"
        )


def source_options(
    source: Sequence[Source], timeout_s: float | None, field: str | None
) -> dict[SourceName, SourceOptions]:
    """Return the options of each source that is searched."""
    names: tuple[SourceName, ...] = get_args(SourceName)
    values = {"timeout_s": timeout_s, "field": field}
    options = SourceOptions.model_validate({name: value for name, value in values.items() if value is not None})
    return {name: options for name in names if name in source}
