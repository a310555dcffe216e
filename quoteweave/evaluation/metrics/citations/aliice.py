"""ALiiCE citation recall and precision: whether cited quotes entail the atomic claim they are placed at.

ALiiCE (arXiv 2406.13375). A sentence that cites at several places is taken apart into the claims that these citations
are for (`text.claims`); any other is one claim. Of the claims of a response with a citation in range of the
context, each with the quotes that it cites, each once:

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
"""

from collections.abc import Iterable, Mapping, Sequence

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
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row
from quoteweave.evaluation.text.claims import (
    AtomicClaim,
    DependencyParser,
    MarkedSentence,
    SentenceSplitter,
    atomic_claims,
    marked_sentences,
)

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
            if premises := tuple(quote.words() for quote in quotes if quote is not None):
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
