"""Page recall, box recall and box precision on MMDocIR, beside plain BM25 over whole pages.

The retrievers of the package are asked every question, within its document and over the whole collection; so is the
baseline of `page_baseline.py`, once with pages that have no text layer read by OCR, once with the text layer alone.
Differences from the baseline are paired by question, with 95 % intervals for which whole documents are resampled.
"""

from argparse import Namespace
from collections.abc import Mapping, Sequence

from common import (
    Table,
    add_collection_options,
    arguments,
    bounds,
    cache_folder,
    collection_of,
    finish,
    machine,
    mmdocir,
    percent,
)
from page_baseline import baseline, page_texts

from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.datasets.mmdocir import load_mmdocir
from quoteweave.evaluation.retrieval_report import Group, RetrievalReport, score_retrieval
from quoteweave.evaluation.statistics import Interval, paired_difference
from quoteweave.pipeline.experiment import SCOPES, run_retrieval
from quoteweave.retrievers.registry import SPARSE, make_retriever

PAGES = tuple(f"page_recall@{k}" for k in (1, 3, 5, 10))
BOXES = tuple(f"box_{figure}@{k}" for figure in ("recall", "precision") for k in (5, 10, 20))
PLAIN, TEXT_LAYER = "plain pages", "plain pages, text layer alone"
# The level to be reached (MMDocIR, arXiv 2501.08828, Table 5: ColPali on page images, all 313 documents).
GOAL = {"page_recall@1": 0.52, "page_recall@3": 0.75, "page_recall@5": 0.81}
MISSED = "page_recall@5"


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    add_collection_options(parser)
    parser.add_argument("--by-evidence", action="store_true", help="also by type of evidence")
    parser.add_argument("--misses", action="store_true", help="list questions with gold pages beyond the first five")
    options = parser.parse_args()
    found, examples = machine(), load_mmdocir(mmdocir())
    reports, predictions = measure(examples, options)
    differences = {name: _differences(reports[name], reports[PLAIN]) for name in SPARSE}
    missed = _misses(examples, reports["lexical"], predictions["lexical"])
    tables = [
        _recall_table(reports, "in_document", f"page recall within the document, %, {len(examples)} questions"),
        _recall_table(reports, "collection", "page recall over the whole collection, %"),
        _box_table({name: reports[name] for name in SPARSE}),
        _difference_table(differences),
        *([_evidence_table(name, report) for name, report in reports.items()] if options.by_evidence else []),
        *([_miss_table(missed)] if options.misses else []),
    ]
    figures = {
        "questions": len(examples),
        "figures": {name: _figures(report.overall) for name, report in reports.items()},
        "by_evidence_type": {name: _by_evidence(report) for name, report in reports.items()},
        "difference_from_plain_pages": {name: _plain(intervals) for name, intervals in differences.items()},
        "misses": missed,
    }
    finish(found, figures, tables, as_json=options.json)


def measure(
    examples: Sequence[Example], options: Namespace
) -> tuple[dict[str, RetrievalReport], dict[str, list[Prediction]]]:
    """Reports and predictions by name: of each retriever and of both baselines."""
    predictions: dict[str, list[Prediction]] = {}
    with collection_of([mmdocir()], options) as opened:
        documents = {document.name for document in opened.documents()}
        for name in SPARSE:
            retriever = make_retriever(name, opened)
            predictions[name] = [
                prediction
                for scope in SCOPES
                for prediction in run_retrieval(examples, retriever, scope=scope, documents=documents)
            ]
    for name, ocr in ((PLAIN, True), (TEXT_LAYER, False)):
        texts = page_texts(mmdocir() / "pdf", cache_folder(options.cache), ocr=ocr)
        predictions[name] = list(baseline(examples, texts))
    return {name: score_retrieval(examples, made) for name, made in predictions.items()}, predictions


def _figures(group: Group) -> dict[str, object]:
    return {
        "n": group.n,
        "in_document": dict(group.in_document.mean_over_questions),
        "collection": dict(group.collection.mean_over_questions),
    }


def _by_evidence(report: RetrievalReport) -> dict[str, object]:
    return {kind: _figures(group) for kind, group in report.by_evidence_type.items()}


def _plain(intervals: Mapping[str, Interval | None]) -> dict[str, object]:
    return {figure: interval and interval.model_dump() for figure, interval in intervals.items()}


def _differences(ours: RetrievalReport, theirs: RetrievalReport) -> dict[str, Interval | None]:
    documents = [row.document or row.example for row in ours.rows]
    return {name: paired_difference(ours.in_document(name), theirs.in_document(name), documents) for name in PAGES}


def _misses(
    examples: Sequence[Example], report: RetrievalReport, predictions: Sequence[Prediction]
) -> list[dict[str, object]]:
    """Questions of which a gold page is not among the first five within the document; pages count from 1."""
    recall = dict(zip([row.example for row in report.rows], report.in_document(MISSED), strict=True))
    first = {made.example: [hit.page + 1 for hit in made.pages[:5]] for made in predictions if made.scope == "document"}
    return [
        {
            "example": example.id,
            "evidence_types": example.evidence_types,
            "question": example.query.text,
            "gold_pages": [page + 1 for page in example.reference.pages],
            "first_pages": first.get(example.id, []),
            MISSED: recall[example.id],
        }
        for example in examples
        if (recall[example.id] or 0.0) < 1.0
    ]


def _recall_table(reports: Mapping[str, RetrievalReport], scope: str, title: str) -> Table:
    rows = []
    for name, report in reports.items():
        scores = report.overall.in_document if scope == "in_document" else report.overall.collection
        rows.append([name, *(bounds(scores.intervals[figure]) for figure in PAGES)])
    if scope == "in_document":
        rows.append(["goal", *(percent(GOAL[figure]) if figure in GOAL else "" for figure in PAGES)])
    return Table(title, ("", *("@" + figure.partition("@")[2] for figure in PAGES)), rows)


def _box_table(reports: Mapping[str, RetrievalReport]) -> Table:
    means = {name: report.overall.in_document.mean_over_questions for name, report in reports.items()}
    return Table(
        "boxes within the document, %",
        ("", *(figure.removeprefix("box_") for figure in BOXES)),
        [[name, *(percent(mean[figure]) for figure in BOXES)] for name, mean in means.items()],
    )


def _difference_table(differences: Mapping[str, Mapping[str, Interval | None]]) -> Table:
    return Table(
        f"page recall within the document less that of {PLAIN}, points",
        ("", *("@" + figure.partition("@")[2] for figure in PAGES)),
        [
            [name, *(bounds(intervals[figure], signed=True) for figure in PAGES)]
            for name, intervals in differences.items()
        ],
    )


def _evidence_table(name: str, report: RetrievalReport) -> Table:
    return Table(
        f"{name}, within the document by type of evidence, %",
        ("", "n", *("@" + figure.partition("@")[2] for figure in PAGES), "box recall@10", "box precision@10"),
        [
            [
                kind,
                str(group.n),
                *(percent(group.in_document.mean_over_questions[figure]) for figure in PAGES),
                *(
                    percent(group.in_document.mean_over_questions[figure]) if name in SPARSE else ""
                    for figure in ("box_recall@10", "box_precision@10")
                ),
            ]
            for kind, group in report.by_evidence_type.items()
        ],
    )


def _miss_table(missed: Sequence[Mapping[str, object]]) -> Table:
    return Table(
        f"lexical: {len(missed)} questions with gold pages beyond the first five (pages from 1)",
        ("question",),
        [
            [
                f"{miss['example']} {miss['evidence_types']} gold {miss['gold_pages']} found {miss['first_pages']}\n"
                f"    {miss['question']}"
            ]
            for miss in missed
        ],
    )


if __name__ == "__main__":
    main()
