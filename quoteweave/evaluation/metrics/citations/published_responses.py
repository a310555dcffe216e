"""The cited claims of responses as the codes of ALCE and ALiiCE read them, for the `published` convention.

Sources: `eval.py` of github.com/princeton-nlp/ALCE at 3fdc2ed, and `eval.py` of github.com/ylXuu/ALiiCE at e9fa8db.
Both read a passage as "Title: TITLE", a line break, and its text; `[0]` cites the last passage, by Python's indexing;
and repeated citations count twice. A response's thinking is removed, which the responses scored then did not have.

ALCE    reads the first line of a response, with `<|im_end|>` removed. Every `[n` cites, whether its bracket is closed
        or not. A sentence of marks alone is a sentence with an empty claim; marks that begin a sentence stay there. A
        sentence that cites a missing passage counts 0 in recall, and its citations are left out of precision.
ALiiCE  reads `[n]`. The first mark of a sentence that begins with a bracket goes to the sentence before, further ones
        stay. Claims are those of `text.published_claims`. A claim that cites a number above 5 is left out, even with
        citations that exist: the script has an option for the number of passages but does not use it, so that the
        last five of ten passages do not exist for it. If it has fewer passages than are cited, it stops with an
        error; here the claim is left out.

Both count claims that are out of range among those with several citations (`multiple`), whose share of all claims can
therefore exceed 1 for ALiiCE.
"""

from collections.abc import Iterable, Sequence
from typing import TypedDict

from quoteweave.core.answers import Context
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Quote
from quoteweave.evaluation.metrics.citations.cited_claims import CitedClaim, CitedResponse, context_of
from quoteweave.evaluation.text.claims import DependencyParser, SentenceSplitter
from quoteweave.evaluation.text.published_claims import (
    PUBLISHED_MARK,
    PublishedClaim,
    PublishedSentence,
    alce_text,
    published_claims,
    without_published_marks,
)
from quoteweave.evaluation.text.responses import answer_of

ALCE_FIRST = 3
"""How many citations of a sentence ALCE's code keeps by default."""
ALIICE_PASSAGES = 5
"""How many passages exist for ALiiCE's code, however many there were."""
_OPENED_MARK = lazy_regex(r"\[(\d+)")


def aliice_sentences(response: str, split_sentences: SentenceSplitter) -> list[str]:
    """The sentences of a response, with marks in place, as ALiiCE's code splits them."""
    sentences = list(split_sentences(answer_of(response, "own")))
    for position in range(1, len(sentences)):
        first = PUBLISHED_MARK.search(sentences[position])
        if first and sentences[position].startswith("["):
            sentences[position - 1] += first[0]
            sentences[position] = sentences[position][: first.start()] + sentences[position][first.end() :]
    return sentences


def published_alce_responses(
    answered: Iterable[tuple[Prediction, Example]], split_sentences: SentenceSplitter, *, first: int | None = ALCE_FIRST
) -> dict[str, CitedResponse]:
    """Example to the sentences of its response; `first`: how many citations of each are kept.

    Raises DatasetError for an example without context.
    """
    return {
        example.id: _alce_response(
            split_sentences(alce_text(prediction.response)), context_of(prediction, example), first
        )
        for prediction, example in answered
        if prediction.response is not None
    }


def published_aliice_responses(
    answered: Iterable[tuple[Prediction, Example]],
    split_sentences: SentenceSplitter,
    parse: DependencyParser,
    *,
    passages: int = ALIICE_PASSAGES,
) -> dict[str, CitedResponse]:
    """Example to the claims of its response; everything that has to be parsed is parsed together.

    Raises DatasetError for an example without context.
    """
    responses = [
        (example.id, aliice_sentences(prediction.response, split_sentences), context_of(prediction, example))
        for prediction, example in answered
        if prediction.response is not None
    ]
    split = iter(published_claims([sentence for _, sentences, _ in responses for sentence in sentences], parse))
    return {
        name: _aliice_response([next(split) for _ in sentences], context, passages)
        for name, sentences, context in responses
    }


def _alce_response(sentences: Sequence[str], context: Context, first: int | None) -> CitedResponse:
    claims = [
        PublishedClaim(
            without_published_marks(sentence).strip(), tuple(int(number) for number in _OPENED_MARK.findall(sentence))
        )
        for sentence in sentences
    ]
    known = [_is_in_range(claim, len(context.texts)) for claim in claims]
    cited = [
        CitedClaim(claim.text, tuple(_premise(context, number) for number in claim.numbers[:first] if is_in_range))
        for claim, is_in_range in zip(claims, known, strict=True)
    ]
    return CitedResponse(tuple(cited), **_outside(claims, known), kept=first)


def _aliice_response(sentences: Sequence[PublishedSentence], context: Context, passages: int) -> CitedResponse:
    claims = [claim for sentence in sentences for claim in sentence.claims]
    exist = min(passages, len(context.texts))
    known = [_is_in_range(claim, exist) for claim in claims]
    cited = [
        CitedClaim(claim.text, tuple(_premise(context, number) for number in claim.numbers))
        for claim, is_in_range in zip(claims, known, strict=True)
        if claim.numbers and is_in_range
    ]
    return CitedResponse(
        tuple(cited), **_outside(claims, known), whole_sentences=sum(sentence.is_unsplit for sentence in sentences)
    )


def _outside(claims: Sequence[PublishedClaim], known: Sequence[bool]) -> "_Outside":
    """How many claims cite a missing passage, and how many of these have several citations."""
    outside = [len(claim.numbers) for claim, is_in_range in zip(claims, known, strict=True) if not is_in_range]
    return {"out_of_range": len(outside), "multiple_out_of_range": sum(count > 1 for count in outside)}


class _Outside(TypedDict):
    out_of_range: int
    multiple_out_of_range: int


def _is_in_range(claim: PublishedClaim, passages: int) -> bool:
    return not claim.numbers or (passages > 0 and max(claim.numbers) <= passages)


def _premise(context: Context, number: int) -> str:
    quote = context.texts[number - 1].quote
    return f"Title: {_titled(quote)}" if quote.document else quote.all_text()


def _titled(quote: Quote) -> str:
    """The title and text of a passage; ALCE's passages already begin with their title."""
    words = quote.all_text()
    return words if words.startswith(f"{quote.document}\n") else f"{quote.document}\n{words}"
