"""Errors in the form of OpenAI's API, for the paths that its clients ask."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from quoteweave.core.records import Record
from quoteweave.interchange.problems import Problem
from quoteweave.server.problems import ErrorFormat, ProblemError

PATHS = ("/v1/models/", "/v1/chat/", "/v1/completions/", "/v1/responses/", "/v1/embeddings/")
"""Paths that OpenAI's clients use. Errors there have OpenAI's form, even at paths that this server does not offer."""
_TYPES: Mapping[int, str] = {
    401: "authentication_error",
    402: "insufficient_quota",
    403: "permission_error",
    429: "rate_limit_error",
}
_CODES: Mapping[str, str] = {
    "no-such-collection": "model_not_found",
    "question-too-long": "context_length_exceeded",
    "budget-spent": "insufficient_quota",
}
_CODES_BY_STATUS: Mapping[int, str] = {401: "invalid_api_key", 429: "rate_limit_exceeded"}


def is_openai_path(path: str) -> bool:
    """Whether errors at this path are written in OpenAI's form."""
    return path != "/v1/models" and f"{path}/".startswith(PATHS)


class OpenAIError(Record):
    """An error as OpenAI's API tells it."""

    message: str
    type: str = Field(examples=["invalid_request_error"])
    param: str | None = Field(description="the field that is wrong")
    code: str | None = Field(examples=["model_not_found"])
    request_id: str | None = Field(description="by which the server's log names the request")


class OpenAIErrorBody(Record):
    """The body of a response that tells an error."""

    error: OpenAIError


RESPONSES: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": OpenAIErrorBody, "description": "What is wrong with the request"},
    "5XX": {"model": OpenAIErrorBody, "description": "What failed"},
}
"""The error responses of routes at these paths, for the OpenAPI description."""


def error_format_of(path: str) -> ErrorFormat | None:
    """Return what writes errors at this path; None for problem details, the server's own form."""
    return openai_error_body if is_openai_path(path) else None


def openai_error_body(problem: Problem) -> dict[str, object]:
    """Return a problem as the body of a response."""
    return {"error": openai_error(problem).model_dump()}


def openai_error(problem: Problem) -> OpenAIError:
    """Return a problem as the object under `error`; `code` is OpenAI's if there is one, else the kind of problem."""
    kind = problem.type.rpartition(":")[2]
    code = _CODES.get(kind) or _CODES_BY_STATUS.get(problem.status) or kind.replace("-", "_")
    field = problem.errors[0]["field"] if problem.errors else "model" if kind == "no-such-collection" else None
    default = "server_error" if problem.status >= 500 else "invalid_request_error"
    return OpenAIError(
        message=problem.detail,
        type=_TYPES.get(problem.status, default),
        param=field,
        code=code,
        request_id=problem.request_id,
    )


def refuse(field: str, detail: str) -> ProblemError:
    """Return the problem of a field whose value this server does not support."""
    error = ProblemError(400, "unsupported-value", f"{field}: {detail}")
    error.problem = error.problem.model_copy(update={"errors": ({"field": field, "reason": detail},)})
    return error
