"""Which chat model writes, and how: options that say it, and the settings made of them."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pydantic import JsonValue

    from quoteweave.models.checkpoints import Hardware
    from quoteweave.pipeline.settings import ModelSettings

_PANEL = "Model"

ModelOption = Annotated[
    str | None,
    typer.Option(
        help="Have this chat model write the answer, else that of QUOTEWEAVE_MODEL; local=PATH is one on this machine.",
        metavar="NAME",
        rich_help_panel=_PANEL,
    ),
]
BaseUrlOption = Annotated[
    str | None,
    typer.Option(help="Its OpenAI-compatible endpoint, else OPENAI_BASE_URL.", metavar="URL", rich_help_panel=_PANEL),
]
ApiKeyOption = Annotated[
    str | None, typer.Option(help="Its key, else OPENAI_API_KEY.", metavar="KEY", rich_help_panel=_PANEL)
]
ImagesOption = Annotated[
    bool, typer.Option(help="Send the model pictures, not only their text.", rich_help_panel=_PANEL)
]
PromptsOption = Annotated[
    Path | None, typer.Option(help="Folder with prompt files of your own.", metavar="DIR", rich_help_panel=_PANEL)
]
MaxTokensOption = Annotated[
    int | None, typer.Option(min=1, help="Tokens that it may write.", metavar="N", rich_help_panel=_PANEL)
]
TemperatureOption = Annotated[
    float | None, typer.Option(min=0, help="How freely it chooses words.", metavar="X", rich_help_panel=_PANEL)
]
ThinkingOption = Annotated[
    bool | None,
    typer.Option(
        "--thinking/--no-thinking",
        help="Have it think first or not, where its chat template can; else as it is.",
        rich_help_panel=_PANEL,
    ),
]
CallsOption = Annotated[
    Path | None,
    typer.Option(
        help="Keep every call here; what is kept is not asked again and needs no key.",
        metavar="DIR",
        rich_help_panel=_PANEL,
    ),
]
MaxPicturesOption = Annotated[
    int | None, typer.Option(min=1, help="Pictures that it is shown (20).", metavar="N", rich_help_panel=_PANEL)
]
MaxPixelsOption = Annotated[
    int | None,
    typer.Option(
        min=1, help="Pixels of a picture; larger ones are shrunk (1500000).", metavar="N", rich_help_panel=_PANEL
    ),
]
ImageUrlsOption = Annotated[
    str | None,
    typer.Option(
        help="Have its server fetch pictures here, by their names in the collection's images folder.",
        metavar="URL",
        rich_help_panel=_PANEL,
    ),
]
WindowOption = Annotated[
    int | None,
    typer.Option(min=2000, help="Tokens that it reads; quotes are cut to it.", metavar="N", rich_help_panel=_PANEL),
]
ExtraOption = Annotated[
    list[str] | None,
    typer.Option(
        "--extra",
        help="A further field of each request, such as reasoning_effort='\"low\"'; may be given again.",
        metavar="KEY=JSON",
        rich_help_panel=_PANEL,
    ),
]


@dataclass(frozen=True, slots=True)
class Writing:
    """Which chat model is to write, and how, as the options say. What is left out comes from the environment, or is
    the default."""

    model: str | None = None
    base_url: str | None = None
    api_key: str | None = None
    timeout_s: float | None = None
    call_limit_s: float | None = None
    retries: int | None = None
    calls: Path | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    thinking: bool | None = None
    images: bool = True
    max_pictures: int | None = None
    max_pixels: int | None = None
    image_urls: str | None = None
    prompts: Path | None = None
    extra: Sequence[str] | None = None


def model_settings(writing: Writing, hardware: "Hardware") -> "ModelSettings":
    """The settings of the chat model, which, if it is on this machine, runs on `hardware`. Raises UsageError."""
    from quoteweave.pipeline.settings import ModelSettings

    said = asdict(writing)
    limits = {key: value for key in ("max_pictures", "max_pixels") if (value := said.pop(key)) is not None}
    given = {**said, "limits": limits, "extra": _fields(writing.extra), "hardware": hardware}
    return ModelSettings.from_environment(given)


def _fields(extra: Sequence[str] | None) -> "dict[str, JsonValue]":
    """['key=JSON', …] as fields. Raises UsageError for one that has no key, or no JSON."""
    from quoteweave.core.errors import UsageError

    found: dict[str, JsonValue] = {}
    for text in extra or ():
        key, _, value = text.partition("=")
        try:
            found[key.strip()] = json.loads(value)
        except ValueError:
            key = ""
        if not key.strip():
            raise UsageError(f"--extra {text!r}: write it as KEY=JSON, where a word of JSON has quotation marks")
    return found
