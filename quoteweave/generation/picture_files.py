"""A picture file becomes a data URL: as it is where it is small enough, else shrunk."""

import base64
import math
import warnings
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image

# What endpoints read. Of a GIF, they see the first picture.
MEDIA_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}
MAX_MEGAPIXELS = 90
"""An A3 page at 600 dpi has 70; to unpack more would take a gigabyte of memory and more."""
JPEG_QUALITY = 90


class UnfitPicture(Exception):
    """Why a file cannot be shown as a picture, as the end of a sentence that begins with its name."""


@dataclass(frozen=True, slots=True)
class PictureUrl:
    """A picture as a data URL, and how many pixels it has."""

    url: str
    pixels: int


def encode(data: bytes, max_pixels: int) -> PictureUrl:
    """The picture file as it is, or, where it has more than `max_pixels`, shrunk to that: JPEG as JPEG, others as PNG.

    It is unpacked in any case, as one damaged picture would make an endpoint refuse the whole question. Raises
    UnfitPicture for what is no PNG, JPEG, WebP or GIF, is damaged or empty, or is too large to be unpacked.
    """
    from PIL import Image, UnidentifiedImageError

    if not data:
        raise UnfitPicture("is an empty file")
    with warnings.catch_warnings():
        # Pillow warns of odd tags, which change nothing, and of large pictures, for which we have a limit of our own.
        warnings.simplefilter("ignore")
        try:
            with Image.open(BytesIO(data), formats=tuple(MEDIA_TYPES)) as image:
                return _encode(image, data, max_pixels)
        except UnfitPicture:
            raise
        except UnidentifiedImageError:
            raise UnfitPicture("is no PNG, JPEG, WebP or GIF, or has no pixels") from None
        except Image.DecompressionBombError:
            raise _too_large() from None
        except Exception as error:  # Pillow's readers raise whatever a damaged file makes Python raise
            raise UnfitPicture(f"is damaged ({error})") from error


def _encode(image: "Image.Image", data: bytes, max_pixels: int) -> PictureUrl:
    pixels = image.width * image.height
    if pixels > MAX_MEGAPIXELS * 1_000_000:
        raise _too_large()
    file_format = str(image.format)
    if pixels <= max_pixels:
        image.load()
        return PictureUrl(_data_url(data, file_format), pixels)
    written = "JPEG" if file_format == "JPEG" else "PNG"
    small, file = _shrunk(image, max_pixels), BytesIO()
    small.save(file, written, **({"quality": JPEG_QUALITY} if written == "JPEG" else {}))
    return PictureUrl(_data_url(file.getvalue(), written), small.width * small.height)


def _shrunk(image: "Image.Image", max_pixels: int) -> "Image.Image":
    """Upright, of the same shape but for roundings, and of `max_pixels` at most."""
    from PIL import Image, ImageOps

    share = math.sqrt(max_pixels / (image.width * image.height))
    # A side of one pixel cannot shrink, so that the other one has to.
    width, height = (max(1, int(side * share)) for side in image.size)
    width = max(1, min(width, max_pixels // height))
    height = min(height, max_pixels // width)
    # Palettes and bits cannot be averaged; printers' colours are shown wrong by many readers.
    if image.mode not in ("L", "LA", "RGB", "RGBA", "I;16"):
        image = image.convert("RGBA" if image.has_transparency_data else "RGB")
    quicker = None if image.mode == "I;16" else 2.0  # which Pillow cannot do with 16 bits
    small = image.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=quicker)
    return ImageOps.exif_transpose(small)


def _data_url(data: bytes, file_format: str) -> str:
    return f"data:{MEDIA_TYPES[file_format]};base64,{base64.b64encode(data).decode('ascii')}"


def _too_large() -> UnfitPicture:
    return UnfitPicture(f"unpacks to more than {MAX_MEGAPIXELS} megapixels")
