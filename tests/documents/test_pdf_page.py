"""The text layer and the picture of a PDF's page. That boxes meet the ink is checked on the drawn page."""

from pathlib import Path

import numpy as np
import pytest
from made_files import HELVETICA, one_page_pdf, page_pdf, renaming_pdf, stream
from made_pages import BLACK, canvas, fill

from quoteweave.core.boxes import Box
from quoteweave.documents.reflow.text_files import without_unstorable
from quoteweave.documents.sources.lines import Line
from quoteweave.documents.sources.pdf import read_text_layer
from quoteweave.documents.sources.raw_page import Raster
from quoteweave.documents.sources.rendering import MAX_PIXELS, MAX_SIDE, render_page

PLAIN = "/MediaBox [0 0 612 792]"


def read(folder: Path, content: str, *, page: str = PLAIN) -> tuple[list[Line], Raster]:
    """The lines of a page, and its picture, turned as they are."""
    import pypdfium2

    document = pypdfium2.PdfDocument(one_page_pdf(folder / "a.pdf", content, page=page))
    try:
        layer = read_text_layer(document[0])
        return layer.lines, render_page(document[0], 144).turned(layer.turns)
    finally:
        document.close()


def lines_of_page(folder: Path, content: str, *, page: str = PLAIN) -> list[Line]:
    return read(folder, content, page=page)[0]


def ink_of(picture: Raster) -> Box:
    rows, columns = np.nonzero(picture.pixels.min(axis=2) < 128)
    x1, y1, x2, y2 = (float(edge) / picture.scale for edge in (columns.min(), rows.min(), columns.max(), rows.max()))
    return (x1, y1, x2, y2)


UPRIGHT = "BT /F1 20 Tf 100 600 Td (words) Tj ET"
SCALED = "BT /F1 1 Tf 20 0 0 20 100 600 Tm (words) Tj ET"
UPWARD = "BT /F1 20 Tf 0 1 -1 0 200 600 Tm (words) Tj ET"
UPSIDE_DOWN = "BT /F1 20 Tf -1 0 0 -1 300 600 Tm (words) Tj ET"


@pytest.mark.parametrize("content", [UPRIGHT, SCALED, UPWARD, UPSIDE_DOWN], ids=["plain", "scaled", "up", "down"])
@pytest.mark.parametrize("crop", ["", " /CropBox [50 100 450 700]", " /CropBox [-20 300 900 700]"])
@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_a_words_ink_lies_in_its_box(tmp_path: Path, turn: int, crop: str, content: str) -> None:
    (found,), picture = read(tmp_path, content, page=f"{PLAIN}{crop} /Rotate {turn}")
    ink = ink_of(picture)
    assert found.text == "words"
    assert found.size == pytest.approx(20, abs=0.1)
    assert found.box[0] - 1 <= ink[0] <= ink[2] <= found.box[2] + 1
    assert found.box[1] - 1 <= ink[1] <= ink[3] <= found.box[3] + 1
    # Upright lines reach from ascenders to descenders, others no further than their ink.
    assert (found.box[2] - found.box[0]) * (found.box[3] - found.box[1]) < 2.5 * (ink[2] - ink[0]) * (ink[3] - ink[1])
    across = ink[2] - ink[0] > ink[3] - ink[1]
    assert found.upright == across


def test_the_baseline_is_where_letters_stand(tmp_path: Path) -> None:
    (found,) = lines_of_page(tmp_path, UPRIGHT)
    assert found.baseline == pytest.approx(192, abs=0.1)
    assert found.box[1::2] == pytest.approx((176, 196), abs=0.2)


def test_what_lies_outside_the_page_as_shown_is_left_out(tmp_path: Path) -> None:
    content = UPRIGHT + " BT /F1 20 Tf 900 600 Td (beside) Tj 0 900 Td (above) Tj ET"
    assert [line.text for line in lines_of_page(tmp_path, content)] == ["words"]
    assert lines_of_page(tmp_path, UPRIGHT, page=f"{PLAIN} /CropBox [0 0 612 500]") == []


def test_boxes_that_reach_over_the_edge_are_cut_there(tmp_path: Path) -> None:
    (found,) = lines_of_page(tmp_path, UPRIGHT, page=f"{PLAIN} /CropBox [110 0 612 792]")
    assert found.box[0] == 0


def test_text_drawn_twice_to_look_bold_is_read_once(tmp_path: Path) -> None:
    twice = "BT /F1 9 Tf 100 600 Td (general cargo) Tj 0.4 0 Td (general cargo) Tj 2 2 Td (general) Tj ET"
    assert [line.text for line in lines_of_page(tmp_path, twice)] == ["general cargo"]


def test_words_that_repeat_side_by_side_are_kept(tmp_path: Path) -> None:
    (found,) = lines_of_page(tmp_path, "BT /F1 9 Tf 100 600 Td (i i l l had had . . .) Tj ET")
    assert found.text == "i i l l had had . . ."


@pytest.mark.parametrize(
    "content",
    [
        "(herve j) Tj 41 1 Td (\\302) Tj",
        "(herv) Tj 41 1 Td (\\302) Tj -2.2 -1 Td (e j) Tj",
        "(herve j) Tj 0 -20 Td (more) Tj 41 21 Td (\\302) Tj",
    ],
    ids=["after its line", "before its letter", "after other lines"],
)
def test_accents_drawn_apart_go_to_their_letters(tmp_path: Path, content: str) -> None:
    """As TeX sets "é": an accent, \\302 in this font, drawn over a letter and listed anywhere."""
    first, *others = lines_of_page(tmp_path, f"BT /F1 20 Tf 100 600 Td {content} ET")
    assert first.text == "hervé j"
    assert [line.text for line in others] in ([], ["more"])


def test_an_accent_that_stands_alone_stays_as_it_is(tmp_path: Path) -> None:
    (found,) = lines_of_page(tmp_path, "BT /F1 20 Tf 100 600 Td (a \\302 b) Tj ET")
    assert found.text == "a \u00b4 b"


def test_characters_under_each_other_run_down_the_page(tmp_path: Path) -> None:
    column = " ".join(f"({letter}) Tj 0 -22 Td" for letter in "abcdefgh")
    (found,) = lines_of_page(tmp_path, f"BT /F1 20 Tf 300 600 Td {column} ET")
    assert (found.text, found.upright, found.size) == ("abcdefgh", False, 20)


def test_right_to_left_text_keeps_the_order_of_reading(tmp_path: Path) -> None:
    """Drawn from the left: MEM WAW LAMED SHIN, and the same again."""
    (found,) = lines_of_page(tmp_path, "BT /F1 20 Tf 100 600 Td (MFLY MFLY) Tj ET")
    assert found.words[0].text == "".join(chr(0x5D0 + ord(letter) - ord("A")) for letter in "YLFM")
    assert found.words[0].box[0] > found.words[1].box[0]


def test_chinese_and_japanese_without_an_embedded_font_have_a_size(tmp_path: Path) -> None:
    import pypdfium2
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(600, 800))
    for row, (font, text) in enumerate(
        (("HeiseiMin-W3", "港の水深は九メートル"), ("STSong-Light", "港口的水深是九米"))
    ):
        pdfmetrics.registerFont(UnicodeCIDFont(font))
        canvas.setFont(font, 14)
        canvas.drawString(50, 700 - 50 * row, text)
    canvas.save()
    document = pypdfium2.PdfDocument(tmp_path / "a.pdf")
    japanese, chinese = read_text_layer(document[0]).lines
    document.close()
    assert (japanese.text, chinese.text) == ("港の水深は九メートル", "港口的水深是九米")
    assert (japanese.size, chinese.size) == (14, 14)
    assert japanese.box == pytest.approx((50, 88.8, 190, 102.8), abs=0.1)


def test_columns_are_parted_and_hyphens_at_line_ends_kept(tmp_path: Path) -> None:
    content = "BT /F1 10 Tf 100 600 Td (left side of) Tj 200 0 Td (right side) Tj -200 -12 Td (the har-) Tj ET"
    assert [line.text for line in lines_of_page(tmp_path, content)] == ["left side of", "right side", "the har-"]


def test_bold_is_told_by_the_fonts_name(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "a.pdf"))
    for y, font in ((700, "Helvetica-Bold"), (680, "Helvetica")):
        canvas.setFont(font, 10)
        canvas.drawString(50, y, font)
    canvas.save()
    import pypdfium2

    document = pypdfium2.PdfDocument(tmp_path / "a.pdf")
    assert [(line.text, line.bold) for line in read_text_layer(document[0]).lines] == [
        ("Helvetica-Bold", True),
        ("Helvetica", False),
    ]
    document.close()


def test_text_that_cannot_be_stored_is_cleaned(tmp_path: Path) -> None:
    """Fonts may say that a glyph is half a character, no character, or several."""
    means = {"A": "d83d", "B": "d83dde00", "C": "0000", "D": "fb01", "E": "0078"}
    path = renaming_pdf(tmp_path / "a.pdf", "BT /F1 20 Tf 100 600 Td (EAE EBE ECE EDE) Tj ET", means)
    import pypdfium2

    document = pypdfium2.PdfDocument(path)
    (found,) = read_text_layer(document[0]).lines
    document.close()
    assert without_unstorable(found.text) == found.text
    assert found.text.encode("utf-8").decode("utf-8") == found.text
    assert found.text.split()[-1] == "xfix"
    assert "\U0001f600" in found.text


def test_an_empty_page_has_no_lines(tmp_path: Path) -> None:
    found, picture = read(tmp_path, "")
    assert found == []
    assert picture.pixels.min() == 255


@pytest.mark.parametrize("size", [(14400, 14400), (200, 1), (1_000_000, 3), (3, 1_000_000)])
def test_pages_of_any_size_are_drawn_within_bounds(tmp_path: Path, size: tuple[int, int]) -> None:
    _, picture = read(tmp_path, "", page=f"/MediaBox [0 0 {size[0]} {size[1]}]")
    height, width = picture.pixels.shape[:2]
    assert width * height <= MAX_PIXELS + width + height
    assert max(width, height) <= MAX_SIDE + 1
    assert width / picture.scale == pytest.approx(size[0], rel=0.01, abs=1 / picture.scale)


def test_a_crop_is_at_least_one_pixel_and_stays_within_the_picture() -> None:
    pixels = canvas((10, 20))
    fill(pixels, (2, 3, 4, 6), BLACK)
    picture = Raster(pixels, 2.0)
    assert picture.cut((2, 3, 4, 6)).shape == (6, 4, 3)
    assert picture.cut((2, 3, 4, 6)).max() == 0
    assert picture.cut((2, 3, 4, 6), margin=1).shape == (10, 8, 3)
    assert picture.cut((-5, -5, 100, 100)).shape == (40, 20, 3)
    assert picture.cut((9, 9, 9, 9)).size > 0
    assert picture.cut((50, 50, 60, 60)).shape == (1, 1, 3)


def text_of(folder: Path, content: str) -> str:
    return " ".join(found.text for found in lines_of_page(folder, f"BT /F1 20 Tf 100 600 Td {content} ET"))


RAISED = "/F1 12 Tf 8 Ts"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (f"(sales 5,196) Tj {RAISED} (1) Tj /F1 20 Tf 0 Ts ( rose) Tj", "sales 5,196¹ rose"),
        (f"(net sales) Tj {RAISED} (12) Tj", "net sales¹²"),
        ("(sales 5,196) Tj 8 Ts (12) Tj 0 Ts ( rose) Tj", "sales 5,196¹² rose"),
        (f"(see row.) Tj {RAISED} (3) Tj", "see row.³"),
        (f"{RAISED} (4) Tj /F1 20 Tf 0 Ts (university) Tj", "⁴university"),
        (f"(10) Tj {RAISED} (-7) Tj /F1 20 Tf 0 Ts ( or 30) Tj", "10⁻⁷ or 30"),
        (f"(cao) Tj {RAISED} (1,2) Tj", "cao¹,²"),
        ("(no) Tj /F1 12 Tf -5 Ts (2) Tj", "no2"),
        ("(101) Tj /F1 12 Tf -3 Ts (2) Tj", "101₂"),
        ("(log) Tj /F1 12 Tf -3 Ts (10) Tj /F1 20 Tf 0 Ts (100) Tj", "log₁₀100"),
        (f"(10) Tj {RAISED} (n) Tj /F1 20 Tf 0 Ts ( or 12.5) Tj {RAISED} (a,b) Tj", "10ⁿ or 12.5ᵃ,b"),
        (f"(on 1) Tj {RAISED} (st) Tj /F1 20 Tf 0 Ts ( of 5m 7) Tj /F1 12 Tf -5 Ts (b) Tj", "on 1st of 5m 7b"),
        ("(h7-3 in 2019, 50g) Tj", "h7-3 in 2019, 50g"),
        (f"{RAISED} (1) Tj /F1 20 Tf 0 Ts (/2 inch) Tj", "1 /2 inch"),
        ("/F1 12 Tf (base) Tj /F1 20 Tf (100) Tj", "base100"),
    ],
)
def test_raised_digits_are_superscripts_and_lowered_ones_subscripts(tmp_path: Path, content: str, text: str) -> None:
    assert text_of(tmp_path, content) == text


@pytest.mark.parametrize("matrix", ["0 1 -1 0 200 600", "0 -1 1 0 200 600", "0.7 0.7 -0.7 0.7 200 500"])
def test_digits_of_turned_text_are_not_raised(tmp_path: Path, matrix: str) -> None:
    found = lines_of_page(tmp_path, f"BT /F1 20 Tf {matrix} Tm (tons of 0.845 in t5) Tj ET")
    assert "".join(one.text for one in found).replace(" ", "") == "tonsof0.845int5"


# Boxes of three digits of Helvetica, in thousandths of the font's size.
DIGITS = {"0": (37, -19, 519, 703), "2": (26, 0, 507, 703), "3": (34, -19, 522, 703)}


def test_letters_drawn_again_with_a_rim_are_read_once(tmp_path: Path) -> None:
    # As Chromium prints a text that has a stroke: the rims are letters of a font of their own, somewhat larger.
    rims = []
    for x1, y1, x2, y2 in DIGITS.values():
        left, bottom, right, top = x1 - 70, y1 - 70, x2 + 70, y2 + 70
        box = f"{left} {bottom} {right - left} {top - bottom} re f"
        rims.append(stream(f"556 0 {left} {bottom} {right} {top} d1 {box}"))
    places = {"3": 100.0, "2": 106.116, "0": 112.232}
    rim = {text: f"BT /F2 11 Tf 1 0 0 1 {x} 600 Tm ({text}) Tj ET " for text, x in places.items()}
    content = rim["3"] + "BT /F1 11 Tf 1 0 0 1 100 600 Tm (320) Tj ET " + rim["2"] + rim["0"]
    names = "/Differences [48 /zero /one /two /three]"
    font = (
        "<</Type /Font /Subtype /Type3 /FontBBox [-100 -100 700 800] /FontMatrix [0.001 0 0 0.001 0 0]"
        f" /FirstChar 48 /LastChar 51 /Widths [556 556 556 556] /Encoding <</Type /Encoding {names}>>"
        " /CharProcs <</zero 7 0 R /two 8 0 R /three 9 0 R>> /Resources <<>>>>"
    )
    fonts = "/Font <</F1 5 0 R /F2 6 0 R>>"
    assert texts_of(page_pdf(tmp_path / "a.pdf", content, HELVETICA, font, *rims, resources=fonts)) == ["320"]


def test_small_letters_side_by_side_are_no_letters_drawn_again(tmp_path: Path) -> None:
    """A page in inches, and each letter by an operation of its own, as drawing programs write it."""
    letters = "".join(f"({letter}) Tj " for letter in "illegal 11,100")
    (found,) = lines_of_page(tmp_path, f"BT /F1 0.153 Tf 1 6 Td {letters} ET", page="/MediaBox [0 0 8.5 11]")
    assert found.text.replace(" ", "") == "illegal11,100"


def texts_of(path: Path) -> list[str]:
    import pypdfium2

    document = pypdfium2.PdfDocument(path)
    try:
        return [line.text for line in read_text_layer(document[0]).lines]
    finally:
        document.close()


def test_letters_of_a_ligature_are_all_kept(tmp_path: Path) -> None:
    path = renaming_pdf(tmp_path / "a.pdf", "BT /F1 20 Tf 100 600 Td (BA) Tj ET", {"A": "00660066", "B": "006f"})
    assert texts_of(path) == ["off"]


def letter_by_letter(text: str, x: float, y: float, size: float) -> str:
    """Operations that draw each letter by itself, as Chromium does in fonts with kerning."""
    from reportlab.pdfbase.pdfmetrics import stringWidth

    steps = "".join(f"({letter}) Tj {stringWidth(letter, 'Helvetica', size):.3f} 0 Td " for letter in text)
    return f"BT /F1 {size} Tf 1 0 0 1 {x} {y} Tm {steps} ET\n"


def test_a_page_of_few_lines_in_single_letters_is_read_in_lines(tmp_path: Path) -> None:
    said = ["all 11 reports are in print", "we did not test those with photographs", "and the rest is built each night"]
    columns = [letter_by_letter("6 limitations", 57, 700, 12)]
    columns += [letter_by_letter(text, 340, 700 - 14 * at, 10) for at, text in enumerate(said)]
    assert [line.text for line in lines_of_page(tmp_path, "".join(columns))] == ["6 limitations", *said]
