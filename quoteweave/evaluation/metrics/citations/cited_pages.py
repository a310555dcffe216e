"""Whether answers cite gold pages, for datasets that give these, such as a user's own questions."""

from quoteweave.core.answers import Citation
from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of


class CitedPages:
    """`cited_pages.hit`: whether an answer cites a gold page; `cited_pages.precision`: the share of its pages.

    What the answer that a user sees shows as a place to look at counts too. An abstention cites nothing: its hit is 0,
    and its precision undefined. Undefined without an answer, without gold pages, and without the question's document.
    """

    name = "cited_pages"
    aggregates: tuple[Aggregate, ...] = (mean_of("cited_pages.hit"), mean_of("cited_pages.precision"))

    def row(self, prediction: Prediction, example: Example) -> Row:
        """1 or 0, and a fraction of the pages that are cited."""
        if prediction.answer is None or not example.reference.pages or example.document is None:
            return {}
        pages = {(citation.document, citation.page): citation for citation in prediction.answer.citations}
        gold = [is_on_gold_page(citation, example) for citation in pages.values()]
        return {"cited_pages.hit": float(any(gold)), "cited_pages.precision": sum(gold) / len(gold) if gold else None}


def is_on_gold_page(citation: Citation, example: Example) -> bool:
    """Whether a citation is on a gold page; documents match with or without the file's suffix."""
    names = {citation.document, citation.document.rpartition(".")[0]}
    return citation.page in example.reference.pages and example.document in names
