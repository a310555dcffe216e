"""The worked examples of responses in the OpenAPI description are what the server answers."""

import re
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from live_server import LiveServer
from made_responses import Session, differences, server_of
from pydantic import TypeAdapter

from quoteweave.interchange.problems import Problem
from quoteweave.server.app import ROUTERS, make_app
from quoteweave.server.examples import (
    ANSWER_EXAMPLES,
    SEARCH_EXAMPLES,
    ResponseExample,
    load_response_examples,
)
from quoteweave.server.settings import ServerSettings

EXAMPLES = load_response_examples()
WITHOUT = {("post", "/v1/session"), ("get", "/v1/conversations/{conversation}/export")}
"""Operations without an example: one answers as the request before it, the other with a file."""
ANEW = "write them anew: python tests/made_responses.py"


def described(tmp_path: Path) -> dict[str, Any]:
    return make_app(ServerSettings(state=tmp_path)).openapi()


def test_every_operation_that_answers_with_json_or_events_shows_a_worked_response(tmp_path: Path) -> None:
    description = described(tmp_path)
    missing = [
        (method, path, status, kind)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
        if (method, path) not in WITHOUT
        for status, response in operation["responses"].items()
        for kind, content in response.get("content", {}).items()
        if status.startswith("2") and kind in ("application/json", "text/event-stream") and "example" not in content
    ]
    assert missing == []
    (problem,) = description["components"]["schemas"]["Problem"]["examples"]
    assert Problem.model_validate(problem).status == 404


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: f"{one.method} {one.path} {one.status} {one.media_type}")
def test_an_example_is_a_response_of_its_model(example: ResponseExample) -> None:
    if example.media_type == "text/event-stream":
        assert event_names(example), example
        return
    model = Problem if example.status >= 400 else model_of(example)
    assert TypeAdapter(model).validate_python(example.body) is not None


def model_of(example: ResponseExample) -> Any:
    """What the route of the example answers with."""
    (found,) = (
        route.response_model
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, APIRoute)
        and route.path.replace(":path", "") == example.path
        and example.method.upper() in (route.methods or ())
    )
    return found


def test_a_server_of_the_samples_answers_with_the_fields_of_the_examples(
    samples: Path, sample_collection: Path, tmp_path: Path
) -> None:
    with server_of(samples, sample_collection, tmp_path) as server:
        found = Session(server).examples()
    assert [key_of(one) for one in found] == [key_of(one) for one in EXAMPLES], ANEW
    for example, now in zip(EXAMPLES, found, strict=True):
        assert [*differences(example.body, now.body, example.path)] == [], ANEW
        assert event_names(now) == event_names(example), ANEW


def key_of(example: ResponseExample) -> tuple[object, ...]:
    return example.method, example.path, example.status, example.media_type


def event_names(example: ResponseExample) -> set[str]:
    """The kinds of event of a stream; of OpenAI's chat, whose events have no names, what they are."""
    return set(re.findall(r'^(?:event: |data: \{.*?"object": ?")([\w.]+)', str(example.body), re.MULTILINE))


REQUESTS = [
    (path, name, example["value"])
    for path, examples in (("search", SEARCH_EXAMPLES), ("answers", ANSWER_EXAMPLES))
    for name, example in examples.items()
]


@pytest.mark.parametrize(("path", "name", "body"), REQUESTS)
def test_the_requests_of_the_description_are_answered_by_the_samples(
    live: LiveServer, path: str, name: str, body: object
) -> None:
    response = live.client.post(f"/v1/collections/port/{path}", json=body)
    assert response.status_code == 200, name
    if path == "search":
        assert response.json()["hits"]
    elif response.headers["content-type"] == "application/json":
        assert response.json()["answer"]["status"] == "answered"
    else:
        assert '"status":"answered"' in response.text
