"""Spans of retrieval and generation for OpenTelemetry, by its semantic conventions for generative AI.

FastAPI itself makes the span of each request where OpenTelemetry is set up. Without the extra `telemetry`, and without
an exporter, nothing is made. Texts (questions, quotes, answers) are in spans only where the server logs text.
"""

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quoteweave.core.answers import Answer, Context

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer


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
            hits = (*context.texts, *context.images)
            found = json.dumps([{"id": hit.quote.id, "score": hit.score} for hit in hits])
            span.set_attribute("gen_ai.operation.name", "retrieval")
            span.set_attribute("gen_ai.data_source.id", self.collection)
            span.set_attribute("gen_ai.retrieval.documents", found)
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
        span.set_attribute("gen_ai.provider.name", "quoteweave" if answer.model == "extractive" else "openai")
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
