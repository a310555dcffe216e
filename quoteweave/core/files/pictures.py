"""Decode and encode pictures: untrusted files, within limits of pixels and bytes, and data URLs."""

import base64
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote_to_bytes

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_MEGAPIXELS = 90
"""An A3 page at 600 dpi has 70; decoding more pixels would take a gigabyte of memory or more."""
MAX_MEGABYTES = 32
"""Limit for a file, and for a data URL."""

_NAMES = {"WEBP": "WebP"}
_PNG, _JPEG, _RIFF = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF"


class UnfitPicture(Exception):
    """Why a file cannot be used as a picture, as the end of a sentence that begins with its name."""


class TooManyPixels(UnfitPicture):
    """A picture has too many pixels to decode."""


@contextmanager
def open_picture(
    source: bytes | Path, *, formats: tuple[str, ...] | None = None, megapixels: float = MAX_MEGAPIXELS
) -> "Iterator[Image]":
    """Open a picture whose size, according to its header, is within the limit; `load_pixels` decodes it.

    `formats` are Pillow's names of the formats that are accepted; None accepts all. Raises UnfitPicture for what is no
    picture, TooManyPixels for one that is too large. Errors of the block are not converted.
    """
    from PIL import Image, UnidentifiedImageError

    with warnings.catch_warnings():
        # Pillow warns of odd tags, which change nothing, and of large pictures, for which there is a limit of our own.
        warnings.simplefilter("ignore")
        try:
            image = Image.open(BytesIO(source) if isinstance(source, bytes) else source, formats=formats)
        except UnidentifiedImageError as error:
            raise UnfitPicture(f"is no {_any_of_formats(formats)}, or has no pixels") from error
        except Image.DecompressionBombError as error:
            raise _too_large(megapixels) from error
        except Exception as error:  # Pillow's readers raise whatever a damaged header makes Python raise
            raise UnfitPicture(f"is damaged ({error})") from error
        with image:
            check_size(image, megapixels)
            yield image


def check_size(image: "Image", megapixels: float = MAX_MEGAPIXELS) -> None:
    """Raise TooManyPixels if the frame that is read next has more."""
    if image.width * image.height > megapixels * 1_000_000:
        raise _too_large(megapixels)


def load_pixels(image: "Image") -> None:
    """Read the pixels of an open picture. Raises UnfitPicture where they are damaged."""
    try:
        image.load()
    except Exception as error:  # Pillow's readers raise whatever a damaged file makes Python raise
        raise UnfitPicture(f"is damaged ({error})") from error


def encode_picture(
    image: "Image", file_format: Literal["PNG", "JPEG"], *, quality: int = 85, compress_level: int = 6
) -> bytes:
    """The bytes of a picture file: a JPEG of that quality (0 to 95), or a PNG of that compression level (0 to 9)."""
    file = BytesIO()
    image.save(
        file, file_format, **({"quality": quality} if file_format == "JPEG" else {"compress_level": compress_level})
    )
    return file.getvalue()


def media_type_of(data: bytes) -> str | None:
    """The media type of a picture file that begins with these bytes; None if it is no PNG, JPEG or WebP."""
    if data.startswith(_PNG):
        return "image/png"
    if data.startswith(_JPEG):
        return "image/jpeg"
    return "image/webp" if data.startswith(_RIFF) and data[8:12] == b"WEBP" else None


def to_data_url(data: bytes, media_type: str) -> str:
    """The file as a data URL (RFC 2397), in base64."""
    return f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"


def from_data_url(url: str, *, megabytes: float = MAX_MEGABYTES) -> bytes:
    """The file in a data URL (RFC 2397). Raises UnfitPicture if the URL is damaged or too long."""
    head, comma, payload = url.partition(",")
    if not comma:
        raise UnfitPicture("has no data in its data: address")
    if len(payload) > megabytes * 1_000_000:
        raise UnfitPicture(f"is larger than {megabytes} MB")
    data = unquote_to_bytes(payload)
    try:
        return base64.b64decode(data) if head.lower().endswith(";base64") else data
    except ValueError as error:
        raise UnfitPicture("has a data: address that is damaged") from error


def _any_of_formats(formats: tuple[str, ...] | None) -> str:
    *most, last = [_NAMES.get(name, name) for name in formats or ("picture",)]
    return f"{', '.join(most)} or {last}" if most else last


def _too_large(megapixels: float) -> TooManyPixels:
    return TooManyPixels(f"unpacks to more than {megapixels} megapixels")
