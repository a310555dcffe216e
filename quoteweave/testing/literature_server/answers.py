"""The requests that the server gets, its answers, and the faults that tests script.

Faults are errors, broken connections, and requests that wait until the test lets them go on.
"""

import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any


@dataclass(frozen=True)
class ReceivedRequest:
    """A request as received. Header names are in lower case; of a parameter given twice, the last value counts."""

    method: str
    path: str
    params: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    at: float
    """When it was received, in seconds of `time.monotonic`."""


@dataclass(frozen=True)
class Answer:
    """The response to a request."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: Iterable[bytes] | None = None
    """Sent one after the other in place of `body`, until there are none left or the client disconnects."""
    every_s: float = 0
    """Seconds of waiting before each piece; the wait ends early when the server is closed."""
    declared: int | None = None
    """The length that is declared for `pieces`; without it they are sent in chunks."""
    close: bool = False
    """Whether the connection is closed without a response."""

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


@dataclass
class Fault:
    """What happens to requests whose path matches; `times` counts down, None never ends."""

    path: str
    times: int | None = 1
    answer: Answer | None = None
    """Sent in place of the server's own answer."""
    error: tuple[int, Mapping[str, str]] | None = None
    """The status and headers of an error in the form of the service that is asked."""
    gate: threading.Event | None = None

    @property
    def is_answer(self) -> bool:
        """Whether it is an answer rather than a wait."""
        return self.answer is not None or self.error is not None


class Faults:
    """Faults in the order in which they were scripted."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._lock = threading.Lock()

    def add(self, fault: Fault) -> None:
        """Add one more."""
        with self._lock:
            self._faults.append(fault)

    def take(self, path: str) -> list[Fault]:
        """The faults that apply to a request for a path, each counted down: all waits, and the first answer."""
        faults, answered = list[Fault](), False
        with self._lock:
            for fault in self._faults:
                if fault.times != 0 and fnmatchcase(path, fault.path) and not (fault.is_answer and answered):
                    answered = answered or fault.is_answer
                    if fault.times is not None:
                        fault.times -= 1
                    faults.append(fault)
        return faults

    def clear(self) -> None:
        """Remove all faults."""
        with self._lock:
            for fault in self._faults:
                if fault.gate is not None:
                    fault.gate.set()
            self._faults.clear()


def error_answer(path: str, status: int, headers: Mapping[str, str]) -> Answer:
    """An error in the form of the service that a path belongs to."""
    if path.startswith("/openalex"):
        reason = {403: "Rate limit exceeded", 429: "Too many requests"}.get(status, "Server error")
        value: dict[str, str] = {"error": reason, "message": f"{reason}. This answer is scripted."}
    elif status == 429:
        value = {
            "message": "Too Many Requests. Please wait and try again or apply for a key for higher rate limits.",
            "code": "429",
        }
    elif status == 403 or status >= 500:
        value = {"message": "Forbidden" if status == 403 else "Internal Server Error"}
    else:
        value = {"error": "This answer is scripted."}
    return Answer(status, json.dumps(value).encode(), {"Content-Type": "application/json", **headers})
