"""Conformance tests, fakes and a scripted model server, for these tests and for authors of extensions."""

from quoteweave.testing.answer_conformance import check_answer, check_events
from quoteweave.testing.extension_conformance import check_metric, check_parser, check_reranker, check_retriever
from quoteweave.testing.fakes import FakeChat, FakeEncoder, FakeExpander, FakeReranker, FakeRetriever
from quoteweave.testing.model_server import ModelServer, Reply

__all__ = [
    "FakeChat",
    "FakeEncoder",
    "FakeExpander",
    "FakeReranker",
    "FakeRetriever",
    "ModelServer",
    "Reply",
    "check_answer",
    "check_events",
    "check_metric",
    "check_parser",
    "check_reranker",
    "check_retriever",
]
