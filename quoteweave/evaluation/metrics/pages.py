"""Page recall: the share of a question's gold pages among the first k pages of a ranking."""

from collections.abc import Mapping, Sequence

from quoteweave.core.records import Prediction, Reference
from quoteweave.evaluation.metrics.summary import Row, mean_over_questions


class PageRecall:
    """`page_recall@k` = |gold pages ∩ first k pages| / |gold pages|, for each k of `cutoffs`.

    The page-level recall of MMDocIR (arXiv 2501.08828, Table 5). The mean over questions is what that table calls
    "micro"; its "macro" is a mean over domains. Some papers call a hit on any gold page recall: that is another figure.

    `documents` tells for each example's id the document that its gold pages are of, so that a page of the same number
    in another document does not count. Undefined for a question without gold pages or without a document.
    """

    def __init__(self, documents: Mapping[str, str | None], *, cutoffs: Sequence[int] = (1, 3, 5, 10)) -> None:
        self._documents = documents
        self._cutoffs = tuple(cutoffs)
        self.names = tuple(f"page_recall@{k}" for k in self._cutoffs)

    def row(self, prediction: Prediction, reference: Reference) -> Row:
        """`gold_pages`, a count, and `page_recall@k`, 0 to 1."""
        document = self._documents.get(prediction.example)
        gold = {(document, page) for page in reference.pages} if document is not None else set()
        ranked = [(page.document, page.page) for page in prediction.pages]
        row: dict[str, float | None] = {"gold_pages": float(len(gold))}
        for k, name in zip(self._cutoffs, self.names, strict=True):
            row[name] = len(gold.intersection(ranked[:k])) / len(gold) if gold else None
        return row

    def summarise(self, rows: Sequence[Row]) -> dict[str, float | None]:
        """The mean over questions of each `page_recall@k`."""
        return mean_over_questions(rows, self.names)
