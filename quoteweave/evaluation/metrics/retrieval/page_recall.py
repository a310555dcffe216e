"""Page recall: the share of a question's gold pages among the first k pages of a ranking."""

from collections.abc import Sequence

from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of


class PageRecall:
    """`page_recall@k` = |gold pages ∩ first k pages| / |gold pages|, for each k of `cutoffs`; means over questions.

    The page-level recall of MMDocIR (arXiv 2501.08828, Table 5). The mean over questions is what that table calls
    "micro"; its "macro" is `page_recall@k.mean_over_domains`. Some papers call a hit on any gold page recall: that is
    another figure.

    A page of the same number in another document does not count. Undefined for a question without gold pages or without
    a document, and where nothing was searched (an example's own quotes, or a ranking of other items).
    """

    name = "page_recall"

    def __init__(self, *, cutoffs: Sequence[int] = (1, 3, 5, 10)) -> None:
        self._cutoffs = tuple(cutoffs)
        self.aggregates: tuple[Aggregate, ...] = tuple(
            mean_of(f"page_recall@{k}", by_domain=True) for k in self._cutoffs
        )

    def row(self, prediction: Prediction, example: Example) -> Row:
        """`gold_pages`, a count, and `page_recall@k`, 0 to 1."""
        gold = {(example.document, page) for page in example.reference.pages}
        if not gold or example.document is None or prediction.scope == "context" or prediction.items:
            return {}
        if prediction.context is not None and not prediction.pages:  # no ranking was kept
            return {}
        ranked = [(page.document, page.page) for page in prediction.pages]
        recalls = {f"page_recall@{k}": len(gold.intersection(ranked[:k])) / len(gold) for k in self._cutoffs}
        return {"gold_pages": float(len(gold)), **recalls}
