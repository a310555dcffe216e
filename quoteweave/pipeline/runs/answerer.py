"""Answers examples concurrently, with the boxes of their evidence, and writes each prediction once it is complete."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Protocol

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import C20, Context, ContextSize
from quoteweave.core.boxes import PAGE_SIDE, Box, area, fraction_of
from quoteweave.core.concurrency.pools import for_each
from quoteweave.core.errors import (
    CollectionError,
    DatasetError,
    EndpointBadResponse,
    EndpointError,
    EndpointRefused,
    EndpointUnreachable,
    MissingExtra,
    ModelNotFound,
    QuestionEmpty,
    QuestionTooLong,
    QuoteweaveError,
    SourceBadResponse,
    SourceError,
    StorageError,
    UsageError,
)
from quoteweave.core.examples import Example, PageBoxes, Prediction, Scope, failed_prediction
from quoteweave.core.messages import pluralize
from quoteweave.core.protocols import Generator, OcrTextProvider, PageSource
from quoteweave.core.records import HEADERS_AND_FOOTERS, Filter, Hit, Quote
from quoteweave.core.text.question_analysis import check_question
from quoteweave.endpoints.budget import record_spending
from quoteweave.pipeline.gate import Gate
from quoteweave.pipeline.runs.arrangement import Arrangement, ImageView, with_image_view, with_ocr_texts
from quoteweave.pipeline.search import Search
from quoteweave.pipeline.window import Window, fit_to_window

MAX_FAILURES = 10
"""Consecutive failures of endpoints after which nothing more is asked."""
LACKS_OWN = "The collection lacks a document that the dataset names for the question."
"""A note where the whole collection is searched."""
_KEPT = "what was answered is kept; the same command goes on from there"


DECIMALS = 1
"""Decimals of coordinates in thousandths of the page's width and height; finer differences cannot be seen."""


class AllQuotes:
    """Makes the context of a question from all quotes of its documents, except headers and footers."""

    def __init__(self, collection: Collection, window: Window | None) -> None:
        self._collection = collection
        self._window = window

    def context(self, documents: Sequence[str], question: str) -> tuple[Context, int, tuple[str, ...]]:
        """The quotes in order of documents, pages and reading; how many were left out for lack of room; and a note.

        Quotes at the end are left out: the longest beginning that fits the window without cutting a quote is taken, but
        the first quote in any case. Raises UsageError for a document that the collection does not hold.
        """
        all_quotes = [quote for name in documents for quote in self._collection.document_quotes(name)]
        quotes = [quote for quote in all_quotes if quote.layout not in HEADERS_AND_FOOTERS]
        most = self._longest_beginning(quotes, question)
        left_out = len(quotes) - most
        if not left_out or self._window is None:
            return _context_of(quotes), 0, ()
        note = (
            f"{pluralize(left_out, 'quote')} of {len(quotes)} left out, at the end of the documents: the window of "
            f"{self._window.tokens:,} tokens holds no more"
        )
        return _context_of(quotes[:most]), left_out, (note,)

    def _longest_beginning(self, quotes: Sequence[Quote], question: str) -> int:
        if self._window is None or not quotes:
            return len(quotes)
        low, high = 1, len(quotes)
        while low < high:
            middle = (low + high + 1) // 2
            _, cut = fit_to_window(_context_of(quotes[:middle]), self._window, question)
            low, high = (low, middle - 1) if cut else (middle, high)
        return low


class EvidenceBoxes:
    """Gives the boxes of quotes in thousandths of the page's width and height (CiteVQA, arXiv 2605.12882)."""

    def __init__(self, pages: PageSource, documents: Mapping[str, str]) -> None:
        """`documents` maps the dataset's names of documents to those in the collection."""
        self._pages = pages
        self._documents = documents

    def of_context(self, context: Context) -> dict[str, tuple[Box, ...]]:
        """Map the ids of the context's quotes to their boxes: the quote's, then its caption's; none without a page."""
        quotes = [hit.quote for hit in context.hits if hit.quote.has_pages]
        places = {(quote.document, quote.page) for quote in quotes}
        pages = {place: self._pages.page_quotes(*place) for place in places}
        return {quote.id: self._with_caption(quote, pages[quote.document, quote.page]) for quote in quotes}

    def of_gold_pages(self, example: Example) -> tuple[PageBoxes, ...]:
        """The boxes of all quotes on each page that has gold; a page that the document lacks is left out.

        If the collection lacks the document, its pages are included without boxes, so that their gold counts as missed.
        Headers and footers are included, as they may be gold although they are not retrieved.
        """
        places = dict.fromkeys((region.document, region.page) for region in example.reference.regions)
        quotes_of_pages = ((document, page, self._page_quotes(document, page)) for document, page in places)
        return tuple(
            PageBoxes(document=document, page=page, boxes=tuple(box for quote in quotes for box in self._box(quote)))
            for document, page, quotes in quotes_of_pages
            if quotes is not None
        )

    def _page_quotes(self, document: str, page: int) -> Sequence[Quote] | None:
        name = self._documents.get(document)
        if name is None:
            return ()
        try:
            self._pages.page(name, page)  # raises if there is no such page; one without quotes exists, too
            return self._pages.page_quotes(name, page)
        except (UsageError, CollectionError):
            return None

    def _with_caption(self, quote: Quote, page: Sequence[Quote]) -> tuple[Box, ...]:
        # The caption is looked up, as a quote that was cut to a window may have lost it.
        caption = next((page_quote.caption for page_quote in page if page_quote.id == quote.id), None)
        captions = (
            page_quote
            for page_quote in page
            if caption and page_quote.layout == "caption" and page_quote.text == caption
        )
        return (*self._box(quote), *(box for page_quote in captions for box in self._box(page_quote)))

    def _box(self, quote: Quote) -> tuple[Box, ...]:
        page = self._pages.page(quote.document, quote.page)
        x1, y1, x2, y2 = (
            round(PAGE_SIDE * edge, DECIMALS) for edge in fraction_of(quote.bbox, (page.width, page.height))
        )
        return ((x1, y1, x2, y2),) if area(quote.bbox) else ()


class Predictor(Protocol):
    """Answers the examples of a dataset, as `Answerer` does."""

    @property
    def scope(self) -> Scope:
        """What is searched."""
        ...

    def asks(self, example: Example) -> bool:  # noqa: ARG002
        """Whether a prediction needs requests; False if it follows from what is saved. By default, nothing is saved."""
        return True

    async def predict(self, example: Example) -> Prediction:
        """Answer one example.

        Raises EndpointError and SourceError, and what concerns all examples: ModelNotFound, MissingExtra, UsageError,
        StorageError.
        """
        ...

    def failed(self, example: Example, error: Exception) -> Prediction:
        """Return the prediction that records the error."""
        return failed_prediction(example, self.scope, error)


@dataclass(frozen=True, slots=True)
class Answerer(Predictor):
    """Answers an example over its own quotes, over what a `search` finds, or over `all_quotes` of its documents."""

    generator: Generator
    make_source_generator: Callable[[Example, Sequence[str]], Generator] | None = None
    """Makes the generator of an example whose sources have to be cited, given the order of the sources; None if
    `generator` answers all examples."""
    search: Search | None = None
    size: ContextSize = C20
    """How many quotes of each kind are retrieved."""
    documents: Mapping[str, str] = field(default_factory=dict)
    """Maps the dataset's names of documents to those in the collection."""
    scope: Scope = "context"
    passages: int | None = None
    """How many of an example's own text quotes are shown, from the first on; None for all."""
    arrangement: Arrangement = Arrangement()  # noqa: RUF009  # a frozen record
    view: ImageView = "all"
    pictures: OcrTextProvider | None = None
    """Reads the pictures of the context by OCR, for the view `ocr_text`."""
    window: Window | None = None
    """The model's window, to which quotes are cut."""
    gate: Gate = Gate()  # noqa: RUF009  # a frozen record
    """The gate that answers pass; the model's raw responses are kept unchanged."""
    all_quotes: AllQuotes | None = None
    """Gives all quotes of the question's documents, if these are not searched."""
    boxes: EvidenceBoxes | None = None
    """Gives the boxes of quotes, for questions that are answered with boxes."""

    async def predict(self, example: Example) -> Prediction:
        """Answer one example; a failure that concerns it alone becomes a prediction with that error.

        Raises EndpointError, and what concerns all examples: ModelNotFound, MissingExtra, UsageError, StorageError.
        """
        started = time.perf_counter()
        try:
            check_question(example.query.text)
            context, cut, notes = await self._context(example)
            early_abstention = self.gate.check_context(example.query.text, context)
            response = early_abstention or await self._generator_of(example).answer(example.query, context)
            answer = early_abstention or await self.gate.apply(response, context)
            boxes = await asyncio.to_thread(self._places, example, context)
        except (QuestionEmpty, QuestionTooLong) as error:
            return self.failed(example, error)
        except (EndpointError, ModelNotFound, MissingExtra, UsageError, StorageError):
            raise
        except Exception as error:  # any other error concerns this question alone: it is recorded, and the run goes on
            return self.failed(example, error)
        is_from_dataset = self.scope == "context" and context == example.context
        seconds = time.perf_counter() - started
        return Prediction(
            example=example.id,
            scope=self.scope,
            context=None if is_from_dataset else context,
            quote_boxes=boxes[0],
            gold_pages=boxes[1],
            response=response.raw if response.raw is not None else response.text,
            answer=answer.model_copy(update={"seconds": seconds}),
            model=answer.model,
            usage=answer.usage,
            seconds=seconds,
            cut_quotes=cut,
            notes=notes,
        )

    def _places(
        self, example: Example, context: Context
    ) -> tuple[Mapping[str, tuple[Box, ...]] | None, tuple[PageBoxes, ...] | None]:
        """Return the boxes of the context's quotes and of the pages with gold; None for answers without boxes."""
        if self.boxes is None or not example.documents:
            return None, None
        return self.boxes.of_context(context), self.boxes.of_gold_pages(example)

    def _generator_of(self, example: Example) -> Generator:
        if self.make_source_generator is None:
            return self.generator
        return self.make_source_generator(example, self.arrangement.order_sources(example))

    async def _context(self, example: Example) -> tuple[Context, int, tuple[str, ...]]:
        """Return the context for the generator, how many of its quotes were cut or left out, and notes.

        Raises DatasetError without quotes.
        """
        notes: tuple[str, ...] = ()
        left_out = 0
        if self.all_quotes is not None:
            names = self._documents_filter(example).documents or ()
            context, left_out, notes = await asyncio.to_thread(self.all_quotes.context, names, example.query.text)
        elif self.search is not None:
            is_wide = self.scope == "collection"
            where = None if is_wide else self._documents_filter(example)
            retrieved = await self.search.context(example.query, self.size, where=where)
            lacks_own = is_wide and any(name not in self.documents for name in _documents_of(example))
            context, notes = retrieved.context, (*retrieved.trace.notes, *([LACKS_OWN] if lacks_own else []))
        elif example.context is not None:
            context = example.context.model_copy(update={"texts": example.context.texts[: self.passages]})
        else:
            raise DatasetError("the dataset gives this question no quotes; retrieve them from a collection")
        if self.view == "ocr_text" and self.pictures is not None:
            context = await asyncio.to_thread(with_ocr_texts, context, self.pictures)
        gold = {quote_id for quote_id, grade in (example.reference.relevant or {}).items() if grade > 0}
        viewed = with_image_view(context, self.view)
        by_place = example.task == "answer"  # for other tasks, `make_source_generator` orders the sources
        arranged = self.arrangement.arrange(viewed, example.id, gold) if by_place else viewed
        fitted, cut = fit_to_window(arranged, self.window, example.query.text)
        return fitted, cut + left_out, notes

    def _documents_filter(self, example: Example) -> Filter:
        names = _documents_of(example)
        if not names:
            raise DatasetError('the dataset names no document to search; within = "collection" searches them all')
        for name in names:
            if name not in self.documents:
                raise CollectionError(f"the collection has no document {name!r}")
        return Filter(documents=tuple(self.documents[name] for name in names))


def _documents_of(example: Example) -> tuple[str, ...]:
    """The documents that the dataset names for a question."""
    return example.documents or (() if example.document is None else (example.document,))


def _concerns_one_question(error: EndpointError | SourceError) -> bool:
    """Return whether a failure concerns this question alone: too long, or an unusable response."""
    refused = isinstance(error, EndpointRefused) and error.status in (None, 400, 413, 422)
    return refused or isinstance(error, EndpointBadResponse | SourceBadResponse)


async def answer_all(
    examples: Iterable[Example], answerer: Predictor, write: Callable[[Prediction], None], *, concurrency: int = 8
) -> None:
    """Answer `concurrency` examples at a time, and pass each prediction to `write` when it is complete.

    Raises EndpointUnreachable if endpoints or sources failed for `MAX_FAILURES` examples in a row, not counting those
    that reject one example, for example for its length; and errors that concern all examples, such as BudgetSpent.
    Answers under way are waited for, and kept. What `write` raises is raised at once.
    """
    failures, ended = 0, list[QuoteweaveError]()

    async def answer_example(example: Example) -> None:
        nonlocal failures
        try:
            with record_spending() as recorder:
                prediction, failures = await answerer.predict(example), 0
        except (EndpointError, SourceError) as error:
            prediction, failures = answerer.failed(example, error), failures + (not _concerns_one_question(error))
        except (ModelNotFound, MissingExtra, UsageError, StorageError) as error:
            ended.append(error)
            return
        spent = recorder.spending if recorder.spending.calls else None
        write(prediction.model_copy(update={"spent": spent}))
        if failures >= MAX_FAILURES:
            message = f"{failures} questions in a row failed, the last one so: {prediction.error} — {_KEPT}"
            ended.append(EndpointUnreachable(message))

    await for_each(takewhile(lambda _: not ended, examples), answer_example, concurrency=concurrency)
    for error in ended:
        raise error


def _context_of(quotes: Sequence[Quote]) -> Context:
    texts, images = ([quote for quote in quotes if quote.kind == kind] for kind in ("text", "image"))
    return Context(texts=_ranked(texts), images=_ranked(images))


def _ranked(quotes: Sequence[Quote]) -> tuple[Hit, ...]:
    return tuple(Hit(rank=rank, score=0.0, quote=quote) for rank, quote in enumerate(quotes, start=1))
