"""Collections, their documents as they are listed, and the models that a request may name."""

from fastapi import APIRouter
from pydantic import Field

from quoteweave.collection.records import CollectionCounts, Failure
from quoteweave.core.errors import QuoteweaveError
from quoteweave.core.records import Document, Record
from quoteweave.retrievers.spec import parse_spec
from quoteweave.server.depends import Readable, ServedState, VisibleNames
from quoteweave.server.routes.quotes import DocumentName, find_document
from quoteweave.server.served import EXTRACTIVE

router = APIRouter(tags=["collections"])


class CollectionSummary(Record):
    """A collection that is served."""

    name: str
    counts: CollectionCounts | None = Field(description="None where it cannot be read")
    error: str | None = Field(default=None, description="why it cannot be read")
    retrievers: tuple[str, ...] = Field(default=(), description="retrievers that a request may name")


class CollectionList(Record):
    """The collections that the key may read."""

    collections: tuple[CollectionSummary, ...]


class DocumentList(Record):
    """The documents of a collection, and the files that could not become documents."""

    documents: tuple[Document, ...]
    failures: tuple[Failure, ...]


class ModelSummary(Record):
    """A model that a request may name."""

    name: str
    default: bool = Field(description="whether it answers where a request names none")
    destination: str | None = Field(description="where questions and quotes are sent; None: nowhere")


class ModelList(Record):
    """The models that answer, and how a request may choose among retrievers."""

    models: tuple[ModelSummary, ...]
    expanders: tuple[str, ...]
    rerankers: tuple[str, ...]


@router.get("/v1/collections", summary="The collections")
def list_collections(served: ServedState, names: VisibleNames) -> CollectionList:
    """List the collections that may be read, those that are damaged too, with the reason."""
    return CollectionList(collections=tuple(_summary(served, name) for name in names))


@router.get("/v1/collections/{collection}", summary="A collection")
def read_collection(collection: Readable, served: ServedState) -> CollectionSummary:
    """Return what a collection holds, and the retrievers that a request may name."""
    return _summary(served, collection.name)


def _summary(served: ServedState, name: str) -> CollectionSummary:
    try:
        found = served.collection(name)
        shown = tuple(_without_paths(spec) for spec in served.retrievers(found))
        return CollectionSummary(name=name, counts=found.collection.counts(), retrievers=shown)
    except QuoteweaveError as error:
        return CollectionSummary(name=name, counts=None, error=str(error))


def _without_paths(text: str) -> str:
    """Return a retriever's spec without the folder of its checkpoint, which is the server's own."""
    spec = parse_spec(text)
    return spec.model_copy(update={"checkpoint": None}).shown if spec.checkpoint else spec.shown


@router.get("/v1/collections/{collection}/documents", summary="The documents")
def list_documents(collection: Readable) -> DocumentList:
    """List the documents by name, and the files that could not be read, with the reason."""
    opened = collection.collection
    return DocumentList(documents=tuple(opened.documents()), failures=tuple(opened.failures()))


@router.get("/v1/collections/{collection}/documents/{document:path}", summary="A document")
def read_document(collection: Readable, document: DocumentName) -> Document:
    """Return a document's record."""
    return find_document(collection.collection, document)


@router.get("/v1/models", summary="The models")
def list_models(served: ServedState) -> ModelList:
    """List the chat models that a request may name, and `extractive`, which asks none."""
    own = served.defaults.model
    models = [
        ModelSummary(name=name, default=name == own, destination=settings.destination)
        for name, settings in served.models().items()
    ]
    models.append(ModelSummary(name=EXTRACTIVE, default=own is None, destination=None))
    chat = ("chat",) if own is not None else ()
    return ModelList(
        models=tuple(models), expanders=("rules", "rm3", *chat), rerankers=(*served.settings.rerankers, *chat)
    )
