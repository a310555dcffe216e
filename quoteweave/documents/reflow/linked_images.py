"""Images that a document links to: found beside it, checked, and stored.

Links are not trusted: only files below the document's own folder and embedded images (`data:` URLs) are read, never the
network; and an image's size is read from its header before it is decoded.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pydantic import Field

from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.errors import DocumentError
from quoteweave.core.files.pictures import (
    MAX_MEGABYTES,
    TooManyPixels,
    UnfitPicture,
    encode_picture,
    from_data_url,
    load_pixels,
    open_picture,
)
from quoteweave.core.fingerprints import file_sha256
from quoteweave.core.records import Record

# A picture that is converted is in memory twice, so that fewer pixels are allowed than elsewhere.
MAX_MEGAPIXELS = 64
MAX_PICTURES = 1000
LISTED_WARNINGS = 20

_STORED_AS_THEY_ARE = {"PNG": ".png", "JPEG": ".jpg", "WEBP": ".webp"}
_CONVERTED = ("GIF", "BMP", "TIFF")


class StoredImage(Record):
    """A stored picture."""

    key: str = Field(description="where the image store keeps it")
    width: int = Field(ge=1, description="pixels")
    height: int = Field(ge=1, description="pixels")


def store_image(data: bytes, images: ImageStore) -> StoredImage:
    """Check and store an image: PNG, JPEG and WebP unchanged, GIF, BMP and TIFF as PNG.

    Raises DocumentError if it is none of these, is damaged, or has more than 64 megapixels.
    """
    try:
        with open_picture(data, formats=(*_STORED_AS_THEY_ARE, *_CONVERTED), megapixels=MAX_MEGAPIXELS) as picture:
            load_pixels(picture)
            suffix = _STORED_AS_THEY_ARE.get(picture.format or "")
            if suffix is None:
                converted = picture.convert("RGBA" if picture.has_transparency_data else "RGB")
                data, suffix = encode_picture(converted, "PNG"), ".png"
            key = images.put(data, suffix=suffix)
            return StoredImage(key=key, width=picture.width, height=picture.height)
    except TooManyPixels:
        raise DocumentError(f"it has more than {MAX_MEGAPIXELS} megapixels") from None
    except UnfitPicture as error:
        raise DocumentError("it is damaged, or is not PNG, JPEG, WebP, GIF, BMP or TIFF") from error


class LinkedImages:
    """The images of one document, each read once; those that cannot be read become warnings."""

    def __init__(self, folder: Path, images: ImageStore) -> None:
        self._folder = folder
        self._images = images
        self.files: dict[str, str | None] = {}
        """SHA-256 of the requested files (None if not read), by relative path."""
        self._known: dict[str, StoredImage | None] = {}
        self._stored = 0
        self._refusals: list[str] = []
        self._left_out: Counter[str] = Counter()
        self._doubted: Counter[str] = Counter()

    def doubt(self, *reasons: str) -> None:
        """Count words that are read though readers may not see them, or see other signs."""
        self._doubted.update(reasons)

    def leave_out(self, *elements: str) -> None:
        """Count what shows more than the text and is not read: an `iframe`, a `video`…"""
        self._left_out.update(elements)

    def at_address(self, address: str) -> StoredImage | None:
        """The image at an address as written in Markdown or HTML; None, and a warning, if it cannot be read."""
        return self._image(address.strip(), is_path=False)

    def at_one_of(self, addresses: Sequence[str]) -> StoredImage | None:
        """The image at the first address that works; None, and a warning about the first, if none does."""
        if len(addresses) == 1:  # trying it beforehand would read it twice
            return self.at_address(addresses[0])
        return self.at_address(next((address for address in addresses if self._is_available(address)), addresses[0]))

    def at_path(self, path: str) -> StoredImage | None:
        """The image at a path relative to the document's folder; None, and a warning, if it cannot be read."""
        return self._image(path, is_path=True)

    @property
    def warnings(self) -> tuple[str, ...]:
        """A sentence for each picture that is missing, one for all after the twentieth, and one for everything else."""
        counts = ", ".join(f"{count} {element}" for element, count in sorted(self._left_out.items()))
        other_warnings = [f"What these elements show was not read: {counts}."] if counts else []
        other_warnings += [f"Words were read in spite of {reason}: {count}." for reason, count in self._doubted.items()]
        more = len(self._refusals) - LISTED_WARNINGS
        tail = (f"{more} more pictures could not be read.",) if more > 0 else ()
        return (*self._refusals[:LISTED_WARNINGS], *tail, *other_warnings)

    def _image(self, reference: str, *, is_path: bool) -> StoredImage | None:
        if reference not in self._known:
            try:
                self._known[reference] = self._stored_from(self._path(reference) if is_path else self._data(reference))
            except DocumentError as refusal:
                self._known[reference] = None
                self._refusals.append(f"Picture {reference[:80]!r} was left out: {refusal}.")
        return self._known[reference]

    def _is_available(self, address: str) -> bool:
        try:
            return bool(self._data(address.strip()))
        except DocumentError:
            return False

    def _stored_from(self, data: bytes) -> StoredImage:
        if self._stored >= MAX_PICTURES:
            raise DocumentError(f"the document has more than {MAX_PICTURES}")
        self._stored += 1
        return store_image(data, self._images)

    def _data(self, address: str) -> bytes:
        if address[:5].lower() == "data:":
            return _inline(address)
        try:
            parts = urlsplit(address)
        except ValueError:
            raise DocumentError("this is no address") from None
        if parts.scheme or parts.netloc:
            raise DocumentError("only files beside the document are read, nothing is fetched")
        return self._path(unquote(parts.path))

    def _path(self, relative: str) -> bytes:
        try:
            # Resolving follows `..` and links, so that one check detects every path out of the folder.
            path = (self._folder / relative).resolve()
            if not path.is_relative_to(self._folder.resolve()):
                raise DocumentError("it lies outside the document's folder")
            self.files[relative] = None
            if not path.is_file():
                raise DocumentError("there is no such file")
            if path.stat().st_size > MAX_MEGABYTES * 10**6:
                raise DocumentError(f"it is larger than {MAX_MEGABYTES} MB")
            data = path.read_bytes()
        except PermissionError as error:
            raise DocumentError("it may not be read; allow reading it, and add the document again") from error
        except (OSError, ValueError, RuntimeError) as error:  # for example a NUL in its name, or circular links
            raise DocumentError(f"it cannot be read ({getattr(error, 'strerror', None) or error})") from error
        self.files[relative] = hashlib.sha256(data).hexdigest()
        return data


def addresses_of(attributes: Mapping[str, str]) -> list[str]:
    """The possible addresses of an `img` of HTML: pages with lazy loading have a placeholder in `src`."""
    addresses = [attributes.get(name, "") for name in ("data-src", "data-original", "data-lazy-src", "src")]
    source_sets = [attributes.get(name, "").partition(",")[0].split() for name in ("data-srcset", "srcset")]
    return [address for address in (*addresses, *(words[0] for words in source_sets if words)) if address]


def file_hash(path: Path) -> str | None:
    """SHA-256 of a file that a document shows, in hexadecimal; None if it cannot be read."""
    try:
        # Neither a pipe, which would block for ever, nor a file that is too large to be shown.
        if path.is_file() and path.stat().st_size <= MAX_MEGABYTES * 10**6:
            return file_sha256(path)
    except (OSError, ValueError):
        pass
    return None


def _inline(address: str) -> bytes:
    """The bytes of a `data:` address (RFC 2397)."""
    try:
        return from_data_url(address, megabytes=MAX_MEGABYTES)
    except UnfitPicture as error:
        raise DocumentError(f"it {error}") from None
