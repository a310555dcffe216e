"""Parameters of commands: how help shows them, and which option of the current command sets what a remedy names."""

from collections.abc import Sequence
from enum import EnumType
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

_FORMS = {Path: "PATH", str: "TEXT", int: "N", float: "NUMBER"}


def value_type(parameter: Any) -> Any:
    """The type of a parameter's value; if it can be repeated, the type of each value."""
    kind = parameter.type_descriptor.annotation
    return kind if get_origin(kind) in (None, Literal) else get_args(kind)[0]


def choices(parameter: Any) -> list[str]:
    """The values that a parameter may have; empty if they are not limited to a list."""
    kind = value_type(parameter)
    return list(map(str, kind if isinstance(kind, EnumType) else get_args(kind)))


def value_form(parameter: Any) -> str:
    """The placeholder for the value of an option, such as `DIR` or `N`; empty for choices and flags."""
    form = _FORMS.get(value_type(parameter), "")
    return str(parameter.metavar or ("" if choices(parameter) else form))


def argument_name(argument: Any) -> str:
    """An argument as usage lines and headings write it: `QUESTION`, or `[NAME]` if it may be omitted."""
    name = argument.metavar or argument.name.upper()
    return str(name if argument.required else f"[{name}]")


def setting_name(parameters: Sequence[Any], setting: str) -> str | None:
    """Return the option for a setting of a command with these parameters, else the key in its --config file, else None.

    For a setting that is on by default, it is the option that turns it off.
    """
    options = {
        parameter.name: parameter.secondary_opts or parameter.opts
        for parameter in parameters
        if parameter.param_type_name == "option"
    }
    if setting in options:
        return str(max(options[setting], key=len))
    if "config" in options:
        # Imported here, as this takes longer than a command without settings takes altogether.
        from quoteweave.pipeline.runs.config import NOT_IN_FILES
        from quoteweave.pipeline.settings import AnswerSettings

        if setting in AnswerSettings.model_fields and setting not in NOT_IN_FILES:
            return f"{setting} in the file of --config"
    return None
