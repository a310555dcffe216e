"""`Client`: asks a running server from programs without an event loop."""

from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from quoteweave.client.asynchronous import RETRIES, TIMEOUT_S, AsyncClient, ProgressCallback
from quoteweave.client.uploads import Added
from quoteweave.core.answers import Answer
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.records import Document, Filter
from quoteweave.interchange.jobs import Job
from quoteweave.interchange.responses import (
    AnswerResponse,
    CollectionSummary,
    Conversation,
    ConversationSummary,
    DeletedCollection,
    DocumentList,
    ModelList,
    PageResponse,
    PageWordBox,
    QuoteResponse,
    SearchResponse,
)
from quoteweave.pipeline.rag import StreamEvent


class Client:
    """Asks a running quoteweave server: the same records, events and errors as from `Rag` and `Collection`.

    Parameters and errors are those of `AsyncClient`, whose methods these are. Threads may share a client.

    >>> client = Client(server.url)
    >>> client.answer("How much grain was shipped in May?").citations[0].document
    'port.md'
    >>> [hit.place for hit in client.search("timber", k=1).hits]
    ['Freight in May']
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
        self._client = AsyncClient(url, key, collection=collection, timeout_s=timeout_s, max_retries=max_retries)

    def answer(
        self,
        question: str,
        *,
        collection: str | None = None,
        filters: Filter | None = None,
        settings: Mapping[str, object] | None = None,
        history: Sequence[Mapping[str, str]] = (),
        conversation: str | bool | None = None,
    ) -> Answer:
        """Return a cited answer to the question."""
        return self.ask(
            question,
            collection=collection,
            filters=filters,
            settings=settings,
            history=history,
            conversation=conversation,
        ).answer

    def ask(
        self,
        question: str,
        *,
        collection: str | None = None,
        filters: Filter | None = None,
        settings: Mapping[str, object] | None = None,
        history: Sequence[Mapping[str, str]] = (),
        conversation: str | bool | None = None,
    ) -> AnswerResponse:
        """Answer a question, and return its context, the trace and the conversation with the answer."""
        return run_sync(
            self._client.ask(
                question,
                collection=collection,
                filters=filters,
                settings=settings,
                history=history,
                conversation=conversation,
            )
        )

    def stream(
        self,
        question: str,
        *,
        collection: str | None = None,
        filters: Filter | None = None,
        settings: Mapping[str, object] | None = None,
        history: Sequence[Mapping[str, str]] = (),
        conversation: str | bool | None = None,
    ) -> Generator[StreamEvent, None, None]:
        """Yield the events of the answer as they come, as `Rag.stream` does.

        Whoever stops reading early closes the stream (`contextlib.closing`): the server then ends its work too.
        """
        events = self._client.stream(
            question,
            collection=collection,
            filters=filters,
            settings=settings,
            history=history,
            conversation=conversation,
        )

        async def next_event() -> StreamEvent | None:
            return await anext(events, None)

        try:
            while (event := run_sync(next_event())) is not None:
                yield event
        finally:
            run_sync(_closed(events))

    def search(
        self,
        question: str,
        k: int = 10,
        *,
        collection: str | None = None,
        filters: Filter | None = None,
        settings: Mapping[str, object] | None = None,
    ) -> SearchResponse:
        """Return the `k` quotes that bear most on a question, best first, and how they were found."""
        return run_sync(self._client.search(question, k, collection=collection, filters=filters, settings=settings))

    def quote(self, quote_id: str, *, collection: str | None = None) -> QuoteResponse:
        """Return a quote, its boxes, and the quotes beside it."""
        return run_sync(self._client.quote(quote_id, collection=collection))

    def quote_image(self, quote_id: str, *, collection: str | None = None) -> bytes:
        """Return the picture of a quote, cut out of its page, as PNG."""
        return run_sync(self._client.quote_image(quote_id, collection=collection))

    def page(self, document: str, page: int, *, collection: str | None = None) -> PageResponse:
        """Return a page, counted from 0, with its quotes."""
        return run_sync(self._client.page(document, page, collection=collection))

    def page_image(
        self,
        document: str,
        page: int,
        *,
        quote_id: str | None = None,
        form: Literal["png", "jpeg"] = "png",
        collection: str | None = None,
    ) -> bytes:
        """Return a page as people see it, with a quote's box drawn if asked."""
        return run_sync(self._client.page_image(document, page, quote_id=quote_id, form=form, collection=collection))

    def page_words(self, document: str, page: int, *, collection: str | None = None) -> tuple[PageWordBox, ...] | None:
        """Return the words of a page with their boxes; None where they are not known."""
        return run_sync(self._client.page_words(document, page, collection=collection))

    def documents(self, *, collection: str | None = None) -> DocumentList:
        """Return the documents, and the files that could not become documents, with the reason."""
        return run_sync(self._client.documents(collection=collection))

    def document(self, name: str, *, collection: str | None = None) -> Document:
        """Return a document's record."""
        return run_sync(self._client.document(name, collection=collection))

    def collections(self) -> tuple[CollectionSummary, ...]:
        """Return the collections that the key may read, those that are damaged too, with the reason."""
        return run_sync(self._client.collections())

    def models(self) -> ModelList:
        """Return the models, expanders and rerankers that `settings` may name."""
        return run_sync(self._client.models())

    def create_collection(self, name: str) -> CollectionSummary:
        """Make an empty collection, where the server lets collections be made."""
        return run_sync(self._client.create_collection(name))

    def remove_collection(self, name: str) -> DeletedCollection:
        """Delete a collection with all that it holds."""
        return run_sync(self._client.remove_collection(name))

    def add(
        self,
        paths: Sequence[Path | str],
        *,
        collection: str | None = None,
        folder: str = "",
        metadata: Mapping[str, str] | None = None,
        wait: bool = True,
        progress: ProgressCallback | None = None,
    ) -> Added:
        """Send files, and what can be read below folders, to be added; a document of the same name is replaced."""
        return run_sync(
            self._client.add(
                paths, collection=collection, folder=folder, metadata=metadata, wait=wait, progress=progress
            )
        )

    def remove(
        self,
        name: str,
        *,
        collection: str | None = None,
        wait: bool = True,
        progress: ProgressCallback | None = None,
    ) -> Job:
        """Remove a document."""
        return run_sync(self._client.remove(name, collection=collection, wait=wait, progress=progress))

    def build_index(
        self,
        retriever: str,
        *,
        replace: bool = False,
        collection: str | None = None,
        wait: bool = True,
        progress: ProgressCallback | None = None,
    ) -> Job:
        """Build a retriever's index, or bring it up to date."""
        return run_sync(
            self._client.build_index(retriever, replace=replace, collection=collection, wait=wait, progress=progress)
        )

    def jobs(self, *, collection: str | None = None) -> tuple[Job, ...]:
        """Return the last jobs, the newest first."""
        return run_sync(self._client.jobs(collection=collection))

    def job(self, job_id: str) -> Job:
        """Return a job: how far it is, and its report once it has ended."""
        return run_sync(self._client.job(job_id))

    def cancel_job(self, job_id: str) -> Job:
        """Cancel a job: at once where it waits, soon where it runs; what it has stored stays."""
        return run_sync(self._client.cancel_job(job_id))

    def wait_for_job(self, job_id: str, progress: ProgressCallback | None = None) -> Job:
        """Return a job once it is done; `progress` is called with how far it is, from another thread."""
        return run_sync(self._client.wait_for_job(job_id, progress))

    def conversations(
        self, *, collection: str | None = None, words: str = "", limit: int = 50, offset: int = 0
    ) -> tuple[ConversationSummary, ...]:
        """Return the stored conversations of the key, the last used first; those with all these words, if any."""
        return run_sync(self._client.conversations(collection=collection, words=words, limit=limit, offset=offset))

    def begin_conversation(self, title: str = "", *, collection: str | None = None) -> ConversationSummary:
        """Begin a conversation, to which questions that name its id are added."""
        return run_sync(self._client.begin_conversation(title, collection=collection))

    def conversation(self, conversation_id: str) -> Conversation:
        """Return a conversation with its questions and answers."""
        return run_sync(self._client.conversation(conversation_id))

    def remove_conversation(self, conversation_id: str) -> None:
        """Delete a conversation with its answers."""
        run_sync(self._client.remove_conversation(conversation_id))

    def export_conversation(
        self, conversation_id: str, form: Literal["markdown", "docx", "json"] = "markdown"
    ) -> bytes:
        """Return a conversation as a file: Markdown or Word with footnotes, or JSON."""
        return run_sync(self._client.export_conversation(conversation_id, form))


async def _closed(events: AsyncGenerator[StreamEvent, None]) -> None:
    await events.aclose()
