"""ALiiCE (arXiv 2406.13375): citation recall and precision of atomic claims, and the spread of citations (CVCP).

Recall and precision tell whether cited quotes entail the atomic claim at which they are cited. A sentence with
citations at several places is split into the claims to which these citations belong (`text.claims`); any other sentence
is one claim. For the claims of a response that has a citation in range of the context, each with the quotes that it
cites, each once:

    recall     the fraction of claims that their cited quotes together (concatenated) entail
    precision  the fraction of citations that count: the claim is entailed by all together, and either by this one
               alone, or not by the others without it

Figures are means over responses, with their standard deviations; `cited_figures` adds others. Sentences without a
citation are not claims here; `metrics.citations.alce` counts them.

Citations out of range are removed from their claim, and counted in `aliice.out_of_range.total`. A sentence whose tree
fails is one claim with all of the sentence's citations, and is counted in `aliice.whole_sentences.total`. Recall and
precision are undefined if nothing in range is cited.

`published` reads and splits responses as the authors' code does (`published_responses`, `text.published_claims`, which
describe each of its quirks): a claim with a citation out of range is left out entirely, `aliice.out_of_range.total`
counts such claims, and `aliice.whole_sentences.total` also sentences without citations (`times_not_used_aliice` there).

The spread is the coefficient of variation of citation positions within sentences. The position of a citation is the
first character of its mark, divided by the length of the sentence in characters, marks included. The coefficient of
variation is the population standard deviation of positions divided by their mean. The paper and its authors' code
compute it over different positions, so each figure says over which:

    cvcp.pooled         over all citations of a run together, as the published results are computed
    cvcp.per_sentence   over the citations of each sentence; mean over the sentences of a response, then over responses,
                        as described in the paper. A sentence with one citation has 0.

`[1, 2]` is two citations at one position, as `[1][2]` is two at almost one. Sentences without citations or with a mean
of 0 are undefined, and so are responses without other sentences. Sentences with a mean of 0 are counted in
`cvcp.at_start.total`. `published` reads only `[n]`, in sentences as ALiiCE's code splits them
(`published_responses.aliice_sentences`).
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from quoteweave.core.answers import Context
from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.metrics.citations.cited_claims import (
    CitedClaim,
    CitedResponse,
    EntailmentMetric,
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
"""Sentences that cite at several places, with their claims; None if the tree failed."""


def aliice_responses(
    answered: Iterable[tuple[Prediction, Example]], split_sentences: SentenceSplitter, parse: DependencyParser
) -> dict[str, CitedResponse]:
    """Example to the claims of its response. Sentences that have to be split are parsed together, each once.

    Raises DatasetError for an example without context.
    """
    responses = [
        (example.id, marked_sentences(prediction, split_sentences), context_of(prediction, example))
        for prediction, example in answered
        if prediction.response is not None
    ]
    taken_apart = _taken_apart((sentence for _, sentences, _ in responses for sentence in sentences), parse)
    return {name: _response(sentences, context, taken_apart) for name, sentences, context in responses}


def _taken_apart(sentences: Iterable[MarkedSentence], parse: DependencyParser) -> TakenApart:
    several = [sentence for sentence in dict.fromkeys(sentences) if len({mark.before for mark in sentence.marks}) > 1]
    docs = parse([sentence.text for sentence in several]) if several else ()
    return {
        sentence: atomic_claims(doc, [mark.before for mark in sentence.marks])
        for sentence, doc in zip(several, docs, strict=True)
    }


def _response(sentences: Sequence[MarkedSentence], context: Context, taken_apart: TakenApart) -> CitedResponse:
    claims: list[CitedClaim] = []
    out_of_range = failed = 0
    for sentence in (sentence for sentence in sentences if sentence.text):
        sentence_claim = AtomicClaim(sentence.text, tuple(range(len(sentence.marks))))
        failed += sentence in taken_apart and taken_apart[sentence] is None
        for claim in taken_apart.get(sentence) or [sentence_claim]:
            cited = dict.fromkeys(item for place in claim.marks for item in sentence.marks[place].cited)
            quotes = [context.quote(*item) for item in cited]
            out_of_range += quotes.count(None)
            if premises := tuple(quote.all_text() for quote in quotes if quote is not None):
                claims.append(CitedClaim(claim.text, premises))
    return CitedResponse(tuple(claims), out_of_range, whole_sentences=failed)


class Aliice(EntailmentMetric):
    """The columns of `CitedResponse.columns`, and `whole_sentences`.

    `responses` come from `aliice_responses`, or by `published` from `published_aliice_responses`; `verdicts` are what a
    model said about their pairs.
    """

    name = "aliice"
    aggregates: tuple[Aggregate, ...] = cited_figures("aliice", COUNTS)

    def row(self, prediction: Prediction, example: Example) -> Row:
        """Counts and fractions; nothing for a response with pairs that were not all asked."""
        columns = self._columns(prediction, example)
        if not columns:
            return {}
        whole_sentences = float(self._responses[example.id].whole_sentences)
        return cited_row("aliice", {**columns, "whole_sentences": whole_sentences})


SUMS = ("cvcp.citations", "cvcp.places", "cvcp.squares")


class CitationSpread:
    """Columns `citations` (a count), `places` and `squares` (sums over citations), `per_sentence`, and `at_start`."""

    name = "citation_spread"

    def __init__(self, split_sentences: SentenceSplitter, convention: Convention = "strict") -> None:
        self._split_sentences, self._convention = split_sentences, convention
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
        """The positions of the citations of each sentence."""
        if self._convention == "published":
            sentences = aliice_sentences(prediction.response or "", self._split_sentences)
            return [
                [mark.start() / len(sentence) for mark in PUBLISHED_MARK.finditer(sentence)] for sentence in sentences
            ]
        return [_places(sentence) for sentence in marked_sentences(prediction, self._split_sentences)]


def _places(sentence: MarkedSentence) -> list[float]:
    return [mark.start / len(sentence.marked) for mark in sentence.marks for _ in mark.cited]


def _pooled(sums: "Sums") -> "Sums":
    import numpy as np

    _, citations, places, squares = sums
    mean = places / citations
    spread: Sums = np.sqrt(np.maximum(squares / citations - mean**2, 0)) / mean
    return spread
