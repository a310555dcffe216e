"""Streams of chat models: reads any model as a stream, and separates reasoning from the answer."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Literal

from quoteweave.core.chat.completions import ChatMessage, Completion, CompletionDelta
from quoteweave.core.protocols import ChatModel, StreamingChatModel


async def stream_completion(
    model: ChatModel, messages: Sequence[ChatMessage]
) -> AsyncGenerator[CompletionDelta | Completion, None]:
    """Stream the model's output, and last the completion; a model without streaming gives a single piece.

    Close it like any stream (`contextlib.aclosing`), which closes the model's stream. Raises what the model raises.
    """
    if not isinstance(model, StreamingChatModel):
        for item in as_stream(await model.complete(messages)):
            yield item
        return
    async with aclosing(model.stream(messages)) as items:
        async for item in items:
            yield item


def as_stream(completion: Completion) -> tuple[CompletionDelta, Completion]:
    """The items of a stream for a completion that already exists."""
    return CompletionDelta(text=completion.text, reasoning=completion.reasoning or ""), completion


_OPEN, _CLOSE = "<think>", "</think>"
_MAX_SPACE = 1000
"""Most white space before `<think>` that is held back; all that is held back is searched again with every chunk."""


class ReasoningSplitter:
    """Splits a streamed text, in chunks split anywhere, into reasoning and answer.

    Reasoning is the text between `<think>`, at the beginning, and the next `</think>` or the end. White space before
    `<think>` and after `</think>` belongs to neither. A possible part of a tag is held back until this is certain.

    Where a chat template writes the opening tag, a model only closes it. With `opened`, all text is held back until the
    closing tag and is then reasoning; if the tag never comes, all of it is answer.
    """

    def __init__(self, *, opened: bool = False) -> None:
        self._stage: Literal["opened", "before", "thought", "gap", "answer"] = "opened" if opened else "before"
        self._held = ""
        self._opened: list[str] = []  # held back in parts, as it may be long

    def feed(self, part: str) -> CompletionDelta:
        """Add a chunk; return what is certain now, which may be nothing."""
        self._held += part
        if self._stage == "opened":
            if _CLOSE not in self._held:
                split_at = 1 - len(_CLOSE)
                self._opened.append(self._held[:split_at])
                self._held = self._held[split_at:]
                return CompletionDelta()
            self._join_opened()
            self._stage, self._held = "thought", self._held.lstrip().removeprefix(_OPEN)
        if self._stage == "before":
            self._find_opening_tag()
        reasoning = self._take_reasoning() if self._stage == "thought" else ""
        if self._stage == "gap":
            self._held = self._held.lstrip()
            self._stage = "answer" if self._held else "gap"
        if self._stage != "answer":
            return CompletionDelta(reasoning=reasoning)
        answer, self._held = self._held, ""
        return CompletionDelta(text=answer, reasoning=reasoning)

    def end(self) -> CompletionDelta:
        """End the text; return what was held back."""
        self.treat_as_answer()
        last = self.feed("")
        remaining, self._held = self._held, ""
        if self._stage == "thought":
            return CompletionDelta(text=last.text, reasoning=last.reasoning + remaining)
        return CompletionDelta(text=last.text + remaining, reasoning=last.reasoning)

    def treat_as_answer(self) -> None:
        """Treat all text as answer: the reasoning arrives in a separate field, or its closing tag never came."""
        if self._stage == "opened":
            self._stage = "before"
            self._join_opened()

    def _join_opened(self) -> None:
        self._held, self._opened = "".join([*self._opened, self._held]), []

    def _find_opening_tag(self) -> None:
        start = self._held.lstrip()
        if start.startswith(_OPEN):
            self._stage, self._held = "thought", start.removeprefix(_OPEN)
        elif not _OPEN.startswith(start) or len(self._held) > _MAX_SPACE:
            self._stage = "answer"

    def _take_reasoning(self) -> str:
        thought, closing, following = self._held.partition(_CLOSE)
        if closing:
            self._stage, self._held = "gap", following
            return thought
        held_length = next((n for n in range(len(_CLOSE) - 1, 0, -1) if thought.endswith(_CLOSE[:n])), 0)
        self._held = thought[len(thought) - held_length :]
        return thought[: len(thought) - held_length]
