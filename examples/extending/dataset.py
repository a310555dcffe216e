"""A dataset of questions in a CSV file, with the columns `question`, `answer`, `document` and `page` (from 1)."""

import csv
from pathlib import Path

from quoteweave import DatasetError, Example, Query, Reference


def load_csv(path: Path) -> list[Example]:
    """Load the questions, named by the numbers of their lines; all columns but `question` may be empty.

    Raises DatasetError, naming file and line, for a row without a question and for a page that is no number from 1.
    """
    examples = []
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        for row in reader:
            question, page = (row.get("question") or "").strip(), (row.get("page") or "").strip()
            if not question:
                raise DatasetError(f"{path}, line {reader.line_num}: there is no question")
            if page and not (page.isdecimal() and int(page)):
                raise DatasetError(f"{path}, line {reader.line_num}: {page!r} is no page; the first page is 1")
            pages = (int(page) - 1,) if page else ()
            examples.append(
                Example(
                    id=str(reader.line_num),
                    query=Query(text=question),
                    document=row.get("document") or None,
                    reference=Reference(answer=row.get("answer") or None, pages=pages),
                )
            )
    return examples
