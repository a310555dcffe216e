"""Worked examples in the OpenAPI description: requests, and what a server of the sample documents answered to some."""

from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.models import Example
from pydantic import JsonValue, TypeAdapter

from quoteweave.core.records import Record
from quoteweave.interchange.problems import MEDIA_TYPE, Problem

SEARCH_EXAMPLES: dict[str, Example] = {
    "words": {"summary": "A question", "value": {"question": "How many vessel calls did the port receive?", "k": 5}},
    "narrowed": {
        "summary": "Tables of one document alone",
        "value": {
            "question": "grain by month",
            "filters": {"documents": ["harbour-report.pdf"], "layouts": ["table"]},
        },
    },
}
ANSWER_EXAMPLES: dict[str, Example] = {
    "whole": {"summary": "The whole answer", "value": {"question": "How many vessel calls did the port receive?"}},
    "streamed": {
        "summary": "As server-sent events",
        "value": {"question": "How many vessel calls did the port receive?", "stream": True},
    },
    "follow-up": {
        "summary": "A question that follows another",
        "value": {
            "question": "And in 2022?",
            "history": [
                {"role": "user", "content": "How many vessel calls did the port receive?"},
                {
                    "role": "assistant",
                    "content": "The port received 1,058 vessel calls [1].",
                },
            ],
        },
    },
    "settings": {
        "summary": "With settings of its own",
        "value": {
            "question": "How many vessel calls did the port receive?",
            "settings": {"retriever": "bm25", "size": 20, "gate": "drop", "model": "extractive"},
        },
    },
}


FILE = Path(__file__).with_name("response_examples.json")


class ResponseExample(Record):
    """A response that a server gave."""

    method: str
    path: str
    """The path as the OpenAPI description writes it, with parameters in braces."""
    status: int
    media_type: str
    body: JsonValue
    """The body; for a stream, its text."""


def load_response_examples() -> tuple[ResponseExample, ...]:
    """Load the examples that come with the package."""
    return TypeAdapter(tuple[ResponseExample, ...]).validate_json(FILE.read_bytes())


def add_response_examples(app: FastAPI) -> None:
    """Make the application's OpenAPI description show the examples, which are loaded when it is first read."""
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            described = describe()
            for example in load_response_examples():
                _add(example, described)
        return describe()

    app.openapi = openapi  # type: ignore[method-assign]


def _add(example: ResponseExample, described: dict[str, Any]) -> None:
    if example.media_type == MEDIA_TYPE:  # one example stands for the errors of all paths
        described["components"]["schemas"][Problem.__name__]["examples"] = [example.body]
        return
    responses = described["paths"][example.path][example.method]["responses"]
    responses[str(example.status)]["content"][example.media_type]["example"] = example.body
