"""Pictures of pages and quotes as responses, drawn one at a time and kept for the next request."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable

import anyio
import anyio.to_thread
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from quoteweave.collection.collection import Collection
from quoteweave.core.records import Quote
from quoteweave.documents.layout.page import encode_image
from quoteweave.pipeline.pictures_for_people import crop, outlined, page_picture
from quoteweave.server.problems import ProblemError

MAX_CACHED_BYTES = 64 * 2**20
"""Bytes of pictures that are kept in memory, at most."""
# A page's address has its document's name, which may stand for another file by the next request. So browsers may keep
# the picture, but ask each time whether it is still current.
_CACHE = "private, no-cache"
Key = tuple[str, ...]
Draw = Callable[[], bytes | None]


class Pictures:
    """Draws pictures for requests, one at a time, as only one thread may use pdfium, and keeps the last ones."""

    def __init__(self) -> None:
        self._cache: OrderedDict[Key, bytes] = OrderedDict()
        self._bytes = 0
        self._drawing = anyio.CapacityLimiter(1)

    async def page(
        self,
        collection: Collection,
        place: tuple[str, int],
        request: Request,
        *,
        quote: Quote | None,
        lossy: bool,
        width: int | None = None,
    ) -> Response:
        """Return the picture of a document's page (from 0), with a quote's box drawn if one is given.

        PNG, or JPEG if it may be lossy, and at most `width` pixels wide. Raises ProblemError for documents without
        pages, and DocumentError.
        """
        key, draw = await run_in_threadpool(_page_drawing, collection, place, quote, lossy=lossy, width=width)
        return await self._respond(key, draw, request)

    async def quote(self, collection: Collection, quote: Quote, request: Request) -> Response:
        """Return a quote's picture. Raises ProblemError for documents without pages, and DocumentError."""
        return await self._respond(*_crop_drawing(collection, quote), request)

    async def page_content(self, collection: Collection, document: str, number: int, *, lossy: bool = False) -> bytes:
        """Return the bytes of a page's picture; it raises what `page` raises."""
        key, draw = await run_in_threadpool(_page_drawing, collection, (document, number), None, lossy=lossy)
        return await self._content(key, draw)

    async def quote_content(self, collection: Collection, quote: Quote) -> bytes:
        """Return the bytes of a quote's picture; it raises what `quote` raises."""
        return await self._content(*_crop_drawing(collection, quote))

    async def _respond(self, key: Key, draw: Draw, request: Request) -> Response:
        tag = f'"{hashlib.sha256(repr(key).encode()).hexdigest()[:32]}"'
        headers = {"ETag": tag, "Cache-Control": _CACHE}
        if tag in _tags(request):
            return Response(status_code=304, headers=headers)
        content = await self._content(key, draw)
        return Response(content, media_type=media_type(content), headers=headers)

    async def _content(self, key: Key, draw: Draw) -> bytes:
        content = self._cache.get(key)
        if content is None:
            content = await anyio.to_thread.run_sync(draw, limiter=self._drawing)
            if content is None:
                detail = "its document has no pages of its own to be shown; its words are in the quotes"
                raise ProblemError(404, "no-picture", detail)
            self._keep(key, content)
        else:
            self._cache.move_to_end(key)
        return content

    def _keep(self, key: Key, content: bytes) -> None:
        if key not in self._cache:
            self._bytes += len(content)
        self._cache[key] = content
        while self._bytes > MAX_CACHED_BYTES:
            self._bytes -= len(self._cache.popitem(last=False)[1])


def _page_drawing(
    collection: Collection, place: tuple[str, int], quote: Quote | None, *, lossy: bool, width: int | None = None
) -> tuple[Key, Draw]:
    """Return the cache key of a page's picture, and the function that draws it."""
    document, number = place
    record = collection.document(document)

    def draw() -> bytes | None:
        picture = page_picture(collection, document, number)
        if picture is None:
            return None
        drawn_page = picture if quote is None else outlined(picture, quote.bbox)
        return encode_image(drawn_page.pixels, lossy=lossy, width=width)

    # The document's id changes with its content; a quote's box may also change when the same file is read again.
    box_key = () if quote is None else (quote.id, repr(quote.bbox))
    key = (str(collection.root), record.id, str(number), "jpeg" if lossy else "png", str(width), *box_key)
    return key, draw


def _crop_drawing(collection: Collection, quote: Quote) -> tuple[Key, Draw]:
    key = (str(collection.root), quote.id, quote.image or repr(quote.bbox))
    return key, lambda: crop(collection, quote)


def _tags(request: Request) -> set[str]:
    """The ETags that a client has, without the prefix that a compressing proxy adds to make them weak."""
    tags = request.headers.get("if-none-match", "").split(",")
    return {tag.strip().removeprefix("W/") for tag in tags}


def media_type(content: bytes) -> str:
    """Tell the type of a stored crop by its first bytes."""
    if content.startswith(b"\x89PNG"):
        return "image/png"
    return "image/webp" if content[8:12] == b"WEBP" else "image/jpeg"
