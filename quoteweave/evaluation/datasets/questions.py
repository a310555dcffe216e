"""A user's own questions: one JSON object per line, in which only `question` is required."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, Reference
from quoteweave.core.files.jsonl import iter_records
from quoteweave.core.records import Query


class _Line(BaseModel):
    # Extra fields are forbidden, so that a misspelled field is an error rather than ignored.
    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)

    question: str = Field(min_length=1)
    id: str | None = None
    document: str | None = None
    pages: tuple[Annotated[int, Field(ge=1)], ...] = ()
    answer: str | None = None
    short_answer: str | None = None
    domain: str | None = None
    answerable: bool = True


def load_questions(path: Path) -> list[Example]:
    """The questions, in the order of the file. Pages are written from 1, as people count, and stored from 0.

    A question without `id` is named by the number of its line. Raises DatasetError, naming file, line and field, for
    unreadable content, for an unknown field, and for a repeated id.
    """
    examples: list[Example] = []
    first_lines: dict[str, int] = {}
    for number, line in iter_records(path, _Line):
        name = line.id or str(number)
        first = first_lines.setdefault(name, number)
        if first != number:
            raise DatasetError(f"{path}, line {number}, id: {name!r} is on line {first} already")
        if line.pages and line.document is None:
            raise DatasetError(f"{path}, line {number}, pages: of which document? Name it in `document`")
        if line.pages and not line.answerable:
            raise DatasetError(f"{path}, line {number}, pages: there are none for a question that is not `answerable`")
        examples.append(
            Example(
                id=name,
                query=Query(text=line.question),
                document=line.document,
                domain=line.domain,
                reference=Reference(
                    answer=line.answer,
                    short_answer=line.short_answer,
                    pages=tuple(page - 1 for page in line.pages),
                    relevant=None if line.answerable else {},
                ),
            )
        )
    return examples
