"""What a judge said of each answer, kept as JSON Lines: appended as it is said, and resumed.

Where an answer was judged more than once, the later line counts.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

from pydantic import Field, ValidationError

from quoteweave.core.answers import Usage
from quoteweave.core.errors import DatasetError, StorageError, UsageError
from quoteweave.core.lines import reason
from quoteweave.core.records import Record

JUDGEMENTS = "judgements.jsonl"
"""The file's name in a run folder."""


class Verdict(Record):
    """What a judge said of one answer; or the error."""

    example: str = Field(description="id of the example")
    scores: Mapping[str, int] | None = Field(description="criterion to score; None where the judgement failed")
    error: str | None = Field(default=None, description="why there are no scores; a failed judgement is never a 0")
    raw: str | None = Field(default=None, description="the judge's last reply, as it came; None where there was none")
    model: str = Field(description="the judge that was asked for")
    served_as: str | None = Field(default=None, description="the model that replied, as its endpoint calls it")
    prompt: str = Field(description="SHA-256 of the prompt's text")
    request: str = Field(description="SHA-256 of all that was sent: changes with the question, answer, gold and quotes")
    usage: Usage = Usage()
    attempts: int = Field(ge=1, description="how often the judge was asked")


def read_verdicts(path: Path, *, model: str, prompt: str) -> dict[str, Verdict]:
    """Example id to the last verdict on it; empty where there is no file. A line cut short by a crash is passed over.

    Raises DatasetError, naming line and field, for a file of something else, and UsageError for judgements by another
    model or prompt than those named: they are not to be mixed.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror}") from error
    found: dict[str, Verdict] = {}
    for number, line in enumerate(data[: _whole_lines(data)].splitlines(), start=1):
        try:
            verdict = Verdict.model_validate_json(line)
        except ValidationError as error:
            raise DatasetError(f"{path}, line {number}, {reason(error)}; name another file with --out") from error
        _check_same(path, verdict, model, prompt)
        found[verdict.example] = verdict
    return found


@contextmanager
def appending(path: Path) -> Iterator[Callable[[Verdict], None]]:
    """A function that writes one verdict, unbuffered. A line cut short by a crash is dropped.

    One process writes at a time. Raises StorageError when the disk refuses; the lines before stay whole.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        stream = FileIO(path, "r+" if path.exists() else "w+")
        stream.truncate(_whole_lines(stream.readall()))
        stream.seek(0, os.SEEK_END)
    except OSError as error:
        raise StorageError(f"cannot write to {path}: {error.strerror}") from error
    with stream:
        yield lambda verdict: _append(stream, verdict)


def _append(stream: FileIO, verdict: Verdict) -> None:
    rest, start = memoryview(verdict.model_dump_json().encode() + b"\n"), stream.tell()
    try:
        while rest:
            rest = rest[stream.write(rest) :]
    except OSError as error:
        stream.truncate(start)
        stream.seek(start)
        raise StorageError(f"cannot write to {stream.name!s}: {error.strerror}; free space and resume") from error


def _check_same(path: Path, verdict: Verdict, model: str, prompt: str) -> None:
    if verdict.model != model:
        said = f"by {verdict.model}, not by {model}"
    elif verdict.prompt != prompt:
        said = f"by another prompt (its SHA-256 begins with {verdict.prompt[:12]}, that of this one with {prompt[:12]})"
    else:
        return
    raise UsageError(f"{path} holds judgements {said}, and the two are not to be mixed; name another file with --out")


def _whole_lines(data: bytes) -> int:
    return data.rfind(b"\n") + 1
