"""Tokens: rough counts before a model has counted its own, cutting texts to a limit, and prices."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from pydantic import Field

from quoteweave.core.answers import Usage
from quoteweave.core.chat.completions import ChatMessage, Completion, CompletionDelta
from quoteweave.core.records import Record

ASCII_CHARACTERS_PER_TOKEN = 4
"""For English text. Many other scripts have little more than one character per token."""
TOKENS_PER_IMAGE = 1_000


def estimate_tokens(text: str) -> int:
    """A deliberately high estimate: one token for four ASCII characters, and one for every other character."""
    plain = len(text.encode("ascii", "ignore"))
    return -(-plain // ASCII_CHARACTERS_PER_TOKEN) + len(text) - plain


def max_fair_share(sizes: Sequence[int], room: int) -> int | None:
    """The largest cap such that sizes cut to it sum to at most `room` (max-min fairness); None if no cap is needed."""
    remaining, ordered = room, sorted(sizes)
    for position, size in enumerate(ordered):
        share = remaining // (len(ordered) - position)
        if size > share:
            return share
        remaining -= size
    return None


def estimate_message_tokens(messages: Sequence[ChatMessage]) -> int:
    """Estimate the tokens of a conversation in the OpenAI chat format, images and calls of tools included."""
    return sum(_tokens_of_content(message.get("content")) + _tokens_of_calls(message) for message in messages)


def usage_or_estimate(completion: Completion, input_tokens: int) -> Usage:
    """The tokens of a call as the endpoint counted them, or else estimated; `input_tokens` estimates its input."""
    usage, written = completion.usage, (completion.reasoning or "") + completion.text
    written += "".join(call.name + call.arguments for call in completion.tool_calls)
    return Usage(
        input_tokens=input_tokens if usage.input_tokens is None else usage.input_tokens,
        output_tokens=estimate_tokens(written) if usage.output_tokens is None else usage.output_tokens,
    )


def sum_known(counts: Iterable[int | None]) -> int | None:
    """The sum of the known counts; None if none is known."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


class UsageMeter:
    """Measures the usage of one call, complete or streamed; `input_tokens` is the estimate for its messages."""

    def __init__(self, input_tokens: int) -> None:
        self.input_tokens = input_tokens
        self._parts: list[str] = []
        self._completion: Completion | None = None

    def add(self, item: CompletionDelta | Completion) -> None:
        """Add the next item of the stream; a completion replaces the pieces before it."""
        if isinstance(item, Completion):
            self._completion = item
        else:
            self._parts += item.reasoning, item.text

    @property
    def counted(self) -> bool:
        """Whether the endpoint reported the call's tokens."""
        usage = None if self._completion is None else self._completion.usage
        return usage is not None and usage.input_tokens is not None and usage.output_tokens is not None

    @property
    def usage(self) -> Usage | None:
        """The usage so far, reported or estimated; None if nothing has arrived."""
        if self._completion is not None:
            return usage_or_estimate(self._completion, self.input_tokens)
        written = "".join(self._parts)
        return Usage(input_tokens=self.input_tokens, output_tokens=estimate_tokens(written)) if written else None


def _tokens_of_calls(message: Mapping[str, object]) -> int:
    calls = message.get("tool_calls")
    return estimate_tokens(json.dumps(calls, ensure_ascii=False)) if calls else 0


def _tokens_of_content(content: object) -> int:
    if isinstance(content, str):
        return estimate_tokens(content)
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list | tuple) else []
    return sum(estimate_tokens(str(part["text"])) if "text" in part else TOKENS_PER_IMAGE for part in parts)


class Price(Record):
    """US dollars for a million tokens of a model."""

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """The price in US dollars."""
        return (input_tokens * self.input + output_tokens * self.output) / 1_000_000


LOCAL_PREFIX = "local="
"""Prefix in the name of a model on this machine; its checkpoint follows."""
FREE = Price(input=0, output=0)

PriceLookup = Callable[[str | None], Price | None]
"""Looks up the price of a model by its name (None if a run does not record it); None if the price is unknown."""
