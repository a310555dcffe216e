"""The pictures of a dataset, read from the folder that the user names; missing ones are found before any question."""

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from quoteweave.collection.arrays import np
from quoteweave.core.errors import DamagedDocument, DatasetError, UsageError
from quoteweave.core.examples import Example
from quoteweave.core.files.pictures import encode_picture, load_pixels, open_picture
from quoteweave.core.messages import pluralize
from quoteweave.core.records import Quote
from quoteweave.documents.parser import read_crop
from quoteweave.documents.sources.ocr import RapidOcr

if TYPE_CHECKING:
    from PIL import Image

_PITCH, _LINE, _MARGINS = 31, 20, 8  # in pixels: distance of lines, height of a line, margins around a caption
_FIRST_LINE, _LAST_LINE = 17, 22  # distances from a table's top and a figure's bottom
_LEFT_MARGINS = range(12, 17)
_DARK_BELOW = 140


def pictures_in(folder: Path | None) -> Callable[[str], bytes] | None:
    """Return a reader of the folder's pictures, confined to it; None for None. Raises UsageError without a folder."""
    if folder is None:
        return None
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder")
    root = folder.resolve()
    return lambda name: _path_in(root, name).read_bytes()


def _path_in(root: Path, name: str) -> Path:
    """The path of a picture in a folder, itself resolved. Raises FileNotFoundError for one outside it."""
    path = (root / name).resolve()
    if not path.is_relative_to(root):
        raise FileNotFoundError(name)
    return path


class DatasetOcr:
    """Reads a dataset's pictures by OCR, each once; implements `core.protocols.OcrTextProvider`, for any thread.

    `note` gets a line when the first picture is read. Raises UsageError without a folder.
    """

    name = f"rapidocr {version('rapidocr')}"

    def __init__(self, folder: Path, note: Callable[[str], None]) -> None:
        pictures_in(folder)
        self._root = folder.resolve()
        self._note = note
        self._ocr = RapidOcr()
        self._texts: dict[str, str] = {}
        self._announced = False
        self._reading = Lock()

    def ocr_text(self, quote: Quote, *, read: bool = True) -> str | None:
        """The text that OCR reads on an image quote's picture. Raises DocumentError, naming what is no picture."""
        if quote.ocr_text is not None or quote.image is None:
            return quote.ocr_text
        with self._reading:
            if read and not self._announced:
                self._announced = True
                self._note("reading the dataset's pictures by OCR, each once, as their words are not in its file")
            if quote.image not in self._texts and read:
                try:
                    path = _path_in(self._root, quote.image)
                except (OSError, ValueError) as error:  # outside the folder, or no valid file name
                    raise DamagedDocument(f"{quote.image!r} is no picture in {self._root}") from error
                self._texts[quote.image] = read_crop(path, self._ocr)
            return self._texts.get(quote.image)


def ocr_of_pictures(examples: Sequence[Example], folder: Path | None, note: Callable[[str], None]) -> DatasetOcr | None:
    """Return the OCR of the questions' pictures in a folder; None without one, or if all their words are known.

    Raises UsageError if there is no such folder.
    """
    contexts = (example.context for example in examples if example.context is not None)
    unread = any(hit.quote.ocr_text is None for context in contexts for hit in context.images)
    return DatasetOcr(folder, note) if folder is not None and unread else None


def without_captions(read_picture: Callable[[str], bytes], examples: Sequence[Example]) -> Callable[[str], bytes]:
    """Return a reader of MCiteBench's pictures as PNG, without the captions that are printed in them.

    The authors set captions in lines of `_PITCH` pixels from a margin of `_LEFT_MARGINS`, above tables and below
    figures, in a strip of `_MARGINS` pixels and those of its lines; measured on the seven pictures of their repository
    (caiyuhu/MCiteBench at d9d41d3, data/). The reader raises DatasetError for a picture that has no such strip.
    """
    images = [hit.quote for example in examples for hit in (example.context.images if example.context else ())]
    tables = {quote.image for quote in images if quote.layout == "table"}

    def read_without(name: str) -> bytes:
        with open_picture(read_picture(name)) as image:
            load_pixels(image)
            height = caption_height(image, above=name in tables)
            if height == 0:
                raise DatasetError(
                    f"{name} has no caption printed in it as MCiteBench's pictures have, so that none can be "
                    "cut off; remove 'captions = false'"
                )
            top, bottom = (height, image.height) if name in tables else (0, image.height - height)
            return encode_picture(image.crop((0, top, image.width, bottom)), "PNG")

    return read_without


def caption_height(image: "Image.Image", *, above: bool) -> int:
    """Return the height in pixels of the strip with the caption, `above` the picture or below it; 0 without one."""
    dark = np.asarray(image.convert("L")) < _DARK_BELOW
    lines = 0
    while True:
        top = _FIRST_LINE + _PITCH * lines if above else image.height - _LAST_LINE - _PITCH * lines
        line = dark[max(0, top - 2) : top + _LINE]
        left_edge = int(np.argmax(line.any(axis=0))) if line.any() else -1
        if top < 0 or left_edge not in _LEFT_MARGINS:
            return _MARGINS + _PITCH * lines if lines else 0
        lines += 1


def missing_pictures(examples: Sequence[Example], folder: Path) -> dict[str, tuple[str, ...]]:
    """Map the ids of questions that lack some of their own pictures to the names of these pictures.

    Raises UsageError without a folder.
    """
    pictures_in(folder)
    missing_by_example = {
        example.id: tuple(
            hit.quote.image
            for hit in (example.context.images if example.context else ())
            if hit.quote.image is not None and not (folder / hit.quote.image).is_file()
        )
        for example in examples
    }
    return {name: missing for name, missing in missing_by_example.items() if missing}


def missing_pictures_error(missing: Mapping[str, Sequence[str]], folder: Path, advice: str = "") -> DatasetError:
    """The error that names a picture and its question, and counts the others."""
    question, (first, *_) = next(iter(missing.items()))
    count = pluralize(sum(map(len, missing.values())), "picture is", "pictures are")
    return DatasetError(
        f"{count} not in {folder}, of {pluralize(len(missing), 'question')}: such as {first} of question {question!r}; "
        f"name the folder in which this path begins{advice}"
    )
