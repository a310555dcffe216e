"""Whether the recall of gold boxes depends on constants that fit these documents, measured by leaving one out.

C15 is the share of a question's gold boxes in its context of 15 quotes, as `gold_boxes.py` and `eval retrieval` measure
it. Settings are the shipped one, and those in which one constant of the search is set to 0, halved or doubled; at 0,
most of them switch off a rule. For each document the setting that is best on the questions of all other documents is
chosen, and the left-out document is measured with it. If several are equally good, this is done twice: with the shipped
setting, and with the one that is worst for the left-out document, so that a rule that helps only one document does not
count.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType

import numpy as np
import numpy.typing as npt
from common import (
    Table,
    add_collection_options,
    arguments,
    bounds,
    collection_of,
    machine,
    mmdocir,
    percent,
    print_results,
    research_folders,
)
from gold_boxes import contexts_of
from tuning_lexical import MODULES as OF_PAGES
from tuning_lexical import TIMES

from quoteweave.collection.collection import Collection
from quoteweave.core.examples import Example
from quoteweave.evaluation.datasets.mmdocir import load_mmdocir
from quoteweave.evaluation.metrics.box_recall import GoldBoxRecall
from quoteweave.evaluation.statistics.paired_tests import paired_difference
from quoteweave.pipeline import introduced
from quoteweave.retrievers import lexical

MODULES: dict[ModuleType, tuple[str, ...]] = {
    lexical: (
        *("MIN_PAGE_SHARE", "FURTHER_QUOTE", "HEADING_WEIGHT", "FORM_BONUS", "FORM_PAGES", "SECTIONS", "MAX_TOGETHER"),
    ),
    introduced: ("MAX_INTRODUCING", "MAX_FOLLOWING"),
    **OF_PAGES,
}
NAMES = [(module, name) for module, names in MODULES.items() for name in names]


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    add_collection_options(parser)
    options = parser.parse_args()
    host, folder = machine(), mmdocir()
    grid = ["as shipped", *(f"{name} × {times:g}" for _, name in NAMES for times in TIMES)]
    with collection_of(research_folders(), options) as collection:
        examples = [example for example in load_mmdocir(folder) if example.reference.boxes]
        scores = [c15(collection, examples)]
        for module, name in NAMES:
            for times in TIMES:
                with constant(module, name, times):
                    scores.append(c15(collection, examples))
    documents, score_matrix = [example.document or "" for example in examples], np.array(scores)
    chosen = {name: chosen_without(name, documents, score_matrix) for name in dict.fromkeys(documents)}
    outcomes = {
        "left out, of equals the shipped": held_out(
            [equal[0] for equal in chosen.values()], chosen, documents, score_matrix
        ),
        "left out, of equals the worst": held_out(
            [equal[1] for equal in chosen.values()], chosen, documents, score_matrix
        ),
        **dict(zip(grid, score_matrix.tolist(), strict=True)),
    }
    rows = [
        [
            name,
            percent(float(np.mean(case_scores))),
            bounds(paired_difference(case_scores, score_matrix[0].tolist(), documents), signed=True),
        ]
        for name, case_scores in outcomes.items()
    ]
    picks = {name: [grid[at] for at in equal] for name, equal in chosen.items()}
    figures = {
        "questions": len(examples),
        "outcomes": {name: float(np.mean(case_scores)) for name, case_scores in outcomes.items()},
        "chosen": picks,
    }
    tables = [
        Table(f"C15, %: {len(examples)} questions, {len(grid)} settings", ("", "mean", "less shipped"), rows),
        Table(
            "best on all others",
            ("left out", "shipped of equals", "worst of equals"),
            [[k, *v] for k, v in picks.items()],
        ),
    ]
    print_results(host, figures, tables, options)


@contextmanager
def constant(module: ModuleType, name: str, times: float) -> Iterator[None]:
    """Multiply a constant by `times` within the block; an integer stays an integer."""
    before = getattr(module, name)
    try:
        setattr(module, name, type(before)(before * times))
        yield
    finally:
        setattr(module, name, before)


def c15(collection: Collection, examples: Sequence[Example]) -> list[float]:
    """The share of each question's gold boxes in its context of 15."""
    metric, shares = GoldBoxRecall({}), []
    for example, prediction in zip(examples, contexts_of(collection, examples), strict=True):
        share = metric.row(prediction, example).get("gold_box_recall.c15")
        if share is None:
            raise SystemExit(f"no context for {example.id}: {prediction.error}")
        shares.append(share)
    return shares


def chosen_without(name: str, documents: Sequence[str], scores: npt.NDArray[np.float64]) -> tuple[int, int]:
    """Positions of two settings among the best on all other documents: the first, and the one worst on this one."""
    is_document = np.array(documents) == name
    means = scores[:, ~is_document].mean(axis=1).round(12)
    equal = np.flatnonzero(means == means.max())
    return int(equal[0]), int(equal[scores[equal][:, is_document].mean(axis=1).argmin()])


def held_out(
    settings: Sequence[int], names: Iterable[str], documents: Sequence[str], scores: npt.NDArray[np.float64]
) -> list[float]:
    """The score of each question with the setting of its document."""
    of = dict(zip(names, settings, strict=True))
    return [float(scores[of[name], i]) for i, name in enumerate(documents)]


if __name__ == "__main__":
    main()
