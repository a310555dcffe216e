"""`/v1/conversations`: what was asked and answered, with the quotes as they were at the time."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, assert_never

from fastapi import APIRouter, Body, Path, Query, Response
from pydantic import Field

from quoteweave.core.errors import CollectionError
from quoteweave.core.records import Record
from quoteweave.interchange.exports import ExportedTurn, ExportFormat
from quoteweave.interchange.exports.markdown import to_markdown
from quoteweave.interchange.exports.word import to_word
from quoteweave.interchange.quotes import QuoteUrls
from quoteweave.interchange.responses import Conversation, ConversationList, ConversationSummary
from quoteweave.pipeline.pictures_for_people import stored_crops
from quoteweave.server.depends import BaseUrl, Reader, ServedState, check_opens
from quoteweave.server.json_bodies import JsonRoute
from quoteweave.server.problems import ProblemError
from quoteweave.server.served import Served
from quoteweave.server.state.conversations import MAX_LISTED, MAX_TITLE

router = APIRouter(tags=["conversations"], route_class=JsonRoute)
ConversationId = Annotated[str, Path(description="id of a conversation", max_length=100)]
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_FILE_TYPES: Mapping[ExportFormat, tuple[str, str]] = {
    "markdown": ("md", "text/markdown; charset=utf-8"),
    "docx": ("docx", _WORD),
    "json": ("json", "application/json"),
}


class NewConversation(Record):
    """A conversation to begin."""

    collection: str = Field(description="the name under which its collection is served", examples=["port"])
    title: str = Field(
        default="", max_length=MAX_TITLE, description="if empty, its first question", examples=["Grain in May"]
    )


class Renaming(Record):
    """A conversation's other title."""

    title: str = Field(max_length=MAX_TITLE, examples=["Grain in May"])


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
    listed = served.conversations.list(grant.viewer, collection=collection, words=words, limit=limit, offset=offset)
    return ConversationList(conversations=listed)


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
    responses={200: {"content": {"application/json": {}, "text/markdown": {}, _WORD: {}}}},
)
def export_conversation(
    conversation: ConversationId,
    served: ServedState,
    grant: Reader,
    base_url: BaseUrl,
    format: Annotated[ExportFormat, Query()] = "markdown",
) -> Response:
    """Return a conversation as a file: Markdown or Word with footnotes, or JSON with all that is stored of it."""
    stored = _with_urls(served.conversations.get(conversation, grant.viewer), base_url)
    suffix, media_type = _FILE_TYPES[format]
    headers = {
        "Content-Disposition": f'attachment; filename="conversation-{stored.created:%Y-%m-%d}-{stored.id[:8]}.{suffix}"'
    }
    return Response(_exported(stored, format, served), media_type=media_type, headers=headers)


def _exported(conversation: Conversation, format: ExportFormat, served: Served) -> str | bytes:
    turns = [
        ExportedTurn(question=turn.question, answer=turn.answered.with_search_notes(), asked=turn.created)
        for turn in conversation.turns
    ]
    match format:
        case "json":
            return conversation.model_dump_json(indent=1)
        case "markdown":
            return to_markdown(turns, title=conversation.title or None)
        case "docx":
            return to_word(turns, title=conversation.title or None, pictures=_pictures(conversation, served))
        case _:
            assert_never(format)


def _pictures(conversation: Conversation, served: Served) -> dict[str, bytes]:
    """The pictures that the answers show; empty for one that is lost or damaged, which the Word file then says."""
    quotes = {
        citation.quote_id: quote
        for turn in conversation.turns
        for citation in turn.answered.answer.citations
        if citation.kind == "image"
        and (quote := turn.answered.context.quote(citation.kind, citation.number)) is not None
        and quote.image is not None
    }
    if not quotes:
        return {}
    crops: Mapping[str, bytes] = {}
    with suppress(ProblemError, CollectionError):  # it is not served any more, or damaged
        crops, _ = stored_crops(served.collection(conversation.collection).collection, list(quotes.values()))
    return {name: crops.get(quote.image or "", b"") for name, quote in quotes.items()}


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
