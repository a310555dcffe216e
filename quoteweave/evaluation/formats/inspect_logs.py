"""Read the logs of Inspect (inspect_ai, UK AI Security Institute) as predictions over the dataset's own quotes.

    NAME.eval   a zip: `header.json` (or, if the run did not end, `_journal/start.json`), and `samples/*.json`
    NAME.json   the header with `samples`, a list

A sample's `id` is the example's. Its response is the model's last output, without its reasoning; its tokens are those
of all calls for it. Neither needs inspect_ai; members of a zip that are compressed by Zstandard, as in recent logs,
need the extra `inspect` below Python 3.14. Logs of inspect_ai 0.3.285 were read.
"""

import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from quoteweave.core.answers import Usage
from quoteweave.core.chat.usage import sum_known
from quoteweave.core.errors import DatasetError, MissingExtra, QuoteweaveError
from quoteweave.core.examples import Prediction
from quoteweave.core.files.jsonl import DOWNLOAD_AGAIN, describe_validation_error, iter_lines
from quoteweave.core.files.strict_json import load_json
from quoteweave.evaluation.datasets.rows import FileRecord

ZSTANDARD = 93
"""The number of the compression method in the format of zip files."""
_ATTACHMENT = "attachment://"
Model = TypeVar("Model", bound=BaseModel)
_HEADERS = ("header.json", "_journal/start.json")


class _Content(FileRecord):
    type: str = "text"
    text: str = ""


class _Message(FileRecord):
    content: str | tuple[_Content, ...] = ""


class _Choice(FileRecord):
    message: _Message


class _Usage(FileRecord):
    input_tokens: int | None = Field(default=None, ge=0)
    output_tokens: int | None = Field(default=None, ge=0)


class _Output(FileRecord):
    model: str | None = None
    choices: tuple[_Choice, ...] = ()
    usage: _Usage | None = None
    error: str | None = None


class _Error(FileRecord):
    message: str = ""


class _Sample(FileRecord):
    id: str
    epoch: int = 1
    output: _Output = _Output()
    model_usage: Mapping[str, _Usage] = {}
    total_time: float | None = Field(default=None, ge=0)
    error: _Error | None = None
    attachments: Mapping[str, str] = {}


class _Task(FileRecord):
    model: str | None = None


class _Header(FileRecord):
    eval: _Task


def load_inspect_log(path: Path) -> list[Prediction]:
    """One prediction per sample, in the order of the log; a failed sample is a failed prediction.

    Raises DatasetError, naming file, sample and field, for unreadable content, a log without samples, and samples of
    several epochs; MissingExtra if a library that unpacks it is missing.
    """
    header, samples = _read_zip_log(path) if zipfile.is_zipfile(path) else _read_json_log(path)
    model = _validated(_Header, header, f"{path}, header").eval.model
    predictions: dict[str, Prediction] = {}
    for where, value in samples:
        sample = _validated(_Sample, value, f"{path}, {where}")
        if sample.id in predictions:
            raise DatasetError(
                f"{path}, {where}: sample {sample.id!r} was asked more than once (here in epoch {sample.epoch}); keep "
                "one epoch in each log"
            )
        predictions[sample.id] = _prediction(sample, model)
    if not predictions:
        raise DatasetError(f"{path} holds no samples: it is a header alone, or was made with --no-log-samples")
    return list(predictions.values())


def _read_json_log(path: Path) -> tuple[object, Iterator[tuple[str, object]]]:
    value = _parsed(b"".join(line for _, line in iter_lines(path)), str(path))
    samples = value.get("samples") if isinstance(value, dict) else None
    listed = samples if isinstance(samples, list) else []
    return value, ((f"sample {number}", sample) for number, sample in enumerate(listed, start=1))


def _read_zip_log(path: Path) -> tuple[object, list[tuple[str, object]]]:
    """The header, and the samples with their names in the zip."""
    try:
        with zipfile.ZipFile(path) as plain:
            names = plain.namelist()
            packed = any(member.compress_type == ZSTANDARD for member in plain.infolist())
        header = next((name for name in _HEADERS if name in names), None)
        if header is None:
            raise DatasetError(f"{path} is a zip, but no log of Inspect: it holds no {_HEADERS[0]}")
        wanted = [name for name in names if name.startswith("samples/") and name.endswith(".json")]
        with (_zstandard() if packed else zipfile).ZipFile(path) as file:
            content = {name: file.read(name) for name in [header, *wanted]}
    except QuoteweaveError:
        raise
    except Exception as error:  # each compression method raises its own errors
        raise DatasetError(f"{path} cannot be unpacked: {error}; if it is cut short, {DOWNLOAD_AGAIN}") from error
    parsed = {name: _parsed(member, f"{path}, {name}") for name, member in content.items()}
    return parsed.pop(header), list(parsed.items())


def _zstandard() -> Any:
    """A `zipfile` that unpacks Zstandard."""
    if hasattr(zipfile, "ZIP_ZSTANDARD"):
        return zipfile
    try:
        from backports.zstd import zipfile as extended
    except ModuleNotFoundError as error:
        raise MissingExtra("backports.zstd", "inspect") from error
    module: ModuleType = extended
    return module


def _parsed(content: bytes, where: str) -> object:
    try:
        value: object = load_json(content)
    except (ValueError, RecursionError) as error:
        raise DatasetError(
            f"{where}: no JSON that can be read: {error}; if it is cut short, {DOWNLOAD_AGAIN}"
        ) from error
    return value


def _validated(model: type[Model], value: object, where: str) -> Model:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise DatasetError(f"{where}, {describe_validation_error(error)}") from error


def _prediction(sample: _Sample, model: str | None) -> Prediction:
    output = sample.output
    response = _text(output.choices[0].message, sample.attachments) if output.choices else None
    failed = sample.error.message or "the sample failed" if sample.error is not None else output.error
    spent = list(sample.model_usage.values()) or ([output.usage] if output.usage is not None else [])
    return Prediction(
        example=sample.id,
        scope="context",
        response=response,
        model=model or output.model,
        usage=Usage(
            input_tokens=sum_known(usage.input_tokens for usage in spent),
            output_tokens=sum_known(usage.output_tokens for usage in spent),
        ),
        seconds=sample.total_time,
        error=failed or ("no response" if response is None else None),
    )


def _text(message: _Message, attachments: Mapping[str, str]) -> str:
    """The text of a message, all text parts in order; long texts may be stored elsewhere in the log."""
    if isinstance(message.content, str):
        parts = [message.content]
    else:
        parts = [part.text for part in message.content if part.type == "text"]
    return "\n".join(attachments.get(part.removeprefix(_ATTACHMENT), part) for part in parts)
