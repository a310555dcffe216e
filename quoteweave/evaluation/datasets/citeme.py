"""CiteME (Press et al., NeurIPS 2024, arXiv 2407.12861): excerpts of papers, each with one citation to be attributed.

A table with a header, comma-separated: `id`, `excerpt`, in which [CITATION] stands for the citation, and
`target_paper_title`, the paper cited, or several titles that count alike, with [TITLE_SEPARATOR] between them;
`source_paper_title`, `source_paper_url` and `year` are of the paper that the excerpt is from, `target_paper_url` is the
address of the one cited, and `split` a part of the dataset. `tags`, what an excerpt is about, with semicolons or else
commas between, is read where there is such a column. The text of the paper counts 130 excerpts; every per cent that its
tables print of systems is a multiple of 1/119.
"""

import csv
import io
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from quoteweave.core.answers import Context
from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, Reference
from quoteweave.core.files.jsonl import describe_validation_error, iter_lines
from quoteweave.core.records import Query

COLUMNS = ("id", "excerpt", "target_paper_title")
SEPARATOR = "[TITLE_SEPARATOR]"


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True, str_min_length=1)

    id: str
    excerpt: str
    target_paper_title: str
    target_paper_url: str | None = None
    source_paper_title: str | None = None
    source_paper_url: str | None = None
    year: int | None = Field(default=None, ge=1000, le=9999)
    split: str | None = None
    tags: str | None = None

    @field_validator("year", mode="before")
    @classmethod
    def _whole(cls, value: object) -> object:
        """Tables that were written again by a data frame with gaps have years such as `2024.0`."""
        return value.removesuffix(".0") if isinstance(value, str) else value


def load_citeme(path: Path) -> list[Example]:
    """The excerpts of a file, in its order; `.gz` is read as it is.

    An example's document is the paper that its excerpt is from. Raises DatasetError, naming file, row and column, for
    what cannot be read, lacks a column or comes twice.
    """
    rows = csv.DictReader(io.StringIO(_text(path), newline=""), strict=True)
    examples: dict[str, Example] = {}
    try:
        missing = [name for name in COLUMNS if name not in (rows.fieldnames or ())]
        if missing:
            raise DatasetError(
                f"{path} has no column {', '.join(missing)}; CiteME's have {', '.join(COLUMNS)} and others"
            )
        for row in rows:
            example = _example(row, f"{path}, line {rows.line_num}")
            if example.id in examples:
                raise DatasetError(f"{path}, line {rows.line_num}, id: {example.id!r} comes twice")
            examples[example.id] = example
    except csv.Error as error:
        raise DatasetError(f"{path}, line {rows.line_num}: no row of a table ({error})") from error
    return list(examples.values())


def _text(path: Path) -> str:
    try:
        return b"".join(line for _, line in iter_lines(path)).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path} is no text in UTF-8 (byte {error.start + 1:,})") from error


def _example(row: dict[str, str | None], where: str) -> Example:
    if None in row or None in row.values():
        raise DatasetError(f"{where}: it has more or fewer columns than the header")
    try:
        found = _Row.model_validate({name: value or None for name, value in row.items()})
    except ValidationError as error:
        raise DatasetError(f"{where}, {describe_validation_error(error)}") from error
    titles = _parts(found.target_paper_title)
    if not titles:
        raise DatasetError(f"{where}, target_paper_title: it names no paper")
    return Example(
        id=found.id,
        query=Query(text=found.excerpt),
        document=found.source_paper_title,
        subset=found.split,
        year=found.year,
        address=found.source_paper_url,
        tags=_tags(found.tags or ""),
        context=Context(),
        task="name_paper",
        reference=Reference(
            short_answer=titles[0], alternatives=titles[1:], addresses=_parts(found.target_paper_url or "")
        ),
    )


def _parts(cell: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in cell.split(SEPARATOR) if part.strip())


def _tags(cell: str) -> tuple[str, ...]:
    found = (tag.strip() for tag in cell.split(";" if ";" in cell else ","))
    return tuple(dict.fromkeys(tag for tag in found if tag))
