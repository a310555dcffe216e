"""An answer is the same whether streamed, returned whole or read back from a run."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from made_collections import made_quote

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import (
    Answer,
    AnswerEvent,
    CitationEvent,
    Context,
    ContextSize,
    Event,
    ImageEvent,
    TextEvent,
    ThoughtEvent,
    replay_events,
)
from quoteweave.core.chat.completions import Completion
from quoteweave.core.errors import EndpointBadResponse, EndpointUnreachable, QuestionEmpty, QuestionTooLong, UsageError
from quoteweave.core.examples import Prediction
from quoteweave.core.records import Filter
from quoteweave.core.runs import RunRecord, open_run, read_run
from quoteweave.core.text.question_analysis import MAX_QUESTION_CHARACTERS
from quoteweave.endpoints.chat import OpenAIChat
from quoteweave.generation.chat_generator import CitedGenerator
from quoteweave.generation.extractive.generator import ExtractiveGenerator
from quoteweave.generation.gate.policies import REFUSAL, Policy
from quoteweave.pipeline.rag import Rag, SourcesEvent, StreamEvent
from quoteweave.retrievers.lexical import LexicalRetriever
from quoteweave.testing import FakeChat, FakeRetriever, ModelServer, Reply, check_events

QUOTES = [
    made_quote("The port received 1,058 vessel calls in 2023."),
    made_quote("Grain came to 557 thousand tonnes.", page=2),
    made_quote("Fish 121", layout="chart", page=3),
]
GOOD, BAD = "The port received 1,058 vessel calls [1].", "Grain came to 600 thousand tonnes [2]."
POLICIES: list[Policy | None] = [None, "report", "drop", "refuse"]
PIECES = st.sampled_from(
    [" ", "\n", "\n\n", ". ", "[", "]", "`", "```", "!", "The", "it ", "[1]", "[2]", "[9]", "[1, 9]", "![Fish](image1)"]
) | st.sampled_from([GOOD, BAD, f"{GOOD} ", f"{BAD} ", "![x](image7)", "![", "Fig. ", "- ", "3. ", "“", "600", "。"])
TEXTS = st.lists(PIECES, min_size=1, max_size=14).map("".join).filter(str.strip)


def rag(model: FakeChat | OpenAIChat, policy: Policy | None) -> Rag:
    return Rag(FakeRetriever(QUOTES), CitedGenerator(model), gate=policy)


async def events_and_context(asked: Rag, question: str = "What came?") -> tuple[list[Event | ImageEvent], Context]:
    events, context = list[Event | ImageEvent](), Context()
    async with aclosing(asked.stream(question)) as stream:
        async for event in stream:
            if isinstance(event, SourcesEvent):
                context = event.context
            else:
                events.append(event)
    return events, context


def timeless(answer: Answer) -> Answer:
    return answer.model_copy(update={"seconds": 0.0})


def texts(events: list[Event | ImageEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, TextEvent)]


@pytest.mark.parametrize("policy", POLICIES)
@given(text=TEXTS, size=st.integers(1, 9))
@example(text=f"{GOOD} {BAD} {GOOD}", size=1)
@example(text=f"{BAD} Nothing else.", size=2)
@example(text=f"See `code. {BAD} {GOOD}", size=3)
@example(text=f"No mark at all. {BAD}\n\n![Fish](image1)", size=3)
def test_a_streamed_answer_is_the_whole_answer(policy: Policy | None, text: str, size: int) -> None:
    events, context = asyncio.run(events_and_context(rag(FakeChat([text], size=size), policy)))
    answer = check_events(events, context)
    whole = asyncio.run(rag(FakeChat([text]), policy).answer_async("What came?"))
    assert timeless(answer) == timeless(whole)


@pytest.mark.parametrize("policy", POLICIES)
def test_over_http_in_chunks_and_back_from_a_run(policy: Policy | None, tmp_path: Path) -> None:
    text = f"{GOOD} See ![Fish](image1). {BAD} And [7] more [1, 9]."
    with ModelServer(lambda _: Reply(text=text, reasoning="Well, then.", sizes=(1, 4, 2))) as server:
        asked = rag(OpenAIChat("m", base_url=server.base_url), policy)
        events, context = asyncio.run(events_and_context(asked))
        whole = asked.answer("What came?")
    answer = check_events(events, context)
    assert timeless(answer) == timeless(whole)
    assert "".join(event.text for event in events if isinstance(event, ThoughtEvent)) == (
        "" if policy == "refuse" else "Well, then."
    )
    with open_run(tmp_path / "run", RunRecord(configuration={})) as run:
        run.append(Prediction(example="1", answer=answer, response=text))
    (kept,) = read_run(tmp_path / "run")[1]
    assert kept.answer is not None
    check_events(list(replay_events(kept.answer)), context)
    assert kept.answer == answer


def test_text_comes_as_it_is_written_and_a_citation_with_its_mark() -> None:
    events, _ = asyncio.run(events_and_context(rag(FakeChat(["It grew [1] fast."], size=4), "report")))
    told = [event.text if isinstance(event, TextEvent) else event.type for event in events]
    assert told == ["It g", "rew", " ", "[1]", "citation", " fast", ".", "answer"]


def test_drop_holds_one_sentence_back() -> None:
    events, _ = asyncio.run(
        events_and_context(rag(FakeChat([f"{GOOD} {BAD} Then on it went [1]."], size=1000), "drop"))
    )
    assert "".join(texts(events)) == f"{GOOD} Then on it went [1]."
    few = FakeChat([f"{GOOD} {BAD} Then on it went [1]."], size=len(GOOD) + 10)
    events, _ = asyncio.run(events_and_context(rag(few, "drop")))
    assert texts(events)[:2] == ["The port received 1,058 vessel calls ", "[1]"]


@pytest.mark.parametrize("policy", ["drop", "refuse"])
def test_nothing_of_an_answer_that_is_refused_gets_out(policy: Policy) -> None:
    events, _ = asyncio.run(events_and_context(rag(FakeChat([f"Hear. {BAD} So there."], size=3), policy)))
    assert texts(events) == [REFUSAL]
    assert not any(isinstance(event, CitationEvent) for event in events)


def test_without_a_model_the_answer_comes_at_once() -> None:
    asked = Rag(FakeRetriever(QUOTES), ExtractiveGenerator(), size=ContextSize(texts=2, images=0))
    events, context = asyncio.run(events_and_context(asked, "What came to 557 thousand tonnes?"))
    assert "Grain" in check_events(events, context).text


def test_a_stream_that_is_left_early_stops_the_model() -> None:
    async def first_text(asked: Rag) -> str:
        async with aclosing(asked.stream("What came?")) as stream:
            async for event in stream:
                if isinstance(event, TextEvent):
                    return event.text
        raise AssertionError

    with ModelServer(lambda _: Reply(text=GOOD * 1000, sizes=(5,))) as server:
        model = OpenAIChat("m", base_url=server.base_url)
        assert asyncio.run(first_text(rag(model, "report"))) == "The p"


def test_an_answer_that_breaks_off_raises_behind_what_came() -> None:
    async def seen(asked: Rag) -> list[StreamEvent]:
        events: list[StreamEvent] = []

        async def read() -> None:
            async for event in asked.stream("What came?"):
                events.append(event)

        with pytest.raises(EndpointUnreachable, match="broke off after"):
            await read()
        return events

    with ModelServer([Reply(text=GOOD, sizes=(10,), cut_after=4)]) as server:
        events = asyncio.run(seen(rag(OpenAIChat("m", base_url=server.base_url, max_retries=0), "report")))
    assert not any(isinstance(event, AnswerEvent) for event in events)


def test_reasoning_without_an_opening_tag_is_told_of_and_not_taken_for_an_answer() -> None:
    reply = "Let me see [1].</think>It grew [1]."
    assert asyncio.run(rag(FakeChat([reply]), None).answer_async("q")).text == "It grew [1]."
    with pytest.raises(EndpointBadResponse, match="thinking = true"):
        asyncio.run(events_and_context(rag(FakeChat([reply]), None)))


def test_tokens_and_the_reason_to_end_come_with_the_streamed_answer() -> None:
    completion = Completion(text=GOOD, model="m-1", finish_reason="length")
    events, _ = asyncio.run(events_and_context(rag(FakeChat([completion]), "report")))
    assert isinstance(events[-1], AnswerEvent)
    assert events[-1].answer.model == "m-1"
    assert "cut short" in events[-1].answer.warnings[0]


@pytest.mark.parametrize(
    ("question", "where", "kind"),
    [
        (" ", None, QuestionEmpty),
        ("x" * (MAX_QUESTION_CHARACTERS + 1), None, QuestionTooLong),
        ("What?", Filter(documents="no.md"), UsageError),
    ],
)
def test_what_cannot_be_asked_is_told_before_the_stream_begins(
    tmp_path: Path, question: str, where: Filter | None, kind: type[Exception]
) -> None:
    with Collection.create(tmp_path / "c") as collection:
        asked = Rag(LexicalRetriever(collection), ExtractiveGenerator())
        with pytest.raises(kind):
            asked.stream(question, where=where)
