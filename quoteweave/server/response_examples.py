"""Worked examples of responses in the OpenAPI description: what a server of the sample documents answered."""

from pathlib import Path
from typing import Any

from fastapi import FastAPI
from pydantic import JsonValue, TypeAdapter

from quoteweave.core.records import Record
from quoteweave.interchange.problems import MEDIA_TYPE, Problem

FILE = Path(__file__).with_name("response_examples.json")


class ResponseExample(Record):
    """A response that a server gave."""

    method: str
    path: str
    """As the description has it, with names for what stands in braces."""
    status: int
    media_type: str
    body: JsonValue
    """Of a stream its text."""


def load_response_examples() -> tuple[ResponseExample, ...]:
    """Load the examples that come with the package."""
    return TypeAdapter(tuple[ResponseExample, ...]).validate_json(FILE.read_bytes())


def add_response_examples(app: FastAPI) -> None:
    """Have the description of the application show the examples, which are loaded when somebody reads it."""
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            described = describe()
            for example in load_response_examples():
                _add(example, described)
        return describe()

    app.openapi = openapi  # type: ignore[method-assign]


def _add(example: ResponseExample, described: dict[str, Any]) -> None:
    if example.media_type == MEDIA_TYPE:  # one of all errors, at whatever path
        described["components"]["schemas"][Problem.__name__]["examples"] = [example.body]
        return
    responses = described["paths"][example.path][example.method]["responses"]
    responses[str(example.status)]["content"][example.media_type]["example"] = example.body
