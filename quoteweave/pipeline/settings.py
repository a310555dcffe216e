"""From what a user says (options, environment) to the objects that do the work."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import Field, JsonValue, ValidationError

from quoteweave.collection.collection import Collection
from quoteweave.core.chat.prices import LOCAL
from quoteweave.core.errors import UsageError
from quoteweave.core.jsonl import reason
from quoteweave.core.protocols import ChatModel, Generator, SentenceScorer
from quoteweave.core.records import Record
from quoteweave.generation.prompt_pictures import PictureLimits
from quoteweave.models.checkpoints import Hardware
from quoteweave.pipeline.fitting import Window

if TYPE_CHECKING:
    from quoteweave.generation.prompt_pictures import ImageSource, PictureShower


class ModelSettings(Record):
    """Which chat model writes the answers. Without a model's name, answers are extracted and nothing is sent."""

    model: str | None = Field(
        default=None,
        description="the model's name, as its endpoint knows it; or local=CHECKPOINT, a folder or a name on the hub",
    )
    base_url: str | None = Field(default=None, description="an OpenAI-compatible endpoint")
    api_key: str | None = Field(default=None, repr=False)
    images: bool = Field(default=True, description="send the crops of image quotes, for models that see")
    limits: PictureLimits = Field(default=PictureLimits(), description="how many pictures are shown, and how large")
    image_urls: str | None = Field(default=None, description="where the model's server fetches pictures: an address")
    prompts: Path | None = Field(default=None, description="folder whose prompt files replace ours")
    temperature: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    max_tokens: int | None = Field(default=None, ge=1, description="of an answer")
    thinking: bool | None = Field(default=None, description="have the model think first or not, where that can be said")
    extra: Mapping[str, JsonValue] = Field(default_factory=dict, description="further fields of each request")
    timeout_s: float = Field(
        default=120, gt=0, allow_inf_nan=False, description="seconds without a sign of life from the endpoint"
    )
    call_limit_s: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="seconds of a whole call; five times timeout_s if not said"
    )
    retries: int = Field(default=2, ge=0, description="further attempts where an endpoint fails")
    calls: Path | None = Field(default=None, description="folder that keeps every call, and answers what it holds")
    hardware: Hardware = Field(default=Hardware(), description="what a model on this machine runs on")

    @classmethod
    def from_environment(cls, given: Mapping[str, object]) -> "ModelSettings":
        """What is given, filled up from QUOTEWEAVE_MODEL and OPENAI_BASE_URL unless empty.

        OPENAI_API_KEY is left to the client, which knows where it may be sent: an address that is given may come from a
        file of somebody else's.
        Raises UsageError, which names the setting, for what cannot be.
        """
        environment = {
            "model": os.environ.get("QUOTEWEAVE_MODEL") or None,
            "base_url": os.environ.get("OPENAI_BASE_URL") or None,
        }
        said = {key: value for key, value in given.items() if value is not None}
        try:
            read = cls.model_validate({**environment, **said})
            urlsplit(read.base_url or "")
        except ValidationError as error:
            raise UsageError(f"the chat model: {reason(error)}") from error
        except ValueError:  # a bracket left open
            raise UsageError("the chat model: base_url is no URL; it must look like http://localhost:8000/v1") from None
        return read

    @property
    def checkpoint(self) -> str | None:
        """What a model on this machine is loaded from; None for one behind an endpoint, or none."""
        return self.model.removeprefix(LOCAL) if self.model is not None and self.model.startswith(LOCAL) else None

    @property
    def destination(self) -> str | None:
        """The host and port that questions and quotes are sent to; None when nothing leaves the machine's own code."""
        if self.model is None or self.checkpoint is not None:
            return None
        return urlsplit(self.base_url).netloc.rpartition("@")[2] if self.base_url else "api.openai.com"

    def check_address(self) -> None:
        """Raises UsageError where the endpoint cannot be asked: without address and key, or with a malformed one."""
        if self.destination is not None and self.model is not None:
            from quoteweave.endpoints.address import openai_address

            openai_address(self.model, self.base_url, self.api_key)

    def read(self, tokens: int | None) -> Window | None:
        """The window of a model that reads so many tokens; None where that is not said."""
        shown = self.images and self.model is not None
        if tokens is None:
            return None
        return Window(tokens=tokens, answer=self.max_tokens or 0, pictures=shown, limits=self.limits)


def make_chat(settings: ModelSettings) -> ChatModel | None:
    """The chat model that is named, if one is. Raises UsageError where a model on this machine cannot do as is said."""
    if settings.model is None:
        return None
    model = (
        _endpoint(settings, settings.model) if settings.checkpoint is None else _local(settings, settings.checkpoint)
    )
    if settings.calls is None:
        return model
    from quoteweave.endpoints.call_cache import CachedChat

    return CachedChat(model, settings.calls)


def _endpoint(settings: ModelSettings, name: str) -> ChatModel:
    from quoteweave.endpoints.chat import OpenAIChat

    return OpenAIChat(
        name,
        base_url=settings.base_url,
        api_key=settings.api_key,
        timeout_s=settings.timeout_s,
        max_retries=settings.retries,
        call_limit_s=settings.call_limit_s,
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        thinking=settings.thinking,
        extra=settings.extra,
    )


def _local(settings: ModelSettings, checkpoint: str) -> ChatModel:
    from quoteweave.models.chat import LocalChat

    if settings.extra:
        raise UsageError(f"{settings.model} runs on this machine, so that no request takes {', '.join(settings.extra)}")
    return LocalChat(
        checkpoint,
        hardware=settings.hardware,
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        thinking=settings.thinking,
    )


def make_generator(
    settings: ModelSettings,
    images: "Collection | ImageSource | None" = None,
    chat: ChatModel | None = None,
    *,
    fallback: bool = False,
    order: SentenceScorer | None = None,
) -> Generator:
    """The extractive generator, or one that asks `chat`, or else the named model.

    `fallback`: whether the extractive generator answers where the model's endpoint fails. `order`: what orders the
    extractive generator's sentences.
    `images` is where pictures come from: a collection's stored crops, or what reads them. Raises UsageError for prompts
    that cannot be read, and where pictures cannot be shown as is said.
    """
    from quoteweave.generation.extractive import ExtractiveGenerator

    model = chat or make_chat(settings)
    if model is None:
        return ExtractiveGenerator(order=order)
    from quoteweave.generation.chat_generator import CitedGenerator
    from quoteweave.generation.fallback import FallbackGenerator

    cited = CitedGenerator(model, prompts_folder=settings.prompts, pictures=_pictures(settings, images))
    return FallbackGenerator(cited, ExtractiveGenerator(order=order)) if fallback else cited


def _pictures(settings: ModelSettings, images: "Collection | ImageSource | None") -> "PictureShower | None":
    """What shows the model pictures, if it is shown any. Raises UsageError for what is no address of pictures."""
    from quoteweave.generation.prompt_pictures import InlinePictures, LinkedPictures

    if not settings.images or images is None:
        return None
    if settings.image_urls is None:
        return InlinePictures(_crops(images) if isinstance(images, Collection) else images, settings.limits)
    if settings.checkpoint is not None:
        raise UsageError(f"{settings.model} runs on this machine, and fetches no pictures: leave image_urls out")
    return LinkedPictures(settings.image_urls, settings.limits)


def _crops(collection: Collection) -> "ImageSource":
    def read(key: str, /) -> bytes:
        return collection.images.read(key)

    return read
