"""Picture files (PNG, JPEG, WebP, TIFF) as documents: each frame is a scanned page."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from quoteweave.core.errors import DamagedDocument
from quoteweave.documents.page_content import PageContent, PageReader
from quoteweave.documents.pdf_page import Picture

if TYPE_CHECKING:
    from PIL import Image

# A picture that does not say its resolution is taken for a screenshot or photograph of this many pixels an inch.
USUAL_DPI = 144.0
# OCR reads no better, but much slower, beyond this many pixels on the longer side.
LONGEST_SIDE = 3000
MAX_MEGAPIXELS = 178
MAX_FRAMES = 2000


def count_frames(path: Path) -> int:
    """How many pages the file makes. Raises DamagedDocument for what is no picture, or is too large to be one."""
    with _opened(path) as image:
        return min(getattr(image, "n_frames", 1), MAX_FRAMES)


def read_frames(path: Path, reader: PageReader, pages: range) -> tuple[list[PageContent], list[str]]:
    """Frames of a range, as pages."""
    with _opened(path) as image:
        contents = []
        for number in pages:
            image.seek(number)
            contents.append(reader.read(number, _picture(image, path), lines=()))
        return contents, []


def render_frame(path: Path, number: int) -> Picture:
    """One frame, as `read_frames` sees it."""
    with _opened(path) as image:
        image.seek(number)
        return _picture(image, path)


def _opened(path: Path) -> "Image.Image":
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image = Image.open(path)
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise DamagedDocument(f"{path.name!r} cannot be opened as a picture ({error})") from error
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise _too_large(path) from error
    if image.width * image.height > MAX_MEGAPIXELS * 1_000_000:
        image.close()
        raise _too_large(path)
    return image


def _too_large(path: Path) -> DamagedDocument:
    return DamagedDocument(f"{path.name!r} unpacks to more than {MAX_MEGAPIXELS} megapixels; save it smaller")


def _picture(image: "Image.Image", path: Path) -> Picture:
    import numpy as np
    from PIL import ImageOps

    try:
        upright = ImageOps.exif_transpose(image) or image
        rgb = upright.convert("RGBA") if "A" in upright.getbands() or "transparency" in upright.info else upright
        rgb = _on_white(rgb) if rgb.mode == "RGBA" else rgb.convert("RGB")
    except (OSError, ValueError, SyntaxError) as error:
        raise DamagedDocument(f"{path.name!r} is a damaged picture ({error})") from error
    dpi = _resolution(image)
    shrink = min(1.0, LONGEST_SIDE / max(rgb.size))
    if shrink < 1:
        rgb = rgb.resize((max(1, round(rgb.width * shrink)), max(1, round(rgb.height * shrink))))
    return Picture(np.array(rgb, dtype=np.uint8), dpi * shrink / 72)


def _on_white(image: "Image.Image") -> "Image.Image":
    from PIL import Image

    page = Image.new("RGBA", image.size, "white")
    return Image.alpha_composite(page, image).convert("RGB")


def _resolution(image: "Image.Image") -> float:
    """Dots an inch, as the file says where that is believable."""
    said = image.info.get("dpi", (0, 0))[0]
    return float(said) if 50 <= float(said) <= 1200 else USUAL_DPI
