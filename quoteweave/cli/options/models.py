"""Options that commands share for models and endpoints, each derived from a field of the settings."""

from pathlib import Path
from typing import Annotated

import typer

from quoteweave.attribution.checked_passages import AttributionSettings
from quoteweave.cli.options.derive import option
from quoteweave.pipeline.runs.config import Limits
from quoteweave.pipeline.settings import ChatSettings, ResourceSettings, RetrievalSettings

_RETRIEVAL, _MODEL, _ENDPOINTS = "Retrieval", "Model", "Endpoints"

RetrieversOption = Annotated[
    list[str] | None,
    option(RetrievalSettings, "retriever", "--retriever", "-r", metavar="NAME", panel=_RETRIEVAL),
]
FusionOption = Annotated[str | None, option(RetrievalSettings, "fusion", metavar="RULE", panel=_RETRIEVAL)]
TermsOption = Annotated[
    list[Path] | None, option(RetrievalSettings, "terms", "--terms", metavar="FILE", panel=_RETRIEVAL)
]
ExpandOption = Annotated[str | None, option(RetrievalSettings, "expand", metavar="HOW", panel=_RETRIEVAL)]
RerankOption = Annotated[str | None, option(RetrievalSettings, "rerank", metavar="NAME", panel=_RETRIEVAL)]
ExplainOption = Annotated[bool, option(RetrievalSettings, "explain", "--explain", panel=_RETRIEVAL)]

DeviceOption = Annotated[str | None, option(ResourceSettings, "device", metavar="NAME", panel=_RETRIEVAL)]
BatchSizeOption = Annotated[int | None, option(ResourceSettings, "batch_size", metavar="N", panel=_RETRIEVAL)]
TrustOption = Annotated[bool, option(ResourceSettings, "trust_remote_code", "--trust-remote-code", panel=_RETRIEVAL)]
TimeoutOption = Annotated[
    float | None, option(ResourceSettings, "timeout_s", "--timeout", metavar="S", panel=_ENDPOINTS)
]
CallLimitOption = Annotated[
    float | None, option(ResourceSettings, "call_limit_s", "--call-limit", metavar="S", panel=_ENDPOINTS)
]
RetriesOption = Annotated[int | None, option(ResourceSettings, "retries", metavar="N", panel=_ENDPOINTS)]

ModelOption = Annotated[str | None, option(ChatSettings, "model", metavar="NAME", panel=_MODEL)]
BaseUrlOption = Annotated[str | None, option(ChatSettings, "base_url", metavar="URL", panel=_MODEL)]
ApiKeyOption = Annotated[str | None, option(ChatSettings, "api_key", metavar="KEY", panel=_MODEL)]
CheckOption = Annotated[str | None, option(AttributionSettings, "check", metavar="NAME", panel=_MODEL)]
ImagesOption = Annotated[bool | None, option(ChatSettings, "images", "--images/--no-images", panel=_MODEL)]
CallsOption = Annotated[Path | None, option(Limits, "calls", metavar="DIR", panel=_MODEL)]

PresetOption = Annotated[
    str | None,
    typer.Option(help="Settings of a published experiment; docs/runs.md lists them.", metavar="NAME"),
]
PromptsOption = Annotated[Path | None, typer.Option(help="Folder with your own prompt files.", metavar="DIR")]
ImageFolderOption = Annotated[
    Path | None, typer.Option("--image-folder", help="Folder of the dataset's pictures.", metavar="DIR")
]
