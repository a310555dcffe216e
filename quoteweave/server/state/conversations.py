"""Conversations that a server keeps: questions and their whole answers, with the quotes as they were at the time."""

import logging
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from pydantic import AwareDatetime, Field, ValidationError
from pydantic_core import to_json

from quoteweave.collection.checksums import row_checksum
from quoteweave.core.answers import Region
from quoteweave.core.errors import ConversationNotFound, StateError, UsageError
from quoteweave.core.messages import shorten_to_line
from quoteweave.core.records import Quote, Record
from quoteweave.interchange.responses import Conversation, ConversationSummary, Turn
from quoteweave.pipeline.rag import Answered
from quoteweave.server.state.conversation_file import open_conversations
from quoteweave.server.state.state_folder import StateDatabase

MAX_TITLE = 200
"""Characters of a title; longer ones are cut."""
MAX_LISTED = 200
_log = logging.getLogger(__name__)


class StoredQuote(Record):
    """A quote as it was when an answer was made from it."""

    quote: Quote
    regions: tuple[Region, ...] = Field(default=(), description="where the answer cited it; empty if it did not")
    conversation: str
    turn: str
    created: AwareDatetime = Field(description="when the answer was made")


@dataclass(frozen=True, slots=True)
class Viewer:
    """Whose conversations a request sees; by default, all of them."""

    owner: str | None = None
    everyone: bool = True
    """Whether it sees the conversations of all owners."""
    collections: tuple[str, ...] | None = None
    """Names of the collections that it may see; None for all."""

    def condition(self) -> tuple[str, list[object]]:
        """The condition on rows of `conversations`, and its parameters."""
        clauses, values = ["1"], list[object]()
        if not self.everyone:
            clauses.append("owner IS ?")
            values.append(self.owner)
        if self.collections is not None:
            clauses.append(f"collection IN ({', '.join('?' * len(self.collections))})")
            values += self.collections
        return " AND ".join(clauses), values


EVERYONE = Viewer()


@dataclass(frozen=True, slots=True)
class NewTurn:
    """A question and its answer, to be stored."""

    question: str
    answered: Answered
    standalone_question: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    turn_id: str | None = None
    """An id made by `new_id`, if a client was told it already; None for a new one."""


def new_id() -> str:
    """Return an id that no conversation and no turn has."""
    return uuid4().hex


class ConversationStore:
    """Conversations in an SQLite file of the state folder, for any number of threads and processes.

    What a method has written is on the disk when it returns, so that it survives a killed process or a power cut. Every
    method raises StateError if the file is damaged, or the disk is full or refuses. A file that is found damaged when
    it is opened is renamed, and `warning` says so. `clock` tells the time.
    """

    def __init__(self, state: Path, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._clock = clock
        opened = open_conversations(state)
        self.path, self.warning = opened.path, opened.warning
        self._db = StateDatabase(opened.connection, self._error)
        if self.warning is not None:
            _log.warning("%s", self.warning)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def create(
        self, collection: str, owner: str | None, title: str = "", *, conversation_id: str | None = None
    ) -> ConversationSummary:
        """Begin a conversation; without a title, its first question becomes its title.

        If an id is given, it must come from `new_id`.
        """
        new_conversation, now = conversation_id or new_id(), self._clock()
        with self._db.writing() as db:
            db.execute(
                "INSERT INTO conversations (id, collection, owner, title, folded, created, updated) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (new_conversation, collection, owner, _title(title), _title(title).casefold(), _time(now), _time(now)),
            )
            return self._summary(db, new_conversation, EVERYONE)

    def append(self, conversation: str, new: NewTurn, *, collection: str, viewer: Viewer = EVERYONE) -> Turn:
        """Add a question and its answer to the end of a conversation.

        Raises ConversationNotFound if the viewer sees none of that id, UsageError for one about another collection.
        """
        turn = Turn(
            id=new.turn_id or new_id(),
            question=new.question,
            standalone_question=new.standalone_question,
            answered=new.answered,
            settings=new.settings,
            created=self._clock(),
        )
        with self._db.writing() as db:
            summary = self._summary(db, conversation, viewer)
            if summary.collection != collection:
                raise UsageError(
                    f"conversation {conversation} is about the collection {summary.collection!r}, not {collection!r}; "
                    "begin another one"
                )
            self._insert(db, summary, turn)
        return turn

    def list(
        self,
        viewer: Viewer = EVERYONE,
        *,
        collection: str | None = None,
        words: str = "",
        limit: int = 50,
        offset: int = 0,
    ) -> tuple[ConversationSummary, ...]:
        """Return conversations, the last used first: those whose title and questions hold all these words."""
        condition, values = viewer.condition()
        if collection is not None:
            condition, values = f"{condition} AND collection = ?", [*values, collection]
        for word in words.casefold().split():
            condition, values = f"{condition} AND instr(folded, ?)", [*values, word]
        with self._db.reading() as db:
            rows = db.execute(
                f"SELECT {_COLUMNS} FROM conversations WHERE {condition} "  # noqa: S608 - built from constants
                "ORDER BY updated DESC, rowid DESC LIMIT ? OFFSET ?",
                (*values, min(limit, MAX_LISTED), offset),
            ).fetchall()
        return tuple(map(_read_summary, rows))

    def get(self, conversation: str, viewer: Viewer = EVERYONE) -> Conversation:
        """Return a conversation with its turns. Raises ConversationNotFound where the viewer sees none of that id."""
        with self._db.reading() as db:
            summary = self._summary(db, conversation, viewer)
            rows = db.execute(
                "SELECT id, record, checksum FROM turns WHERE conversation = ? ORDER BY number", (conversation,)
            ).fetchall()
        return Conversation(**dict(summary), turns=tuple(self._turn(conversation, *row) for row in rows))

    def rename(self, conversation: str, title: str, viewer: Viewer = EVERYONE) -> ConversationSummary:
        """Give a conversation another title. Raises as `get`, and UsageError for an empty one."""
        if not title.strip():
            raise UsageError("the title is empty; write what the conversation is about")
        with self._db.writing() as db:
            self._summary(db, conversation, viewer)
            db.execute(
                "UPDATE conversations SET title = ?, folded = ? || char(10) || questions_folded WHERE id = ?",
                (_title(title), _title(title).casefold(), conversation),
            )
            return self._summary(db, conversation, viewer)

    def delete(self, conversation: str, viewer: Viewer = EVERYONE) -> None:
        """Remove a conversation; its text is overwritten in the file. Raises as `get`."""
        with self._db.writing() as db:
            self._summary(db, conversation, viewer)
            db.execute("DELETE FROM conversations WHERE id = ?", (conversation,))
        self._db.cut_log()

    def delete_about(self, collection: str) -> int:
        """Remove all owners' conversations about a collection, as `delete` does; return how many there were."""
        with self._db.writing() as db:
            deleted = db.execute("DELETE FROM conversations WHERE collection = ?", (collection,)).rowcount
        self._db.cut_log()
        return deleted

    def count_showing(self, collection: str, document: str) -> int:
        """Return how many conversations about a collection hold quotes of that document."""
        document_field = f'"document":{to_json(document).decode()}'
        with self._db.reading() as db:
            (count,) = db.execute(
                "SELECT count(DISTINCT conversation) FROM turns WHERE instr(record, ?) AND conversation IN "
                "(SELECT id FROM conversations WHERE collection = ?)",
                (document_field, collection),
            ).fetchone()
        return int(count)

    def find_quote(self, collection: str, quote_id: str, viewer: Viewer = EVERYONE) -> StoredQuote | None:
        """Return a quote as it was in the last stored answer that used it; None if the viewer sees no such answer."""
        condition, values = viewer.condition()
        with self._db.reading() as db:
            row = db.execute(
                "SELECT turns.conversation, turns.id, turns.record, turns.checksum FROM quotes "  # noqa: S608
                "JOIN turns ON turns.id = quotes.turn WHERE quotes.collection = ? AND quotes.quote = ? "
                f"AND turns.conversation IN (SELECT id FROM conversations WHERE {condition}) "
                "ORDER BY turns.rowid DESC LIMIT 1",
                (collection, quote_id, *values),
            ).fetchone()
        if row is None:
            return None
        conversation, *stored = row
        turn = self._turn(conversation, *stored)
        cited = (citation.regions for citation in turn.answered.answer.citations if citation.quote_id == quote_id)
        regions = tuple(dict.fromkeys(region for regions in cited for region in regions))
        quote = next(hit.quote for hit in turn.answered.context.hits if hit.quote.id == quote_id)
        return StoredQuote(quote=quote, regions=regions, conversation=conversation, turn=turn.id, created=turn.created)

    def _insert(self, db: sqlite3.Connection, summary: ConversationSummary, turn: Turn) -> None:
        record, title = turn.model_dump_json(), summary.title or _title(turn.question)
        db.execute(
            "INSERT INTO turns (id, conversation, number, record, checksum) VALUES (?, ?, ?, ?, ?)",
            (turn.id, summary.id, summary.questions + 1, record, row_checksum(record, turn.id)),
        )
        quote_ids = {hit.quote.id for hit in turn.answered.context.hits}
        db.executemany(
            "INSERT INTO quotes (collection, quote, turn) VALUES (?, ?, ?)",
            [(summary.collection, quote_id, turn.id) for quote_id in quote_ids],
        )
        db.execute(
            "UPDATE conversations SET title = ?1, questions = questions + 1, updated = ?2, "
            "questions_folded = questions_folded || ?3 || char(10), "
            "folded = ?4 || char(10) || questions_folded || ?3 || char(10) WHERE id = ?5",
            (title, _time(turn.created), turn.question.casefold(), title.casefold(), summary.id),
        )

    def _summary(self, db: sqlite3.Connection, conversation: str, viewer: Viewer) -> ConversationSummary:
        condition, values = viewer.condition()
        row = db.execute(
            f"SELECT {_COLUMNS} FROM conversations WHERE id = ? AND {condition}",  # noqa: S608 - built from constants
            (conversation, *values),
        ).fetchone()
        if row is None:
            raise ConversationNotFound(f"there is no conversation {conversation!r}; it may have been deleted")
        return _read_summary(row)

    def _turn(self, conversation: str, turn_id: str, record: str, checksum: int) -> Turn:
        try:
            if checksum != row_checksum(record, turn_id):
                raise ValueError("its checksum does not fit")
            return Turn.model_validate_json(record)
        except ValueError as error:  # pydantic's ValidationError is one
            by_other = isinstance(error, ValidationError)
            reason = "another version of quoteweave wrote it, in another form" if by_other else str(error)
            raise StateError(
                f"{self.path}: turn {turn_id} of conversation {conversation} cannot be read ({reason}); "
                "delete the conversation and ask its questions again"
            ) from error

    def _error(self, error: sqlite3.Error | OSError) -> StateError:
        return StateError(
            f"{self.path} cannot be used ({error}); where it is damaged, it is set aside when the server starts again"
        )


_COLUMNS = "id, collection, owner, title, created, updated, questions"


def _read_summary(row: tuple[object, ...]) -> ConversationSummary:
    return ConversationSummary.model_validate(dict(zip(_COLUMNS.split(", "), row, strict=True)))


def _title(text: str) -> str:
    return shorten_to_line(text, MAX_TITLE)


def _time(when: datetime) -> str:
    """The time in UTC with a fixed number of digits, so that texts sort like times."""
    return when.astimezone(UTC).isoformat(timespec="microseconds")
