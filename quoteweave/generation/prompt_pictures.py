"""Prepare image quotes for chat models, as data URLs within a budget of pixels, or as URLs of a server."""

import asyncio
import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol
from urllib.parse import quote as percent_encoded
from urllib.parse import urlsplit

from pydantic import Field

from quoteweave.core.answers import Context
from quoteweave.core.chat.usage import max_fair_share
from quoteweave.core.errors import CollectionError, UsageError
from quoteweave.core.files.pictures import UnfitPicture, encode_picture, load_pixels, open_picture, to_data_url
from quoteweave.core.messages import pluralize
from quoteweave.core.records import Record
from quoteweave.generation.prompt_messages import image_quotes

if TYPE_CHECKING:
    from PIL import Image


# Formats that endpoints accept. Of a GIF, they see the first frame.
MEDIA_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}
JPEG_QUALITY = 90
PIXELS_PER_TOKEN = 750
"""That of Anthropic's models, which count most tokens for a picture; Qwen's take 784 pixels, OpenAI's about 1000."""
CACHE_BYTES = 64 * 1024 * 1024
_AT_ONCE = 2  # pictures decoded at the same time: each may take hundreds of megabytes
_ENTRY_OVERHEAD = 500  # bytes of a cache entry beside its URL, estimated generously


@dataclass(frozen=True, slots=True)
class PictureUrl:
    """A picture as a data URL, and how many pixels it has."""

    url: str
    pixels: int


def encode(data: bytes, max_pixels: int) -> PictureUrl:
    """Encode a picture file unchanged, or, where it has more than `max_pixels`, shrunk: JPEG as JPEG, others as PNG.

    It is decoded in any case, as one damaged picture would make an endpoint refuse the whole request. Raises
    UnfitPicture for a file that is no PNG, JPEG, WebP or GIF, is damaged or empty, or is too large to be decoded.
    """
    if not data:
        raise UnfitPicture("is an empty file")
    with open_picture(data, formats=tuple(MEDIA_TYPES)) as image:
        load_pixels(image)
        pixels, file_format = image.width * image.height, str(image.format)
        if pixels <= max_pixels:
            return PictureUrl(to_data_url(data, MEDIA_TYPES[file_format]), pixels)
        written: Literal["JPEG", "PNG"] = "JPEG" if file_format == "JPEG" else "PNG"
        small = _shrunk(image, max_pixels)
        url = to_data_url(encode_picture(small, written, quality=JPEG_QUALITY), MEDIA_TYPES[written])
        return PictureUrl(url, small.width * small.height)


def _shrunk(image: "Image.Image", max_pixels: int) -> "Image.Image":
    """Shrink a picture to at most `max_pixels`, upright, with its aspect ratio kept up to rounding."""
    from PIL import Image, ImageOps

    share = math.sqrt(max_pixels / (image.width * image.height))
    # A side of one pixel cannot shrink, so the other one has to.
    width, height = (max(1, int(side * share)) for side in image.size)
    width = max(1, min(width, max_pixels // height))
    height = min(height, max_pixels // width)
    # Palettes and bitmaps cannot be averaged; CMYK is shown wrong by many readers.
    if image.mode not in ("L", "LA", "RGB", "RGBA", "I;16"):
        image = image.convert("RGBA" if image.has_transparency_data else "RGB")
    quicker = None if image.mode == "I;16" else 2.0  # Pillow cannot do this with 16 bits
    small = image.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=quicker)
    return ImageOps.exif_transpose(small)


ImageSource = Callable[[str], bytes]
"""Reads the stored crop that `Quote.image` names, in several threads. Raises OSError when it cannot be read."""


class PictureLimits(Record):
    """Limits on the number and size of pictures in one prompt. The first ones are shown, and larger ones are shrunk."""

    max_pictures: int = Field(default=20, ge=1, description="of one prompt; beyond, words stand for image quotes")
    max_pixels: int = Field(default=1_500_000, ge=1, description="of one picture; models of OpenAI see no more of it")
    max_total_pixels: int = Field(default=12_000_000, ge=1, description="of all pictures of one prompt")

    def greatest(self, pixels: Sequence[int]) -> int:
        """Return the size in pixels, at most `max_pixels`, to which all of these pictures fit the total.

        It is one size for all, and shrinks in steps of a quarter, because a picture is encoded anew for each size.
        """
        share = max_fair_share(pixels, self.max_total_pixels)
        greatest = self.max_pixels
        while share is not None and greatest > max(share, 1):
            greatest = greatest * 3 // 4
        return greatest

    def tokens(self, pictures: int) -> int:
        """Estimate the most tokens that the given number of pictures take of a model's window."""
        pixels = min(self.max_total_pixels, self.max_pixels * min(pictures, self.max_pictures))
        return -(-pixels // PIXELS_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class PreparedPictures:
    """URLs by the names of image quotes, in order, and a warning for each picture that had to be left out."""

    urls: dict[str, str]
    warnings: tuple[str, ...] = ()


class PromptPictures(Protocol):
    """Prepares the image quotes of a context that are shown as pictures."""

    async def shown(self, context: Context) -> PreparedPictures:
        """Prepare pictures; never fails: one that cannot be shown gets a warning, and its words are sent instead."""
        ...


class InlinePictures:
    """Implements `PromptPictures` by data URLs, each encoded once: those used last are kept, of `kept_bytes` in all.

    A picture within `limits` is sent as its file is, a larger one shrunk. A key must always mean the same picture. It
    may be used from any thread and event loop, so its threads are its own, and not lanes of one loop
    (`core.concurrency.pools`).
    """

    def __init__(
        self, images: ImageSource, limits: PictureLimits | None = None, *, kept_bytes: int = CACHE_BYTES
    ) -> None:
        self.images = images
        self.limits = limits or PictureLimits()
        self._free = kept_bytes
        self._kept: OrderedDict[tuple[str, int], PictureUrl] = OrderedDict()
        self._coming: dict[tuple[str, int], Future[PictureUrl]] = {}
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="pictures")

    async def shown(self, context: Context) -> PreparedPictures:
        """Return data URLs within the limits."""
        warnings: list[str] = []
        keys, left_out = dict(_pictures(context)), list[str]()
        pictures: dict[str, PictureUrl] = {}
        for name, key in keys.items():
            if len(pictures) == self.limits.max_pictures:
                left_out.append(name)
            elif (picture := await self._picture(name, key, self.limits.max_pixels, warnings)) is not None:
                pictures[name] = picture
        greatest = self.limits.greatest([picture.pixels for picture in pictures.values()])
        for name in [name for name, picture in pictures.items() if picture.pixels > greatest]:
            if (smaller := await self._picture(name, keys[name], greatest, warnings)) is None:
                del pictures[name]
            else:
                pictures[name] = smaller
        urls = {name: picture.url for name, picture in pictures.items()}
        return PreparedPictures(urls, (*warnings, *_too_many(left_out, self.limits)))

    async def _picture(self, name: str, key: str, max_pixels: int, warnings: list[str]) -> PictureUrl | None:
        try:
            at_hand = self._cached_or_pending(key, max_pixels)
            if isinstance(at_hand, PictureUrl):
                return at_hand
            coming: asyncio.Future[PictureUrl] = asyncio.wrap_future(at_hand)
            coming.add_done_callback(lambda done: done.cancelled() or done.exception())  # there may be no waiter left
            return await asyncio.shield(coming)  # another question may wait for it, even if this one is cancelled
        except OSError as error:
            reason = f"could not be read ({error.strerror or 'unknown reason'})"
        except ValueError:
            reason = "has a name that no file can have"
        except UnfitPicture as error:
            reason = str(error)
        except CollectionError as error:
            reason = f"was not shown: {error}"
        warnings.append(_in_words(name, reason))
        return None

    def _cached_or_pending(self, key: str, max_pixels: int) -> "PictureUrl | Future[PictureUrl]":
        size = (key, max_pixels)
        with self._lock:
            if size in self._kept:
                self._kept.move_to_end(size)
                return self._kept[size]
            if size not in self._coming:
                self._coming[size] = self._threads.submit(self._encode, size)
            return self._coming[size]

    def _encode(self, size: tuple[str, int]) -> PictureUrl:
        picture: PictureUrl | None = None
        try:
            picture = encode(self.images(size[0]), size[1])
            return picture
        finally:
            with self._lock:
                del self._coming[size]
                if picture is not None:
                    self._keep(size, picture)

    def _keep(self, size: tuple[str, int], picture: PictureUrl) -> None:
        self._kept[size] = picture
        self._free -= len(picture.url) + _ENTRY_OVERHEAD
        while self._free < 0:
            _, oldest = self._kept.popitem(last=False)
            self._free += len(oldest.url) + _ENTRY_OVERHEAD


class LinkedPictures:
    """Implements `PromptPictures` by URLs of `base_url` and each crop's stored key, which the model's server fetches.

    No picture is read here, so only the limit on their number applies. Raises UsageError unless `base_url` is an
    http(s) URL of a folder.
    """

    def __init__(self, base_url: str, limits: PictureLimits | None = None) -> None:
        if not _is_folder(base_url):
            raise UsageError(
                f"{base_url!r} is no address of a folder of pictures; give one such as https://host/crops/"
            )
        self.base_url = base_url.rstrip("/") + "/"
        self.limits = limits or PictureLimits()

    async def shown(self, context: Context) -> PreparedPictures:
        """Return the URLs of the first pictures."""
        fit, warnings = dict[str, str](), list[str]()
        for name, key in _pictures(context):
            if {"", ".", ".."}.isdisjoint(key.split("/")):
                fit[name] = self.base_url + percent_encoded(key)
            else:
                warnings.append(_in_words(name, f"has a key that is no path ({key!r})"))
        most = self.limits.max_pictures
        names = list(fit)
        return PreparedPictures(
            {name: fit[name] for name in names[:most]}, (*warnings, *_too_many(names[most:], self.limits))
        )


def _is_folder(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:  # an unclosed bracket
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc) and not (parts.query or parts.fragment)


def _pictures(context: Context) -> Iterator[tuple[str, str]]:
    """Names and stored keys of image quotes that have a crop."""
    for name, quote in image_quotes(context).items():
        if quote.image is not None:
            yield name, quote.image


def _in_words(name: str, reason: str) -> str:
    return f"The crop of {name} {reason}; the model was given its words."


def _too_many(names: Sequence[str], limits: PictureLimits) -> Iterator[str]:
    if names:
        yield (
            f"A prompt shows {pluralize(limits.max_pictures, 'picture')} at most (max_pictures); "
            f"the model was given the words of {', '.join(names)}."
        )
