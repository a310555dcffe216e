"""Crops of image quotes from a folder, made small enough for a page and put within its text."""

from pathlib import Path

from quoteweave.core.pictures import UnfitPicture, encoded, opened, to_data_url, unpack

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
        try:
            with opened(path) as image:
                unpack(image)
                small = image.convert("RGB")
        except UnfitPicture:
            return None
        small.thumbnail((LARGEST, LARGEST))
        return to_data_url(encoded(small, "JPEG", quality=80), "image/jpeg")
