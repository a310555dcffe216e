"""Convert failures of requests into errors for users: with the endpoint's message, without its secrets."""

import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from json import dumps
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from pydantic import BaseModel, ValidationError

from quoteweave.core.errors import EndpointError, EndpointRefused, EndpointUnreachable, RefusalReason
from quoteweave.core.urls import SECRET_FIELD

if TYPE_CHECKING:
    from openai import APIConnectionError, APIError, APIStatusError

    from quoteweave.endpoints.address import EndpointAddress


REDACTED = "[redacted]"
# Characters. What is shorter is a placeholder such as "none" or "ollama", or a word too common to be redacted.
_SHORTEST_KEY, _SHORTEST_PASSWORD = 8, 6
_SHORTEST_CODE = 4
_BYTES = [bytes([17 * number]) for number in range(16)]


class Redactor:
    """Replaces secrets, in plain, percent-encoded or base64 form, by `[redacted]`."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret)}
        longest_first = sorted(forms, key=lambda form: len(form.text), reverse=True)
        self._pattern = re.compile("|".join(form.pattern for form in longest_first)) if forms else None
        self._beginnings = frozenset(beginning for form in forms for beginning in form.beginnings())
        self._longest = max(map(len, self._beginnings), default=0)

    def clean(self, text: str) -> str:
        """The text without any of the secrets."""
        return text if self._pattern is None else self._pattern.sub(REDACTED, text)

    def settled(self, text: str) -> int:
        """The number of characters at the text's beginning that are cleaned alike whatever follows the text."""
        if self._pattern is None:
            return len(text)
        ends = range(min(self._longest, len(text)), 0, -1)
        settled = len(text) - next((n for n in ends if text[-n:] in self._beginnings), 0)
        for found in self._pattern.finditer(text):
            if found.end() > settled or found.end() == len(text):
                return min(settled, found.start())
        return settled


class StreamRedactor:
    """Redacts a streamed text, in chunks split anywhere.

    What may belong to a secret is held back until it is known.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor, self._held = redactor, ""

    def feed(self, part: str) -> str:
        """Add a chunk; return what is settled now, which may be nothing."""
        text = self._held + part
        settled = self._redactor.settled(text)
        self._held = text[settled:]
        return self._redactor.clean(text[:settled])

    def end(self) -> str:
        """Return what was held back, as no more text comes."""
        held, self._held = self._held, ""
        return self._redactor.clean(held)


def endpoint_redactor(url: str, key: str, others: Iterable[str] = ()) -> Redactor:
    """Make a redactor of the key, the URL's credentials, and the query's fields named like a key or a token.

    `others` are further secrets that are sent along, such as headers of the environment.
    """
    keys = [key, *others, *(value for name, value in parse_qsl(urlsplit(url).query) if SECRET_FIELD.search(name))]
    return _redactor((*(key for key in keys if len(key) >= _SHORTEST_KEY), *_credentials(url)))


@lru_cache(maxsize=16)
def _redactor(secrets: tuple[str, ...]) -> Redactor:
    return Redactor(secrets)  # which takes longer to make than a message takes to clean, and each call needs one


def _credentials(url: str) -> list[str]:
    """The secrets before the host in a URL: the password, or a token in its place; and user and password together."""
    sent = urlsplit(url).netloc.rpartition("@")[0]
    if not sent:
        return []
    user, colon, password = map(unquote, sent.partition(":"))
    secret = password if colon else user
    # What a header of basic authentication holds, too long to be met by chance even where the password is short.
    together = f"{user}:{password}"
    return [
        text for text, shortest in ((together, _SHORTEST_CODE), (secret, _SHORTEST_PASSWORD)) if len(text) >= shortest
    ]


@dataclass(frozen=True, slots=True)
class _Form:
    """A secret as it may stand in a text."""

    text: str
    before: str = ""
    """In base64, characters one of which stands before it and holds its first bits beside those of other text."""
    after: str = ""
    """The same of its last bits. Where no other text follows, padding does."""

    @property
    def pattern(self) -> str:
        """A regular expression for it."""
        before = f"[{re.escape(self.before)}]?" if self.before else ""
        after = f"(?:[{re.escape(self.after)}]={{0,2}})?" if self.after else ""
        return f"{before}{re.escape(self.text)}{after}"

    def beginnings(self) -> Iterator[str]:
        """How it begins where it is not whole."""
        for before in ("", *self.before):
            yield from (before + self.text[:n] for n in range(not before, len(self.text)))


def _forms(secret: str) -> Iterator[_Form]:
    """The forms of a secret in a text: plain, escaped for URLs, JSON and HTML, and in base64."""
    percent = quote(secret, safe="")
    plain = (secret, percent, re.sub(r"%..", lambda found: found.group().lower(), percent), quote(secret))
    escaped = (dumps(secret)[1:-1], dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1], escape(secret))
    twice = (dumps(text)[1:-1] for text in escaped[:2])  # JSON within JSON, as in the arguments of tools
    yield from map(_Form, (*plain, *escaped, *twice))
    data = secret.encode("utf-8", "replace")
    for shift in range(3):  # base64 writes three bytes at a time, and other text may stand before the secret
        # Characters that hold bits of the secret alone.
        first, last = -(-shift * 8 // 6), (shift + len(data)) * 8 // 6
        if last - first < _SHORTEST_CODE:
            continue
        for code in (b64encode, urlsafe_b64encode):
            # Beside other bytes, which take all values in the four bits that may share a character with the secret.
            coded = [code(byte * shift + data + byte * 3).decode() for byte in _BYTES]
            before = {text[first - 1] for text in coded} if shift else ()
            after = {text[last] for text in coded} if (shift + len(data)) * 8 % 6 else ()
            yield _Form(coded[0][first:last], "".join(sorted(before)), "".join(sorted(after)))


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
_FILTERED = re.compile(r"content[ _-]?(?:filter|polic|management)|content_policy|responsible ?ai", re.IGNORECASE)
_TOO_LONG = re.compile(
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
    # An error amid a stream has no status of its own; its body may hold one.
    status = error.status_code if isinstance(error, openai.APIStatusError) else _code(error.body)
    if isinstance(error, openai.APIStatusError) and 300 <= status < 400:
        return _redirected(error, model, address, redactor)
    detail = one_line(_own_message(error.body, redactor)).rstrip(".")
    message = f"{address.shown} answered {status} for the model {model}: {detail}"
    if status >= 500:
        return EndpointUnreachable(message, remedy="the server failed: try again later, or look into its log")
    if address.withheld and status in (401, 403):
        return EndpointRefused(message, remedy=address.withheld, status=status)
    reason = _reason(status, detail)
    if reason == "window" and advice is None:  # whoever asks can mend it, and a server keeps remedies to itself
        return EndpointRefused(f"{message}; {_SHORTER}", status=status, reason=reason)
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
        return _own_message(_Failed.model_validate_json(answer).error, redactor)
    except ValidationError:
        return ""


def one_line(text: str) -> str:
    """Put a text on one line, cut to the length allowed in messages."""
    line = " ".join(text.encode("utf-8", "replace").decode().split())  # halves of characters cannot be written
    return line if len(line) <= _LONGEST_QUOTED_MESSAGE else f"{line[:_LONGEST_QUOTED_MESSAGE]}…"


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
    # A query may hold secrets, and a path ends in what was asked for.
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


def _own_message(body: object, redactor: Redactor) -> str:
    if isinstance(body, dict):
        body = body.get("message") or body.get("detail") or body
    try:
        text = str(body or "no reason given")
    except RecursionError:
        text = "something nested too deeply"
    text = redactor.clean(text)  # first, as what looks like a tag may be within a secret
    if text.lstrip().startswith("<"):  # the page of a proxy in between
        text = re.sub(r"<[^<>]*>", " ", text)
    # Again, as words of a secret may stand next to each other without the tags or line breaks between them.
    return redactor.clean(" ".join(text.split()))


def _code(body: object) -> int:
    """The status code that an error in the middle of a stream carries; 500 if it has none."""
    code = str(body.get("code")) if isinstance(body, dict) else ""
    return int(code) if code.isascii() and code.isdigit() and 400 <= int(code) < 600 else 500
