"""From what a user says (options, environment) to the objects that do the work."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import Field, JsonValue

from quoteweave.core.protocols import ChatModel, Generator
from quoteweave.core.records import Record
from quoteweave.index.collection import Collection

if TYPE_CHECKING:
    from quoteweave.generation.cited import ImageSource


class ModelSettings(Record):
    """Which chat model writes the answers. Without a model's name, answers are extracted and nothing is sent."""

    model: str | None = Field(default=None, description="the model's name, as its endpoint knows it")
    base_url: str | None = Field(default=None, description="an OpenAI-compatible endpoint")
    api_key: str | None = Field(default=None, repr=False)
    images: bool = Field(default=True, description="send the crops of image quotes, for models that see")
    prompts: Path | None = Field(default=None, description="folder whose prompt files replace ours")
    temperature: float | None = None
    max_tokens: int | None = Field(default=None, description="of an answer")
    thinking: bool | None = Field(default=None, description="have the model think first or not, where that can be said")
    extra: Mapping[str, JsonValue] = Field(default_factory=dict, description="further fields of each request")

    @classmethod
    def from_environment(cls, given: Mapping[str, object]) -> "ModelSettings":
        """What is given, filled up from QUOTEWEAVE_MODEL, OPENAI_BASE_URL and OPENAI_API_KEY unless empty."""
        environment = {
            "model": os.environ.get("QUOTEWEAVE_MODEL") or None,
            "base_url": os.environ.get("OPENAI_BASE_URL") or None,
            "api_key": os.environ.get("OPENAI_API_KEY") or None,
        }
        said = {key: value for key, value in given.items() if value is not None}
        return cls.model_validate({**environment, **said})

    @property
    def destination(self) -> str | None:
        """The host and port that questions and quotes are sent to; None when nothing leaves the machine's own code."""
        if self.model is None:
            return None
        return urlsplit(self.base_url).netloc.rpartition("@")[2] if self.base_url else "api.openai.com"


def make_chat(settings: ModelSettings) -> ChatModel | None:
    """The chat model that is named, if one is."""
    if settings.model is None:
        return None
    from quoteweave.endpoints.chat import OpenAIChat

    return OpenAIChat(
        settings.model,
        base_url=settings.base_url,
        api_key=settings.api_key,
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        thinking=settings.thinking,
        extra=settings.extra,
    )


def make_generator(
    settings: ModelSettings, images: "Collection | ImageSource | None" = None, chat: ChatModel | None = None
) -> Generator:
    """The extractive generator, or one that asks `chat`, or else the named model.

    `images` is where pictures come from: a collection's stored crops, or what reads them. Raises UsageError for prompts
    that cannot be read.
    """
    model = chat or make_chat(settings)
    if model is None:
        from quoteweave.generation.extractive import ExtractiveGenerator

        return ExtractiveGenerator()
    from quoteweave.generation.cited import CitedGenerator

    read = _crops(images) if isinstance(images, Collection) else images
    return CitedGenerator(model, prompts_folder=settings.prompts, images=read if settings.images else None)


def _crops(collection: Collection) -> "ImageSource":
    def read(key: str, /) -> bytes:
        return collection.images.path(key).read_bytes()

    return read
