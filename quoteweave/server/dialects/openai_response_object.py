"""A response of OpenAI's Responses API: the object, and the events while it is being made.

The object holds the search and the message with its annotations; the events follow the same order, from the search to
the last annotation.
"""

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import Field
from sse_starlette import ServerSentEvent

from quoteweave.core.answers import Answer, AnswerEvent, Context
from quoteweave.core.records import Record
from quoteweave.interchange.openai import file_search_call, output_text, response_annotation, sources_list
from quoteweave.interchange.quotes import QuoteUrls
from quoteweave.interchange.responses import ErrorEvent
from quoteweave.interchange.shown_text import ShownText, ShownTextStream, shown_text
from quoteweave.pipeline.rag import Answered, SourcesEvent
from quoteweave.pipeline.search import Trace
from quoteweave.server.answers.event_streams import Sent
from quoteweave.server.dialects.openai_errors import OpenAIError, openai_error
from quoteweave.server.dialects.openai_requests import AnswerFields, answer_fields, is_cut_short, token_counts

Status = Literal["in_progress", "completed", "incomplete", "failed"]


class FileSearchItem(Record):
    """What was searched for, and what was found, where the request includes that."""

    id: str
    type: Literal["file_search_call"] = "file_search_call"
    status: Literal["in_progress", "completed"] = "completed"
    queries: tuple[str, ...]
    results: tuple[Mapping[str, object], ...] | None = None


class MessageItem(Record):
    """The answer as a message with one `output_text`."""

    id: str
    type: Literal["message"] = "message"
    role: Literal["assistant"] = "assistant"
    status: Literal["in_progress", "completed", "incomplete"]
    content: tuple[Mapping[str, object], ...]
    quoteweave: AnswerFields | None = None


class ResponseUsage(Record):
    """Tokens that the chat model read and wrote for the answer."""

    input_tokens: int
    input_tokens_details: Mapping[str, int] = Field(default={"cached_tokens": 0, "cache_write_tokens": 0})
    output_tokens: int
    output_tokens_details: Mapping[str, int] = Field(default={"reasoning_tokens": 0})
    total_tokens: int


class ResponseFailure(Record):
    """Why there is no answer."""

    code: str
    message: str


class ResponseObject(Record):
    """An answer as a response."""

    id: str
    object: Literal["response"] = "response"
    created_at: int = Field(description="seconds since 1970")
    completed_at: int | None = None
    status: Status
    background: bool = False
    error: ResponseFailure | None = None
    incomplete_details: Mapping[str, str] | None = None
    instructions: None = None
    max_output_tokens: int | None = None
    model: str = Field(description="the collection")
    output: tuple[FileSearchItem | MessageItem, ...] = ()
    parallel_tool_calls: bool = False
    previous_response_id: str | None = None
    temperature: float | None = None
    text: Mapping[str, Any] = Field(default={"format": {"type": "text"}})
    tool_choice: str = "auto"
    tools: tuple[Mapping[str, Any], ...] = ()
    top_p: float | None = None
    truncation: str = "disabled"
    store: bool = Field(description="whether a later request may name it as `previous_response_id`")
    metadata: Mapping[str, str] = Field(default={})
    usage: ResponseUsage | None = None

    @property
    def message(self) -> MessageItem:
        """The answer's message. Raises StopIteration if there is none yet."""
        return next(item for item in self.output if isinstance(item, MessageItem))


@dataclass(frozen=True, slots=True)
class ResponseMaker:
    """Makes the response of one request: its ids and all that does not depend on the answer."""

    response_id: str
    item_id: str
    model: str
    urls: QuoteUrls
    stored: bool
    with_results: bool
    footnotes: bool
    notes: tuple[str, ...]
    previous: str | None = None
    temperature: float | None = None
    max_output_tokens: int | None = None
    created: int = field(default_factory=lambda: int(time.time()))

    def response(
        self, status: Status, output: Sequence[FileSearchItem | MessageItem] = (), *, error: OpenAIError | None = None
    ) -> ResponseObject:
        """Return the response as it stands."""
        return ResponseObject(
            id=self.response_id,
            created_at=self.created,
            status=status,
            error=None if error is None else ResponseFailure(code=error.code or "server_error", message=error.message),
            model=self.model,
            output=tuple(output),
            previous_response_id=self.previous,
            temperature=self.temperature,
            max_output_tokens=self.max_output_tokens,
            store=self.stored,
        )

    def with_answer(self, answered: Answered) -> ResponseObject:
        """Return the response with the answer."""
        search, message = self.search(answered.context, answered.trace), self.message(answered)
        counts = token_counts(answered.answer)
        update: dict[str, object] = {"completed_at": int(time.time())}
        if counts is not None:
            input_tokens, output_tokens = counts
            update["usage"] = ResponseUsage(
                input_tokens=input_tokens, output_tokens=output_tokens, total_tokens=sum(counts)
            )
        if message.status == "incomplete":
            update["incomplete_details"] = {"reason": "max_output_tokens"}
        return self.response(message.status, (search, message)).model_copy(update=update)

    def search(self, context: Context, trace: Trace) -> FileSearchItem:
        """Return the item of the search; its results only where the request includes them."""
        call_id = f"fs_{self.item_id}"
        call = file_search_call(call_id, trace.clauses, context.hits, self.urls)
        results = tuple(dict(result) for result in call["results"]) if self.with_results else None
        return FileSearchItem(id=call_id, queries=tuple(call["queries"]), results=results)

    def message(self, answered: Answered) -> MessageItem:
        """Return the item of the answer."""
        content: dict[str, object] = {**output_text(answered.answer)}
        content["text"] = f"{content['text']}{self.sources(answered.answer)}"
        return MessageItem(
            id=f"msg_{self.item_id}",
            status="incomplete" if is_cut_short(answered.answer) else "completed",
            content=(content,),
            quoteweave=answer_fields(answered.answer, answered.context, answered.trace, self.notes),
        )

    def sources(self, answer: Answer) -> str:
        """Return the list of sources to be put below the text, if the request asks for it."""
        return sources_list(shown_text(answer).citations) if self.footnotes else ""


_MESSAGE = 1
"""Index of the message in the output, after the search."""


class ResponseEvents:
    """Writes the events of an answer as those of a response. Implements `event_streams.EventWriter`.

    The model's reasoning is left out, as this API only has a form for that of OpenAI's own models.
    """

    def __init__(self, maker: ResponseMaker, headers: Mapping[str, str]) -> None:
        self.headers = headers
        self._maker = maker
        self._text = ShownTextStream()
        self._context, self._trace = Context(), Trace(clauses=())
        self._items: list[FileSearchItem | MessageItem] = []
        self._events_sent = self._annotations = 0
        self._has_begun = False

    def write(self, event: Record) -> Iterable[Sent]:
        """Return the events that an event of ours becomes; before the first, those that begin the response."""
        if not self._has_begun:
            self._has_begun = True
            for name in ("created", "in_progress"):
                yield self._event(f"response.{name}", response=_json(self._maker.response("in_progress")))
        if isinstance(event, ErrorEvent):
            yield from self._fail(event)
        elif isinstance(event, SourcesEvent):
            self._context, self._trace = event.context, event.trace
            yield from self._search_events()
        else:
            for part in self._text.take(event):
                yield from self._part_events(part)
            if isinstance(event, AnswerEvent):
                yield from self._finish(Answered(answer=event.answer, context=self._context, trace=self._trace))

    def end(self) -> Iterable[Sent]:
        """Return nothing: the event of the whole response is the last."""
        return ()

    def _search_events(self) -> Iterator[Sent]:
        item = self._maker.search(self._context, self._trace)
        begun = item.model_copy(update={"status": "in_progress", "queries": (), "results": None})
        yield self._event("response.output_item.added", output_index=0, item=_json(begun))
        for name in ("in_progress", "searching", "completed"):
            yield self._event(f"response.file_search_call.{name}", output_index=0, item_id=item.id)
        yield self._event("response.output_item.done", output_index=0, item=_json(item))
        self._items.append(item)

    def _begin_message(self) -> Iterator[Sent]:
        if len(self._items) == _MESSAGE:
            message = MessageItem(id=f"msg_{self._maker.item_id}", status="in_progress", content=())
            self._items.append(message)
            yield self._event("response.output_item.added", output_index=_MESSAGE, item=_json(message))
            part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
            yield self._message_event("response.content_part.added", part=part)

    def _part_events(self, part: ShownText) -> Iterator[Sent]:
        yield from self._begin_message()
        if part.text:
            yield self._message_event("response.output_text.delta", delta=part.text, logprobs=[])
        for citation in part.citations:
            yield self._message_event(
                "response.output_text.annotation.added",
                annotation_index=self._annotations,
                annotation=response_annotation(citation),
            )
            self._annotations += 1

    def _finish(self, answered: Answered) -> Iterator[Sent]:
        yield from self._begin_message()
        sources = self._maker.sources(answered.answer)
        if sources:
            yield self._message_event("response.output_text.delta", delta=sources, logprobs=[])
        response = self._maker.with_answer(answered)
        content = response.message.content[0]
        yield self._message_event("response.output_text.done", text=content["text"], logprobs=[])
        yield self._message_event("response.content_part.done", part=content)
        yield self._event("response.output_item.done", output_index=_MESSAGE, item=_json(response.message))
        yield self._event(f"response.{response.status}", response=_json(response))

    def _fail(self, event: ErrorEvent) -> Iterator[Sent]:
        error = openai_error(event.problem)
        yield self._event("error", code=error.code, message=error.message, param=error.param)
        yield self._event("response.failed", response=_json(self._maker.response("failed", self._items, error=error)))

    def _message_event(self, name: str, **fields: object) -> Sent:
        item_id = f"msg_{self._maker.item_id}"
        return self._event(name, output_index=_MESSAGE, content_index=0, item_id=item_id, **fields)

    def _event(self, name: str, **fields: object) -> Sent:
        data = json.dumps({"type": name, "sequence_number": self._events_sent, **fields})
        self._events_sent += 1
        return ServerSentEvent(data=data, event=name)


def _json(record: Record) -> dict[str, object]:
    return record.model_dump(mode="json")
