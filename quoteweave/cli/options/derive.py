"""Derives command-line options from the fields of settings, which declare help texts, defaults and bounds."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import annotated_types
import typer
from pydantic import BaseModel, ValidationError
from typer.models import OptionInfo

from quoteweave.core.errors import UsageError
from quoteweave.pipeline.settings import ChatSettings, ResourceSettings

Settings = TypeVar("Settings", bound=ResourceSettings)
FLAGS: dict[str, str] = {}
"""The option of each field whose option has another name."""


def option(
    record: type[BaseModel], field: str, *flags: str, metavar: str | None = None, panel: str | None = None
) -> OptionInfo:
    """Make the option of a settings field; its parameter is None where the user omits it."""
    info = record.model_fields[field]
    if flags:
        FLAGS[field] = flags[0].partition("/")[0]
    text = (info.description or "").strip()
    default = info.default
    if default not in (None, False, True, (), ""):
        text += f" ({', '.join(default) if isinstance(default, tuple) else default})"
    least = next((bound.ge for bound in info.metadata if isinstance(bound, annotated_types.Ge)), None)
    made: OptionInfo = typer.Option(
        *flags,
        help=f"{text[:1].upper()}{text[1:]}.",
        metavar=metavar,
        rich_help_panel=panel,
        min=least if isinstance(least, int | float) else None,
        show_default=False,
    )
    return made


def make_settings(record: type[Settings], given: Mapping[str, object]) -> Settings:
    """Make settings from the values that are not None; chat settings are completed from the environment.

    Raises UsageError, which names the option, for a value that is not allowed.
    """
    values = {key: value for key, value in given.items() if value is not None}
    try:
        read = record.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        field = str(first["loc"][0])
        flag = FLAGS.get(field, f"--{field.replace('_', '-')}")
        problem = first["msg"].replace("Input should be", "it has to be")
        raise UsageError(f"{flag} {_shown(values.get(field))}: {problem}") from error
    return read.with_environment() if isinstance(read, ChatSettings) else read


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else f"{value}" if isinstance(value, int | Path) else repr(value)
