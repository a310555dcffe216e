"""Check claims against their evidence: by a chat model, or by an entailment model."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path

from quoteweave.core.chat.prompts import indented, load_prompt
from quoteweave.core.concurrency.pools import for_each
from quoteweave.core.errors import EndpointError, ModelFailed
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.protocols import ChatModel, CutsPremises, Entailment

AT_ONCE = 8
"""Claims judged concurrently, unless the model itself is limited to fewer."""
MAX_ATTEMPTS = 2
_MAX_CHARACTERS_SENT_BACK = 2_000  # the part of an unreadable reply that is sent back
_VERDICT = lazy_regex(r"""["'`]?supported["'`]?\s*+:\s*+["'`]?(yes|true|no|false)\b""", re.IGNORECASE)
_AGAIN = 'Your reply cannot be read. Write {"supported": "yes"} or {"supported": "no"}, and nothing else.'


class ChatClaimChecker:
    """Implements `core.protocols.ClaimChecker`: a chat model judges each claim in a request of its own.

    `prompts_folder` may hold its own `check_claim.txt` (fields: `$evidence`, `$claim`). Raises UsageError when the
    prompt cannot be read.
    """

    def __init__(self, model: ChatModel, *, prompts_folder: Path | None = None) -> None:
        self.model = model
        self.prompt = load_prompt("check_claim", prompts_folder)

    @property
    def name(self) -> str:
        """The model, and the hash of the prompt."""
        return f"chat:{self.model.name} check_claim {self.prompt.sha256[:16]}"

    async def check(self, pairs: Sequence[tuple[str, str]]) -> list[bool | None]:
        """Judge whether each premise supports its claim; None where two replies could not be parsed, or a call failed.

        Raises EndpointError or ModelFailed where every call failed, and UsageError: for a prompt without the right
        fields, and where the budget is spent.
        """
        verdicts: list[bool | EndpointError | ModelFailed | None] = [None] * len(pairs)

        async def judge(number: int) -> None:
            try:
                verdicts[number] = await self._judge(*pairs[number])
            except (EndpointError, ModelFailed) as error:
                verdicts[number] = error

        await for_each(range(len(pairs)), judge, concurrency=AT_ONCE)
        failures = [verdict for verdict in verdicts if isinstance(verdict, Exception)]
        if failures and len(failures) == len(verdicts):
            raise failures[0]
        return [None if isinstance(verdict, Exception) else verdict for verdict in verdicts]

    async def _judge(self, premise: str, claim: str) -> bool | None:
        content = self.prompt.render({"evidence": indented(premise), "claim": indented(claim)})
        question: dict[str, object] = {"role": "user", "content": content}
        messages = [question]
        for _ in range(MAX_ATTEMPTS):
            reply = (await self.model.complete(messages)).text
            verdict = read_verdict(reply)
            if verdict is not None:
                return verdict
            unread: dict[str, object] = {"role": "assistant", "content": reply[:_MAX_CHARACTERS_SENT_BACK]}
            messages = [question, unread, {"role": "user", "content": _AGAIN}]
        return None


def read_verdict(reply: str) -> bool | None:
    """Parse the verdict after a reply's reasoning, in JSON or nearly JSON; None for neither or both."""
    answer = reply.rpartition("</think>")[2]
    verdicts = {verdict.casefold() in ("yes", "true") for verdict in _VERDICT.findall(answer)}
    return verdicts.pop() if len(verdicts) == 1 else None


class EntailmentClaimChecker:
    """Implements `core.protocols.ClaimChecker` with an entailment model, run in its own thread.

    It gives no verdict where the model read only a part of the evidence that does not entail the claim.
    """

    def __init__(self, model: Entailment) -> None:
        self.model = model

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.model.name

    async def check(self, pairs: Sequence[tuple[str, str]]) -> list[bool | None]:
        """Return whether each premise entails its claim; None for one cut too short to know it. Raises ModelError."""
        return await asyncio.to_thread(self._verdicts, pairs)

    def _verdicts(self, pairs: Sequence[tuple[str, str]]) -> list[bool | None]:
        entailed, model = self.model.entails(pairs), self.model
        return [
            None if not entails and isinstance(model, CutsPremises) and not model.reads_all(*pair) else entails
            for pair, entails in zip(pairs, entailed, strict=True)
        ]
