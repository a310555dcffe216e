"""Arranges answers for the page's template: answers with their sources and verdicts, pages with their boxes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Literal

from pydantic import Field

from quoteweave.core.answers import Answer, Citation, Context, Verdict
from quoteweave.core.boxes import Box, intersection
from quoteweave.core.files.pictures import media_type_of, to_data_url
from quoteweave.core.protocols import Reason
from quoteweave.core.records import Kind, Page, Quote, Record, place_of
from quoteweave.generation.answer_text import clip
from quoteweave.generation.gate.answer_check import cited_claims
from quoteweave.generation.gate.policies import REFUSAL
from quoteweave.pipeline.answer_page.markup import Passage, passages, without_markup
from quoteweave.pipeline.pictures_for_people import PagePicture

VERDICT_WORDS: Mapping[Verdict, str] = {
    "supported": "supported",
    "unsupported": "not supported",
    "unchecked": "not checked",
}
"""The words for each verdict that people read."""
_MAX_SENTENCE_CHARACTERS = 160
_BY_WEIGHT: Sequence[Verdict] = ("unsupported", "supported", "unchecked")


class CitationVerdict(Record):
    """A verdict on a citation, by rule or by a checker."""

    by: str = Field(description="who gave it")
    verdict: Verdict
    reason: str = Field(default="", description="in a sentence, where there is one")

    @property
    def words(self) -> str:
        """The words for the verdict that people read."""
        return VERDICT_WORDS[self.verdict]


class CheckedCitation(Record):
    """A citation with its verdicts."""

    place: int = Field(ge=1, description="among the citations of its answer")
    citation: Citation
    sentence: str = Field(description="that cites it, cut where it is long")
    findings: tuple[CitationVerdict, ...] = Field(description="empty where nobody was asked")

    @property
    def verdict(self) -> Verdict | None:
        """The overall verdict: `unsupported` if any verdict is, else `supported` if any is."""
        verdicts = {finding.verdict for finding in self.findings}
        return next((verdict for verdict in _BY_WEIGHT if verdict in verdicts), None)

    @property
    def words(self) -> str:
        """The words for the verdict that people read; empty if the citation was not checked."""
        return VERDICT_WORDS[self.verdict] if self.verdict else ""


def checked_citations(answer: Answer) -> tuple[CheckedCitation, ...]:
    """Return every citation of the answer with its verdicts, in order."""
    sentences = {citation.start: claim.sentence for claim, citations in cited_claims(answer) for citation in citations}
    return tuple(
        CheckedCitation(
            place=position,
            citation=citation,
            sentence=clip(without_markup(sentences.get(citation.start, "")), _MAX_SENTENCE_CHARACTERS),
            findings=_findings(citation),
        )
        for position, citation in enumerate(answer.citations, start=1)
    )


def tally(citations: Sequence[CheckedCitation]) -> list[tuple[Verdict, int]]:
    """Count the citations by verdict, in a fixed order, without verdicts that no citation has."""
    counts = Counter(citation.verdict for citation in citations)
    return [(verdict, counts[verdict]) for verdict in VERDICT_WORDS if counts[verdict]]


def _findings(citation: Citation) -> tuple[CitationVerdict, ...]:
    verdicts = []
    if citation.verdict is not None:
        verdicts.append(CitationVerdict(by="By rule", verdict=citation.verdict, reason=citation.reason or ""))
    if citation.checker_verdict is not None:
        verdicts.append(
            CitationVerdict(by="By the checker", verdict="supported" if citation.checker_verdict else "unsupported")
        )
    return tuple(verdicts)


class AnswerView(Record):
    """An answer with its context, pages and crops, for rendering."""

    answer: Answer
    context: Context
    pages: tuple[PagePicture, ...] = Field(default=(), description="the pages shown beside it, in order")
    crops: Mapping[str, bytes] = Field(default_factory=dict, description="crops of image quotes by `Quote.image`")
    interpretation: tuple[str, ...] = Field(
        default=(), description="how the question was read, a line each (`Trace.interpretation`)"
    )
    reasons: Mapping[str, tuple[Reason, ...]] = Field(
        default_factory=dict, description="by quote id, why it was found (`Trace.reasons`)"
    )
    titles: Mapping[str, str] = Field(
        default_factory=dict, description="by name, the titles that metadata give to documents cited"
    )


class Wording(Record):
    """The words that a page uses for what it shows."""

    part: str = Field(default="question", description="each of its sections is one of these")
    text: str = Field(default="Answer", description="what stands beside the pages")
    answered: str = "Answered"
    located: str = "Places to look at"
    abstained: str = "Not answered"
    nothing: str = Field(
        default="No answer was found in these documents", description="the heading of what is `abstained`"
    )
    by_title: bool = Field(default=False, description="whether documents are called by their title where it is known")


class Picture(Record):
    """A page's picture, which is in the file once and is used wherever it is needed."""

    id: str
    page: Page
    data: str = Field(description="data URL")


class Source(Record):
    """A quote of the context, as the list of sources and the card of its marks show it."""

    id: str
    kind: Kind
    number: int = Field(ge=1, description="as in the answer's marks")
    quote: Quote
    cited: bool
    target: str = Field(description="id of what its marks lead to: its box, or its entry in the list")
    crop: str | None = Field(description="data URL of the stored crop")
    picture: Picture | None = Field(description="of its page, to cut it out of")
    reasons: tuple[Reason, ...] = Field(default=(), description="why it was found, where that was asked for")

    @property
    def view_box(self) -> str:
        """The part of the page's picture to show, in points: left, top, width and height."""
        x1, y1, x2, y2 = self.quote.bbox
        if self.picture:
            x1, y1, x2, y2 = intersection(
                self.quote.bbox, (0.0, 0.0, self.picture.page.width, self.picture.page.height)
            )
        return f"{x1:.2f} {y1:.2f} {max(x2 - x1, 1):.2f} {max(y2 - y1, 1):.2f}"


class MarkedBox(Record):
    """A cited quote's box on a sheet, in per cent of the page's width and height."""

    source: Source
    left: float
    top: float
    width: float
    height: float

    @property
    def number_place(self) -> Literal["inside", "above", "left", "right"]:
        """Where its number stands without hiding words: in the nearer margin, if the box leaves room for it."""
        if self.width * self.height > 7500:
            return "inside"
        if self.left > 45 and self.left + self.width < 96:
            return "right"
        return "left" if self.left > 4 else "above"


class MarkedWords(Record):
    """A box around words that support what cites a quote, in points."""

    target: str = Field(description="id of the quote's box")
    box: Box
    estimated: bool = Field(description="whether OCR placed the words")


class Sheet(Record):
    """A page beside the answer: its picture with boxes, or its quotes as text, cited ones with their source."""

    id: str
    document: str
    page: Page
    picture: Picture | None
    boxes: tuple[MarkedBox, ...] = ()
    words: tuple[MarkedWords, ...] = ()
    texts: tuple[tuple[Quote, Source | None], ...] = ()
    has_pages: bool = Field(default=True, description="whether the document has pages; else this is a virtual one")

    @property
    def place(self) -> str:
        """The name of the page, such as `page 3`."""
        return place_of(self.page.label, self.page.number, None, has_pages=self.has_pages)


class Section(Record):
    """One answer, ready for the template."""

    id: str
    answer: Answer
    passages: tuple[Passage, ...]
    sources: tuple[Source, ...] = Field(description="cited ones first, in the order of the answer")
    sheets: tuple[Sheet, ...]
    judged: tuple[CheckedCitation, ...] = Field(description="every citation with its verdict")
    interpretation: tuple[str, ...] = Field(default=(), description="how the question was read, a line each")

    def source(self, citation: Citation) -> Source:
        """The source that a citation names."""
        return next(
            source for source in self.sources if (source.kind, source.number) == (citation.kind, citation.number)
        )

    @property
    def cited(self) -> tuple[Source, ...]:
        """The sources that the answer cites."""
        return tuple(source for source in self.sources if source.cited)

    @property
    def withheld(self) -> bool:
        """Whether the gate withheld the whole answer."""
        return self.answer.text == REFUSAL

    @property
    def tally(self) -> list[tuple[Verdict, int]]:
        """How many citations have each verdict."""
        return tally(self.judged)

    def checked(self, citation: Citation) -> CheckedCitation:
        """The verdicts on a citation."""
        return self._checked_by_mark[citation.start, citation.number]

    @cached_property
    def _checked_by_mark(self) -> Mapping[tuple[int, int], CheckedCitation]:
        return {(checked.citation.start, checked.citation.number): checked for checked in reversed(self.judged)}

    def checked_of(self, source: Source) -> list[CheckedCitation]:
        """The verdicts on the citations of a source."""
        of_source = (
            checked
            for checked in self.judged
            if (checked.citation.kind, checked.citation.number) == (source.kind, source.number)
        )
        return [checked for checked in of_source if checked.findings]


class Pictures:
    """The page pictures of a file, each of which is added once."""

    def __init__(self) -> None:
        self._by_page: dict[tuple[str, int], Picture] = {}

    def all(self) -> list[Picture]:
        """Every picture, in the order added."""
        return list(self._by_page.values())

    def add(self, view: PagePicture) -> None:
        """Add the picture of a page, unless it has none that browsers show."""
        place = (view.document, view.page.number)
        url = data_url(view.image)
        if url and place not in self._by_page:
            self._by_page[place] = Picture(id=f"picture-{len(self._by_page) + 1}", page=view.page, data=url)

    def get(self, document: str, page: int) -> Picture | None:
        """The picture of a page, from 0."""
        return self._by_page.get((document, page))


def section(name: str, view: AnswerView, pictures: Pictures) -> Section:
    """Arrange one answer; every id in it begins with `name`. Raises ValueError for a citation outside its context."""
    for page in view.pages:
        pictures.add(page)
    sources = _sources(name, view, pictures)
    sheets = [
        _sheet(f"{name}-page-{position}", page, pictures, sources) for position, page in enumerate(view.pages, start=1)
    ]
    sheets = [_with_words(sheet, view.answer.citations, sources) for sheet in sheets]
    return Section(
        id=name,
        answer=view.answer,
        passages=tuple(passages(view.answer)),
        sources=tuple(sources),
        interpretation=view.interpretation,
        sheets=tuple(sheets),
        judged=checked_citations(view.answer),
    )


def data_url(image: bytes | None) -> str | None:
    """Return the image as a data URL; None for no image, or one that is not PNG, JPEG or WebP."""
    media_type = media_type_of(image or b"")
    return None if image is None or media_type is None else to_data_url(image, media_type)


def _sources(name: str, view: AnswerView, pictures: Pictures) -> list[Source]:
    cited = list(dict.fromkeys((citation.kind, citation.number) for citation in view.answer.citations))
    texts: list[tuple[Kind, int]] = [("text", number) for number in range(1, len(view.context.texts) + 1)]
    images: list[tuple[Kind, int]] = [("image", number) for number in range(1, len(view.context.images) + 1)]
    shown_pages = {(page.document, page.page.number) for page in view.pages}
    sources = []
    for kind, number in dict.fromkeys([*cited, *texts, *images]):
        quote = view.context.quote(kind, number)
        if quote is None:
            raise ValueError(f"the answer cites {kind} quote {number}, which is not in its context")
        source_id = f"{name}-{kind}-{number}"
        on_sheet = (kind, number) in cited and (quote.document, quote.page) in shown_pages
        source = Source(
            id=source_id,
            kind=kind,
            number=number,
            quote=quote,
            cited=(kind, number) in cited,
            target=f"{source_id}-box" if on_sheet else source_id,
            crop=data_url(view.crops.get(quote.image or "")),
            picture=pictures.get(quote.document, quote.page),
            reasons=view.reasons.get(quote.id, ()),
        )
        sources.append(source)
    return sources


def _sheet(name: str, view: PagePicture, pictures: Pictures, sources: list[Source]) -> Sheet:
    cited_sources = [
        source
        for source in sources
        if source.cited and (source.quote.document, source.quote.page) == (view.document, view.page.number)
    ]
    picture = pictures.get(view.document, view.page.number)
    sheet = Sheet(id=name, document=view.document, page=view.page, picture=picture)
    if picture is None:
        by_quote = {source.quote.id: source for source in cited_sources}
        quotes = {quote.id: quote for quote in (*view.quotes, *(source.quote for source in cited_sources))}
        texts = tuple((quote, by_quote.get(quote.id)) for quote in quotes.values())
        return sheet.model_copy(update={"texts": texts, "has_pages": all(quote.has_pages for quote in quotes.values())})
    boxes = [_marked_box(source, view.page) for source in cited_sources]
    # Large boxes first, so that small ones within them are on top and can be clicked.
    boxes.sort(key=lambda box: -box.width * box.height)
    return sheet.model_copy(update={"boxes": tuple(boxes)})


def _with_words(sheet: Sheet, citations: Sequence[Citation], sources: Sequence[Source]) -> Sheet:
    """The sheet with the supporting words of citations on it, including those of a sentence that continues there."""
    targets = {(source.kind, source.number): source.target for source in sources}
    marked_words = [
        MarkedWords(target=targets[citation.kind, citation.number], box=box, estimated=estimated)
        for citation in citations
        if sheet.picture is not None and citation.document == sheet.document
        for box, estimated in _words_on(citation, sheet.page.number)
    ]
    return sheet.model_copy(update={"words": tuple(dict.fromkeys(marked_words))})


def _words_on(citation: Citation, page: int) -> list[tuple[Box, bool]]:
    """The boxes of the supporting words on a page, each with whether it is estimated."""
    if citation.page == page:
        return [(box, span.estimated) for span in citation.spans for box in span.boxes]
    return [(box, region.estimated) for region in citation.regions if region.page == page for box in region.words]


def _marked_box(source: Source, page: Page) -> MarkedBox:
    x1, y1, x2, y2 = intersection(source.quote.bbox, (0.0, 0.0, page.width, page.height))
    return MarkedBox(
        source=source,
        left=100 * x1 / page.width,
        top=100 * y1 / page.height,
        width=100 * max(0.0, x2 - x1) / page.width,
        height=100 * max(0.0, y2 - y1) / page.height,
    )
