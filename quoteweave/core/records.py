"""The core records: documents, pages and quotes; queries and hits.

Records are frozen. Boxes are in points from the top left of the page as it is shown (rotation and crop applied);
pages count from 0; `page_label` is the label printed on the page if there is one, else page + 1.
The answer's records are in `core.answers`, those of datasets and runs in `core.examples`.
"""

import inspect
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple, Self, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from quoteweave.core.boxes import Box
from quoteweave.core.messages import shorten_to_line
from quoteweave.core.text.packed_words import pack_words, unpack_words

Kind = Literal["text", "image"]
ImageLayout = Literal["figure", "chart", "table", "page"]
Layout = Literal["title", "paragraph", "list", "caption", "equation", "header", "footer", ImageLayout]
View = Literal["text", "ocr_text", "vlm_text", "image", "mixed"]
"""`mixed` shows text quotes as words, and image quotes as their crops."""
TextSource = Literal["text_layer", "ocr", "file", "none"]
Rotation = Literal[0, 90, 180, 270]
"""Degrees clockwise by which a file turns a page to show it."""

MAX_PLACE_CHARACTERS = 120
"""Most characters of a heading that is used as the name of a place."""
UNKNOWN_LABEL = "?"
"""The label of a page if a dataset does not say which page it is."""

IMAGE_LAYOUTS: frozenset[Layout] = frozenset(get_args(ImageLayout))
BODY_LAYOUTS: frozenset[Layout] = frozenset({"paragraph", "list"})
"""The layouts of running text."""
HEADERS_AND_FOOTERS: frozenset[Layout] = frozenset({"header", "footer"})
WITHOUT_STATEMENTS: frozenset[Layout] = frozenset({"title", "caption", "equation", *HEADERS_AND_FOOTERS})
"""The layouts whose text makes no statement in a sentence; at most it says what a term means."""
ENDS_OF_INTRODUCED: frozenset[Layout] = frozenset({"title", "page"})
"""The layouts that end what an element before them has introduced ("To install it, run:")."""
MAY_INTERRUPT_INTRODUCED: frozenset[Layout] = frozenset({"caption", "figure", "chart"})
"""The layouts that may come between an element and what it introduces: the caption of a listing is above the listing,
and a figure may be at the top of the page on which a list continues."""
STATEMENT_WEIGHTS: Mapping[Layout, float] = MappingProxyType(
    {"title": 0.5, "equation": 0.5, "caption": 0.8, "page": 0.7}
)
"""Factors for the scores of statements in elements of these layouts; 1 for the others."""


MAX_PAGE = 1_000_000_000
"""The highest page number that may be asked for; no document has so many pages."""


def mark_name(kind: Kind, number: int) -> str:
    """How answers and prompts refer to a quote by its number in the context: `[1]`, or `image2`."""
    return f"[{number}]" if kind == "text" else f"image{number}"


class Record(BaseModel):
    """Base of all records: they are frozen, refuse unknown fields, and `help()` shows what their fields mean."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def __pydantic_init_subclass__(cls, **_: object) -> None:
        description = inspect.cleandoc(cls.__doc__ or "")
        extra = cls.model_config.get("json_schema_extra")
        if description and not callable(extra):  # JSON schemas describe each field themselves
            cls.model_config = {**cls.model_config, "json_schema_extra": {**(extra or {}), "description": description}}
        fields = [f"{name}: {field.description}" for name, field in cls.model_fields.items() if field.description]
        listed = ["Fields:", *(f"    {line}" for line in fields)] if fields else []
        parts = [description, "", *listed] if description and listed else [description, *listed]
        cls.__doc__ = "\n".join(parts).strip("\n")


class Page(Record):
    """One page of a document.

    >>> [(page.number, page.label) for page in collection.pages("port.md")]
    [(0, '1')]
    """

    number: int = Field(ge=0, description="from 0")
    label: str = Field(description="the label printed on the page where there is one, else number + 1")
    width: float = Field(gt=0, description="points, as shown")
    height: float = Field(gt=0, description="points, as shown")
    text_source: TextSource = Field(description="where the page's text came from")
    headings: tuple[str, ...] = Field(
        default=(), description="titles of the document's outline under which the page stands, outermost first"
    )
    rotation: Rotation | None = Field(
        default=None,
        description="degrees clockwise by which the file turns the page to show it; sizes and boxes are of the turned "
        "page; None where it is not known",
    )


class PageWord(NamedTuple):
    """A word with its position on the page: text between spaces, so that a line of Chinese is one word.

    The box of a word read by OCR is an estimate, accurate to about a letter: OCR finds lines, in which words are then
    placed. A word is a tuple because a page has a thousand of them: models or dataclasses would take most of the time
    of reading it.
    """

    text: str
    """The text as in quotes: ligatures resolved, but a hyphen at the end of a line kept."""
    bbox: Box
    """Points from the top left of the page, rounded to a quarter of a point."""
    line: int
    """Number of its line on the page, from 0."""
    ocr: bool = False
    """Whether OCR read it; its box is then an estimate."""


class PageWords(Record):
    """The words of one page, packed into some 30 bytes per word, because a long document has a million of them.

    `words` are in reading order, and the words of a line follow each other. On a page with a text layer, words that OCR
    read on a picture follow the text layer's words there, and may repeat them.
    """

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    page: int = Field(ge=0, description="from 0")
    packed: bytes = Field(description="as `core.text.packed_words` packs them")

    @classmethod
    def of(cls, page: int, words: Iterable[PageWord]) -> Self:
        """Pack the words of a page. Raises ValueError for a text with a space and for a box that is not finite."""
        return cls(page=page, packed=pack_words((word.text, word.bbox, word.line, word.ocr) for word in words))

    @property
    def words(self) -> tuple[PageWord, ...]:
        """The words, unpacked each time. Raises ValueError where `packed` is not what `of` made."""
        return tuple(map(PageWord._make, unpack_words(self.packed)))


class Quote(Record):
    """The unit of evidence: a layout element of one page.

    >>> quote = collection.document_quotes("port.md")[1]
    >>> quote.text, quote.kind, quote.layout, quote.place
    ('The harbour shipped 4,210 tonnes of grain in May.', 'text', 'paragraph', 'Freight in May')
    """

    id: str = Field(description="<document id>:<page>:<ordinal>")
    document: str = Field(description="name of the document in its collection")
    page: int = Field(ge=0, description="from 0")
    page_label: str = Field(description="as people call the page")
    bbox: Box = Field(description="points from the top left of the page; empty where a dataset does not say")
    kind: Kind = Field(description="whether it is shown as text or as an image")
    layout: Layout = Field(description="what sort of element it is")
    layout_id: int | None = Field(default=None, ge=0, description="its number in MMDocIR's layouts, if any")
    section: str | None = Field(default=None, description="the title above the quote")
    caption: str | None = Field(default=None, description="caption of an image quote")
    unit: str | None = Field(
        default=None, description="what stands above a table of all its numbers: '$ in millions'; None for others"
    )
    chapter_unit: str | None = Field(
        default=None,
        description="what is stated of all amounts of its chapter, and where: 'in millions, as page 22 states'",
    )
    text: str = Field(default="", description="text view: the text, or the cells and labels of an image quote")
    ocr_text: str | None = Field(default=None, description="what OCR read on the crop; None where it was not read yet")
    vlm_text: str | None = Field(default=None, description="a vision model's description of the crop, if any")
    image: str | None = Field(default=None, description="stored crop, relative to the collection's images folder")
    has_pages: bool = Field(default=True, description="whether its document has pages; else those here are virtual")

    @property
    def heading(self) -> str | None:
        """The title above the quote; see `heading_of`."""
        return heading_of(self.layout, self.text, self.section, has_pages=self.has_pages)

    @property
    def place(self) -> str:
        """Its place in the document as a person would say it: `page 3`, or the heading if there are no pages."""
        return place_of(self.page_label, self.page, self.heading, has_pages=self.has_pages)

    @property
    def has_picture(self) -> bool:
        """Whether it can be seen: on a page, or as a stored crop. A table of a CSV file has neither."""
        return self.has_pages or self.image is not None

    @property
    def retrievable(self) -> bool:
        """Whether retrievers may return it; headers and footers are kept but never retrieved."""
        return self.layout not in HEADERS_AND_FOOTERS

    def all_text(self) -> str:
        """All text of the quote: caption, unit, text or else OCR text, and the vision model's description."""
        parts = [self.caption, self.unit, self.text, None if self.text else self.ocr_text, self.vlm_text]
        return "\n".join(part for part in parts if part)

    @property
    def caption_and_unit(self) -> str | None:
        """The caption, and on a line of its own the unit of the numbers; None where there is neither."""
        return "\n".join(filter(None, (self.caption, self.unit or self.chapter_unit))) or None

    @property
    def shown_text(self) -> str:
        """All text of the quote with the unit of its chapter, for readers and models; a search has no use for that."""
        return "\n".join(part for part in (self.all_text(), self.chapter_unit and f"({self.chapter_unit})") if part)


def copy_key(quote: Quote) -> str:
    """A key that is equal for quotes with the same text, ignoring line breaks; for a quote without text, its id."""
    return " ".join(quote.all_text().split()) or quote.id


def heading_of(layout: Layout, text: str, section: str | None, *, has_pages: bool) -> str | None:
    """The title above a quote; a title in a document without pages is its own heading."""
    return text if layout == "title" and not has_pages else section


def page_number(page_label: str, page: int | None) -> str:
    """What a page is called: `3`, or `21 (23 in the file)` if the label on it differs from its number in the file.

    `page` counts from 0; None if only the label is to be used.
    """
    if page is None or page_label in (str(page + 1), UNKNOWN_LABEL):
        return page_label
    return f"{page_label} ({page + 1} in the file)"


def place_of(page_label: str, page: int | None, heading: str | None, *, has_pages: bool) -> str:
    """`page 3`, see `page_number`; without pages the heading on one line, 120 characters at most, or `part 3`."""
    if has_pages:
        return f"page {page_number(page_label, page)}"
    return shorten_to_line(heading or "", MAX_PLACE_CHARACTERS) or f"part {page_label}"


class ParsedDocument(Record):
    """A parser's result for one file. Quote ids here are `<page>:<ordinal>`; the catalogue prefixes the document.

    >>> page = Page(number=0, label="1", width=612, height=792, text_source="file")
    >>> ParsedDocument(pages=(page,), quotes=()).warnings
    ()
    """

    pages: tuple[Page, ...] = Field(description="all pages, in their order")
    quotes: tuple[Quote, ...] = Field(description="in reading order, page by page")
    page_words: tuple[PageWords, ...] = Field(
        default=(), description="the words of every page; empty for a file without pages of its own"
    )
    warnings: tuple[str, ...] = Field(default=(), description="what could not be read, one plain sentence each")
    ocr_language: str | None = Field(default=None, description="the language of OCR; None where OCR is off")
    ocr_pages: int = Field(default=0, ge=0, description="pages that were read by OCR")
    ocr_pictures: int = Field(default=0, ge=0, description="pictures on other pages that were read by OCR")
    linked_files: Mapping[str, str | None] = Field(
        default_factory=dict,
        description="SHA-256 of each file that the document embeds, by path relative to it; None for a missing file",
    )


class Document(Record):
    """One source file in a collection.

    >>> document = collection.document("port.md")
    >>> document.format, document.pages, document.quotes
    ('markdown', 1, 3)
    """

    id: str = Field(description="hash of name and content")
    name: str = Field(description="path relative to the folder that was added, with forward slashes")
    content: str = Field(description="SHA-256 of the file")
    format: str = Field(description="pdf, png, markdown…")
    parser: str = Field(description="fingerprint of the parser and its settings")
    pages: int = Field(ge=0, description="how many")
    quotes: int = Field(ge=0, description="how many")
    metadata: Mapping[str, str] = Field(default_factory=dict, description="what the user said of it with --meta")
    warnings: tuple[str, ...] = Field(default=(), description="what was left out of it, and why")
    ocr_language: str | None = Field(
        default=None, description="the language of OCR; None where OCR was off, or another tool parsed the document"
    )
    ocr_pages: int = Field(default=0, ge=0, description="pages that were read by OCR when it was added")
    ocr_pictures: int = Field(default=0, ge=0, description="pictures on other pages that were read by OCR then")
    linked_files: Mapping[str, str | None] = Field(
        default_factory=dict,
        description="SHA-256 of each file that the document embeds, by path relative to it; None for a missing file",
    )


T = TypeVar("T")


def _common(a: tuple[T, ...] | None, b: tuple[T, ...] | None) -> tuple[T, ...] | None:
    if a is None or b is None:
        return b if a is None else a
    return tuple(item for item in a if item in b)


class Filter(Record):
    """Restricts a search. All fields that are given must match; the others do not restrict it.

    It does not control access: what is read without a search, such as a document by its name, uses no filter.

    >>> where = Filter(documents=("port.md",), kind="text").intersect(Filter(first_page=1))
    >>> LexicalRetriever(collection).search([Query(text="timber")], k=1, where=where)
    [[]]
    """

    documents: tuple[str, ...] | None = Field(default=None, description="names of documents, or one name alone")
    first_page: int | None = Field(default=None, ge=0, le=MAX_PAGE, description="from 0, included")
    last_page: int | None = Field(default=None, ge=0, le=MAX_PAGE, description="from 0, included")
    kind: Kind | None = Field(default=None, description="text or image quotes alone")
    layouts: tuple[Layout, ...] | None = Field(default=None, description="quotes with one of these layouts")
    metadata: Mapping[str, str] = Field(default_factory=dict, description="every pair must be the document's")

    @field_validator("documents", "layouts", mode="before")
    @classmethod
    def _as_tuple(cls, value: object) -> object:
        """A single name stands for a tuple of it: `documents="port.md"`."""
        return (value,) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.first_page is not None and self.last_page is not None and self.first_page > self.last_page:
            raise ValueError(f"first_page {self.first_page} lies after last_page {self.last_page}")
        return self

    def admits(self, document: Document) -> bool:
        """Whether a document's name and metadata pass; the filter may still exclude some of its pages and quotes."""
        named = self.documents is None or document.name in self.documents
        return named and self.metadata.items() <= document.metadata.items()

    def of_pages(self) -> Self:
        """The part of the filter that restricts whole pages, without kind and layouts, which restrict single quotes."""
        return self.model_copy(update={"kind": None, "layouts": None})

    def intersect(self, other: Self | None) -> Self:
        """Combine two filters: a quote passes the result if it passes both. `documents` is empty if no quote can."""
        if other is None:
            return self
        first = max((page for page in (self.first_page, other.first_page) if page is not None), default=None)
        last = min((page for page in (self.last_page, other.last_page) if page is not None), default=None)
        metadata = {**self.metadata, **other.metadata}
        nothing = type(self)(documents=())
        if first is not None and last is not None and first > last:
            return nothing
        if {**metadata, **self.metadata} != metadata or (self.kind and other.kind and self.kind != other.kind):
            return nothing
        return type(self)(
            documents=_common(self.documents, other.documents),
            first_page=first,
            last_page=last,
            kind=self.kind or other.kind,
            layouts=_common(self.layouts, other.layouts),
            metadata=metadata,
        )


class Query(Record):
    """A question, or one clause of it.

    >>> Bm25Retriever(collection).search([Query(text="zinc"), Query(text="copper")], k=5)
    [[], []]
    """

    text: str = Field(description="the words of the question")


class Hit(Record):
    """A quote that a retriever returned.

    >>> (hits,) = Bm25Retriever(collection).search([Query(text="timber grain")], k=2)
    >>> [hit.rank for hit in hits], hits[0].score >= hits[1].score
    ([1, 2], True)
    """

    rank: int = Field(ge=1, description="from 1")
    score: float = Field(description="higher is better; comparable within one ranking only")
    quote: Quote = Field(description="the whole quote")


class PageHit(Record):
    """A page, ranked by its quotes."""

    rank: int = Field(ge=1)
    score: float
    document: str
    page: int = Field(ge=0)
