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
    from quoteweave.pipeline.runs.answer import RunHooks, RunOutcome, answer_dataset
    from quoteweave.pipeline.runs.build import (
        add_documents,
        build_index,
        index_specs,
        list_indexes,
        plan_indexes,
        remove_indexes,
    )
    from quoteweave.pipeline.runs.compose import make_rag
    from quoteweave.pipeline.runs.config import RunFile, RunSettings, read_run_file
    from quoteweave.pipeline.runs.describe import DescribeOptions, DescribeReport, describe_collection
    from quoteweave.pipeline.runs.progress import Progress
    from quoteweave.pipeline.runs.retrieval import Questions, RetrievalRun, search_dataset
    from quoteweave.pipeline.search import Search
    from quoteweave.pipeline.settings import AnswerSettings, ChatSettings, ResourceSettings, RetrievalSettings
    from quoteweave.retrievers.fusion import FusedRetriever, SplitHybrid
    from quoteweave.retrievers.lexical import LexicalRetriever
    from quoteweave.retrievers.registry import Resources, make_retriever
    from quoteweave.retrievers.sparse import Bm25Retriever
    from quoteweave.retrievers.terms import Terms, read_terms
    from quoteweave.retrievers.vector import VectorRetriever

_HOME = {
    "add": "documents.ingest",
    "add_documents": "pipeline.runs.build",
    "AddOptions": "documents.ingest",
    "AddReport": "documents.ingest",
    "Answer": "core.answers",
    "answer_dataset": "pipeline.runs.answer",
    "AnswerSettings": "pipeline.settings",
    "Bm25Retriever": "retrievers.sparse",
    "build_index": "pipeline.runs.build",
    "ChatSettings": "pipeline.settings",
    "Citation": "core.answers",
    "CitedGenerator": "generation.cited",
    "Collection": "index.collection",
    "CollectionPictures": "pipeline.pictures",
    "Context": "core.answers",
    "describe_collection": "pipeline.runs.describe",
    "DescribeOptions": "pipeline.runs.describe",
    "DescribeReport": "pipeline.runs.describe",
    "Document": "core.records",
    "ExtractiveGenerator": "generation.extractive",
    "Filter": "core.records",
    "FusedRetriever": "retrievers.fusion",
    "Hit": "core.records",
    "index_specs": "pipeline.runs.build",
    "LexicalRetriever": "retrievers.lexical",
    "list_indexes": "pipeline.runs.build",
    "make_rag": "pipeline.runs.compose",
    "make_retriever": "retrievers.registry",
    "make_sentence_scorer": "pipeline.ordering",
    "Means": "retrievers.registry",
    "OpenAIChat": "endpoints.chat",
    "ParserSettings": "documents.parse",
    "plan_indexes": "pipeline.runs.build",
    "Progress": "pipeline.runs.progress",
    "Query": "core.records",
    "Questions": "pipeline.runs.retrieval",
    "Quote": "core.records",
    "QuoteweaveError": "core.errors",
    "Rag": "pipeline.rag",
    "read_run_file": "pipeline.runs.config",
    "read_terms": "retrievers.terms",
    "remove_indexes": "pipeline.runs.build",
    "ResourceSettings": "pipeline.settings",
    "RetrievalRun": "pipeline.runs.retrieval",
    "RetrievalSettings": "pipeline.settings",
    "RunFile": "pipeline.runs.config",
    "RunHooks": "pipeline.runs.answer",
    "RunOutcome": "pipeline.runs.answer",
    "RunSettings": "pipeline.runs.config",
    "Search": "pipeline.search",
    "search_dataset": "pipeline.runs.retrieval",
    "SplitHybrid": "retrievers.hybrid",
    "Terms": "retrievers.terms",
    "VectorRetriever": "retrievers.vector",
}
__all__ = [
    "AddOptions",
    "AddReport",
    "Answer",
    "AnswerSettings",
    "Bm25Retriever",
    "ChatSettings",
    "Citation",
    "CitedGenerator",
    "Collection",
    "CollectionPictures",
    "Context",
    "DescribeOptions",
    "DescribeReport",
    "Document",
    "ExtractiveGenerator",
    "Filter",
    "FusedRetriever",
    "Hit",
    "LexicalRetriever",
    "OpenAIChat",
    "ParserSettings",
    "Progress",
    "Query",
    "Questions",
    "Quote",
    "QuoteweaveError",
    "Rag",
    "ResourceSettings",
    "Resources",
    "RetrievalRun",
    "RetrievalSettings",
    "RunFile",
    "RunHooks",
    "RunOutcome",
    "RunSettings",
    "Search",
    "SplitHybrid",
    "Terms",
    "VectorRetriever",
    "add",
    "add_documents",
    "answer_dataset",
    "build_index",
    "describe_collection",
    "index_specs",
    "list_indexes",
    "make_rag",
    "make_retriever",
    "make_sentence_scorer",
    "plan_indexes",
    "read_run_file",
    "read_terms",
    "remove_indexes",
    "search_dataset",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'quoteweave' has no attribute {name!r}")
    return getattr(import_module(f"quoteweave.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
