"""Questions that follow others, over HTTP: the rewriting is shown, whole and streamed."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from live_server import LiveServer, Serve
from test_served_answers import ANSWERS, QUESTION, read_events

from quoteweave.core.answers import Usage
from quoteweave.endpoints.prices import PRICES_VARIABLE
from quoteweave.testing import ModelServer, Reply

FIRST = "How many vessel calls did the port receive in 2022?"
FOLLOW_UP = {
    "question": "And in 2023?",
    "history": [{"role": "user", "content": FIRST}, {"role": "assistant", "content": "Fewer [1]."}],
}
STANDALONE = "How many vessel calls did the port receive in 2023?"


def test_a_follow_up_is_answered_as_the_question_that_it_stands_for(live: LiveServer) -> None:
    body = live.client.post(ANSWERS, json=FOLLOW_UP).json()
    alone = live.client.post(ANSWERS, json={"question": STANDALONE}).json()
    assert body["standalone_question"] == STANDALONE
    assert (body["trace"]["rewritten_by"], body["trace"]["standalone_question"]) == ("rule", STANDALONE)
    assert STANDALONE in body["trace"]["interpretation"][0]
    assert body["context"] == alone["context"]
    assert (body["answer"]["text"], body["answer"]["citations"]) == (
        alone["answer"]["text"],
        alone["answer"]["citations"],
    )
    assert "1,058" in body["answer"]["text"]


def test_the_stream_says_with_its_sources_what_was_asked_of_the_documents(live: LiveServer) -> None:
    events = read_events(live.client.post(ANSWERS, json={**FOLLOW_UP, "stream": True}).text)
    kind, sources = events[0]
    assert (kind, sources["trace"]["standalone_question"]) == ("sources", STANDALONE)
    assert events[-1][1]["answer"]["question"] == STANDALONE


def test_a_question_that_stands_alone_is_not_rewritten(live: LiveServer) -> None:
    body = live.client.post(ANSWERS, json={**FOLLOW_UP, "question": QUESTION}).json()
    assert (body["standalone_question"], body["trace"]["rewritten_by"]) == (None, None)
    assert body["answer"]["question"] == QUESTION


@pytest.fixture
def priced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model m costs a dollar for a million tokens that it reads, and ten for those that it writes."""
    prices = tmp_path / "prices.toml"
    prices.write_text("[chat]\nm = { input = 1.0, output = 10.0 }\n", "utf-8")
    monkeypatch.setenv(PRICES_VARIABLE, str(prices))


def reply_to(rewriting: Reply) -> Callable[[Mapping[str, Any]], Reply]:
    """A script that rewrites as given, and answers every other request."""

    def reply(request: Mapping[str, Any]) -> Reply:
        rewrites = "understood alone" in json.dumps(request["messages"])
        return rewriting if rewrites else Reply(text="The port received 1,058 vessel calls in 2023 [1].")

    return reply


@pytest.mark.parametrize(
    ("rewriting", "by", "asked", "noted"),
    [
        (
            Reply(text="How many ships called at the port in 2023?"),
            "model",
            "How many ships called at the port in 2023?",
            0,
        ),
        (Reply(status=500), "rule", STANDALONE, 1),
    ],
)
def test_the_model_rewrites_and_where_it_fails_the_rules_do(
    serve: Serve, rewriting: Reply, by: str, asked: str, noted: int
) -> None:
    with ModelServer(reply_to(rewriting)) as model:
        server = serve(answers={"model": "m", "base_url": model.base_url, "api_key": "k", "retries": 0})
        body = server.client.post(ANSWERS, json=FOLLOW_UP).json()
    assert (body["standalone_question"], body["trace"]["rewritten_by"]) == (asked, by)
    assert len([note for note in body["trace"]["notes"] if "without the model" in note]) == noted
    assert "1,058" in body["answer"]["text"]


@pytest.mark.usefixtures("priced")
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("rewriting", "usage", "price"),
    [
        (Reply(text=STANDALONE, usage=Usage(input_tokens=30, output_tokens=4)), (31, 5), 31 * 1.0 + 5 * 10.0),
        (Reply(text="one\ntwo", usage=Usage(input_tokens=30, output_tokens=4)), (31, 5), 31 * 1.0 + 5 * 10.0),
        (Reply(text=STANDALONE, usage=None), (None, None), None),
        (Reply(status=500), (1, 1), 11.0),
    ],
)
def test_what_the_rewriting_took_is_counted_in_the_answers_usage_and_price(
    serve: Serve,
    rewriting: Reply,
    usage: tuple[int | None, int | None],
    price: float | None,
    stream: bool,
) -> None:
    with ModelServer(reply_to(rewriting)) as model:
        server = serve(answers={"model": "m", "base_url": model.base_url, "api_key": "k", "retries": 0})
        response = server.client.post(ANSWERS, json={**FOLLOW_UP, "stream": stream})
        answer = (read_events(response.text)[-1][1] if stream else response.json())["answer"]
    assert tuple(answer["usage"].values()) == usage
    assert answer["price_usd"] == (None if price is None else pytest.approx(price / 1e6))


@pytest.mark.usefixtures("priced")
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("model_name", ["m", "extractive"])
def test_what_expanding_reranking_and_checking_took_is_counted_too(serve: Serve, model_name: str, stream: bool) -> None:
    with ModelServer(lambda _: Reply(text="The port received 1,058 vessel calls in 2023 [1].")) as model:
        by = f"chat:m@{model.base_url}"
        server = serve(answers={"model": "m", "base_url": model.base_url, "api_key": "k", "expand": by, "rerank": by})
        checked = {"model": "m", "check": "chat"} if model_name == "m" else {"model": "extractive"}
        response = server.client.post(ANSWERS, json={"question": STANDALONE, "settings": checked, "stream": stream})
        answer = (read_events(response.text)[-1][1] if stream else response.json())["answer"]
        calls = len(model.requests)
    assert calls >= (5 if model_name == "m" else 3)  # one expands, each kind is reranked, one writes, one checks
    assert answer["usage"] == {"input_tokens": calls, "output_tokens": calls}
    assert answer["price_usd"] == pytest.approx(calls * 11 / 1e6)


def test_tokens_are_not_known_where_one_step_does_not_count_them(serve: Serve) -> None:
    with ModelServer(lambda _: Reply(text="how many vessel calls", usage=None)) as model:
        server = serve(answers={"api_key": "k", "expand": f"chat:m@{model.base_url}"})
        answer = server.client.post(ANSWERS, json={"question": STANDALONE}).json()["answer"]
    assert (answer["usage"], answer["price_usd"]) == ({"input_tokens": None, "output_tokens": None}, None)


def test_the_budget_of_an_answer_counts_its_rewriting(serve: Serve) -> None:
    with ModelServer(reply_to(Reply(text="What?"))) as model:
        answers = {"model": "m", "base_url": model.base_url, "api_key": "k", "retries": 0}
        server = serve(answers=answers, answer_tokens=100)
        response = server.client.post(ANSWERS, json=FOLLOW_UP)
        assert (response.status_code, model.requests) == (402, [])


@pytest.mark.parametrize("stream", [False, True])
def test_a_question_of_a_stored_conversation_follows_those_before_it(live: LiveServer, stream: bool) -> None:
    conversation = live.client.post(ANSWERS, json={"question": FIRST, "store": True}).json()["conversation"]
    for asked in ("And in 2021?", "In 2023?"):
        live.client.post(ANSWERS, json={"question": asked, "conversation": conversation, "stream": stream})
    turns = live.client.get(f"/v1/conversations/{conversation}").json()["turns"]
    assert [turn["standalone_question"] for turn in turns] == [None, STANDALONE.replace("2023", "2021"), STANDALONE]
