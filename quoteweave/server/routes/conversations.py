"""`/v1/conversations`: what was asked and answered, with the quotes as they were at the time."""

from typing import Annotated, Literal

from fastapi import APIRouter, Body, Path, Query, Response
from pydantic import Field

from quoteweave.core.records import Record
from quoteweave.interchange.urls import QuoteUrls
from quoteweave.server.conversations import MAX_LISTED, MAX_TITLE, Conversation, ConversationSummary
from quoteweave.server.depends import BaseUrl, Reader, ServedState, check_opens

router = APIRouter(tags=["conversations"])
ConversationId = Annotated[str, Path(description="id of a conversation", max_length=100)]
ExportFormat = Literal["json"]


class ConversationList(Record):
    """Conversations, the last used first."""

    conversations: tuple[ConversationSummary, ...]


class NewConversation(Record):
    """A conversation to begin."""

    collection: str = Field(description="the name under which its collection is served")
    title: str = Field(default="", max_length=MAX_TITLE, description="if empty, its first question")


class Renaming(Record):
    """A conversation's other title."""

    title: str = Field(max_length=MAX_TITLE)


@router.get("/v1/conversations", summary="The conversations")
def list_conversations(
    served: ServedState,
    grant: Reader,
    collection: Annotated[str | None, Query(description="only about this collection")] = None,
    words: Annotated[str, Query(max_length=500, description="only with all these words in title or questions")] = "",
    limit: Annotated[int, Query(ge=1, le=MAX_LISTED)] = 50,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> ConversationList:
    """List the conversations of the key, the last used first; an admin's list is of all keys."""
    found = served.conversations.list(grant.viewer, collection=collection, words=words, limit=limit, offset=offset)
    return ConversationList(conversations=found)


@router.post("/v1/conversations", status_code=201, summary="Begin a conversation")
def begin_conversation(
    served: ServedState, grant: Reader, body: Annotated[NewConversation, Body()]
) -> ConversationSummary:
    """Begin a conversation, to which questions that name its id are added."""
    check_opens(grant, body.collection)
    served.collection(body.collection)
    return served.conversations.create(body.collection, grant.owner, body.title)


@router.get("/v1/conversations/{conversation}", summary="A conversation")
def read_conversation(
    conversation: ConversationId, served: ServedState, grant: Reader, base_url: BaseUrl
) -> Conversation:
    """Return a conversation with its questions, and its answers as they were given."""
    return _with_urls(served.conversations.get(conversation, grant.viewer), base_url)


@router.patch("/v1/conversations/{conversation}", summary="Rename a conversation")
def rename_conversation(
    conversation: ConversationId, served: ServedState, grant: Reader, body: Annotated[Renaming, Body()]
) -> ConversationSummary:
    """Give a conversation another title."""
    return served.conversations.rename(conversation, body.title, grant.viewer)


@router.delete("/v1/conversations/{conversation}", status_code=204, summary="Delete a conversation")
def delete_conversation(conversation: ConversationId, served: ServedState, grant: Reader) -> None:
    """Delete a conversation with its answers; its text is overwritten on the disk."""
    served.conversations.delete(conversation, grant.viewer)


@router.get(
    "/v1/conversations/{conversation}/export",
    summary="Export a conversation",
    response_class=Response,
    responses={200: {"content": {"application/json": {}}}},
)
def export_conversation(
    conversation: ConversationId,
    served: ServedState,
    grant: Reader,
    base_url: BaseUrl,
    format: Annotated[ExportFormat, Query()] = "json",
) -> Response:
    """Return a conversation as a file to keep: JSON with all that is stored of it."""
    found = _with_urls(served.conversations.get(conversation, grant.viewer), base_url)
    name = f"conversation-{found.created:%Y-%m-%d}-{found.id[:8]}.{format}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(found.model_dump_json(indent=1), media_type="application/json", headers=headers)


def _with_urls(conversation: Conversation, base_url: str) -> Conversation:
    """The conversation with the addresses at which the server shows quotes now."""
    urls = QuoteUrls(base_url=base_url, collection=conversation.collection)
    turns = tuple(
        turn.model_copy(
            update={"answered": turn.answered.model_copy(update={"answer": urls.answer(turn.answered.answer)})}
        )
        for turn in conversation.turns
    )
    return conversation.model_copy(update={"turns": turns})
