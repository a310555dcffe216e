"""What routes depend on: the server's state, the collection that a path names, and the address of links.

All are coroutines, because FastAPI calls plain functions in threads, and switching to a thread takes longer than they
do.
"""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, Path, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from quoteweave.core.messages import shorten_to_line
from quoteweave.core.records import Record
from quoteweave.server.access.control import Grant, grant_of, missing_key, missing_scope
from quoteweave.server.access.keys import Scope
from quoteweave.server.jobs.service import Jobs
from quoteweave.server.problems import ProblemError
from quoteweave.server.served import Served, ServedCollection, no_such_collection

MAX_SHOWN = 60
"""Characters, at most, of a name that a client sent and an error repeats."""


def record_response(record: Record) -> Response:
    """Return a record as a JSON response; FastAPI would validate and serialize it once more, which takes longer."""
    return Response(record.model_dump_json(), media_type="application/json")


async def get_served(request: Request) -> Served:
    """Return what the requests of this process share."""
    served: Served = request.app.state.served
    return served


ServedState = Annotated[Served, Depends(get_served)]


async def get_base_url(request: Request, served: ServedState) -> str:
    """Return the address that links begin with: that of the settings, else that of the request."""
    return (served.settings.public_url or str(request.base_url)).rstrip("/")


BaseUrl = Annotated[str, Depends(get_base_url)]
CollectionName = Annotated[str, Path(description="the name under which a collection is served", examples=["port"])]


def check_grant(request: Request, scope: Scope) -> Grant:
    """Return what the request may do. Raises ProblemError where that is not at least this scope."""
    grant = grant_of(request.scope)
    if not grant.is_known:
        raise missing_key()
    if not grant.may(scope):
        raise missing_scope(scope)
    return grant


def require(scope: Scope) -> Callable[[Request], Awaitable[Grant]]:
    """Return a dependency that is `check_grant` with this scope."""

    async def get_grant(request: Request) -> Grant:
        return check_grant(request, scope)

    return get_grant


Reader = Annotated[Grant, Depends(require("read"))]
"""The grant of a request that may read; the grant says which collections."""
Writer = Annotated[Grant, Depends(require("write"))]
"""The grant of a request that may add and remove documents."""
Admin = Annotated[Grant, Depends(require("admin"))]
"""The grant of a request that may make and remove collections."""


def check_opens(grant: Grant, collection: str) -> None:
    """Raise ProblemError for a collection that the key may not see: the same error as for one that does not exist."""
    if not grant.opens(collection):
        raise no_such_collection(collection)


async def get_collection(collection: CollectionName, served: ServedState, grant: Reader) -> ServedCollection:
    """Return the collection that the path names. Raises ProblemError for one that is not served, or not to this key."""
    check_opens(grant, collection)
    opened = served.opened(collection)
    return opened if opened is not None else await run_in_threadpool(served.collection, collection)


Readable = Annotated[ServedCollection, Depends(get_collection)]
"""A collection that the request may read."""


async def get_writable(collection: CollectionName, served: ServedState, grant: Writer) -> ServedCollection:
    """Return the collection that the path names, to be changed. Raises as `get_collection`."""
    return await get_collection(collection, served, grant)


Writable = Annotated[ServedCollection, Depends(get_writable)]
"""A collection whose documents the request may add and remove."""


async def get_jobs(request: Request) -> Jobs:
    """Return the jobs of this process's server."""
    jobs: Jobs = request.app.state.jobs
    return jobs


JobsState = Annotated[Jobs, Depends(get_jobs)]


async def get_visible_names(served: ServedState, grant: Reader) -> list[str]:
    """Return the names of the collections that the request may know of."""
    folders = await run_in_threadpool(served.folders)
    return [name for name in folders if grant.opens(name)]


VisibleNames = Annotated[list[str], Depends(get_visible_names)]
"""Names of the collections that the request may know of."""


async def refuse_unknown_parameters(request: Request) -> None:
    """Raise ProblemError if the request's address has a parameter that its route does not take, or has one twice.

    A misspelled filter, or the first of two, would otherwise be ignored.
    """
    known = [field.alias for field in request.scope["route"].dependant.query_params]
    stated = [name for name, _ in request.query_params.multi_items()]
    fault = None
    if unknown := [name for name in stated if name not in known]:
        takes = f"those of this request are {', '.join(known)}" if known else "this request takes none"
        fault = f"{shorten_to_line(unknown[0], MAX_SHOWN) or repr('')}: no such parameter of the address; {takes}"
    elif repeated := [name for name in known if stated.count(name) > 1]:
        fault = f"{repeated[0]}: the address has this parameter more than once"
    if fault is not None:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid-request", fault)
