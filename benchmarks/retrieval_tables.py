"""The tables that `retrieval_mmdocir.py` prints, made from rows."""

from collections.abc import Iterator, Mapping, Sequence

from common import Table, bounds, percent
from page_misses import CAUSES, Miss
from page_retrieval import BOXES, PAGES
from question_rows import SCOPES, Intervals, QuestionRow, Scope, by_set, intervals

SCOPE_NAMES: Mapping[Scope, str] = {"in_document": "within the document", "collection": "over the whole collection"}
AT = tuple("@" + figure.partition("@")[2] for figure in PAGES)
Rows = Mapping[str, Sequence[QuestionRow]]
"""The rows of each retriever, by its name."""
Differences = Mapping[str, Mapping[Scope, Mapping[str, Intervals]]]
"""Differences by set, scope, and the name of the comparison."""


def recall_tables(retrievers: Rows, goals: Mapping[str, Mapping[str, float]]) -> Iterator[Table]:
    """A table for each scope and set. `goals` are figures to be reached within the document, by set."""
    groups = {name: by_set(rows) for name, rows in retrievers.items()}
    for scope in SCOPES:
        for group, first in next(iter(groups.values())).items():
            cells = [[name, *_cells(intervals(group_rows[group], scope))] for name, group_rows in groups.items()]
            if scope == "in_document" and group in goals:
                goal = goals[group]
                cells.append(["goal", *(percent(goal[figure]) if figure in goal else "" for figure in PAGES)])
            title = f"page recall {SCOPE_NAMES[scope]}, %: {group}, {_size(first)}"
            yield Table(title, ("", *AT), cells)


def box_table(rows: Mapping[str, Sequence[QuestionRow]]) -> Table:
    """A table of box recall of groups of questions, by name; groups without gold boxes are left out."""
    cells = []
    for name, group in rows.items():
        means = intervals(group, "in_document", BOXES)
        n = max((mean.n for mean in means.values() if mean), default=0)
        if n:
            cells.append([name, str(n), *(percent(None if mean is None else mean.mean) for mean in means.values())])
    figures = (figure.removeprefix("box_") for figure in BOXES)
    return Table("boxes within the document, %, questions with gold boxes", ("", "n", *figures), cells)


def breakdown_table(retriever: str, by: str, groups: Mapping[str, Sequence[QuestionRow]]) -> Table:
    """Page recall of one retriever by group of questions, in both scopes."""
    far = ("page_recall@1", "page_recall@5")
    cells = [
        [
            name,
            str(len(rows)),
            str(len({row.document for row in rows})),
            *_cells(intervals(rows, "in_document")),
            *_cells(intervals(rows, "collection", far)),
        ]
        for name, rows in groups.items()
        if rows
    ]
    columns = ("", "n", "documents", *AT, "collection @1", "collection @5")
    return Table(f"{retriever}, page recall by {by}, %", columns, cells)


def difference_tables(title: str, compared: Differences) -> Iterator[Table]:
    """A table for each set and scope."""
    for group, scopes in compared.items():
        for scope, pairs in scopes.items():
            cells = [[name, *_cells(differences, signed=True)] for name, differences in pairs.items()]
            yield Table(f"{title}, page recall {SCOPE_NAMES[scope]}, points: {group}", ("", *AT), cells)


def miss_tables(missed: Sequence[Miss], sets: Sequence[str]) -> Iterator[Table]:
    """A table of the number of questions by cause and set, then one of the questions themselves."""
    counted = [[cause, *(str(_count(missed, cause, name)) for name in sets)] for cause in CAUSES]
    yield Table(f"lexical: {len(missed)} questions with gold pages beyond the first five", ("", *sets), counted)
    for cause in CAUSES:
        lines = [
            [
                f"{miss.example} {', '.join(miss.evidence_types)}; gold {_numbers(miss.gold_pages)}; "
                f"found {_numbers(miss.first_pages)}\n    {miss.question}"
            ]
            for miss in missed
            if miss.cause == cause
        ]
        if lines:
            yield Table(f"{cause} (pages from 1)", ("question",), lines)


def _cells(figures: Intervals, *, signed: bool = False) -> list[str]:
    return [bounds(interval, signed=signed) for interval in figures.values()]


def _size(rows: Sequence[QuestionRow]) -> str:
    return f"{len(rows)} questions on {len({row.document for row in rows})} documents"


def _count(missed: Sequence[Miss], cause: str, name: str) -> int:
    return sum(miss.cause == cause and miss.set == name for miss in missed)


def _numbers(pages: Sequence[int]) -> str:
    return ", ".join(map(str, pages)) or "none"
