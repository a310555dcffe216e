"""Asks retrievers, given by name, a set of questions, within the document of each and over the whole collection."""

from collections.abc import Sequence

from common import minilm

from quoteweave.collection.collection import Collection
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.protocols import Retriever
from quoteweave.pipeline.runs.ranking import SCOPES, run_retrieval
from quoteweave.retrievers.make_retriever import make_fused
from quoteweave.retrievers.vector import VectorRetriever

PAGES = tuple(f"page_recall@{k}" for k in (1, 3, 5, 10))
BOXES = tuple(f"box_{figure}@{k}" for figure in ("recall", "precision") for k in (5, 10, 20))


def ask(examples: Sequence[Example], parts: Sequence[str], collection: Collection) -> list[Prediction]:
    """What the retrievers of those names find, fused as `search` fuses them; missing indexes are built first.

    `minilm` stands for the weights of all-MiniLM-L6-v2.
    """
    retrievers = [built(part, collection) for part in parts]
    return found(
        examples, retrievers[0] if len(retrievers) == 1 else make_fused(_specs(parts), None, collection), collection
    )


def built(part: str, collection: Collection) -> Retriever:
    """The retriever of that name, with the index that it needs."""
    retriever = make_fused(_specs([part]), None, collection)
    if isinstance(retriever, VectorRetriever):
        retriever.refresh()
    return retriever


def found(examples: Sequence[Example], retriever: Retriever, collection: Collection) -> list[Prediction]:
    """What a retriever finds for each question, in both scopes."""
    documents = {document.name for document in collection.documents()}
    predictions = (run_retrieval(examples, retriever, scope=scope, documents=documents) for scope in SCOPES)
    return [prediction for scope in predictions for prediction in scope]


def _specs(parts: Sequence[str]) -> list[str]:
    return [f"minilm={minilm()}" if part == "minilm" else part for part in parts]
