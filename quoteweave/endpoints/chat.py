"""Chat models behind an OpenAI-compatible HTTP endpoint: OpenAI itself, and local servers such as vLLM or Ollama."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from copy import copy
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, FailFast

from quoteweave.core.answers import Usage
from quoteweave.core.chat.completions import ChatMessage, Completion, CompletionDelta, ToolCall
from quoteweave.core.chat.streams import ReasoningSplitter
from quoteweave.core.chat.tools import Tool
from quoteweave.core.errors import EndpointBadResponse, EndpointRefused, EndpointUnreachable
from quoteweave.endpoints.address import openai_address
from quoteweave.endpoints.connection import Connection, RetryPolicy
from quoteweave.endpoints.errors import one_line
from quoteweave.endpoints.redaction import StreamRedactor

MAX_CHARACTERS = 1_200_000
"""Characters of a completion with its reasoning, at most: some 300,000 tokens, more than models write in one call."""


def _reject_lone_surrogates(text: str) -> str:
    text.encode()  # raises for lone surrogates, which JSON parsers accept but which cannot be encoded later
    return text


_Text = Annotated[str, AfterValidator(_reject_lone_surrogates)]


class _Function(BaseModel):
    name: _Text
    arguments: _Text = ""


class _ToolCall(BaseModel):
    function: _Function


class _Words(BaseModel):
    """A message, or the part of it that a chunk adds. Servers give reasoning in one of two fields, or in tags."""

    content: _Text | None = None
    refusal: _Text | None = None
    reasoning_content: _Text | None = None
    reasoning: _Text | None = None


def _counted(tokens: int | None) -> int | None:
    return None if tokens is None or tokens < 0 else tokens  # some servers send -1 for tokens that they did not count


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
    delta: _Words | None = None  # missing in chunks that only report on Azure's content filter
    finish_reason: _Text | None = None


class CompletionBody(BaseModel):
    """The part of a chat completion that is read."""

    choices: Annotated[list[_Choice], FailFast()]  # stop at the first fault, as there may be millions
    model: _Text | None = None
    usage: _Usage | None = None


class CompletionChunk(BaseModel):
    """The part of a chunk of a streamed completion that is read. The chunk with the usage has no choices."""

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
        """Number of characters of text and reasoning that were returned."""
        self.has_choice = False
        """Whether any chunk belonged to the first choice."""
        self._connection = connection
        self._model = connection.model
        self._usage = _Usage()
        self._splitter = ReasoningSplitter(opened=thinks)
        self._texts: list[str] = []
        self._reasonings: list[str] = []
        self._refusals: list[str] = []
        self._calls: list[_Function] = []
        self._received = 0  # number of characters, including refusals and calls
        self._clean = connection.redactor.clean
        self._redacted_text = StreamRedactor(connection.redactor)
        self._redacted_reasoning = StreamRedactor(connection.redactor)

    def add_response(self, reply: CompletionBody) -> None:
        """Add a complete response, which has at least one choice."""
        self._take_model_and_usage(reply)
        self._take_finish_reason(reply.choices[0].finish_reason)
        self._add_message(reply.choices[0].message)
        self._calls = [call.function for call in reply.choices[0].message.tool_calls]
        self._check_length(sum(len(call.name) + len(call.arguments) for call in self._calls))

    def add_chunk(self, chunk: CompletionChunk) -> list[CompletionDelta]:
        """Add a chunk; return what it adds to the reasoning or the answer."""
        self._take_model_and_usage(chunk)
        choice = next((choice for choice in chunk.choices if choice.index == 0), None)
        if choice is None:
            return []
        self.has_choice = True
        self._take_finish_reason(choice.finish_reason)
        return self._add_message(choice.delta) if choice.delta is not None else []

    def end(self) -> list[CompletionDelta]:
        """Return the text that was held back, as no more comes."""
        last = [*self._redacted(self._splitter.end())]
        return [*last, *self._added(self._redacted_reasoning.end(), self._redacted_text.end())]

    def completion(self) -> Completion:
        """The completion. Raises EndpointRefused if the model declined, EndpointBadResponse if it is empty."""
        text = "".join(self._texts)
        calls = [ToolCall(name=self._clean(call.name), arguments=self._clean(call.arguments)) for call in self._calls]
        self._check_answered(text, calls)
        return Completion(
            text=text,
            tool_calls=tuple(calls),
            reasoning="".join(self._reasonings) or None,
            model=self._model,
            finish_reason=self.finish_reason,
            usage=Usage(input_tokens=self._usage.prompt_tokens, output_tokens=self._usage.completion_tokens),
        )

    def _check_answered(self, text: str, calls: Sequence[ToolCall]) -> None:
        """Raise what `completion` raises."""
        if (refusal := self._clean("".join(self._refusals))) and not text:
            raise EndpointRefused(
                f"The model {self._model} declines to answer: {one_line(refusal)}", reason="content_filter"
            )
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

    def _take_model_and_usage(self, reply: CompletionBody | CompletionChunk) -> None:
        self._model = self._clean(reply.model) if reply.model else self._model
        self._usage = reply.usage or self._usage

    def _take_finish_reason(self, reason: str | None) -> None:
        self.finish_reason = self._clean(reason) if reason else self.finish_reason

    def _add_message(self, words: _Words) -> list[CompletionDelta]:
        self._check_length(
            sum(len(part or "") for part in (words.content, words.refusal, words.reasoning_content, words.reasoning))
        )
        self._refusals.append(words.refusal or "")
        named = CompletionDelta(reasoning=words.reasoning_content or words.reasoning or "")
        if named.reasoning:
            self._splitter.treat_as_answer()
        return [*self._redacted(named), *self._redacted(self._splitter.feed(words.content or ""))]

    def _check_length(self, characters: int) -> None:
        """Count further characters. Raises EndpointBadResponse if there are too many."""
        self._received += characters
        if self._received > MAX_CHARACTERS:
            raise self._connection.bad_content(f"more than {MAX_CHARACTERS:,} characters, which is more than is read")

    def _redacted(self, piece: CompletionDelta) -> list[CompletionDelta]:
        """Add a piece with secrets redacted; return the text that is certain to hold none."""
        reasoning = self._redacted_reasoning.feed(piece.reasoning)
        if piece.text:  # then the reasoning has ended
            reasoning += self._redacted_reasoning.end()
        return self._added(reasoning, self._redacted_text.feed(piece.text))

    def _added(self, reasoning: str, text: str) -> list[CompletionDelta]:
        """Add redacted text; return it as a piece, or nothing for none."""
        if reasoning:
            self._reasonings.append(reasoning)
        if text:
            self._texts.append(text)
        self.characters += len(text) + len(reasoning)
        return [CompletionDelta(text=text, reasoning=reasoning)] if text or reasoning else []


_PATH = "/chat/completions"
_WANTED = "chat completion"


class OpenAIChat:
    """A chat model at an OpenAI-compatible endpoint; implements `core.protocols.StreamingChatModel`.

    Every call sends its messages, pictures included, to the endpoint.

    `base_url` and `api_key` come from the options, else from the environment (OPENAI_BASE_URL, OPENAI_API_KEY), which
    is read at each call; the environment's key is only sent to the environment's URL or to OpenAI. A base URL alone is
    enough for a local server that needs no key. A URL with `?api-version=…` is treated as Azure's. `timeout_s` is how
    many seconds an attempt may wait for data (read timeout). Connection errors, 408, 409, 429 and 5xx are retried up to
    `max_retries` times, with growing pauses or those that the server asks for, up to two minutes. `temperature` and
    `max_tokens` are sent only when set.

    `thinking` turns a model's reasoning on or off if its chat template supports this (`chat_template_kwargs`, which
    vLLM, SGLang and llama.cpp read); None leaves it to the server. With True, text before a lone `</think>` is treated
    as reasoning while it is streamed, and held back. Other servers use other fields, which `extra` can set:
    {"enable_thinking": False} for DashScope, {"reasoning_effort": "none"} for OpenAI and Ollama. `extra` is sent with
    every request and overrides all other settings.

    >>> model = OpenAIChat("qwen3-8b", base_url="http://127.0.0.1:8000/v1")  # nothing is sent yet
    >>> model.name
    'qwen3-8b'
    """

    def __init__(  # noqa: PLR0913 - each a plain setting of the endpoint with a default
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout_s: float = 120,
        max_retries: int = 2,
        call_limit_s: float | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        thinking: bool | None = None,
        extra: Mapping[str, object] | None = None,
    ) -> None:
        self.name = model
        self._base_url = base_url
        self._api_key = api_key
        self._retry_policy = RetryPolicy(timeout_s, max_retries, call_limit_s)
        self._thinks = thinking is True
        template = None if thinking is None else {"enable_thinking": thinking}
        settings = {"temperature": temperature, "max_tokens": max_tokens, "chat_template_kwargs": template}
        self._settings = {name: value for name, value in settings.items() if value is not None}
        self._extra = dict(extra or {})

    def request_settings(self) -> Mapping[str, object]:
        """Return the fields of each request besides model and messages."""
        return {**self._settings, **self._extra}

    def with_tools(self, tools: Sequence[Tool]) -> "OpenAIChat":
        """The same model, which has to call one of these tools; servers that do not support this refuse requests."""
        offered = [{"type": "function", "function": tool.model_dump(mode="json")} for tool in tools]
        model = copy(self)
        model._extra = {**self._extra, "tools": offered, "tool_choice": "required"}
        return model

    async def complete(self, messages: Sequence[ChatMessage]) -> Completion:
        """Return the model's first choice.

        Raises UsageError when neither URL nor key is set or one of them is malformed, EndpointUnreachable when the
        server does not answer or fails on its side (5xx), EndpointRefused when it turns the request down (4xx, or the
        model declines), and EndpointBadResponse when what it sends is no completion or an empty one.
        """
        async with self._connection() as connection:
            answer = await connection.post(_PATH, self._request(messages))
            reply = connection.parse(answer, CompletionBody, _WANTED)
            if not reply.choices:
                raise connection.bad_response("it holds no choices", _WANTED)
            builder = CompletionBuilder(connection, thinks=self._thinks)
            builder.add_response(reply)
            builder.end()
            return builder.completion()

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[CompletionDelta | Completion, None]:
        """Yield the model's first choice as it is written: pieces, then the completion that they add up to.

        Raises what `complete` raises, and EndpointUnreachable when the connection ends before the answer does; the
        message says how many characters had arrived. There is no retry then, as pieces have been delivered.
        """
        request = {"stream_options": {"include_usage": True}, **self._request(messages), "stream": True}
        async with self._connection() as connection:
            builder = CompletionBuilder(connection, thinks=self._thinks)
            try:
                async with aclosing(connection.stream(_PATH, request, _WANTED)) as events:
                    async for event in events:
                        for piece in builder.add_chunk(connection.check(event, CompletionChunk, _WANTED)):
                            yield piece
            except EndpointUnreachable as error:
                # After the finish reason, an answer is complete and only lacks its usage.
                if not builder.finish_reason:
                    raise _broken_off(error, builder) from None
            if not builder.has_choice:
                raise connection.bad_response("it holds no choices", _WANTED)
            if not builder.finish_reason:
                raise _broken_off(connection.ended_early(), builder)
            for piece in builder.end():
                yield piece
            yield builder.completion()

    def _connection(self) -> Connection:
        address = openai_address(self.name, self._base_url, self._api_key)
        return Connection(self.name, address, self._retry_policy)

    def _request(self, messages: Sequence[ChatMessage]) -> dict[str, object]:
        return {**self.request_settings(), "model": self.name, "messages": list(messages)}


def _broken_off(error: EndpointUnreachable, builder: CompletionBuilder) -> EndpointUnreachable:
    if not builder.characters:
        return error
    summary = f"{error.summary}; the answer broke off after {builder.characters} characters"
    return EndpointUnreachable(summary, remedy=error.remedy)
