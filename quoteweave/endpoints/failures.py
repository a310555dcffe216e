"""What went wrong with a request, as errors fit to be shown: in the endpoint's words, without the key."""

import re
from typing import TYPE_CHECKING

from quoteweave.core.errors import EndpointError, EndpointRefused, EndpointUnreachable

if TYPE_CHECKING:
    from openai import APIConnectionError, APIError

    from quoteweave.endpoints.http import Address

_LONGEST_QUOTED_MESSAGE = 300
_ADVICE = {
    401: "check the API key",
    403: "check what the API key may use",
    404: "check the model's name and the base URL, which usually ends in /v1",
    429: "wait, ask less at once, or check the account's quota",
}
_ANY_ADVICE = "change the request accordingly"
_SHORTER = (
    "the question with its quotes is more than the model reads: send fewer or shorter quotes (in the configuration of "
    "a run, `window` cuts them and `size` chooses how many) or no pictures, or ask a model that reads more"
)
_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|window|size)|maximum (?:\w+ )?(?:length|tokens)|too (?:long|large|many tokens)"
    r"|exceed\w* .{0,40}(?:tokens|length|context)|tokens .{0,40}exceed",
    re.IGNORECASE,
)


def failure(error: "APIError", model: str, address: "Address", advice: str | None = None) -> EndpointError:
    """EndpointUnreachable when there is no answer or the server failed (5xx), EndpointRefused for what it turns down.

    `advice` is what to do when the endpoint finds fault with the request; None goes by what it says.
    """
    import openai

    if isinstance(error, openai.APIConnectionError):
        return _unreachable(error, address)
    # An error amid a stream has no status of its own; its body may hold one.
    status = error.status_code if isinstance(error, openai.APIStatusError) else _code(error.body)
    said = _own_message(error, address)
    message = f"{address.shown} answered {status} for the model {model}: {said}"
    if status >= 500:
        return EndpointUnreachable(f"{message} — the server failed; try again later, or look into its log.")
    if address.withheld and status in (401, 403):
        return EndpointRefused(f"{message} — {address.withheld}.", status=status)
    general = _SHORTER if status == 413 or _TOO_LONG.search(said) else _ANY_ADVICE
    return EndpointRefused(f"{message} — {_ADVICE.get(status, advice or general)}.", status=status)


def one_line(text: str) -> str:
    """The text on one line, cut to what a message can hold."""
    line = " ".join(text.encode("utf-8", "replace").decode().split())  # halves of characters cannot be written
    return line if len(line) <= _LONGEST_QUOTED_MESSAGE else f"{line[:_LONGEST_QUOTED_MESSAGE]}…"


def _unreachable(error: "APIConnectionError", address: "Address") -> EndpointUnreachable:
    cause = _hidden(str(error.__cause__ or ""), address)
    reason = f"{error.message.rstrip('.')}{f' ({one_line(cause)})' if cause else ''}"
    return EndpointUnreachable(
        f"No answer from {address.shown}: {reason}. Check that the server runs, and the address and port."
    )


def _own_message(error: "APIError", address: "Address") -> str:
    body = error.body
    if isinstance(body, dict):
        body = body.get("message") or body.get("detail") or body
    text = str(body or "no reason given")
    if text.lstrip().startswith("<"):  # the page of a proxy in between
        text = re.sub(r"<[^<>]*>", " ", text)
    return one_line(_hidden(text, address)).rstrip(".")


def _hidden(text: str, address: "Address") -> str:
    # What is shorter is a placeholder such as "none" or "x", and an ordinary word of the message besides.
    return text.replace(address.key, "…") if len(address.key) >= 8 else text


def _code(body: object) -> int:
    """The status that an error amid a stream tells of itself; 500 where it tells none."""
    code = str(body.get("code")) if isinstance(body, dict) else ""
    return int(code) if code.isascii() and code.isdigit() and 400 <= int(code) < 600 else 500
