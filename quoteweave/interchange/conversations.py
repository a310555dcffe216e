"""Conversations that a server keeps, as it writes them and its clients read them."""

from collections.abc import Mapping

from pydantic import AwareDatetime, Field

from quoteweave.core.records import Record
from quoteweave.pipeline.rag import Answered


class Turn(Record):
    """A question of a conversation, and what was answered."""

    id: str
    question: str = Field(description="as it was asked")
    standalone_question: str | None = Field(
        default=None, description="as it was asked of the documents, where it was rewritten for that"
    )
    answered: Answered = Field(description="the answer, and the quotes before it as they were at the time")
    settings: Mapping[str, object] = Field(default_factory=dict, description="that the request chose")
    created: AwareDatetime


class ConversationSummary(Record):
    """A conversation without its turns."""

    id: str
    collection: str = Field(description="the name under which its collection is served")
    owner: str | None = Field(description="id of the key that it belongs to; None where there were no keys")
    title: str
    created: AwareDatetime
    updated: AwareDatetime = Field(description="when something was last asked in it")
    questions: int = Field(ge=0, description="how many were asked in it")


class Conversation(ConversationSummary):
    """A conversation with its turns, the first one first."""

    turns: tuple[Turn, ...] = ()


class ConversationList(Record):
    """Conversations, the last used first."""

    conversations: tuple[ConversationSummary, ...]
