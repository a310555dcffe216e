"""A metric: the share of the cited pages that are gold pages."""

from collections.abc import Mapping

from quoteweave import Example, Prediction
from quoteweave.evaluation import mean_of, ratio_of


class CitedPages:
    """Columns `cited_pages.cited` and `cited_pages.gold`, which are counts, and their share `cited_pages.precision`.

    Undefined where the dataset gives no gold pages or the prediction has no answer; the share also where nothing is
    cited.
    """

    name = "cited_pages"
    aggregates = (
        mean_of("cited_pages.precision"),
        ratio_of("cited_pages.precision.pooled", "cited_pages.gold", "cited_pages.cited"),
    )

    def row(self, prediction: Prediction, example: Example) -> Mapping[str, float | None]:
        """The counts and the share for one question."""
        if not example.reference.pages or prediction.answer is None:
            return {}
        cited = {(citation.document, citation.page) for citation in prediction.answer.citations}
        gold = cited & {(example.document, page) for page in example.reference.pages}
        return {
            "cited_pages.cited": len(cited),
            "cited_pages.gold": len(gold),
            "cited_pages.precision": len(gold) / len(cited) if cited else None,
        }
