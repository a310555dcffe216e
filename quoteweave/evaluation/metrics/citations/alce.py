"""ALCE's recall and precision of citations (entailed by what is cited, which is all needed), and its claim recall.

Source: ALCE (arXiv 2305.14627, section 4). For the sentences of a response, each with the quotes that it cites, once:

    recall     the fraction of all sentences that their cited quotes together (concatenated) entail; a sentence that
               cites nothing counts 0
    precision  the fraction of citations that count: the sentence is entailed by all together, and either by this one
               alone, or not by the others without it

Figures are means over responses, with their standard deviations; `cited_figures` adds others. `alce.first3.…` keeps the
first three citations of each sentence, as the authors' code does by default. As there, a sentence that cites a quote
missing from the context counts 0, and its citations are left out of precision; `alce.out_of_range.total` says how many
such quotes are cited. Unlike there, marks at the beginning of a sentence belong to the one before, as in ALiiCE (arXiv
2406.13375) for both.

Both are undefined without a sentence, precision without citations. `published` counts the latter as 0, and reads
responses as the authors' code does (`published_responses`, which describes each of its quirks);
`alce.out_of_range.total` is then a number of sentences.

Claim recall (ELI5; section 4) is the share of a question's gold claims that its answer entails. The premise is the
answer without its citations, of which `published` reads only the first line, as the authors' code does
(`compute_claims` of `eval.py`, princeton-nlp/ALCE at 3fdc2ed). An empty answer entails nothing. Undefined without a
response, and for questions without claims.
"""

from collections.abc import Iterable, Mapping

from quoteweave.core.answers import Context
from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.metrics.citations.cited_claims import (
    CitedClaim,
    CitedResponse,
    EntailmentMetric,
    PremiseClaim,
    cited_figures,
    cited_row,
    context_of,
)
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of
from quoteweave.evaluation.text.claims import MarkedSentence, SentenceSplitter, marked_sentences
from quoteweave.evaluation.text.published_claims import alce_words

COUNTS = ("out_of_range", "without_words")


def alce_responses(
    answered: Iterable[tuple[Prediction, Example]], split_sentences: SentenceSplitter, *, first: int | None = None
) -> dict[str, CitedResponse]:
    """Example to the sentences of its response, without those that say nothing; `first`: citations kept of each.

    Raises DatasetError for an example without context.
    """
    return {
        example.id: _response(marked_sentences(prediction, split_sentences), context_of(prediction, example), first)
        for prediction, example in answered
        if prediction.response is not None
    }


def _response(sentences: list[MarkedSentence], context: Context, first: int | None) -> CitedResponse:
    filled = [sentence for sentence in sentences if sentence.text]
    return CitedResponse(
        claims=tuple(CitedClaim(sentence.text, _premises(sentence, context)[:first]) for sentence in filled),
        out_of_range=sum(context.quote(*item) is None for sentence in filled for item in sentence.cited),
        kept=first,
    )


def _premises(sentence: MarkedSentence, context: Context) -> tuple[str, ...]:
    """The words of the cited quotes; empty if one of the quotes does not exist."""
    quotes = [context.quote(*item) for item in sentence.cited]
    return () if None in quotes else tuple(quote.all_text() for quote in quotes if quote is not None)


class Alce(EntailmentMetric):
    """The columns of `CitedResponse.columns`; each sentence is a claim.

    `responses` come from `alce_responses`, or by `published` from `published_alce_responses`; `verdicts` are what a
    model said about their pairs.
    """

    name = "alce"

    def __init__(
        self,
        responses: Mapping[str, CitedResponse],
        verdicts: Mapping[PremiseClaim, bool],
        convention: Convention = "strict",
    ) -> None:
        super().__init__(responses, verdicts)
        self._empty = 0.0 if convention == "published" else None
        kept = next((response.kept for response in responses.values()), None)
        self._prefix = prefix = "alce" if kept is None else f"alce.first{kept}"
        self.aggregates: tuple[Aggregate, ...] = cited_figures(prefix, COUNTS)

    def row(self, prediction: Prediction, example: Example) -> Row:
        """Counts and fractions; nothing for a response with pairs that were not all asked."""
        columns = self._columns(prediction, example)
        if not columns:
            return {}
        if columns["precision"] is None and columns["claims"]:
            columns["precision"] = self._empty
        return cited_row(self._prefix, columns)


def claim_responses(
    answered: Iterable[tuple[Prediction, Example]], convention: Convention = "strict"
) -> dict[str, CitedResponse]:
    """Example to its claims, each with the whole answer as premise; examples without claims are left out."""
    return {
        example.id: CitedResponse(tuple(CitedClaim(claim, (text,)) for claim in example.reference.claims), 0)
        for prediction, example in answered
        if (text := alce_words(prediction, published=convention == "published")) is not None
        and example.reference.claims
    }


class ClaimRecall(EntailmentMetric):
    """`claim_recall`, the mean over questions; `responses` come from `claim_responses`."""

    name = "claim_recall"
    aggregates: tuple[Aggregate, ...] = (mean_of("claim_recall"),)

    def row(self, prediction: Prediction, example: Example) -> Row:
        """The share, 0 to 1; nothing for a response with pairs that were not all asked."""
        columns = self._columns(prediction, example)
        return {"claim_recall": columns["recall"]} if columns else {}
