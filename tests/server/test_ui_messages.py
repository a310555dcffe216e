"""The stream of an answer as Vercel's AI SDK reads it, over real HTTP."""

import json
from typing import Any

from live_server import LiveServer, Serve

from quoteweave.core.answers import Answer

ANSWERS = "/v1/collections/port/answers"


def read_parts(live: LiveServer, question: str) -> tuple[list[dict[str, Any]], str]:
    """The parts of the stream, and what ends it."""
    response = live.client.post(ANSWERS, json={"question": question, "stream": True, "format": "vercel"})
    assert response.headers["x-vercel-ai-ui-message-stream"] == "v1"
    assert response.headers["content-type"].startswith("text/event-stream")
    events = response.text.replace("\r\n", "\n").split("\n\n")
    *sent, last = [event.removeprefix("data: ") for event in events if event.startswith("data: ")]
    return [json.loads(each) for each in sent], last


def test_the_stream_is_the_whole_answer(live: LiveServer) -> None:
    question = "How many vessel calls did the port receive?"
    parts, last = read_parts(live, question)
    assert last == "[DONE]"
    assert (parts[0]["type"], parts[-1]["type"]) == ("start", "finish")
    (sent,) = [part["data"] for part in parts if part["type"] == "data-answer"]
    answer = Answer.model_validate(sent)
    whole = Answer.model_validate(live.client.post(ANSWERS, json={"question": question}).json()["answer"])
    assert answer.model_copy(update={"seconds": 0.0}) == whole.model_copy(update={"seconds": 0.0})
    assert "".join(part["delta"] for part in parts if part["type"] == "text-delta") == answer.text
    assert [part["url"] for part in parts if part["type"] == "source-url"] == [
        citation.url for citation in answer.citations
    ]


def test_a_shown_image_is_a_file_that_can_be_fetched(live: LiveServer) -> None:
    parts, _ = read_parts(live, "Show the chart of vessel calls by quarter.")
    image = next(part for part in parts if part["type"] == "file")
    assert live.client.get(image["url"]).headers["content-type"] == image["mediaType"]


def test_an_error_is_told_and_ends_the_stream(serve: Serve) -> None:
    server = serve(answers={"model": "m", "base_url": "http://127.0.0.1:9/v1", "retries": 0})
    parts, last = read_parts(server, "How many vessel calls did the port receive?")
    assert (parts[-1]["type"], last) == ("error", "[DONE]")
    assert "127.0.0.1:9" in parts[-1]["errorText"]
