"""A folder of files that are broken, hostile or oddly named: each gives quotes, or one clear line; the others go on."""

import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from made_files import (
    HELVETICA,
    PROSE,
    one_page_pdf,
    page_pdf,
    pdf,
    picture,
    png_that_claims,
    raw_pdf,
    tiff_that_claims,
    write,
)

from quoteweave.collection.collection import Collection
from quoteweave.core.records import Query
from quoteweave.documents.file_reading import AddProgress
from quoteweave.documents.ingest import AddOptions, AddReport, add
from quoteweave.documents.parser import ParserSettings
from quoteweave.retrievers.lexical import LexicalRetriever

REFUSED = {
    "empty.pdf": "'empty.pdf' is empty",
    "encrypted.pdf": "'encrypted.pdf': the password given is wrong",
    "truncated.pdf": "'truncated.pdf' cannot be opened as a PDF; it is damaged or incomplete",
    "zero-pages.pdf": "'zero-pages.pdf' has no pages",
    "page-not-found.pdf": "'page-not-found.pdf' is not .pdf: it seems to be an HTML page; check the file",
    "noise.pdf": "'noise.pdf' is not .pdf: it seems to be damaged, or other binary data; check the file",
    "only-a-header.pdf": "'only-a-header.pdf' cannot be opened as a PDF; it is damaged or incomplete",
    "own-parent.pdf": "'own-parent.pdf' has no page that can be read (page 1 could not be read: Failed to load page.)",
    "million-pages.pdf": "'million-pages.pdf' says that it has 1000000 pages; split it if it really has",
    "bomb.png": "'bomb.png' unpacks to more than 90 megapixels; save it smaller",
    "bomb.tiff": "'bomb.tiff' unpacks to more than 90 megapixels; save it smaller",
    "truncated.jpg": "'truncated.jpg' cannot be opened as a picture",
    "pipe.pdf": "'pipe.pdf' is not a file",
    "socket.pdf": "'socket.pdf' is not a file",
    "circle.pdf": "it cannot be read (Too many levels of symbolic links)",
    "broken-link.pdf": "it cannot be read (No such file or directory)",
    "letter.docx": ".docx files are not read; save it as PDF",
    "caf\\udce9.txt": "its name, or that of a folder above it, is not valid UTF-8; rename it",
}
QUOTED = {
    "unlocked.pdf": "unlocked page",
    "200-inches.pdf": "enormous page",
    "rotated.pdf": "turned page",
    "cropped.pdf": "cropped page",
    "no-size.pdf": "sizeless page",
    "junk-before.pdf": "page behind junk",
    "tail-missing.pdf": "page without an end",
    "many-objects.pdf": "page among boxes",
    "deep-in-brackets.pdf": "page before brackets",
    "pdf-by-content.md": "page under another name",
    "folder.pdf/inside.txt": "inside a folder",
    "arabic.txt": "السفن",
    "chinese.md": "码头",
    "a b.txt": "spaces",
    "a\nb.txt": "newlines",
    'the "quoted" one\'s.txt': "quotation",
    "-c.txt": "dashes",
    "x..%2f..%2fy.txt": "dotted",
    "$(touch gone).txt": "dollars",
    "a\\b.txt": "backslashes",
    "\x1b[31mred.txt": "escapes",
}
TEXT = "BT /F1 12 Tf 100 600 Td ({}) Tj ET"


def make_refused(folder: Path) -> None:
    (folder / "empty.pdf").touch()
    pdf(folder / "encrypted.pdf", [PROSE], password="other")
    whole = pdf(folder / "truncated.pdf", [PROSE] * 9).read_bytes()
    (folder / "truncated.pdf").write_bytes(whole[:400])
    raw_pdf(folder / "zero-pages.pdf", ["<</Type /Catalog /Pages 2 0 R>>", "<</Type /Pages /Kids [] /Count 0>>"])
    (folder / "page-not-found.pdf").write_text("<!DOCTYPE html><title>404</title>")
    (folder / "noise.pdf").write_bytes(bytes(range(256)) * 40)
    (folder / "only-a-header.pdf").write_bytes(b"%PDF-1.7\n" + b"\x00" * 3000)
    raw_pdf(folder / "own-parent.pdf", ["<</Type /Catalog /Pages 2 0 R>>", "<</Type /Pages /Kids [2 0 R] /Count 3>>"])
    page_pdf(folder / "million-pages.pdf", "", HELVETICA, count=1_000_000)
    (folder / "bomb.png").write_bytes(png_that_claims(60_000, 60_000))
    (folder / "bomb.tiff").write_bytes(tiff_that_claims((60_000, 60_000)))
    (folder / "truncated.jpg").write_bytes(picture(folder / "truncated.jpg").read_bytes()[:50])
    os.mkfifo(folder / "pipe.pdf")
    (folder / "circle.pdf").symlink_to(folder / "circle.pdf")
    (folder / "broken-link.pdf").symlink_to(folder / "nothing")
    (folder / "letter.docx").write_bytes(b"PK\x03\x04")
    (folder / os.fsdecode(b"caf\xe9.txt")).write_text("coffee")


def make_quoted(folder: Path) -> None:
    write(folder, {name: f"Known by its {word}." for name, word in QUOTED.items() if not name.endswith("pdf")})
    pdf(folder / "unlocked.pdf", [QUOTED["unlocked.pdf"] + " of many words"], password="right")
    pages = {
        "200-inches.pdf": "/MediaBox [0 0 14400 14400]",
        "rotated.pdf": "/MediaBox [0 0 612 792] /Rotate 90",
        "cropped.pdf": "/MediaBox [0 0 612 792] /CropBox [50 500 450 700]",
        "no-size.pdf": "/MediaBox [0 0 0 0]",
    }
    for name, page in pages.items():
        one_page_pdf(folder / name, TEXT.format(f"The {QUOTED[name]} of many words"), page=page)
    boxes = " ".join(f"{x} {y} 1 1 re f" for x in range(0, 600, 6) for y in range(0, 500, 10))
    one_page_pdf(folder / "many-objects.pdf", f"{boxes} {TEXT.format('A page among boxes and boxes')}")
    one_page_pdf(folder / "deep-in-brackets.pdf", TEXT.format("The page before brackets opened") + "[" * 20_000)
    plain = pdf(folder / "junk-before.pdf", ["The page behind junk of all kinds"]).read_bytes()
    (folder / "junk-before.pdf").write_bytes(b"\r\n" * 400 + plain)
    plain = pdf(folder / "tail-missing.pdf", ["The page without an end of its own"]).read_bytes()
    (folder / "tail-missing.pdf").write_bytes(plain[: plain.rindex(b"xref")])
    pdf(folder / "pdf-by-content.md", ["A page under another name than its own"])


@dataclass
class Added:
    collection: Collection
    report: AddReport
    total: int
    done: int

    @property
    def reasons(self) -> dict[str, str]:
        return {refused.name: refused.reason for refused in self.report.failed}


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Added]:
    folder = tmp_path_factory.mktemp("hostile")
    make_refused(folder)
    make_quoted(folder)
    totals: list[int] = []
    done: list[int] = []
    options = AddOptions(settings=ParserSettings(ocr=False), password="right", processes=2)
    progress = AddProgress(totals.append, lambda _, pages: done.append(pages))
    before = Path.cwd()
    os.chdir(folder)  # the path of a socket must be short
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("socket.pdf")
            with Collection.create(folder.parent / "c") as collection:
                report = add(collection, [folder], options, progress)
                yield Added(collection, report, sum(totals), sum(done))
    finally:
        os.chdir(before)


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_with_one_clear_line(added: Added, name: str) -> None:
    reason = added.reasons[name]
    assert reason.startswith(REFUSED[name])
    assert "\n" not in reason
    assert len(reason) < 200


@pytest.mark.parametrize("name", QUOTED)
def test_it_gives_quotes_that_can_be_found(added: Added, name: str) -> None:
    (hits,) = LexicalRetriever(added.collection).search([Query(text=QUOTED[name])], 3)
    assert name in [hit.quote.document for hit in hits]
    for quote in added.collection.document_quotes(name):
        page = added.collection.pages(name)[quote.page]
        assert 0 <= quote.bbox[0] < quote.bbox[2] <= page.width + 0.01
        assert 0 <= quote.bbox[1] < quote.bbox[3] <= page.height + 0.01


def test_nothing_else_happens(added: Added) -> None:
    assert sorted(added.reasons) == sorted(REFUSED)
    assert sorted(added.report.added) == sorted(QUOTED)
    assert {failure.name: failure.reason for failure in added.collection.failures()} == added.reasons
    assert added.total == added.done


def test_a_page_of_unbelievable_shape_is_read_or_refused(tmp_path: Path) -> None:
    shapes = {
        "thin": "0 0 0.001 5000000",
        "huge": "0 0 1e9 1e9",
        "inside-out": "600 700 0 0",
        "negative": "-9e9 0 0 9e9",
    }
    for name, box in shapes.items():
        one_page_pdf(tmp_path / f"{name}.pdf", TEXT.format("some words on an odd page"), page=f"/MediaBox [{box}]")
    with Collection.create(tmp_path / "c") as collection:
        report = add(collection, [tmp_path], AddOptions(settings=ParserSettings(ocr=False), processes=1))
        assert sorted([*report.added, *(refused.name for refused in report.failed)]) == sorted(
            f"{name}.pdf" for name in shapes
        )
        assert "inside-out.pdf" in report.added


def test_names_in_a_pdf_are_only_names(tmp_path: Path) -> None:
    catalogue = "/OpenAction <</S /JavaScript /JS (app.alert\\(1\\))>> /PageLabels <</Nums [0 <</P (<script>\\000)>>]>>"
    content = TEXT.format("words on a page of strange label")
    page_pdf(tmp_path / "a.pdf", content, HELVETICA, catalogue=catalogue)
    with Collection.create(tmp_path / "c") as collection:
        report = add(collection, [tmp_path / "a.pdf"], AddOptions(settings=ParserSettings(ocr=False), processes=1))
        assert report.added == ("a.pdf",)
        assert collection.pages("a.pdf")[0].label.strip("\x00") == "<script>"
