"""Stores the answers to requests in conversations: decides whether and where, and tells the response."""

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool

from quoteweave.core.answers import AnswerEvent, Context
from quoteweave.core.errors import StateError, UsageError
from quoteweave.core.records import Record
from quoteweave.interchange.responses import Turn
from quoteweave.pipeline.follow_ups.rewriting import MAX_CONTENT, Message
from quoteweave.pipeline.rag import Answered, SourcesEvent
from quoteweave.pipeline.search import Trace
from quoteweave.server.access.control import Grant
from quoteweave.server.answers.requests import AnswerRequest, chosen_settings
from quoteweave.server.served import Served
from quoteweave.server.state.conversations import NewTurn, new_id

LOG = logging.getLogger("quoteweave.server")


def history_of(turns: Sequence[Turn]) -> tuple[Message, ...]:
    """Return turns as the messages of a conversation; a follow-up question is given as its standalone question."""
    pairs = ((turn.standalone_question or turn.question, turn.answered.answer.text) for turn in turns)
    return tuple(
        Message(role=role, content=content[:MAX_CONTENT])
        for question, answer in pairs
        for role, content in (("user", question), ("assistant", answer))
    )


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer, and where it is stored."""

    answered: Answered
    conversation: str | None = None
    turn: str | None = None
    """None, like the conversation, if the answer is not stored."""


class AnswerRecorder:
    """Stores the answer to one request, if it is to be stored.

    It is stored if the request says so or belongs to a conversation, else if the server's setting says so. If the
    server is set never to store answers, it is not stored.
    """

    def __init__(self, served: Served, grant: Grant, *, collection: str, request: AnswerRequest) -> None:
        self._served, self._grant, self._collection, self._request = served, grant, collection, request
        policy = served.settings.store
        is_wanted = policy == "always" if request.store is None else request.store
        self._keeps = policy != "never" and (request.conversation is not None or is_wanted)
        self._turns: tuple[Turn, ...] = ()
        self._conversation, self._turn = request.conversation or new_id(), new_id()

    @property
    def place(self) -> tuple[str, str] | None:
        """Ids of the conversation and the turn under which the answer will be stored; None if it will not be."""
        return (self._conversation, self._turn) if self._keeps else None

    @property
    def headers(self) -> dict[str, str]:
        """Headers that say before a stream begins where its answer will be stored once the last event has come."""
        return {"X-Conversation-Id": self._conversation, "X-Turn-Id": self._turn} if self._keeps else {}

    async def find_conversation(self) -> None:
        """Find the request's conversation, if it names one, before any work is done.

        Raises ConversationNotFound for a conversation that the key may not see; UsageError for one about another
        collection, and for a request that wants its answer not to be stored.
        """
        if self._request.conversation is None:
            return
        if self._served.settings.store == "never":
            raise UsageError("conversation: this server keeps none; leave it out, and send what was said as history")
        if self._request.store is False:
            raise UsageError("conversation: it keeps every answer; leave out conversation, or store")
        viewer = self._grant.viewer
        conversation = await run_in_threadpool(self._served.conversations.get, self._request.conversation, viewer)
        if conversation.collection != self._collection:
            raise UsageError(
                f"conversation: {conversation.id} is about {conversation.collection!r}, not {self._collection!r}"
            )
        self._turns = conversation.turns

    def history(self) -> tuple[Message, ...]:
        """Return what came before: the request's own history, or else that of its conversation."""
        return self._request.history or history_of(self._turns)

    def with_history(self) -> AnswerRequest:
        """Return the request with the history that is needed to understand its question."""
        return self._request.model_copy(update={"history": self.history()})

    async def keep(self, answered: Answered) -> StoredAnswer:
        """Store the answer if it is to be stored; if this fails, the answer is returned with a warning."""
        if not self._keeps:
            return StoredAnswer(answered)
        try:
            await run_in_threadpool(self._append, answered)
        except StateError as error:
            LOG.error("an answer could not be kept: %s", error)
            warning = "The answer could not be kept in its conversation."
            answer = answered.answer.model_copy(update={"warnings": (*answered.answer.warnings, warning)})
            return StoredAnswer(answered.model_copy(update={"answer": answer}))
        return StoredAnswer(answered, self._conversation, self._turn)

    async def events(self, events: AsyncGenerator[Record, None]) -> AsyncGenerator[Record, None]:
        """Yield the events of an answer; store the answer before its last event, which warns if that fails."""
        context, trace = Context(), Trace(clauses=())
        async with aclosing(events):
            async for event in events:
                if isinstance(event, SourcesEvent):
                    context, trace = event.context, event.trace
                if isinstance(event, AnswerEvent):
                    answered = Answered(answer=event.answer, context=context, trace=trace)
                    yield AnswerEvent(answer=(await self.keep(answered)).answered.answer)
                else:
                    yield event

    def _append(self, answered: Answered) -> None:
        store, request = self._served.conversations, self._request
        if self._served.opened(self._collection) is None:
            raise StateError(f"the collection {self._collection!r} was deleted while it was asked")
        if request.conversation is None:
            store.create(self._collection, self._grant.owner, conversation_id=self._conversation)
        settings = chosen_settings(request.settings)
        turn = NewTurn(request.question, answered, answered.trace.standalone_question, settings, self._turn)
        store.append(self._conversation, turn, collection=self._collection, viewer=self._grant.viewer)
