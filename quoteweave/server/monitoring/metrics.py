"""Figures for Prometheus: requests, answers, what the gate found, tokens and money, and the size of collections."""

import os
from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from quoteweave.collection.records import CollectionCounts
from quoteweave.core.answers import Answer
from quoteweave.pipeline.search import Trace

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
MULTIPROCESS_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Names the folder through which several processes of one server count together."""
_FAST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_SLOW = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)


Sizes = Callable[[], Mapping[str, CollectionCounts | None]]
"""Gives what each collection holds, by name; None for one that cannot be read."""


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
        """Count a search by what each of its steps took."""
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
        """Return all figures in Prometheus's text format; of all processes where several serve."""
        registry = self.registry
        if MULTIPROCESS_VARIABLE in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        sizes = CollectorRegistry()
        sizes.register(_Sizes(self._sizes))
        return generate_latest(registry) + generate_latest(sizes)


class _Sizes(Collector):
    """How much each collection holds, counted when it is asked."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes

    def describe(self) -> list[GaugeMetricFamily]:
        """Return nothing, so that registering counts nothing yet."""
        return []

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the documents and quotes of each collection that can be read, and how many cannot be."""
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
