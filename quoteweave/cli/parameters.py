"""Parameters of commands: how help writes them, and how the command at hand takes a setting that a remedy names."""

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any, get_args

_FORMS = {Path: "PATH", str: "TEXT", int: "N", float: "NUMBER"}


def value_type(parameter: Any) -> Any:
    """The type of a parameter's value; of one that can be repeated, that of each."""
    kind = parameter.type_descriptor.annotation
    return get_args(kind)[0] if get_args(kind) else kind


def choices(parameter: Any) -> list[str]:
    """The values that a parameter may have; empty where they are not counted."""
    kind = value_type(parameter)
    return [str(each.value) for each in kind] if isinstance(kind, type) and issubclass(kind, Enum) else []


def value_form(parameter: Any) -> str:
    """What stands for the value of an option: `DIR`, `N`; empty where it is one of its choices, and for a flag."""
    form = _FORMS.get(value_type(parameter), "")
    return str(parameter.metavar or ("" if choices(parameter) else form))


def argument_name(argument: Any) -> str:
    """An argument as usage lines and headings have it: `QUESTION`, or `[NAME]` where it may be left out."""
    name = argument.metavar or argument.name.upper()
    return str(name if argument.required else f"[{name}]")


def setting_name(parameters: Sequence[Any], setting: str) -> str | None:
    """Return the option of a command with these parameters, else the key in the file of its --config; else None.

    Of a setting that is on unless it is turned off, the option that does that.
    """
    options = {one.name: one.secondary_opts or one.opts for one in parameters if one.param_type_name == "option"}
    if setting in options:
        return str(max(options[setting], key=len))
    if "config" in options:
        # Imported here, as it takes longer than a command that needs no settings.
        from quoteweave.pipeline.runs.config import NOT_IN_FILES
        from quoteweave.pipeline.settings import AnswerSettings

        if setting in AnswerSettings.model_fields and setting not in NOT_IN_FILES:
            return f"{setting} in the file of --config"
    return None
