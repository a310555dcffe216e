"""Redacts the secrets of an address, in every form in which a server may send them back."""

import html
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from json import dumps
from urllib.parse import parse_qsl, unquote, urlsplit

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.urls import SECRET_FIELD

REDACTED = "[redacted]"
# Least numbers of characters. Shorter texts are placeholders such as "none" or "ollama", or words too common to redact.
_MIN_KEY, _MIN_PASSWORD = 8, 6
_MIN_CODE = 4
_BYTES = [bytes([17 * number]) for number in range(16)]
# Escapes of URLs, of JSON and Python, and of HTML. Consecutive escapes of bytes together stand for UTF-8.
_ESCAPES = lazy_regex(
    r"(?P<percent>(?:%[0-9A-Fa-f]{2})+)|(?P<hex>(?:\\x[0-9A-Fa-f]{2})+)|(?P<units>(?:\\u[0-9A-Fa-f]{4})+)"
    r"|\\(?P<char>[\"'\\/bfnrt])|(?P<entity>&(?:#[xX][0-9A-Fa-f]{1,6}|#[0-9]{1,7}|[A-Za-z][A-Za-z0-9]{1,31});)"
)
_CONTROLS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# The end of a text where an escape, or a character made of several escapes, may be incomplete.
_CUT = lazy_regex(
    r"(?:(?<!\\)(?:\\\\)*(?P<back>(?:\\x[89A-Fa-f][0-9A-Fa-f])*(?:\\x[89A-Fa-f][0-9A-Fa-f]|\\(?:x[0-9A-Fa-f]?)?)"
    r"|(?:\\u[dD][89ABab][0-9A-Fa-f]{2})?\\(?:u[0-9A-Fa-f]{0,3})?|\\u[dD][89ABab][0-9A-Fa-f]{2})"
    r"|(?P<other>(?:%[89A-Fa-f][0-9A-Fa-f])+(?:%[0-9A-Fa-f]?)?|%[0-9A-Fa-f]?|&[#A-Za-z0-9]{0,32}))\Z"
)
# How many times a text may be escaped, such as JSON within JSON in the address of a page.
_LEVELS = 3


class Redactor:
    """Replaces secrets by `[redacted]`, in plain form and in base64, whether or not escaped for URLs, JSON or HTML."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret)}
        longest_first = sorted(forms, key=lambda form: len(form.text), reverse=True)
        self._pattern = re.compile("|".join(form.pattern for form in longest_first)) if forms else None
        self._beginnings = frozenset(beginning for form in forms for beginning in form.beginnings())
        self._longest = max(map(len, self._beginnings), default=0)

    def clean(self, text: str) -> str:
        """The text without any of the secrets."""
        cleaned, end = "", 0
        for first, last in self._secret_spans(text):
            cleaned += text[end:first] + REDACTED
            end = last
        return cleaned + text[end:]

    def settled_length(self, text: str) -> int:
        """The number of characters at the text's beginning whose redaction does not depend on what follows the text."""
        if self._pattern is None:
            return len(text)
        settled, spans = len(text), list[tuple[int, int]]()
        for reading, starts in _readings(text, may_go_on=True):
            for end in {len(reading), _complete_length(reading)}:
                settled = min(settled, starts[end - self._begun_secret_length(reading[:end])])
            for match in self._pattern.finditer(reading):
                # A secret at the end of the complete part of the text may continue after it.
                last = len(text) + 1 if match.end() >= _complete_length(reading) else starts[match.end()]
                spans.append((last, starts[match.start()]))
        for last, first in sorted(spans, reverse=True):
            settled = min(settled, first) if last > settled else settled
        return settled

    def _begun_secret_length(self, text: str) -> int:
        """The number of characters at the end of a text that may be the beginning of a secret."""
        ends = range(min(self._longest, len(text)), 0, -1)
        return next((n for n in ends if text[-n:] in self._beginnings), 0)

    def _secret_spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where secrets begin and end in the text, in order; overlapping ones are joined."""
        if self._pattern is None:
            return
        spans = [
            (starts[match.start()], starts[match.end()])
            for reading, starts in _readings(text)
            for match in self._pattern.finditer(reading)
        ]
        first = last = 0
        for begin, end in sorted(spans):
            if begin >= last and last:
                yield first, last
            first, last = (first, max(last, end)) if last and begin < last else (begin, end)
        if last:
            yield first, last


def _readings(text: str, *, may_go_on: bool = False) -> Iterator[tuple[str, Sequence[int]]]:
    """The text as it is, and with its escapes resolved repeatedly, each with the positions of its characters in it.

    If the text `may_go_on`, escapes at its end that may be incomplete are left out of the next reading.
    """
    starts: Sequence[int] = range(len(text) + 1)
    yield text, starts
    for _ in range(_LEVELS):
        text, within = _unescaped(text[: _complete_length(text)] if may_go_on else text)
        if not within:
            return
        starts = [starts[at] for at in within]
        yield text, starts


def _complete_length(text: str) -> int:
    """The length of a text without an escape at its end that may be incomplete."""
    cut = _CUT.search(text)
    return len(text) if cut is None else cut.start(cut.lastgroup or 0)


def _unescaped(text: str) -> tuple[str, list[int]]:
    """The text with its escapes resolved, and the positions at which each character begins and the last one ends.

    Without escapes, there are no positions.
    """
    parts, starts, end = list[str](), list[int](), 0
    for escape in _ESCAPES.finditer(text):
        parts.append(text[end : escape.start()])
        starts += range(end, escape.start())
        at, end = escape.start(), escape.end()
        for character, length in _characters(escape):
            parts.append(character)
            starts.append(at)
            at += length
    if not parts:
        return text, []
    return "".join((*parts, text[end:])), [*starts, *range(end, len(text) + 1)]


def _characters(escape: re.Match[str]) -> Iterator[tuple[str, int]]:
    """The characters that an escape stands for, each with the number of the escape's characters that stand for it."""
    kind, escaped = escape.lastgroup, escape.group()
    if kind in ("percent", "hex"):
        mark = "%" if kind == "percent" else r"\x"
        characters = bytes.fromhex(escaped.replace(mark, "")).decode("utf-8", "surrogateescape")
        yield from ((char, (len(mark) + 2) * len(char.encode("utf-8", "surrogateescape"))) for char in characters)
    elif kind == "units":
        characters = bytes.fromhex(escaped.replace(r"\u", "")).decode("utf-16-be", "surrogatepass")
        yield from ((character, 6 if character <= "\uffff" else 12) for character in characters)
    elif kind == "char":
        yield _CONTROLS.get(escape["char"], escape["char"]), 2
    else:
        characters = html.unescape(escaped) or "\ufffd"
        yield from ((char, 1 if at + 1 < len(characters) else len(escaped) - at) for at, char in enumerate(characters))


class StreamRedactor:
    """Redacts a streamed text, in chunks split anywhere.

    Text that may belong to a secret is held back until that is known.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor, self._held = redactor, ""

    def feed(self, part: str) -> str:
        """Add a chunk; return the text that is certain now, which may be empty."""
        text = self._held + part
        settled = self._redactor.settled_length(text)
        self._held = text[settled:]
        return self._redactor.clean(text[:settled])

    def end(self) -> str:
        """Return the text that was held back, as no more comes."""
        remaining, self._held = self._held, ""
        return self._redactor.clean(remaining)


def endpoint_redactor(url: str, key: str, further_secrets: Iterable[str] = ()) -> Redactor:
    """Make a redactor of the key, the URL's credentials, and the query's fields named like a key or a token.

    `further_secrets` are sent along with them, such as headers of the environment.
    """
    in_query = (value for name, value in parse_qsl(urlsplit(url).query) if SECRET_FIELD.search(name))
    keys = (key, *further_secrets, *in_query)
    return _redactor((*(key for key in keys if len(key) >= _MIN_KEY), *_credentials(url)))


@lru_cache(maxsize=16)
def _redactor(secrets: tuple[str, ...]) -> Redactor:
    return Redactor(secrets)  # cached, as each call needs one, and making it takes longer than cleaning a message


def _credentials(url: str) -> list[str]:
    """The secrets before the host in a URL: the password, or a token in its place; and user and password together."""
    sent = urlsplit(url).netloc.rpartition("@")[0]
    if not sent:
        return []
    user, colon, password = map(unquote, sent.partition(":"))
    secret = password if colon else user
    # Both together, as in a header of basic authentication: long enough not to occur by chance, even if the password is
    # short.
    together = f"{user}:{password}"
    return [text for text, shortest in ((together, _MIN_CODE), (secret, _MIN_PASSWORD)) if len(text) >= shortest]


@dataclass(frozen=True, slots=True)
class _Form:
    """A form in which a secret may occur in a text."""

    text: str
    before: str = ""
    """In base64, the possible characters before it, which hold its first bits together with bits of other text."""
    after: str = ""
    """The possible characters after it, with its last bits. If no other text follows, padding may."""

    @property
    def pattern(self) -> str:
        """A regular expression for this form."""
        before = f"[{re.escape(self.before)}]?" if self.before else ""
        after = f"(?:[{re.escape(self.after)}]={{0,2}})?" if self.after else ""
        return f"{before}{re.escape(self.text)}{after}"

    def beginnings(self) -> Iterator[str]:
        """All incomplete beginnings of this form."""
        for before in ("", *self.before):
            yield from (before + self.text[:n] for n in range(not before, len(self.text)))


def _forms(secret: str) -> Iterator[_Form]:
    """The forms of a secret in a text whose escapes are resolved: plain, with + for spaces, and in base64."""
    yield from map(_Form, {secret, secret.replace(" ", "+")})
    for text in {secret, dumps(secret)[1:-1], dumps(secret, ensure_ascii=False)[1:-1]}:
        yield from _in_base64(text.encode("utf-8", "replace"))


def _in_base64(data: bytes) -> Iterator[_Form]:
    for shift in range(3):  # base64 encodes three bytes at a time, and other text may come before the secret
        # The range of characters that hold only bits of the secret.
        first, last = -(-shift * 8 // 6), (shift + len(data)) * 8 // 6
        if last - first < _MIN_CODE:
            continue
        for code in (b64encode, urlsafe_b64encode):
            # The secret is encoded beside other bytes, with all values of the four bits that may share a character with
            # it.
            coded = [code(byte * shift + data + byte * 3).decode() for byte in _BYTES]
            before = {text[first - 1] for text in coded} if shift else ()
            after = {text[last] for text in coded} if (shift + len(data)) * 8 % 6 else ()
            yield _Form(coded[0][first:last], "".join(sorted(before)), "".join(sorted(after)))
