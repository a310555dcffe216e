"""Fakes and a scripted model server, for these tests and for authors of extensions."""

from quoteweave.testing.answers import check_answer, check_events
from quoteweave.testing.encoders import FakeEncoder
from quoteweave.testing.fakes import FakeChat, FakeExpander, FakeReranker, FakeRetriever
from quoteweave.testing.model_server import ModelServer
from quoteweave.testing.replies import Reply

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
]
