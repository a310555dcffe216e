"""Any chat model read as a stream, whether or not it can send one."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing

from quoteweave.core.answers import Completion, Piece
from quoteweave.core.protocols import ChatModel, StreamingChatModel


async def stream_of(
    model: ChatModel, messages: Sequence[Mapping[str, object]]
) -> AsyncGenerator[Piece | Completion, None]:
    """What the model writes, in pieces, and last the completion; all in one piece from a model that does not stream.

    To be closed like any stream (`contextlib.aclosing`), which closes the model's. Raises what the model raises.
    """
    if not isinstance(model, StreamingChatModel):
        for item in all_at_once(await model.complete(messages)):
            yield item
        return
    async with aclosing(model.stream(messages)) as items:
        async for item in items:
            yield item


def all_at_once(completion: Completion) -> tuple[Piece, Completion]:
    """The stream of a completion that is there already."""
    return Piece(text=completion.text, reasoning=completion.reasoning or ""), completion
