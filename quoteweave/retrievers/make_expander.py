"""Makes expanders by name: `rules`, `rm3`, `chat`, `chat:MODEL@http://host/v1`, `chat:local=/path` on this machine."""

from collections.abc import Sequence

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import UsageError
from quoteweave.core.protocols import Expander
from quoteweave.retrievers.chat_models import NO_CHAT_MODELS, ChatModels, make_chat_model
from quoteweave.retrievers.make_retriever import SPARSE_RETRIEVERS, Resources, member_specs
from quoteweave.retrievers.sparse import Bm25Retriever
from quoteweave.retrievers.spec import unknown_name_error

EXPANDERS = ("rules", "rm3", "chat")


def make_expander(
    name: str,
    retrievers: Sequence[str],
    collection: Collection,
    *,
    resources: Resources | None = None,
    chats: ChatModels = NO_CHAT_MODELS,
) -> Expander:
    """Build the expander of that name, for a search with these retrievers.

    Raises UsageError for an unknown name, for `chat` where no model is configured, and for RM3 with a retriever that
    does not add up the scores of words.
    """
    if name == "rules":
        from quoteweave.retrievers.expanders.rules import ClauseSplitter

        return ClauseSplitter()
    if name == "rm3":
        from quoteweave.retrievers.expanders.rm3 import Rm3Expander

        unsuitable = [part for spec in retrievers for part in member_specs(spec) if part not in SPARSE_RETRIEVERS]
        if unsuitable:
            raise UsageError(
                f"rm3 repeats words by their weight, for {', '.join(SPARSE_RETRIEVERS)}; "
                f"{unsuitable[0]} cannot use that"
            )
        return Rm3Expander(Bm25Retriever(collection))
    model = make_chat_model(name, resources or Resources(), chats, sent="the question is sent")
    if model is None:
        raise unknown_name_error("expansion", name, EXPANDERS)
    from quoteweave.retrievers.expanders.chat import ChatExpander

    return ChatExpander(model, prompts_folder=chats.prompts)
