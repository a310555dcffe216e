"""The answer, its parts and its events: the context given to the generator, blocks of text and images, citations.

An answer streams as events: text as it arrives, a citation as soon as its mark is complete, and last the answer. An
image that the answer shows follows the citation of its mark. The texts concatenated are `Answer.text`, and the
citations are its citations, in order. Only the gate's verdict on a citation comes later, with the answer, because the
sentence is not complete before. A mark is never split, and never withdrawn.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from quoteweave.core.boxes import Box
from quoteweave.core.place_names import PlaceName
from quoteweave.core.records import Hit, Kind, Quote, Record, Rotation, mark_name, place_of


class ContextSize(Record):
    """A number of quotes of each kind.

    >>> C20 == ContextSize(texts=12, images=8)
    True
    """

    texts: int = Field(ge=0, description="text quotes at most")
    images: int = Field(ge=0, description="image quotes at most")


TOP_10 = ContextSize(texts=7, images=3)
C15 = ContextSize(texts=10, images=5)
C20 = ContextSize(texts=12, images=8)
CONTEXT_SIZES: Mapping[str, ContextSize] = MappingProxyType({"c15": C15, "c20": C20})
"""The context sizes that are used for measuring (MMDocRAG, arXiv 2505.16470, section 4.1), by name."""


StructureKind = Literal["page", "chapter", "section", "appendix", "heading", "figure", "chart", "table"]
"""Kinds of elements that a document has several of. A heading is that of a chapter or section, numbered or not."""


class StructureRequest(Record):
    """What a question asks of a document's structure."""

    kinds: tuple[StructureKind, ...] = Field(description="of what, in the order of `StructureKind`")
    wants: Literal["count", "names", "title"] = Field(
        description="how many there are, what they are called, or the heading of the one part that is its place"
    )
    places: tuple[PlaceName, ...] = Field(default=(), description="the pages or sections within which; none for all")
    naming_words: tuple[str, ...] = Field(default=(), description="stems of words that must name the document")
    heading_words: tuple[str, ...] = Field(default=(), description="stems of all words of the one heading asked for")
    says_document: bool = Field(
        default=False, description="whether it says that it is about the document: by such a word, or by a place in one"
    )


class StructureElement(Record):
    """One part of a document, such as a heading or a figure."""

    name: str = Field(default="", description="its heading, or its caption; empty for a picture without a caption")
    label: PlaceName | None = Field(default=None, description="its name, where it has a number")
    page_label: str
    page: int | None = Field(default=None, ge=0, description="from 0; None in records of before it was kept")
    kind: Kind | None = Field(default=None, description="of the quote of the context that shows it, if there is one")
    number: int | None = Field(default=None, ge=1, description="place of that quote in the context, from 1")


class StructureCount(Record):
    """The parts of one kind that were found in a document, and how they are known."""

    kind: StructureKind
    basis: Literal["pages", "captions", "numbers", "outline", "parser"] = Field(
        description="pages of the file; numbered captions; numbered headings; bookmarks or the table of contents; or, "
        "with no such sign, what the parser took for one"
    )
    count: int = Field(ge=0)
    elements: tuple[StructureElement, ...] = Field(description="in reading order; of pages the last one alone")
    unnumbered: tuple[StructureElement, ...] = Field(
        default=(), description="further pictures or tables that the parser found, without a numbered caption"
    )


class DocumentStructure(Record):
    """What a question asked of a document's structure, and what was found."""

    document: str
    pages: int = Field(ge=0, description="how many the document has")
    pages_within: int = Field(ge=0, description="how many of them the question is about")
    limits: tuple[str, str] | None = Field(default=None, description="the first and last page of a filter, as called")
    request: StructureRequest
    counts: tuple[StructureCount, ...] = Field(description="one for each kind that was asked for")


class Context(Record):
    """The quotes given to the generator. `[i]` is the i-th text quote, `imagej` the j-th image quote, both from 1.

    >>> search = Search(LexicalRetriever(collection))
    >>> context = asyncio.run(search.context(Query(text="timber"), ContextSize(texts=1, images=1))).context
    >>> context.quote("text", 1).text, context.quote("image", 1)
    ('Timber went by rail.', None)
    """

    texts: tuple[Hit, ...] = Field(default=(), description="text quotes, in the order of their numbers")
    images: tuple[Hit, ...] = Field(default=(), description="image quotes, likewise")
    rarity: Mapping[str, float] = Field(
        default_factory=dict, description="how rare each word of the question is: 0 to 1, on no page; or empty"
    )
    variety: float | None = Field(default=None, description="different words searched: 0 none, near 0 few, 1 many")
    places: tuple[str, ...] = Field(default=(), description="places that the question names and documents have")
    spellings: Mapping[str, tuple[str, ...]] = Field(default_factory=dict, description="how texts write what is asked")
    synonyms: Mapping[str, tuple[str, ...]] = Field(default_factory=dict, description="synonyms of words on no page")
    introduced: Mapping[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="by the id of a text that ends with a colon, as 'To install it, run:', or of a heading that is the "
        "question, the ids of the quotes that it introduces, which are in the context as far as its size allows",
    )
    sentence_ends: Mapping[str, str] = Field(
        default_factory=dict, description="by the id of a text whose last sentence the next text finishes, its end"
    )
    cut_sections: tuple[str, ...] = Field(default=(), description="ids of texts whose section has further steps")
    titles: Mapping[str, str] = Field(default_factory=dict, description="by document, the heading on its first page")
    front_matter: Mapping[str, tuple[str, ...]] = Field(
        default_factory=dict, description="for a question who wrote a document: the lines of quotes above its text"
    )
    structure: DocumentStructure | None = Field(default=None, description="what a document consists of, where asked")
    further: tuple[Hit, ...] = Field(default=(), exclude=True, description="best hits of documents without hits above")

    @property
    def hits(self) -> tuple[Hit, ...]:
        """All hits: those of text quotes, then those of image quotes."""
        return (*self.texts, *self.images)

    def quote(self, kind: Kind, number: int) -> Quote | None:
        """Return the quote that a mark with this number refers to, or None if the context has no such quote."""
        hits = self.texts if kind == "text" else self.images
        return hits[number - 1].quote if 1 <= number <= len(hits) else None


Verdict = Literal["supported", "unsupported", "unchecked"]
EvidencePrecision = Literal["words", "element"]
"""How precisely the support for a claim is located: words of the quote, or only the whole layout element."""


class Span(Record):
    """Words of a quote that support the claim citing it."""

    start: int = Field(ge=0, description="first character in `Citation.quoted`")
    end: int = Field(ge=0, description="one past its last character")
    boxes: tuple[Box, ...] = Field(
        default=(), description="on the page, in points from its top left: one for each line, or part of one"
    )
    estimated: bool = Field(default=False, description="whether OCR placed these words, to about a letter")


class Region(Record):
    """A place of a citation's evidence: an element, or another place where a sentence of the element begins or ends.

    Pages are as people see them: rotated, and cut to their crop box. To place a highlight in a viewer,
    multiply the fractions by the width and height at which it shows the page.
    """

    page: int = Field(ge=0, description="from 0")
    page_label: str
    page_size: tuple[float, float] = Field(description="width and height of the page as shown, in points")
    rotation: Rotation | None = Field(
        default=None, description="degrees by which the file turns the page, applied already; None where not known"
    )
    bbox: Box = Field(description="the element, in points from the top left of the page")
    bbox_fraction: Box = Field(description="the same as fractions of the page's width and height, from 0 to 1")
    words: tuple[Box, ...] = Field(default=(), description="of the words that support the claim, in points")
    words_fraction: tuple[Box, ...] = Field(default=(), description="the same as fractions of the page")
    estimated: bool = Field(default=False, description="whether OCR placed these words, to about a letter")


class Citation(Record):
    """One mark of an answer, resolved to its quote. A mark such as `[1, 2]` gives one citation for each number.

    >>> answer = Rag(LexicalRetriever(collection), ExtractiveGenerator()).answer("How much grain was shipped?")
    >>> [(citation.mark, citation.document, citation.place) for citation in answer.citations]
    [('[1]', 'port.md', 'Freight in May')]
    """

    mark: str = Field(description="as written, e.g. '[3]', '[1, 2]' or '![sales by year](image2)'")
    start: int = Field(ge=0, description="first character of the mark in the answer's text")
    end: int = Field(ge=0, description="one past its last character")
    kind: Kind = Field(description="whether the quote is a text or an image")
    number: int = Field(ge=1, description="place of the quote in the context, from 1")
    quote_id: str = Field(description="the quote's id in the collection")
    document: str = Field(description="the document's name")
    page: int = Field(ge=0, description="from 0")
    page_label: str = Field(description="what people call the page")
    bbox: Box = Field(description="points from the top left of the page")
    section: str | None = Field(default=None, description="the title above the quote, as `Quote.heading`")
    has_pages: bool = Field(default=True, description="whether its document has pages; else those here are virtual")
    has_picture: bool = Field(default=True, description="whether the quote can be seen: on a page, or as a stored crop")
    verdict: Verdict | None = Field(default=None, description="the gate's verdict; None where nothing was checked")
    reason: str | None = Field(default=None, description="why the verdict is not `supported`, in a sentence")
    only_words_differ: bool = Field(default=False, description="whether other or missing words alone were found")
    checker_verdict: bool | None = Field(
        default=None,
        description="whether the checker, a model, finds the sentence supported; None if it was not asked or gave none",
    )
    quoted: str | None = Field(default=None, description="the quote's words; None where evidence was not looked for")
    page_size: tuple[float, float] | None = Field(default=None, description="width and height of its page, in points")
    evidence: EvidencePrecision | None = Field(
        default=None, description="how precisely the support is located; None where not looked for"
    )
    spans: tuple[Span, ...] = Field(default=(), description="which words support the claim, where that is sure")
    regions: tuple[Region, ...] = Field(default=(), description="where the evidence stands; empty without pages")
    url: str | None = Field(default=None, description="where a server shows the quote on its page")
    image_url: str | None = Field(default=None, description="where a server shows the picture of an image quote")

    @property
    def name(self) -> str:
        """How answers refer to the quote, whatever else its mark says: `[3]`, or `image2`."""
        return mark_name(self.kind, self.number)

    @property
    def place(self) -> str:
        """The quote's place in its document as a person would say it; see `Quote.place`."""
        return place_of(self.page_label, self.page, self.section, has_pages=self.has_pages)


class UnresolvedMark(Record):
    """A mark that refers to no quote of the context."""

    mark: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    kind: Kind
    number: int = Field(ge=0)


class TextBlock(Record):
    """A piece of text with its marks in place."""

    type: Literal["text"] = "text"
    text: str
    citations: tuple[Citation, ...] = Field(default=(), description="spans index the answer's whole text")


class ImageBlock(Record):
    """An image quote shown in the answer."""

    type: Literal["image"] = "image"
    summary: str = Field(description="what the answer says of the image; its alternative text")
    image: str | None = Field(description="the stored crop, relative to the collection's images folder")
    citation: Citation = Field(description="of the mark that shows it")


AnswerBlock = Annotated[TextBlock | ImageBlock, Field(discriminator="type")]
"""A part of an answer: a piece of its text, or an image that one of its marks shows.

Code that shows an answer reads `Answer.text` with its marks. The answer page, Word documents and MCP's tools look in
the blocks for the images to show, and would ignore any other type of block until they are changed. `interchange.quotes`
gives a block's citation an address, and clients read its event.
"""


EXTRACTIVE = "extractive"
"""`Answer.model` of answers in the documents' own sentences, which no model wrote."""

AnswerStatus = Literal["answered", "located", "abstained"]
"""`located`: no sentence answers the question, but relevant places in the documents are shown and cited."""


class Usage(Record):
    """Tokens used by model calls; None where the endpoint does not report them."""

    input_tokens: int | None = None
    output_tokens: int | None = None

    def plus(self, other: "Usage") -> "Usage":
        """The tokens of both; None where they are not known for one of them.

        >>> Usage(input_tokens=40, output_tokens=5).plus(Usage(input_tokens=2))
        Usage(input_tokens=42, output_tokens=None)
        """
        return Usage(
            input_tokens=_sum(self.input_tokens, other.input_tokens),
            output_tokens=_sum(self.output_tokens, other.output_tokens),
        )


NO_TOKENS = Usage(input_tokens=0, output_tokens=0)
"""The usage if no model is called."""


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


class Answer(Record):
    """A cited answer. `text` is the whole answer with its marks; `blocks` is the same, split where images are shown.

    >>> answer = Rag(LexicalRetriever(collection), ExtractiveGenerator()).answer("Who won the world cup?")
    >>> answer.status, answer.citations
    ('abstained', ())
    """

    question: str = Field(description="as asked")
    status: AnswerStatus = Field(description="whether it answers, shows places that bear on the question, or neither")
    text: str = Field(description="the whole answer with its marks")
    blocks: tuple[AnswerBlock, ...] = Field(description="the text, cut where images stand")
    citations: tuple[Citation, ...] = Field(default=(), description="every citation, in the order of the text")
    unresolved: tuple[UnresolvedMark, ...] = Field(default=(), description="marks that name no quote; spans index raw")
    raw: str | None = Field(default=None, description="what was written, where marks were taken out of it; else None")
    model: str = Field(description="'extractive', or the model's name")
    usage: Usage = Field(default=Usage(), description="tokens of all its model calls, for search and checks too")
    price_usd: float | None = Field(default=None, ge=0, description="of these tokens; None where it is not known")
    seconds: float = Field(ge=0, description="from question to answer, retrieval included")
    warnings: tuple[str, ...] = Field(default=(), description="what the reader has to know, a sentence each")

    @property
    def is_extractive(self) -> bool:
        """Whether it consists of the documents' own sentences, and no model wrote it."""
        return self.model == EXTRACTIVE

    @model_validator(mode="after")
    def _spans_index_the_text(self) -> Self:
        for citation in self.citations:
            if self.text[citation.start : citation.end] != citation.mark:
                raise ValueError(f"citation {citation.mark!r} is not at {citation.start}:{citation.end} of the text")
        return self


class ThoughtEvent(Record):
    """Part of the model's reasoning; not part of the answer."""

    type: Literal["thought"] = "thought"
    text: str = Field(description="what comes next of it")


class TextEvent(Record):
    """The next text of the answer, or a whole mark."""

    type: Literal["text"] = "text"
    text: str = Field(description="what comes next; a mark is never cut")


class CitationEvent(Record):
    """A citation of the mark that was sent last; its offsets index the answer's text."""

    type: Literal["citation"] = "citation"
    citation: Citation = Field(description="of the mark that was sent last")


class ImageEvent(ImageBlock):
    """An image that the answer shows in place of the mark that was sent last."""


class AnswerEvent(Record):
    """The complete, checked answer; always the last event."""

    type: Literal["answer"] = "answer"
    answer: Answer = Field(description="the whole answer")


Event = ThoughtEvent | TextEvent | CitationEvent | AnswerEvent
"""What a generator sends; `Rag.stream` adds the sources and an `ImageEvent` after each image's citation."""


def replay_events(answer: Answer) -> Iterator[Event]:
    """Yield the events of an answer that is already complete."""
    at = 0
    for position, citation in enumerate(answer.citations):
        if citation.start > at:
            yield TextEvent(text=answer.text[at : citation.start])
        if not position or answer.citations[position - 1].start != citation.start:
            yield TextEvent(text=citation.mark)
        yield CitationEvent(citation=citation)
        at = citation.end
    if at < len(answer.text):
        yield TextEvent(text=answer.text[at:])
    yield AnswerEvent(answer=answer)
