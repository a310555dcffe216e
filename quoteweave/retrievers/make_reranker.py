"""Makes rerankers by name.

bge-reranker, bge-reranker=/path     a row of `rerankers.toml`, or another checkpoint for it
cross-encoder=/path                  any other cross-encoder
endpoint:MODEL@http://host/v1        a rerank endpoint; without an address, the one in the environment
chat, chat:MODEL@http://host/v1      a chat model
chat:local=/path                     one on this machine
"""

from quoteweave.core.errors import UsageError
from quoteweave.core.protocols import Reranker
from quoteweave.models.checkpoints import Hardware
from quoteweave.models.loading import make_shared
from quoteweave.retrievers.chat_models import NO_CHAT_MODELS, ChatModels, make_chat_model, split_address
from quoteweave.retrievers.make_retriever import Resources
from quoteweave.retrievers.rerankers import RerankerRow, reranker_row_for_path, reranker_rows
from quoteweave.retrievers.spec import unknown_name_error

ANY_CROSS_ENCODER = "cross-encoder"


def make_reranker(name: str, *, resources: Resources | None = None, chats: ChatModels = NO_CHAT_MODELS) -> Reranker:
    """Build the reranker of that name; no model is loaded yet.

    Raises UsageError for an unknown name, and for `chat` where no model is configured.
    """
    resources = resources or Resources()
    row, equals, checkpoint = name.partition("=")
    if equals and not checkpoint:
        raise UsageError(f"{name!r} names no checkpoint; write {row}=PATH")
    if row in reranker_rows():
        return make_shared(make_local_reranker, reranker_rows()[row], resources.hardware, checkpoint or None)
    if row == ANY_CROSS_ENCODER and checkpoint:
        return make_shared(make_local_reranker, reranker_row_for_path(checkpoint), resources.hardware)
    if name.startswith("endpoint:"):
        from quoteweave.endpoints.rerank import RerankClient
        from quoteweave.retrievers.rerankers.endpoint import EndpointReranker

        model_name, url = split_address(name, "endpoint:")
        reranker = EndpointReranker(RerankClient(model_name, base_url=url, **resources.retry_options))
        resources.notify(f"the question and the quotes found are sent to {reranker.destination}")
        return reranker
    model = make_chat_model(name, resources, chats, sent="the question and the quotes found are sent")
    if model is None:
        raise unknown_name_error(
            "reranker", name, [*reranker_rows(), f"{ANY_CROSS_ENCODER}=PATH", "endpoint:MODEL", "chat"]
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
