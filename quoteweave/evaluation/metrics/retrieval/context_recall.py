"""Context recall: the share of the gold quotes that retrieval put before the generator.

MMDocRAG (arXiv 2505.16470, Table 7, the columns of retrieval): of a question's gold quotes, of texts, of images and of
both, the share that the context holds; means over questions. No answer can cite more than this.

Undefined where quotes were not retrieved, or it cannot be known which are gold; of a kind, where none is of it.
"""

from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.metrics.gold import KINDS, gold_of
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of


class ContextRecall:
    """`context.recall`, `context.text.recall` and `context.image.recall`."""

    name = "context_recall"
    aggregates: tuple[Aggregate, ...] = tuple(
        mean_of(name) for name in ("context.recall", *(f"context.{kind}.recall" for kind in KINDS))
    )

    def row(self, prediction: Prediction, example: Example) -> Row:
        """Fractions."""
        gold = gold_of(prediction, example)
        if gold is None or gold.context is None or prediction.scope == "context":
            return {}
        there = set(gold.places().values())
        row = {"context.recall": len(there) / len(gold.kinds) if gold.kinds else None}
        for kind in KINDS:
            of_kind = {item for item, its in gold.kinds.items() if its == kind}
            row[f"context.{kind}.recall"] = len(of_kind & there) / len(of_kind) if of_kind else None
        return row
