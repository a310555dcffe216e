"""Chat models behind an OpenAI-compatible HTTP endpoint: OpenAI itself, and local servers such as vLLM or Ollama."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from quoteweave.core.answers import Completion, Usage
from quoteweave.core.errors import (
    EndpointBadResponse,
    EndpointError,
    EndpointRefused,
    EndpointUnreachable,
    UsageError,
)

if TYPE_CHECKING:
    from openai import APIConnectionError, APIStatusError, AsyncOpenAI

OPENAI_URL = "https://api.openai.com/v1"
_LONGEST_QUOTED_MESSAGE = 300


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
    is read at each call; a base URL alone is enough for a local server that wants no key. `timeout_s` is how many
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
        self._sampling: dict[str, Any] = {name: value for name, value in sampling.items() if value is not None}

    async def complete(self, messages: Sequence[Mapping[str, object]]) -> Completion:
        """The model's first choice.

        Raises UsageError when neither URL nor key is set or one of them is malformed, EndpointUnreachable when the
        server does not answer or fails on its side (5xx), EndpointRefused when it turns the request down (4xx, or the
        model declines), and EndpointBadResponse when what it sends is no completion or an empty one.
        """
        import openai

        url, key = self._address()
        try:
            # A client for each call: its connections belong to the event loop that runs now, and end with it.
            async with self._client(url, key) as client:
                create: Any = client.chat.completions.with_raw_response.create
                response = await create(model=self.name, messages=list(messages), **self._sampling)
                return self._completion(response.text, url)
        except openai.APIConnectionError as error:
            raise EndpointUnreachable(_unreachable(error, url, key)) from None
        except openai.APIStatusError as error:
            raise self._turned_down(error, url, key) from None

    def _client(self, url: str, key: str) -> "AsyncOpenAI":
        from openai import AsyncOpenAI

        return AsyncOpenAI(base_url=url, api_key=key, timeout=self._timeout_s, max_retries=self._max_retries)

    def _address(self) -> tuple[str, str]:
        url = (self._base_url or os.environ.get("OPENAI_BASE_URL") or "").strip()
        key = (self._api_key or os.environ.get("OPENAI_API_KEY") or "").strip()
        if not url and not key:
            raise UsageError(
                f"No endpoint for the model {self.name}: set OPENAI_BASE_URL (or base_url) to the address of a local "
                "server, such as http://localhost:8000/v1, or OPENAI_API_KEY (or api_key) to a key of OpenAI."
            )
        if url and not _is_http(url):
            raise UsageError(f"{url.rpartition('@')[2]} is no base URL; it must look like http://localhost:8000/v1.")
        # A header cannot carry other characters, and the complaint of the HTTP library would quote the key.
        if not (key.isascii() and key.isprintable()):
            raise UsageError("The API key contains a line break or a character outside ASCII; copy it again.")
        return url or OPENAI_URL, key or "none"

    def _completion(self, body: str, url: str) -> Completion:
        try:
            reply = _Body.model_validate_json(body)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "body"
            raise self._bad_response(f"{place}: {first['msg']}", url) from None
        if not reply.choices:
            raise self._bad_response("it holds no choices", url)
        choice = reply.choices[0]
        if choice.message.refusal and not choice.message.content:
            raise EndpointRefused(f"The model {self.name} declines to answer: {_short(choice.message.refusal)}")
        if not (choice.message.content or "").strip():
            raise EndpointBadResponse(
                f"{_shown(url)} sent an empty answer of the model {self.name} (finish reason: {choice.finish_reason}). "
                "Ask again; where the reason is 'length', raise max_tokens or leave it unset."
            )
        usage = reply.usage or _Usage()
        return Completion(
            text=choice.message.content or "",
            model=reply.model or self.name,
            finish_reason=choice.finish_reason,
            usage=Usage(input_tokens=usage.prompt_tokens, output_tokens=usage.completion_tokens),
        )

    def _bad_response(self, problem: str, url: str) -> EndpointBadResponse:
        return EndpointBadResponse(
            f"{_shown(url)} answered for the model {self.name} with something that is no chat completion: {problem}. "
            "Check that the URL is that of an OpenAI-compatible API; it usually ends in /v1."
        )

    def _turned_down(self, error: "APIStatusError", url: str, key: str) -> EndpointError:
        status = error.status_code
        message = f"{_shown(url)} answered {status} for the model {self.name}: {_own_message(error, key)}"
        if status >= 500:
            return EndpointUnreachable(f"{message} — the server failed; try again later, or look into its log.")
        return EndpointRefused(f"{message} — {_ADVICE.get(status, 'change the request accordingly')}.")


_ADVICE = {
    401: "check the API key",
    403: "check what the API key may use",
    404: "check the model's name and the base URL, which usually ends in /v1",
    429: "wait, ask less at once, or check the account's quota",
}


def _unreachable(error: "APIConnectionError", url: str, key: str) -> str:
    cause = _hidden(str(error.__cause__ or ""), key)
    reason = f"{error.message.rstrip('.')}{f' ({_short(cause)})' if cause else ''}"
    return f"No answer from {_shown(url)}: {reason}. Check that the server runs, and the address and port."


def _own_message(error: "APIStatusError", key: str) -> str:
    body = error.body
    if isinstance(body, dict):
        body = body.get("message") or body.get("detail") or body
    return _short(_hidden(str(body or "no reason given"), key))


def _hidden(text: str, key: str) -> str:
    # What is shorter is a placeholder such as "none" or "x", and an ordinary word of the message besides.
    return text.replace(key, "…") if len(key) >= 8 else text


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_QUOTED_MESSAGE else f"{line[:_LONGEST_QUOTED_MESSAGE]}…"


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, or a bracket left open
        return False


def _shown(url: str) -> str:
    """The URL without user name, password and query, which may be secrets."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
