"""Starts the process of a job and reads what it writes."""

import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress

from pydantic import TypeAdapter, ValidationError

from quoteweave.core.errors import ProcessError
from quoteweave.server.jobs.records import Assignment, Message

# How long a process that was told to end may take before it is killed, in seconds.
GRACE_S = 5.0
_MESSAGE: TypeAdapter[Message] = TypeAdapter(Message)
_log = logging.getLogger(__name__)


class JobProcess:
    """The process of one job, which ends when this object's pipe to it is closed or this process dies."""

    def __init__(self, assignment: Assignment) -> None:
        command = [sys.executable, "-m", "quoteweave.server.jobs.worker"]
        try:
            # In the session of the server: Linux weighs the niceness of processes within a session only.
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - ours
        except OSError as error:
            why = error.strerror or error
            raise ProcessError(f"no process can be started for a job ({why})", remedy="end others") from error
        assert self._process.stdin is not None  # noqa: S101 - for the type checker
        with suppress(OSError):  # it has died already, which reading tells
            self._process.stdin.write(assignment.model_dump_json().encode() + b"\n")
            self._process.stdin.flush()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def messages(self) -> Iterator[Message]:
        """What the process says, until it has ended."""
        assert self._process.stdout is not None  # noqa: S101 - for the type checker
        with self._process.stdout as lines:
            for line in lines:
                try:
                    yield _MESSAGE.validate_json(line)
                except ValidationError:  # the last line of a killed process is cut
                    _log.warning("a job's process wrote a line that is no message: %r", line[:200])
        self._process.wait()

    def end(self) -> None:
        """End it now; what it has stored stays."""
        assert self._process.stdin is not None  # noqa: S101 - for the type checker
        with suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def how_it_ended(self) -> str:
        """How the process ended, to continue a sentence that begins with "its process"."""
        code = self._process.wait()
        if code < 0:
            return f"was killed (signal {-code}), as systems do where memory is short"
        return f"ended with code {code}"
