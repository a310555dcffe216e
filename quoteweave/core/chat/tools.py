"""Tools that chat models may be offered."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from pydantic import Field, JsonValue

from quoteweave.core.protocols import ChatModel
from quoteweave.core.records import Record


class Tool(Record):
    """A tool that a chat model may call."""

    name: str
    description: str
    parameters: Mapping[str, JsonValue] = Field(description="JSON Schema of its arguments, which are an object")


@runtime_checkable
class ToolCallingChat(ChatModel, Protocol):
    """A chat model that can be offered tools."""

    def with_tools(self, tools: Sequence[Tool]) -> ChatModel | None:
        """Return the same model, whose completions call one of these tools; None if it cannot be offered any.

        An endpoint that refuses tools raises EndpointRefused when it is asked. Calls are in `Completion.tool_calls`,
        only for `complete`.
        """
        ...


def offer_tools(model: ChatModel, tools: Sequence[Tool]) -> ChatModel | None:
    """Return the model with tools, as `ToolCallingChat.with_tools` does; None for a model without that method."""
    return model.with_tools(tools) if isinstance(model, ToolCallingChat) else None
