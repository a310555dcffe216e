"""What a chat model is sent, and what it replies: text, reasoning and calls of tools; streamed or whole."""

from collections.abc import Mapping

from pydantic import Field

from quoteweave.core.answers import Usage
from quoteweave.core.records import Record

ChatMessage = Mapping[str, object]
"""A message to a chat model, in the form of OpenAI's API."""


class CompletionDelta(Record):
    """The next part of a streamed completion: reasoning, answer text, or both (the reasoning comes first)."""

    text: str = ""
    reasoning: str = ""


class ToolCall(Record):
    """A call of a tool that a chat model was offered."""

    name: str
    arguments: str = Field(description="JSON, as the model wrote it; it may be malformed")


class Completion(Record):
    """A chat model's complete reply."""

    text: str = Field(description="the answer, without reasoning; empty where it only calls tools")
    tool_calls: tuple[ToolCall, ...] = Field(default=(), description="in order; none of a model without tools")
    reasoning: str | None = Field(default=None, description="what it wrote before; None where the endpoint tells none")
    model: str
    finish_reason: str | None = Field(
        default=None, description="why it ended, in OpenAI's words: stop, length, content_filter, tool_calls"
    )
    usage: Usage = Usage()
