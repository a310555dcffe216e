"""Redacts an endpoint's secrets from what its server sends back: some echo the key or its header."""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from html import escape
from json import dumps
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from quoteweave.core.urls import SECRET_FIELD

REDACTED = "[redacted]"
# What is shorter is a placeholder such as "none" or "ollama", or too common a word to be taken out of answers.
_SHORTEST_KEY, _SHORTEST_PASSWORD = 8, 6
_SHORTEST_CODE = 4


class Redactor:
    """Replaces secrets, in plain, percent-encoded or base64 form, by `[redacted]`."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret)}
        longest_first = sorted(forms, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if forms else None
        self._beginnings = frozenset(form[:n] for form in forms for n in range(1, len(form)))
        self._longest = max(map(len, forms), default=0)

    def clean(self, text: str) -> str:
        """The text without any of the secrets."""
        return text if self._pattern is None else self._pattern.sub(REDACTED, text)

    def unfinished(self, text: str) -> int:
        """The number of characters at the text's end that may be the beginning of a secret."""
        longest = min(self._longest - 1, len(text))
        return next((n for n in range(longest, 0, -1) if text[-n:] in self._beginnings), 0)


class StreamRedactor:
    """Redacts a streamed text, in chunks split anywhere.

    What may be the beginning of a secret is held back until it is known.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor, self._held = redactor, ""

    def feed(self, part: str) -> str:
        """Add a chunk; return what is settled now, which may be nothing."""
        text = self._redactor.clean(self._held + part)
        certain = len(text) - self._redactor.unfinished(text)
        self._held = text[certain:]
        return text[:certain]

    def end(self) -> str:
        """What was held back, now that no more comes."""
        held, self._held = self._held, ""
        return held


def endpoint_redactor(url: str, key: str, others: Iterable[str] = ()) -> Redactor:
    """Make a redactor of the key, the URL's credentials, and the query's fields named like a key or a token.

    `others` are further secrets that are sent along, such as headers of the environment.
    """
    keys = [key, *others, *(value for name, value in parse_qsl(urlsplit(url).query) if SECRET_FIELD.search(name))]
    return Redactor([*(key for key in keys if len(key) >= _SHORTEST_KEY), *_credentials(url)])


def _credentials(url: str) -> list[str]:
    """The secrets before the host in a URL: the password, or a token in the user's place, and both as they are sent."""
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


def _forms(secret: str) -> Iterator[str]:
    """The forms of a secret in a text: plain, escaped for URLs, JSON and HTML, and in base64."""
    percent = quote(secret, safe="")
    yield from (secret, percent, re.sub(r"%..", lambda found: found.group().lower(), percent), quote(secret))
    yield from (dumps(secret)[1:-1], dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1], escape(secret))
    data = secret.encode("utf-8", "replace")
    for before in range(3):  # base64 writes three bytes at a time, and other text may stand before the secret
        code = b64encode(bytes(before) + data).decode().rstrip("=")
        # Characters that hold bits of the secret alone.
        whole = code[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        if len(whole) >= _SHORTEST_CODE:
            yield from (whole, whole.replace("+", "-").replace("/", "_"))
