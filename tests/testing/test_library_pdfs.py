"""The PDFs of the made library, and what links to them may lead to instead."""

import socket
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pypdfium2
import pytest

from quoteweave.collection.stores.content import ImageStore
from quoteweave.documents.parser import DocumentParser, ParserSettings
from quoteweave.testing import LibraryServer, MadePaper, PdfFault, make_library
from quoteweave.testing.literature_server.pdfs import ELSEWHERE, MANY_PAGES, PDF_FAULTS

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


def test_every_file_has_two_to_four_pages(server: LibraryServer) -> None:
    longest = max((paper for paper in LIBRARY.papers if paper.open_access), key=lambda paper: len(paper.full_text))
    shortest = min((paper for paper in LIBRARY.papers if paper.open_access), key=lambda paper: len(paper.full_text))
    for paper in (longest, shortest):
        assert 2 <= text_of(read(server, paper).content)[0] <= 4
    assert read(server, longest).content == read(server, longest).content


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


def test_a_page_of_html_and_another_type_are_no_pdf(server: LibraryServer) -> None:
    kinds: dict[PdfFault, str] = {"html": "text/html; charset=utf-8", "wrong_type": "image/png"}
    for fault, kind in kinds.items():
        server.break_pdf(PAPER, fault)
        response = read(server)
        assert response.headers["content-type"] == kind
        assert not response.content.startswith(b"%PDF")


def test_nobody_listens_at_a_dead_link(server: LibraryServer) -> None:
    server.break_pdf(PAPER, "dead")
    before = len(server.requests)
    with pytest.raises(httpx2.ConnectError):
        read(server)
    assert len(server.requests) == before
    address = httpx2.URL(server.pdf_url(PAPER))
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((address.host, address.port or 0), timeout=5)


def test_missing_and_truncated_files(server: LibraryServer) -> None:
    whole = read(server).content
    server.break_pdf(PAPER, "missing")
    assert read(server).status_code == 404
    server.break_pdf(PAPER, "truncated")
    assert read(server).content == whole[: len(whole) // 2]
    server.break_pdf(PAPER, None)
    assert read(server).content == whole


def test_a_file_of_many_pages(server: LibraryServer) -> None:
    server.break_pdf(PAPER, "many_pages")
    document = pypdfium2.PdfDocument(read(server).content)
    assert len(document) == MANY_PAGES
    assert "Page 2000 of 2000" in document[MANY_PAGES - 1].get_textpage().get_text_bounded()
    document.close()


def test_another_papers_file(server: LibraryServer) -> None:
    server.break_pdf(PAPER, "other_paper")
    text = text_of(read(server).content)[1]
    assert PAPER.title not in text
    assert any(paper.title in text and paper.topic != PAPER.topic for paper in LIBRARY.papers)


@pytest.mark.parametrize(("fault", "length"), [("too_large", str(2**30)), ("endless", None)])
def test_files_that_are_too_large_say_so_or_not(server: LibraryServer, fault: PdfFault, length: str | None) -> None:
    server.break_pdf(PAPER, fault)
    with CLIENT.stream("GET", server.pdf_url(PAPER)) as response:
        assert response.headers.get("content-length") == length
        received = 0
        for piece in response.iter_bytes():
            received += len(piece)
            if received > 2**20:
                break
    assert received > 2**20


def test_a_slow_file_comes_byte_by_byte_and_ends_when_the_server_closes() -> None:
    with LibraryServer(LIBRARY) as server:
        server.break_pdf(PAPER, "slow")
        with CLIENT.stream("GET", server.pdf_url(PAPER)) as response:
            pieces = response.iter_bytes()
            assert next(pieces) == b"%"
            assert int(response.headers["content-length"]) > 2000


@pytest.mark.parametrize(
    ("fault", "start"),
    [
        ("redirect", "{base}/pdf/moved-"),
        ("redirect_loop", "{base}/pdf/"),
        ("redirect_private", "http://127.0.0.2:"),
        ("redirect_link_local", "http://169.254.169.254/"),
        ("redirect_localhost", "http://localhost:"),
        ("redirect_elsewhere", f"http://{ELSEWHERE}/"),
    ],
)
def test_redirects(server: LibraryServer, fault: PdfFault, start: str) -> None:
    server.break_pdf(PAPER, fault)
    response = read(server)
    assert response.status_code == 302
    assert response.headers["location"].startswith(start.format(base=server.base_url))


def test_a_redirect_within_the_server_leads_to_the_file(server: LibraryServer) -> None:
    whole = read(server).content
    server.break_pdf(PAPER, "redirect")
    assert CLIENT.get(server.pdf_url(PAPER), follow_redirects=True).content == whole


def test_each_fault_leads_elsewhere_than_the_file(server: LibraryServer) -> None:
    whole = read(server).content
    for fault in set(PDF_FAULTS) - {"dead", "slow", "endless", "too_large"}:
        server.break_pdf(PAPER, fault)
        response = read(server)
        assert (response.status_code, response.content) != (200, whole), fault
