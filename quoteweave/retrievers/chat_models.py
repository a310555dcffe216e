"""Opens chat models by name, for all settings and for the steps of a search: `chat`, `chat:MODEL@URL`, `local=PATH`.

It is here, and not with generation, because expanders and rerankers ask chat models too.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue

from quoteweave.core.chat.usage import LOCAL_PREFIX
from quoteweave.core.errors import UsageError, by_setting, join_ways
from quoteweave.core.protocols import ChatModel
from quoteweave.endpoints.connection import RetryOptions
from quoteweave.models.checkpoints import Hardware
from quoteweave.models.loading import make_shared
from quoteweave.retrievers.make_retriever import Resources


def _counted(model: ChatModel) -> ChatModel:
    """Wrap a model without a limit, so that the usage of its calls counts towards the answer that they are made for."""
    from quoteweave.endpoints.budget import Budget, BudgetedChat

    return BudgetedChat(model, Budget())


@dataclass(frozen=True, slots=True)
class ChatModels:
    """The chat models for expansion and reranking, and their prompts."""

    default: ChatModel | None = None
    """The model that `chat` without a name selects."""
    wrap: Callable[[ChatModel], ChatModel] = _counted
    """Wraps a model that a name selects, with limits, a budget or a cache of calls; by default, calls are counted."""
    prompts: Path | None = None
    """A folder whose prompt files replace the built-in ones."""


NO_CHAT_MODELS = ChatModels()


def make_chat_model(text: str, resources: Resources, chats: ChatModels, *, sent: str) -> ChatModel | None:
    """Build the chat model that a name selects; None for a name of another kind.

    `sent` begins the notice of what leaves the machine; the notice on the default model is left to the caller who
    configured it. Raises UsageError for `chat` where no model is configured, and for an invalid address.
    """
    if text == "chat":
        if chats.default is None:
            raise UsageError(
                "which chat model? none is set that could be used",
                remedy=join_ways(
                    "write chat:MODEL@URL", by_setting("name one: {}", "model"), "name one in QUOTEWEAVE_MODEL"
                ),
            )
        return chats.default
    if not text.startswith("chat:"):
        return None
    name, url = split_address(text, "chat:")
    if not name.startswith(LOCAL_PREFIX):
        from quoteweave.endpoints.address import openai_address

        resources.notify(f"{sent} to {openai_address(name, url, None).destination}")
    options = ChatOptions(base_url=url)
    model = open_chat_model(name, options, hardware=resources.hardware, retry_options=resources.retry_options)
    return chats.wrap(model)


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """Where a chat model's endpoint is, and how the model writes; see `pipeline.settings.ChatSettings`."""

    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    temperature: float | None = None
    max_tokens: int | None = None
    thinking: bool | None = None
    extra: Mapping[str, JsonValue] = field(default_factory=dict)


def open_chat_model(name: str, options: ChatOptions, *, hardware: Hardware, retry_options: RetryOptions) -> ChatModel:
    """Open the chat model of that name: `local=PATH` on this machine, any other at an OpenAI-compatible endpoint.

    Raises UsageError for an option that a model on this machine does not support.
    """
    if not name.startswith(LOCAL_PREFIX):
        from quoteweave.endpoints.chat import OpenAIChat

        return OpenAIChat(
            name,
            base_url=options.base_url,
            api_key=options.api_key,
            temperature=options.temperature,
            max_tokens=options.max_tokens,
            thinking=options.thinking,
            extra=options.extra,
            **retry_options,
        )
    from quoteweave.models.chat import LocalChat

    if options.extra:
        raise UsageError(f"{name} runs on this machine, so that no request takes {', '.join(options.extra)}")
    return make_shared(
        LocalChat,
        name.removeprefix(LOCAL_PREFIX),
        hardware=hardware,
        temperature=options.temperature,
        max_tokens=options.max_tokens,
        thinking=options.thinking,
    )


def split_address(text: str, prefix: str) -> tuple[str, str | None]:
    """Split 'prefix:MODEL@http://host' into model and address; a model's name may contain an @ itself."""
    name, *url = re.split(r"@(?=https?://)", text.removeprefix(prefix), maxsplit=1)
    if not name:
        raise UsageError(f"{text!r} names no model; write {prefix}MODEL, or {prefix}MODEL@URL")
    return name, url[0] if url else None
