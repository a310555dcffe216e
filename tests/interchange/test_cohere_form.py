import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from cited_answers import CONTEXT, URLS, carried, made_answer

from quoteweave.core.answers import Answer, AnswerEvent, CitationEvent, Event, TextEvent, ThoughtEvent
from quoteweave.core.errors import EndpointBadResponse
from quoteweave.interchange.cohere import CohereReader, documents, read_response, response_message


def response(text: str, *citations: dict[str, object]) -> dict[str, Any]:
    message = {"role": "assistant", "content": [{"type": "text", "text": text}], "citations": list(citations)}
    usage = {"tokens": {"input_tokens": 12.0, "output_tokens": 7.0}}
    return {"id": "r", "finish_reason": "COMPLETE", "message": message, "usage": usage}


def cited(start: int, end: int, text: str, *ids: str) -> dict[str, object]:
    sources = [{"type": "document", "id": each, "document": {}} for each in ids]
    return {"start": start, "end": end, "text": text, "sources": sources, "type": "TEXT_CONTENT"}


def read(text: str, *citations: dict[str, object]) -> Answer:
    return read_response(response(text, *citations), "?", CONTEXT, model="command")


def text_of(events: Sequence[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextEvent))


def streamed(whole: dict[str, Any], *, inline: bool = False) -> list[object]:
    """The events of a response, its citations behind all text, or `inline`, behind what they cite."""
    message = whole["message"]
    events: list[dict[str, object]] = [
        {"type": "message-start", "id": "r", "delta": {"message": {"role": "assistant", "content": []}}}
    ]
    for index, content in enumerate(message["content"]):
        start = {"message": {"content": {"type": content["type"], "text": ""}}}
        events.append({"type": "content-start", "index": index, "delta": start})
        for piece in re.findall(r"\s*\S{1,5}", content["text"]):
            delta = {"message": {"content": {"text": piece}}}
            events.append({"type": "content-delta", "index": index, "delta": delta})
    told = [
        {"type": "citation-start", "index": index, "delta": {"message": {"citations": citation}}}
        for index, citation in enumerate(message["citations"])
    ]
    if inline:
        return [*_behind_what_they_cite(events, told), _end(whole)]
    return [*events, *told, _end(whole)]


def _behind_what_they_cite(events: list[dict[str, Any]], told: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    length, left = 0, list(told)
    for event in events:
        yield event
        if event["type"] == "content-delta":
            length += len(event["delta"]["message"]["content"]["text"])
        while left and left[0]["delta"]["message"]["citations"]["end"] <= length:
            yield left.pop(0)


def _end(whole: dict[str, Any]) -> dict[str, Any]:
    delta = {"finish_reason": whole["finish_reason"], "usage": whole["usage"]}
    return {"type": "message-end", "id": "r", "delta": delta}


def test_a_quote_is_a_document_under_its_id() -> None:
    import cohere

    made = documents(CONTEXT, urls=URLS)
    assert [cohere.Document.model_validate(document).id for document in made] == [hit.quote.id for hit in CONTEXT.hits]
    assert made[1]["data"] == {
        "title": "port.pdf, page 1",
        "text": "Timber went by rail.",
        "url": URLS.quote("d1:0:2"),
    }
    assert all(document["data"]["text"].strip() for document in made)


def test_citations_become_marks_where_they_end() -> None:
    answer = read(
        "Grain was shipped by rail [1].",
        cited(18, 29, "by rail [1]", "d1:0:2", "d1:0:7"),
        cited(0, 17, "Grain was shipped", "d1:0:1"),
    )
    assert answer.text == "Grain was shipped [1] by rail (1) [2] ![Freight by month](image1)."
    assert (answer.model, answer.usage.input_tokens, answer.usage.output_tokens) == ("command", 12, 7)


@pytest.mark.parametrize(
    ("citation", "text"),
    [
        (cited(90, 95, "shipped", "d1:0:1"), "Grain was shipped [1]. Grain."),
        (cited(0, 7, "shipped", "d1:0:1"), "Grain was shipped [1]. Grain."),
        (cited(3, 5, "Grain", "d1:0:1"), "Grain was shipped. Grain."),
        (cited(0, 5, "Grain", "other"), "Grain was shipped. Grain."),
    ],
)
def test_citations_are_placed_by_their_text_or_left_out_with_a_warning(citation: dict[str, object], text: str) -> None:
    answer = read("Grain was shipped. Grain.", citation)
    assert answer.text == text
    assert ("left out" in "".join(answer.warnings)) is (not answer.citations)


def test_citations_of_reasoning_are_no_citations_of_the_answer() -> None:
    given = response("Grain.", {**cited(0, 5, "Grain", "d1:0:1"), "type": "PLAN"})
    given["message"]["content"].insert(0, {"type": "thinking", "thinking": "hm"})
    given["message"]["citations"].append({**cited(0, 5, "Grain", "d1:0:2"), "content_index": 1})
    answer = read_response(given, "?", CONTEXT, model="command")
    assert (answer.text, answer.warnings) == ("Grain [2].", ())


def test_an_answer_survives_the_way_to_a_response_and_back_streamed_and_whole() -> None:
    from cohere.types import AssistantMessageResponse

    answer = made_answer()
    message = response_message(answer, CONTEXT, urls=URLS)
    for citation in message["citations"]:
        assert message["content"][0]["text"][citation["start"] : citation["end"]] == citation["text"]
    whole = response("") | {"message": message}
    parsed = whole | {"message": AssistantMessageResponse.model_validate(message)}
    again = read_response(parsed, answer.question, CONTEXT, model="m", urls=URLS)
    assert carried(again.citations) == carried(answer.citations)
    reader = CohereReader(answer.question, CONTEXT, model="m", urls=URLS)
    events = [event for each in streamed(whole) for event in reader.take(each)]
    assert events[-1] == AnswerEvent(answer=again)


WRITTEN = response(
    "Grain was shipped. Timber went by rail.\nAnd freight grew",
    cited(0, 18, "Grain was shipped.", "d1:0:1"),
    cited(19, 25, "Timber", "d1:0:2"),
    cited(19, 39, "Timber went by rail.", "d1:0:2", "d1:0:1"),
    cited(40, 56, "And freight grew", "d1:0:7"),
)


def test_a_stream_gives_each_sentence_with_its_citations_as_soon_as_the_next_begins() -> None:
    reader = CohereReader("?", CONTEXT, model="command", urls=URLS)
    given = [list(reader.take(event)) for event in streamed(WRITTEN, inline=True)]
    events = [event for each in given for event in each]
    whole = read_response(WRITTEN, "?", CONTEXT, model="command", urls=URLS)
    assert events[-1] == AnswerEvent(answer=whole)
    assert text_of(events) == whole.text
    assert [event.citation for event in events if isinstance(event, CitationEvent)] == list(whole.citations)
    assert [text_of(each) for each in given[:8]] == [*[""] * 7, "Grain was shipped"]
    assert "Timber [2] went by rail" in text_of([event for each in given[:-1] for event in each])


def test_what_is_cited_after_it_was_given_is_cited_in_the_answer_alone() -> None:
    reader = CohereReader("?", CONTEXT, model="command")
    events = [event for each in streamed(WRITTEN) for event in reader.take(each)]
    assert text_of(events) == WRITTEN["message"]["content"][0]["text"]
    assert not any(isinstance(event, CitationEvent) for event in events)
    assert events[-1] == AnswerEvent(answer=read_response(WRITTEN, "?", CONTEXT, model="command"))


def test_a_streamed_thought_is_told_and_is_no_part_of_the_answer() -> None:
    reader = CohereReader("?", CONTEXT, model="command")
    thought = {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"thinking": "hm"}}}}
    start = {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "thinking"}}}}
    assert [event for each in (start, thought) for event in reader.take(each)] == [ThoughtEvent(text="hm")]
    said = {"type": "content-delta", "index": 1, "delta": {"message": {"content": {"type": "text", "text": "Grain."}}}}
    end = {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}}
    assert text_of([event for each in (said, end) for event in reader.take(each)]) == "Grain."
    with pytest.raises(EndpointBadResponse, match="not an event of Cohere's chat API"):
        list(reader.take({"type": 3}))


def test_what_is_no_answer_is_refused() -> None:
    with pytest.raises(EndpointBadResponse, match="command wrote no text"):
        read("")
    with pytest.raises(EndpointBadResponse, match="message: Field required"):
        read_response({"text": "x"}, "?", CONTEXT, model="command")
    cut = response("Grain") | {"finish_reason": "MAX_TOKENS"}
    assert "limit of tokens" in read_response(cut, "?", CONTEXT, model="command").warnings[0]
