"""The server of the made library."""

import socket
import threading
import time
from collections.abc import Collection
from contextlib import suppress
from types import TracebackType
from typing import cast
from urllib.parse import parse_qsl, urlsplit

from quoteweave.testing.literature.library import make_library
from quoteweave.testing.literature.records import MadeLibrary, MadePaper
from quoteweave.testing.literature_server import openalex, semantic_scholar
from quoteweave.testing.literature_server.answers import Answer, Fault, Faults, ReceivedRequest, Refusal, error_answer
from quoteweave.testing.literature_server.catalogue import Catalogue
from quoteweave.testing.literature_server.pdfs import PaperLinks, PdfFault
from quoteweave.testing.loopback import LoopbackHandler, LoopbackServer


class LibraryServer(LoopbackServer):
    """Serves a made library as Semantic Scholar and OpenAlex do, and its PDFs, while its `with` block lasts.

    It answers what this package asks them: searches for papers and passages by words, and papers by their ids.
    `semantic_scholar_url`, `openalex_url` and `pdf_url` are the addresses for clients. With `keys`, requests that have
    another key are refused. `bulk_size` is how many papers the bulk search sends at once, 1,000 at the real service.
    `requests` holds the requests received, in order. Faults are scripted with `fail`, `reply`, `drop`, `hold`
    and `break_pdf`; their paths may contain `*`, such as `/graph/v1/paper/search*`. A request waits for all waits that
    are scripted for it, and gets the first scripted answer.
    """

    def __init__(
        self, library: MadeLibrary | None = None, *, keys: Collection[str] = (), bulk_size: int = 1_000
    ) -> None:
        super().__init__(_Handler)
        self.library = library or make_library()
        self.requests: list[ReceivedRequest] = []
        self._links, self._faults = PaperLinks(self.library), Faults()
        catalogue = Catalogue(self.library, self.pdf_url)
        self._semantic_scholar = semantic_scholar.SemanticScholarApi(catalogue, keys, bulk_size)
        self._openalex = openalex.OpenAlexApi(catalogue, keys)
        # Bound, but not listening: connections to it are refused.
        self._dead = socket.socket()
        self._dead.bind(("127.0.0.1", 0))

    @property
    def base_url(self) -> str:
        """The server's address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def semantic_scholar_url(self) -> str:
        """The base URL for clients of Semantic Scholar's Graph API."""
        return f"{self.base_url}{semantic_scholar.ROOT}"

    @property
    def openalex_url(self) -> str:
        """The base URL for clients of OpenAlex."""
        return f"{self.base_url}{openalex.ROOT}"

    def pdf_url(self, paper: MadePaper) -> str:
        """The address of a paper's PDF, as both services give it."""
        dead = self._links.broken.get(paper.id) == "dead"
        base = f"http://127.0.0.1:{self._dead.getsockname()[1]}" if dead else self.base_url
        return f"{base}/pdf/{paper.id}.pdf"

    def fail(self, path: str, status: int, times: int | None = 1, *, retry_after: float | str | None = None) -> None:
        """Answer that many requests, or all, with an error in the service's form; `retry_after` becomes a header."""
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        self._faults.add(Fault(path, times, error=(status, headers)))

    def reply(
        self, path: str, body: bytes, times: int | None = 1, *, status: int = 200, kind: str = "application/json"
    ) -> None:
        """Answer that many requests, or all, with these bytes of content type `kind`."""
        self._faults.add(Fault(path, times, Answer(status, body, {"Content-Type": kind})))

    def drop(self, path: str, times: int | None = 1) -> None:
        """Close the connections of that many requests, or of all, without a response."""
        self._faults.add(Fault(path, times, Answer(close=True)))

    def hold(self, path: str, times: int | None = None) -> threading.Event:
        """Make that many requests, or all, wait until the returned event is set or the server is closed."""
        gate = threading.Event()
        self._faults.add(Fault(path, times, gate=gate))
        return gate

    def break_pdf(self, paper: MadePaper, fault: PdfFault | None) -> None:
        """Make the link to a paper's PDF lead to something else; None repairs it."""
        self._links.broken.pop(paper.id, None)
        if fault is not None:
            self._links.broken[paper.id] = fault

    def clear_faults(self) -> None:
        """Remove all scripted faults, those of PDFs included; waiting requests go on."""
        self._faults.clear()
        self._links.broken.clear()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._closing.set()
        self._faults.clear()
        super().__exit__(kind, error, at)
        self._dead.close()

    def _answer(self, request: ReceivedRequest) -> Answer:
        with self._lock:
            self.requests.append(request)
        try:
            return self._scripted(request) or self._routed(request)
        except Refusal as refusal:
            return refusal.answer

    def _scripted(self, request: ReceivedRequest) -> Answer | None:
        """The scripted answer to a request, after its scripted waits."""
        answer = None
        for fault in self._faults.take(request.path):
            if fault.gate is not None:
                fault.gate.wait()
            answer = error_answer(request.path, *fault.error) if fault.error is not None else fault.answer or answer
        return answer

    def _routed(self, request: ReceivedRequest) -> Answer:
        if request.path.startswith(f"{semantic_scholar.ROOT}/"):
            return self._semantic_scholar.answer(request)
        if request.path.startswith(f"{openalex.ROOT}/"):
            return self._openalex.answer(request)
        if request.path.startswith("/pdf/"):
            return self._links.answer(request.path.removeprefix("/pdf/").removesuffix(".pdf"), self.base_url)
        raise Refusal(404, {"error": "Not Found"})


class _Handler(LoopbackHandler):
    @property
    def _library(self) -> LibraryServer:
        return cast(LibraryServer, self.server.owner)

    def do_GET(self) -> None:
        self._respond()

    def do_HEAD(self) -> None:
        self._respond()

    def do_POST(self) -> None:
        self._respond()

    def _respond(self) -> None:
        body = self.read_body()
        if body is None:
            return
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        params = dict(parse_qsl(parts.query, keep_blank_values=True))
        request = ReceivedRequest(self.command, parts.path, params, headers, body, time.monotonic())
        self._send(self._library._answer(request))

    def _send(self, answer: Answer) -> None:
        if answer.close:
            self.close_connection = True
            return
        length = len(answer.body) if answer.pieces is None else answer.declared
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if length is None:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()
        if self.command == "HEAD":
            return
        with suppress(ConnectionError):
            if answer.pieces is None:
                self.wfile.write(answer.body)
            else:
                self._send_pieces(answer)

    def _send_pieces(self, answer: Answer) -> None:
        self.close_connection = True
        for piece in answer.pieces or ():
            if self._library._wait(answer.every_s):
                return
            self.wfile.write(piece if answer.declared is not None else b"%x\r\n%b\r\n" % (len(piece), piece))
