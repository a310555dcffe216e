"""Crops of image quotes from a folder, made small enough for a page and put within its text."""

import base64
import io
from pathlib import Path

LARGEST = 640
"""Pixels of the longer side, as shown."""


class PictureFolder:
    """Reads pictures by their path within the folder; nothing outside of it is ever read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()

    def data_url(self, name: str | None) -> str | None:
        """A JPEG of the picture as a data URL; None where it is not at hand, or cannot be read as a picture."""
        path = None if not name or "\0" in name else (self._folder / name).resolve()
        if path is None or not path.is_relative_to(self._folder) or not path.is_file():
            return None
        from PIL import Image

        try:
            with Image.open(path) as opened:
                small = opened.convert("RGB")
                small.thumbnail((LARGEST, LARGEST))
        except (OSError, ValueError, Image.DecompressionBombError):
            return None
        held = io.BytesIO()
        small.save(held, "JPEG", quality=80)
        return f"data:image/jpeg;base64,{base64.b64encode(held.getvalue()).decode('ascii')}"
