"""Chat models behind an OpenAI-compatible HTTP endpoint: OpenAI itself, and local servers such as vLLM or Ollama."""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from quoteweave.core.answers import Completion, Usage
from quoteweave.core.errors import EndpointBadResponse, EndpointRefused
from quoteweave.endpoints.http import Connection, one_line, openai_address

_WANTED = "chat completion"


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Body(BaseModel):
    """The part of a chat completion that is read."""

    choices: list[_Choice]
    model: str | None = None
    usage: _Usage | None = None


class OpenAIChat:
    """Meets `core.protocols.ChatModel`. Every call sends its messages, pictures included, to the endpoint.

    `base_url` and `api_key` come from the options, else from the environment (OPENAI_BASE_URL, OPENAI_API_KEY), which
    is read at each call (its key goes to its own URL or to OpenAI alone); a base URL alone is enough for a local server
    that wants no key. `timeout_s` is how many
    seconds an attempt may go without a sign of life; connection faults, 408, 409, 429 and 5xx are tried `max_retries`
    times more, with growing pauses or those that the server asks for. `temperature` and `max_tokens` are sent only
    when set.
    """

    def __init__(  # noqa: PLR0913 - one more than the limit, each a plain setting of the endpoint with a default
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout_s: float = 120,
        max_retries: int = 2,
        temperature: float | None = None,
        max_tokens: int | None = None,
    ) -> None:
        self.name = model
        self._base_url = base_url
        self._api_key = api_key
        self._timeout_s = timeout_s
        self._max_retries = max_retries
        sampling = {"temperature": temperature, "max_tokens": max_tokens}
        self._sampling = {name: value for name, value in sampling.items() if value is not None}

    async def complete(self, messages: Sequence[Mapping[str, object]]) -> Completion:
        """The model's first choice.

        Raises UsageError when neither URL nor key is set or one of them is malformed, EndpointUnreachable when the
        server does not answer or fails on its side (5xx), EndpointRefused when it turns the request down (4xx, or the
        model declines), and EndpointBadResponse when what it sends is no completion or an empty one.
        """
        address = openai_address(self.name, self._base_url, self._api_key)
        request = {"model": self.name, "messages": list(messages), **self._sampling}
        async with Connection(
            self.name, address, timeout_s=self._timeout_s, max_retries=self._max_retries
        ) as connection:
            return self._completion(await connection.post("/chat/completions", request), connection)

    def _completion(self, answer: str, connection: Connection) -> Completion:
        reply = connection.parse(answer, _Body, _WANTED)
        if not reply.choices:
            raise connection.bad_response("it holds no choices", _WANTED)
        choice = reply.choices[0]
        if choice.message.refusal and not choice.message.content:
            raise EndpointRefused(f"The model {self.name} declines to answer: {one_line(choice.message.refusal)}")
        if not (choice.message.content or "").strip():
            raise EndpointBadResponse(
                f"{connection.address.shown} sent an empty answer of the model {self.name} (finish reason: "
                f"{choice.finish_reason}). Ask again; where the reason is 'length', raise max_tokens or leave it unset."
            )
        usage = reply.usage or _Usage()
        return Completion(
            text=choice.message.content or "",
            model=reply.model or self.name,
            finish_reason=choice.finish_reason,
            usage=Usage(input_tokens=usage.prompt_tokens, output_tokens=usage.completion_tokens),
        )
