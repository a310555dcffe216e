"""Conformance tests, fakes, a scripted model server and a made library of papers: for our tests, and for extensions."""

from quoteweave.testing.box_cases import box_cases, write_cases
from quoteweave.testing.boxes import (
    BoxCase,
    ExpectedRegion,
    changed_boxes,
    check_highlights,
    check_regions,
    fractions_of,
)
from quoteweave.testing.conformance import (
    check_answer,
    check_events,
    check_metric,
    check_parser,
    check_reranker,
    check_retriever,
    check_source,
)
from quoteweave.testing.fakes import FakeChat, FakeEncoder, FakeExpander, FakeReranker, FakeRetriever
from quoteweave.testing.literature import MadeExcerpt, MadeLibrary, MadePaper, make_library, write_citeme
from quoteweave.testing.literature_server import LibraryServer, PdfFault, ReceivedRequest
from quoteweave.testing.model_server import ModelServer, Reply

__all__ = [
    "BoxCase",
    "ExpectedRegion",
    "FakeChat",
    "FakeEncoder",
    "FakeExpander",
    "FakeReranker",
    "FakeRetriever",
    "LibraryServer",
    "MadeExcerpt",
    "MadeLibrary",
    "MadePaper",
    "ModelServer",
    "PdfFault",
    "ReceivedRequest",
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
    "check_source",
    "fractions_of",
    "make_library",
    "write_cases",
    "write_citeme",
]
