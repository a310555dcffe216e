from typing import Any

import cohere
import pytest
from cited_answers import CONTEXT, URLS, carried, made_answer
from cohere.types import AssistantMessageResponse

from quoteweave.core.answers import Answer
from quoteweave.core.errors import EndpointBadResponse
from quoteweave.interchange.cohere import collect_stream, documents, read_response, response_message


def response(text: str, *citations: dict[str, object]) -> dict[str, Any]:
    message = {"role": "assistant", "content": [{"type": "text", "text": text}], "citations": list(citations)}
    usage = {"tokens": {"input_tokens": 12.0, "output_tokens": 7.0}}
    return {"id": "r", "finish_reason": "COMPLETE", "message": message, "usage": usage}


def cited(start: int, end: int, text: str, *ids: str) -> dict[str, object]:
    sources = [{"type": "document", "id": each, "document": {}} for each in ids]
    return {"start": start, "end": end, "text": text, "sources": sources, "type": "TEXT_CONTENT"}


def read(text: str, *citations: dict[str, object]) -> Answer:
    return read_response(response(text, *citations), "?", CONTEXT, model="command")


def streamed(whole: dict[str, Any]) -> list[object]:
    message = whole["message"]
    events: list[dict[str, object]] = [
        {"type": "message-start", "id": "r", "delta": {"message": {"role": "assistant", "content": []}}}
    ]
    for index, content in enumerate(message["content"]):
        start = {"message": {"content": {"type": content["type"], "text": ""}}}
        events.append({"type": "content-start", "index": index, "delta": start})
        pieces = [content["text"][at : at + 5] for at in range(0, len(content["text"]), 5)]
        events += [
            {"type": "content-delta", "index": index, "delta": {"message": {"content": {"text": piece}}}}
            for piece in pieces
        ]
    for index, citation in enumerate(message["citations"]):
        events.append({"type": "citation-start", "index": index, "delta": {"message": {"citations": citation}}})
    end = {"finish_reason": whole["finish_reason"], "usage": whole["usage"]}
    events.append({"type": "message-end", "id": "r", "delta": end})
    return [*events]


def test_a_quote_is_a_document_under_its_id() -> None:
    made = documents(CONTEXT, urls=URLS)
    assert [cohere.Document.model_validate(document).id for document in made] == [
        hit.quote.id for hit in (*CONTEXT.texts, *CONTEXT.images)
    ]
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
    answer = made_answer()
    message = response_message(answer, CONTEXT, urls=URLS)
    for citation in message["citations"]:
        assert message["content"][0]["text"][citation["start"] : citation["end"]] == citation["text"]
    whole = response("") | {"message": message}
    parsed = whole | {"message": AssistantMessageResponse.model_validate(message)}
    again = read_response(parsed, answer.question, CONTEXT, model="m", urls=URLS)
    assert carried(again.citations) == carried(answer.citations)
    collected = collect_stream(streamed(whole))
    assert read_response(collected, answer.question, CONTEXT, model="m", urls=URLS) == again


def test_what_is_no_answer_is_refused() -> None:
    with pytest.raises(EndpointBadResponse, match="command wrote no text"):
        read("")
    with pytest.raises(EndpointBadResponse, match="message: Field required"):
        read_response({"text": "x"}, "?", CONTEXT, model="command")
    cut = response("Grain") | {"finish_reason": "MAX_TOKENS"}
    assert "limit of tokens" in read_response(cut, "?", CONTEXT, model="command").warnings[0]
