from collections.abc import Sequence
from typing import Any, cast

import pytest
from cited_answers import CONTEXT, URLS, carried, made_answer
from PIL import Image
from pydantic import TypeAdapter

from quoteweave.core.answers import Answer, AnswerEvent, CitationEvent, Event, TextEvent, ThoughtEvent
from quoteweave.core.errors import EndpointBadResponse
from quoteweave.core.files.pictures import UnfitPicture, encode_picture
from quoteweave.interchange.anthropic import (
    ClaudeReader,
    cited_quotes,
    message_content,
    read_message,
    search_result_blocks,
)


def located(result: int, start: int, end: int, cited: str = "") -> dict[str, object]:
    return {
        "type": "search_result_location",
        "search_result_index": result,
        "start_block_index": start,
        "end_block_index": end,
        "cited_text": cited,
        "source": "s",
        "title": "t",
    }


def message(content: Sequence[object], **more: object) -> dict[str, object]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": list(content),
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 12, "output_tokens": 7},
        **more,
    }


def text(said: str, *locations: dict[str, object]) -> dict[str, object]:
    return {"type": "text", "text": said, "citations": list(locations) or None}


def read(*content: dict[str, object]) -> Answer:
    return read_message(message(content), "?", CONTEXT)


def streamed(content: Sequence[dict[str, Any]]) -> list[object]:
    """The events in which the API sends a message, a few letters at a time."""
    # Imported here, as each process that collects this file would spend two seconds on it.
    from anthropic.types import RawMessageStreamEvent

    begun = message([], usage={"input_tokens": 12, "output_tokens": 1})
    events: list[dict[str, object]] = [{"type": "message_start", "message": begun}]
    for index, block in enumerate(content):
        start = {"type": "text", "text": "", "citations": []}
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        deltas: list[dict[str, object]] = [
            {"type": "text_delta", "text": block["text"][at : at + 3]} for at in range(0, len(block["text"]), 3)
        ]
        deltas += [{"type": "citations_delta", "citation": each} for each in block.get("citations") or []]
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    events += [{"type": "message_delta", "delta": ended, "usage": {"output_tokens": 7}}, {"type": "message_stop"}]
    adapter: TypeAdapter[RawMessageStreamEvent] = TypeAdapter(RawMessageStreamEvent)
    return [adapter.validate_python(event) for event in events]


def test_a_page_is_a_search_result_and_a_quote_a_block_of_it() -> None:
    from anthropic.types import SearchResultBlockParam

    blocks = search_result_blocks(CONTEXT, urls=URLS)
    results = [TypeAdapter(SearchResultBlockParam).validate_python(block) for block in blocks]
    assert [(block["title"], block["source"]) for block in results] == [
        ("port.pdf, page 1", URLS.quote("d1:0:1")),
        ("reports/dues [2023].pdf, page 3", URLS.quote("d2:2:1")),
        ("reports/dues [2023].pdf, page 4", URLS.quote("d2:3:4")),
    ]
    said = [[part["text"] for part in block["content"]] for block in results]
    assert said[0] == [
        "The harbour shipped 4,210 tonnes of grain in May.",
        "Timber went by rail.",
        "Freight by month\nMay 4,210\nJune 3,900",
    ]
    assert said[2] == ["Figure without readable text (reports/dues [2023].pdf, page 4)."]
    assert all(block["citations"]["enabled"] for block in results)


def test_pictures_follow_the_search_results() -> None:
    from anthropic.types import ImageBlockParam

    picture = encode_picture(Image.new("RGB", (3, 2)), "PNG")
    *_, name, image = search_result_blocks(CONTEXT, pictures={"d1:0:7": picture})
    assert TypeAdapter(ImageBlockParam).validate_python(image)["source"]["type"] == "base64"
    assert name == {"type": "text", "text": "The image of port.pdf, page 1:"}
    with pytest.raises(UnfitPicture, match="no PNG, JPEG"):
        search_result_blocks(CONTEXT, pictures={"d1:0:7": b"nothing"})


def test_block_indexes_name_quotes() -> None:
    assert [quote.id for *_, quote in cited_quotes(CONTEXT, 0, 1, 3)] == ["d1:0:2", "d1:0:7"]
    for wrong in [(3, 0, 1), (-1, 0, 1), (0, 0, 4), (0, 1, 1), (0, -1, 1)]:
        assert cited_quotes(CONTEXT, *wrong) == []


def test_a_message_becomes_an_answer_with_marks() -> None:
    answer = read(
        text("Grain was shipped.", located(0, 0, 1, "4,210 tonnes of grain")),
        text(" See "),
        text("the freight [1]", located(0, 1, 3, "Timber went by rail.Freight")),
        text("."),
    )
    assert answer.text == "Grain was shipped [1]. See the freight (1) [2] ![Freight by month](image1)."
    assert [block.type for block in answer.blocks] == ["text", "image", "text"]
    first, second, image = answer.citations
    assert first.quoted is not None
    assert [first.quoted[span.start : span.end] for span in first.spans] == ["4,210 tonnes of grain"]
    assert (second.evidence, image.evidence, second.spans) == ("element", "element", ())
    assert (answer.model, answer.usage.input_tokens, answer.usage.output_tokens) == ("claude-x", 12, 7)


def test_citations_of_something_else_are_counted_in_a_warning() -> None:
    other = {"type": "char_location", "cited_text": "x", "document_index": 0, "document_title": None}
    answer = read(text("Grain", {**other, "start_char_index": 0, "end_char_index": 1}, located(9, 0, 1)))
    assert (answer.text, answer.citations) == ("Grain", ())
    assert answer.warnings == ("2 citations of the model's name no quote that was given, and were left out.",)


def test_results_that_stood_before_are_counted() -> None:
    given = message([text("Rail", located(4, 1, 2))])
    assert carried(read_message(given, "?", CONTEXT, first_result=4, urls=URLS).citations) == [
        ("d1:0:2", URLS.quote("d1:0:2"))
    ]


def test_an_answer_survives_the_way_to_a_message_and_back() -> None:
    from anthropic.types import Message

    answer = made_answer()
    content = message_content(answer, CONTEXT, first_result=2)
    sent = Message.model_validate(message(content))
    again = read_message(sent, answer.question, CONTEXT, first_result=2, urls=URLS)
    assert carried(again.citations) == carried(answer.citations)


def test_streamed_and_whole_are_the_same() -> None:
    content = cast("list[dict[str, Any]]", message_content(made_answer(), CONTEXT))
    whole = read_message(message(content), "?", CONTEXT, urls=URLS)
    reader = ClaudeReader("?", CONTEXT, urls=URLS)
    events: list[Event] = [event for each in streamed(content) for event in reader.take(each)]
    assert events[-1] == AnswerEvent(answer=whole)
    assert "".join(event.text for event in events if isinstance(event, TextEvent)) == whole.text
    assert [event.citation for event in events if isinstance(event, CitationEvent)] == list(whole.citations)


def test_thoughts_and_faults_of_a_stream() -> None:
    reader = ClaudeReader("?", CONTEXT)
    thought = {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}
    assert list(reader.take(thought)) == [ThoughtEvent(text="hm")]
    assert list(reader.take({"type": "ping"})) == []
    with pytest.raises(EndpointBadResponse, match="broke off: Overloaded"):
        list(reader.take({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}))


def test_what_is_no_answer_is_refused() -> None:
    with pytest.raises(EndpointBadResponse, match="wrote no text \\(stop reason 'tool_use'\\)"):
        read_message(message([], stop_reason="tool_use"), "?", CONTEXT)
    with pytest.raises(EndpointBadResponse, match="not a message of Claude's: model: Field required"):
        read_message({"content": []}, "?", CONTEXT)
    cut = read_message(message([text("Grain")], stop_reason="max_tokens"), "?", CONTEXT)
    assert "limit of tokens" in cut.warnings[0]
