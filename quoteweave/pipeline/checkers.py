"""Checkers of claims by name, for the command line and configuration files; code passes objects.

chat, chat:MODEL@http://host/v1          a chat model as judge
chat:local=/path                         one on this machine
/path/to/folder, owner/name@revision     an entailment model on this machine, of the kinds of `make_entailment`
"""

import asyncio
from collections.abc import Sequence

from quoteweave.core.errors import UsageError
from quoteweave.core.protocols import ClaimChecker, Entailment
from quoteweave.generation.entailment import make_entailment
from quoteweave.generation.entailment.chat_checker import ChatClaimChecker
from quoteweave.models.checkpoints import is_local
from quoteweave.retrievers.registry import Resources
from quoteweave.retrievers.step_registry import NO_CHAT_MODELS, ChatModels, make_chat_model


class EntailedClaims:
    """Meets `core.protocols.ClaimChecker` by an entailment model, which computes in a thread of its own."""

    def __init__(self, model: Entailment) -> None:
        self.model = model

    @property
    def name(self) -> str:
        """The model's."""
        return self.model.name

    async def check(self, pairs: Sequence[tuple[str, str]]) -> list[bool | None]:
        """Whether each premise entails its claim. Raises ModelError."""
        return [*await asyncio.to_thread(self.model.entails, pairs)]


def make_checker(text: str, *, means: Resources | None = None, chats: ChatModels = NO_CHAT_MODELS) -> ClaimChecker:
    """The checker of that name.

    Raises UsageError for an unknown name, a chat model that nobody named, and prompts that cannot be read; ModelError
    for a folder or hub name without an entailment model.
    """
    means = means or Resources()
    if text == "chat" and chats.plain is None:
        raise UsageError("which chat model is to check? write chat:MODEL@URL, or name the one that answers")
    chat = make_chat_model(text, means, chats, sent="cited sentences and their quotes are sent")
    if chat is not None:
        return ChatClaimChecker(chat, prompts_folder=chats.prompts)
    if "/" not in text and not is_local(text):
        raise UsageError(
            f"there is no checker {text!r}; there are: chat, chat:MODEL, chat:MODEL@URL, and entailment models, by "
            "folder or by name on the hub (owner/name)"
        )
    return EntailedClaims(make_entailment(text, means.hardware))
