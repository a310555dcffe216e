"""The PDFs of the made library's papers, and what can be wrong with the links to them."""

import textwrap
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import repeat
from typing import Literal, get_args

from quoteweave.testing.box_pages import ASCENT, LEADING, MadePage, Paragraph, Sheet, make_pdf
from quoteweave.testing.literature.records import MadeLibrary, MadePaper
from quoteweave.testing.literature_server.answers import Answer

_SIZE, _COLUMNS, _LEFT, _TOP, _BOTTOM = 10, 78, 63, 60, 740


class PaperFiles:
    """Makes the PDF of each paper once: title, authors, abstract, sections, and the list of references."""

    def __init__(self, library: MadeLibrary) -> None:
        self._library = library
        self._pdfs: dict[str, bytes] = {}

    def of(self, paper: MadePaper) -> bytes:
        """The PDF of a paper, two to four pages."""
        if paper.id not in self._pdfs:
            self._pdfs[paper.id] = make_pdf(_pages(list(self._paragraphs(paper))))
        return self._pdfs[paper.id]

    def _paragraphs(self, paper: MadePaper) -> Iterator[tuple[str, int]]:
        """The texts of a paper in order, with their sizes in points."""
        yield paper.title, 16
        yield ", ".join(paper.authors), _SIZE
        yield f"{paper.venue}, {paper.day.year}", _SIZE
        yield "Abstract", 13
        yield paper.abstract, _SIZE
        for section in paper.sections:
            yield section.heading, 13
            for text in section.text.split("\n\n"):
                yield text, _SIZE
        yield "References", 13
        cited = [_entry(self._library.paper(id)) for id in paper.references]
        for number, entry in enumerate([*cited, *paper.other_references], 1):
            yield f"[{number}] {entry}", _SIZE


def _entry(paper: MadePaper) -> str:
    return f"{', '.join(paper.authors)}. {paper.title}. {paper.venue}, {paper.day.year}."


def _pages(texts: Sequence[tuple[str, int]]) -> list[MadePage]:
    """Pages of one column, broken between lines."""
    pages: list[list[Paragraph]] = [[]]
    y = float(_TOP)
    for text, size in texts:
        columns = _COLUMNS * _SIZE // size
        lines = textwrap.wrap(text, columns, break_long_words=False, break_on_hyphens=False)
        while lines:
            room = int((_BOTTOM - y) / (LEADING * size))
            if room < 1:
                pages.append([])
                y = float(_TOP)
                continue
            part, lines = lines[:room], lines[room:]
            pages[-1].append(Paragraph(" ".join(part), (_LEFT, y), size, columns))
            y += (len(part) * LEADING + ASCENT) * size
    return [MadePage(Sheet(), tuple(paragraphs)) for paragraphs in pages]


@lru_cache(maxsize=1)
def many_pages(count: int) -> bytes:
    """A PDF with that many pages, each with one line."""
    lines = (Paragraph(f"Page {number} of {count}.", (_LEFT, _TOP), _SIZE, _COLUMNS) for number in range(1, count + 1))
    return make_pdf([MadePage(Sheet(), (line,)) for line in lines])


PdfFault = Literal[
    "html",
    "wrong_type",
    "missing",
    "dead",
    "slow",
    "endless",
    "too_large",
    "truncated",
    "many_pages",
    "other_paper",
    "redirect",
    "redirect_loop",
    "redirect_private",
    "redirect_link_local",
    "redirect_localhost",
    "redirect_elsewhere",
]
"""What a link leads to: a page of HTML; a picture, declared as one; status 404; a port that nobody listens at; a byte
every `SLOW_S` seconds; bytes without end and without a declared length; a declared gigabyte; the first half of the
file; a PDF of `MANY_PAGES` pages; another paper's PDF; or a redirect: to the file, to itself, to 127.0.0.2, to
169.254.169.254, to `localhost`, or to `ELSEWHERE`."""
PDF_FAULTS: tuple[PdfFault, ...] = get_args(PdfFault)

MANY_PAGES = 2_000
SLOW_S = 0.05
ELSEWHERE = "papers.example.com"
_GIGABYTE = 2**30
_PDF = {"Content-Type": "application/pdf"}
_PIECE = bytes(2**16)
_HTML = (
    b"<!DOCTYPE html><html><head><title>Sign in</title></head>"
    b"<body><h1>Sign in</h1><p>The file is shown to readers who are signed in.</p></body></html>"
)


class PaperLinks:
    """Answers requests for the links to PDFs; `broken` says what is wrong with some, by the paper's id."""

    def __init__(self, library: MadeLibrary) -> None:
        self._library, self._files = library, PaperFiles(library)
        self.broken: dict[str, PdfFault] = {}

    def answer(self, id: str, base_url: str) -> Answer:
        """The answer for the link of a paper's id, or for `moved-ID`, the target of a redirect."""
        paper = self._library.by_id.get(id.removeprefix("moved-"))
        if paper is None or not paper.open_access:
            return Answer(404, b"not found", {"Content-Type": "text/plain"})
        fault = None if id.startswith("moved-") else self.broken.get(id)
        if fault is None:
            return Answer(200, self._files.of(paper), _PDF)
        if fault.startswith("redirect"):
            return Answer(302, b"", {"Location": self._elsewhere(fault, paper.id, base_url)})
        return self._faulty_answer(fault, paper)

    @staticmethod
    def _elsewhere(fault: PdfFault, id: str, base_url: str) -> str:
        port = base_url.rpartition(":")[2]
        return {
            "redirect_loop": f"{base_url}/pdf/{id}.pdf",
            "redirect_private": f"http://127.0.0.2:{port}/pdf/{id}.pdf",
            "redirect_link_local": "http://169.254.169.254/latest/meta-data/",
            "redirect_localhost": f"http://localhost:{port}/pdf/moved-{id}.pdf",
            "redirect_elsewhere": f"http://{ELSEWHERE}/pdf/{id}.pdf",
        }.get(fault, f"{base_url}/pdf/moved-{id}.pdf")

    def _faulty_answer(self, fault: PdfFault, paper: MadePaper) -> Answer:
        pdf = self._files.of(paper)
        if fault == "slow":
            return Answer(200, headers=_PDF, pieces=_bytes_of(pdf), every_s=SLOW_S, declared=len(pdf))
        if fault in ("endless", "too_large"):
            declared = _GIGABYTE if fault == "too_large" else None
            return Answer(200, headers=_PDF, pieces=_without_end(pdf), declared=declared)
        bodies = {
            "html": (200, _HTML, "text/html; charset=utf-8"),
            "wrong_type": (200, b"\x89PNG\r\n\x1a\n" + bytes(64), "image/png"),
            "truncated": (200, pdf[: len(pdf) // 2], "application/pdf"),
            "missing": (404, b"not found", "text/plain"),
        }
        if fault in bodies:
            status, body, kind = bodies[fault]
            return Answer(status, body, {"Content-Type": kind})
        return Answer(200, many_pages(MANY_PAGES) if fault == "many_pages" else self._pdf_of_other_topic(paper), _PDF)

    def _pdf_of_other_topic(self, paper: MadePaper) -> bytes:
        """The file of a paper on another topic."""
        return self._files.of(next(other for other in self._library.papers if other.topic != paper.topic))


def _bytes_of(data: bytes) -> Iterator[bytes]:
    return (data[at : at + 1] for at in range(len(data)))


def _without_end(first: bytes) -> Iterator[bytes]:
    yield first
    yield from repeat(_PIECE)
