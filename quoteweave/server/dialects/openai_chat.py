"""`POST /v1/chat/completions`: OpenAI's chat completions, whose model is a collection."""

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal
from uuid import uuid4

from fastapi import APIRouter, Body, Request
from pydantic import Field
from sse_starlette import ServerSentEvent
from starlette.responses import Response

from quoteweave.core.answers import Answer, AnswerEvent, Context, ThoughtEvent
from quoteweave.core.records import Record
from quoteweave.interchange.openai import chat_delta, chat_message, sources_list
from quoteweave.interchange.responses import ErrorEvent
from quoteweave.interchange.shown_text import ShownText, ShownTextStream, shown_text
from quoteweave.pipeline.rag import Answered, SourcesEvent
from quoteweave.pipeline.search import Trace
from quoteweave.server.answers.answering import prepare_answer
from quoteweave.server.answers.event_streams import Sent, respond_with_events
from quoteweave.server.answers.stored_answers import AnswerRecorder
from quoteweave.server.depends import BaseUrl, Reader, ServedState, get_collection, record_response
from quoteweave.server.dialects.openai_errors import RESPONSES, openai_error_body, refuse
from quoteweave.server.dialects.openai_requests import (
    NO_OPTIONS,
    ROLES,
    AnswerFields,
    Content,
    InputMessage,
    OpenRequest,
    Options,
    answer_fields,
    answer_request,
    is_cut_short,
    notes_on,
    read_content,
    token_counts,
)
from quoteweave.server.json_bodies import JsonRoute

router = APIRouter(tags=["OpenAI"], route_class=JsonRoute)
FinishReason = Literal["stop", "length"]


class ChatMessage(OpenRequest):
    """A message of the conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Content = None


class StreamOptions(OpenRequest):
    """Options of a stream."""

    include_usage: bool | None = None


class ChatRequest(OpenRequest):
    """A request for a chat completion. Fields of OpenAI's that are not listed have no effect, and a note says so."""

    model: str = Field(description="name of a collection", examples=["port"])
    messages: list[ChatMessage] = Field(
        min_length=1, examples=[[{"role": "user", "content": "How much grain was shipped in May?"}]]
    )
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = Field(default=None, description="1")
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    response_format: dict[str, Any] | None = Field(default=None, description="text")
    modalities: list[str] | None = Field(default=None, description="text")
    logprobs: bool | None = Field(default=None, description="false")
    store: bool | None = Field(default=None, description="keep the question as a conversation; else it is not kept")
    quoteweave: Options = Field(default=NO_OPTIONS, description="filters, settings and footnotes")

    def check(self) -> None:
        """Raise ProblemError for what would make the answer another thing than what is sent."""
        if self.n not in (None, 1):
            raise refuse("n", "one answer is given to a question")
        if (self.response_format or {}).get("type", "text") != "text":
            raise refuse("response_format", "answers are text with citations; leave it out")
        if self.modalities is not None and set(self.modalities) != {"text"}:
            raise refuse("modalities", "answers are text")
        if self.logprobs:
            raise refuse("logprobs", "the probabilities of tokens are not known")

    def input_messages(self) -> list[InputMessage]:
        """The messages in words. Raises ProblemError for what cannot be read."""
        return [
            InputMessage(
                role=ROLES.get(message.role, "other"),
                text=read_content(message.content, f"messages.{number}.content"),
                field=f"messages.{number}",
            )
            for number, message in enumerate(self.messages)
        ]


class CompletionMessage(Record):
    """The answer as a message."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: str | None = None
    annotations: tuple[Mapping[str, object], ...] = Field(description="a `url_citation` for each citation")
    quoteweave: AnswerFields


class Choice(Record):
    """The one answer."""

    index: int = 0
    message: CompletionMessage
    finish_reason: FinishReason
    logprobs: None = None


class CompletionUsage(Record):
    """Tokens that the chat model read and wrote for the answer."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatCompletion(Record):
    """An answer as a chat completion."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int = Field(description="seconds since 1970")
    model: str = Field(description="the collection")
    choices: tuple[Choice]
    usage: CompletionUsage | None


@router.post(
    "/v1/chat/completions",
    summary="Chat completions as OpenAI's",
    response_model=ChatCompletion,
    responses={**RESPONSES, 200: {"content": {"text/event-stream": {}}}},
)
async def complete_chat(
    request: Annotated[ChatRequest, Body()], served: ServedState, grant: Reader, base_url: BaseUrl, client: Request
) -> Response:
    """Answer the last message. The model is a collection; citations are annotations, and whole in `quoteweave`."""
    request.check()
    messages = request.input_messages()
    sampling = {
        "temperature": request.temperature,
        "max_tokens": request.max_completion_tokens or request.max_tokens,
    }
    collection = await get_collection(request.model, served, grant)
    # Not stored by default: as each request carries the whole conversation, every question would be stored as a
    # conversation of its own.
    to_answer = answer_request(messages, request.quoteweave, sampling, bool(request.store))
    recorder = AnswerRecorder(served, grant, collection=collection.name, request=to_answer)
    prepared = prepare_answer(served, collection, to_answer, base_url=base_url, grant=grant)
    notes = notes_on(request.ignored(), messages)
    if request.stream:
        usage = request.stream_options is not None and bool(request.stream_options.include_usage)
        writer = ChatChunks(request.model, notes, footnotes=request.quoteweave.footnotes, usage=usage)
        return respond_with_events(recorder.events(prepared.events()), writer, grace=served.settings.shutdown_seconds)
    stored = await recorder.keep(await prepared.answer(client))
    return record_response(_completion(request, stored.answered, notes))


def _completion(request: ChatRequest, answered: Answered, notes: tuple[str, ...]) -> ChatCompletion:
    content = chat_message(answered.answer, with_sources=request.quoteweave.footnotes)
    message = CompletionMessage(
        content=content["content"],
        annotations=tuple(dict(annotation) for annotation in content["annotations"]),
        quoteweave=answer_fields(answered.answer, answered.context, answered.trace, notes),
    )
    return ChatCompletion(
        id=f"chatcmpl-{uuid4().hex}",
        created=int(time.time()),
        model=request.model,
        choices=(Choice(message=message, finish_reason=_finish_reason(answered.answer)),),
        usage=_usage(answered.answer),
    )


class ChatChunks:
    """Writes the events of an answer as chunks of a chat completion. Implements `event_streams.EventWriter`.

    A mark and its annotation are in one chunk or in two consecutive ones. The full records of the citations come with
    them in `quoteweave.citations`, without verdicts, and again in the last chunk, with verdicts and with the context.
    """

    headers: Mapping[str, str] = {}

    def __init__(self, model: str, notes: tuple[str, ...], *, footnotes: bool, usage: bool) -> None:
        self._head = {
            "id": f"chatcmpl-{uuid4().hex}",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": model,
        }
        self._notes, self._footnotes, self._with_usage = notes, footnotes, usage
        self._text = ShownTextStream()
        self._context, self._trace = Context(), Trace(clauses=())
        self._has_begun = self._failed = False

    def write(self, event: Record) -> Iterable[Sent]:
        """Return the chunks of an event; the first has the role."""
        if not self._has_begun:
            self._has_begun = True
            yield self._chunk({"role": "assistant", "content": ""})
        if isinstance(event, ErrorEvent):
            self._failed = True
            yield ServerSentEvent(data=json.dumps(openai_error_body(event.problem)))
        elif isinstance(event, SourcesEvent):
            self._context, self._trace = event.context, event.trace
        elif isinstance(event, ThoughtEvent):
            yield self._chunk({"reasoning_content": event.text})
        else:
            yield from map(self._part, self._text.take(event))
            if isinstance(event, AnswerEvent):
                yield from self._last_chunks(event.answer)

    def end(self) -> Iterable[Sent]:
        """Return the mark of the end, unless an error was it."""
        return () if self._failed else (ServerSentEvent(data="[DONE]"),)

    def _part(self, part: ShownText) -> Sent:
        delta: dict[str, object] = {**chat_delta(part)}
        citations = delta.pop("citations", None)
        if citations is not None:
            delta["quoteweave"] = {"citations": citations}
        return self._chunk(delta)

    def _last_chunks(self, answer: Answer) -> Iterator[Sent]:
        sources = sources_list(shown_text(answer).citations) if self._footnotes else ""
        if sources:
            yield self._chunk({"content": sources})
        fields = answer_fields(answer, self._context, self._trace, self._notes)
        yield self._chunk({"quoteweave": fields.model_dump(mode="json")}, _finish_reason(answer))
        if self._with_usage:
            usage = _usage(answer)
            usage_json = None if usage is None else usage.model_dump()
            yield ServerSentEvent(data=json.dumps({**self._head, "choices": [], "usage": usage_json}))

    def _chunk(self, delta: Mapping[str, object], finish_reason: FinishReason | None = None) -> Sent:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
        usage = {"usage": None} if self._with_usage else {}
        return ServerSentEvent(data=json.dumps({**self._head, "choices": [choice], **usage}))


def _finish_reason(answer: Answer) -> FinishReason:
    return "length" if is_cut_short(answer) else "stop"


def _usage(answer: Answer) -> CompletionUsage | None:
    counts = token_counts(answer)
    if counts is None:
        return None
    input_tokens, output_tokens = counts
    return CompletionUsage(prompt_tokens=input_tokens, completion_tokens=output_tokens, total_tokens=sum(counts))
