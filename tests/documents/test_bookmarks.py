"""The bookmarks of a PDF: their levels, titles and pages, and what hostile files make of them."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from made_files import PROSE, raw_pdf, stream

from quoteweave.collection.stores.content import ImageStore
from quoteweave.collection.stores.unfinished import UnfinishedPages
from quoteweave.documents.formats import Format
from quoteweave.documents.parser import (
    DocumentParser,
    ParserSettings,
    SourceFile,
    assemble_kept_pages,
    read_and_keep_pages,
)
from quoteweave.documents.sources import bookmarks
from quoteweave.documents.sources.bookmarks import Bookmark, clean_title, read_bookmarks
from quoteweave.documents.sources.pdf import open_pdf

# Objects before the first bookmark: the catalogue, the tree of pages, a font, a text, three pages, the outline.
FIRST = 9


def with_bookmarks(path: Path, entries: Sequence[str], *, catalog: str = "") -> Path:
    """Three pages, objects 5 to 7, and bookmarks, objects from 9 on; the outline begins with the first of them."""
    resources = "/Contents 4 0 R /Resources <</Font <</F1 3 0 R>>>>"
    return raw_pdf(
        path,
        [
            f"<</Type /Catalog /Pages 2 0 R /Outlines 8 0 R {catalog}>>",
            "<</Type /Pages /Kids [5 0 R 6 0 R 7 0 R] /Count 3>>",
            "<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>",
            stream(f"BT /F1 5 Tf 9 700 Td ({PROSE}) Tj ET"),
            *[f"<</Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] {resources}>>"] * 3,
            f"<</First {FIRST} 0 R>>",
            *(f"<<{entry}>>" for entry in entries),
        ],
    )


def to_page(number: int) -> str:
    return f"/Dest [{5 + number} 0 R /Fit]"


def read(path: Path) -> tuple[tuple[Bookmark, ...], tuple[str, ...]]:
    with open_pdf(path, None) as pages:
        return read_bookmarks(pages.document)


def test_bookmarks_are_read_in_order_with_their_levels_and_pages(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "a.pdf"))
    for title, level, new_page in [
        ("Introduction", 0, True),
        ("Häfen und Kräne", 1, False),
        ("港口", 2, True),
        ("Results", 0, True),
    ]:
        if new_page:
            canvas.showPage()
        canvas.bookmarkPage(title)
        canvas.addOutlineEntry(title, title, level)
    canvas.showPage()
    canvas.save()
    assert read(tmp_path / "a.pdf") == (
        (
            Bookmark(0, "Introduction", 1),
            Bookmark(1, "Häfen und Kräne", 1),
            Bookmark(2, "港口", 2),
            Bookmark(0, "Results", 3),
        ),
        (),
    )


def test_a_file_without_bookmarks_has_none(tmp_path: Path) -> None:
    assert read(with_bookmarks(tmp_path / "a.pdf", [])) == ((), ())


@pytest.mark.parametrize(
    ("destination", "page"),
    [
        ("/Dest [6 0 R /XYZ 0 700 0]", 1),
        ("/Dest [1 /Fit]", 1),
        ("/Dest (there)", 1),
        ("/A <</S /GoTo /D [6 0 R /Fit]>>", 1),
        ("", None),
        ("/Dest [3 /Fit]", None),
        ("/Dest [-1 /Fit]", None),
        ("/Dest [99 0 R /Fit]", None),
        ("/Dest [3 0 R /Fit]", None),  # a font
        ("/Dest (nowhere)", None),
        ("/Dest 9 0 R", None),
        ("/A <</S /GoToR /F (other.pdf) /D [1 /Fit]>>", None),
        ("/A <</S /URI /URI (https://example.org)>>", None),
    ],
)
def test_a_bookmark_counts_where_it_leads_to_a_page_of_the_file(
    tmp_path: Path, destination: str, page: int | None
) -> None:
    names = "/Names <</Dests <</Names [(there) [6 0 R /Fit]]>>>>"
    found, left_out = read(with_bookmarks(tmp_path / "a.pdf", [f"/Title (One) {destination}"], catalog=names))
    assert found == (() if page is None else (Bookmark(0, "One", page),))
    assert left_out == ()


def test_one_without_a_page_begins_where_the_first_within_it_does(tmp_path: Path) -> None:
    entries = [
        "/Title (Part I) /First 10 0 R /Next 13 0 R",
        "/Title (Preface) /Next 11 0 R",
        f"/Title (Harbours) {to_page(1)} /Next 12 0 R",
        f"/Title (Cranes) {to_page(2)}",
        "/Title (Part II) /First 14 0 R",
        "/Title (Ferries)",
    ]
    found, _ = read(with_bookmarks(tmp_path / "a.pdf", entries))
    assert found == (Bookmark(0, "Part I", 1), Bookmark(1, "Harbours", 1), Bookmark(1, "Cranes", 2))


def test_titles_are_one_line_each_without_control_characters(tmp_path: Path) -> None:
    titles = [
        r"(A\000\007title \t of\r\ntwo lines)",
        "<FEFF0041D8000042>",  # half of a pair of surrogates
        "(" + "x" * 1000 + ")",
        "(" + "x" * 10_000 + ")",
        "()",
        "99",
    ]
    entries = [f"/Title {title} {to_page(0)} /Next {FIRST + i} 0 R" for i, title in enumerate(titles, 1)]
    found, left_out = read(with_bookmarks(tmp_path / "a.pdf", entries))
    assert [bookmark.title for bookmark in found] == ["A title of two lines", "A\ufffdB", "x" * 200]
    assert left_out == (
        "titles of bookmarks were cut after 200 characters: 1",
        "bookmarks of more than 4,000 characters were left out: 1",
    )
    assert clean_title(" a\ud800\u2028 \x9fb\n") == "a b"


@pytest.mark.parametrize(
    "entries",
    [
        ["/Next 9 0 R"],
        ["/First 9 0 R"],
        ["/First 8 0 R"],
        ["/First 10 0 R", "/Next 10 0 R /First 9 0 R"],
        ["/Next 10 0 R", "/Next 9 0 R /First 9 0 R"],
    ],
)
def test_loops_end(tmp_path: Path, entries: Sequence[str]) -> None:
    path = with_bookmarks(tmp_path / "a.pdf", [f"/Title (T) {to_page(0)} {entry}" for entry in entries])
    found, _ = read(path)
    assert 1 <= len(found) <= 3


def test_what_is_beyond_the_limits_is_left_out_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flat = with_bookmarks(
        tmp_path / "a.pdf", [f"/Title (T{i}) {to_page(i % 3)} /Next {FIRST + i + 1} 0 R" for i in range(12)]
    )
    monkeypatch.setattr(bookmarks, "MAX_ON_PAGE", 3)
    found, left_out = read(flat)
    assert [bookmark.title for bookmark in found] == [f"T{i}" for i in range(9)]
    assert left_out == ("more than 3 bookmarks begin on a page; 3 others were left out",)
    monkeypatch.setattr(bookmarks, "MAX_BOOKMARKS", 5)
    found, left_out = read(flat)
    assert len(found) == 5
    assert left_out == ("only 5 bookmarks were read; it has more than can be looked at",)
    monkeypatch.setattr(bookmarks, "MAX_SECONDS", -1.0)
    assert read(flat) == ((), ("only 0 bookmarks were read; it has more than can be looked at",))


def test_what_is_deeper_than_eight_levels_is_left_out_and_said(tmp_path: Path) -> None:
    path = with_bookmarks(
        tmp_path / "a.pdf", [f"/Title (T{i}) {to_page(0)} /First {FIRST + i + 1} 0 R" for i in range(2000)]
    )
    found, left_out = read(path)
    assert [bookmark.level for bookmark in found] == list(range(8))
    assert left_out == ("bookmarks deeper than 8 levels were left out",)


def test_the_first_page_brings_the_bookmarks_and_what_was_left_out_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bookmarks, "MAX_BOOKMARKS", 1)
    path = with_bookmarks(tmp_path / "a.pdf", [f"/Title (One) {to_page(1)} /Next 10 0 R", f"/Title (Two) {to_page(1)}"])
    with open_pdf(path, None) as pages:
        first, second = (pages.read(i) for i in (0, 1))
    assert first.bookmarks == (Bookmark(0, "One", 1),)
    assert first.warnings == ("only 1 bookmarks were read; it has more than can be looked at",)
    assert (second.bookmarks, second.warnings) == ((), ())


def test_the_pages_of_a_parsed_file_have_headings(tmp_path: Path) -> None:
    entries = [
        f"/Title (Harbours) {to_page(0)} /First 10 0 R /Next 11 0 R",
        f"/Title (Cranes) {to_page(1)}",
        f"/Title (Ferries) {to_page(2)}",
    ]
    path, images, settings = (
        with_bookmarks(tmp_path / "a.pdf", entries),
        ImageStore(tmp_path),
        ParserSettings(ocr=False),
    )
    parsed = DocumentParser(images, settings).parse(path)
    assert [page.headings for page in parsed.pages] == [
        ("Harbours",),
        ("Harbours", "Cranes"),
        ("Harbours", "Ferries", "Cranes"),
    ]
    source, kept = SourceFile("a.pdf", path, settings, images), UnfinishedPages(tmp_path / "kept")
    assert list(read_and_keep_pages([2, 1], source, Format.PDF, kept)) == [2, 1]
    assert list(read_and_keep_pages([0], source, Format.PDF, kept)) == [0]
    assert assemble_kept_pages(source, kept, 3, {}) == parsed
