"""What routes depend on: the server's state, the collection that a path names, and the address of links.

All are coroutines: FastAPI calls plain functions in threads, and each such hop takes longer than what they do.
"""

from typing import Annotated

from fastapi import Depends, Path, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from quoteweave.core.records import Record
from quoteweave.server.served import Served, ServedCollection


def record_response(record: Record) -> Response:
    """Return a record as JSON at once: FastAPI would check it and write it a second time, which takes longer."""
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


async def get_collection(collection: CollectionName, served: ServedState) -> ServedCollection:
    """Return the collection that the path names. Raises ProblemError for one that is not served."""
    opened = served.opened(collection)
    return opened if opened is not None else await run_in_threadpool(served.collection, collection)


Readable = Annotated[ServedCollection, Depends(get_collection)]
"""A collection that the request may read."""


def get_visible_names(served: ServedState) -> list[str]:
    """Return the names of the collections that the request may know of."""
    return list(served.folders())


VisibleNames = Annotated[list[str], Depends(get_visible_names)]
"""Names of the collections that the request may know of."""
