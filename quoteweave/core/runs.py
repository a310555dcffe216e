"""The run folder: what one configuration made of a dataset, appended as it is made, resumed, and scored later.

    run.json            the configuration, and the versions that ran it
    predictions.jsonl   one prediction a line; where a question was asked twice in one scope, the later line counts

One process writes to a run at a time.
"""

import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from io import FileIO
from pathlib import Path
from typing import Literal

from pydantic import Field, JsonValue, ValidationError

from quoteweave.core.errors import DatasetError, StorageError, UsageError
from quoteweave.core.examples import Prediction, Scope
from quoteweave.core.records import Record

RUN = "run.json"
PREDICTIONS = "predictions.jsonl"

Configuration = Mapping[str, JsonValue]
Key = tuple[str, Scope]


class Run(Record):
    """What a run folder says of itself."""

    format: Literal[1] = 1
    configuration: Configuration = Field(description="whatever changes a prediction; a run is resumed only by the same")
    versions: Mapping[str, str] = Field(description="of quoteweave and Python, when the run was begun")


class RunWriter:
    """A run folder open for writing; made by `open_run`."""

    def __init__(self, stream: FileIO, predictions: dict[Key, Prediction]) -> None:
        self._stream = stream
        self._predictions = predictions

    @property
    def predictions(self) -> list[Prediction]:
        """What the run holds so far, one of each question and scope."""
        return list(self._predictions.values())

    def has(self, example: str, scope: Scope) -> bool:
        """Whether that question is done. One that failed is not: resuming asks it again."""
        prediction = self._predictions.get((example, scope))
        return prediction is not None and prediction.error is None

    def append(self, prediction: Prediction) -> None:
        """Writes one line, unbuffered. Raises StorageError when the disk refuses; the lines before it stay whole."""
        rest, start = memoryview(prediction.model_dump_json().encode() + b"\n"), self._stream.tell()
        try:
            while rest:
                rest = rest[self._stream.write(rest) :]
        except OSError as error:
            self._stream.truncate(start)
            self._stream.seek(start)
            path = self._stream.name
            raise StorageError(f"cannot write to {path}: {error.strerror}; free space and resume") from error
        self._predictions[prediction.example, prediction.scope] = prediction


@contextmanager
def open_run(folder: Path, configuration: Configuration) -> Iterator[RunWriter]:
    """Begins a run in `folder`, or resumes the one that it holds. A line cut short by a crash is dropped.

    Raises UsageError when the folder holds a run of another configuration, DatasetError when what it holds cannot be
    read, StorageError when the disk refuses.
    """
    path = folder / PREDICTIONS
    if (folder / RUN).exists():
        run, predictions = read_run(folder)
        _check_same(folder, run, Run(configuration=configuration, versions=_versions()))
    elif path.exists():
        raise DatasetError(f"{folder} holds {PREDICTIONS} without {RUN}; name another folder for the run")
    else:
        predictions = []
        _begin(folder, Run(configuration=configuration, versions=_versions()))
    try:
        stream = FileIO(path, "r+" if path.exists() else "w+")
        stream.truncate(_whole_lines(stream.readall()))
        stream.seek(0, os.SEEK_END)
    except OSError as error:
        raise StorageError(f"cannot write to {path}: {error.strerror}") from error
    with stream:
        yield RunWriter(stream, {(prediction.example, prediction.scope): prediction for prediction in predictions})


def read_run(folder: Path) -> tuple[Run, list[Prediction]]:
    """The run of a folder and its predictions, one of each question and scope; nothing is written.

    Raises DatasetError, naming file and line, when the folder holds no run or one that cannot be read.
    """
    try:
        run = Run.model_validate_json((folder / RUN).read_bytes())
    except FileNotFoundError as error:
        raise DatasetError(f"no {RUN} in {folder}; name a folder that a run was written to") from error
    except ValidationError as error:
        raise DatasetError(f"{folder / RUN} is not a run that this version reads: {_reason(error)}") from error
    path = folder / PREDICTIONS
    data = path.read_bytes() if path.exists() else b""
    predictions: dict[Key, Prediction] = {}
    for number, line in enumerate(data[: _whole_lines(data)].splitlines(), start=1):
        try:
            prediction = Prediction.model_validate_json(line)
        except ValidationError as error:
            raise DatasetError(f"{path}, line {number}, {_reason(error)}") from error
        predictions[prediction.example, prediction.scope] = prediction
    return run, list(predictions.values())


def _begin(folder: Path, run: Run) -> None:
    """Writes run.json whole or not at all."""
    draft = folder / f".{RUN}.{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        draft.write_text(run.model_dump_json(indent=2) + "\n", encoding="utf-8")
        draft.replace(folder / RUN)
    except OSError as error:
        raise StorageError(f"cannot begin a run in {folder}: {error.strerror}") from error


def _check_same(folder: Path, there: Run, here: Run) -> None:
    """Another version of quoteweave may predict otherwise, so it counts as another configuration."""
    then, now = (_comparable(run) for run in (there, here))
    changed = [key for key in sorted({*then, *now}) if then.get(key) != now.get(key)]
    if changed:
        told = "; ".join(f"{key} is {then.get(key)!r} there and {now.get(key)!r} here" for key in changed)
        raise UsageError(f"{folder} holds a run of another configuration: {told}. Name another folder, or remove it")


def _comparable(run: Run) -> Configuration:
    return {**run.configuration, "quoteweave": run.versions.get("quoteweave")}


def _whole_lines(data: bytes) -> int:
    """How many bytes belong to lines that end; a line without its end was cut short while it was written."""
    return data.rfind(b"\n") + 1


def _reason(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    return f"{field or 'the line'}: {first['msg']}"


def _versions() -> dict[str, str]:
    try:
        ours = version("quoteweave")
    except PackageNotFoundError:
        ours = "not installed"
    return {"quoteweave": ours, "python": platform.python_version()}
