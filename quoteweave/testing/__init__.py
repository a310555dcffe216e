"""Fakes and a scripted model server, for these tests and for authors of extensions."""

from quoteweave.testing.chat_server import ChatServer, Reply
from quoteweave.testing.fakes import FakeChat, FakeRetriever

__all__ = ["ChatServer", "FakeChat", "FakeRetriever", "Reply"]
