"""The page at `/`, its files, and the stable URL of each quote."""

from importlib import resources
from typing import Annotated

from fastapi import APIRouter, Header, Request
from starlette.responses import JSONResponse, Response

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.server.depends import BaseUrl, CollectionName, ServedState, check_grant, check_opens
from quoteweave.server.problems import ProblemError
from quoteweave.server.routes.quotes import QuoteId, read_quote

router = APIRouter(include_in_schema=False)
_FOLDER = resources.files("quoteweave.server") / "page"
# A file of the folder or of a folder within it; a name that leads out of it does not match.
_NAME = lazy_regex(r"(?:[a-z]+/)?[a-z][a-z0-9_-]*\.[a-z]+")
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}


@router.get("/")
def index() -> Response:
    """Return the page on which people ask."""
    return _file("index.html")


@router.get("/page/{name:path}")
def page_file(name: str) -> Response:
    """Return a script, style or icon of the page."""
    return _file(name)


@router.get("/c/{collection}/q/{quote_id}")
def quote_url(
    collection: CollectionName,
    quote_id: QuoteId,
    served: ServedState,
    base_url: BaseUrl,
    request: Request,
    accept: Annotated[str, Header()] = "",
) -> Response:
    """Return the page opened at a quote for people, and the quote as JSON for programs that ask for it.

    The page is the same for all, and asks for the quote with the session of whoever opens it.
    """
    if "text/html" in accept or not accept:
        return _file("index.html")
    grant = check_grant(request, "read")
    check_opens(grant, collection)
    return JSONResponse(
        read_quote(served.collection(collection), quote_id, served, grant, base_url).model_dump(mode="json")
    )


def _file(name: str) -> Response:
    suffix = name[name.rfind(".") :]
    file = _FOLDER.joinpath(*name.split("/"))
    if suffix not in _TYPES or _NAME.fullmatch(name) is None or not file.is_file():
        raise ProblemError(404, "no-such-file", f"the page has no file {name!r}")
    return Response(file.read_bytes(), media_type=_TYPES[suffix], headers={"Cache-Control": "no-cache"})
