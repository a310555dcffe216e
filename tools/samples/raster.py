"""What the pictures are made with: smooth noise, fonts for lettering, and JPEG compression."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import numpy.typing as npt
import reportlab
from PIL import Image, ImageFont

Floats = npt.NDArray[np.float64]

# These fonts travel with reportlab, so the pictures are the same on machines with other fonts installed.
FONTS = Path(reportlab.__file__).parent / "fonts"
SANS, SANS_BOLD, SANS_ITALIC, TYPEWRITER = "Vera.ttf", "VeraBd.ttf", "VeraIt.ttf", "com_____.pfb"


def font(name: str, size: float) -> ImageFont.FreeTypeFont:
    """A font for lettering in pictures, without the optional shaping library that not every Pillow has."""
    return ImageFont.truetype(str(FONTS / name), size, layout_engine=ImageFont.Layout.BASIC)


def noise(rng: np.random.Generator, shape: tuple[int, int], cells: tuple[int, int], octaves: int = 5) -> Floats:
    """Smooth noise between 0 and 1: random grids, each twice as fine and half as strong as the one before."""
    total = np.zeros(shape)
    for octave in range(octaves):
        grid = rng.random((cells[0] * 2**octave + 1, cells[1] * 2**octave + 1)).astype(np.float32)
        layer = Image.fromarray(grid).resize((shape[1], shape[0]), Image.Resampling.BICUBIC)
        total += np.asarray(layer, dtype=np.float64) / 2**octave
    low, high = float(total.min()), float(total.max())
    return (total - low) / (high - low)


def mix(first: Floats, second: Floats, share: Floats) -> Floats:
    """Pixels of two pictures mixed: all of the first where `share` is 0, all of the second where it is 1."""
    weight = np.clip(share, 0.0, 1.0)[..., None]
    return first * (1 - weight) + second * weight


def to_image(pixels: Floats) -> Image.Image:
    """A picture from pixels between 0 and 255, gray or in colour."""
    return Image.fromarray(np.clip(np.rint(pixels), 0, 255).astype(np.uint8))


def jpeg(image: Image.Image, quality: int, *, subsample: bool = True) -> bytes:
    """The picture as JPEG; lettering stays clean only if colours are not subsampled."""
    buffer = BytesIO()
    image.save(buffer, "JPEG", quality=quality, optimize=True, subsampling="4:2:0" if subsample else "4:4:4")
    return buffer.getvalue()
