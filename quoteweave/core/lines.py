"""Files of one JSON object a line, plain or compressed (`.gz`), read with messages that name file, line and field."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from quoteweave.core.errors import DatasetError

Row = TypeVar("Row", bound=BaseModel)


def iter_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Number, from 1, and content of each line that is not blank.

    Raises DatasetError where the file cannot be read to its end.
    """
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rb") as stream:
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield number, line
    except FileNotFoundError as error:
        raise DatasetError(f"{path} does not exist") from error
    except (OSError, EOFError, zlib.error) as error:
        raise DatasetError(f"{path} cannot be read to its end: {error}") from error


def iter_rows(path: Path, row: type[Row]) -> Iterator[tuple[int, Row]]:
    """Number and content of each line, read as `row`. Raises DatasetError, naming line and field."""
    for number, line in iter_lines(path):
        try:
            yield number, row.model_validate_json(line)
        except ValidationError as error:
            cut = "" if line.endswith(b"\n") else "; the line has no end, so that the file may be cut short"
            raise DatasetError(f"{path}, line {number}, {reason(error)}{cut}") from error


def reason(error: ValidationError) -> str:
    """The first thing that is wrong, and the field in which it is."""
    first = error.errors(include_url=False, include_context=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    return f"{field or 'the line'}: {first['msg']}"
