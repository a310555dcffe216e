"""Content that pdfium loses silently is reported: damaged content, unknown pages and files, text within drawings."""

import zlib
from base64 import a85encode
from pathlib import Path

import pytest
from hostile_pdfs import assembled, form, packed, stream

from quoteweave.collection.stores.content import ImageStore
from quoteweave.documents.layout.page import DRAWN
from quoteweave.documents.parser import DocumentParser, ParserSettings

DAMAGED = "page 1 has content that is damaged, cut off or missing, all or part of which was not read"
BEYOND = "it has more pages than it says, and those were not read: {}"
SHOWN = f"page 1 {DRAWN}: 1"
WITHIN = "page 1 has patterns, masks, or letters of fonts, that are drawn with text, which its text layer lacks: 1"
FILES = "files attached to it were not read: {}"
NOTES = "page 1 has notes or filled form fields, whose text was not read: {}"
HIDDEN = "page 1 has layers that are not shown, whose text was read like the rest"
UNSEEN = (
    "page 1 has words that it does not show, as they are covered or have the colour of their ground, which were read: 2"
)
LOST_UPDATE = "its last update is cut off, so that it was read as it was before"
BEGUN = b"BT /F1 12 Tf 72 700 Td (alpha) Tj"
FLATE = "/Filter /FlateDecode"
CONTENT = b"BT /F1 12 Tf 72 700 Td (alpha) Tj " + b"".join(b"0 -14 Td (line %d) Tj " % i**5 for i in range(40)) + b"ET"
DEFLATED = zlib.compress(CONTENT)
PARTS = [CONTENT[at : at + 50] for at in range(0, len(CONTENT), 50)]
RUNS, ROWS = b"".join(b"%c%b" % (len(part) - 1, part) for part in PARTS), b"".join(b"\0" + part for part in PARTS)
SPEC = b"<</Type /Filespec /F (a.xml) /EF <</F 4 0 R>>>>"
FONTS = "/Font <</F1 6 0 R>>"


def lzw(data: bytes, early: int = 1, *, ends: bool = True) -> bytes:
    """Pack as LZW does, with the whole table in use, and with the mark of its end unless it does not end so."""
    codes, known, piece = [(256, 9)], {bytes([code]): code for code in range(256)}, b""
    for byte in data:
        if (more := piece + bytes([byte])) in known:
            piece = more
            continue
        codes.append((known[piece], max(9, (len(known) + 1 + early).bit_length())))
        known[more], piece = len(known) + 2, bytes([byte])
    codes.append((known[piece], max(9, (len(known) + 1 + early).bit_length())))
    codes += [(257, max(9, (len(known) + 2 + early).bit_length()))] if ends else []
    bits = "".join(f"{code:0{width}b}" for code, width in codes)
    return bytes(int(bits[at : at + 8].ljust(8, "0"), 2) for at in range(0, len(bits), 8))


def document(
    contents: str = "10 0 R",
    *extra: bytes,
    kids: str = "3 0 R 4 0 R 5 0 R",
    count: int = 3,
    page: str = f"/Resources <<{FONTS}>>",
    catalog: str = "",
) -> bytes:
    """Three pages, each of a word; `contents` is what the first draws, `extra` are objects from 10 on."""
    head = "<</Type /Page /Parent 2 0 R /MediaBox [0 0 200 792]"
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
        *(stream(CONTENT).replace(b"/Length %d" % len(CONTENT), b"/Length %b" % given) for given in (b"-9", b"9" * 15)),
        stream(lzw(CONTENT), "/Filter /LZWDecode"),
        stream(lzw(CONTENT, 0), "/Filter [/LZWDecode] /DecodeParms [<</EarlyChange 0>>]"),
        stream(lzw(CONTENT, ends=False), "/Filter /LZWDecode"),
        stream(a85encode(lzw(CONTENT)) + b"~>", "/Filter [/A85 /LZW]"),
        stream(RUNS, "/Filter /RunLengthDecode"),
        stream(RUNS + b"\xfe \x80", "/Filter /RunLengthDecode"),
        stream(zlib.compress(DEFLATED), "/Filter [/FlateDecode /FlateDecode]"),
        stream(CONTENT + b" BT (a (b (c \\) d) ) e) Tj [(f) -3 (g)] TJ /A <</B (c)>> BDC EMC ET"),
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
        stream(CONTENT.replace(b"(line 1) Tj", b"(line 1) Tk")),
        stream(CONTENT.replace(b"(line 1) Tj", b"(line 1 Tj")),
        stream(b"BI /W 1 /H 1 /BPC 8 /CS /G ID a " + CONTENT),
        stream(lzw(CONTENT)[:150], "/Filter /LZWDecode"),
        stream(lzw(CONTENT)[:20] + b"\xff" * 9 + lzw(CONTENT)[20:], "/Filter /LZWDecode"),
        stream(a85encode(lzw(CONTENT)[:150]) + b"~>", "/Filter [/A85 /LZW]"),
        stream(RUNS[: 51 * 4], "/Filter /RunLengthDecode"),
        stream(
            bytes([99]) + CONTENT[:100].rpartition(b"(line")[0].rpartition(b"Tj")[0][:97].ljust(98) + b"Tj",
            "/Filter /RL",
        ),
        stream(RUNS[: 51 * 4 + 9], "/Filter /RunLengthDecode"),
        stream(zlib.compress(DEFLATED[: len(DEFLATED) // 2]), "/Filter [/FlateDecode /FlateDecode]"),
        stream(zlib.compress(ROWS)[:-40], f"{FLATE} /DecodeParms <</Predictor 15 /Columns 50>>"),
        stream(b"", "/F (in another file)"),
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


def test_objects_that_stand_elsewhere_than_stated_are_found(tmp_path: Path) -> None:
    moved = document("[7 0 R 10 0 R]", stream(CONTENT)).replace(
        b"<</Type /Page /Parent", b"<</Type /Page\n\n/Parent", 1
    )
    assert warnings(tmp_path, moved) == ()


def test_an_update_that_is_cut_off_is_told(tmp_path: Path) -> None:
    whole = document("7 0 R")
    update = b"7 0 obj\n%b\nendobj\n" % stream(b"BT /F1 12 Tf 72 700 Td (delta) Tj ET")
    before = whole.split(b"startxref\n")[1].split()[0]
    end = b"xref\n7 1\n%010d 00000 n \ntrailer <</Size 8 /Root 1 0 R /Prev %b>>\nstartxref\n%d\n%%%%EOF\n"
    updated = whole + update + end % (len(whole), before, len(whole) + len(update))
    assert warnings(tmp_path, updated) == ()
    assert warnings(tmp_path, updated[: updated.rindex(b"startxref")]) == (LOST_UPDATE,)


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


@pytest.mark.parametrize(("cell", "told"), [(TEXT, (WITHIN, SHOWN)), (b"0 0 9 9 re f", ())])
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


def test_text_in_a_mask_is_told(tmp_path: Path) -> None:
    page = f"/Resources <<{FONTS} /ExtGState <</G 10 0 R>>>>"
    state = b"<</SMask <</S /Luminosity /G 11 0 R>>>>"
    group = "/Group <</S /Transparency /CS /DeviceGray>>"
    for drawn, told in ((b"1 g " + TEXT, (WITHIN, SHOWN)), (b"1 g 0 0 9 9 re f", ())):
        paint = stream(b"/G gs 0 0 612 792 re f")
        assert (
            warnings(tmp_path, document("[7 0 R 12 0 R]", state, form(drawn, FONTS, group), paint, page=page)) == told
        )


@pytest.mark.parametrize(
    ("usual", "told"),
    [
        ("/OFF [10 0 R]", (HIDDEN, UNSEEN)),
        ("/BaseState /OFF", (HIDDEN, UNSEEN)),
        ("/BaseState /OFF /ON [10 0 R]", ()),
        ("/OFF [11 0 R]", ()),
    ],
)
def test_text_in_a_layer_that_is_not_shown_is_told(tmp_path: Path, usual: str, told: tuple[str, ...]) -> None:
    layers, layer = f"/OCProperties <</OCGs [10 0 R 11 0 R] /D <<{usual}>>>>", b"<</Type /OCG /Name (a)>>"
    page = f"/Resources <<{FONTS} /Properties <</L 10 0 R /M 14 0 R>> /XObject <</X 13 0 R>>>>"
    drawn = form(TEXT, FONTS, "/OC 10 0 R")
    members = b"<</Type /OCMD /OCGs [10 0 R]>>"
    for content in (b"/OC /L BDC %b EMC" % TEXT, b"/OC /M BDC %b EMC" % TEXT, b"/X Do"):
        data = document("[7 0 R 12 0 R]", layer, layer, stream(content), drawn, members, page=page, catalog=layers)
        assert warnings(tmp_path, data) == told
    empty = stream(b"/OC /L BDC 0 0 9 9 re f EMC " + TEXT)
    assert warnings(tmp_path, document("[7 0 R 12 0 R]", layer, layer, empty, page=page, catalog=layers)) == ()


@pytest.mark.parametrize("packs", [False, True])
def test_files_of_anything_within_a_document_are_told(tmp_path: Path, packs: bool) -> None:
    fonts = f"/Resources <<{FONTS}>>"
    link = "/Annots [<</Type /Annot /Subtype /Link /Rect [9 9 20 20] /AF [10 0 R]>>]"
    assert warnings(tmp_path, document("7 0 R", SPEC, page=f"{fonts} {link}")) == (FILES.format(1),)
    tree = "/StructTreeRoot <</Type /StructTreeRoot /K 11 0 R>>"
    element = b"<</Type /StructElem /S /Formula /AF [10 0 R]>>"
    data = document("7 0 R", SPEC, element, catalog=tree)
    if packs:
        data = with_object_stream(document("7 0 R", SPEC, b"null", catalog=tree), 11, element)
    assert warnings(tmp_path, data) == (FILES.format(1),)


def with_object_stream(data: bytes, number: int, content: bytes) -> bytes:
    """The document with an object of it in an object stream."""
    head = b"%d 0 " % number
    at, prev = len(data), int(data.split(b"startxref\n")[-1].split()[0])
    objects = b"80 0 obj\n%b\nendobj\n" % packed(head + content, f"/Type /ObjStm /N 1 /First {len(head)}")
    rows = b"\x02" + (80).to_bytes(4, "big") + bytes(2) + b"\x01" + at.to_bytes(4, "big") + bytes(2)
    table = stream(rows, f"/Type /XRef /Root 1 0 R /W [1 4 2] /Size 90 /Index [{number} 1 80 1] /Prev {prev}")
    end = at + len(objects)
    return data + objects + b"90 0 obj\n%b\nendobj\nstartxref\n%d\n%%%%EOF\n" % (table, end)


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
    assert warnings(tmp_path, document("7 0 R", page=page)) == ((NOTES.format(told),) if told else ())


@pytest.mark.parametrize(
    ("field", "widget", "told"),
    [
        ("/FT /Tx /V (words)", "/F 2", 1),
        ("/FT /Tx", "", 0),
        ("/FT /Btn /V /Off", "", 0),
        ("/FT /Btn /V /a", "/AS /a", 1),
        ("/FT /Btn /V /a", "/AS /Off", 0),
        ("", "/FT /Tx /RV (<p>words</p>)", 1),
    ],
)
def test_a_value_that_the_field_has_and_its_place_has_not_is_told(
    tmp_path: Path, field: str, widget: str, told: int
) -> None:
    parent = f"<</T (x) {field} /Kids [11 0 R]>>".encode()
    place = f"<</Type /Annot /Subtype /Widget /Parent 10 0 R {widget} /Rect [9 9 20 20]>>".encode()
    page = f"/Resources <<{FONTS}>> /Annots [11 0 R]"
    data = document("7 0 R", parent, place, page=page, catalog="/AcroForm <</Fields [10 0 R]>>")
    assert warnings(tmp_path, data) == ((NOTES.format(told),) if told else ())
