import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from typing import Annotated, Any, Literal

import pytest
from builders import make_context, make_quote
from cited_answers import CONTEXT, TEXT, URLS, made_answer
from pydantic import BaseModel, ConfigDict, Discriminator, TypeAdapter

from quoteweave.core.answers import Answer, Citation, CitationEvent, TextEvent, ThoughtEvent, replay_events
from quoteweave.core.errors import EndpointRefused
from quoteweave.generation.citations import build_answer
from quoteweave.interchange.vercel import DONE, HEADERS, UiMessageStream, ui_message_stream
from quoteweave.pipeline.rag import SourcesEvent, StreamEvent
from quoteweave.pipeline.search import Trace

Parts = list[dict[str, Any]]


class Strict(BaseModel):
    """A part as the AI SDK's schema of version 5 has it, which allows no other fields."""

    model_config = ConfigDict(extra="forbid")


class Start(Strict):
    type: Literal["start"]
    messageId: str


class Block(Strict):
    type: Literal["text-start", "text-end", "reasoning-start", "reasoning-end"]
    id: str


class Delta(Strict):
    type: Literal["text-delta", "reasoning-delta"]
    id: str
    delta: str


class SourceUrl(Strict):
    type: Literal["source-url"]
    sourceId: str
    url: str
    title: str | None = None


class SourceDocument(Strict):
    type: Literal["source-document"]
    sourceId: str
    mediaType: str
    title: str
    filename: str | None = None


class File(Strict):
    type: Literal["file"]
    url: str
    mediaType: str


class Data(Strict):
    type: Literal["data-sources", "data-citation", "data-answer"]
    id: str | None = None
    data: object


class Error(Strict):
    type: Literal["error"]
    errorText: str


class Finish(Strict):
    type: Literal["finish"]


_PARTS = Start | Block | Delta | SourceUrl | SourceDocument | File | Data | Error | Finish
PART: TypeAdapter[Any] = TypeAdapter(Annotated[_PARTS, Discriminator("type")])


def parts_of(events: Iterable[StreamEvent], **options: Any) -> Parts:
    stream = UiMessageStream("m1", **options)
    parts = [*stream.start(), *(part for event in events for part in stream.take(event)), *stream.finish()]
    for part in parts:
        PART.validate_python(part)
    return parts


def of_type(parts: Parts, name: str) -> Parts:
    return [part for part in parts if part["type"] == name]


def in_place(parts: Parts) -> list[str]:
    """What a client shows: the text parts joined from their deltas, and the files between them."""
    shown: dict[str, str] = {}
    for at, part in enumerate(parts):
        if part["type"] == "text-delta":
            shown[part["id"]] = shown.get(part["id"], "") + part["delta"]
        elif part["type"] == "file":
            shown[f"file {at}"] = part["url"]
    return list(shown.values())


def test_text_parts_and_files_stand_in_the_order_of_the_answer() -> None:
    parts = parts_of(replay_events(made_answer()))
    before, after = TEXT.split("![freight by month](image1)")
    assert in_place(parts) == [before, URLS.image("d1:0:7"), after]
    assert parts[0] == {"type": "start", "messageId": "m1"}
    assert parts[-1] == {"type": "finish"}
    begun, ended = of_type(parts, "text-start"), of_type(parts, "text-end")
    assert [part["id"] for part in begun] == [part["id"] for part in ended] == ["text-1", "text-2"]


def test_each_cited_quote_is_one_source_and_each_citation_our_record() -> None:
    answer = made_answer()
    parts = parts_of(replay_events(answer))
    assert [(part["sourceId"], part["url"]) for part in of_type(parts, "source-url")] == [
        (each, URLS.quote(each)) for each in ("d1:0:1", "d1:0:2", "d2:2:1", "d1:0:7")
    ]
    cited = of_type(parts, "data-citation")
    assert [Citation.model_validate(part["data"]["citation"]) for part in cited] == list(answer.citations)
    assert len({part["id"] for part in cited}) == len(cited)
    texts = dict(zip(("text-1", "text-2"), in_place(parts)[::2], strict=True))
    for part, citation in zip(cited, answer.citations, strict=True):
        where = part["data"]["shown"]
        assert (where is None) is (citation.kind == "image")
        if where:
            assert texts[where["part"]][where["start"] : where["end"]] == citation.mark
    (whole,) = of_type(parts, "data-answer")
    assert Answer.model_validate(whole["data"]) == answer


def test_what_the_check_changed_is_sent_again_under_its_id() -> None:
    answer = made_answer("Grain [1]. Rail [2].")
    *events, last = replay_events(answer)
    checked = [each.model_copy(update={"verdict": "supported"}) for each in answer.citations[:1]]
    final = answer.model_copy(update={"citations": (*checked, *answer.citations[1:])})
    parts = parts_of([*events, last.model_copy(update={"answer": final})])
    first, _, again = of_type(parts, "data-citation")
    assert (first["id"], first["data"]["shown"]) == (again["id"], again["data"]["shown"])
    assert again["data"]["citation"]["verdict"] == "supported"


def test_sources_and_thoughts_come_before_the_text() -> None:
    found = SourcesEvent(context=CONTEXT, trace=Trace(clauses=("?",)))
    events: list[StreamEvent] = [found, ThoughtEvent(text="h"), ThoughtEvent(text="m"), TextEvent(text="Yes.")]
    parts = parts_of(events, urls=URLS)
    assert [part["type"] for part in parts] == [
        *("start", "data-sources", "reasoning-start", "reasoning-delta", "reasoning-delta", "reasoning-end"),
        *("text-start", "text-delta", "text-end", "finish"),
    ]
    assert [each["url"] for each in parts[1]["data"]] == [URLS.quote(hit.quote.id) for hit in CONTEXT.hits]


def test_a_file_has_the_media_type_of_its_crop() -> None:
    quote = CONTEXT.images[0].quote.model_copy(update={"image": "ab/cd.jpg"})
    context = CONTEXT.model_copy(update={"images": (CONTEXT.images[0].model_copy(update={"quote": quote}),)})
    found = SourcesEvent(context=context, trace=Trace(clauses=("?",)))
    (image,) = of_type(parts_of([found, *replay_events(made_answer("![freight](image1)"))]), "file")
    assert image == {"type": "file", "url": URLS.image("d1:0:7"), "mediaType": "image/jpeg"}


def test_citations_get_the_urls_that_are_given() -> None:
    answer = build_answer("?", "See [2] ![freight](image1)", CONTEXT, model="m")
    assert parts_of(replay_events(answer), urls=URLS) == parts_of(replay_events(URLS.answer(answer)))


def test_without_urls_sources_are_documents_and_image_marks_stay_in_the_text() -> None:
    answer = build_answer("?", "See [2] ![freight](image1).", CONTEXT, model="m")
    parts = parts_of(replay_events(answer))
    assert in_place(parts) == [answer.text]
    assert of_type(parts, "source-document")[0] == {
        "type": "source-document",
        "sourceId": "d1:0:2",
        "mediaType": "application/pdf",
        "title": "port.pdf, page 1",
        "filename": "port.pdf",
    }
    assert all(part["data"]["shown"] for part in of_type(parts, "data-citation"))


async def body_of(events: AsyncIterator[StreamEvent]) -> list[str]:
    return [chunk async for chunk in ui_message_stream(events, "m1", urls=URLS)]


async def breaking_off(error: Exception) -> AsyncIterator[StreamEvent]:
    *events, _ = replay_events(made_answer("Grain [1]."))
    for event in events:
        yield event
    raise error


def test_the_body_is_server_sent_events_that_end_with_done() -> None:
    async def events() -> AsyncIterator[StreamEvent]:
        for event in replay_events(made_answer()):
            yield event

    *chunks, last = asyncio.run(body_of(events()))
    assert last == DONE
    assert [json.loads(chunk.removeprefix("data: ")) for chunk in chunks] == parts_of(replay_events(made_answer()))
    assert all(chunk.endswith("\n\n") and chunk.count("\n") == 2 for chunk in chunks)
    assert HEADERS["x-vercel-ai-ui-message-stream"] == "v1"


def test_an_error_ends_the_message_with_its_text() -> None:
    *chunks, last = asyncio.run(body_of(breaking_off(EndpointRefused("The key is wrong."))))
    types = [json.loads(chunk.removeprefix("data: "))["type"] for chunk in chunks]
    assert (types[-2:], last) == (["text-end", "error"], DONE)
    assert "The key is wrong." in chunks[-1]
    with pytest.raises(ZeroDivisionError):
        asyncio.run(body_of(breaking_off(ZeroDivisionError())))


def test_a_citation_is_told_only_after_its_mark() -> None:
    seen = ""
    stream = UiMessageStream("m1")
    for event in replay_events(made_answer()):
        for part in stream.take(event):
            seen += str(part.get("delta", ""))
            if part["type"] == "data-citation" and isinstance(event, CitationEvent) and event.citation.kind == "text":
                assert seen.endswith(event.citation.mark)


def test_a_table_that_can_be_seen_nowhere_is_named_in_words() -> None:
    table = make_quote("Grain | 12", kind="image", id="t:0:0").model_copy(update={"has_pages": False})
    answer = build_answer("What?", "It lists grain. ![freight](image1) So it is.", make_context(table), model="m")
    parts = parts_of(replay_events(answer))
    text = "".join(str(part["delta"]) for part in parts if part["type"] == "text-delta")
    assert text == "It lists grain. (Image: freight) So it is."
    (cited,) = (part["data"] for part in parts if part["type"] == "data-citation")
    assert isinstance(cited, dict)
    assert text[cited["shown"]["start"] : cited["shown"]["end"]] == "(Image: freight)"
    assert "file" not in [part["type"] for part in parts]
