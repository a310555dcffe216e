"""Faults of the server that tests script: errors, delays, broken connections, and requests that wait for a test."""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from quoteweave.testing.literature_server.answers import Answer


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
