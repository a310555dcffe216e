"""Options that commands share for the sources of the literature."""

from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class LiteratureOptions:
    """Which sources of the literature are searched, and for which papers."""

    source: SourceOption = None
    before: BeforeOption = None
    not_from: NotFromOption = None
    papers: PapersOption = None
    source_timeout: SourceTimeoutOption = None
    field: FieldOption = None

    def require_source(self) -> None:
        """Raise UsageError for options of the literature without a source, as they would have no effect."""
        names = ("before", "not_from", "papers", "field", "source_timeout")
        useless = [name for name in names if getattr(self, name) is not None]
        if useless and not self.source:
            option_name = f"--{useless[0].replace('_', '-')}"
            raise UsageError(
                f"{option_name} is of the literature, and no source of it is named: add --source, or leave it out"
            )

    @property
    def names(self) -> list[SourceName]:
        """The sources that are searched."""
        return [chosen.value for chosen in self.source or ()]

    def source_options(self) -> dict[SourceName, SourceOptions]:
        """Return the options of each source that is searched."""
        values = {"timeout_s": self.source_timeout, "field": self.field}
        options = SourceOptions.model_validate({name: value for name, value in values.items() if value is not None})
        return dict.fromkeys(self.names, options)
