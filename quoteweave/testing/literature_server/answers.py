"""What the server is asked, and what it answers."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ReceivedRequest:
    """A request as it came in. Header names are in lower case; of a parameter that comes twice, the last counts."""

    method: str
    path: str
    params: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    at: float
    """Seconds of `time.monotonic` at which it came in."""


@dataclass(frozen=True)
class Answer:
    """What is sent for a request."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: Iterable[bytes] | None = None
    """Sent in place of `body` one after the other, until there are none or the client leaves."""
    every_s: float = 0
    """Seconds before each piece; ends early when the server is closed."""
    declared: int | None = None
    """The length that is declared for `pieces`; without one they are sent in chunks."""
    close: bool = False
    """Whether the connection is closed without a word."""

    @classmethod
    def json(cls, value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> "Answer":
        """An answer of JSON."""
        sent = {"Content-Type": "application/json", **(headers or {})}
        return cls(status, json.dumps(value).encode(), sent)


class Refusal(Exception):
    """A request that a service refuses."""

    def __init__(self, status: int, value: Mapping[str, Any]) -> None:
        super().__init__(status, value)
        self.answer = Answer.json(dict(value), status)
