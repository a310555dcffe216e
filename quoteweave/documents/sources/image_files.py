"""Image files (PNG, JPEG, WebP, TIFF) as documents: one scanned page each, or several for a TIFF."""

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from quoteweave.core.errors import DamagedDocument
from quoteweave.core.files.pictures import TooManyPixels, UnfitPicture, check_size, open_picture
from quoteweave.documents.sources.raw_page import Raster, RawPage

if TYPE_CHECKING:
    from PIL import Image

FORMATS = ("PNG", "JPEG", "WEBP", "TIFF")
# A picture without a stated resolution is assumed to be a screenshot or photograph with this many pixels per inch.
USUAL_DPI = 144.0
# With more pixels than this on the longer side, OCR reads no better but much slower. A long picture, such as that of a
# whole web page, may have a longer side, and as many pixels in all as a sheet of paper.
MAX_SIDE_PIXELS = 3000
MIN_LONG, MAX_LONG_SIDE_PIXELS, MAX_LONG_PIXELS = 3, 16_000, 6_360_000
MAX_FRAMES = 2000
# How many rows each strip of a large picture is reduced to; and the EXIF tag that says which side is up.
STRIP = 128
# A picture in which every pixel is lighter than this, of 255, is assumed to be blank.
LIGHT = 224
ORIENTATION = 0x0112


@dataclass(frozen=True, slots=True)
class ImageFrames:
    """The frames of an open picture file, as pages. Pillow raises many kinds of exceptions for damaged ones."""

    image: "Image.Image"
    path: Path
    count: int

    def read(self, number: int) -> RawPage:
        """A frame as a page without a text layer."""
        drawn = self.draw(number)
        more = getattr(self.image, "n_frames", 1) - 1 if self.image.format != "TIFF" else 0
        warnings = [f"it is animated: {more} more pictures were left out"] if more > 0 else []
        if _orientation(self.image) is None:
            warnings.append("what its EXIF data says is damaged; it may lie on its side")
        # Not the rotation by EXIF: viewers always show the picture turned, so boxes never refer to the unturned page.
        return RawPage(number, drawn, warnings=tuple(warnings), rotation=0)

    def draw(self, number: int) -> Raster:
        """Render a frame, upright and on white. Raises DamagedDocument if it is too large to decode."""
        from PIL import ImageOps

        with self._frame(number) as frame:
            try:
                check_size(frame)
            except TooManyPixels as error:
                raise _too_large(self.path.name, error) from error
            shrink, orientation = _shrinking(frame), _orientation(frame) or 1
            image, resolution = _reduced(frame, shrink), _resolution(frame) * shrink
            width, height = (max(1, round(side * shrink)) for side in frame.size)
        if shrink < 1:
            image = image.resize((width, height))
        image.info.pop("exif", None)  # it may have been copied, damaged or not
        image.getexif()[ORIENTATION] = orientation
        return _picture(ImageOps.exif_transpose(image), resolution)

    @contextmanager
    def _frame(self, number: int) -> "Iterator[Image.Image]":
        """The picture at a frame; one that is alone is opened anew, as an open one keeps all pixels in memory."""
        if self.count == 1:
            with open_picture(self.path, formats=FORMATS) as frame:
                yield frame
        else:
            self.image.seek(number)
            yield self.image


def _orientation(image: "Image.Image") -> int | None:
    """Which side is up, according to EXIF; 1 if it does not say, None if it is damaged."""
    from PIL import Image

    try:
        if "exif" in image.info:
            Image.Exif().load(image.info["exif"])  # `getexif` raises for damaged data only the first time
        return int(image.getexif().get(ORIENTATION, 1))
    except MemoryError:
        raise
    except Exception:  # exceptions of many kinds
        return None


@contextmanager
def open_image_file(path: Path) -> Iterator[ImageFrames]:
    """Open an image file. Raises DamagedDocument if it is not one, is too large to decode, or has too many frames."""
    from PIL import UnidentifiedImageError

    with ExitStack() as stack:
        try:
            image = stack.enter_context(open_picture(path, formats=FORMATS))
        except TooManyPixels as error:
            raise _too_large(path.name, error) from error
        except UnfitPicture as error:
            # Pillow's message names the file with its folder, which clients of a server must not learn.
            why = (
                "it is not a picture, or damaged"
                if isinstance(error.__cause__, UnidentifiedImageError)
                else error.__cause__
            )
            raise DamagedDocument(f"{path.name!r} cannot be opened as a picture ({why})") from error
        count = _count(image)
        if count > MAX_FRAMES:
            raise DamagedDocument(f"{path.name!r} holds more than {MAX_FRAMES} pictures; split it")
        yield ImageFrames(image, path, count)


def _count(image: "Image.Image") -> int:
    """The number of frames, at most `MAX_FRAMES` + 1; in other formats, further pictures are animations or previews."""
    if image.format != "TIFF":
        return 1
    # Not `n_frames`: counting all takes time quadratic in their number, which a file can make very large.
    for number in range(1, MAX_FRAMES + 1):
        try:
            image.seek(number)
        except EOFError:
            return number
        except Exception:
            return number + 1  # the last one is damaged, which is reported when it is read
    return MAX_FRAMES + 1


def _too_large(name: str, error: TooManyPixels) -> DamagedDocument:
    return DamagedDocument(f"{name!r} {error}; save it smaller")


def _shrinking(image: "Image.Image") -> float:
    """By which factor the sides of an image are shrunk, at most 1."""
    shorter, longer = sorted(image.size)
    shrink = MAX_SIDE_PIXELS / longer
    if longer >= MIN_LONG * shorter:
        shrink = max(shrink, min(math.sqrt(MAX_LONG_PIXELS / (longer * shorter)), MAX_LONG_SIDE_PIXELS / longer))
    return min(1.0, shrink)


def _reduced(image: "Image.Image", shrink: float) -> "Image.Image":
    """Convert to RGB or RGBA, downsampled by a whole factor if the image is to be shrunk by more.

    Large pictures are converted in strips: as a whole, they would need several times the memory of decoding them.
    """
    from PIL import Image

    image.load()
    darkest, lightest = _extremes(image)
    step = int(1 / shrink)
    if step < 2:
        return _in_colour(image, darkest, lightest)
    size = tuple(-(-side // step) for side in image.size)
    reduced = Image.new("RGBA" if image.has_transparency_data else "RGB", (size[0], size[1]))
    rows = STRIP * step
    for top in range(0, image.height, rows):
        strip = image.crop((0, top, image.width, min(top + rows, image.height)))
        reduced.paste(_in_colour(strip, darkest, lightest).reduce(step), (0, top // step))
    return reduced


def _extremes(image: "Image.Image") -> tuple[float, float]:
    """The darkest and the lightest value of a picture with more than 8 bits a pixel."""
    extremes = image.getextrema() if _is_deep(image) else (0, 255)
    return float(extremes[0]), float(extremes[1])  # type: ignore[arg-type]  # it has one band


def _is_deep(image: "Image.Image") -> bool:
    return image.mode == "F" or image.mode.startswith("I")


def _in_colour(image: "Image.Image", darkest: float, lightest: float) -> "Image.Image":
    """Convert to RGB, or to RGBA if it has an alpha channel or a transparent colour."""
    import numpy as np
    from PIL import Image

    if _is_deep(image):
        # Pillow would clip values above 255, which makes scans with 16 bits white.
        values = np.asarray(image, dtype=np.float32) - darkest
        image = Image.fromarray((values * (255 / max(lightest - darkest, 1e-9))).astype(np.uint8))
    return image.convert("RGBA" if image.has_transparency_data else "RGB")


def _picture(image: "Image.Image", dpi: float) -> Raster:
    import numpy as np
    from PIL import Image

    pixels = np.array(image, dtype=np.uint8)
    if image.mode == "RGBA":  # on white or, if it only shows on black, like a drawing for dark pages, on black
        pixels, on_black = (
            np.array(Image.alpha_composite(Image.new("RGBA", image.size, ground), image).convert("RGB"))
            for ground in ("white", "black")
        )
        if pixels.min() > LIGHT and on_black.max() > LIGHT:
            pixels = on_black
    return Raster(pixels, dpi / 72)


def _resolution(image: "Image.Image") -> float:
    """The resolution in dots per inch, as the file states it, if plausible."""
    dpi = float(image.info.get("dpi", (0, 0))[0])
    return dpi if 50 <= dpi <= 1200 else USUAL_DPI
