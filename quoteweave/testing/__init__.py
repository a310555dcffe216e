"""Conformance tests, fakes and a scripted model server, for these tests and for authors of extensions."""

from quoteweave.testing.answer_conformance import check_answer, check_events
from quoteweave.testing.box_cases import box_cases, write_cases
from quoteweave.testing.boxes import (
    BoxCase,
    ExpectedRegion,
    changed_boxes,
    check_highlights,
    check_regions,
    fractions_of,
)
from quoteweave.testing.extension_conformance import check_metric, check_parser, check_reranker, check_retriever
from quoteweave.testing.fakes import FakeChat, FakeEncoder, FakeExpander, FakeReranker, FakeRetriever
from quoteweave.testing.model_server import ModelServer, Reply

__all__ = [
    "BoxCase",
    "ExpectedRegion",
    "FakeChat",
    "FakeEncoder",
    "FakeExpander",
    "FakeReranker",
    "FakeRetriever",
    "ModelServer",
    "Reply",
    "box_cases",
    "changed_boxes",
    "check_answer",
    "check_events",
    "check_highlights",
    "check_metric",
    "check_parser",
    "check_regions",
    "check_reranker",
    "check_retriever",
    "fractions_of",
    "write_cases",
]
