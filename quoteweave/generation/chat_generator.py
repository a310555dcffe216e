"""Answers with a chat model: the context becomes a prompt, and the marks of the reply become citations.

`FallbackGenerator` answers without the model where its endpoint fails.
"""

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import Literal, Protocol

from quoteweave.core.answers import (
    EXTRACTIVE,
    Answer,
    AnswerEvent,
    Context,
    Event,
    TextEvent,
    ThoughtEvent,
    replay_events,
)
from quoteweave.core.chat.completions import ChatMessage, Completion, CompletionDelta
from quoteweave.core.chat.streams import stream_completion
from quoteweave.core.errors import EndpointBadResponse, EndpointError, ModelError, note_text
from quoteweave.core.messages import shorten_to_line
from quoteweave.core.protocols import ChatModel, Generator, StreamingGenerator
from quoteweave.core.records import Query
from quoteweave.generation.citations import MarkResolver, abstention, build_answer, to_events
from quoteweave.generation.prompt_messages import ABSTENTION, CitedMessages
from quoteweave.generation.prompt_pictures import PreparedPictures, PromptPictures

REPETITION_WARNING = "The model repeats itself: the answer ends with the same words over and over."
MIN_REPETITIONS = 5
"""The least number of consecutive repetitions; the last one may be cut off."""
MIN_CHARACTERS = 300
"""The least characters of the repetition as a whole, so that a row of dashes or zeros does not count."""
_MAX_PASSAGE_CHARACTERS = 2000
"""The most characters that a repeated passage may have."""
_SOUGHT = 40
"""The number of last characters whose earlier occurrences are sought, to guess the length of a repeated passage."""
NOTHING_RETRIEVED = "No quote was found that bears on this question, so it is not answered."
CUT_SHORT = "The model reached its limit of tokens; the answer may be cut short."
# How endpoints say that an answer is whole, or ends at the limit of tokens.
_WHOLE = frozenset({"", "stop", "stop_sequence", "eos", "eos_token", "end_turn", "complete", "tool_calls", "tool_use"})
_AT_LIMIT = frozenset({"length", "max_tokens"})
MAX_REASON = 60
"""Characters of such a reason that are told, at most."""
_REASONING_END = "</think>"


def ends_in_repetition(text: str) -> bool:
    """Whether the text ends with a passage of at most 2000 characters repeated `MIN_REPETITIONS` times in a row."""
    tail = text[-MIN_REPETITIONS * _MAX_PASSAGE_CHARACTERS :]
    if len(tail) < MIN_CHARACTERS:
        return False
    last = tail[-_SOUGHT:]
    place = tail.rfind(last, 0, -1)
    while place >= 0 and (period := len(tail) - _SOUGHT - place) <= _MAX_PASSAGE_CHARACTERS:
        run = tail[-max(MIN_REPETITIONS * period, MIN_CHARACTERS) :]
        if len(run) >= MIN_REPETITIONS * period and run[period:] == run[:-period]:
            return True
        place = tail.rfind(last, 0, place + _SOUGHT - 1)
    return False


class Messages(Protocol):
    """Makes the messages that ask a chat model, such as `CitedMessages`."""

    def of(self, query: Query, context: Context, pictures: Mapping[str, str]) -> list[ChatMessage]:
        """Build the messages. `pictures` maps names of image quotes, such as `image1`, to URLs."""
        ...


class CitedGenerator:
    """A generator that asks a chat model; implements `core.protocols.StreamingGenerator`.

    `prompts_folder` and `sources` are passed to `CitedMessages`, which `messages` replaces. `pictures`
    selects the image quotes that are sent as pictures, each after its name and caption; the others, or all without it,
    are sent as words. Raises UsageError when the prompts cannot be read.

    >>> from quoteweave.testing import FakeChat
    >>> model = FakeChat(["Timber [1]."])  # in place of OpenAIChat("gpt-4.1")
    >>> Rag(LexicalRetriever(collection), CitedGenerator(model)).answer("What went by rail?").text
    'Timber [1].'
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        prompts_folder: Path | None = None,
        pictures: PromptPictures | None = None,
        sources: bool = True,
        messages: "Messages | None" = None,
    ) -> None:
        self.model = model
        self.pictures = pictures
        self.messages = messages or CitedMessages(prompts_folder, sources=sources)

    async def answer(self, query: Query, context: Context) -> Answer:
        """Return the model's answer with resolved citations; where quotes are needed and missing, abstain without it.

        Raises EndpointError when the model fails, EndpointBadResponse when its reply has nothing but reasoning, and
        UsageError when a prompt does not have the right fields.
        """
        if _is_empty(context):
            return abstention(query.text, NOTHING_RETRIEVED, model=self.model.name)
        messages, warnings = await self._messages_of(query, context)
        with _marked_errors():
            return _to_answer(query, context, await self.model.complete(messages), warnings)

    async def stream(self, query: Query, context: Context) -> AsyncGenerator[Event, None]:
        """Yield the events of the answer. Raises what `answer` raises.

        Raises EndpointBadResponse too where text sent as the answer turns out to be reasoning, because the model closes
        its reasoning with a tag without having opened it: configure such a model as reasoning (`thinking`), or do not
        stream.
        """
        if _is_empty(context):
            for event in replay_events(abstention(query.text, NOTHING_RETRIEVED, model=self.model.name)):
                yield event
            return
        messages, warnings = await self._messages_of(query, context)
        events = _EventStream(context)
        with _marked_errors():
            async with aclosing(stream_completion(self.model, messages)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Completion):
                        answer = _to_answer(query, context, piece, warnings)
                        for event in events.end():
                            yield event
                        yield AnswerEvent(answer=answer)
                        return
                    for event in events.take(piece):
                        yield event

    async def _messages_of(self, query: Query, context: Context) -> tuple[list[ChatMessage], Sequence[str]]:
        """Return the messages, and warnings about pictures that could not be included."""
        shown = PreparedPictures({}) if self.pictures is None else await self.pictures.shown(context)
        return self.messages.of(query, context, shown.urls), shown.warnings


@contextmanager
def _marked_errors() -> Iterator[None]:
    """Mark what the model raises as errors of writing the answer."""
    try:
        yield
    except (EndpointError, ModelError) as error:
        error.while_answering = True
        raise


class _EventStream:
    """Turns the pieces of a model's stream into events, without whitespace around the answer."""

    def __init__(self, context: Context) -> None:
        self._resolver = MarkResolver(context)
        self._begun = self._thought = False
        self._last = ""

    def take(self, piece: CompletionDelta) -> Iterator[Event]:
        if piece.reasoning:
            yield ThoughtEvent(text=piece.reasoning)
        self._last = self._last[-len(_REASONING_END) :] + piece.text
        self._thought = self._thought or bool(piece.reasoning)
        if _REASONING_END in self._last and not self._thought:
            raise EndpointBadResponse(
                "The model streamed its reasoning as its answer, and marked it only at its end: set thinking = true, "
                "or ask for the whole answer instead of a stream",
                remedy="on the command line: --json",
            )
        yield from to_events(self._resolver.feed(piece.text if self._begun else piece.text.lstrip()))
        self._begun = self._begun or bool(piece.text.strip())

    def end(self) -> Iterator[Event]:
        yield from to_events(self._resolver.end())


def ending_warnings(finish_reason: str | None) -> list[str]:
    """A warning if a model's answer may be cut short, by the reason for its end that the endpoint gives.

    >>> ending_warnings("content_filter")
    ["The model's answer ended for the reason content_filter; it may be cut short."]
    """
    reason = (finish_reason or "").casefold()
    if reason in _AT_LIMIT:
        return [CUT_SHORT]
    if reason in _WHOLE:
        return []
    shown = shorten_to_line(finish_reason or "", MAX_REASON)
    return [f"The model's answer ended for the reason {shown}; it may be cut short."]


def _is_empty(context: Context) -> bool:
    return not context.texts and not context.images


def _to_answer(query: Query, context: Context, completion: Completion, warnings: Sequence[str]) -> Answer:
    text = _without_reasoning(completion)
    cut = ending_warnings(completion.finish_reason)
    cut += [REPETITION_WARNING] if ends_in_repetition(text) else []
    status: Literal["answered", "abstained"] = "abstained" if _abstains(text) else "answered"
    # A model that calls itself "extractive" must not bypass the gate.
    model = f"chat:{EXTRACTIVE}" if completion.model == EXTRACTIVE else completion.model
    answer = build_answer(query.text, text, context, model=model, status=status, warnings=(*warnings, *cut))
    return answer.model_copy(update={"usage": completion.usage})


def _without_reasoning(completion: Completion) -> str:
    """Strip the reasoning; some servers omit its opening tag, and reasoning that was cut short has no closing one.

    Raises EndpointBadResponse when nothing is left.
    """
    # Reasoning that the server separated leaves no tag: a tag in the answer is part of its content.
    text = completion.text
    before, closed, after = (text, "", "") if completion.reasoning else text.partition(_REASONING_END)
    text = after if closed else "" if before.lstrip().startswith("<think>") else before
    if not text.strip():
        is_cut = completion.finish_reason == "length"
        cause = "it reached its limit of tokens; raise max_tokens" if is_cut else "ask again"
        raise EndpointBadResponse(f"The model {completion.model} gave no answer beyond its reasoning: {cause}.")
    return text.strip()


def _abstains(text: str) -> bool:
    first_line = text.lstrip("*_>#\"' ").splitlines()[0:1]
    return bool(first_line) and first_line[0].rstrip("*_\"' .").casefold() == ABSTENTION.rstrip(".").casefold()


class FallbackGenerator:
    """Answers with `first`; where its endpoint fails, with `second` and a warning that gives the reason."""

    def __init__(self, first: Generator, second: Generator) -> None:
        self.first, self.second = first, second

    async def answer(self, query: Query, context: Context) -> Answer:
        """Return the answer of one of them. Raises what `second` raises, and other errors of `first`."""
        try:
            return await self.first.answer(query, context)
        except EndpointError as error:
            return await self._second(query, context, error)

    async def stream(self, query: Query, context: Context) -> AsyncGenerator[Event, None]:
        """Yield the events of the answer.

        Raises EndpointError where the endpoint fails after part of its answer was sent, which cannot be undone.
        """
        if not isinstance(self.first, StreamingGenerator):
            for event in replay_events(await self.answer(query, context)):
                yield event
            return
        sent = False
        try:
            async with aclosing(self.first.stream(query, context)) as events:
                async for event in events:
                    sent = sent or isinstance(event, TextEvent | AnswerEvent)
                    yield event
        except EndpointError as error:
            if sent:
                raise
            for event in replay_events(await self._second(query, context, error)):
                yield event

    async def _second(self, query: Query, context: Context, error: EndpointError) -> Answer:
        answer = await self.second.answer(query, context)
        reason = f"The model could not be asked, so this answer was put together without it: {error.summary}"
        warning = note_text(reason, remedy=error.remedy)
        return answer.model_copy(update={"warnings": (*answer.warnings, warning)})
