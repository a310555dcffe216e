"""ALCE's claim recall (ELI5): the share of a question's gold claims that its answer entails.

ALCE (arXiv 2305.14627, section 4). The premise is the answer without its citations, of which `published` reads the
first line alone, as the authors' code does (`compute_claims` of `eval.py`, princeton-nlp/ALCE at 3fdc2ed). An empty
answer entails nothing. Undefined without a response, and for questions without claims.
"""

from collections.abc import Iterable, Mapping

from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.metrics.citations.cited_claims import CitedClaim, CitedResponse, PremiseClaim
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of
from quoteweave.evaluation.text.published_claims import alce_words


def claim_responses(
    answered: Iterable[tuple[Prediction, Example]], convention: Convention = "strict"
) -> dict[str, CitedResponse]:
    """Example to its claims, each with the whole answer as premise; those without claims are left out."""
    return {
        example.id: CitedResponse(tuple(CitedClaim(claim, (text,)) for claim in example.reference.claims), 0)
        for prediction, example in answered
        if (text := alce_words(prediction, published=convention == "published")) is not None
        and example.reference.claims
    }


class ClaimRecall:
    """`claim_recall`, the mean over questions; `responses` are those of `claim_responses`."""

    name = "claim_recall"
    aggregates: tuple[Aggregate, ...] = (mean_of("claim_recall"),)

    def __init__(self, responses: Mapping[str, CitedResponse], verdicts: Mapping[PremiseClaim, bool]) -> None:
        self._responses, self._verdicts = responses, verdicts

    def row(self, prediction: Prediction, example: Example) -> Row:
        """The share, 0 to 1; nothing for a response of which not all was asked."""
        response = self._responses.get(example.id)
        if prediction.response is None or response is None or not response.known(self._verdicts):
            return {}
        return {"claim_recall": response.columns(self._verdicts)["recall"]}
