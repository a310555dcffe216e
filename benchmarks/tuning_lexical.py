"""Whether the constants of the `lexical` retriever are more than luck: leave one document out, on MMDocIR.

The constants stand at the top of `quoteweave/retrievers/sparse.py`. A setting's score for a question is the mean of its
page recall @1, @3 and @5 within the document. For each document the best setting of a grid around the shipped one is
chosen on the questions of all other documents, and the left-out document is scored with it. The mean of these held-out
scores stands beside that of the shipped constants, and beside that of pages alone: all that the constants weigh, off.
How much each constant gives shows where it alone is 0.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from common import Table, add_collection_options, arguments, bounds, collection_of, finish, machine, mmdocir, percent

from quoteweave.core.examples import Example
from quoteweave.evaluation.datasets.mmdocir import load_mmdocir
from quoteweave.evaluation.metrics.pages import PageRecall
from quoteweave.evaluation.statistics import Interval, paired_difference
from quoteweave.index.collection import Collection
from quoteweave.pipeline.experiment import run_retrieval
from quoteweave.retrievers import sparse

Setting = tuple[float, ...]
Scores = npt.NDArray[np.float64]

GRID: Mapping[str, Sequence[float]] = {
    "CAPTIONS": (0.0, 0.5, 1.0),
    "BEST_QUOTE": (0.0, 0.5, 1.0),
    "REFERENCE": (0.0, 1.0, 2.0),
    "FLOOR": (0.1, 0.3, 0.5, 0.7),
}
NAMES = tuple(GRID)
# With FLOOR at 1 all quotes of a page score alike, so that pages come in the order of their own words.
PAGES_ALONE: Setting = (0.0, 0.0, 0.0, 1.0)
CUTOFFS = (1, 3, 5)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a way of choosing the constants did."""

    name: str
    setting: Setting | None  # None where it differs between documents
    scores: Scores  # of each question
    gain: Interval | None  # over pages alone, documents resampled


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    add_collection_options(parser)
    parser.add_argument("--documents", type=int, metavar="N", help="only the first N documents, to try the script")
    options = parser.parse_args()
    found = machine()
    with collection_of([mmdocir()], options) as collection:
        examples = _examples(collection, options.documents)
        shipped: Setting = tuple(float(getattr(sparse, name)) for name in NAMES)
        grid = list(
            dict.fromkeys([PAGES_ALONE, *itertools.product(*GRID.values()), shipped, *_each_off(shipped).values()])
        )
        scores = np.stack([_scores(collection, examples, setting) for setting in grid])
    documents = [example.document or example.id for example in examples]
    chosen = {name: _best(scores[:, np.array(documents) != name]) for name in dict.fromkeys(documents)}
    outcomes = _outcomes(grid, scores, documents, shipped=grid.index(shipped), chosen=chosen)
    figures = {
        "questions": len(examples),
        "settings": len(grid),
        "outcomes": [_plain(outcome) for outcome in outcomes],
        "chosen": {document: _named(grid[at]) for document, at in chosen.items()},
    }
    title = f"mean of page recall @1, @3, @5 within the document, %: {len(examples)} questions, {len(grid)} settings"
    columns = ("", "mean", "less pages alone", *NAMES)
    choices = [[document, *map(str, grid[at])] for document, at in chosen.items()]
    tables = [
        Table(title, columns, [_row(outcome) for outcome in outcomes]),
        Table("chosen without the document", ("", *NAMES), choices),
    ]
    finish(found, figures, tables, as_json=options.json)


@contextmanager
def constants(setting: Setting) -> Iterator[None]:
    """The retriever with other constants, until the block ends."""
    before = [getattr(sparse, name) for name in NAMES]
    try:
        for name, value in zip(NAMES, setting, strict=True):
            setattr(sparse, name, value)
        yield
    finally:
        for name, value in zip(NAMES, before, strict=True):
            setattr(sparse, name, value)


def _each_off(setting: Setting) -> dict[str, Setting]:
    """The setting with one constant at 0, by its name; FLOOR moves quotes within a page more than pages."""
    return {name: (*setting[:i], 0.0, *setting[i + 1 :]) for i, name in enumerate(NAMES) if name != "FLOOR"}


def _examples(collection: Collection, documents: int | None) -> list[Example]:
    names = {document.name for document in collection.documents()}
    examples = [example for example in load_mmdocir(mmdocir()) if example.document in names]
    kept = list(dict.fromkeys(example.document for example in examples))[:documents]
    return [example for example in examples if example.document in kept]


def _scores(collection: Collection, examples: Sequence[Example], setting: Setting) -> Scores:
    """(n,) the score of each question with that setting."""
    documents = {example.document for example in examples if example.document is not None}
    recall = PageRecall(cutoffs=CUTOFFS)
    with constants(setting):
        retriever = sparse.LexicalRetriever(collection)
        predictions = run_retrieval(examples, retriever, scope="document", documents=documents, quotes=1, pages=5)
        rows = [recall.row(made, example) for made, example in zip(predictions, examples, strict=True)]
    names = [figure.name for figure in recall.figures]
    scores: Scores = np.array([[row.get(name) or 0.0 for name in names] for row in rows]).mean(axis=1)
    return scores


def _outcomes(
    grid: Sequence[Setting], scores: Scores, documents: Sequence[str], *, shipped: int, chosen: Mapping[str, int]
) -> list[Outcome]:
    """What the ways of choosing come to; `scores` are (settings, questions), settings given by place in the grid."""
    held_out = np.array([scores[chosen[name], i] for i, name in enumerate(documents)])
    alone, best = scores[grid.index(PAGES_ALONE)], _best(scores)

    def outcome(name: str, setting: Setting | None, ours: Scores) -> Outcome:
        return Outcome(name, setting, ours, paired_difference(ours.tolist(), alone.tolist(), documents))

    return [
        outcome("pages alone", PAGES_ALONE, alone),
        outcome("as shipped", grid[shipped], scores[shipped]),
        *(outcome(f"without {name}", off, scores[grid.index(off)]) for name, off in _each_off(grid[shipped]).items()),
        outcome("left-out documents", None, held_out),
        outcome("best on all, which flatters", grid[best], scores[best]),
    ]


def _best(scores: Scores) -> int:
    """Position of the best setting on these questions; of equals the first, which switches most off."""
    return int(np.argmax(scores.mean(axis=1).round(12)))


def _named(setting: Setting | None) -> dict[str, float] | None:
    return None if setting is None else dict(zip(NAMES, setting, strict=True))


def _plain(outcome: Outcome) -> dict[str, object]:
    return {
        "name": outcome.name,
        "constants": _named(outcome.setting),
        "mean": float(outcome.scores.mean()),
        "gain_over_pages_alone": outcome.gain and outcome.gain.model_dump(),
    }


def _row(outcome: Outcome) -> list[str]:
    setting = [""] * len(NAMES) if outcome.setting is None else [str(value) for value in outcome.setting]
    return [outcome.name, percent(float(outcome.scores.mean())), bounds(outcome.gain, signed=True), *setting]


if __name__ == "__main__":
    main()
