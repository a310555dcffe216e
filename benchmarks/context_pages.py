"""The share of gold pages of which a context of 15, or the first ten quotes of a search, has a quote.

A model reads quotes, not pages: if there are two gold pages, it needs quotes of both. The constant `FURTHER_QUOTE` of
`retrievers.lexical` lowers the fit of each further quote of a page. Each value of it is compared, paired by question,
with 1, for which quotes of a page are ranked by their fit alone. For each document the value that is best on the
questions of all other documents is chosen, and the left-out document is measured with it. Figures are means over
questions of the share of their gold pages; intervals are over documents.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from common import Table, add_collection_options, arguments, bounds, collection_of, machine, percent, print_results
from left_out_boxes import chosen_without, constant, held_out
from retrieval_mmdocir import question_sets

from quoteweave.core.answers import C15
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.examples import Example
from quoteweave.core.records import Filter, Hit
from quoteweave.evaluation.statistics.paired_tests import paired_difference
from quoteweave.pipeline.search import Search
from quoteweave.retrievers import lexical
from quoteweave.retrievers.make_retriever import make_fused

STRENGTHS = (1.0, 0.9, 0.8, 0.7, 0.6)
SCOPES = ("document", "collection")
QUOTES = 10
FIGURES = tuple(f"{context}, {scope}" for scope in SCOPES for context in ("C15", f"first {QUOTES}"))


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    add_collection_options(parser)
    options = parser.parse_args()
    host, sets = machine(), question_sets()
    examples = [example for question_set in sets for example in question_set.examples if example.reference.pages]
    with collection_of([question_set.folder for question_set in sets], options) as collection:
        search = Search(make_fused(["lexical"], None, collection), collection=collection)
        shares = {}
        for strength in STRENGTHS:
            with constant(lexical, "FURTHER_QUOTE", strength / lexical.FURTHER_QUOTE):
                shares[strength] = np.array([_shares(search, example) for example in examples])
    documents = [example.document or "" for example in examples]
    several = np.array([len(example.reference.pages) > 1 for example in examples])
    groups = {"all": np.ones_like(several), "one gold page": ~several, "several": several}
    tables = [
        Table(
            f"gold pages found, %: {name}, {int(within.sum())} questions",
            ("", *FIGURES),
            [[f"{strength:g}", *(percent(float(of[within, at].mean())) for at in range(len(FIGURES)))]
             for strength, of in shares.items()],
        )
        for name, within in groups.items()
    ]  # fmt: skip
    outcomes = {f"{strength:g}": of for strength, of in shares.items() if strength != 1}
    outcomes["best on all other documents"] = _left_out(np.array(list(shares.values())), documents)
    rows = [
        [
            name,
            *(
                bounds(paired_difference(of[:, at].tolist(), shares[1.0][:, at].tolist(), documents), signed=True)
                for at in range(4)
            ),
        ]
        for name, of in outcomes.items()
    ]
    tables.append(Table("less 1, points", ("", *FIGURES), rows))
    figures = {
        "shipped": lexical.FURTHER_QUOTE,
        "questions": [example.id for example in examples],
        "shares": {f"{strength:g}": dict(zip(FIGURES, of.T.tolist(), strict=True)) for strength, of in shares.items()},
    }
    print_results(host, figures, tables, options)


def _shares(search: Search, example: Example) -> list[float]:
    """By figure, the share of a question's gold pages of which a quote is found."""
    gold, shares = {(example.document, page) for page in example.reference.pages}, []
    for scope in SCOPES:
        where = Filter(documents=(example.document or "",)) if scope == "document" else None
        context = run_sync(search.context(example.query, C15, where=where)).context
        hits = run_sync(search.find(example.query, QUOTES, where=where)).hits
        shares += [len(gold & _pages(ranked)) / len(gold) for ranked in (context.hits, hits)]
    return shares


def _pages(hits: Sequence[Hit]) -> set[tuple[str | None, int]]:
    return {(hit.quote.document, hit.quote.page) for hit in hits}


def _left_out(shares: npt.NDArray[np.float64], documents: Sequence[str]) -> npt.NDArray[np.float64]:
    """(questions, figures) shares with, for each document and figure, the value that is best on all others."""
    names = list(dict.fromkeys(documents))
    columns = [
        held_out(
            [chosen_without(name, documents, shares[:, :, at])[0] for name in names], names, documents, shares[:, :, at]
        )
        for at in range(shares.shape[2])
    ]
    return np.array(columns).T


if __name__ == "__main__":
    main()
