"""What pdfium loses without a word is told: damaged content, unknown pages and files, text within drawings."""

import zlib
from pathlib import Path

import pytest
from hostile_pdfs import assembled, form, packed, stream

from quoteweave.collection.stores.content import ImageStore
from quoteweave.documents.parser import DocumentParser, ParserSettings

DAMAGED = "page 1 has content that is damaged, cut off or missing, all or part of which was not read"
BEYOND = "it has more pages than it says, and those were not read: {}"
WITHIN = "page 1 has patterns, or letters of fonts, that are drawn with text, which its text layer lacks: 1"
FILES = "files attached to it were not read: {}"
FLATE = "/Filter /FlateDecode"
CONTENT = b"BT /F1 12 Tf 72 700 Td (alpha) Tj " + b"".join(b"0 -14 Td (line %d) Tj " % i**5 for i in range(40)) + b"ET"
DEFLATED = zlib.compress(CONTENT)
SPEC = b"<</Type /Filespec /F (a.xml) /EF <</F 4 0 R>>>>"
FONTS = "/Font <</F1 6 0 R>>"


def document(
    contents: str = "10 0 R",
    *extra: bytes,
    kids: str = "3 0 R 4 0 R 5 0 R",
    count: int = 3,
    page: str = f"/Resources <<{FONTS}>>",
    catalog: str = "",
) -> bytes:
    """Three pages, each of a word; `contents` is what the first draws, `extra` are objects from 10 on."""
    head = "<</Type /Page /Parent 2 0 R /MediaBox [0 0 612 792]"
    words = [b"BT /F1 12 Tf 72 700 Td (%b) Tj ET" % word for word in (b"alpha", b"beta", b"gamma")]
    return assembled(
        [
            f"<</Type /Catalog /Pages 2 0 R {catalog}>>".encode(),
            f"<</Type /Pages /Kids [{kids}] /Count {count}>>".encode(),
            f"{head} /Contents {contents} {page}>>".encode(),
            *(f"{head} /Contents {number} 0 R /Resources <<{FONTS}>>>>".encode() for number in (8, 9)),
            b"<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>",
            *map(stream, words),
            *extra,
        ]
    )


def warnings(tmp_path: Path, data: bytes) -> tuple[str, ...]:
    path = tmp_path / "a.pdf"
    path.write_bytes(data)
    return DocumentParser(ImageStore(tmp_path / "images"), ParserSettings(ocr=False)).parse(path).warnings


@pytest.mark.parametrize(
    "content",
    [
        stream(CONTENT),
        stream(CONTENT + b" % (a comment"),
        stream(DEFLATED, FLATE),
        stream(DEFLATED[:-4], FLATE),
        stream(DEFLATED[:-1] + b"\r", FLATE),
        *(
            stream(data, entries).replace(b"/Length %d" % len(data), b"/Length %d" % length)
            for data, entries in ((DEFLATED, FLATE), (CONTENT, ""))
            for length in (40, 10**6)
        ),
        stream(b"", FLATE),
        stream(DEFLATED.hex().encode() + b">", "/Filter [/ASCIIHexDecode /FlateDecode]"),
        stream(CONTENT + b" BI /W 1 /H 1 /BPC 8 /CS /G ID ( EI"),
    ],
)
def test_whole_content_has_no_warning(tmp_path: Path, content: bytes) -> None:
    assert warnings(tmp_path, document("[7 0 R 10 0 R]", content)) == ()


@pytest.mark.parametrize(
    "content",
    [
        stream(DEFLATED[: len(DEFLATED) // 2], FLATE),
        stream(DEFLATED[:99] + bytes([DEFLATED[99] ^ 255]) + DEFLATED[100:], FLATE),
        stream(CONTENT[: CONTENT.rindex(b"(line") + 3]),
        stream(CONTENT[: CONTENT.rindex(b" Tj")]),
        stream(DEFLATED, "/Filter /Unheard"),
        stream(DEFLATED[: len(DEFLATED) // 2].hex().encode(), "/Filter [/ASCIIHexDecode /FlateDecode]"),
    ],
)
def test_damaged_content_is_told(tmp_path: Path, content: bytes) -> None:
    whole = stream(b"BT /F1 12 Tf 72 740 Td (first) Tj ET")
    assert warnings(tmp_path, document("[11 0 R 10 0 R]", content, whole)) == (DAMAGED,)
    drawn = content.replace(b"<<", b"<</Type /XObject /Subtype /Form /BBox [0 0 612 792] ", 1)
    page = f"/Resources <<{FONTS} /XObject <</X 10 0 R>>>>"
    assert warnings(tmp_path, document("[7 0 R 11 0 R]", drawn, stream(b"/X Do"), page=page)) == (DAMAGED,)


@pytest.mark.parametrize("contents", ["[7 0 R 99 0 R]", "[99 0 R 7 0 R]", "[7 0 R 6 0 R]", "[7 0 R null]"])
def test_content_that_is_missing_or_no_stream_is_told(tmp_path: Path, contents: str) -> None:
    assert warnings(tmp_path, document(contents)) == (DAMAGED,)


def test_a_file_may_end_with_anything(tmp_path: Path) -> None:
    assert warnings(tmp_path, document("[7 0 R 99 0 R]") + bytes(50_000_000)) == (DAMAGED,)


def test_a_form_that_is_missing_is_told(tmp_path: Path) -> None:
    page = f"/Resources <<{FONTS} /XObject <</X 99 0 R /Y 98 0 R>>>>"
    assert warnings(tmp_path, document("7 0 R", page=page)) == ()
    assert warnings(tmp_path, document("[7 0 R 10 0 R]", stream(b"/X Do"), page=page)) == (DAMAGED,)


@pytest.mark.parametrize(
    ("kids", "count", "beyond"),
    [
        ("3 0 R 4 0 R 5 0 R", 2, 1),
        ("3 0 R 4 0 R 5 0 R", 1, 2),
        ("3 0 R null 5 0 R", 2, 1),
        ("10 0 R 5 0 R", 2, 1),
        ("3 0 R 99 0 R 5 0 R", 0, 1),
    ],
)
def test_pages_beyond_the_count_are_told(tmp_path: Path, kids: str, count: int, beyond: int) -> None:
    nested = b"<</Type /Pages /Parent 2 0 R /Kids [3 0 R 4 0 R] /Count 2>>"
    assert BEYOND.format(beyond) in warnings(tmp_path, document("7 0 R", nested, kids=kids, count=count))


def test_pages_in_a_tree_are_found(tmp_path: Path) -> None:
    nested = b"<</Type /Pages /Parent 2 0 R /Kids [3 0 R 4 0 R] /Count 2 /Resources <<>>>>"
    assert warnings(tmp_path, document("7 0 R", nested, kids="10 0 R 5 0 R")) == ()
    cut = document("[7 0 R 99 0 R]", nested, kids="5 0 R 10 0 R")
    assert warnings(tmp_path, cut) == (DAMAGED.replace("page 1", "page 2"),)


TEXT = b"BT /F1 12 Tf (words within) Tj ET"
TILING = "/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 612 792] /XStep 612 /YStep 792"
TYPE3 = (
    b"<</Type /Font /Subtype /Type3 /FontBBox [0 0 600 20] /FontMatrix [1 0 0 1 0 0] /FirstChar 65 /LastChar 65 "
    b"/Widths [300] /Encoding <</Differences [65 /a]>> /CharProcs <</a 11 0 R>> "
    b"/Resources <</XObject <</X 12 0 R>> /Font <</F1 6 0 R>>>>>>"
)


@pytest.mark.parametrize(("cell", "told"), [(TEXT, (WITHIN,)), (b"0 0 9 9 re f", ())])
def test_text_in_a_pattern_is_told(tmp_path: Path, cell: bytes, told: tuple[str, ...]) -> None:
    page = f"/Resources <<{FONTS} /Pattern <</P 10 0 R>>>>"
    for resources, drawn, *more in ((FONTS, cell), ("/XObject <</X 12 0 R>>", b"/X Do", form(cell, FONTS))):
        tile = packed(drawn, f"{TILING} /Resources <<{resources}>>")
        paint = stream(b"/Pattern cs /P scn 0 0 612 792 re f")
        assert warnings(tmp_path, document("[7 0 R 11 0 R]", tile, paint, *more, page=page)) == told
        assert warnings(tmp_path, document("7 0 R", tile, paint, *more, page=page)) == ()


@pytest.mark.parametrize(("letter", "told"), [(TEXT, (WITHIN,)), (b"/X Do", (WITHIN,)), (b"0 0 9 9 re f", ())])
def test_text_in_the_letters_of_a_font_is_told(tmp_path: Path, letter: bytes, told: tuple[str, ...]) -> None:
    page = "/Resources <</Font <</F1 6 0 R /F3 10 0 R>>>>"
    write = stream(b"BT /F3 1 Tf 72 500 Td (A) Tj ET")
    glyph = stream(b"300 0 d0 " + letter)
    assert warnings(tmp_path, document("[7 0 R 13 0 R]", TYPE3, glyph, form(TEXT, FONTS), write, page=page)) == told


def test_files_that_are_associated_alone_are_told(tmp_path: Path) -> None:
    both = "/AF [10 0 R] /Names <</EmbeddedFiles <</Kids [<</Names [(a) 10 0 R]>>]>>>>"
    for catalog, files in (("/AF [10 0 R 11 0 R]", 2), (both, 1), (both.replace("[10 0 R]", "[10 0 R 11 0 R]", 1), 2)):
        assert warnings(tmp_path, document("7 0 R", SPEC, SPEC, catalog=catalog)) == (FILES.format(files),)
    assert warnings(tmp_path, document("7 0 R", b"<</Type /Filespec /F (a.xml)>>", catalog="/AF [10 0 R]")) == ()
    page = f"/Resources <<{FONTS}>> /AF [10 0 R]"
    assert warnings(tmp_path, document("7 0 R", SPEC, page=page)) == (
        "page 1 has attached files or media, which were not read: 1",
    )


@pytest.mark.parametrize(
    ("field", "told"),
    [("/FT /Btn /V /Off /AS /Off", 0), ("/FT /Btn /V /Yes /AS /Yes", 1), ("/FT /Tx /V (Off)", 1), ("/V /Off", 0)],
)
def test_a_box_that_is_not_ticked_is_not_filled(tmp_path: Path, field: str, told: int) -> None:
    page = f"/Resources <<{FONTS}>> /Annots [<</Type /Annot /Subtype /Widget /T (x) {field} /Rect [9 9 20 20]>>]"
    said = f"page 1 has notes or filled form fields, whose text was not read: {told}"
    assert warnings(tmp_path, document("7 0 R", page=page)) == ((said,) if told else ())
