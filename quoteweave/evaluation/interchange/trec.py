"""Runs and qrels as trec_eval reads them: runs become predictions, and what was ranked is written as both.

    run    query Q0 item rank score tag
    qrels  query 0 item grade

trec_eval ranks by score alone, in single precision, ties by the item's name, the greater first; the rank column is
passed over. So do we, in reading; in writing, scores are such that they give the ranking that was made.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Prediction
from quoteweave.evaluation.columns import iter_columns
from quoteweave.evaluation.metrics.rankings import by_score

RUN = ("query", "Q0", "item", "rank", "score", "tag")
_RUN_LINE = re.compile(rb"\s*+(?:[^\s]++\s++){3}-?+[0-9]++\s++[-+0-9.eE]++\s++[^\s]++\s*+")
_SPACE = re.compile(r"\s")


def is_trec_run(line: bytes) -> bool:
    """Whether a line has the six columns of a run."""
    return _RUN_LINE.fullmatch(line) is not None


def load_trec_run(path: Path) -> list[Prediction]:
    """A prediction a query, in the order of the file: its items with their scores, best first as trec_eval ranks them.

    Raises DatasetError, naming file, line and column, for what cannot be read, and for an item that comes twice.
    """
    ranked: dict[str, dict[str, float]] = {}
    tags: dict[str, str] = {}
    for line in iter_columns(path, RUN):
        query, _, item, _, _, tag = line.values
        items = ranked.setdefault(query, {})
        if item in items:
            raise DatasetError(f"{line.where}, item: {item!r} is ranked for query {query!r} already")
        items[item] = line.number(4)
        tags.setdefault(query, tag)
    return [
        Prediction(example=query, items={item: items[item] for item in by_score(items)}, model=tags[query])
        for query, items in ranked.items()
    ]


def run_lines(ranked: Mapping[str, Mapping[str, float]], *, tag: str) -> Iterator[str]:
    """Lines of a run, best first; scores are exact. Names are such as `column` gives."""
    for query, items in ranked.items():
        for rank, item in enumerate(by_score(items), start=1):
            yield f"{query} Q0 {item} {rank} {items[item]!r} {tag}\n"


def qrels_lines(grades: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Lines of qrels. Names are such as `column` gives."""
    for query, items in grades.items():
        for item, grade in items.items():
            yield f"{query} 0 {item} {grade}\n"


def column(name: str) -> str:
    """A name as one column: white space, by which trec_eval parts columns, is written as in URLs (`%20`).

    Raises DatasetError for a name that is empty.
    """
    if not name:
        raise DatasetError("a question or an item has an empty name, which has no place in a file of columns")
    return _SPACE.sub(lambda found: quote(found[0]), name)
