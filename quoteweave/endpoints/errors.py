"""Convert failures of requests into errors for users: with the endpoint's message, without its secrets."""

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from quoteweave.core.errors import EndpointError, EndpointRefused, EndpointUnreachable, RefusalReason
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.messages import replace_lone_surrogates
from quoteweave.endpoints.redaction import Redactor

if TYPE_CHECKING:
    from openai import APIConnectionError, APIError, APIStatusError

    from quoteweave.endpoints.address import EndpointAddress


_MAX_QUOTED_MESSAGE = 300
_ADVICE = {
    401: "check the API key",
    403: "check what the API key may use",
    404: "check the model's name and the base URL, which usually ends in /v1",
    429: "wait, ask less at once, or check the account's quota",
}
_ANY_ADVICE = "change the request accordingly"
_WINDOW_ADVICE = (
    "the question with its quotes is more than the model reads: send fewer or shorter quotes (in the configuration of "
    "a run, `window` cuts them and `size` chooses how many) or no pictures, or ask a model that reads more"
)
_FILTERED = lazy_regex(r"content[ _-]?(?:filter|polic|management)|content_policy|responsible ?ai", re.IGNORECASE)
_TOO_LONG = lazy_regex(
    r"context[ _-]?(?:length|window|size)|maximum (?:\w+ )?(?:length|tokens)|too (?:long|large|many tokens)"
    r"|exceed\w* .{0,40}(?:tokens|length|context)|tokens .{0,40}exceed",
    re.IGNORECASE,
)


class _Failed(BaseModel):
    error: str | dict[str, object]


def endpoint_error(
    error: "APIError", model: str, address: "EndpointAddress", redactor: "Redactor", advice: str | None = None
) -> EndpointError:
    """Convert an SDK error: EndpointUnreachable for no response or a 5xx status, EndpointRefused for other statuses.

    `advice` is what to do about a refused request; None chooses it by the endpoint's message. Secrets are redacted
    from that message.
    """
    import openai

    if isinstance(error, openai.APIConnectionError):
        return _unreachable(error, address, redactor)
    # An error in the middle of a stream has no HTTP status; its body may hold one.
    status = error.status_code if isinstance(error, openai.APIStatusError) else _status_in_body(error.body)
    if isinstance(error, openai.APIStatusError) and 300 <= status < 400:
        return _redirected(error, model, address, redactor)
    detail = one_line(_clean_message(error.body, redactor)).rstrip(".")
    message = f"{address.shown} answered {status} for the model {model}: {detail}"
    if status >= 500:
        return EndpointUnreachable(message, remedy="the server failed: try again later, or look into its log")
    if address.withheld and status in (401, 403):
        return EndpointRefused(message, remedy=address.withheld, status=status)
    reason = _reason(status, detail)
    if reason == "window" and advice is None:  # in the message, as users need it, and servers hide remedies
        return EndpointRefused(f"{message}; {_WINDOW_ADVICE}", status=status, reason=reason)
    remedy = _ADVICE.get(status, advice or _ANY_ADVICE)
    return EndpointRefused(message, remedy=remedy, status=status, reason=reason)


def _reason(status: int, detail: str) -> RefusalReason | None:
    if status in _ADVICE:
        return None
    if status == 413 or _TOO_LONG.search(detail):
        return "window"
    return "content_filter" if _FILTERED.search(detail) else None


def error_in_body(answer: bytes, redactor: Redactor) -> str:
    """The error message in a response body, which some servers send with status 200; empty if there is none."""
    try:
        return _clean_message(_Failed.model_validate_json(answer).error, redactor)
    except ValidationError:
        return ""


def one_line(text: str) -> str:
    """Put a text on one line, cut to the length allowed in messages."""
    line = " ".join(replace_lone_surrogates(text).split())
    return line if len(line) <= _MAX_QUOTED_MESSAGE else f"{line[:_MAX_QUOTED_MESSAGE]}…"


def _redirected(
    error: "APIStatusError", model: str, address: "EndpointAddress", redactor: "Redactor"
) -> EndpointRefused:
    """The error for a redirect that was not followed, as it leads to another host or changes the request."""
    from httpx2 import InvalidURL

    status, location = error.status_code, error.response.headers.get("location", "")
    message = f"{address.shown} answered {status} for the model {model}"
    try:
        target = urlsplit(str(error.response.url.join(location))) if location else None
    except (ValueError, InvalidURL):
        target = None
    if target is None or not target.hostname:
        summary = f"{message}, a redirect to no valid address"
        return EndpointRefused(summary, remedy="check the base URL", status=status)
    # The query is left out, as it may hold secrets, and so is the end of the path, which is no part of the base URL.
    path = re.sub(r"/(chat/completions|embeddings|rerank)/?$", "", target.path)
    base = target._replace(netloc=target.netloc.rpartition("@")[2], path=path, query="", fragment="").geturl()
    shown = one_line(redactor.clean(base))
    return EndpointRefused(
        f"{message}, a redirect to {shown}, which was not followed",
        remedy="if that address is to be asked, set the base URL to it; else check the base URL",
        status=status,
    )


def _unreachable(error: "APIConnectionError", address: "EndpointAddress", redactor: "Redactor") -> EndpointUnreachable:
    cause = redactor.clean(str(error.__cause__ or ""))
    reason = f"{error.message.rstrip('.')}{f' ({one_line(cause)})' if cause else ''}"
    return EndpointUnreachable(
        f"No answer from {address.shown}: {reason}", remedy="check that the server runs, and the address and port"
    )


def _clean_message(body: object, redactor: Redactor) -> str:
    if isinstance(body, dict):
        body = body.get("message") or body.get("detail") or body
    try:
        text = str(body or "no reason given")
    except RecursionError:
        text = "something nested too deeply"
    text = redactor.clean(text)  # before removing tags, as a secret may have something like a tag in it
    if text.lstrip().startswith("<"):  # the HTML page of a proxy
        text = re.sub(r"<[^<>]*>", " ", text)
    # Redact again, as removing tags and line breaks may have joined the parts of a secret.
    return redactor.clean(" ".join(text.split()))


def _status_in_body(body: object) -> int:
    """The status code that an error in the middle of a stream carries; 500 if it has none."""
    code = str(body.get("code")) if isinstance(body, dict) else ""
    return int(code) if code.isascii() and code.isdigit() and 400 <= int(code) < 600 else 500
