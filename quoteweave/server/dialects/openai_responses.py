"""`POST /v1/responses`: OpenAI's Responses, whose model is a collection and whose search is a file search call."""

from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Body, Request
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from quoteweave.core.errors import ConversationNotFound
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.server.access.control import Grant
from quoteweave.server.answers.answering import PreparedAnswer, prepare_answer
from quoteweave.server.answers.event_streams import respond_with_events
from quoteweave.server.answers.requests import AnswerRequest
from quoteweave.server.answers.stored_answers import AnswerRecorder, history_of
from quoteweave.server.depends import BaseUrl, Reader, ServedState, get_collection, record_response
from quoteweave.server.dialects.openai_errors import RESPONSES, refuse
from quoteweave.server.dialects.openai_requests import (
    NO_OPTIONS,
    ROLES,
    Content,
    InputMessage,
    OpenRequest,
    Options,
    answer_request,
    notes_on,
    read_content,
)
from quoteweave.server.dialects.openai_response_object import ResponseEvents, ResponseMaker, ResponseObject
from quoteweave.server.json_bodies import JsonRoute
from quoteweave.server.problems import ProblemError
from quoteweave.server.served import Served

router = APIRouter(tags=["OpenAI"], route_class=JsonRoute)
RESULTS = "file_search_call.results"
_STORED_ID = lazy_regex(r"resp_([0-9a-f]{32})_([0-9a-f]{32})")
# Items of earlier responses that clients send back along with the messages; they are ignored.
_EARLIER_OUTPUT = frozenset({"file_search_call", "reasoning"})


class InputItem(OpenRequest):
    """A message, or another item of the input."""

    type: str = "message"
    role: str | None = None
    content: Content = None


class ConversationName(OpenRequest):
    """A conversation by its id."""

    id: str


class ResponseRequest(OpenRequest):
    """A request for a response. Fields of OpenAI's that are not listed have no effect, and a note says so."""

    model: str = Field(description="name of a collection", examples=["port"])
    input: str | list[InputItem] = Field(examples=["How much grain was shipped in May?"])
    instructions: str | None = Field(default=None, description="without effect, which a note says")
    stream: bool | None = None
    include: list[str] | None = Field(default=None, examples=[[RESULTS]])
    previous_response_id: str | None = Field(default=None, description="of a response that was stored")
    conversation: str | ConversationName | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_output_tokens: int | None = Field(default=None, ge=1)
    text: dict[str, Any] | None = Field(default=None, description="of the format text")
    background: bool | None = Field(default=None, description="false")
    store: bool | None = None
    quoteweave: Options = Field(default=NO_OPTIONS, description="filters, settings and footnotes")

    def check(self) -> None:
        """Raise ProblemError for what would make the response another thing than what is sent."""
        kind = ((self.text or {}).get("format") or {}).get("type", "text")
        if kind != "text":
            raise refuse("text.format", "answers are text with citations; leave it out")
        if self.background:
            raise refuse("background", "a response is given when it is asked for; stream it where it takes long")
        if self.previous_response_id is not None and self.conversation is not None:
            raise refuse("previous_response_id", "send this or a conversation, not both")

    def ignored(self) -> list[str]:
        """The fields that have no effect, and each item of `include` that no response ever has."""
        return [*super().ignored(), *(f"include ({name})" for name in self.include or () if name != RESULTS)]

    def input_messages(self) -> list[InputMessage]:
        """The messages in words. Raises ProblemError for what cannot be read."""
        if isinstance(self.input, str):
            return [InputMessage(role="user", text=self.input, field="input")]
        messages = []
        for number, item in enumerate(self.input):
            field = f"input.{number}"
            if item.type == "item_reference":
                raise refuse(field, "items are not kept by their ids; send the message itself")
            if item.type in _EARLIER_OUTPUT:
                continue
            role = ROLES.get(item.role or "", "other") if item.type == "message" else "other"
            text = "" if role == "other" else read_content(item.content, f"{field}.content")
            messages.append(InputMessage(role=role, text=text, field=field))
        return messages

    def to_answer_request(self) -> AnswerRequest:
        """The request in our own form. Raises ProblemError for what cannot be done."""
        sampling = {"temperature": self.temperature, "max_tokens": self.max_output_tokens}
        request = answer_request(self.input_messages(), self.quoteweave, sampling, self.store is not False)
        name = self.conversation
        conversation = name.id if isinstance(name, ConversationName) else name
        return request.model_copy(update={"conversation": conversation})


@router.post(
    "/v1/responses",
    summary="Responses as OpenAI's",
    response_model=ResponseObject,
    responses={**RESPONSES, 200: {"content": {"text/event-stream": {}}}},
)
async def make_response(
    request: Annotated[ResponseRequest, Body()], served: ServedState, grant: Reader, base_url: BaseUrl, client: Request
) -> Response:
    """Answer the input. The model is a collection; citations are annotations, and whole in `quoteweave`."""
    request.check()
    to_answer = request.to_answer_request()
    collection = await get_collection(request.model, served, grant)
    if request.previous_response_id is not None:
        to_answer = await _following_stored_response(request.previous_response_id, to_answer, served, grant)
    recorder = AnswerRecorder(served, grant, collection=collection.name, request=to_answer)
    await recorder.find_conversation()
    prepared = prepare_answer(served, collection, recorder.with_history(), base_url=base_url, grant=grant)
    maker = _maker(request, prepared, recorder)
    if request.stream:
        writer = ResponseEvents(maker, recorder.headers)
        return respond_with_events(recorder.events(prepared.events()), writer, grace=served.settings.shutdown_seconds)
    stored = await recorder.keep(await prepared.answer(client))
    return record_response(maker.with_answer(stored.answered))


def _maker(request: ResponseRequest, prepared: PreparedAnswer, recorder: AnswerRecorder) -> ResponseMaker:
    place = recorder.place
    return ResponseMaker(
        response_id=f"resp_{uuid4().hex}" if place is None else f"resp_{place[0]}_{place[1]}",
        item_id=uuid4().hex,
        model=request.model,
        urls=prepared.urls,
        stored=place is not None,
        with_results=RESULTS in (request.include or ()),
        footnotes=request.quoteweave.footnotes,
        notes=notes_on(request.ignored(), request.input_messages(), request.instructions),
        previous=request.previous_response_id,
        temperature=request.temperature,
        max_output_tokens=request.max_output_tokens,
    )


async def _following_stored_response(
    response_id: str, request: AnswerRequest, served: Served, grant: Grant
) -> AnswerRequest:
    """Return the request as one that follows a stored response, in the same conversation if that was its last turn.

    If it was not, a new conversation begins with the turns up to that response. Raises ProblemError if no such response
    is stored, or not for this key.
    """
    id_parts = _STORED_ID.fullmatch(response_id)
    if id_parts is None:
        raise _not_stored(response_id)
    conversation_id, turn_id = id_parts.groups()
    try:
        turns = (await run_in_threadpool(served.conversations.get, conversation_id, grant.viewer)).turns
    except ConversationNotFound:
        raise _not_stored(response_id) from None
    index = next((index for index, turn in enumerate(turns) if turn.id == turn_id), None)
    if index is None:
        raise _not_stored(response_id)
    history = (*history_of(turns[: index + 1]), *request.history)
    is_last = index + 1 == len(turns)
    # A request that is not to be stored may follow a stored one, but is not added to its conversation.
    conversation = conversation_id if is_last and request.store is not False else None
    return request.model_copy(update={"history": history, "conversation": conversation})


def _not_stored(response_id: str) -> ProblemError:
    detail = f"no response {response_id!r} is stored; send what was said before in input"
    return refuse("previous_response_id", detail)
