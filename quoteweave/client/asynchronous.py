"""`AsyncClient`: asks a running server from asynchronous programs."""

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Literal

from quoteweave.client.connection import Call, ServerConnection, server_address
from quoteweave.client.uploads import Added, upload_forms
from quoteweave.core.answers import Answer, AnswerEvent, CitationEvent, ImageEvent, TextEvent, ThoughtEvent
from quoteweave.core.errors import JobFailed, UsageError
from quoteweave.core.messages import join_names
from quoteweave.core.records import Document, Filter
from quoteweave.interchange.exports import ExportFormat
from quoteweave.interchange.responses import (
    AnswerResponse,
    CollectionList,
    CollectionSummary,
    Conversation,
    ConversationList,
    ConversationSummary,
    DeletedCollection,
    DocumentList,
    ErrorEvent,
    Job,
    JobList,
    JobMade,
    JobProgress,
    ModelList,
    PageResponse,
    PageWordBox,
    QuoteResponse,
    SearchResponse,
    Uploaded,
    WordsResponse,
)
from quoteweave.pipeline.rag import SourcesEvent, StreamEvent

TIMEOUT_S = 180.0
"""Seconds that a server may go without sending anything; by default, a server gives an answer 120 seconds."""
RETRIES = 2
ProgressCallback = Callable[[JobProgress], None]
"""Called with the progress of a job."""

_EVENTS: Mapping[str, type[StreamEvent]] = {
    "sources": SourcesEvent,
    "thought": ThoughtEvent,
    "text": TextEvent,
    "citation": CitationEvent,
    "image": ImageEvent,
    "answer": AnswerEvent,
}
_COLLECTIONS, _JOBS, _CONVERSATIONS = ("v1", "collections"), ("v1", "jobs"), ("v1", "conversations")


class AsyncClient:
    """Asks a running quoteweave server, from asynchronous programs; `Client` has the same methods without `await`.

    `url` is the server's address, including the path if a proxy shows it below one. `key` is one of the server's keys,
    by default that of QUOTEWEAVE_KEY. `collection` is used by calls that name none, by default the server's only one.
    `timeout_s` is how many seconds the server may go without sending anything. A call ends after five times as long,
    except when it sends files or waits for jobs. A request that the server refuses for the moment (429, 503) is sent
    again at the time that the server names, at most `max_retries` times. Nothing has to be closed: connections belong
    to the event loop.

    Methods raise what the same call raises without a server (UsageError, QuoteNotFound, CollectionNotFound,
    EndpointError and the like), and ServerError if the server cannot be reached or refuses.

    >>> client = AsyncClient(server.url)
    >>> answer = asyncio.run(client.answer("How much grain was shipped in May?"))
    >>> answer.text.splitlines()[0]
    'The harbour shipped 4,210 tonnes of grain in May [1].'
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        collection: str | None = None,
        timeout_s: float = TIMEOUT_S,
        max_retries: int = RETRIES,
    ) -> None:
        """Raises UsageError for a malformed address, and for a key that no request could carry."""
        self._connection = ServerConnection(server_address(url, key), timeout_s, max_retries)
        self._collection = collection

    async def answer(
        self,
        question: str,
        *,
        collection: str | None = None,
        where: Filter | None = None,
        settings: Mapping[str, object] | None = None,
        history: Sequence[Mapping[str, str]] = (),
        conversation: str | bool | None = None,
    ) -> Answer:
        """Return a cited answer to the question; parameters and errors as for `ask`."""
        answered = await self.ask(
            question,
            collection=collection,
            where=where,
            settings=settings,
            history=history,
            conversation=conversation,
        )
        return answered.answer

    async def ask(
        self,
        question: str,
        *,
        collection: str | None = None,
        where: Filter | None = None,
        settings: Mapping[str, object] | None = None,
        history: Sequence[Mapping[str, str]] = (),
        conversation: str | bool | None = None,
    ) -> AnswerResponse:
        """Answer a question, and return its context, the trace and the conversation with the answer.

        `settings` are those that the server lets a request choose, such as `{"model": "extractive", "size": 20}`.
        `history` is what was said before, as `{"role": "user" or "assistant", "content": …}`, oldest first.
        `conversation` is the id of the stored conversation that the question belongs to; True or False, to store the
        answer or not; or None, which leaves that to the server.
        """
        body = _question(question, where, settings) | _turn(history, conversation)
        return await self._connection.read(await self._post(collection, "answers", body), AnswerResponse)

    async def stream(
        self,
        question: str,
        *,
        collection: str | None = None,
        where: Filter | None = None,
        settings: Mapping[str, object] | None = None,
        history: Sequence[Mapping[str, str]] = (),
        conversation: str | bool | None = None,
    ) -> AsyncGenerator[StreamEvent, None]:
        """Yield the events of the answer as they come, as `Rag.stream` does; parameters and errors as for `ask`.

        To stop reading early, close the stream (`contextlib.aclosing`); the server then stops its work, too.
        """
        body = _question(question, where, settings) | _turn(history, conversation) | {"stream": True}
        answered = False
        async with aclosing(self._connection.events(await self._post(collection, "answers", body))) as events:
            async for name, data in events:
                if name == "error":
                    raise self._connection.error(self._connection.parse(data, ErrorEvent).problem)
                if (shape := _EVENTS.get(name)) is not None:
                    answered = answered or name == "answer"
                    yield self._connection.parse(data, shape)
        if not answered:
            raise self._connection.ended()

    async def search(
        self,
        question: str,
        k: int = 10,
        *,
        collection: str | None = None,
        where: Filter | None = None,
        settings: Mapping[str, object] | None = None,
    ) -> SearchResponse:
        """Return the `k` quotes that bear most on a question, best first, and how they were found."""
        body = _question(question, where, settings) | {"k": k}
        return await self._connection.read(await self._post(collection, "search", body), SearchResponse)

    async def quote(self, quote_id: str, *, collection: str | None = None) -> QuoteResponse:
        """Return a quote, its boxes, and the quotes beside it. Raises QuoteNotFound."""
        return await self._connection.read(await self._get(collection, "quotes", quote_id), QuoteResponse)

    async def quote_image(self, quote_id: str, *, collection: str | None = None) -> bytes:
        """Return the picture of a quote, cut out of its page: PNG, JPEG or WebP. Raises QuoteNotFound."""
        return await self._connection.fetch(await self._get(collection, "quotes", quote_id, "image"))

    async def page(self, document: str, page: int, *, collection: str | None = None) -> PageResponse:
        """Return a page, counted from 0, with its quotes. Raises UsageError where there is none."""
        return await self._connection.read(await self._get(collection, *_page(document, page)), PageResponse)

    async def page_image(
        self,
        document: str,
        page: int,
        *,
        quote_id: str | None = None,
        form: Literal["png", "jpeg"] = "png",
        width: int | None = None,
        collection: str | None = None,
    ) -> bytes:
        """Return a page as people see it, with a quote's box drawn if asked. A page with a box is always PNG.

        A picture of more than `width` pixels across is reduced to that width.
        """
        options = {"format": form, "quote": quote_id, "width": width}
        params = {name: str(value) for name, value in options.items() if value is not None}
        return await self._connection.fetch(await self._get(collection, *_page(document, page), "image", params=params))

    async def page_words(
        self, document: str, page: int, *, collection: str | None = None
    ) -> tuple[PageWordBox, ...] | None:
        """Return the words of a page with their boxes; None where they are not known."""
        call = await self._get(collection, *_page(document, page), "words")
        return (await self._connection.read(call, WordsResponse)).words

    async def documents(self, *, collection: str | None = None) -> DocumentList:
        """Return the documents, and the files that could not become documents, with the reason."""
        return await self._connection.read(await self._get(collection, "documents"), DocumentList)

    async def document(self, name: str, *, collection: str | None = None) -> Document:
        """Return a document's record. Raises UsageError where there is none of that name."""
        return await self._connection.read(await self._get(collection, "documents", *name.split("/")), Document)

    async def collections(self) -> tuple[CollectionSummary, ...]:
        """Return the collections that the key may read, those that are damaged too, with the reason."""
        return (await self._connection.read(Call("GET", _COLLECTIONS), CollectionList)).collections

    async def models(self) -> ModelList:
        """Return the models, expanders and rerankers that `settings` may name."""
        return await self._connection.read(Call("GET", ("v1", "models")), ModelList)

    async def create_collection(self, name: str) -> CollectionSummary:
        """Make an empty collection, where the server lets collections be made. Raises CollectionExists."""
        return await self._connection.read(Call("POST", _COLLECTIONS, json={"name": name}), CollectionSummary)

    async def remove_collection(self, name: str) -> DeletedCollection:
        """Delete a collection with all that it holds. Raises CollectionNotFound."""
        return await self._connection.read(Call("DELETE", (*_COLLECTIONS, name)), DeletedCollection)

    async def add(
        self,
        paths: Sequence[Path | str],
        *,
        collection: str | None = None,
        folder: str = "",
        metadata: Mapping[str, str] | None = None,
        wait: bool = True,
        progress: ProgressCallback | None = None,
    ) -> Added:
        """Send files, and what can be read below folders, to be added; a document of the same name is replaced.

        A document is named by `folder`, a slash, and its path below the folder that was given. Each folder becomes a
        job. With `wait`, all jobs have ended when this returns, and their reports name the documents that could not be
        read; `progress` is called with the progress of each. Files of a folder that are not sent, as they are hidden or
        no documents, are counted. Raises DocumentError for a file that cannot be sent, and JobFailed, once all jobs
        have ended, if one of them failed.
        """
        path = await self._path(collection, "documents")
        passed_over = Counter[str]()
        calls = [
            Call("POST", path, form=form, is_long=True)
            for form in upload_forms(paths, folder, metadata or {}, passed_over)
        ]
        uploads = [await self._connection.read(call, Uploaded) for call in calls]
        jobs = [upload.job for upload in uploads if upload.job is not None]
        if wait:
            jobs = await self._wait_for_all(jobs, progress)
        unchanged = tuple(name for upload in uploads for name in upload.unchanged)
        return Added(jobs=tuple(jobs), unchanged=unchanged, passed_over=dict(sorted(passed_over.items())))

    async def remove(
        self,
        name: str,
        *,
        collection: str | None = None,
        wait: bool = True,
        progress: ProgressCallback | None = None,
    ) -> Job:
        """Remove a document; `wait` and `progress` as for `add`. Raises UsageError where there is none, JobFailed."""
        call = Call("DELETE", await self._path(collection, "documents", *name.split("/")))
        job = (await self._connection.read(call, JobMade)).job
        return await self.wait_for_job(job.id, progress) if wait else job

    async def build_index(
        self,
        retriever: str,
        *,
        replace: bool = False,
        collection: str | None = None,
        wait: bool = True,
        progress: ProgressCallback | None = None,
    ) -> Job:
        """Build a retriever's index, or bring it up to date; `wait` and `progress` as for `add`. Raises JobFailed."""
        call = await self._post(collection, "indexes", {"retriever": retriever, "replace": replace})
        job = (await self._connection.read(call, JobMade)).job
        return await self.wait_for_job(job.id, progress) if wait else job

    async def jobs(self, *, collection: str | None = None) -> tuple[Job, ...]:
        """Return the last jobs, the newest first: those of one collection, or of all that the key may read."""
        call = Call("GET", _JOBS, params={} if collection is None else {"collection": collection})
        return (await self._connection.read(call, JobList)).jobs

    async def job(self, job_id: str) -> Job:
        """Return a job: how far it is, and its report once it has ended. Raises UsageError where there is none."""
        return await self._connection.read(Call("GET", (*_JOBS, job_id)), Job)

    async def cancel_job(self, job_id: str) -> Job:
        """Cancel a job: at once if it waits, soon if it runs; what it has stored stays."""
        return await self._connection.read(Call("DELETE", (*_JOBS, job_id)), Job)

    async def wait_for_job(self, job_id: str, progress: ProgressCallback | None = None) -> Job:
        """Return a job once it is done; `progress` is called each time that its progress changes.

        Raises JobFailed, and ServerUnreachable if the server ends meanwhile; the job goes on when the server is back.
        """
        async with aclosing(self._connection.events(Call("GET", (*_JOBS, job_id, "events"), is_long=True))) as events:
            async for name, data in events:
                if name == "progress" and progress is not None:
                    progress(self._connection.parse(data, JobProgress))
                elif name == "error":
                    raise self._connection.error(self._connection.parse(data, ErrorEvent).problem)
                elif name == "job":
                    return _done(self._connection.parse(data, Job))
        raise self._connection.ended()

    async def _wait_for_all(self, jobs: Sequence[Job], progress: ProgressCallback | None) -> list[Job]:
        done, failed = [], []
        for job in jobs:
            try:
                done.append(await self.wait_for_job(job.id, progress))
            except JobFailed as error:
                failed.append(str(error))
        if failed:
            raise JobFailed("; ".join(failed))
        return done

    async def conversations(
        self, *, collection: str | None = None, words: str = "", limit: int = 50, offset: int = 0
    ) -> tuple[ConversationSummary, ...]:
        """Return the stored conversations of the key, the last used first; those with all these words, if any."""
        params = {"words": words, "limit": str(limit), "offset": str(offset)}
        call = Call("GET", _CONVERSATIONS, params=params if collection is None else params | {"collection": collection})
        return (await self._connection.read(call, ConversationList)).conversations

    async def begin_conversation(self, title: str = "", *, collection: str | None = None) -> ConversationSummary:
        """Begin a conversation, to which questions that name its id are added."""
        body = {"collection": await self._name(collection), "title": title}
        return await self._connection.read(Call("POST", _CONVERSATIONS, json=body), ConversationSummary)

    async def conversation(self, conversation_id: str) -> Conversation:
        """Return a conversation with its questions and answers. Raises ConversationNotFound."""
        return await self._connection.read(Call("GET", (*_CONVERSATIONS, conversation_id)), Conversation)

    async def remove_conversation(self, conversation_id: str) -> None:
        """Delete a conversation with its answers. Raises ConversationNotFound."""
        await self._connection.fetch(Call("DELETE", (*_CONVERSATIONS, conversation_id)))

    async def export_conversation(self, conversation_id: str, form: ExportFormat = "markdown") -> bytes:
        """Return a conversation as a file: Markdown or Word with footnotes, or JSON. Raises ConversationNotFound."""
        call = Call("GET", (*_CONVERSATIONS, conversation_id, "export"), params={"format": form})
        return await self._connection.fetch(call)

    async def _post(self, collection: str | None, part: str, body: Mapping[str, object]) -> Call:
        return Call("POST", await self._path(collection, part), json=body)

    async def _get(self, collection: str | None, *parts: str, params: Mapping[str, str] | None = None) -> Call:
        return Call("GET", await self._path(collection, *parts), params=params or {})

    async def _path(self, collection: str | None, *parts: str) -> tuple[str, ...]:
        return (*_COLLECTIONS, await self._name(collection), *parts)

    async def _name(self, collection: str | None) -> str:
        return collection or self._collection or await self._only_collection()

    async def _only_collection(self) -> str:
        names = [collection.name for collection in await self.collections()]
        if len(names) != 1:
            shown = self._connection.address.shown
            raise UsageError(
                f"{shown} serves several collections: name one of {join_names(names)}."
                if names
                else f"{shown} serves no collection that may be read here."
            )
        self._collection = names[0]
        return names[0]


def _question(question: str, where: Filter | None, settings: Mapping[str, object] | None) -> dict[str, object]:
    narrowed = {} if where is None else where.model_dump(mode="json", exclude_defaults=True)
    return {"question": question, "filters": narrowed, "settings": dict(settings or {})}


def _turn(history: Sequence[Mapping[str, str]], conversation: str | bool | None) -> dict[str, object]:
    fields: dict[str, object] = {"history": [dict(message) for message in history]}
    if conversation is None:
        return fields
    return fields | ({"store": conversation} if isinstance(conversation, bool) else {"conversation": conversation})


def _page(document: str, page: int) -> tuple[str, ...]:
    return ("pages", *document.split("/"), str(page))


def _done(job: Job) -> Job:
    if job.status == "done":
        return job
    raise JobFailed(f"the server's job {job.id} ({job.kind}) {job.status}: {job.error or 'somebody ended it'}")
