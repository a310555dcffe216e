"""Pictures that visual models read: crops of quotes and whole pages, drawn as `pictures_for_people` draws them."""

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import (
    CollectionError,
    DocumentError,
    EncryptedDocument,
    QuoteNotFound,
    QuoteweaveError,
    StorageError,
    UsageError,
)
from quoteweave.core.records import Document, Filter, Quote
from quoteweave.documents.formats import Format
from quoteweave.documents.parser import PAGED_FORMATS, read_crop
from quoteweave.documents.sources.image_files import open_image_file
from quoteweave.documents.sources.ocr import RapidOcr
from quoteweave.documents.sources.pdf import DPI, open_pdf
from quoteweave.documents.sources.raw_page import Raster
from quoteweave.pipeline.pictures_for_people import MARGIN, cut_out, page_picture

if TYPE_CHECKING:
    from PIL.Image import Image

T = TypeVar("T")
# Part of every key; it has to change when pages are drawn, or quotes cut out, in another way.
DRAWING = f"1, {DPI:g} dpi, margin {MARGIN:g}"


class CollectionPictures:
    """The pictures of one collection; implements `core.protocols.ImageProvider`. Only `ocr_text` is thread-safe.

    Only the last page drawn is kept, so that it is drawn once for consecutive quotes on it. `note` gets a line when OCR
    first reads a crop.
    """

    def __init__(
        self, collection: Collection, *, password: str | None = None, note: Callable[[str], None] = lambda _: None
    ) -> None:
        self._collection = collection
        self._password = password
        self._note = note
        self._announced = False
        self._reading = Lock()
        self._revision = -1
        self._keys: dict[str, str | None] = {}  # by the document's name
        self._drawn: tuple[str, Raster] | None = None

    def crop_key(self, quote: Quote) -> str | None:
        """A key that changes with the crop: the stored crop's key, or a hash of the page's key and the quote's box.

        None if there is neither, as for the text of a Markdown file or a document that was imported without its file.
        Raises UsageError for a document that is not in the collection.
        """
        if quote.image is not None:
            return quote.image
        page = self.page_key(quote.document, quote.page)
        return None if page is None else _hash(page, *map(repr, quote.bbox))

    def crop(self, quote: Quote) -> "Image":
        """The quote's stored crop or, if none was stored, the quote cut out of its page, in RGB.

        Raises DocumentError, which names the quote and the file, for a crop that is missing, damaged or cannot be made.
        """
        from PIL import Image

        if quote.image is None:
            with self._name_source_in_errors(f"quote {quote.id}", quote.document):
                return Image.fromarray(cut_out(self._page(quote.document, quote.page), quote))

        return self._read_from_crop(quote, _drawn)

    def _read_from_crop(self, quote: Quote, read_file: Callable[[Path], T]) -> T:
        """Return what `read_file` makes of a quote's stored crop. Raises DocumentError, which names quote and file."""
        try:
            return read_file(self._collection.images.verified(quote.image or ""))
        except UsageError:
            raise  # a language that OCR does not know is not the crop's fault
        except Exception as error:  # Pillow may raise any kind of error for a damaged file
            reason, remedy = (error.summary, error.remedy) if isinstance(error, QuoteweaveError) else (str(error), None)
            failure = f"the crop of quote {quote.id} of {quote.document!r} cannot be read"
            raise DocumentError(f"{failure}: {reason}", remedy=remedy) from error

    def page_key(self, document: str, page: int) -> str | None:
        """A key that changes with the page's picture; None if the document has no pages of its own.

        Raises UsageError for a document that is not in the collection.
        """
        key = self._document_key(document)
        return None if key is None else _hash(key, str(page))

    def page_image(self, document: str, page: int) -> "Image":
        """A page as people see it, in RGB. Raises DocumentError where it cannot be drawn."""
        from PIL import Image

        with self._name_source_in_errors(f"page {page + 1}", document):
            return Image.fromarray(self._page(document, page).pixels)

    def ocr_text(self, quote: Quote, *, read: bool = True) -> str | None:
        """The text that OCR reads on the crop of an image quote; it is kept in the collection if that can be written.

        None if OCR was off when the quote's document was added, if another tool parsed the document, if the quote has
        no crop, and, without `read`, if the crop was not read before. Any number of threads may call it. Raises
        DocumentError, which names the quote and the file, for a crop that is damaged or missing.
        """
        if quote.ocr_text is not None or quote.image is None:
            return quote.ocr_text
        language = self._collection.document(quote.document).ocr_language
        if language is None:
            return None
        with self._reading:
            text = self._collection.ocr_texts.get(quote.image, language)
            if text is None and read:
                self._announce()
                text = self._read_from_crop(quote, lambda path: read_crop(path, RapidOcr(language)))
                with suppress(StorageError):  # in a read-only collection the crop is read again each time
                    self._keep(quote, quote.image, language, text)
        return text

    def _keep(self, quote: Quote, image: str, language: str, text: str) -> None:
        self._collection.ocr_texts.put(image, language, text)
        try:
            self._collection.quote(quote.id)
        except QuoteNotFound:  # removed meanwhile, so that its text must go, too
            self._collection.ocr_texts.drop(image, language)

    def unread(self) -> list[Quote]:
        """Image quotes of the collection whose crops OCR has not read yet, one for each crop."""
        languages = {document.name: document.ocr_language for document in self._collection.documents()}
        quotes = {
            (quote.image, language): quote
            for quote in self._collection.quotes(Filter(kind="image"))
            if quote.image is not None and quote.ocr_text is None
            if (language := languages.get(quote.document)) is not None
        }
        ocr_texts = self._collection.ocr_texts
        return [quote for (image, language), quote in quotes.items() if ocr_texts.get(image, language) is None]

    def _announce(self) -> None:
        if not self._announced:
            self._announced = True
            self._note("reading pictures by OCR, each once: their words in the text layer are not what is asked for")

    def _page(self, document: str, page: int) -> Raster:
        key = self.page_key(document, page)
        if key is not None and self._drawn is not None and self._drawn[0] == key:
            return self._drawn[1]
        self._drawn = None  # two pages would take twice the memory
        picture = page_picture(self._collection, document, page, password=self._password) if key else None
        if key is None or picture is None:
            raise DocumentError("there is no picture of it, because the collection holds no pages of that document")
        self._drawn = (key, picture)
        return picture

    def _document_key(self, name: str) -> str | None:
        """A key that changes with the pictures of a document's pages; cached until the collection changes."""
        revision = self._collection.revision()
        if revision != self._revision:
            self._keys, self._revision = {}, revision
        if name not in self._keys:
            self._keys[name] = self._content_key(self._collection.document(name))
        return self._keys[name]

    def _content_key(self, document: Document) -> str | None:
        if document.format not in PAGED_FORMATS:
            return None
        # The pages of an encrypted file can be drawn only with its password, so that the key depends on it.
        unlocked = "unlocked" if self._unlocks(document) else ""
        return _hash(DRAWING, document.format, document.content, unlocked)

    def _unlocks(self, document: Document) -> bool:
        if self._password is None or document.format != Format.PDF:
            return False
        return not self._opens(document.name, None) and self._opens(document.name, self._password)

    def _opens(self, name: str, password: str | None) -> bool:
        try:
            with open_pdf(self._collection.source_file(name), password):
                return True
        except EncryptedDocument:
            return False
        except (CollectionError, DocumentError):
            return True  # the file is missing or damaged; drawing it will report that

    @contextmanager
    def _name_source_in_errors(self, picture_name: str, document: str) -> Iterator[None]:
        """Re-raise errors as DocumentError naming the picture; a missing stored file concerns one document only."""
        try:
            yield
        except (CollectionError, DocumentError) as error:
            reason = self._describe_error(error, document)
            raise DocumentError(
                f"{picture_name} of {document!r} cannot be shown: {reason}", remedy=error.remedy
            ) from error

    def _describe_error(self, error: QuoteweaveError, document: str) -> str:
        """Return the error's words without the stored file's internal name and without the document, named already."""
        copy = re.escape(self._collection.document(document).content)
        return re.sub(rf"'{copy}[^']*'", "its file", error.summary).replace(f", the file of {document!r},", "")


def _drawn(path: Path) -> "Image":
    from PIL import Image

    with open_image_file(path) as opened:
        return Image.fromarray(opened.draw(0).pixels)


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
