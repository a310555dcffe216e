"""The PDFs of the made library, and what broken links to them lead to; test_literature_unseen.py reads these."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pypdfium2
import pytest

from quoteweave.collection.stores.content import ImageStore
from quoteweave.documents.parser import DocumentParser, ParserSettings
from quoteweave.testing import LibraryServer, MadePaper, PdfFault, make_library
from quoteweave.testing.literature_server.pdfs import ELSEWHERE

LIBRARY = make_library()
PAPER = next(LIBRARY.paper(each.source) for each in LIBRARY.excerpts if each.kind == "full_text")
CLIENT = httpx2.Client()


@pytest.fixture(scope="module")
def shared() -> Iterator[LibraryServer]:
    with LibraryServer(LIBRARY) as server:
        yield server


@pytest.fixture
def server(shared: LibraryServer) -> Iterator[LibraryServer]:
    yield shared
    shared.clear_faults()


def read(server: LibraryServer, paper: MadePaper = PAPER) -> httpx2.Response:
    return CLIENT.get(server.pdf_url(paper))


def text_of(pdf: bytes) -> tuple[int, str]:
    document = pypdfium2.PdfDocument(pdf)
    try:
        pages = [document[number].get_textpage().get_text_bounded() for number in range(len(document))]
    finally:
        document.close()
    return len(pages), " ".join(" ".join(pages).split())


def test_a_file_has_the_whole_paper_on_some_pages(server: LibraryServer) -> None:
    response = read(server)
    assert (response.status_code, response.headers["content-type"]) == (200, "application/pdf")
    pages, text = text_of(response.content)
    assert 2 <= pages <= 4
    for part in (PAPER.title, PAPER.abstract, *PAPER.full_text.split("\n\n")):
        assert " ".join(part.split()) in text
    references = text.partition(" References ")[2]
    for number, id in enumerate(PAPER.references, 1):
        assert f"[{number}]" in references
        assert LIBRARY.paper(id).title in references


def test_our_parser_reads_the_paragraphs_of_a_file(server: LibraryServer, tmp_path: Path) -> None:
    path = tmp_path / "paper.pdf"
    path.write_bytes(read(server).content)
    parsed = DocumentParser(ImageStore(tmp_path / "images"), ParserSettings(ocr=False)).parse(path)
    quotes = [" ".join(quote.text.split()) for quote in parsed.quotes]
    assert quotes[0] == PAPER.title
    paragraphs = [part for section in PAPER.sections for part in section.text.split("\n\n")]
    whole = [part for part in paragraphs if part in quotes]
    assert len(whole) > len(paragraphs) / 2  # others go on at the next page


def test_papers_that_are_not_open_access_have_no_file(server: LibraryServer) -> None:
    closed = next(paper for paper in LIBRARY.papers if not paper.open_access)
    assert read(server, closed).status_code == 404


@pytest.mark.parametrize(
    ("fault", "status", "header", "value"),
    [
        ("html", 200, "content-type", "text/html; charset=utf-8"),
        ("wrong_type", 200, "content-type", "image/png"),
        ("missing", 404, "content-type", "text/plain"),
        ("too_large", 200, "content-length", str(2**30)),
        ("endless", 200, "content-length", None),
        ("redirect", 302, "location", "{base}/pdf/moved-{id}.pdf"),
        ("redirect_loop", 302, "location", "{base}/pdf/{id}.pdf"),
        ("redirect_private", 302, "location", "http://127.0.0.2:{port}/pdf/{id}.pdf"),
        ("redirect_link_local", 302, "location", "http://169.254.169.254/latest/meta-data/"),
        ("redirect_localhost", 302, "location", "http://localhost:{port}/pdf/moved-{id}.pdf"),
        ("redirect_elsewhere", 302, "location", f"http://{ELSEWHERE}/pdf/{{id}}.pdf"),
    ],
)
def test_a_broken_link_leads_to_what_its_fault_says(
    server: LibraryServer, fault: PdfFault, status: int, header: str, value: str | None
) -> None:
    server.break_pdf(PAPER, fault)
    port = server.base_url.rpartition(":")[2]
    with CLIENT.stream("GET", server.pdf_url(PAPER)) as response:
        told = value and value.format(base=server.base_url, port=port, id=PAPER.id)
        assert (response.status_code, response.headers.get(header)) == (status, told)


def test_nobody_listens_at_a_dead_link(server: LibraryServer) -> None:
    server.break_pdf(PAPER, "dead")
    with pytest.raises(httpx2.ConnectError):
        read(server)


def test_a_slow_file_comes_byte_by_byte_and_ends_when_the_server_closes() -> None:
    with LibraryServer(LIBRARY) as server:
        server.break_pdf(PAPER, "slow")
        with CLIENT.stream("GET", server.pdf_url(PAPER)) as response:
            pieces = response.iter_bytes()
            assert next(pieces) == b"%"
            assert int(response.headers["content-length"]) > 2000
