"""Citation spread (CVCP): the coefficient of variation of citation positions within sentences.

ALiiCE (arXiv 2406.13375). The place of a citation is the first character of its mark, over the length of the sentence
in characters, marks included. The coefficient of variation is the population standard deviation of places over their
mean. The paper and its authors' code take it of different places, so each figure says of which:

    cvcp.pooled         of all citations of a run together, as the published results are computed
    cvcp.per_sentence   of the citations of each sentence; mean over the sentences of a response, then over responses,
                        as the paper words it. A sentence with one citation has 0.

`[1, 2]` is two citations at one place, as `[1][2]` is two at almost one. Undefined are sentences without citations or
with a mean of 0, and responses with no other sentences. The latter sentences are counted in `cvcp.at_start.total`.
`published` reads `[n]` alone, in sentences as ALiiCE's code cuts them (`published_responses.aliice_sentences`).
"""

import statistics
from typing import TYPE_CHECKING

from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.metrics.citations.published_responses import aliice_sentences
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of, total_of
from quoteweave.evaluation.text.claims import MarkedSentence, SentenceSplitter, marked_sentences
from quoteweave.evaluation.text.published_claims import PUBLISHED_MARK

if TYPE_CHECKING:
    from quoteweave.evaluation.statistics.aggregates import Sums

SUMS = ("cvcp.citations", "cvcp.places", "cvcp.squares")


class CitationSpread:
    """Columns `citations` (a count), `places` and `squares` (sums over citations), `per_sentence`, and `at_start`."""

    name = "citation_spread"

    def __init__(self, cut: SentenceSplitter, convention: Convention = "strict") -> None:
        self._cut, self._convention = cut, convention
        self.aggregates: tuple[Aggregate, ...] = (
            Aggregate("cvcp.pooled", SUMS, _pooled),
            mean_of("cvcp.per_sentence"),
            total_of("cvcp.at_start.total", "cvcp.at_start"),
        )

    def row(self, prediction: Prediction, example: Example) -> Row:  # noqa: ARG002  # a metric is given both
        """Places are fractions of a sentence."""
        if prediction.response is None:
            return {}
        by_sentence = [places for places in self._places(prediction) if places]
        spreads = [statistics.pstdev(places) / statistics.fmean(places) for places in by_sentence if any(places)]
        places = [place for sentence in by_sentence for place in sentence]
        return {
            "cvcp.citations": float(len(places)),
            "cvcp.places": sum(places),
            "cvcp.squares": sum(place**2 for place in places),
            "cvcp.per_sentence": statistics.fmean(spreads) if spreads else None,
            "cvcp.at_start": float(len(by_sentence) - len(spreads)),
        }

    def _places(self, prediction: Prediction) -> list[list[float]]:
        """The places of the citations of each sentence."""
        if self._convention == "published":
            sentences = aliice_sentences(prediction.response or "", self._cut)
            return [[mark.start() / len(one) for mark in PUBLISHED_MARK.finditer(one)] for one in sentences]
        return [_places(one) for one in marked_sentences(prediction, self._cut)]


def _places(sentence: MarkedSentence) -> list[float]:
    return [mark.start / len(sentence.marked) for mark in sentence.marks for _ in mark.cited]


def _pooled(sums: "Sums") -> "Sums":
    import numpy as np

    _, citations, places, squares = sums
    mean = places / citations
    spread: Sums = np.sqrt(np.maximum(squares / citations - mean**2, 0)) / mean
    return spread
