"""Page recall on MMDocIR and MMLongBench-Doc, and box recall on MMDocIR, compared with plain BM25 over whole pages.

One collection holds the documents of both. The retrievers of the package are asked every question, within its document
and over the whole collection. So is the baseline of `page_baseline.py`, once with OCR for pages without a text layer,
once with the text layer alone. All tables are made from rows, one for each question, which `--json` prints too. Means,
and differences paired by question, have 95 % intervals over documents.
"""

import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from common import (
    Table,
    add_collection_options,
    arguments,
    cache_folder,
    collection_of,
    machine,
    print_results,
    research_folders,
)
from page_baseline import baseline, page_texts
from page_misses import Miss, misses
from page_retrieval import BOXES, PAGES, ask
from question_rows import (
    SCOPES,
    Intervals,
    QuestionRow,
    QuestionSet,
    breakdowns,
    by_set,
    differences,
    intervals,
    read_rows,
    rows_of,
)
from retrieval_tables import (
    Differences,
    box_table,
    breakdown_table,
    difference_tables,
    miss_tables,
    recall_tables,
)

from quoteweave.evaluation.datasets.mmdocir import load_mmdocir

# By name, the retrievers that are fused.
RETRIEVERS: Mapping[str, tuple[str, ...]] = {"lexical": ("lexical",), "bm25": ("bm25",)}
NEURAL: Mapping[str, tuple[str, ...]] = {"minilm": ("minilm",), "lexical + minilm": ("lexical", "minilm")}
PLAIN, TEXT_LAYER = "plain pages", "plain pages, text layer alone"
# The level to be reached (MMDocIR, arXiv 2501.08828, Table 5: ColPali on page images, all 313 documents).
GOALS = {"mmdocir": {"page_recall@1": 0.52, "page_recall@3": 0.75, "page_recall@5": 0.81}}


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    add_collection_options(parser)
    parser.add_argument("--minilm", action="store_true", help="also MiniLM, alone and fused with lexical")
    parser.add_argument("--before", type=Path, metavar="FILE", help="compare with this earlier output of --json")
    parser.add_argument("--misses", action="store_true", help="list questions with gold pages beyond the first five")
    options = parser.parse_args()
    host, before = machine(), read_rows(options.before) if options.before else {}
    sets = question_sets()
    retrievers, missed = measure(sets, options)
    pairs = [(name, PLAIN) for name in retrievers if name not in (PLAIN, TEXT_LAYER)]
    pairs += [(name, "lexical") for name in NEURAL if name in retrievers]
    compared = {
        "differences": _compare({f"{a} less {b}": (retrievers[a], retrievers[b]) for a, b in pairs}),
        "differences_from_before": _compare(
            {name: (rows, before[name]) for name, rows in retrievers.items() if name in before}
        ),
    }
    tables = [
        *recall_tables(retrievers, GOALS),
        *_box_tables(retrievers),
        *(breakdown_table("lexical", by, groups) for by, groups in breakdowns(retrievers["lexical"]).items()),
        *difference_tables("differences", compared["differences"]),
        *difference_tables(f"less {options.before}", compared["differences_from_before"]),
        *(miss_tables(missed, [questions.name for questions in sets]) if options.misses else []),
    ]
    print_results(host, _figures(retrievers, compared, missed), tables, options)


def question_sets() -> list[QuestionSet]:
    """MMDocIR's questions, and MMLongBench-Doc's if there; ends the script if both have a document of the same name."""
    folders = research_folders()
    if len(folders) == 1:
        print("no mmlongbench/ beside mmdocir/: only that is measured; see benchmarks/README.md", file=sys.stderr)
    names = Counter(path.name for folder in folders for path in (folder / "pdf").iterdir())
    twice = sorted(name for name, count in names.items() if count > 1)
    if twice:
        raise SystemExit(f"{' and '.join(map(str, folders))} both hold {twice[0]}; take it out of one of them")
    return [QuestionSet(folder, load_mmdocir(folder)) for folder in folders]


def measure(sets: Sequence[QuestionSet], options: Namespace) -> tuple[dict[str, list[QuestionRow]], list[Miss]]:
    """The rows of each retriever and of both baselines, by name, and what `lexical` misses."""
    examples = [example for questions in sets for example in questions.examples]
    retrievers = {**RETRIEVERS, **(NEURAL if options.minilm else {})}
    with collection_of([questions.folder for questions in sets], options) as collection:
        predictions = {name: ask(examples, parts, collection) for name, parts in retrievers.items()}
        lengths = {document.name: document.pages for document in collection.documents()}
        missed = misses(sets, predictions["lexical"], collection)
    for name, ocr in ((PLAIN, True), (TEXT_LAYER, False)):
        texts = page_texts([questions.folder / "pdf" for questions in sets], cache_folder(options.cache), ocr=ocr)
        predictions[name] = list(baseline(examples, texts))
    return {name: rows_of(sets, set_predictions, lengths) for name, set_predictions in predictions.items()}, missed


def _compare(pairs: Mapping[str, tuple[Sequence[QuestionRow], Sequence[QuestionRow]]]) -> Differences:
    """The first minus the second of each pair."""
    groups = {name: by_set(ours) for name, (ours, _) in pairs.items()}
    return {
        group: {
            scope: {name: differences(groups[name][group], theirs, scope) for name, (_, theirs) in pairs.items()}
            for scope in SCOPES
        }
        for group in next(iter(groups.values()), {})
    }


def _box_tables(retrievers: Mapping[str, Sequence[QuestionRow]]) -> list[Table]:
    by_type = breakdowns(retrievers["lexical"])["type of evidence"]
    groups = {**retrievers, **{f"lexical, {name}": rows for name, rows in by_type.items()}}
    # The baselines find pages and no quotes.
    return [box_table({name: rows for name, rows in groups.items() if name not in (PLAIN, TEXT_LAYER)})]


def _figures(
    retrievers: Mapping[str, Sequence[QuestionRow]], compared: Mapping[str, Differences], missed: Sequence[Miss]
) -> dict[str, object]:
    return {
        "questions": {name: len(rows) for name, rows in by_set(retrievers["lexical"]).items()},
        "figures": {
            name: {group: _both_scopes(set_rows) for group, set_rows in by_set(rows).items()}
            for name, rows in retrievers.items()
        },
        "lexical_by": {
            by: {name: {"n": len(rows), **_both_scopes(rows)} for name, rows in groups.items()}
            for by, groups in breakdowns(retrievers["lexical"]).items()
        },
        **{
            comparison: {
                group: {
                    scope: {name: _plain(intervals_by_name) for name, intervals_by_name in scope_intervals.items()}
                    for scope, scope_intervals in scopes.items()
                }
                for group, scopes in groups.items()
            }
            for comparison, groups in compared.items()
        },
        "misses": [miss.model_dump() for miss in missed],
        "rows": {name: [row.model_dump() for row in rows] for name, rows in retrievers.items()},
    }


def _both_scopes(rows: Sequence[QuestionRow]) -> dict[str, object]:
    return {
        "in_document": _plain(intervals(rows, "in_document", (*PAGES, *BOXES))),
        "collection": _plain(intervals(rows, "collection")),
    }


def _plain(figures: Intervals) -> dict[str, object]:
    return {figure: interval and interval.model_dump() for figure, interval in figures.items()}


if __name__ == "__main__":
    main()
