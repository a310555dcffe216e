"""Build expanders and rerankers from their names, for the command line, configuration files and HTTP.

rules, rm3, chat                     expanders
bge-reranker, bge-reranker=/path     a row of `rerankers.toml`, or another checkpoint for it
cross-encoder=/path                  any other cross-encoder
endpoint:MODEL@http://host/v1        a rerank endpoint; without an address, the one in the environment
chat, chat:MODEL@http://host/v1      a chat model
chat:local=/path                     one on this machine
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue

from quoteweave.collection.collection import Collection
from quoteweave.core.chat.tokens import LOCAL_PREFIX
from quoteweave.core.errors import UsageError
from quoteweave.core.protocols import ChatModel, Expander, Reranker
from quoteweave.core.records import Filter
from quoteweave.endpoints.connection import RetryOptions
from quoteweave.models.checkpoints import Hardware
from quoteweave.models.loading import make_shared
from quoteweave.retrievers.registry import SPARSE_RETRIEVERS, Resources, member_specs
from quoteweave.retrievers.rerankers import RerankerRow, reranker_row_for_path, reranker_rows
from quoteweave.retrievers.sparse import Bm25Retriever
from quoteweave.retrievers.spec import unknown_name_error


def _counted(model: ChatModel) -> ChatModel:
    """Wrap a model without a limit, so that what it takes counts in the answer for which it is called."""
    from quoteweave.endpoints.budget import Budget, BudgetedChat

    return BudgetedChat(model, Budget())


@dataclass(frozen=True, slots=True)
class ChatModels:
    """The chat models for expansion and reranking, and their prompts."""

    plain: ChatModel | None = None
    """The model that `chat` without a name selects."""
    through: Callable[[ChatModel], ChatModel] = _counted
    """Wraps a model that a name selects, with limits, a budget or a cache of calls; without one, its calls count."""
    prompts: Path | None = None
    """A folder whose prompt files replace the built-in ones."""


NO_CHAT_MODELS = ChatModels()
EXPANDERS = ("rules", "rm3", "chat")
ANY_CROSS_ENCODER = "cross-encoder"


def make_expander(
    text: str,
    retrievers: Sequence[str],
    collection: Collection,
    *,
    where: Filter | None = None,
    resources: Resources | None = None,
    chats: ChatModels = NO_CHAT_MODELS,
) -> Expander:
    """Build the expander of that name, for a search with these retrievers.

    Raises UsageError for an unknown name, for `chat` where no model is configured, and for RM3 with a retriever that
    does not add up the scores of words.
    """
    if text == "rules":
        from quoteweave.retrievers.expanders.rules import ClauseSplitter

        return ClauseSplitter()
    if text == "rm3":
        from quoteweave.retrievers.expanders.rm3 import Rm3Expander

        others = [name for spec in retrievers for name in member_specs(spec) if name not in SPARSE_RETRIEVERS]
        if others:
            raise UsageError(
                f"rm3 repeats words by their weight, for {', '.join(SPARSE_RETRIEVERS)}; {others[0]} cannot use that"
            )
        return Rm3Expander(Bm25Retriever(collection), where=where)
    model = make_chat_model(text, resources or Resources(), chats, sent="the question is sent")
    if model is None:
        raise unknown_name_error("expansion", text, EXPANDERS)
    from quoteweave.retrievers.expanders.chat import ChatExpander

    return ChatExpander(model, prompts_folder=chats.prompts)


def make_reranker(text: str, *, resources: Resources | None = None, chats: ChatModels = NO_CHAT_MODELS) -> Reranker:
    """Build the reranker of that name; no model is loaded yet.

    Raises UsageError for an unknown name, and for `chat` where no model is configured.
    """
    resources = resources or Resources()
    name, equals, checkpoint = text.partition("=")
    if equals and not checkpoint:
        raise UsageError(f"{text!r} names no checkpoint; write {name}=PATH")
    if name in reranker_rows():
        return make_shared(make_local_reranker, reranker_rows()[name], resources.hardware, checkpoint or None)
    if name == ANY_CROSS_ENCODER and checkpoint:
        return make_shared(make_local_reranker, reranker_row_for_path(checkpoint), resources.hardware)
    if text.startswith("endpoint:"):
        from quoteweave.endpoints.rerank import RerankClient
        from quoteweave.retrievers.rerankers.endpoint import EndpointReranker

        model_name, url = _split_address(text, "endpoint:")
        reranker = EndpointReranker(RerankClient(model_name, base_url=url, **resources.retry_options))
        resources.notify(f"the question and the quotes found are sent to {reranker.destination}")
        return reranker
    model = make_chat_model(text, resources, chats, sent="the question and the quotes found are sent")
    if model is None:
        raise unknown_name_error(
            "reranker", text, [*reranker_rows(), f"{ANY_CROSS_ENCODER}=PATH", "endpoint:MODEL", "chat"]
        )
    from quoteweave.retrievers.rerankers.listwise import ListwiseReranker

    return ListwiseReranker(model, prompts_folder=chats.prompts)


def make_local_reranker(row: RerankerRow, hardware: Hardware | None = None, checkpoint: str | None = None) -> Reranker:
    """The reranker of that row, with another checkpoint in place of its own if one is named. Nothing is loaded yet."""
    if row.loader == "qwen3":
        from quoteweave.retrievers.rerankers.qwen3 import Qwen3Reranker

        return Qwen3Reranker(row.at(checkpoint), hardware)
    from quoteweave.retrievers.rerankers.local import CrossEncoderReranker

    return CrossEncoderReranker(row.at(checkpoint), hardware)


def make_chat_model(text: str, resources: Resources, chats: ChatModels, *, sent: str) -> ChatModel | None:
    """Build the chat model that a name selects; None for a name of another kind.

    `sent` begins the notice of what leaves the machine; the notice on the plain model is left to the caller who
    configured it. Raises UsageError for `chat` where no model is configured, and for an invalid address.
    """
    if text == "chat":
        if chats.plain is None:
            raise UsageError(
                "which chat model? none is set that could be used",
                remedy="write chat:MODEL@URL, or name one with --model or QUOTEWEAVE_MODEL",
            )
        return chats.plain
    if not text.startswith("chat:"):
        return None
    name, url = _split_address(text, "chat:")
    if not name.startswith(LOCAL_PREFIX):
        from quoteweave.endpoints.address import openai_address

        resources.notify(f"{sent} to {openai_address(name, url, None).destination}")
    options = ChatOptions(base_url=url)
    model = open_chat_model(name, options, hardware=resources.hardware, retry_options=resources.retry_options)
    return chats.through(model)


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

    Raises UsageError where a model on this machine cannot do what is set.
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


def _split_address(text: str, prefix: str) -> tuple[str, str | None]:
    """Split 'prefix:MODEL@http://host' into model and address; a model's name may contain an @ itself."""
    name, *url = re.split(r"@(?=https?://)", text.removeprefix(prefix), maxsplit=1)
    if not name:
        raise UsageError(f"{text!r} names no model; write {prefix}MODEL, or {prefix}MODEL@URL")
    return name, url[0] if url else None
