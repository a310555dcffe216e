"""A server on loopback that answers as Semantic Scholar and OpenAlex do, over a made library, and serves its PDFs."""

from quoteweave.testing.literature_server.answers import ReceivedRequest
from quoteweave.testing.literature_server.pdfs import PdfFault
from quoteweave.testing.literature_server.server import LibraryServer

__all__ = ["LibraryServer", "PdfFault", "ReceivedRequest"]
