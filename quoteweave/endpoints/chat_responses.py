"""Parses responses of chat endpoints, complete or in chunks, into a completion."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, FailFast

from quoteweave.core.answers import Completion, CompletionDelta, ToolCall, Usage
from quoteweave.core.chat.streams import ReasoningSplitter
from quoteweave.core.errors import EndpointBadResponse, EndpointRefused
from quoteweave.endpoints.connection import Connection
from quoteweave.endpoints.endpoint_errors import one_line
from quoteweave.endpoints.redaction import StreamRedactor

MAX_CHARACTERS = 1_200_000
"""Most characters of a completion with its reasoning: some 300,000 tokens, more than models write in one call."""


def _reject_lone_surrogates(text: str) -> str:
    text.encode()  # JSON parsers accept a lone surrogate, which then fails wherever it is encoded
    return text


_Text = Annotated[str, AfterValidator(_reject_lone_surrogates)]


class _Function(BaseModel):
    name: _Text
    arguments: _Text = ""


class _ToolCall(BaseModel):
    function: _Function


class _Words(BaseModel):
    """A message, or the part of it that a chunk adds. Servers name the reasoning in one of two ways, or tag it."""

    content: _Text | None = None
    refusal: _Text | None = None
    reasoning_content: _Text | None = None
    reasoning: _Text | None = None


def _counted(tokens: int | None) -> int | None:
    return None if tokens is None or tokens < 0 else tokens  # some servers say -1 for what they did not count


_Tokens = Annotated[int | None, AfterValidator(_counted)]


class _Usage(BaseModel):
    prompt_tokens: _Tokens = None
    completion_tokens: _Tokens = None


class _Message(_Words):
    tool_calls: Annotated[list[_ToolCall], FailFast(), BeforeValidator(lambda calls: calls or [])] = []


class _Choice(BaseModel):
    message: _Message
    finish_reason: _Text | None = None


class _ChunkChoice(BaseModel):
    index: int = 0
    delta: _Words | None = None  # missing in the chunks that only report on Azure's content filter
    finish_reason: _Text | None = None


class CompletionBody(BaseModel):
    """The part of a chat completion that is read."""

    choices: Annotated[list[_Choice], FailFast()]  # millions of them may be wrong
    model: _Text | None = None
    usage: _Usage | None = None


class CompletionChunk(BaseModel):
    """The part of a chunk of a streamed completion that is read. The one with the usage has no choices."""

    choices: Annotated[list[_ChunkChoice], FailFast()]
    model: _Text | None = None
    usage: _Usage | None = None


class CompletionBuilder:
    """Builds one completion from a response or its chunks.

    Secrets of the connection's address are redacted from all text.
    """

    def __init__(self, connection: Connection, *, thinks: bool = False) -> None:
        self.finish_reason: str | None = None
        self.characters = 0
        self.chosen = False
        self._connection = connection
        self._model = connection.model
        self._usage = _Usage()
        self._splitter = ReasoningSplitter(opened=thinks)
        self._texts: list[str] = []
        self._reasonings: list[str] = []
        self._refusals: list[str] = []
        self._calls: list[_Function] = []
        self._came = 0
        self._clean = connection.redactor.clean
        self._redacted_text = StreamRedactor(connection.redactor)
        self._redacted_reasoning = StreamRedactor(connection.redactor)

    def whole(self, reply: CompletionBody) -> None:
        """Add a complete response, which has at least one choice."""
        self._note(reply)
        self._ended(reply.choices[0].finish_reason)
        self._words(reply.choices[0].message)
        self._calls = [call.function for call in reply.choices[0].message.tool_calls]
        self._count(sum(len(call.name) + len(call.arguments) for call in self._calls))

    def chunk(self, chunk: CompletionChunk) -> list[CompletionDelta]:
        """Add a chunk; return what it adds to the reasoning or the answer."""
        self._note(chunk)
        choice = next((choice for choice in chunk.choices if choice.index == 0), None)
        if choice is None:
            return []
        self.chosen = True
        self._ended(choice.finish_reason)
        return self._words(choice.delta) if choice.delta is not None else []

    def end(self) -> list[CompletionDelta]:
        """What was held back, now that no more comes."""
        last = [*self._kept(self._splitter.end())]
        return [*last, *self._noted(self._redacted_reasoning.end(), self._redacted_text.end())]

    def completion(self) -> Completion:
        """The completion. Raises EndpointRefused if the model declined, EndpointBadResponse if it is empty."""
        text = "".join(self._texts)
        if (refusal := self._clean("".join(self._refusals))) and not text:
            raise EndpointRefused(
                f"The model {self._model} declines to answer: {one_line(refusal)}", reason="content_filter"
            )
        calls = [ToolCall(name=self._clean(one.name), arguments=self._clean(one.arguments)) for one in self._calls]
        if not text.strip() and self.finish_reason == "content_filter":
            raise EndpointRefused(
                f"The content filter of {self._connection.address.shown} withheld the answer of {self._model}",
                reason="content_filter",
            )
        if not text.strip() and not calls:
            raise EndpointBadResponse(
                f"{self._connection.address.shown} sent an empty answer of the model {self._connection.model} (finish "
                f"reason: {self.finish_reason}{', after reasoning' if self._reasonings else ''}). Ask again; where the "
                "reason is 'length', raise max_tokens or leave it unset."
            )
        return Completion(
            text=text,
            tool_calls=tuple(calls),
            reasoning="".join(self._reasonings) or None,
            model=self._model,
            finish_reason=self.finish_reason,
            usage=Usage(input_tokens=self._usage.prompt_tokens, output_tokens=self._usage.completion_tokens),
        )

    def _note(self, reply: CompletionBody | CompletionChunk) -> None:
        self._model = self._clean(reply.model) if reply.model else self._model
        self._usage = reply.usage or self._usage

    def _ended(self, reason: str | None) -> None:
        self.finish_reason = self._clean(reason) if reason else self.finish_reason

    def _words(self, words: _Words) -> list[CompletionDelta]:
        self._count(
            sum(len(part or "") for part in (words.content, words.refusal, words.reasoning_content, words.reasoning))
        )
        self._refusals.append(words.refusal or "")
        named = CompletionDelta(reasoning=words.reasoning_content or words.reasoning or "")
        if named.reasoning:
            self._splitter.apart()
        return [*self._kept(named), *self._kept(self._splitter.feed(words.content or ""))]

    def _count(self, characters: int) -> None:
        self._came += characters
        if self._came > MAX_CHARACTERS:
            raise self._connection.wrong(f"more than {MAX_CHARACTERS:,} characters, which is more than is read")

    def _kept(self, piece: CompletionDelta) -> list[CompletionDelta]:
        reasoning = self._redacted_reasoning.feed(piece.reasoning)
        if piece.text:  # then the reasoning has ended
            reasoning += self._redacted_reasoning.end()
        return self._noted(reasoning, self._redacted_text.feed(piece.text))

    def _noted(self, reasoning: str, text: str) -> list[CompletionDelta]:
        if reasoning:
            self._reasonings.append(reasoning)
        if text:
            self._texts.append(text)
        self.characters += len(text) + len(reasoning)
        return [CompletionDelta(text=text, reasoning=reasoning)] if text or reasoning else []
