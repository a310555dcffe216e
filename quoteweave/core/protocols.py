"""Protocols to implement to extend quoteweave, and the records that their methods return.

Any object with the right methods satisfies a protocol.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from pydantic import Field

from quoteweave.core.answers import Answer, Context, Event, Usage
from quoteweave.core.chat.completions import ChatMessage, Completion, CompletionDelta
from quoteweave.core.records import Filter, Hit, Page, PageWords, ParsedDocument, Query, Quote, Record

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from PIL.Image import Image

    Matrix = npt.NDArray[np.float32]

SettingValue = str | int | float | bool | None


class Parser(Protocol):
    """Parses a file into pages and quotes."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same file would be parsed into other quotes."""

    def parse(self, path: Path) -> ParsedDocument:
        """Parse a file. Raises a DocumentError that says what is wrong with it."""


class Retriever(Protocol):
    """Returns ranked quotes for questions."""

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        """Return at most `k` hits for each query, best first, ranks from 1; an empty list if nothing matches.

        Raises UsageError for a filter that names an unknown document, QuestionTooLong, IndexMissing where an index was
        never built, FingerprintMismatch where it has other settings, CollectionError where it is damaged, and
        ModelError or EndpointError of a model.
        """


@runtime_checkable
class RunsInline(Protocol):
    """A retriever that may need no thread of its own."""

    @property
    def runs_inline(self) -> bool:
        """Whether a search takes some milliseconds at most as things are."""


@runtime_checkable
class ReportsWarnings(Protocol):
    """A retriever that can warn about quotes that it cannot find."""

    def warnings(self, where: Filter | None = None) -> tuple[str, ...]:
        """One sentence for each warning about a search with this filter; empty if everything can be found."""


def collect_warnings(*retrievers: Retriever, where: Filter | None = None) -> tuple[str, ...]:
    """Collect the warnings of these retrievers about a search with this filter, each sentence once."""
    reporting = (retriever for retriever in retrievers if isinstance(retriever, ReportsWarnings))
    return tuple(dict.fromkeys(warning for retriever in reporting for warning in retriever.warnings(where)))


class Reason(Record):
    """One contribution to the score of a hit's page."""

    part: str = Field(description="what it is called, such as 'words' or 'reference'")
    points: float = Field(description="what the part adds to the score of the page")
    detail: str = Field(default="", description="what the contribution comes from: words, names or terms")


class Explanation(Record):
    """Why hits rank where they do."""

    interpretation: tuple[str, ...] = Field(default=(), description="how the question was analysed, a line each")
    reasons: Mapping[str, tuple[Reason, ...]] = Field(
        default_factory=dict, description="by quote id: the contributions to the score of its page, largest first"
    )
    points_per_unit: float = Field(default=1.0, description="how many points are one unit of `ScoresPages`")
    rarity: Mapping[str, float] = Field(default_factory=dict, description="as `Context.rarity`")
    variety: float | None = Field(default=None, description="as `Context.variety`")
    places: tuple[str, ...] = Field(default=(), description="as `Context.places`")
    spellings: Mapping[str, tuple[str, ...]] = Field(default_factory=dict, description="as `Context.spellings`")
    synonyms: Mapping[str, tuple[str, ...]] = Field(default_factory=dict, description="as `Context.synonyms`")


class PageSource(Protocol):
    """Gives access to the pages of documents, as a collection does."""

    def page(self, name: str, number: int) -> Page:
        """A page (from 0) of a document. Raises UsageError where it has no such page."""

    def page_quotes(self, name: str, number: int) -> list[Quote]:
        """The quotes of a page (from 0), headers and footers included."""

    def page_words(self, name: str, number: int) -> PageWords | None:
        """The words of a page (from 0) with their boxes; None where they are not known."""


@runtime_checkable
class Explains(Protocol):
    """A retriever that can say why its hits rank where they do."""

    def explain(self, query: Query, hits: Sequence[Hit], *, where: Filter | None = None) -> Explanation:
        """Explain hits of a search with this filter; without hits, only how the question was analysed."""


@runtime_checkable
class ScoresPages(Retriever, Protocol):
    """A retriever that can score any page, whether it returned a quote of it or not."""

    def page_scores(
        self, query: Query, pages: Sequence[tuple[str, int]], *, where: Filter | None = None
    ) -> list[float]:
        """Score pages, each given as document name and number (from 0), on a scale comparable between questions."""


class Encoder(Protocol):
    """Encodes questions and views as vectors, whose inner products measure relevance.

    The same view gives the same vector (to 1e-5 in fp32) whatever else is in its batch.
    """

    @property
    def name(self) -> str:
        """The model's name in the catalogue of models, or one chosen by the encoder's author."""

    @property
    def settings(self) -> Mapping[str, SettingValue]:
        """All that changes a vector: checkpoint, revision, prefixes, pooling, maximum length, image size, dtype.

        Known without loading any weights.
        """

    @property
    def reads(self) -> Literal["text", "image"]:
        """The kind of view that it encodes: strings, or pictures."""

    @property
    def multi_vector(self) -> bool:
        """Whether an item has many vectors, scored by MaxSim (late interaction), or exactly one."""

    def encode_queries(self, texts: Sequence[str]) -> "list[Matrix]":
        """A matrix (vectors, dimension) for each question, in order. Raises ModelError or EndpointError."""

    def encode_views(self, views: "Sequence[str] | Sequence[Image]") -> "list[Matrix]":
        """A matrix (vectors, dimension) for each view, in order. Raises ModelError or EndpointError."""


@runtime_checkable
class SuggestsCallSize(Protocol):
    """An encoder that suggests how many views to pass in one call; others get a default number."""

    @property
    def at_once(self) -> int:
        """Preferred number of views per call: several batches, so that views of similar length share a batch."""


class OcrTextProvider(Protocol):
    """Provides the OCR text of image quotes."""

    def ocr_text(self, quote: Quote, *, read: bool = True) -> str | None:
        """The OCR text of an image quote's crop, from the cache or read now; None if OCR is off.

        With `read=False` only the cache is consulted, and a text that is not in it is None. Raises DocumentError if the
        crop cannot be made.
        """


class ImageProvider(OcrTextProvider, Protocol):
    """Provides images to encoders: crops of quotes, whole pages, and the OCR text of a crop."""

    def crop_key(self, quote: Quote) -> str | None:
        """A key that changes whenever the crop does; None if the quote's document has no images. Renders nothing."""

    def crop(self, quote: Quote) -> "Image":
        """The quote cropped from its page, in RGB. Raises DocumentError if it cannot be rendered."""

    def page_key(self, document: str, page: int) -> str | None:
        """A key that changes whenever the page's image does; None if the document has none. Renders nothing."""

    def page_image(self, document: str, page: int) -> "Image":
        """The rendered page, in RGB. Raises DocumentError if it cannot be rendered."""


class Reranking(Record):
    """The result of reranking.

    >>> (hits,) = Bm25Retriever(collection).search([Query(text="timber")], k=5)
    >>> Reranking(hits=tuple(hits)).note is None
    True
    """

    hits: tuple[Hit, ...] = Field(description="all hits given, best first, with new scores and ranks from 1")
    note: str | None = Field(
        default=None, description="that the hits keep their order, as something went wrong; or what was not read"
    )


class Reranker(Protocol):
    """Reorders hits by relevance to the question."""

    @property
    def name(self) -> str:
        """The model's name, as traces and runs record it."""

    async def rerank(self, query: Query, hits: Sequence[Hit]) -> Reranking:
        """Rerank `hits`; the result has each of them once. Raises ModelError or EndpointError."""


class SentenceScorer(Protocol):
    """Scores how well sentences answer a question."""

    @property
    def name(self) -> str:
        """The model's name, for messages."""

    async def score(self, question: str, passages: Sequence[Sequence[str]]) -> list[list[float | None]]:
        """Return a number for each sentence of each passage, higher for a better answer; comparable within a call.

        A passage is a list of consecutive sentences. None means that the model finds no answer in the sentence. Raises
        ModelError or EndpointError.
        """


class Expansion(Record):
    """The result of query expansion."""

    clauses: tuple[str, ...] = Field(min_length=1, description="the questions to search for, each separately")
    note: str | None = Field(
        default=None, description="what went wrong, where only the question itself is searched for"
    )


class Expander(Protocol):
    """Expands a question into several that are easier to find answers to."""

    @property
    def name(self) -> str:
        """The expander's name, as traces and runs record it."""

    async def expand(self, query: Query, *, where: Filter | None = None) -> Expansion:
        """Return the questions to search for; if a model fails, the question alone and a `note` that says so.

        `where` filters the search for the question; an expander that reads quotes itself may read no others.
        """


class ChatModel(Protocol):
    """A model that completes a conversation in the OpenAI chat form."""

    @property
    def name(self) -> str:
        """The model's name, as answers and runs record it."""

    def request_settings(self) -> Mapping[str, object]:
        """Return all that changes completions besides name and messages: sampling, tools, weights.

        Calls are cached by it: what it leaves out makes one model take the completions of another.
        """

    async def complete(self, messages: Sequence[ChatMessage]) -> Completion:
        """Complete the conversation. Raises an EndpointError if the model is unavailable or gives no answer."""


@runtime_checkable
class StreamingChatModel(ChatModel, Protocol):
    """A chat model that can also stream its completions."""

    def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[CompletionDelta | Completion, None]:
        """Yield pieces as they come, and last the whole completion. Raises what `complete` does.

        Whoever stops reading early closes the stream (`contextlib.aclosing`), so that the model stops too.
        """


class Generator(Protocol):
    """Generates a cited answer from a question and its context."""

    async def answer(self, query: Query, context: Context) -> Answer:
        """Answer the question. Raises an EndpointError if the model fails; abstaining is an answer, not an error."""


@runtime_checkable
class StreamingGenerator(Generator, Protocol):
    """A generator that can also stream its answer."""

    def stream(self, query: Query, context: Context) -> AsyncGenerator[Event, None]:
        """Yield the events of the answer (`core.answers`). Raises what `answer` does.

        Whoever stops reading early closes the stream (`contextlib.aclosing`), so that the model stops too.
        """


class Grade(Record):
    """A judge's score, or the error."""

    score: float | None = Field(description="on the scale asked for; None where the judgement failed")
    error: str | None = Field(default=None, description="why there is no score")
    raw: str | None = Field(default=None, description="the judge's last reply, as it came")
    model: str = Field(description="the judge that was asked for")
    prompt: str = Field(description="SHA-256 of the prompt's text")
    usage: Usage = Usage()
    attempts: int = Field(default=1, ge=1)


class EvidenceJudge(Protocol):
    """Grades statements against their evidence, and answers against gold. A judgement that failed has no score."""

    @property
    def name(self) -> str:
        """The model and its prompts; changes whenever grades of two judges must not be mixed."""

    async def support(self, statement: str, evidence: Sequence[Quote]) -> Grade:
        """0, 0.5 or 1: how far all of the evidence together, images included, supports the statement."""

    async def relevance(self, statement: str, item: Quote) -> Grade:
        """0 or 1: whether one cited item bears on the statement."""

    async def accuracy(self, question: str, gold_answer: str, answer: str, *, question_type: str | None) -> Grade:
        """0, 1 or 2: how right the answer is, by the rubric for such questions."""


class CitedSentence(Record):
    """A sentence of a response, and what it cites."""

    text: str
    cited: tuple[str, ...] = Field(default=(), description="ids of items, each once")
    written: tuple[str, ...] = Field(default=(), description="the same as the splitter wrote them, repetitions kept")


class Splitter(Protocol):
    """Splits a response into sentences with the items that each cites."""

    @property
    def name(self) -> str:
        """The splitter's name; changes whenever the same response would be split differently."""

    @property
    def by_rule(self) -> bool:
        """Whether it splits by rule; figures then say so in their names, for published ones were split by a model."""

    async def split(self, response: str) -> list[CitedSentence]:
        """All sentences in order, those without citations too. Raises EndpointError when its model fails."""


class Entailment(Protocol):
    """Decides whether a text entails a claim."""

    @property
    def name(self) -> str:
        """The model and every setting that changes its verdicts, as runs record them."""

    def entails(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """Return, for each (premise, claim) in order, whether the premise entails the claim. Raises ModelError."""


@runtime_checkable
class CutsPremises(Protocol):
    """An entailment model that reads no more than the beginning of a long premise."""

    def reads_all(self, premise: str, claim: str) -> bool:
        """Whether it reads a premise to its end, beside this claim."""


class ClaimChecker(Protocol):
    """Decides whether evidence supports claims, as a second check of an answer's citations."""

    @property
    def name(self) -> str:
        """The model and every setting that changes its verdicts, as runs record them."""

    async def check(self, pairs: Sequence[tuple[str, str]]) -> list[bool | None]:
        """Return, for each (premise, claim) in order, whether the premise supports the claim; None for no verdict.

        Raises ModelError or EndpointError where there is no verdict on any of them.
        """
