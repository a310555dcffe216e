"""Pictures that people see: rendered pages, crops of quotes, and pages with a quote's box drawn."""

from collections.abc import Sequence

from pydantic import Field

from quoteweave.collection.arrays import np
from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Answer
from quoteweave.core.boxes import Box
from quoteweave.core.errors import CollectionError, DocumentError
from quoteweave.core.records import Document, Page, Quote, Record
from quoteweave.documents.formats import Format
from quoteweave.documents.layout.page import encode_image
from quoteweave.documents.parser import PAGED_FORMATS, draw_within_limits, render_document_page
from quoteweave.documents.sources.raw_page import Pixels, Raster

# The colour of a box drawn on a page, and its line width in pixels.
MARK = (217, 72, 15)
LINE = 3
# The colour of words that support a claim.
FILL = (255, 214, 102)
# The margin around a quote that is cut out of its page, in points.
MARGIN = 2.0


def page_picture(collection: Collection, document: str, page: int, *, password: str | None = None) -> Raster | None:
    """Render a page; None for documents that have no pages of their own, such as Markdown.

    Raises UsageError for an unknown document, DocumentError if its file cannot be drawn.
    """
    stored = collection.document(document)
    if stored.format not in set(Format):  # imported without its file
        return None
    draw = draw_within_limits if _is_untried(collection, stored, page) else render_document_page
    return draw(collection.source_file(document), Format(stored.format), page, password)


def _is_untried(collection: Collection, document: Document, page: int) -> bool:
    """Whether drawing a page may crash this process or exhaust its memory, as it was never read within the limits.

    This holds for pages that another tool has read, and for pages without any quote. (A scan that OCR has not read has
    an image quote.)
    """
    if page >= document.pages:
        return False
    source = collection.page(document.name, page).text_source
    is_bare = source == "none" and not collection.page_quotes(document.name, page)
    return is_bare or (source == "file" and Format(document.format) in PAGED_FORMATS)


def crop(collection: Collection, quote: Quote, *, password: str | None = None) -> bytes | None:
    """Return a quote's crop as an image file's bytes; None where its document has no pictures of pages.

    Raises CollectionError where its stored crop is missing or damaged.
    """
    if quote.image is not None:
        return stored_crop(collection, quote)
    picture = page_picture(collection, quote.document, quote.page, password=password)
    return None if picture is None else encode_image(cut_out(picture, quote))


def cut_out(picture: Raster, quote: Quote) -> Pixels:
    """Cut the pixels of a quote out of the picture of its page."""
    return picture.cut(quote.bbox, margin=MARGIN)


def marked_page(
    collection: Collection, quote: Quote, words: Sequence[Box] = (), *, password: str | None = None
) -> bytes | None:
    """Render the quote's page with its box drawn, and the boxes of `words` filled, as PNG.

    None where its document has no pictures of pages.
    """
    picture = page_picture(collection, quote.document, quote.page, password=password)
    return None if picture is None else encode_image(outlined(picture, quote.bbox, words).pixels)


def outlined(picture: Raster, box: Box, words: Sequence[Box] = ()) -> Raster:
    """Return the picture of a page with a box drawn, and the boxes of `words` filled."""
    from PIL import Image, ImageChops, ImageDraw

    image = Image.fromarray(picture.pixels)
    if words:
        fill = Image.new("RGB", image.size, "white")
        for word in words:
            ImageDraw.Draw(fill).rectangle(tuple(edge * picture.scale for edge in word), fill=FILL)
        image = ImageChops.multiply(image.convert("RGB"), fill)
    x1, y1, x2, y2 = (edge * picture.scale for edge in box)
    ImageDraw.Draw(image).rectangle((x1 - LINE, y1 - LINE, x2 + LINE, y2 + LINE), outline=MARK, width=LINE)
    return Raster(np.asarray(image), picture.scale)


class PagePicture(Record):
    """A page as it is shown beside an answer."""

    document: str = Field(description="name of the document in its collection")
    page: Page
    image: bytes | None = Field(default=None, description="PNG, JPEG or WebP of the page as shown; None shows its text")
    quotes: tuple[Quote, ...] = Field(default=(), description="all quotes of the page in reading order")


def cited_pages(collection: Collection, answer: Answer) -> tuple[list[PagePicture], list[str]]:
    """Return the pages that an answer cites, in the order of its citations, for `render_answers`.

    Pages on which a cited sentence continues are included. Also returns a sentence for each document whose file is
    missing or damaged, and whose pages are therefore shown as text.
    """
    places = dict.fromkeys(
        (citation.document, page)
        for citation in answer.citations
        for page in (citation.page, *(region.page for region in citation.regions))
    )
    notes: list[str] = []
    pages = [_page_view(collection, document, page, notes) for document, page in places]
    return pages, list(dict.fromkeys(notes))


def _page_view(collection: Collection, document: str, page: int, notes: list[str]) -> PagePicture:
    picture = None
    try:
        picture = page_picture(collection, document, page)
    except DocumentError:  # encrypted, for instance: the page is then shown as its text
        pass
    except CollectionError as error:
        notes.append(str(error))
    image = None if picture is None else encode_image(picture.pixels, lossy=True)
    record, quotes = collection.page(document, page), collection.page_quotes(document, page)
    return PagePicture(document=document, page=record, image=image, quotes=tuple(quotes))


def stored_crops(collection: Collection, quotes: Sequence[Quote]) -> tuple[dict[str, bytes], list[str]]:
    """Return the bytes of stored crops by key, and a sentence on each that is missing or damaged."""
    crops: dict[str, bytes] = {}
    notes: dict[str, str] = {}
    for quote in quotes:
        if quote.image is not None and quote.image not in {*crops, *notes}:
            try:
                crops[quote.image] = stored_crop(collection, quote)
            except CollectionError as error:
                notes[quote.image] = str(error)
    return crops, list(notes.values())


def stored_crop(collection: Collection, quote: Quote) -> bytes:
    """Read and verify a quote's stored crop. Raises CollectionError where it is missing or damaged."""
    if quote.image is None:
        raise ValueError(f"quote {quote.id} has no stored crop")
    try:
        return collection.images.read(quote.image)
    except CollectionError as error:
        raise CollectionError(
            f"the picture of quote {quote.id} of {quote.document!r} cannot be shown: {error}"
        ) from error
