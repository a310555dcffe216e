"""What to implement to extend quoteweave: small protocols, met by any object of the right shape."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from pydantic import Field

from quoteweave.core.answer_events import Event
from quoteweave.core.answers import Answer, Completion, Context, Piece, Usage
from quoteweave.core.records import Filter, Hit, Page, PageWords, ParsedDocument, Query, Quote, Record

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from PIL.Image import Image

    Matrix = npt.NDArray[np.float32]

Setting = str | int | float | bool | None


class Parser(Protocol):
    """A file becomes pages and quotes."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same file would give other quotes."""
        ...

    def parse(self, path: Path) -> ParsedDocument:
        """Raises a DocumentError that says what is wrong with the file."""
        ...


class Retriever(Protocol):
    """Questions become ranked quotes."""

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        """At most `k` hits a query, best first, ranks from 1. A query that matches nothing gives an empty list."""
        ...


@runtime_checkable
class Notes(Protocol):
    """A retriever that may have something to say of what it cannot find."""

    def notes(self) -> tuple[str, ...]:
        """A sentence each; none where all that there is can be found."""
        ...


def notes_of(*retrievers: Retriever) -> tuple[str, ...]:
    """What these say of what they cannot find, each sentence once."""
    said = (retriever.notes() for retriever in retrievers if isinstance(retriever, Notes))
    return tuple(dict.fromkeys(note for notes in said for note in notes))


class Reason(Record):
    """One part of what speaks for the page of a hit."""

    part: str = Field(description="what it is called, such as 'words' or 'reference'")
    points: float = Field(description="what it adds to the score of the page")
    detail: str = Field(default="", description="what it comes from: the words, the names, the terms")


class Explanation(Record):
    """Why hits rank where they do."""

    read: tuple[str, ...] = Field(default=(), description="how the question was read, a line each")
    reasons: Mapping[str, tuple[Reason, ...]] = Field(
        default_factory=dict, description="by quote id: what speaks for its page, the heaviest first"
    )
    rarity: Mapping[str, float] = Field(default_factory=dict, description="as `Context.rarity`")


class PageSource(Protocol):
    """Knows the pages of documents, as a collection does."""

    def pages(self, name: str) -> list[Page]:
        """The pages of a document."""
        ...

    def page_words(self, name: str, page: int) -> PageWords | None:
        """The words of a page (from 0) with their boxes; None where they are not known."""
        ...


@runtime_checkable
class Explains(Protocol):
    """A retriever that can say why its hits rank where they do."""

    def explain(self, query: Query, hits: Sequence[Hit], *, where: Filter | None = None) -> Explanation:
        """Of hits that a search with this filter found; for none of them, how the question was read alone."""
        ...


@runtime_checkable
class ScoresPages(Retriever, Protocol):
    """A retriever that knows what speaks for any page, whether it found a quote of it or not."""

    def page_scores(
        self, query: Query, pages: Sequence[tuple[str, int]], *, where: Filter | None = None
    ) -> list[float]:
        """Of pages, each a document's name and a number from 0: in units that mean the same for every question."""
        ...


class Encoder(Protocol):
    """Questions and views become vectors, and inner products of these say how well they fit.

    The same view gives the same vector (to 1e-5 in fp32) whatever stands beside it in a batch.
    """

    @property
    def name(self) -> str:
        """As the catalogue of models, or its maker, calls it."""
        ...

    @property
    def settings(self) -> Mapping[str, Setting]:
        """All that changes a vector: checkpoint and revision, prefixes, pooling, maximum length, image size, dtype.

        Known without loading any weights.
        """
        ...

    @property
    def reads(self) -> Literal["text", "image"]:
        """The views that it encodes: strings, or pictures."""
        ...

    @property
    def many(self) -> bool:
        """Whether an item becomes many vectors, scored by MaxSim (late interaction), or exactly one."""
        ...

    def encode_queries(self, texts: Sequence[str]) -> "list[Matrix]":
        """A matrix (vectors, dimension) for each question, in order. Raises ModelError or EndpointError."""
        ...

    def encode_views(self, views: "Sequence[str] | Sequence[Image]") -> "list[Matrix]":
        """A matrix (vectors, dimension) for each view, in order. Raises ModelError or EndpointError."""
        ...


@runtime_checkable
class Batching(Protocol):
    """An encoder that says how many views it makes good use of in one call; one that does not gets a few."""

    @property
    def at_once(self) -> int:
        """Some times its batch, so that views of like length meet in it. Pictures may be fewer, to spare memory."""
        ...


class Pictures(Protocol):
    """Where encoders get what they see of pictures: crops of quotes, whole pages, and what OCR reads on a crop."""

    def crop_key(self, quote: Quote) -> str | None:
        """Changes whenever the crop does; None where the quote's document has no pictures. Draws nothing."""
        ...

    def crop(self, quote: Quote) -> "Image":
        """The quote cut out of its page, in RGB. Raises DocumentError where it cannot be drawn."""
        ...

    def page_key(self, document: str, page: int) -> str | None:
        """Changes whenever the page's picture does; None where the document has none. Draws nothing."""
        ...

    def page(self, document: str, page: int) -> "Image":
        """A page as people see it, in RGB. Raises DocumentError where it cannot be drawn."""
        ...

    def ocr_text(self, quote: Quote, *, read: bool = True) -> str | None:
        """What OCR reads on the crop of an image quote, read now unless it was before; None where OCR is off.

        Without `read` nothing is read now, and what was not read before is None. Raises DocumentError where the crop
        cannot be had.
        """
        ...


class Reranking(Record):
    """What a reranker made of hits."""

    hits: tuple[Hit, ...] = Field(description="all that it was given, best first, with its scores and ranks from 1")
    note: str | None = Field(default=None, description="what went wrong, where hits stay as they were")


class Reranker(Protocol):
    """Hits become hits in a better order."""

    @property
    def name(self) -> str:
        """The model's name, as traces and runs record it."""
        ...

    async def rerank(self, query: Query, hits: Sequence[Hit]) -> Reranking:
        """Each of `hits` once. Raises ModelError or EndpointError."""
        ...


class SentenceScorer(Protocol):
    """Says how well sentences answer a question."""

    @property
    def name(self) -> str:
        """The model's name, for messages."""
        ...

    async def score(self, question: str, passages: Sequence[Sequence[str]]) -> list[list[float | None]]:
        """For each passage a number for each of its sentences: higher for a better answer, comparable in one call.

        A passage is sentences that stand together, in order. None: the model says that it does not answer. Raises
        ModelError or EndpointError.
        """
        ...


class Expansion(Record):
    """What an expander made of a question."""

    clauses: tuple[str, ...] = Field(min_length=1, description="to search for, each by itself")
    note: str | None = Field(default=None, description="what went wrong, where the question had to do")


class Expander(Protocol):
    """A question becomes several that are easier to find answers to."""

    @property
    def name(self) -> str:
        """As traces and runs record it."""
        ...

    async def expand(self, query: Query) -> Expansion:
        """The questions to search for. Falls back to the question alone, and says so in `note`, when a model fails."""
        ...


class ChatModel(Protocol):
    """A model that completes a conversation in the OpenAI chat form."""

    @property
    def name(self) -> str:
        """The model's name, as answers and runs record it."""
        ...

    async def complete(self, messages: Sequence[Mapping[str, object]]) -> Completion:
        """Raises an EndpointError when the model cannot be had or answers nothing."""
        ...


@runtime_checkable
class StreamingChatModel(ChatModel, Protocol):
    """A chat model that can also be read as it writes."""

    def stream(self, messages: Sequence[Mapping[str, object]]) -> AsyncGenerator[Piece | Completion, None]:
        """Pieces as they come, then the completion that they add up to, last. Raises what `complete` does.

        Whoever stops reading early closes the stream (`contextlib.aclosing`), so that the model stops too.
        """
        ...


class Generator(Protocol):
    """A question and its context become a cited answer."""

    async def answer(self, query: Query, context: Context) -> Answer:
        """Raises an EndpointError when its model fails; abstaining is an answer, not an error."""
        ...


@runtime_checkable
class StreamingGenerator(Generator, Protocol):
    """A generator whose answer can be read while it is written."""

    def stream(self, query: Query, context: Context) -> AsyncGenerator[Event, None]:
        """The answer's events, as `core.events` says. Raises what `answer` does.

        Whoever stops reading early closes the stream (`contextlib.aclosing`), so that the model stops too.
        """
        ...


class Grade(Record):
    """One number by a judge; or the error."""

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
        """The model and its prompts: changes whenever grades are not to be mixed."""
        ...

    async def support(self, statement: str, evidence: Sequence[Quote]) -> Grade:
        """0, 0.5 or 1: how far all of the evidence together, images included, supports the statement."""
        ...

    async def relevance(self, statement: str, item: Quote) -> Grade:
        """0 or 1: whether one cited item bears on the statement."""
        ...

    async def accuracy(self, question: str, gold_answer: str, answer: str, *, question_type: str | None) -> Grade:
        """0, 1 or 2: how right the answer is, by the rubric for such questions."""
        ...


class CitedSentence(Record):
    """A sentence of a response, and what it cites."""

    text: str
    cited: tuple[str, ...] = Field(default=(), description="ids of items, each once")


class Splitter(Protocol):
    """A response becomes sentences with the items that each cites."""

    @property
    def name(self) -> str:
        """Changes whenever the same response would be split otherwise."""
        ...

    @property
    def by_rule(self) -> bool:
        """Whether it splits by rule; figures then say so in their names, for published ones were split by a model."""
        ...

    async def split(self, response: str) -> list[CitedSentence]:
        """All sentences in order, those without citations too. Raises EndpointError when its model fails."""
        ...


class Entailment(Protocol):
    """Says whether a text entails a claim."""

    @property
    def name(self) -> str:
        """The model and all that changes what it says, as runs record it."""
        ...

    def entails(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """For each (premise, claim), in order, whether the premise entails the claim. Raises ModelError."""
        ...


class ClaimChecker(Protocol):
    """Says whether evidence supports claims, as a second opinion on an answer's citations."""

    @property
    def name(self) -> str:
        """The model and all that changes what it says, as runs record it."""
        ...

    async def check(self, pairs: Sequence[tuple[str, str]]) -> list[bool | None]:
        """For each (premise, claim), in order, whether the premise supports the claim; None where it could not say.

        Raises ModelError or EndpointError where it can say nothing at all.
        """
        ...
