"""Read the rows of files: columns as TREC has them, JSON Lines, and lists of JSON objects."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from quoteweave.core.errors import DatasetError
from quoteweave.core.files.jsonl import (
    DOWNLOAD_AGAIN,
    describe_validation_error,
    iter_lines,
    iter_records,
    truncation_hint,
)
from quoteweave.core.files.strict_json import RepeatedName, load_json


@dataclass(frozen=True, slots=True)
class Line:
    """One line: `raw` without its end, its columns, and its position."""

    raw: str
    values: tuple[str, ...]
    names: Sequence[str]
    where: str
    """File and line."""
    cut: str
    """What to add to an error if the line has no end."""

    def integer(self, column: int) -> int:
        """The whole number of a column. Raises DatasetError, naming line and column."""
        try:
            return int(self.values[column])
        except ValueError as error:
            raise self._wrong(column, "no whole number") from error

    def number(self, column: int) -> float:
        """The finite number of a column. Raises DatasetError, naming line and column."""
        try:
            value = float(self.values[column])
        except ValueError as error:
            raise self._wrong(column, "no number") from error
        if not isfinite(value):
            raise self._wrong(column, "not finite")
        return value

    def _wrong(self, column: int, problem: str) -> DatasetError:
        return DatasetError(f"{self.where}, {self.names[column]}: {self.values[column]!r} is {problem}{self.cut}")


def iter_columns(path: Path, names: Sequence[str] | None, *, separator: str | None = None) -> Iterator[Line]:
    """Lines that are not blank, each with as many columns as there are names (with None, with any number).

    Columns are separated by white space, or only by `separator`. Raises DatasetError, naming file and line.
    """
    for number, line in iter_lines(path):
        where, cut = f"{path}, line {number}", truncation_hint(line)
        try:
            raw = line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise DatasetError(f"{where} is no text in UTF-8{cut}") from error
        values = tuple(value.strip() for value in raw.split(separator))
        if names is not None and (len(values) != len(names) or not all(values)):
            raise DatasetError(f"{where} has not the {len(names)} columns {', '.join(names)}: {raw[:80]!r}{cut}")
        yield Line(raw, values, names or (), where, cut)


class FileRecord(BaseModel):
    """A record of a file of others: fields that are not read may come and go between releases of a dataset."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)


def as_list(raw: object) -> object:
    """A string as a list that holds it, for fields with one string or several."""
    return [raw] if isinstance(raw, str) else raw


Row = TypeVar("Row", bound=BaseModel)
_LIST = "data"


def iter_unique_records(
    path: Path, row: type[Row], field: str, *, alias: str | None = None
) -> Iterator[tuple[int, Row]]:
    """Line number and content of each line of JSON Lines, of which no two may have the same value in `field`.

    `alias` is the field's name in the file, if it has another. Raises DatasetError, naming file, line and field.
    """
    first_lines: dict[object, int] = {}
    for number, record in iter_records(path, row):
        value = getattr(record, field)
        first = first_lines.setdefault(value, number)
        if first != number:
            raise DatasetError(f"{path}, line {number}, {alias or field}: {value!r} is on line {first} already")
        yield number, record


def iter_items(path: Path, row: type[Row]) -> Iterator[tuple[str, Row]]:
    """Position, such as `line 3` or `item 3`, and content of each object; a `.gz` file is unpacked.

    Raises DatasetError, naming file, place and field.
    """
    if _has_object_per_line(path):
        yield from ((f"line {number}", content) for number, content in iter_records(path, row))
        return
    for number, value in enumerate(_read_list(path), start=1):
        try:
            yield f"item {number}", row.model_validate(value)
        except ValidationError as error:
            raise DatasetError(f"{path}, item {number}, {describe_validation_error(error)}") from error


def _has_object_per_line(path: Path) -> bool:
    """Whether the first line is a whole object."""
    _, first = next(iter_lines(path), (0, b"[]"))
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and not isinstance(value.get(_LIST), list)


def _read_list(path: Path) -> list[JsonValue]:
    lines = list(iter_lines(path))
    try:
        value = load_json(b"".join(line for _, line in lines) or b"[]")
    except json.JSONDecodeError as error:
        number = lines[error.lineno - 1][0] if error.lineno <= len(lines) else lines[-1][0]
        hint = "" if isinstance(error, RepeatedName) else f"; if the file is cut short, {DOWNLOAD_AGAIN}"
        raise DatasetError(f"{path}, line {number}: {error.msg}{hint}") from error
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{path} is no JSON that can be read: {error}") from error
    objects = value.get(_LIST) if isinstance(value, dict) else value
    if not isinstance(objects, list):
        raise DatasetError(f"{path} holds neither a list of objects nor one object a line")
    return objects
