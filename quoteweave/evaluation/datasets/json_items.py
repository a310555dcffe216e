"""Read JSON Lines, a JSON list of objects, or a JSON object that holds the list as `data`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from quoteweave.core.errors import DatasetError
from quoteweave.core.files.jsonl import DOWNLOAD_AGAIN, describe_validation_error, iter_lines, iter_records

Row = TypeVar("Row", bound=BaseModel)
_LIST = "data"


def iter_items(path: Path, row: type[Row]) -> Iterator[tuple[str, Row]]:
    """Place, such as `line 3` or `item 3`, and content of each object; `.gz` is read as it is.

    Raises DatasetError, naming file, place and field.
    """
    if _one_a_line(path):
        yield from ((f"line {number}", content) for number, content in iter_records(path, row))
        return
    for number, value in enumerate(_listed(path), start=1):
        try:
            yield f"item {number}", row.model_validate(value)
        except ValidationError as error:
            raise DatasetError(f"{path}, item {number}, {describe_validation_error(error)}") from error


def _one_a_line(path: Path) -> bool:
    """Whether the first line is an object of its own."""
    _, first = next(iter_lines(path), (0, b"[]"))
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and not isinstance(value.get(_LIST), list)


def _listed(path: Path) -> list[JsonValue]:
    lines = list(iter_lines(path))
    try:
        value = json.loads(b"".join(line for _, line in lines) or b"[]")
    except json.JSONDecodeError as error:
        number = lines[error.lineno - 1][0] if error.lineno <= len(lines) else lines[-1][0]
        raise DatasetError(f"{path}, line {number}: {error.msg}; if the file is cut short, {DOWNLOAD_AGAIN}") from error
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{path} is no JSON that can be read: {error}") from error
    items = value.get(_LIST) if isinstance(value, dict) else value
    if not isinstance(items, list):
        raise DatasetError(f"{path} holds neither a list of objects nor one object a line")
    return items
