"""Requests made from the server's own description, right and wrong ones: what is answered is what it describes."""

import json
import re
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from live_server import LiveServer
from made_collections import make_collection

from quoteweave.server.app import make_app
from quoteweave.server.dialects.openai_errors import is_openai_path
from quoteweave.server.settings import ServerSettings

FEW = settings(
    max_examples=2,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def can_be_wrong(operation: Any) -> bool:
    """Whether there is a wrong request: what is sent to some routes cannot be, as they read nothing, or any text."""
    described = operation.definition.raw
    schemas = [one["schema"] for one in described.get("parameters", ())]
    free = all(schema.get("type") == "string" and not schema.keys() & {"enum", "maxLength"} for schema in schemas)
    return "requestBody" in described or not free


def test_no_request_ends_with_a_mistake_or_with_what_is_not_described(tmp_path: Path) -> None:
    import schemathesis
    from schemathesis import GenerationMode
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    checks = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
    make_collection(tmp_path, {"port.md": ["The harbour shipped 4,210 tonnes of grain in May."]}).close()
    made = ServerSettings(collections={"port": tmp_path / "collection"}, state=tmp_path / "state")
    tried = 0

    def check(case: Any) -> None:
        nonlocal tried
        tried += 1
        response = case.call(timeout=60)
        case.validate_response(response, checks=checks)
        if response.status_code >= 400 and not is_openai_path(case.path):
            assert response.headers["content-type"] == ["application/problem+json"]

    with LiveServer(made) as server:
        schema: Any = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
        for operation in (found.ok() for found in schema.get_all_operations()):
            for mode in GenerationMode if can_be_wrong(operation) else (GenerationMode.POSITIVE,):
                FEW(given(case=operation.as_strategy(generation_mode=mode))(check))()
    assert tried > 90


def test_every_body_of_a_request_has_an_example(tmp_path: Path) -> None:
    described = make_app(ServerSettings(collections={"port": tmp_path}, state=tmp_path)).openapi()
    schemas = described["components"]["schemas"]
    bodies = {
        (method, path): operation["requestBody"]["content"]
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
        if "requestBody" in operation
    }

    def has_example(body: object) -> bool:
        written = json.dumps(body)
        named = re.findall(r"#/components/schemas/([\w-]+)", written)
        return '"example' in written or any('"example' in json.dumps(schemas[name]) for name in named)

    assert len(bodies) >= 10
    assert [route for route, body in bodies.items() if not has_example(body)] == []
