"""The stream of an answer as Vercel's AI SDK reads it, over real HTTP, and its citations in every other form."""

import json
from typing import Any

from live_server import LiveServer, Serve

from quoteweave import Client
from quoteweave.core.answers import Answer

ANSWERS = "/v1/collections/port/answers"
QUESTION = "How many vessel calls did the port receive?"


def read_parts(live: LiveServer, question: str) -> tuple[list[dict[str, Any]], str]:
    """The parts of the stream, and what ends it."""
    response = live.client.post(ANSWERS, json={"question": question, "stream": True, "format": "vercel"})
    assert response.headers["x-vercel-ai-ui-message-stream"] == "v1"
    assert response.headers["content-type"].startswith("text/event-stream")
    events = response.text.replace("\r\n", "\n").split("\n\n")
    *sent, last = [event.removeprefix("data: ") for event in events if event.startswith("data: ")]
    return [json.loads(each) for each in sent], last


def test_the_stream_is_the_whole_answer(live: LiveServer) -> None:
    question = QUESTION
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
    parts, last = read_parts(server, QUESTION)
    assert (parts[-1]["type"], last) == ("error", "[DONE]")
    assert "127.0.0.1:9" in parts[-1]["errorText"]


def test_every_dialect_sends_the_same_records_of_citations(live: LiveServer) -> None:
    question = {"question": QUESTION, "store": False}
    own = live.client.post(ANSWERS, json=question).json()["answer"]["citations"]
    assert own[0]["regions"][0]["words_fraction"]
    (vercel,) = [part["data"]["citations"] for part in read_parts(live, QUESTION)[0] if part["type"] == "data-answer"]
    chat = {"model": "port", "messages": [{"role": "user", "content": QUESTION}]}
    response = {"model": "port", "input": QUESTION, "store": False}
    tool = {"name": "ask", "arguments": {"question": QUESTION}}
    called = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool}
    accept = {"accept": "application/json, text/event-stream"}
    asked = Client(live.url, collection="port").answer(QUESTION)
    sent = {
        "Vercel": vercel,
        "chat": post(live, "/v1/chat/completions", chat)["choices"][0]["message"]["quoteweave"]["citations"],
        "chat, streamed": last_of(live, "/v1/chat/completions", chat)["choices"][0]["delta"]["quoteweave"]["citations"],
        "Responses": post(live, "/v1/responses", response)["output"][-1]["quoteweave"]["citations"],
        "Responses, streamed": last_of(live, "/v1/responses", response)["response"]["output"][-1]["quoteweave"][
            "citations"
        ],
        "MCP": last_sent(live.client.post("/mcp", json=called, headers=accept).text)["result"]["structuredContent"][
            "citations"
        ],
        "client": [one.model_dump(mode="json") for one in asked.citations],
    }
    assert {form: citations for form, citations in sent.items() if citations != own} == {}


def post(server: LiveServer, path: str, body: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = server.client.post(path, json=body).json()
    return found


def last_of(server: LiveServer, path: str, body: dict[str, Any]) -> dict[str, Any]:
    return last_sent(server.client.post(path, json={**body, "stream": True}).text)


def last_sent(text: str) -> dict[str, Any]:
    """The last event of a stream but for the mark of its end."""
    sent = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: {")]
    last: dict[str, Any] = json.loads(sent[-1])
    return last
