"""Retrieve text and image quotes from documents, and weave them into answers in which every claim is cited.

    from quoteweave import Collection, ExtractiveGenerator, LexicalRetriever, Rag

    with Collection.open("my-collection") as collection:
        rag = Rag(LexicalRetriever(collection), ExtractiveGenerator())
        answer = rag.answer("By how much did petroleum products fall?")

Names load their module when they are first used: importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quoteweave.collection.collection import Collection
    from quoteweave.core.answers import Answer, Citation, Context
    from quoteweave.core.errors import QuoteweaveError
    from quoteweave.core.records import Document, Filter, Hit, Query, Quote
    from quoteweave.documents.ingest import AddOptions, AddReport, add
    from quoteweave.documents.parser import ParserSettings
    from quoteweave.endpoints.chat import OpenAIChat
    from quoteweave.generation.chat_generator import CitedGenerator
    from quoteweave.generation.extractive import ExtractiveGenerator
    from quoteweave.pipeline.ordering import make_sentence_scorer
    from quoteweave.pipeline.pictures import CollectionPictures
    from quoteweave.pipeline.rag import Rag
    from quoteweave.pipeline.search import Search
    from quoteweave.retrievers.fusion import FusedRetriever, SplitHybrid
    from quoteweave.retrievers.lexical import LexicalRetriever
    from quoteweave.retrievers.registry import Means, make_retriever
    from quoteweave.retrievers.sparse import Bm25Retriever
    from quoteweave.retrievers.terms import Terms, read_terms
    from quoteweave.retrievers.vector import VectorRetriever

_HOME = {
    "AddOptions": "documents.ingest",
    "AddReport": "documents.ingest",
    "Answer": "core.answers",
    "Bm25Retriever": "retrievers.sparse",
    "Citation": "core.answers",
    "CitedGenerator": "generation.cited",
    "Collection": "index.collection",
    "CollectionPictures": "pipeline.pictures",
    "Context": "core.answers",
    "Document": "core.records",
    "ExtractiveGenerator": "generation.extractive",
    "Filter": "core.records",
    "FusedRetriever": "retrievers.fusion",
    "Hit": "core.records",
    "LexicalRetriever": "retrievers.lexical",
    "Means": "retrievers.registry",
    "OpenAIChat": "endpoints.chat",
    "ParserSettings": "documents.parse",
    "Query": "core.records",
    "Quote": "core.records",
    "QuoteweaveError": "core.errors",
    "Rag": "pipeline.rag",
    "Search": "pipeline.search",
    "SplitHybrid": "retrievers.hybrid",
    "Terms": "retrievers.terms",
    "VectorRetriever": "retrievers.vector",
    "add": "documents.ingest",
    "make_retriever": "retrievers.registry",
    "make_sentence_scorer": "pipeline.ordering",
    "read_terms": "retrievers.terms",
}
__all__ = [
    "AddOptions",
    "AddReport",
    "Answer",
    "Bm25Retriever",
    "Citation",
    "CitedGenerator",
    "Collection",
    "CollectionPictures",
    "Context",
    "Document",
    "ExtractiveGenerator",
    "Filter",
    "FusedRetriever",
    "Hit",
    "LexicalRetriever",
    "Means",
    "OpenAIChat",
    "ParserSettings",
    "Query",
    "Quote",
    "QuoteweaveError",
    "Rag",
    "Search",
    "SplitHybrid",
    "Terms",
    "VectorRetriever",
    "add",
    "make_retriever",
    "make_sentence_scorer",
    "read_terms",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'quoteweave' has no attribute {name!r}")
    return getattr(import_module(f"quoteweave.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
