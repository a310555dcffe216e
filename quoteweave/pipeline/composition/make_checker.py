"""Makes the checker of claims that settings name: a chat model, or an entailment model on this machine."""

from quoteweave.core.errors import UsageError
from quoteweave.core.protocols import ClaimChecker
from quoteweave.generation.claim_checkers import ChatClaimChecker, EntailmentClaimChecker
from quoteweave.generation.entailment import make_entailment
from quoteweave.models.checkpoints import is_local
from quoteweave.models.loading import make_shared
from quoteweave.retrievers.chat_models import NO_CHAT_MODELS, ChatModels, make_chat_model
from quoteweave.retrievers.make_retriever import Resources


def make_checker(name: str, *, resources: Resources | None = None, chats: ChatModels = NO_CHAT_MODELS) -> ClaimChecker:
    """Make the checker of claims of that name.

    Raises UsageError for an unknown name, a chat model that nobody named, and prompts that cannot be read; ModelError
    for a folder or hub name without an entailment model.
    """
    resources = resources or Resources()
    if name == "chat" and chats.default is None:
        raise UsageError("which chat model is to check? write chat:MODEL@URL, or name the one that answers")
    chat = make_chat_model(name, resources, chats, sent="cited sentences and their quotes are sent")
    if chat is not None:
        return ChatClaimChecker(chat, prompts_folder=chats.prompts)
    if "/" not in name and not is_local(name):
        raise UsageError(
            f"there is no checker {name!r}; there are: chat, chat:MODEL, chat:MODEL@URL, and entailment models, by "
            "folder or by name on the hub (owner/name)"
        )
    return EntailmentClaimChecker(make_shared(make_entailment, name, resources.hardware))
