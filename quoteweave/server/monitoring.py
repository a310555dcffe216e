"""Figures for Prometheus, and spans of retrieval and generation for OpenTelemetry.

The figures are of requests, answers, the gate's verdicts, tokens and money, and the size of collections. The spans
follow OpenTelemetry's semantic conventions for generative AI; FastAPI's own instrumentation makes the span of each
request if OpenTelemetry is set up. Without the extra `telemetry`, or without an exporter, no span is made. Texts
(questions, quotes, answers) are in spans only if the server is set to log text.
"""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from quoteweave.collection.records import CollectionCounts
from quoteweave.core.answers import Answer, Context
from quoteweave.pipeline.search import Trace

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer


METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
MULTIPROCESS_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable with the folder in which several processes of one server share their counts."""
_FAST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_SLOW = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)


Sizes = Callable[[], Mapping[str, CollectionCounts | None]]
"""Returns the counts of each collection, by name; None for one that cannot be read."""


class Metrics:
    """The figures of one process. No label holds a text of people or documents."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self.registry = registry = CollectorRegistry()
        self._requests = Histogram(
            "quoteweave_request_seconds", "Requests, by route.", ("method", "route", "status"),
            buckets=_SLOW, registry=registry,
        )  # fmt: skip
        self._searches = Histogram(
            "quoteweave_search_seconds", "Searches, each step of them.", ("collection", "step"),
            buckets=_FAST, registry=registry,
        )  # fmt: skip
        self._answers = Histogram(
            "quoteweave_answer_seconds", "Answers, from question to answer.", ("collection", "model", "status"),
            buckets=_SLOW, registry=registry,
        )  # fmt: skip
        self._citations = Counter(
            "quoteweave_citations", "Citations of answers, by the gate's verdict.", ("collection", "verdict"),
            registry=registry,
        )  # fmt: skip
        self._tokens = Counter(
            "quoteweave_model_tokens", "Tokens of chat models, as their endpoints count.", ("model", "direction"),
            registry=registry,
        )  # fmt: skip
        self._usd = Counter("quoteweave_model_usd", "US dollars that answers cost.", ("model",), registry=registry)
        self.streams = Gauge(
            "quoteweave_open_streams", "Answers that are being streamed.", registry=registry,
            multiprocess_mode="livesum",
        )  # fmt: skip

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that has ended."""
        self._requests.labels(method, route, str(status)).observe(seconds)

    def count_search(self, collection: str, trace: Trace) -> None:
        """Count a search by the seconds that each of its steps took."""
        for step, seconds in trace.seconds.items():
            self._searches.labels(collection, step).observe(seconds)

    def count_answer(self, collection: str, answer: Answer) -> None:
        """Count an answer with its citations, tokens and price."""
        self._answers.labels(collection, answer.model, answer.status).observe(answer.seconds)
        for citation in answer.citations:
            self._citations.labels(collection, citation.verdict or "none").inc()
        for direction, tokens in (("in", answer.usage.input_tokens), ("out", answer.usage.output_tokens)):
            if tokens:
                self._tokens.labels(answer.model, direction).inc(tokens)
        if answer.price_usd:
            self._usd.labels(answer.model).inc(answer.price_usd)

    def exposition(self) -> bytes:
        """Return all figures in Prometheus's text format; if several processes serve, those of all."""
        registry = self.registry
        if MULTIPROCESS_VARIABLE in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        sizes = CollectorRegistry()
        sizes.register(_Sizes(self._sizes))
        return generate_latest(registry) + generate_latest(sizes)


class _Sizes(Collector):
    """The sizes of collections, counted each time they are asked for."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes

    def describe(self) -> list[GaugeMetricFamily]:
        """Return nothing, so that nothing is counted when this collector is registered."""
        return []

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the documents and quotes of each collection, and the number of collections that cannot be read."""
        documents = GaugeMetricFamily("quoteweave_documents", "Documents of a collection.", labels=["collection"])
        quotes = GaugeMetricFamily("quoteweave_quotes", "Quotes of a collection.", labels=["collection"])
        unreadable = 0
        for name, counts in self._sizes().items():
            if counts is None:
                unreadable += 1
                continue
            documents.add_metric([name], counts.documents)
            quotes.add_metric([name], counts.quotes)
        yield from (documents, quotes)
        yield GaugeMetricFamily(
            "quoteweave_unreadable_collections", "Collections that cannot be read.", value=unreadable
        )


@dataclass(slots=True)
class AnswerSpans:
    """The spans of one answer: its retrieval, then its generation. Times are in nanoseconds since the epoch."""

    collection: str
    question: str
    tracer: "Tracer | None"
    log_text: bool
    started: int = 0

    def begin(self) -> None:
        """Note when the search begins."""
        self.started = time.time_ns()

    def retrieved(self, context: Context) -> None:
        """Make the span of the search that has ended, with the quotes found (`gen_ai.retrieval.documents`)."""
        ended = time.time_ns()
        if self.tracer is not None:
            span = self.tracer.start_span(f"retrieval {self.collection}", start_time=self.started)
            documents = json.dumps([{"id": hit.quote.id, "score": hit.score} for hit in context.hits])
            span.set_attribute("gen_ai.operation.name", "retrieval")
            span.set_attribute("gen_ai.data_source.id", self.collection)
            span.set_attribute("gen_ai.retrieval.documents", documents)
            if self.log_text:
                span.set_attribute("gen_ai.retrieval.query.text", self.question)
            span.end(ended)
        self.started = ended

    def answered(self, answer: Answer) -> None:
        """Make the span of the generation that has ended, with its tokens and what became of it."""
        if self.tracer is None:
            return
        span = self.tracer.start_span(f"chat {answer.model}", start_time=self.started)
        span.set_attribute("gen_ai.operation.name", "chat")
        span.set_attribute("gen_ai.provider.name", "quoteweave" if answer.is_extractive else "openai")
        span.set_attribute("gen_ai.request.model", answer.model)
        for name, tokens in (("input", answer.usage.input_tokens), ("output", answer.usage.output_tokens)):
            if tokens is not None:
                span.set_attribute(f"gen_ai.usage.{name}_tokens", tokens)
        span.set_attribute("quoteweave.answer.status", answer.status)
        span.set_attribute("quoteweave.answer.citations", len(answer.citations))
        span.end()


def find_tracer() -> "Tracer | None":
    """Return OpenTelemetry's tracer; None where the extra is not installed."""
    try:
        from opentelemetry import trace
    except ModuleNotFoundError:
        return None
    return trace.get_tracer("quoteweave")
