"""Whether the constants of the `lexical` retriever are more than luck, measured by leaving one document out.

The constants are at the top of `evidence.py`, `literal_matches.py`, `page_feedback.py` and `terminology.py` in
`quoteweave/retrievers/pages`, and in `quoteweave/retrievers/terms`. A setting's score for a question is the mean of its
page recall @1, @3 and @5 within the document. Settings are the shipped one, and those in which one constant is set to
0, halved or doubled. For each document the best of them is chosen on the questions of all other documents, and the
left-out document is scored with it. The mean of these held-out scores is shown beside that of the shipped constants.
Settings in which one constant is 0 show how much its part of the evidence contributes, paired by question, with
intervals over documents.

A linear model with a weight for each part, fitted in the same way (listwise: the softmax of a question's pages, gold
pages equally likely, a penalty on weights that differ from 1), shows what fitted weights would give.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from common import (
    Table,
    add_collection_options,
    arguments,
    bounds,
    collection_of,
    machine,
    percent,
    print_results,
    research_folders,
)

from quoteweave.collection.collection import Collection
from quoteweave.core.examples import Example
from quoteweave.core.records import Filter
from quoteweave.evaluation.datasets.mmdocir import load_mmdocir
from quoteweave.evaluation.statistics.intervals import Interval
from quoteweave.evaluation.statistics.paired_tests import paired_difference
from quoteweave.index import lexical
from quoteweave.retrievers.lexical import LexicalRetriever
from quoteweave.retrievers.pages import evidence, literal_matches, page_feedback, terminology
from quoteweave.retrievers.terms import terms

Setting = tuple[float, ...]
Scores = npt.NDArray[np.float64]

MODULES = {
    evidence: ("BEST_QUOTE", "OUTLINE", "REFERENCE", "PICTURE_TYPE", "FRONT", "TERMS", "STATED"),
    terminology: ("ACRONYMS", "OTHER_NAME"),
    terms: ("TITLE_SHARE",),
    literal_matches: ("TOGETHER", "VERBATIM", "SPELLING"),
    page_feedback: ("SIMILARITY", "NEXT", "CONTINUED"),
}
NAMES = {name: module for module, names in MODULES.items() for name in names}
TIMES = (0.0, 0.5, 2.0)
CUTOFFS = (1, 3, 5)
# Chosen before any figure was seen, so that a weight may well become half or double.
PENALTY = 0.02


@dataclass(frozen=True, slots=True)
class Pages:
    """The evidence for the pages of one question's document."""

    parts: Scores  # (pages, parts), in units
    gold: Scores  # (pages,), whether each is gold
    missing: int  # gold pages that the index lacks


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a way of choosing the constants did."""

    name: str
    scores: Scores  # of each question
    loss: Interval | None  # difference to the shipped constants, with its interval over documents


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    add_collection_options(parser)
    parser.add_argument("--documents", type=int, metavar="N", help="only the first N documents, to try the script")
    options = parser.parse_args()
    host = machine()
    data = research_folders()
    with collection_of(data, options) as collection:
        examples = _examples(data, collection, options.documents)
        shipped: Setting = tuple(float(getattr(module, name)) for name, module in NAMES.items())
        grid = [shipped, *(_changed(shipped, i, times) for i in range(len(NAMES)) for times in TIMES)]
        setting_pages = [_pages(collection, examples, setting) for setting in grid]
    scores = np.stack([[_recall(of.parts.sum(axis=1), of) for of in pages] for pages in setting_pages])
    documents = [example.document or example.id for example in examples]
    chosen = {name: _best(scores[:, np.array(documents) != name]) for name in dict.fromkeys(documents)}
    linear = _held_out_linear(setting_pages[0], documents)
    outcomes = _outcomes(grid, scores, documents, chosen=chosen, linear=linear)
    figures = {
        "questions": len(examples),
        "settings": len(grid),
        "outcomes": [_plain(outcome) for outcome in outcomes],
        "chosen": {document: dict(zip(NAMES, grid[at], strict=True)) for document, at in chosen.items()},
    }
    title = f"mean of page recall @1, @3, @5 within the document, %: {len(examples)} questions, {len(grid)} settings"
    rows = [
        [outcome.name, percent(float(outcome.scores.mean())), bounds(outcome.loss, signed=True)] for outcome in outcomes
    ]
    print_results(host, figures, [Table(title, ("", "mean", "less shipped"), rows)], options)


@contextmanager
def constants(setting: Setting) -> Iterator[None]:
    """Use other constants of the retriever within the block."""
    before = [getattr(module, name) for name, module in NAMES.items()]
    try:
        for (name, module), value in zip(NAMES.items(), setting, strict=True):
            setattr(module, name, value)
        yield
    finally:
        for (name, module), value in zip(NAMES.items(), before, strict=True):
            setattr(module, name, value)


def _changed(setting: Setting, at: int, times: float) -> Setting:
    return (*setting[:at], setting[at] * times, *setting[at + 1 :])


def _examples(data: Sequence[Path], collection: Collection, documents: int | None) -> list[Example]:
    names = {document.name for document in collection.documents()}
    examples = [example for folder in data for example in load_mmdocir(folder) if example.document in names]
    kept = list(dict.fromkeys(example.document for example in examples))[:documents]
    return [example for example in examples if example.document in kept]


def _pages(collection: Collection, examples: Sequence[Example], setting: Setting) -> list[Pages]:
    """The evidence for each question's pages with that setting."""
    with constants(setting):
        retriever, index = LexicalRetriever(collection), lexical.current_lexical_index(collection)
        numbers = {
            name: [page.number for page in collection.pages(name)]
            for name in {example.document or "" for example in examples}
        }
        pages = []
        for example in examples:
            name = example.document or ""
            read = retriever.evidence(index, example.query.text, Filter(documents=(name,)))
            at = {number: place for number in numbers[name] if (place := index.page(name, number)) is not None}
            gold = set(example.reference.pages)
            pages.append(
                Pages(
                    parts=np.stack([part[list(at.values())] for part in read.parts.values()], axis=1, dtype=np.float64)
                    / index.max_idf,
                    gold=np.array([number in gold for number in at], dtype=np.float64),
                    missing=len(gold.difference(at)),
                )
            )
    return pages


def _recall(scores: Scores, pages: Pages) -> float:
    """The mean of page recall at the cutoffs; pages of equal score are ranked in their order."""
    gold = pages.gold[np.argsort(-scores, kind="stable")]
    return float(np.mean([gold[:k].sum() / (gold.sum() + pages.missing) for k in CUTOFFS]))


def _held_out_linear(pages: Sequence[Pages], documents: Sequence[str]) -> Scores:
    """(n,) scores of questions by weights that were fitted without their documents."""
    held_out = np.zeros(len(pages))
    for name in dict.fromkeys(documents):
        weights = _fitted([of for of, document in zip(pages, documents, strict=True) if document != name])
        for i, document in enumerate(documents):
            if document == name:
                held_out[i] = _recall(pages[i].parts @ weights, pages[i])
    return held_out


def _fitted(pages: Sequence[Pages]) -> Scores:
    """(parts,) weights at which gold pages are likeliest."""
    from scipy.optimize import minimize
    from scipy.special import log_softmax

    with_gold = [of for of in pages if of.gold.any()]

    def loss(weights: Scores) -> tuple[float, Scores]:
        total, slope = PENALTY * float(((weights - 1) ** 2).sum()), 2 * PENALTY * (weights - 1)
        for of in with_gold:
            likely = log_softmax(of.parts @ weights)
            wanted = of.gold / of.gold.sum()
            total -= float(wanted @ likely) / len(with_gold)
            slope = slope - (wanted - np.exp(likely)) @ of.parts / len(with_gold)
        return total, slope

    optimum: Scores = minimize(loss, np.ones(with_gold[0].parts.shape[1]), jac=True, method="L-BFGS-B").x
    return optimum


def _outcomes(
    grid: Sequence[Setting], scores: Scores, documents: Sequence[str], *, chosen: Mapping[str, int], linear: Scores
) -> list[Outcome]:
    """The outcomes of the ways of choosing; `scores` are (settings, questions), in the order of the grid."""
    shipped, best = scores[0], _best(scores)

    def outcome(name: str, ours: Scores) -> Outcome:
        return Outcome(name, ours, paired_difference(ours.tolist(), shipped.tolist(), documents))

    off = {name: grid.index(_changed(grid[0], i, 0.0)) for i, name in enumerate(NAMES)}
    return [
        outcome("as shipped", shipped),
        *(outcome(f"without {name}", scores[at]) for name, at in off.items()),
        outcome("left-out documents", np.array([scores[chosen[name], i] for i, name in enumerate(documents)])),
        outcome("left-out documents, linear model", linear),
        outcome("best on all, which flatters", scores[best]),
    ]


def _best(scores: Scores) -> int:
    """The position of the best setting on these questions; the first one if several are equal."""
    return int(np.argmax(scores.mean(axis=1).round(12)))


def _plain(outcome: Outcome) -> dict[str, object]:
    return {
        "name": outcome.name,
        "mean": float(outcome.scores.mean()),
        "less_shipped": outcome.loss and outcome.loss.model_dump(),
    }


if __name__ == "__main__":
    main()
