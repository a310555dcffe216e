"""Checkers of claims by name, for the command line and configuration files; code passes objects.

chat, chat:MODEL@http://host/v1          a chat model as judge
chat:local=/path                         one on this machine
/path/to/folder, owner/name@revision     an entailment model on this machine, of the kinds of `make_entailment`
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from quoteweave.core.errors import UsageError
from quoteweave.core.prices import LOCAL
from quoteweave.core.protocols import ChatModel, ClaimChecker, Entailment
from quoteweave.generation.entailment import make_entailment
from quoteweave.generation.entailment.judged import JudgedClaims
from quoteweave.models.weights import Hardware, is_local

Through = Callable[[ChatModel], ChatModel]


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


def make_checker(
    text: str,
    *,
    chat: ChatModel | None = None,
    prompts_folder: Path | None = None,
    hardware: Hardware | None = None,
    through: Through = lambda model: model,
    tell: Callable[[str], None] = lambda _: None,
) -> ClaimChecker:
    """The checker of that name; `chat` is what a plain `chat` means.

    A chat model that the name itself names is asked by what `through` makes of it, and where sentences go then is told.
    Raises UsageError for an unknown name, a chat model that nobody named, and prompts that cannot be read; ModelError
    for a folder or hub name without an entailment model.
    """
    if text == "chat":
        if chat is None:
            raise UsageError("which chat model is to check? write chat:MODEL@URL, or name the one that answers")
        return JudgedClaims(chat, prompts_folder=prompts_folder)
    if text.startswith("chat:"):
        return JudgedClaims(through(_named(text, hardware, tell)), prompts_folder=prompts_folder)
    if "/" not in text and not is_local(text):
        raise UsageError(
            f"there is no checker {text!r}; there are: chat, chat:MODEL, chat:MODEL@URL, and entailment models, by "
            "folder or by name on the hub (owner/name)"
        )
    return EntailedClaims(make_entailment(text, hardware))


def _named(text: str, hardware: Hardware | None, tell: Callable[[str], None]) -> ChatModel:
    # A model's name may hold an @ itself.
    name, *url = re.split(r"@(?=https?://)", text.removeprefix("chat:"), maxsplit=1)
    if not name:
        raise UsageError(f"{text!r} names no model; write chat:MODEL, or chat:MODEL@URL")
    if name.startswith(LOCAL):
        from quoteweave.models.chat import LocalChat

        return LocalChat(name.removeprefix(LOCAL), hardware=hardware)
    from quoteweave.endpoints.chat import OpenAIChat
    from quoteweave.endpoints.http import openai_address

    base_url = url[0] if url else None
    tell(f"cited sentences and their quotes are sent to {openai_address(name, base_url, None).destination}")
    return OpenAIChat(name, base_url=base_url)
