"""Layout recall as MMDocIR publishes it: overlaps with gold summed over the quotes; it can exceed 1."""

from collections.abc import Sequence

from quoteweave.core.boxes import area, intersection
from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.metrics.retrieval.box_coverage import gold_boxes, ranked_boxes
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of


class LayoutRecall:
    """`layout_recall@k` of MMDocIR (arXiv 2501.08828, its layout-level recall), means over questions and over domains.

    With q_1 … q_k the boxes of the first k quotes and g the gold boxes, pairs on the same page alone:

        layout_recall@k = Σ_i Σ_g area(q_i ∩ g) / Σ_g area(g)

    An area that several quotes cover counts for each of them, so the figure can exceed 1; `box_recall@k` counts it
    once. Names conflict: neither is the share of gold layout elements found, which is `recall@k` of `rankings`.

    The definition is that of the authors' evaluation script as others restate it; the script itself was not at hand,
    nor its results, so that no published figure has been reproduced with this. Their candidates are layout elements
    alone, so whole-page quotes are left out before the first k are taken. Undefined where `box_recall@k` is.
    """

    name = "layout_recall"

    def __init__(self, *, cutoffs: Sequence[int] = (1, 5, 10)) -> None:
        self._cutoffs = tuple(cutoffs)
        self.aggregates: tuple[Aggregate, ...] = tuple(
            mean_of(f"layout_recall@{k}", by_domain=True) for k in self._cutoffs
        )

    def row(self, prediction: Prediction, example: Example) -> Row:
        """`layout_recall@k`, 0 or more."""
        gold, quotes = gold_boxes(example), ranked_boxes(prediction)
        gold_area = sum(area(box) for _, box in gold)
        if quotes is None or not gold_area:
            return {}
        overlaps = [
            sum(area(intersection(box, other)) for there, other in gold if there == place) for place, box in quotes
        ]
        return {f"layout_recall@{k}": sum(overlaps[:k]) / gold_area for k in self._cutoffs}
