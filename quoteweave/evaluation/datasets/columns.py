"""Read column files such as TREC runs and qrels, with errors that name line and column."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from quoteweave.core.errors import DatasetError
from quoteweave.core.files.jsonl import iter_lines, truncation_hint


@dataclass(frozen=True, slots=True)
class Line:
    """One line: `raw` without its end, its columns, and where it stands."""

    raw: str
    values: tuple[str, ...]
    names: Sequence[str]
    where: str
    """File and line."""
    cut: str
    """What to add to an error where the line has no end."""

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

    def _wrong(self, column: int, what: str) -> DatasetError:
        return DatasetError(f"{self.where}, {self.names[column]}: {self.values[column]!r} is {what}{self.cut}")


def iter_columns(path: Path, names: Sequence[str] | None, *, separator: str | None = None) -> Iterator[Line]:
    """Lines that are not blank, each with as many columns as there are names (with None, with any number).

    Columns are parted by white space, or by `separator` alone. Raises DatasetError, naming file and line.
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
