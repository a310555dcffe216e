"""What the requests of OpenAI's two APIs have in common: messages in parts, options of ours, fields without effect."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from quoteweave.core.answers import Answer, AnswerStatus, Citation, Context
from quoteweave.core.records import Filter, Record
from quoteweave.core.text.question_analysis import check_question
from quoteweave.core.text.tokens import words
from quoteweave.generation.chat_generator import CUT_SHORT
from quoteweave.interchange.shown_text import shown_text
from quoteweave.pipeline.follow_ups.rewriting import MAX_CONTENT, Message
from quoteweave.pipeline.search import Trace
from quoteweave.server.answers.requests import NO_CHOICES, AnswerChoices, AnswerRequest, chosen_settings
from quoteweave.server.dialects.openai_errors import refuse

MAX_HISTORY = 200
_TEXT_PARTS = frozenset({"text", "input_text", "output_text", "summary_text"})
_IMAGE_PARTS = frozenset({"image_url", "input_image"})
# Fields that never change an answer, whatever server gives it, so that ignoring them needs no note.
_WITHOUT_MEANING = frozenset(
    {"metadata", "parallel_tool_calls", "prompt_cache_key", "safety_identifier", "service_tier", "user"}
)
INSTRUCTIONS_IGNORED = "Instructions have no effect: how answers are written and cited is the server's."


class Options(Record):
    """What a request says to this server beyond OpenAI's fields."""

    filters: Filter = Field(default=Filter(), description="where to search")
    settings: AnswerChoices = Field(  # type: ignore[valid-type]
        default=NO_CHOICES, description="how to search and answer"
    )
    footnotes: bool = Field(default=False, description="list the sources below the text")


NO_OPTIONS = Options()


class OpenRequest(BaseModel):
    """A request that may have fields which are not known here."""

    model_config = ConfigDict(extra="allow", frozen=True)

    def ignored(self) -> list[str]:
        """The fields that are given and have no effect."""
        given_fields = {name for name, value in (self.model_extra or {}).items() if value not in (None, [], {}, "")}
        return sorted(given_fields - _WITHOUT_MEANING)


class ContentPart(OpenRequest):
    """A part of a message."""

    type: str
    text: str | None = None


Content = str | list[ContentPart] | None
ROLES: Mapping[str, Literal["system", "user", "assistant"]] = {
    "system": "system", "developer": "system", "user": "user", "assistant": "assistant",
}  # fmt: skip
"""What the roles of messages count as; others have no effect."""


class InputMessage(Record):
    """A message as it was said, in words."""

    role: Literal["system", "user", "assistant", "other"]
    text: str
    field: str = Field(description="where it stands in the request, for messages")


class AnswerFields(Record):
    """What this server says of an answer beyond OpenAI's fields."""

    status: AnswerStatus
    citations: tuple[Citation, ...] = Field(description="every citation; `start` and `end` index the text as sent")
    context: Context = Field(description="the quotes that the marks refer to")
    model: str = Field(description="the chat model that wrote the answer, or `extractive`")
    standalone_question: str | None = Field(
        default=None, description="the question as it was asked of the documents, where it followed others"
    )
    rewritten_by: Literal["model", "rule"] | None = None
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = Field(
        default=(), description="what of the request had no effect, and what went wrong in searching"
    )


def answer_fields(answer: Answer, context: Context, trace: Trace, notes: Sequence[str]) -> AnswerFields:
    """Return what is said of an answer beyond its text."""
    return AnswerFields(
        status=answer.status,
        citations=shown_text(answer).citations,
        context=context,
        model=answer.model,
        standalone_question=trace.standalone_question,
        rewritten_by=trace.rewritten_by,
        warnings=answer.warnings,
        notes=(*notes, *trace.notes),
    )


def read_content(content: Content, field: str) -> str:
    """Return the text of a message. Raises ProblemError for what is no text."""
    if content is None or isinstance(content, str):
        return content or ""
    texts = []
    for number, part in enumerate(content):
        if part.type in _IMAGE_PARTS:
            raise refuse(f"{field}.{number}", "questions are read as text, and images are not; ask in words")
        if part.type == "refusal":
            continue
        if part.type not in _TEXT_PARTS:
            raise refuse(f"{field}.{number}", f"a part of type {part.type!r} is not read; send text")
        texts.append(part.text or "")
    return "\n".join(texts)


def read_conversation(messages: Sequence[InputMessage]) -> tuple[str, tuple[Message, ...]]:
    """Return the question, which the last message asks, and what was said before it.

    Raises ProblemError where the last message is not the user's or has no words, QuestionTooLong where it is too long.
    """
    turns = [message for message in messages if message.role in ("user", "assistant")]
    last_message = turns[-1] if turns else None
    if last_message is None or last_message.role != "user":
        field = last_message.field if last_message else "messages"
        raise refuse(field, "the last message must be a question of the user's")
    if not words(last_message.text, keep_stop_words=True):
        raise refuse(last_message.field, "the question has no words")
    check_question(last_message.text)
    return last_message.text, tuple(
        Message(role="user" if message.role == "user" else "assistant", content=message.text[:MAX_CONTENT])
        for message in _spoken(messages)[:-1][-MAX_HISTORY:]
    )


def _spoken(messages: Sequence[InputMessage]) -> list[InputMessage]:
    """The messages of user and assistant that have words."""
    return [message for message in messages if message.role in ("user", "assistant") and message.text.strip()]


def answer_request(
    messages: Sequence[InputMessage], options: Options, sampling: Mapping[str, float | int | None], store: bool | None
) -> AnswerRequest:
    """Return the request in our own form; the settings of `options` override `sampling`.

    Raises what `read_conversation` raises.
    """
    question, history = read_conversation(messages)
    sampling_given = {name: value for name, value in sampling.items() if value is not None}
    settings = AnswerChoices.model_validate({**sampling_given, **chosen_settings(options.settings)})
    return AnswerRequest(question=question, history=history, filters=options.filters, settings=settings, store=store)


def notes_on(
    ignored: Iterable[str], messages: Sequence[InputMessage], instructions: str | None = None
) -> tuple[str, ...]:
    """Return notes on the parts of a request that have no effect."""
    roles = {message.role for message in messages}
    earlier_messages = _spoken(messages)[:-1]
    notes = [INSTRUCTIONS_IGNORED] if instructions or "system" in roles else []
    names = ", ".join(ignored)
    notes += ["Messages of tools have no effect."] if "other" in roles else []
    notes += [f"These fields of the request have no effect: {names}."] if names else []
    if len(earlier_messages) > MAX_HISTORY:
        notes.append(f"Only the last {MAX_HISTORY} messages before the question have an effect.")
    if any(len(message.text) > MAX_CONTENT for message in earlier_messages):
        notes.append(f"Only the first {MAX_CONTENT:,} characters of each message before the question have an effect.")
    return tuple(notes)


def is_cut_short(answer: Answer) -> bool:
    """Whether the model reached its limit of tokens."""
    return CUT_SHORT in answer.warnings


def token_counts(answer: Answer) -> tuple[int, int] | None:
    """Tokens read and written; None if the endpoint does not count them, 0 and 0 if no model was used."""
    usage = answer.usage
    if usage.input_tokens is None or usage.output_tokens is None:
        return (0, 0) if answer.is_extractive else None
    return usage.input_tokens, usage.output_tokens
