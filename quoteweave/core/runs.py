"""The run folder: predictions of one configuration for a dataset, appended one by one, resumable, scored later.

    run.json            the configuration, fingerprints of the data, and the versions that ran it
    predictions.jsonl   one prediction a line; if a question was asked twice in one scope, the later line counts

Each JSON object ends with its checksum, which is verified whenever it is read.
One process writes to a run at a time.
"""

import json
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, JsonValue, ValidationError

from quoteweave.core.answers import AnswerStatus
from quoteweave.core.errors import DatasetError, StorageError, UsageError
from quoteweave.core.examples import Prediction, Scope, Spending
from quoteweave.core.files.jsonl import describe_validation_error, iter_records, open_for_append
from quoteweave.core.files.sealed_json import damaged_error, sealed_json, unsealed_json
from quoteweave.core.files.whole_files import written_whole
from quoteweave.core.records import Record
from quoteweave.version import __version__

RUN_FILE = "run.json"
PREDICTIONS_FILE = "predictions.jsonl"

Configuration = Mapping[str, JsonValue]
QuestionKey = tuple[str, Scope]


def _versions() -> dict[str, str]:
    return {"quoteweave": __version__, "python": platform.python_version()}


UNREACHABLE = "unreachable gold"
"""The key in `noted` for the note on gold that a run's retriever could never find."""


class RunRecord(Record):
    """The contents of run.json. A run is resumed only if everything but the version of Python is the same."""

    format: Literal[1] = 1
    configuration: Configuration = Field(description="the dataset, and how each question is answered")
    fingerprints: Mapping[str, str] = Field(
        default_factory=dict, description="of the dataset's files, the documents and the indexes: name to SHA-256"
    )
    seeds: Mapping[str, int] = Field(default_factory=dict, description="what was drawn at random, to its seed")
    noted: Mapping[str, str] = Field(
        default_factory=dict, description="what else is known of its beginning, and may be otherwise when it is resumed"
    )
    versions: Mapping[str, str] = Field(
        default_factory=_versions, description="of quoteweave and Python, when the run was begun"
    )


class RunWriter:
    """A run folder open for writing; made by `open_run`. It holds no predictions, so that runs may be of any length."""

    def __init__(
        self, folder: Path, write: Callable[[BaseModel], None], done: dict[QuestionKey, bool], spent: Spending
    ) -> None:
        self.spent = spent
        """The spending of all questions answered before the run was opened, failed ones included."""
        self._folder = folder
        self._write = write
        self._done = done

    def __len__(self) -> int:
        """The number of questions in the run, failed ones included."""
        return len(self._done)

    @property
    def predictions(self) -> list[Prediction]:
        """The predictions so far, one for each question and scope, read from the file."""
        return read_run(self._folder)[1]

    def is_done(self, example: str, scope: Scope) -> bool:
        """Whether the question is done. A failed one is not: a resumed run asks it again."""
        return self._done.get((example, scope), False)

    def append(self, prediction: Prediction) -> None:
        """Write one line, unbuffered. Raises StorageError when the disk refuses; the lines before it stay whole."""
        self._write(prediction)
        self._done[prediction.example, prediction.scope] = prediction.error is None


def sort_predictions(folder: Path, order: Sequence[str]) -> None:
    """Sort the lines of a run by the order of its questions; other questions come last, and the sort is stable.

    So the file of a run that was resumed, or that ran many questions at once, is the same as any other's, apart from
    times. Call this when nothing more is appended, before the run is closed. Raises StorageError when the disk refuses.
    """
    path, positions = folder / PREDICTIONS_FILE, {example: position for position, example in enumerate(order)}
    lines, at = list[tuple[int, int, int]](), 0
    try:
        with path.open("rb") as written:
            for line in written:
                lines.append((positions.get(_example_id(line), len(positions)), at, len(line)))
                at += len(line)
            if lines == sorted(lines):
                return
        with written_whole(path) as ordered, path.open("rb") as written:
            for _, start, length in sorted(lines):
                written.seek(start)
                ordered.write(written.read(length))
    except OSError as error:
        raise StorageError(f"cannot put {path} in order: {error.strerror}; it is whole as it is") from error


def _example_id(line: bytes) -> str:
    """The question of a line, which has it as its first field."""
    return str(json.JSONDecoder().raw_decode(line.partition(b":")[2].decode("utf-8", "replace").lstrip())[0])


@contextmanager
def open_run(folder: Path, run: RunRecord) -> Iterator[RunWriter]:
    """Start a run in `folder`, or resume the one it holds. A line truncated by a crash is dropped.

    Raises UsageError when the folder holds another run, DatasetError when what it holds cannot be read, StorageError
    when the disk refuses.
    """
    path = folder / PREDICTIONS_FILE
    done: dict[QuestionKey, bool] = {}
    spent = Spending()
    if (folder / RUN_FILE).exists():
        _check_same(folder, read_run_record(folder), run)
    elif path.exists():
        raise DatasetError(f"{folder} holds {PREDICTIONS_FILE} without {RUN_FILE}; name another folder for the run")
    else:
        _write_run_record(folder, run)
    with open_for_append(path) as write:
        for prediction in _stored_predictions(folder):  # once no other command can add to them
            done[prediction.example, prediction.scope] = prediction.error is None
            spent = spent.plus(prediction.spent or Spending())
        yield RunWriter(folder, write, done, spent)


def read_run(folder: Path) -> tuple[RunRecord, list[Prediction]]:
    """Read a folder's run and its predictions, one for each question and scope, without writing anything.

    Raises DatasetError, naming file and line, when the folder holds no run or one that cannot be read.
    """
    predictions = {(prediction.example, prediction.scope): prediction for prediction in _stored_predictions(folder)}
    return read_run_record(folder), list(predictions.values())


class PredictionStatus(Record):
    """The status of one prediction, without its hits and its answer."""

    example: str
    error: str | None
    status: AnswerStatus | None
    """The status of its answer, None if it has none; `abstained` for a search that selected no paper."""
    cut_quotes: int
    notes: tuple[str, ...]


def read_statuses(folder: Path) -> list[PredictionStatus]:
    """The status of each question and scope of a run, without keeping predictions in memory. Raises DatasetError."""
    predictions = _stored_predictions(folder)
    return list({(prediction.example, prediction.scope): _status_of(prediction) for prediction in predictions}.values())


def _status_of(prediction: Prediction) -> PredictionStatus:
    status = prediction.answer.status if prediction.answer is not None else None
    if prediction.paper_search is not None and prediction.paper_search.selected is None:
        status = "abstained"
    return PredictionStatus(
        example=prediction.example,
        error=prediction.error,
        status=status,
        cut_quotes=prediction.cut_quotes,
        notes=prediction.notes,
    )


def read_run_record(folder: Path) -> RunRecord:
    """Read run.json. Raises DatasetError if it is missing, damaged or cannot be read."""
    path = folder / RUN_FILE
    try:
        text = path.read_bytes()
    except FileNotFoundError as error:
        raise DatasetError(f"no {RUN_FILE} in {folder}; name a folder that a run was written to") from error
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}") from error
    try:
        content = unsealed_json(text)
    except ValueError as error:
        raise damaged_error(str(path), "begin the run anew in another folder") from error
    try:
        return RunRecord.model_validate_json(content)
    except ValidationError as error:
        raise DatasetError(
            f"{path} is not a run that this version reads: {describe_validation_error(error)}"
        ) from error


def _stored_predictions(folder: Path) -> Iterator[Prediction]:
    path = folder / PREDICTIONS_FILE
    if path.exists():
        yield from (prediction for _, prediction in iter_records(path, Prediction, drop_cut=True))


def _write_run_record(folder: Path, run: RunRecord) -> None:
    """Write run.json whole or not at all."""
    try:
        with written_whole(folder / RUN_FILE) as file:
            file.write(sealed_json(run.model_dump_json(indent=2).encode()) + b"\n")
    except OSError as error:
        raise StorageError(f"cannot begin a run in {folder}: {error.strerror}") from error


def _check_same(folder: Path, stored: RunRecord, requested: RunRecord) -> None:
    """Raise UsageError if the configurations differ; another version of quoteweave counts as another configuration."""
    before, after = (_comparable(run) for run in (stored, requested))
    changed = [key for key in sorted({*before, *after}) if before.get(key) != after.get(key)]
    if changed:
        changes = "; ".join(f"{key} is {before.get(key)!r} there and {after.get(key)!r} here" for key in changed)
        raise UsageError(f"{folder} holds a run of another configuration: {changes}. Name another folder, or remove it")


def _comparable(run: RunRecord) -> Configuration:
    return {**run.configuration, **run.fingerprints, **run.seeds, "quoteweave": run.versions.get("quoteweave")}
