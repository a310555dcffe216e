"""The events of OpenAI's Responses API: a response that is being made, from its search to its last annotation."""

import json
from collections.abc import Iterable, Iterator, Mapping

from sse_starlette import ServerSentEvent

from quoteweave.core.answers import AnswerEvent, Context
from quoteweave.core.records import Record
from quoteweave.interchange.openai import response_annotation
from quoteweave.interchange.responses import ErrorEvent
from quoteweave.interchange.shown_text import ShownText, ShownTextStream
from quoteweave.pipeline.rag import Answered, SourcesEvent
from quoteweave.pipeline.search import Trace
from quoteweave.server.answers.event_streams import Sent
from quoteweave.server.dialects.openai_errors import openai_error
from quoteweave.server.dialects.openai_response_object import FileSearchItem, MessageItem, ResponseMaker

_MESSAGE = 1
"""Place of the message in the output, behind the search."""


class ResponseEvents:
    """Writes the events of an answer as those of a response. Meets `event_streams.EventWriter`.

    Thoughts are left out: the API has none that are not the model's vendor's own.
    """

    def __init__(self, maker: ResponseMaker, headers: Mapping[str, str]) -> None:
        self.headers = headers
        self._maker = maker
        self._text = ShownTextStream()
        self._context, self._trace = Context(), Trace(clauses=())
        self._items: list[FileSearchItem | MessageItem] = []
        self._sent = self._annotations = 0
        self._begun = False

    def write(self, event: Record) -> Iterable[Sent]:
        """Return the events that an event of ours becomes; before the first, those that begin the response."""
        if not self._begun:
            self._begun = True
            for name in ("created", "in_progress"):
                yield self._event(f"response.{name}", response=_json(self._maker.response("in_progress")))
        if isinstance(event, ErrorEvent):
            yield from self._fail(event)
        elif isinstance(event, SourcesEvent):
            self._context, self._trace = event.context, event.trace
            yield from self._searched()
        else:
            for part in self._text.take(event):
                yield from self._part(part)
            if isinstance(event, AnswerEvent):
                yield from self._done(Answered(answer=event.answer, context=self._context, trace=self._trace))

    def end(self) -> Iterable[Sent]:
        """Return nothing: the event of the whole response is the last."""
        return ()

    def _searched(self) -> Iterator[Sent]:
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

    def _part(self, part: ShownText) -> Iterator[Sent]:
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

    def _done(self, found: Answered) -> Iterator[Sent]:
        yield from self._begin_message()
        sources = self._maker.sources(found.answer)
        if sources:
            yield self._message_event("response.output_text.delta", delta=sources, logprobs=[])
        whole = self._maker.whole(found)
        content = whole.message.content[0]
        yield self._message_event("response.output_text.done", text=content["text"], logprobs=[])
        yield self._message_event("response.content_part.done", part=content)
        yield self._event("response.output_item.done", output_index=_MESSAGE, item=_json(whole.message))
        yield self._event(f"response.{whole.status}", response=_json(whole))

    def _fail(self, event: ErrorEvent) -> Iterator[Sent]:
        error = openai_error(event.problem)
        yield self._event("error", code=error.code, message=error.message, param=error.param)
        yield self._event("response.failed", response=_json(self._maker.response("failed", self._items, error=error)))

    def _message_event(self, name: str, **fields: object) -> Sent:
        item_id = f"msg_{self._maker.item_id}"
        return self._event(name, output_index=_MESSAGE, content_index=0, item_id=item_id, **fields)

    def _event(self, name: str, **fields: object) -> Sent:
        data = json.dumps({"type": name, "sequence_number": self._sent, **fields})
        self._sent += 1
        return ServerSentEvent(data=data, event=name)


def _json(record: Record) -> dict[str, object]:
    return record.model_dump(mode="json")
