"""What the server is asked, and what it answers; and the faults that tests script.

Faults are errors, delays, broken connections, and requests that wait for a test.
"""

import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
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


@dataclass
class Fault:
    """What happens to requests whose path matches; `times` counts down, None is for ever."""

    path: str
    times: int | None = 1
    answer: Answer | None = None
    """Sent in place of the server's own."""
    error: tuple[int, Mapping[str, str]] | None = None
    """The status and headers of an error in the form of the service that is asked."""
    delay_s: float = 0
    gate: threading.Event | None = None

    @property
    def answers(self) -> bool:
        """Whether it is an answer, and no wait."""
        return self.answer is not None or self.error is not None


class Faults:
    """Faults in the order in which they were scripted."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._lock = threading.Lock()

    def add(self, fault: Fault) -> None:
        """Script one more."""
        with self._lock:
            self._faults.append(fault)

    def take(self, path: str) -> list[Fault]:
        """What a request to a path meets, used up by one: all waits, and the first answer."""
        taken, answered = list[Fault](), False
        with self._lock:
            for fault in self._faults:
                if fault.times != 0 and fnmatchcase(path, fault.path) and not (fault.answers and answered):
                    answered = answered or fault.answers
                    if fault.times is not None:
                        fault.times -= 1
                    taken.append(fault)
        return taken

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            for fault in self._faults:
                if fault.gate is not None:
                    fault.gate.set()
            self._faults.clear()


def error_answer(path: str, status: int, headers: Mapping[str, str]) -> Answer:
    """An error in the form of the service that a path belongs to."""
    if path.startswith("/openalex"):
        said = {403: "Rate limit exceeded", 429: "Too many requests"}.get(status, "Server error")
        value: dict[str, str] = {"error": said, "message": f"{said}. This answer is scripted."}
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
