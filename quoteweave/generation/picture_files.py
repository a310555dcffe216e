"""Encode a picture file as a data URL, shrunk where it is too large."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from quoteweave.core.files.pictures import UnfitPicture, encoded, opened, to_data_url, unpack

if TYPE_CHECKING:
    from PIL import Image

# Formats that endpoints accept. Of a GIF, they see the first frame.
MEDIA_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}
JPEG_QUALITY = 90


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
    with opened(data, formats=tuple(MEDIA_TYPES)) as image:
        unpack(image)
        pixels, file_format = image.width * image.height, str(image.format)
        if pixels <= max_pixels:
            return PictureUrl(to_data_url(data, MEDIA_TYPES[file_format]), pixels)
        written: Literal["JPEG", "PNG"] = "JPEG" if file_format == "JPEG" else "PNG"
        small = _shrunk(image, max_pixels)
        url = to_data_url(encoded(small, written, quality=JPEG_QUALITY), MEDIA_TYPES[written])
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
    quicker = None if image.mode == "I;16" else 2.0  # which Pillow cannot do with 16 bits
    small = image.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=quicker)
    return ImageOps.exif_transpose(small)
