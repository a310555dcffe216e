"""Answers every error with its problem details: what happened, to what, and what to do, as JSON with a status."""

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from quoteweave.core import errors
from quoteweave.interchange.problems import BASE, EMPTY_QUESTION, MEDIA_TYPE, TITLES, Problem, problem_of_error

LOG = logging.getLogger("quoteweave.server")
REQUEST_ID: ContextVar[str | None] = ContextVar("REQUEST_ID", default=None)
"""The id of the request that is being answered, which lines of the log give."""

CLIENT_CLOSED = 499
"""The status that nginx logs if a client closed the connection; only the log and the metrics show it."""


class ProblemError(Exception):
    """Ends a request with a problem. `kind`, a key of `TITLES`, is the last part of its type; `headers` are sent."""

    def __init__(self, status: int, kind: str, detail: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.problem = Problem(type=BASE + kind, title=TITLES[kind], status=status, detail=detail)
        self.headers = dict(headers or {})


def problem_of(error: BaseException) -> Problem:
    """Return an error as a problem; for an unexpected error, the problem only says that there was one."""
    return error.problem if isinstance(error, ProblemError) else problem_of_error(error)


def report_problem(error: BaseException, places: Mapping[str, Path]) -> Problem:
    """Return an error as a problem, with the request's id, and with names in place of the folders of `places`.

    Details that the problem leaves out, and errors that are no fault of the request, are written to the log.
    """
    problem = problem_of(error)
    remedy = error.remedy if isinstance(error, errors.QuoteweaveError) else None
    if remedy is not None or problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        LOG.warning("%s%s", _log_prefix(), error)
    update = {"detail": without_folders(problem.detail, places), "request_id": REQUEST_ID.get()}
    return problem.model_copy(update=update)


def _log_prefix() -> str:
    """The beginning of a line of the log, which names the request; empty over stdio, where requests have no ids."""
    request_id = REQUEST_ID.get()
    return "" if request_id is None else f"request {request_id}: "


def note_log() -> Callable[[str], None]:
    """Return a function that logs each note of a request once, for notes that users are not told.

    `withhold_remedies` calls it with notes that tell a remedy for the operator.
    """
    logged: set[str] = set()

    def log(text: str) -> None:
        if text not in logged:
            logged.add(text)
            LOG.warning("%s%s", _log_prefix(), text)

    return log


ErrorFormat = Callable[[Problem], dict[str, object]]
"""Returns a problem as the body of another API's error."""


def respond(problem: Problem, request: Request, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return the response for a problem, with the request's path and id.

    If the path belongs to another API, the response has that API's form, which `app.state.error_format` returns.
    """
    update = {"instance": request.url.path, "request_id": request.scope.get("request_id")}
    problem = problem.model_copy(update=update)
    error_format = _error_format(request)
    if error_format is not None:
        return JSONResponse(error_format(problem), problem.status, dict(headers or {}))
    body = problem.model_dump(mode="json", exclude_none=True)
    if not body["errors"]:
        del body["errors"]
    return JSONResponse(body, problem.status, dict(headers or {}), MEDIA_TYPE)


def without_folders(text: str, folders: Mapping[str, Path]) -> str:
    """Return a message with names in place of folders, as clients should not see the server's paths."""
    named_paths = [(name, path) for name, folder in folders.items() for path in (folder, folder.resolve())]
    # Without a root folder, which would replace every slash.
    names_by_path = {str(path): name for name, path in named_paths if path.name}
    for path in sorted(names_by_path, key=len, reverse=True):
        if os.sep in path:  # a plain word may occur in any sentence without meaning the folder
            text = text.replace(path, names_by_path[path])
    return text


def _error_format(request: Request) -> ErrorFormat | None:
    find = getattr(request.app.state, "error_format", None) if "app" in request.scope else None
    return None if find is None else find(request.url.path)


def handle_problems(app: FastAPI) -> None:
    """Have every error of the application answered as a problem."""

    @app.exception_handler(ProblemError)
    async def on_problem(request: Request, error: ProblemError) -> JSONResponse:
        return respond(error.problem, request, error.headers)

    @app.exception_handler(errors.QuoteweaveError)
    async def on_error(request: Request, error: errors.QuoteweaveError) -> JSONResponse:
        return respond(report_problem(error, request.app.state.served.places()), request)

    @app.exception_handler(ClientDisconnect)
    async def on_disconnect(_: Request, __: ClientDisconnect) -> Response:
        return Response(status_code=CLIENT_CLOSED)

    @app.exception_handler(HTTPException)
    async def on_http(request: Request, error: HTTPException) -> JSONResponse:
        phrase = HTTPStatus(error.status_code).phrase
        detail = str(error.detail)
        if detail == phrase:  # the routing's own error, which has no details
            detail = f"{request.method} {request.url.path} is no request of this server; /openapi.json describes all"
        problem = Problem(type="about:blank", title=phrase, status=error.status_code, detail=detail)
        return respond(problem, request, error.headers)

    @app.exception_handler(RequestValidationError)
    async def on_invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        return respond(invalid_request(error.errors()), request)


def invalid_request(field_errors: Sequence[Any]) -> Problem:
    """Return the problem of a request with invalid fields; it does not repeat what was sent."""
    wrong_fields = tuple(_wrong_field(field_error) for field_error in field_errors)
    detail = "; ".join(f"{field['field']}: {field['reason']}" for field in wrong_fields[:5])
    status = HTTPStatus.UNPROCESSABLE_ENTITY.value
    is_empty_question = any(field_error["type"] == EMPTY_QUESTION for field_error in field_errors)
    kind = EMPTY_QUESTION if is_empty_question else "invalid-request"
    return Problem(type=BASE + kind, title=TITLES[kind], status=status, detail=detail, errors=wrong_fields)


def _wrong_field(field_error: Mapping[str, Any]) -> dict[str, str]:
    if field_error["type"] == "json_invalid":
        # What is wrong with the whole, such as how deeply it is nested, has no place.
        place = f", at character {field_error['loc'][-1]}" if field_error["loc"][-1] else ""
        return {"field": "body", "reason": f"is no JSON: {field_error['ctx']['error']}{place}"}
    return {"field": ".".join(map(str, field_error["loc"][1:])) or "body", "reason": _reason(field_error)}


def _reason(field_error: Mapping[str, Any]) -> str:
    """What is wrong with a field, in JSON's words instead of Python's."""
    if field_error["type"] == "value_error":
        return str(field_error["ctx"]["error"])
    if field_error["type"] in ("model_attributes_type", "dict_type"):
        header = ", sent with the header content-type: application/json" if len(field_error["loc"]) == 1 else ""
        return f"Input should be a JSON object{header}"
    return str(field_error["msg"]).replace("Tuple should", "List should").replace("a valid tuple", "a list")
