"""Chat models behind an OpenAI-compatible HTTP endpoint: OpenAI itself, and local servers such as vLLM or Ollama."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from copy import copy

from quoteweave.core.answers import Completion, CompletionDelta
from quoteweave.core.chat.tools import Tool
from quoteweave.core.errors import EndpointUnreachable
from quoteweave.endpoints.address import openai_address
from quoteweave.endpoints.chat_responses import CompletionBody, CompletionBuilder, CompletionChunk
from quoteweave.endpoints.connection import Connection, RetryPolicy

_PATH = "/chat/completions"
_WANTED = "chat completion"


class OpenAIChat:
    """Meets `core.protocols.StreamingChatModel`. Every call sends its messages, pictures included, to the endpoint.

    `base_url` and `api_key` come from the options, else from the environment (OPENAI_BASE_URL, OPENAI_API_KEY), which
    is read at each call (its key goes to its own URL or to OpenAI alone); a base URL alone is enough for a local server
    that wants no key. One with `?api-version=…` is asked as Azure wants it. `timeout_s` is how many
    seconds an attempt may wait for data (read timeout); connection faults, 408, 409, 429 and 5xx are retried up to
    `max_retries` times, with growing pauses or the server's, up to two minutes. `temperature` and `max_tokens`
    are sent only when set.

    `thinking` turns the reasoning of a model on or off where its chat template can (`chat_template_kwargs`, which vLLM,
    SGLang and llama.cpp read); None leaves it as the server has it. With True, a text before a lone `</think>` is known
    for reasoning while it is streamed, and held back. Elsewhere it goes by other names, which `extra`
    can hold: {"enable_thinking": False} for DashScope, {"reasoning_effort": "none"} for OpenAI and Ollama. `extra` is
    sent along with every request, and wins over all other settings.

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

    @property
    def settings(self) -> Mapping[str, object]:
        """The fields of each request besides model and messages, which are part of the cache key."""
        return {**self._settings, **self._extra}

    def with_tools(self, tools: Sequence[Tool]) -> "OpenAIChat":
        """The same model, which has to call one of these tools; servers that cannot do that refuse its requests."""
        offered = [{"type": "function", "function": tool.model_dump(mode="json")} for tool in tools]
        model = copy(self)
        model._extra = {**self._extra, "tools": offered, "tool_choice": "required"}
        return model

    async def complete(self, messages: Sequence[Mapping[str, object]]) -> Completion:
        """The model's first choice.

        Raises UsageError when neither URL nor key is set or one of them is malformed, EndpointUnreachable when the
        server does not answer or fails on its side (5xx), EndpointRefused when it turns the request down (4xx, or the
        model declines), and EndpointBadResponse when what it sends is no completion or an empty one.
        """
        async with self._connection() as connection:
            answer = await connection.post(_PATH, self._request(messages))
            reply = connection.parse(answer, CompletionBody, _WANTED)
            if not reply.choices:
                raise connection.bad_response("it holds no choices", _WANTED)
            gathered = CompletionBuilder(connection, thinks=self._thinks)
            gathered.whole(reply)
            gathered.end()
            return gathered.completion()

    async def stream(
        self, messages: Sequence[Mapping[str, object]]
    ) -> AsyncGenerator[CompletionDelta | Completion, None]:
        """The model's first choice as it is written: pieces, then the completion that they add up to.

        Raises what `complete` does, and EndpointUnreachable when the connection ends before the answer does; the
        message says how many characters had arrived. There is no retry then, as pieces have been delivered.
        """
        request = {"stream_options": {"include_usage": True}, **self._request(messages), "stream": True}
        async with self._connection() as connection:
            gathered = CompletionBuilder(connection, thinks=self._thinks)
            try:
                async with aclosing(connection.stream(_PATH, request, _WANTED)) as events:
                    async for event in events:
                        for piece in gathered.chunk(connection.check(event, CompletionChunk, _WANTED)):
                            yield piece
            except EndpointUnreachable as error:
                # An answer that is finished only lacks its usage.
                if not gathered.finish_reason:
                    raise _broken_off(error, gathered) from None
            if not gathered.chosen:
                raise connection.bad_response("it holds no choices", _WANTED)
            if not gathered.finish_reason:
                raise _broken_off(connection.ended(), gathered)
            for piece in gathered.end():
                yield piece
            yield gathered.completion()

    def _connection(self) -> Connection:
        address = openai_address(self.name, self._base_url, self._api_key)
        return Connection(self.name, address, self._retry_policy)

    def _request(self, messages: Sequence[Mapping[str, object]]) -> dict[str, object]:
        return {**self.settings, "model": self.name, "messages": list(messages)}


def _broken_off(error: EndpointUnreachable, gathered: CompletionBuilder) -> EndpointUnreachable:
    if not gathered.characters:
        return error
    return EndpointUnreachable(f"{error} The answer broke off after {gathered.characters} characters.")
