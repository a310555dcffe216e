"""Collections, their documents as they are listed, and their retrievers."""

from pathlib import Path

from fastapi import APIRouter
from pydantic import Field, field_validator

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import CollectionExists, QuoteweaveError
from quoteweave.core.records import Document, Record
from quoteweave.interchange.responses import (
    CollectionList,
    CollectionSummary,
    DeletedCollection,
    DocumentList,
    OpeningQuestions,
    UnreadFile,
)
from quoteweave.retrievers.spec import parse_spec
from quoteweave.server.depends import Admin, CollectionName, JobsState, Readable, ServedState, VisibleNames
from quoteweave.server.document_pages import find_document
from quoteweave.server.json_bodies import JsonRoute
from quoteweave.server.problems import ProblemError, without_folders
from quoteweave.server.routes.quotes import DocumentName
from quoteweave.server.served import Served, no_such_collection
from quoteweave.server.settings import NAME, NAME_RULE

router = APIRouter(tags=["collections"], route_class=JsonRoute)


class NewCollection(Record):
    """A collection to be made."""

    name: str = Field(
        description=f"its name in addresses, and that of its folder: {NAME_RULE}",
        examples=["reports"],
        json_schema_extra={"pattern": f"^{NAME.pattern}$"},
    )

    @field_validator("name")
    @classmethod
    def _is_a_name(cls, name: str) -> str:
        if not NAME.fullmatch(name):
            raise ValueError(f"it cannot be a collection's name in addresses: {NAME_RULE}")
        return name


@router.get("/v1/collections", summary="The collections")
def list_collections(served: ServedState, names: VisibleNames) -> CollectionList:
    """List the collections that may be read, those that are damaged too, with the reason."""
    return CollectionList(collections=tuple(_summary(served, name) for name in names))


@router.get("/v1/collections/{collection}", summary="A collection")
def read_collection(collection: Readable, served: ServedState) -> CollectionSummary:
    """Return what a collection holds, and the retrievers that a request may name."""
    return _summary(served, collection.name)


@router.get("/v1/collections/{collection}/questions", summary="Questions to begin with")
def read_opening_questions(collection: Readable) -> OpeningQuestions:
    """Return a few questions that the documents answer in their own words; none where they suggest none."""
    return OpeningQuestions(questions=collection.opening_questions())


@router.post("/v1/collections", summary="Make a collection", status_code=201)
def make_collection(request: NewCollection, served: ServedState, grant: Admin) -> CollectionSummary:
    """Make an empty collection in the folder of the server's setting `collections_folder`."""
    name = request.name
    if not grant.opens(name):
        raise ProblemError(403, "other-collection", f"the key does not open a collection {name!r}")
    if name in served.folders():
        raise CollectionExists(f"a collection is served under the name {name!r} already; choose another")
    Collection.create(_changeable_folder(served) / name).close()
    return _summary(served, name)


@router.delete("/v1/collections/{collection}", summary="Delete a collection")
def delete_collection(
    collection: CollectionName, names: VisibleNames, served: ServedState, jobs: JobsState, _: Admin
) -> DeletedCollection:
    """Delete a collection, only one made in `collections_folder`, with all that the server holds of it.

    These are its documents, indexes, jobs and uploads, and the conversations about it, whoever had them.
    """
    if collection not in names:
        raise no_such_collection(collection)
    name, folder = collection, served.folders()[collection]
    if name in served.settings.collections:
        raise _not_changeable(f"{name!r} was named by whoever runs the server, and is not deleted from here")
    summary, conversations = _summary(served, name), served.conversations  # first, as it may fail before any deletion
    cancelled = jobs.delete_collection(name, folder)
    served.forget(name)
    deleted = conversations.delete_about(name)
    return DeletedCollection(name=name, counts=summary.counts, cancelled_jobs=cancelled, conversations=deleted)


def _changeable_folder(served: Served) -> Path:
    """Return the folder in which collections may be made. Raises ProblemError where the server has none."""
    folder = served.settings.collections_folder
    if folder is None:
        raise _not_changeable("this server makes and deletes no collections; whoever runs it can allow that")
    return folder


def _not_changeable(detail: str) -> ProblemError:
    return ProblemError(403, "collections-fixed", detail)


def _summary(served: ServedState, name: str) -> CollectionSummary:
    try:
        opened = served.collection(name)
        retrievers = tuple(_without_paths(spec) for spec in served.retrievers(opened))
        return CollectionSummary(name=name, counts=opened.collection.counts(), retrievers=retrievers)
    except QuoteweaveError as error:
        return CollectionSummary(name=name, counts=None, error=without_folders(error.summary, served.places()))


def _without_paths(text: str) -> str:
    """Return a retriever's spec without the folder of its checkpoint, as clients should not see the server's paths."""
    spec = parse_spec(text)
    return spec.model_copy(update={"checkpoint": None}).shown if spec.checkpoint else spec.shown


@router.get("/v1/collections/{collection}/documents", summary="The documents")
def list_documents(collection: Readable) -> DocumentList:
    """List the documents by name, and the files that could not be read, with the reason."""
    opened, places = collection.collection, {collection.name: collection.folder}
    unread = [
        UnreadFile(
            name=failure.name,
            reason=without_folders(failure.reason, {**places, "the added folder": failure.root}),
            content=failure.content,
            time=failure.time,
        )
        for failure in opened.failures()
    ]
    return DocumentList(documents=tuple(opened.documents()), failures=tuple(unread))


@router.get("/v1/collections/{collection}/documents/{document:path}", summary="A document")
def read_document(collection: Readable, document: DocumentName) -> Document:
    """Return a document's record."""
    return find_document(collection.collection, document)
