"""Builds the models that score sentences of answers without a chat model, by name: encoders, rerankers, readers."""

import asyncio
from collections.abc import Sequence
from itertools import islice

from quoteweave.core.errors import UsageError
from quoteweave.core.protocols import Encoder, Reranker, SentenceScorer
from quoteweave.core.records import Hit, Query, Quote
from quoteweave.models.loading import make_shared
from quoteweave.retrievers.catalogue import catalogue
from quoteweave.retrievers.make_reranker import ANY_CROSS_ENCODER, make_reranker
from quoteweave.retrievers.make_retriever import ANY_CHECKPOINT, ENDPOINT, Resources, make_encoder_for
from quoteweave.retrievers.rerankers import reranker_rows
from quoteweave.retrievers.spec import RetrieverSpec, parse_spec, unknown_name_error

READER = "reader"


class EncodedSentences:
    """Implements `core.protocols.SentenceScorer` by inner products with the question, or MaxSim, of a text encoder.

    It computes in a separate thread.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    @property
    def name(self) -> str:
        """The name of the encoder."""
        return self._encoder.name

    async def score(self, question: str, passages: Sequence[Sequence[str]]) -> list[list[float | None]]:
        """Score every sentence of every passage, never None. Raises ModelError or EndpointError."""
        sentences = [sentence for passage in passages for sentence in passage]
        return _regroup(passages, await asyncio.to_thread(self._compute, question, sentences))

    def _compute(self, question: str, sentences: list[str]) -> list[float]:
        (question_vectors,) = self._encoder.encode_queries([question])
        return [float((question_vectors @ view.T).max(axis=1).sum()) for view in self._encoder.encode_views(sentences)]


class RerankedSentences:
    """Implements `core.protocols.SentenceScorer` by a reranker, which reads each sentence as a quote."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker

    @property
    def name(self) -> str:
        """The name of the reranker."""
        return self._reranker.name

    async def score(self, question: str, passages: Sequence[Sequence[str]]) -> list[list[float | None]]:
        """Score every sentence of every passage, never None. Raises ModelError or EndpointError."""
        sentences = [sentence for passage in passages for sentence in passage]
        hits = [_as_hit(number, sentence) for number, sentence in enumerate(sentences)]
        reranking = await self._reranker.rerank(Query(text=question), hits)
        scores = {hit.quote.id: hit.score for hit in reranking.hits}
        return _regroup(passages, [scores[hit.quote.id] for hit in hits])


def make_sentence_scorer(text: str, *, resources: Resources | None = None) -> SentenceScorer:
    """Make the encoder, reranker or reading model of that name; it loads on first use.

    Raises UsageError for an unknown name, and for what scores no sentences: models of pictures, chat models, and
    retrievers that need no model.
    """
    resources = resources or Resources()
    name, _, checkpoint = text.partition("=")
    if name == READER:
        from quoteweave.generation.extractive.span_reader import SpanReader

        if not checkpoint:
            raise UsageError(f"{text!r} names no checkpoint; write {READER}=PATH")
        return make_shared(SpanReader, checkpoint, resources.hardware)
    if name in (*reranker_rows(), ANY_CROSS_ENCODER) or text.startswith("endpoint:"):
        return RerankedSentences(make_reranker(text, resources=resources))
    if text.partition(":")[0] == "chat":
        raise UsageError(f"{text!r} is a chat model, which orders no sentences; have it write the answer, as model")
    spec = parse_spec(text)
    if spec.name not in (*catalogue(), ANY_CHECKPOINT, ENDPOINT):
        raise unknown_name_error("model that orders sentences", text, _names())
    _check(text, spec)
    encoder = make_encoder_for(spec, resources)
    return EncodedSentences(encoder)


def _check(text: str, spec: RetrieverSpec) -> None:
    """Raise UsageError for a model of pictures, and for suffixes that say how an index is made."""
    row = catalogue().get(spec.name)
    if row is not None and row.reads == "image":
        raise UsageError(f"{spec.name} reads pictures; sentences are ordered by a model of text, such as minilm")
    plain = spec.model_copy(update={"kind": None, "unit": "quote", "view": None})
    if plain != spec:
        raise UsageError(f"{text!r} names an index, and sentences are ordered without one; write {plain.shown}")


def _names() -> list[str]:
    texts = [name for name, row in catalogue().items() if row.reads == "text"]
    anything = (f"{ANY_CHECKPOINT}=PATH", f"{ANY_CROSS_ENCODER}=PATH", f"{READER}=PATH")
    return [*texts, *reranker_rows(), *anything, f"{ENDPOINT}:MODEL", "endpoint:MODEL"]


def _regroup(passages: Sequence[Sequence[str]], scores: Sequence[float]) -> list[list[float | None]]:
    """Group the scores of all sentences by passage."""
    scores_left = iter(scores)
    return [list(islice(scores_left, len(passage))) for passage in passages]


def _as_hit(number: int, sentence: str) -> Hit:
    box = (0.0, 0.0, 0.0, 0.0)
    quote = Quote(
        id=str(number), document="", page=0, page_label="1", bbox=box, kind="text", layout="paragraph", text=sentence
    )
    return Hit(rank=number + 1, score=0.0, quote=quote)
