"""The bodies of the server's responses, and the jobs and conversations that it keeps, as its clients read them."""

from collections.abc import Mapping
from typing import Literal
from uuid import uuid4

from pydantic import AwareDatetime, Field

from quoteweave.collection.records import CollectionCounts
from quoteweave.core.answers import Region
from quoteweave.core.boxes import Box
from quoteweave.core.records import Document, Kind, Layout, Page, Quote, Record, heading_of, place_of
from quoteweave.documents.ingest import AddReport
from quoteweave.index.encoder_index import IndexReport
from quoteweave.index.removal import RemovalReport
from quoteweave.interchange.problems import Problem
from quoteweave.pipeline.rag import Answered
from quoteweave.pipeline.search import Trace

JobKind = Literal["add", "remove", "index"]
JobStatus = Literal["queued", "running", "done", "failed", "cancelled"]
ENDED: frozenset[JobStatus] = frozenset({"done", "failed", "cancelled"})
"""The statuses that a job keeps."""


class JobProgress(Record):
    """How far a job is; what is not known yet is null."""

    step: str | None = Field(
        default=None, description="what is being done, such as 'reading' or 'encoding with minilm'"
    )
    waiting: str | None = Field(
        default=None, description="why the job waits, such as for another process that writes to the collection"
    )
    document: str | None = Field(default=None, description="the document of which pages were read last")
    page: int | None = Field(default=None, ge=0, description="pages read, of all files of the job")
    pages: int | None = Field(default=None, ge=0, description="pages to be read, of all files of the job")
    files_done: int | None = Field(default=None, ge=0, description="files that were read, refused or found unchanged")
    files_total: int | None = Field(default=None, ge=0, description="files of the job")
    views_done: int | None = Field(default=None, ge=0, description="views of quotes encoded for an index")
    views_total: int | None = Field(default=None, ge=0, description="views of quotes to be encoded for that index")


class Job(Record):
    """A change of a collection that was asked for: adding documents, removing them, or building an index."""

    id: str = Field(default_factory=lambda: uuid4().hex)
    kind: JobKind
    collection: str = Field(description="the name by which the collection is served")
    documents: tuple[str, ...] = Field(default=(), description="names of the documents to be added or removed")
    retriever: str | None = Field(default=None, description="the retriever whose index is built")
    status: JobStatus = "queued"
    created: float = Field(description="seconds since the epoch")
    started: float | None = Field(default=None, description="seconds since the epoch")
    ended: float | None = Field(default=None, description="seconds since the epoch")
    attempts: int = Field(default=0, ge=0, description="how often the process that ran it ended before its work did")
    progress: JobProgress = JobProgress()
    report: AddReport | RemovalReport | IndexReport | None = Field(
        default=None, description="the outcome by document, or of the index; null before the end, and without vectors"
    )
    notes: tuple[str, ...] = Field(default=(), description="what was left out, sent elsewhere or could be done, if any")
    error: str | None = Field(default=None, description="why the job failed, in words for people")

    @property
    def has_ended(self) -> bool:
        """Whether it changes no more."""
        return self.status in ENDED


class JobList(Record):
    """Jobs, the newest first."""

    jobs: tuple[Job, ...]


class Uploaded(Record):
    """What becomes of uploaded files."""

    job: Job | None = Field(description="the job that adds them; null where all are there already")
    unchanged: tuple[str, ...] = Field(description="names of documents that have the same content already")


class JobMade(Record):
    """The job that does what was asked for."""

    job: Job


class AnswerResponse(Answered):
    """An answer, the context that its marks refer to, and how that was found."""

    standalone_question: str | None = Field(
        default=None, description="the question as it was asked of the documents, where it was rewritten"
    )
    conversation: str | None = Field(default=None, description="id of the conversation that keeps it")
    turn: str | None = Field(default=None, description="id of the answer within its conversation")


class ErrorEvent(Record):
    """The last event of a stream that could not end with an answer."""

    type: Literal["error"] = "error"
    problem: Problem


class FoundQuote(Record):
    """A hit of a search, with where it stands and where the server shows it."""

    rank: int
    score: float
    quote_id: str
    document: str
    page: int = Field(description="from 0")
    page_label: str
    bbox: Box = Field(description="points from the top left of the page")
    kind: Kind
    layout: Layout
    section: str | None
    has_pages: bool = Field(description="whether its document has pages; else those here are virtual")
    text: str
    image: str | None = Field(description="its own picture's address, as `image_url`; None for text")
    regions: tuple[Region, ...] = Field(description="the same box, also as fractions of the page")
    url: str
    image_url: str | None

    @property
    def place(self) -> str:
        """The quote's place in its document as a person would say it; see `Quote.place`."""
        heading = heading_of(self.layout, self.text, self.section, has_pages=self.has_pages)
        return place_of(self.page_label, self.page, heading, has_pages=self.has_pages)


class SearchResponse(Record):
    """The quotes that bear on a question, best first."""

    question: str
    hits: tuple[FoundQuote, ...]
    trace: Trace


class Neighbours(Record):
    """The quotes before and after a quote, on its page and the pages beside it."""

    previous: tuple[Quote, ...]
    next: tuple[Quote, ...]


class CitedIn(Record):
    """The stored answer that a quote is kept with."""

    conversation: str
    turn: str
    created: AwareDatetime = Field(description="when the answer was made")


class QuoteResponse(Record):
    """A quote, where it stands, and what stands beside it."""

    quote: Quote
    regions: tuple[Region, ...]
    neighbours: Neighbours
    url: str
    image_url: str | None
    cited_in: CitedIn | None = Field(
        default=None,
        description="set where the collection no longer holds the quote, because its document changed or was removed: "
        "the stored answer that keeps it as it was cited",
    )


class PageWordBox(Record):
    """A word of a page."""

    text: str
    bbox: Box = Field(description="points from the top left of the page")
    bbox_fraction: Box = Field(description="the same as fractions of the page")
    line: int
    ocr: bool = Field(description="whether OCR read it, so that its box is an estimate")


class PageResponse(Record):
    """A page with its quotes."""

    document: str
    page: Page
    pages: int = Field(description="how many pages the document has")
    has_pages: bool = Field(description="whether the document has pages of its own, which can be shown")
    quotes: tuple[Quote, ...]
    image_url: str | None


class WordsResponse(Record):
    """The words of a page with their boxes; None where they are not known."""

    document: str
    page: int
    words: tuple[PageWordBox, ...] | None


class CollectionSummary(Record):
    """A collection that is served."""

    name: str
    counts: CollectionCounts | None = Field(description="None where it cannot be read")
    error: str | None = Field(default=None, description="why it cannot be read")
    retrievers: tuple[str, ...] = Field(default=(), description="retrievers that a request may name")


class CollectionList(Record):
    """The collections that the key may read."""

    collections: tuple[CollectionSummary, ...]


class OpeningQuestions(Record):
    """Questions to begin with."""

    questions: tuple[str, ...] = Field(examples=[("What is the figure for “Grain” in 2023?",)])


class DeletedCollection(Record):
    """What was deleted with a collection."""

    name: str
    counts: CollectionCounts | None = Field(description="what it held; null where it could not be read")
    cancelled_jobs: int = Field(description="jobs that had not ended")
    conversations: int = Field(description="conversations about it, of all keys")


class UnreadFile(Record):
    """A file that could not become a document; where it lies is the server's own affair."""

    name: str = Field(description="the name that the document would have")
    reason: str
    content: str | None = Field(description="SHA-256 of the file; null where it could not be read")
    time: float = Field(description="seconds since the epoch")


class DocumentList(Record):
    """The documents of a collection, and the files that could not become documents."""

    documents: tuple[Document, ...]
    failures: tuple[UnreadFile, ...]


class ModelSummary(Record):
    """A model that a request may name."""

    name: str
    default: bool = Field(description="whether it answers where a request names none")
    destination: str | None = Field(description="where questions and quotes are sent; None: nowhere")


class OpenAIModel(Record):
    """A collection as OpenAI's clients list it: in their requests the model is a collection."""

    id: str = Field(description="the collection's name")
    object: Literal["model"] = "model"
    created: int = Field(description="when it was last made or changed, in seconds since 1970; 0 where not known")
    owned_by: str = "quoteweave"


class ModelList(Record):
    """The models that answer, and how a request may choose among retrievers."""

    object: Literal["list"] = "list"
    data: tuple[OpenAIModel, ...] = Field(description="the collections, for OpenAI's clients")
    models: tuple[ModelSummary, ...] = Field(description="the chat models, for our own API")
    expanders: tuple[str, ...]
    rerankers: tuple[str, ...]
    calibrations: tuple[str, ...] = Field(default=(), description="by which an answer may be withheld (abstain)")


class Turn(Record):
    """A question of a conversation, and what was answered."""

    id: str
    question: str = Field(description="as it was asked")
    standalone_question: str | None = Field(
        default=None, description="as it was asked of the documents, where it was rewritten for that"
    )
    answered: Answered = Field(description="the answer, and the quotes before it as they were at the time")
    settings: Mapping[str, object] = Field(default_factory=dict, description="that the request chose")
    created: AwareDatetime


class ConversationSummary(Record):
    """A conversation without its turns."""

    id: str
    collection: str = Field(description="the name under which its collection is served")
    owner: str | None = Field(description="id of the key that it belongs to; None where there were no keys")
    title: str
    created: AwareDatetime
    updated: AwareDatetime = Field(description="when something was last asked in it")
    questions: int = Field(ge=0, description="how many were asked in it")


class Conversation(ConversationSummary):
    """A conversation with its turns, the first one first."""

    turns: tuple[Turn, ...] = ()


class ConversationList(Record):
    """Conversations, the last used first."""

    conversations: tuple[ConversationSummary, ...]
