"""Rewrites a question that follows others so that it can be understood alone, by a chat model or else by rules."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from quoteweave.core.answers import NO_TOKENS, Answer, Usage
from quoteweave.core.chat.prompts import indented, load_prompt
from quoteweave.core.concurrency.pools import run_in_pool
from quoteweave.core.errors import EndpointError, ModelError, note_text
from quoteweave.core.messages import pluralize
from quoteweave.core.protocols import ChatModel
from quoteweave.core.records import Record
from quoteweave.core.text.marks import parse_marks
from quoteweave.core.text.question_analysis import MAX_ANALYSED_CHARACTERS
from quoteweave.core.text.tokens import words
from quoteweave.endpoints.prices import add_usage, price_of
from quoteweave.generation.answer_text import clip
from quoteweave.generation.gate.claims import strip_marks
from quoteweave.pipeline.follow_ups.rules import rewrite_by_rule
from quoteweave.pipeline.search import Trace

MAX_MESSAGES = 8
"""How many of the last messages of a conversation a model reads."""
MAX_MESSAGE_CHARACTERS = 1_200
_MAX_READ = 2 * MAX_MESSAGE_CHARACTERS  # with the spaces and marks that are left out
MAX_CONTENT = 200_000
"""The most characters of a message; a model reads `MAX_MESSAGE_CHARACTERS` of it."""
_QUOTATION_MARKS = "\"'“”„«»` \t"


class Message(Record):
    """A turn of a conversation that came before the question."""

    role: Literal["user", "assistant"]
    content: str = Field(max_length=MAX_CONTENT)


class StandaloneQuestion(Record):
    """A question as it is asked of the documents."""

    question: str = Field(description="the question; as it was asked, where it can be understood alone")
    rewritten_by: Literal["model", "rule"] | None = Field(
        default=None, description="what rewrote it; None where it is as it was asked"
    )
    note: str | None = Field(default=None, description="what went wrong or was left out, in a sentence")
    usage: Usage = Field(default=NO_TOKENS, description="tokens that a model took to rewrite it")
    price_usd: float | None = Field(default=0.0, ge=0, description="of these tokens; None where it is not known")

    def add_usage(self, answer: Answer) -> Answer:
        """Return the answer to the question with the rewriting's tokens and cost added to its usage and price."""
        return answer if self.usage == NO_TOKENS else add_usage(answer, self.usage, self.price_usd)

    def annotate(self, trace: Trace) -> Trace:
        """Return the trace of the question's search, with how the question was rewritten and what went wrong."""
        notes = (self.note, *trace.notes) if self.note else trace.notes
        if self.rewritten_by is None:
            return trace.model_copy(update={"notes": notes})
        reading = f"It follows what was asked before, and was read as: {self.question}"
        update = {
            "standalone_question": self.question,
            "rewritten_by": self.rewritten_by,
            "interpretation": (reading, *trace.interpretation),
        }
        return trace.model_copy(update={"notes": notes, **update})


class FollowUps:
    """Rewrites questions that follow others; `model` is the chat model that does so, None for rules alone.

    The model reads the last `MAX_MESSAGES` messages. Rules are for English; `rules` says what they can do.
    `prompts_folder` may hold its own `follow_up_system.txt` (without fields) and `follow_up_user.txt` (fields:
    `$history`, `$question`). Raises UsageError when the prompts cannot be read.

    >>> history = [Message(role="user", content="How much grain was shipped in May?")]
    >>> asyncio.run(FollowUps().rewrite("And in June?", history)).question
    'How much grain was shipped in June?'
    """

    def __init__(self, model: ChatModel | None = None, *, prompts_folder: Path | None = None) -> None:
        self.model = model
        self.system_prompt = load_prompt("follow_up_system", prompts_folder)
        self.user_prompt = load_prompt("follow_up_user", prompts_folder)

    async def rewrite(self, question: str, history: Sequence[Message]) -> StandaloneQuestion:
        """Return the question so that it stands alone. If the model fails, the rules rewrite it, and a note says so.

        A question that follows no other, or is too long for a question, stays as it is. Raises BudgetSpent, and
        UsageError when a prompt does not have the right fields.
        """
        # Histories are read in threads, as they may be as long as a book.
        if (
            len(question) > MAX_ANALYSED_CHARACTERS
            or not history
            or not await run_in_pool("answer", _has_question, history)
        ):
            return StandaloneQuestion(question=question)
        if self.model is None:
            return await run_in_pool("answer", _by_rule, question, history)
        try:
            completion = await self.model.complete(self._messages(question, history))
        except (EndpointError, ModelError) as error:
            note = note_text(f"The question was read without the model: {error.summary}", remedy=error.remedy)
            return await run_in_pool("answer", _by_rule, question, history, note)
        rewritten = read_question(completion.text)
        if rewritten is None:
            note = f"The question was read without {self.model.name}, which wrote none."
            standalone = await run_in_pool("answer", _by_rule, question, history, note)
        elif rewritten.casefold() == " ".join(question.split()).casefold():
            standalone = StandaloneQuestion(question=question, note=_note_on_unread(history))
        else:
            standalone = StandaloneQuestion(question=rewritten, rewritten_by="model", note=_note_on_unread(history))
        spent = {"usage": completion.usage, "price_usd": price_of(self.model.name, completion.usage)}
        return standalone.model_copy(update=spent)

    def _messages(self, question: str, history: Sequence[Message]) -> list[dict[str, object]]:
        lines = [f"{message.role}: {_plain(message.content)}" for message in history[-MAX_MESSAGES:]]
        user = self.user_prompt.render(
            {
                "history": indented("\n".join(lines), "(nothing)"),
                "question": indented(" ".join(question.split()), "(nothing)"),
            }
        )
        return [
            {"role": "system", "content": self.system_prompt.render({})},
            {"role": "user", "content": user},
        ]


def read_question(reply: str) -> str | None:
    """Parse the question from a model's reply: the only line after the reasoning; None if there are none or several."""
    before, closed, after = reply.partition("</think>")
    answer = after if closed else "" if before.lstrip().startswith("<think>") else before
    lines = [line for line in answer.splitlines() if line.strip() and not line.lstrip().startswith("```")]
    if len(lines) != 1:
        return None
    line = " ".join(lines[0].strip(_QUOTATION_MARKS).split())
    return line if words(line) and len(line) <= MAX_ANALYSED_CHARACTERS else None


def _has_question(history: Sequence[Message]) -> bool:
    """Whether there is a question that another one can follow."""
    return any(message.role == "user" and words(message.content) for message in history)


def _by_rule(question: str, history: Sequence[Message], note: str | None = None) -> StandaloneQuestion:
    questions_before = [message.content for message in history if message.role == "user"]
    rewritten = rewrite_by_rule(question, questions_before)
    if rewritten is None or rewritten == question:
        return StandaloneQuestion(question=question, note=note)
    return StandaloneQuestion(question=rewritten, rewritten_by="rule", note=note)


def _note_on_unread(history: Sequence[Message]) -> str | None:
    """What the model did not read of a conversation, in a sentence; None for nothing."""
    cut = any(
        len(_on_one_line(message.content)) > MAX_MESSAGE_CHARACTERS or message.content[_MAX_READ:].strip()
        for message in history[-MAX_MESSAGES:]
    )
    if len(history) <= MAX_MESSAGES and not cut:
        return None
    messages = "message" if len(history) == 1 else pluralize(min(len(history), MAX_MESSAGES), "message")
    of_each = f", up to {MAX_MESSAGE_CHARACTERS:,} characters of each" if cut else ""
    return f"The question was read with the last {messages} of the conversation{of_each}."


def _plain(content: str) -> str:
    """The beginning of a message on one line, without marks."""
    return clip(_on_one_line(content), MAX_MESSAGE_CHARACTERS)


def _on_one_line(content: str) -> str:
    """The first `_MAX_READ` characters of a message on one line, without marks, as their numbers would mean nothing."""
    content = content[:_MAX_READ]
    return " ".join(strip_marks(content, parse_marks(content)).split())
