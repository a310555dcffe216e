"""Options made of fields of settings, which declare their help, defaults and bounds; and settings made of options."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, TypeVar

import annotated_types
import typer
from pydantic import BaseModel, ValidationError
from typer.models import OptionInfo

from quoteweave.core.errors import UsageError
from quoteweave.pipeline.settings import ChatSettings, Limits, ResourceSettings, RetrievalSettings

Settings = TypeVar("Settings", bound=ResourceSettings)
FLAGS: dict[str, str] = {}
"""The names of options that differ from the names of their fields, by field."""


def option(
    record: type[BaseModel], field: str, *flags: str, metavar: str | None = None, panel: str | None = None
) -> OptionInfo:
    """Make the option of a settings field; its parameter is None where the user omits it."""
    field_info = record.model_fields[field]
    if flags:
        FLAGS[field] = flags[0].partition("/")[0]
    text = (field_info.description or "").strip()
    default = field_info.default
    if default not in (None, False, True, (), ""):
        text += f" ({', '.join(default) if isinstance(default, tuple) else default})"
    minimum = next((bound.ge for bound in field_info.metadata if isinstance(bound, annotated_types.Ge)), None)
    option_info: OptionInfo = typer.Option(
        *flags,
        help=f"{text[:1].upper()}{text[1:]}.",
        metavar=metavar,
        rich_help_panel=panel,
        min=minimum if isinstance(minimum, int | float) else None,
        show_default=False,
    )
    return option_info


def make_settings(record: type[Settings], option_values: Mapping[str, object]) -> Settings:
    """Make settings from the values that are not None; complete chat settings from the environment.

    Raises UsageError, which names the option, for a value that is not allowed.
    """
    values = {key: value for key, value in option_values.items() if value is not None}
    try:
        settings = record.model_validate(values)
    except ValidationError as error:
        first_error = error.errors(include_url=False, include_context=False)[0]
        field = str(first_error["loc"][0])
        flag = FLAGS.get(field, f"--{field.replace('_', '-')}")
        problem = first_error["msg"].replace("Input should be", "it has to be")
        raise UsageError(f"{flag} {_value_text(values.get(field))}: {problem}") from error
    return settings.with_environment() if isinstance(settings, ChatSettings) else settings


def _value_text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else f"{value}" if isinstance(value, int | Path) else repr(value)


_RETRIEVAL, _MODEL, _ENDPOINTS = "Retrieval", "Model", "Endpoints"

CallsOption = Annotated[Path | None, option(Limits, "calls", metavar="DIR", panel=_MODEL)]
DeviceOption = Annotated[str | None, option(ResourceSettings, "device", metavar="NAME", panel=_RETRIEVAL)]
BatchSizeOption = Annotated[int | None, option(ResourceSettings, "batch_size", metavar="N", panel=_RETRIEVAL)]
PresetOption = Annotated[
    str | None,
    typer.Option(help="Settings of a published experiment; docs/runs.md lists them.", metavar="NAME"),
]
PromptsOption = Annotated[Path | None, typer.Option(help="Folder with your own prompt files.", metavar="DIR")]
ImageFolderOption = Annotated[
    Path | None, typer.Option("--image-folder", help="Folder of the dataset's pictures.", metavar="DIR")
]

OPTIONS: Mapping[str, Any] = {
    "preset": PresetOption,
    "retriever": Annotated[
        list[str] | None,
        option(RetrievalSettings, "retriever", "--retriever", "-r", metavar="NAME", panel=_RETRIEVAL),
    ],
    "fusion": Annotated[str | None, option(RetrievalSettings, "fusion", metavar="RULE", panel=_RETRIEVAL)],
    "terms": Annotated[
        list[Path] | None, option(RetrievalSettings, "terms", "--terms", metavar="FILE", panel=_RETRIEVAL)
    ],
    "synonyms": Annotated[
        bool | None, option(RetrievalSettings, "synonyms", "--synonyms/--no-synonyms", panel=_RETRIEVAL)
    ],
    "expand": Annotated[str | None, option(RetrievalSettings, "expand", metavar="HOW", panel=_RETRIEVAL)],
    "rerank": Annotated[str | None, option(RetrievalSettings, "rerank", metavar="NAME", panel=_RETRIEVAL)],
    "explain": Annotated[bool | None, option(RetrievalSettings, "explain", "--explain", panel=_RETRIEVAL)],
    "device": DeviceOption,
    "batch_size": BatchSizeOption,
    "trust_remote_code": Annotated[
        bool | None, option(ResourceSettings, "trust_remote_code", "--trust-remote-code", panel=_RETRIEVAL)
    ],
    "model": Annotated[str | None, option(ChatSettings, "model", metavar="NAME", panel=_MODEL)],
    "base_url": Annotated[str | None, option(ChatSettings, "base_url", metavar="URL", panel=_MODEL)],
    "api_key": Annotated[str | None, option(ChatSettings, "api_key", metavar="KEY", panel=_MODEL)],
    "images": Annotated[bool | None, option(ChatSettings, "images", "--images/--no-images", panel=_MODEL)],
    "prompts": PromptsOption,
    "timeout_s": Annotated[
        float | None, option(ResourceSettings, "timeout_s", "--timeout", metavar="S", panel=_ENDPOINTS)
    ],
    "call_limit_s": Annotated[
        float | None, option(ResourceSettings, "call_limit_s", "--call-limit", metavar="S", panel=_ENDPOINTS)
    ],
    "retries": Annotated[int | None, option(ResourceSettings, "retries", metavar="N", panel=_ENDPOINTS)],
}
"""The options for settings, by the names of the settings."""
CHAT = ("model", "base_url", "api_key")
WAITING = ("timeout_s", "call_limit_s", "retries")
RESOURCES = ("device", "batch_size", "trust_remote_code", *WAITING)
RANKING = ("retriever", "fusion", "terms", "synonyms", "expand", "rerank")
JUDGING = (*CHAT, "prompts", *WAITING)

OptionValues = Mapping[str, object]
"""The values of settings that options gave, by name."""


def takes_options(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Have a command take options for settings, and for the fields of its parameters that are dataclasses.

    The options of the named settings stand after its own; its parameter `option_values` has their values. A dataclass,
    such as `ScoringOptions`, is made of the options for its fields, which stand in its place.
    """
    settings = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=OPTIONS[name])
        for name in names
    ]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command)
        records: dict[str, Any] = {
            name: p.annotation for name, p in signature.parameters.items() if is_dataclass(p.annotation)
        }
        fields = {name: [*inspect.signature(record).parameters.values()] for name, record in records.items()}
        parameters = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for name, own_parameter in signature.parameters.items()
            if name != "option_values"
            for parameter in fields.get(name, [own_parameter])
        ] + settings

        @wraps(command)
        def _call(**values: Any) -> None:
            for name, record in records.items():
                values[name] = record(**{field.name: values.pop(field.name) for field in fields[name]})
            setting_values = {name: values.pop(name) for name in names}
            if "option_values" in signature.parameters:
                values["option_values"] = {name: value for name, value in setting_values.items() if value is not None}
            command(**values)

        _call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        _call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return _call

    return decorate
