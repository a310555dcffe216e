"""ALiiCE (arXiv 2406.13375): citation recall and precision of atomic claims, and the spread of citations (CVCP).

Recall and precision tell whether cited quotes entail the atomic claim they are placed at. A sentence that cites at
several places is taken apart into the claims that these citations are for (`text.claims`); any other is one claim. Of
the claims of a response with a citation in range of the context, each with the quotes that it cites, each once:

    recall     the fraction of claims that their cited quotes together (concatenated) entail
    precision  the fraction of citations that count: the claim is entailed by all together, and either by this one
               alone, or not by the others without it

Figures are means over responses, with their standard deviations; further ones are of `cited_figures`. Sentences without
citation are no claims here; `metrics.citations.alce` counts them.

Citations out of range are left out of their claim, and counted in `aliice.out_of_range.total`. A sentence whose tree
fails is one claim that cites all that the sentence cites, and is counted in `aliice.whole_sentences.total`. Recall and
precision are undefined where nothing is cited in range.

`published` reads and splits responses as the authors' code does (`published_responses`, `text.published_claims`, where
each of its quirks stands): a claim with a citation out of range is left out whole, `aliice.out_of_range.total` counts
such claims, and `aliice.whole_sentences.total` sentences without citations too
(`times_not_used_aliice` there).

The spread is the coefficient of variation of citation positions within sentences. The place of a citation is the first
character of its mark, over the length of the sentence in characters, marks included. The coefficient of variation is
the population standard deviation of places over their mean. The paper and its authors' code take it of different
places, so each figure says of which:

    cvcp.pooled         of all citations of a run together, as the published results are computed
    cvcp.per_sentence   of the citations of each sentence; mean over the sentences of a response, then over responses,
                        as the paper words it. A sentence with one citation has 0.

`[1, 2]` is two citations at one place, as `[1][2]` is two at almost one. Undefined are sentences without citations or
with a mean of 0, and responses with no other sentences. The latter sentences are counted in `cvcp.at_start.total`.
`published` reads `[n]` alone, in sentences as ALiiCE's code cuts them (`published_responses.aliice_sentences`).
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from quoteweave.core.answers import Context
from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.metrics.citations.cited_claims import (
    CitedClaim,
    CitedResponse,
    PremiseClaim,
    cited_figures,
    cited_row,
    context_of,
)
from quoteweave.evaluation.metrics.citations.published_responses import aliice_sentences
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.statistics.aggregates import AMOUNT, Aggregate, Row, mean_of, total_of
from quoteweave.evaluation.text.claims import (
    AtomicClaim,
    DependencyParser,
    MarkedSentence,
    SentenceSplitter,
    atomic_claims,
    marked_sentences,
)
from quoteweave.evaluation.text.published_claims import PUBLISHED_MARK

if TYPE_CHECKING:
    from quoteweave.evaluation.statistics.aggregates import Sums


COUNTS = ("claims", "out_of_range", "without_words", "whole_sentences")
TakenApart = Mapping[MarkedSentence, list[AtomicClaim] | None]
"""Sentences that cite at several places, to their claims; None where the tree failed."""


def aliice_responses(
    answered: Iterable[tuple[Prediction, Example]], cut: SentenceSplitter, parse: DependencyParser
) -> dict[str, CitedResponse]:
    """Example to the claims of its response. Sentences that have to be taken apart are parsed together, each once.

    Raises DatasetError for an example without context.
    """
    read = [
        (example.id, [one for one in marked_sentences(prediction, cut) if one.text], context_of(prediction, example))
        for prediction, example in answered
        if prediction.response is not None
    ]
    taken_apart = _taken_apart((sentence for _, sentences, _ in read for sentence in sentences), parse)
    return {name: _response(sentences, context, taken_apart) for name, sentences, context in read}


def _taken_apart(sentences: Iterable[MarkedSentence], parse: DependencyParser) -> TakenApart:
    several = list(dict.fromkeys(one for one in sentences if len({mark.before for mark in one.marks}) > 1))
    docs = parse([sentence.text for sentence in several]) if several else ()
    return {
        sentence: atomic_claims(doc, [mark.before for mark in sentence.marks])
        for sentence, doc in zip(several, docs, strict=True)
    }


def _response(sentences: Sequence[MarkedSentence], context: Context, taken_apart: TakenApart) -> CitedResponse:
    claims: list[CitedClaim] = []
    out_of_range = failed = 0
    for sentence in sentences:
        whole = AtomicClaim(sentence.text, tuple(range(len(sentence.marks))))
        failed += sentence in taken_apart and taken_apart[sentence] is None
        for claim in taken_apart.get(sentence) or [whole]:
            cited = dict.fromkeys(item for place in claim.marks for item in sentence.marks[place].cited)
            quotes = [context.quote(*item) for item in cited]
            out_of_range += quotes.count(None)
            if premises := tuple(quote.all_text() for quote in quotes if quote is not None):
                claims.append(CitedClaim(claim.text, premises))
    return CitedResponse(tuple(claims), out_of_range, whole_sentences=failed)


class Aliice:
    """Columns of `CitedResponse.columns`, and `whole_sentences`.

    `responses` are those of `aliice_responses`, or by `published` of `published_aliice_responses`; `verdicts` what a
    model said of their pairs.
    """

    name = "aliice"
    aggregates: tuple[Aggregate, ...] = cited_figures("aliice", COUNTS)

    def __init__(self, responses: Mapping[str, CitedResponse], verdicts: Mapping[PremiseClaim, bool]) -> None:
        self._responses, self._verdicts = responses, verdicts

    def row(self, prediction: Prediction, example: Example) -> Row:
        """Counts and fractions; nothing for a response of which not all was asked."""
        response = self._responses.get(example.id)
        if prediction.response is None or response is None or not response.known(self._verdicts):
            return {}
        columns = {**response.columns(self._verdicts), "whole_sentences": float(response.whole_sentences)}
        return cited_row("aliice", columns)


SUMS = ("cvcp.citations", "cvcp.places", "cvcp.squares")


class CitationSpread:
    """Columns `citations` (a count), `places` and `squares` (sums over citations), `per_sentence`, and `at_start`."""

    name = "citation_spread"

    def __init__(self, cut: SentenceSplitter, convention: Convention = "strict") -> None:
        self._cut, self._convention = cut, convention
        self.aggregates: tuple[Aggregate, ...] = (
            Aggregate("cvcp.pooled", SUMS, _pooled, limits=AMOUNT),
            mean_of("cvcp.per_sentence", limits=AMOUNT),
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
