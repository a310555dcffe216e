"""What routes depend on: the server's state, the collection that a path names, and the address of links."""

from typing import Annotated

from fastapi import Depends, Path, Request

from quoteweave.server.served import Served, ServedCollection


def get_served(request: Request) -> Served:
    """Return what the requests of this process share."""
    served: Served = request.app.state.served
    return served


def get_base_url(request: Request) -> str:
    """Return the address that links begin with: that of the settings, else that of the request."""
    served = get_served(request)
    return (served.settings.public_url or str(request.base_url)).rstrip("/")


ServedState = Annotated[Served, Depends(get_served)]
BaseUrl = Annotated[str, Depends(get_base_url)]
CollectionName = Annotated[str, Path(description="the name under which a collection is served", examples=["port"])]


def get_collection(collection: CollectionName, served: ServedState) -> ServedCollection:
    """Return the collection that the path names. Raises ProblemError for one that is not served."""
    return served.collection(collection)


Readable = Annotated[ServedCollection, Depends(get_collection)]
"""A collection that the request may read."""


def get_visible_names(served: ServedState) -> list[str]:
    """Return the names of the collections that the request may know of."""
    return list(served.folders())


VisibleNames = Annotated[list[str], Depends(get_visible_names)]
"""Names of the collections that the request may know of."""
