"""Errors as RFC 9457 problem details: converts errors to problems, and problems back to errors."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus

from pydantic import Field

from quoteweave.core import errors
from quoteweave.core.records import Record

MEDIA_TYPE = "application/problem+json"
BASE = "urn:quoteweave:problem:"
"""The beginning of the URI of each kind of problem; the kind follows."""
EMPTY_QUESTION = "question-empty"
"""The kind of problem of an empty question, whether it is found in the body of a request or later."""
# The first class that an error is an instance of decides.
_PROBLEMS_OF_ERRORS: Sequence[tuple[type[errors.QuoteweaveError], HTTPStatus, str]] = (
    (errors.QuestionEmpty, HTTPStatus.UNPROCESSABLE_ENTITY, EMPTY_QUESTION),
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
TITLES = {
    EMPTY_QUESTION: "The question is empty",
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
    # Problems that only a server has; no error of the package corresponds to them.
    "refused-key": "The key is not accepted",
    "missing-key": "A key is needed",
    "missing-scope": "The key may not do that",
    "other-collection": "The key is for other collections",
    "unreadable-state": "Keys, sessions or counts cannot be read",
    "foreign-origin": "A page of another origin may not do that",
    "unknown-host": "This server does not answer under that name",
    "two-lengths": "The length of the request is not clear",
    "body-too-large": "The request is too large",
    "unsupported-value": "This value is not supported here",
    "too-many-requests": "Too many requests",
    "too-many-at-once": "Too many requests at the same time",
    "busy": "The server is busy",
    "too-slow": "The request took too long",
    "shutting-down": "The server is ending",
    "not-multipart": "The request is no upload",
    "malformed-upload": "The upload cannot be read",
    "upload-too-large": "The upload is too large",
    "collections-fixed": "The server's collections are fixed",
    "no-such-document": "There is no such document",
    "no-such-page": "There is no such page",
    "no-such-job": "There is no such job",
    "no-such-file": "There is no such file",
    "no-picture": "There is no picture",
}
"""The title of each kind of problem; a server uses no other kinds."""


class Problem(Record):
    """The details of an error, in the form of RFC 9457.

    >>> problem = problem_of_error(QuestionEmpty("the question is empty"))
    >>> problem.status, problem.kind, problem.title
    (422, 'question-empty', 'The question is empty')
    """

    type: str = Field(description="a URI that names the kind of problem", examples=[f"{BASE}no-such-collection"])
    title: str = Field(description="the kind of problem in words", examples=[TITLES["no-such-collection"]])
    status: int = Field(description="the HTTP status", examples=[404])
    detail: str = Field(description="what happened, and what to do")
    instance: str | None = Field(default=None, description="the path that was asked for")
    request_id: str | None = Field(default=None, description="by which the server's log names the request")
    errors: tuple[Mapping[str, str], ...] = Field(default=(), description="each field that is wrong, and why")
    fallback: str | None = Field(
        default=None, description="`extractive`, where the model failed that was to write the answer"
    )

    @property
    def kind(self) -> str:
        """The last part of its type, such as `no-such-quote`; for another server's type, the whole type."""
        return self.type.removeprefix(BASE)


def problem_of_error(error: BaseException) -> Problem:
    """Return an error as a problem; for an unexpected error, the problem only says that there was one.

    What only the operator of the server can do about it (`QuoteweaveError.remedy`) is left to the server's log.
    """
    for kind, status, name in _PROBLEMS_OF_ERRORS:
        if isinstance(error, kind):
            fallback = "extractive" if error.while_answering else None
            detail = error.summary
            if error.remedy is not None and status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                detail = f"{detail}; whoever runs the server finds in its log what can be done"
            return Problem(type=BASE + name, title=TITLES[name], status=status.value, detail=detail, fallback=fallback)
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    detail = "the request failed by a mistake of the server; its log says more under the request's id"
    return Problem(type=BASE + "internal", title=TITLES["internal"], status=status.value, detail=detail)


# The errors that a client raises for problems. The table's own class is replaced where it would say something wrong
# about the caller's machine, and kinds are added to which no error of the package corresponds.
_ERROR_TYPES: Mapping[str, type[errors.QuoteweaveError]] = {
    **{name: kind for kind, _, name in reversed(_PROBLEMS_OF_ERRORS)},
    "missing-extra": errors.ServerError,
    "model-unavailable": errors.EndpointError,
}
_ERROR_TYPES_BY_STATUS: Mapping[int, type[errors.QuoteweaveError]] = {
    HTTPStatus.UNAUTHORIZED: errors.KeyRefused,
    HTTPStatus.FORBIDDEN: errors.PermissionDenied,
    HTTPStatus.TOO_MANY_REQUESTS: errors.TooManyRequests,
}


def error_class(status: int, kind: str = "") -> type[errors.QuoteweaveError]:
    """Return the class of error for a response of this status; `kind` is that of its problem, if it has one."""
    error_type = _ERROR_TYPES.get(kind) or _ERROR_TYPES_BY_STATUS.get(status)
    if error_type is not None:
        return error_type
    return errors.UsageError if 400 <= status < 500 else errors.ServerError


def error_of_problem(problem: Problem) -> errors.QuoteweaveError:
    """Return a problem as an error, of the class that the same call raises without a server."""
    error = error_class(problem.status, problem.kind)(problem.detail)
    if problem.request_id is not None:
        error.add_note(f"The server's log names the request {problem.request_id}.")
    return error
