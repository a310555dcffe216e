"""Errors as RFC 9457 problem details: what happened, to what, and what to do, as JSON with a status."""

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import Field
from starlette.exceptions import HTTPException

from quoteweave.core import errors
from quoteweave.core.records import Record

MEDIA_TYPE = "application/problem+json"
_BASE = "urn:quoteweave:problem:"
# The first class that an error is an instance of decides.
_OF_ERRORS: Sequence[tuple[type[Exception], HTTPStatus, str]] = (
    (errors.QuestionTooLong, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "question-too-long"),
    (errors.BudgetSpent, HTTPStatus.PAYMENT_REQUIRED, "budget-spent"),
    (errors.MissingExtra, HTTPStatus.NOT_IMPLEMENTED, "missing-extra"),
    (errors.UsageError, HTTPStatus.UNPROCESSABLE_ENTITY, "not-possible"),
    (errors.UnsupportedFormat, HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "unsupported-format"),
    (errors.DocumentError, HTTPStatus.UNPROCESSABLE_ENTITY, "unreadable-document"),
    (errors.QuoteNotFound, HTTPStatus.NOT_FOUND, "no-such-quote"),
    (errors.CollectionNotFound, HTTPStatus.NOT_FOUND, "no-such-collection"),
    (errors.CollectionExists, HTTPStatus.CONFLICT, "collection-exists"),
    (errors.CollectionLocked, HTTPStatus.CONFLICT, "collection-locked"),
    (errors.IndexMissing, HTTPStatus.CONFLICT, "index-missing"),
    (errors.FingerprintMismatch, HTTPStatus.CONFLICT, "index-of-other-settings"),
    (errors.StorageError, HTTPStatus.INSUFFICIENT_STORAGE, "storage"),
    (errors.CollectionError, HTTPStatus.SERVICE_UNAVAILABLE, "damaged-collection"),
    (errors.EndpointError, HTTPStatus.SERVICE_UNAVAILABLE, "model-unavailable"),
    (errors.ModelError, HTTPStatus.SERVICE_UNAVAILABLE, "model-unavailable"),
    (errors.ConversationNotFound, HTTPStatus.NOT_FOUND, "no-such-conversation"),
    (errors.StateError, HTTPStatus.SERVICE_UNAVAILABLE, "state"),
    (errors.ProcessError, HTTPStatus.SERVICE_UNAVAILABLE, "no-process"),
)
_TITLES = {
    "question-too-long": "The question is too long",
    "budget-spent": "The answer would cost more than it may",
    "missing-extra": "A library is not installed on the server",
    "not-possible": "The request asks for something that cannot be",
    "invalid-request": "The request is not as it has to be",
    "unsupported-format": "The file's format is not read",
    "unreadable-document": "The document cannot be read",
    "no-such-quote": "There is no such quote",
    "no-such-collection": "There is no such collection",
    "collection-exists": "There is such a collection already",
    "collection-locked": "Another process is writing to the collection",
    "index-missing": "The retriever has no index in this collection",
    "index-of-other-settings": "The index was built with other settings",
    "storage": "The disk is full, or refuses",
    "damaged-collection": "The collection cannot be read",
    "model-unavailable": "The model cannot be asked",
    "no-process": "The system starts no further process",
    "no-such-conversation": "There is no such conversation",
    "state": "A file of the server cannot be used",
    "internal": "The server made a mistake",
}


class Problem(Record):
    """The details of an error, in the form of RFC 9457."""

    type: str = Field(description="a URI that names the kind of problem", examples=[f"{_BASE}no-such-collection"])
    title: str = Field(description="the kind of problem in words", examples=[_TITLES["no-such-collection"]])
    status: int = Field(description="the HTTP status", examples=[404])
    detail: str = Field(description="what happened, and what to do")
    instance: str | None = Field(default=None, description="the path that was asked for")
    request_id: str | None = Field(default=None, description="by which the server's log names the request")
    errors: tuple[Mapping[str, str], ...] = Field(default=(), description="each field that is wrong, and why")
    fallback: str | None = Field(
        default=None, description="a model with which the same request can be answered, as `extractive`"
    )


class ProblemError(Exception):
    """Ends a request with a problem; `kind` is the last part of its type, `headers` are sent with it."""

    def __init__(
        self, status: int, kind: str, title: str, detail: str, *, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.problem = Problem(type=_BASE + kind, title=title, status=status, detail=detail)
        self.headers = dict(headers or {})


def problem_of(error: BaseException) -> Problem:
    """Return the problem that an error is; of an unexpected error it says nothing but that there was one."""
    if isinstance(error, ProblemError):
        return error.problem
    for kind, status, name in _OF_ERRORS:
        if isinstance(error, kind):
            fallback = "extractive" if isinstance(error, errors.EndpointError) else None
            return Problem(
                type=_BASE + name, title=_TITLES[name], status=status.value, detail=str(error), fallback=fallback
            )
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    detail = "the request failed by a mistake of the server; its log says more under the request's id"
    return Problem(type=_BASE + "internal", title=_TITLES["internal"], status=status.value, detail=detail)


Telling = Callable[[Problem], dict[str, object]]
"""Writes a problem in the form of another API."""


def respond(problem: Problem, request: Request, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return the response that tells the problem, with the request's path and id.

    Where the path is that of another API, it is told in its form: `app.state.telling` returns that for a path, or None.
    """
    update = {"instance": request.url.path, "request_id": request.scope.get("request_id")}
    problem = problem.model_copy(update=update)
    telling = _telling(request)
    if telling is not None:
        return JSONResponse(telling(problem), problem.status, dict(headers or {}))
    body = problem.model_dump(mode="json", exclude_none=True)
    if not body["errors"]:
        del body["errors"]
    return JSONResponse(body, problem.status, dict(headers or {}), MEDIA_TYPE)


def _telling(request: Request) -> Telling | None:
    find: Callable[[str], Telling | None] | None = None
    if "app" in request.scope:
        find = getattr(request.app.state, "telling", None)
    return None if find is None else find(request.url.path)


def handle_problems(app: FastAPI) -> None:
    """Have every error of the application answered as a problem."""

    @app.exception_handler(ProblemError)
    async def on_problem(request: Request, error: ProblemError) -> JSONResponse:
        return respond(error.problem, request, error.headers)

    @app.exception_handler(errors.QuoteweaveError)
    async def on_error(request: Request, error: errors.QuoteweaveError) -> JSONResponse:
        return respond(problem_of(error), request)

    @app.exception_handler(HTTPException)
    async def on_http(request: Request, error: HTTPException) -> JSONResponse:
        phrase = HTTPStatus(error.status_code).phrase
        problem = Problem(type="about:blank", title=phrase, status=error.status_code, detail=str(error.detail))
        return respond(problem, request, error.headers)

    @app.exception_handler(RequestValidationError)
    async def on_invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        return respond(invalid_request(error.errors()), request)


def invalid_request(found: Sequence[Any]) -> Problem:
    """Return the problem of a request whose fields are not as they have to be; what was sent is not repeated."""
    wrong = tuple({"field": ".".join(map(str, one["loc"][1:])) or "body", "reason": one["msg"]} for one in found)
    detail = "; ".join(f"{one['field']}: {one['reason']}" for one in wrong[:5])
    status = HTTPStatus.UNPROCESSABLE_ENTITY.value
    kind = "invalid-request"
    return Problem(type=_BASE + kind, title=_TITLES[kind], status=status, detail=detail, errors=wrong)
