"""A page's lines and picture become elements, with crops stored and OCR done."""

import io
import random
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_pages import A4, canvas, fill, grid, ink_words, line, paragraph, picture, prose, scatter
from PIL import Image, ImageDraw, ImageFont

from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.boxes import area, iou
from quoteweave.documents.layout.blocks import block_of
from quoteweave.documents.layout.page import (
    MAX_TEXT_CHARACTERS,
    SPLIT_FROM_SHARE,
    UNREAD,
    UNSURE,
    PageReader,
    encode_image,
    split_long_block,
)
from quoteweave.documents.sources.lines import Line, Word, is_garbled
from quoteweave.documents.sources.pdf import open_pdf
from quoteweave.documents.sources.raw_page import Pixels, Raster, RawPage

ENGLISH = "the quick brown foxes jumped over a lazy dog and went home along the harbour wall in spring "


@dataclass
class ScriptedOcr:
    """Reads these lines on a picture of the whole page, and one word on every crop."""

    lines: list[Line] = field(default_factory=list)
    whole: tuple[int, ...] = (1600, 1200, 3)
    crops: int = 0

    def read(self, picture: Raster) -> list[Line]:
        if picture.pixels.shape == self.whole:
            return self.lines
        self.crops += 1
        return [line("crop", 0, 0)]


def with_chart(lines: list[Line]) -> Pixels:
    pixels = canvas()
    scatter(pixels, (50, 300, 250, 400))
    ink_words(pixels, lines)
    return pixels


def test_a_digital_page_gives_text_and_crops(images: ImageStore) -> None:
    lines = prose(50, 100)
    page = PageReader(images, None).read(RawPage(3, picture(with_chart(lines)), lines=lines, label="iv"))
    assert (page.number, page.label, page.width, page.height, page.source) == (3, "iv", 600, 800, "text_layer")
    text, figure = page.elements
    assert (text.found_as, text.lines, text.prose, text.size, text.image) == ("text", 5, True, 10, None)
    assert figure.found_as == "figure"
    assert figure.box == pytest.approx((47, 297, 253, 403), abs=2)
    assert figure.ocr_text is None
    crop = Image.open(images.path(figure.image or ""))
    assert crop.format == "PNG"
    assert crop.width == pytest.approx((figure.box[2] - figure.box[0] + 4) * 2, abs=2)


def written(pixels: Pixels, text: str, x: float, y: float) -> Pixels:
    """A page of 144 dpi with words drawn on a white label, 12 points high, from (x, y) in points."""
    fill(pixels, (x - 4, y - 4, x + 115, y + 20), (255, 255, 255))
    image = Image.fromarray(pixels)
    ImageDraw.Draw(image).text((2 * x, 2 * y), text, fill=(20, 20, 20), font=ImageFont.load_default(24))
    return np.asarray(image).copy()


def test_ocr_reads_a_figure_whose_words_are_drawn_and_not_in_the_text_layer(images: ImageStore) -> None:
    lines, ocr = prose(50, 100), ScriptedOcr()
    pixels = written(with_chart(lines), "Depth of the pool", 120, 340)
    page = PageReader(images, ocr).read(RawPage(0, picture(pixels), lines=lines))
    assert [element.ocr_text for element in page.elements] == [None, "crop"]
    assert ocr.crops == 1


def test_ocr_reads_no_figure_whose_words_the_text_layer_gives(images: ImageStore) -> None:
    label = line("Depth of the pool", 120, 340)
    lines, ocr = [*prose(50, 100), label], ScriptedOcr()
    pixels = written(with_chart(lines[:-1]), label.text, 120, 340)
    x1, y1, x2, y2 = label.box
    wide = replace(label, words=tuple(Word(w.text, (x1, y1 - 2, max(x2, 240), y2 + 8)) for w in label.words))
    page = PageReader(images, ocr).read(RawPage(0, picture(pixels), lines=[*lines[:-1], wide]))
    assert [(element.found_as, element.ocr_text) for element in page.elements] == [("text", None), ("figure", None)]
    assert ocr.crops == 0


def test_ocr_reads_a_figure_of_which_the_text_layer_lost_the_spaces(images: ImageStore) -> None:
    lines, ocr = [*prose(50, 100), line("Depthofthepoolbelowtheharbourwall", 60, 340)], ScriptedOcr()
    page = PageReader(images, ocr).read(RawPage(0, picture(with_chart(lines)), lines=lines))
    assert [element.ocr_text for element in page.elements] == [None, "crop"]


def test_a_page_without_text_is_read_by_ocr_and_kept_whole(images: ImageStore) -> None:
    lines = [*prose(50, 100), line("50", 60, 350)]
    page = PageReader(images, ScriptedOcr(lines)).read(RawPage(0, picture(with_chart(lines)), lines=[]))
    text, figure, whole = page.elements
    assert page.source == "ocr"
    assert text.text.startswith("the harbour was dredged")
    assert (figure.text, figure.ocr_text) == ("", "50")
    assert (whole.found_as, whole.box) == ("page", (0, 0, 600, 800))
    assert whole.ocr_text is not None
    assert "the harbour was dredged again in early spring\n" in whole.ocr_text
    assert Image.open(images.path(whole.image or "")).format == "JPEG"


def test_a_garbled_text_layer_is_read_by_ocr(images: ImageStore) -> None:
    lines = prose(50, 100)
    broken = paragraph(["\ufffd\ufffd\ufffd \ue000\ue001\ue002\ue003"] * 8, 50, 100)
    page = PageReader(images, ScriptedOcr(lines)).read(RawPage(0, picture(canvas()), lines=broken))
    assert page.source == "ocr"
    assert page.elements[0].text.startswith("the harbour")


def test_a_short_text_layer_of_other_letters_is_read_by_ocr(images: ImageStore) -> None:
    text = "Meeting cancelled, come on Friday instead at seven in the parish hall."
    shifted = "".join(chr(ord(c) + 1) if c.isalpha() else c for c in text)
    for layer, drawn, source in (
        (shifted, text, "ocr"),
        (shifted, shifted, "text_layer"),
        (text, ENGLISH, "text_layer"),
    ):
        reader = PageReader(images, ScriptedOcr([line(drawn, 50, 100)]))
        page = reader.read(RawPage(0, picture(canvas()), lines=[line(layer, 50, 100)]))
        assert (page.source, page.elements[0].text) == (source, drawn if source == "ocr" else layer)
    page = PageReader(images, None).read(RawPage(0, picture(canvas()), lines=[line(shifted, 50, 100)]))
    assert page.warnings[0] == "page 1 has a text layer that looks garbled, and was kept as it is"


def test_a_garbled_text_layer_that_is_kept_is_told(images: ImageStore) -> None:
    broken = paragraph(["\ufffd\ufffd\ufffd \ue000\ue001\ue002\ue003"] * 8, 50, 100)
    for ocr in (None, ScriptedOcr()):
        page = PageReader(images, ocr).read(RawPage(2, picture(canvas()), lines=broken))
        assert page.source == "text_layer"
        assert page.warnings == ("page 3 has a text layer that looks garbled, and was kept as it is",)
    words = prose(50, 100)
    assert PageReader(images, None).read(RawPage(2, picture(with_chart(words)), lines=words)).warnings == ()


def test_a_page_without_words_is_still_there_as_a_whole(images: ImageStore) -> None:
    drawn = canvas()
    scatter(drawn, (50, 300, 250, 400))
    for ocr, pixels, read in ((None, drawn, None), (None, canvas(), None), (ScriptedOcr(), drawn, "")):
        page = PageReader(images, ocr).read(RawPage(0, picture(pixels), lines=[]))
        assert page.source == "none"
        assert page.elements[-1].found_as == "page"
        assert page.elements[-1].ocr_text == read


def test_a_picture_that_fills_a_scanned_page_is_the_whole_page_alone(images: ImageStore) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (1600, 1200, 3)).astype(np.uint8)
    page = PageReader(images, ScriptedOcr([line("Spring", 200, 300)])).read(RawPage(0, Raster(noise, 2.0), lines=[]))
    assert [element.found_as for element in page.elements] == ["text", "page"]


def test_a_large_table_is_also_given_in_parts_that_cut_no_row(images: ImageStore) -> None:
    pixels = canvas()
    ys = [20 + 20 * i for i in range(39)]
    grid(pixels, [20, 300, 580], ys)
    rows = [line(f"row {i:02d}", 30, y + 5) for i, y in enumerate(ys[:-1])] + [
        line(str(i), 310, y + 5) for i, y in enumerate(ys[:-1])
    ]
    page = PageReader(images, None).read(RawPage(0, picture(pixels), lines=rows))
    whole, *parts = page.elements
    assert [element.part for element in page.elements] == ["", "part 1 of 2", "part 2 of 2"]
    assert {element.found_as for element in page.elements} == {"table"}
    assert whole.text == "\n".join(part.text for part in parts)
    assert parts[0].text.splitlines()[0] == "row 00 | 0"
    assert all(area(part.box) <= SPLIT_FROM_SHARE * 1.1 * A4[0] * A4[1] for part in parts)
    assert parts[0].box[3] == parts[1].box[1]


def test_a_wide_table_is_cut_between_rows_too(images: ImageStore) -> None:
    pixels = canvas((600.0, 400.0))
    ys = [20 + 20 * i for i in range(18)]
    grid(pixels, [20, 300, 580], ys)
    rows = [line(text, x, y + 5) for i, y in enumerate(ys[:-1]) for text, x in ((f"row {i:02d}", 30), (str(i), 310))]
    elements = PageReader(images, None).read(RawPage(0, picture(pixels), lines=rows)).elements
    assert [element.text for element in elements if element.part] == [
        "\n".join(f"row {i:02d} | {i}" for i in numbers) for numbers in (range(9), range(9, 17))
    ]


def test_a_large_picture_is_cut_across_its_longer_side(images: ImageStore) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (1400, 800, 3)).astype(np.uint8)
    pixels = canvas()
    pixels[100:1500, 200:1000] = noise
    page = PageReader(images, None).read(RawPage(0, picture(pixels), lines=[]))
    whole, upper, lower, _ = page.elements
    assert iou(whole.box, (100, 50, 500, 750)) > 0.95
    assert upper.box[3] == lower.box[1] == pytest.approx(400, abs=2)
    assert upper.image != lower.image


def test_the_parts_of_a_large_picture_say_all_that_stands_on_it(images: ImageStore) -> None:
    """Its panels, with the labels between them; where these belong to no panel, it is cut across."""
    pixels = canvas()
    for left in (40, 320):
        scatter(pixels, (left, 60, left + 230, 620))
    labels = [line("North quay", 100, 625), line("South quay", 380, 625), line("Tonnes", 400, 648)]
    ink_words(pixels, labels)
    page = PageReader(images, None).read(RawPage(0, picture(pixels), lines=[*labels, *prose(50, 700, rows=6)]))
    whole, *parts = [element for element in page.elements if element.found_as == "figure"]
    assert area(whole.box) > SPLIT_FROM_SHARE * A4[0] * A4[1]
    assert sorted(" ".join(part.text for part in parts).split()) == sorted(whole.text.split())
    assert all(0 < area(part.box) < 0.6 * area(whole.box) for part in parts)


def test_long_text_is_cut_between_lines_into_even_parts() -> None:
    block = block_of(paragraph([ENGLISH] * 40, 50, 50))
    parts = split_long_block(block)
    assert [line for part in parts for line in part.lines] == list(block.lines)
    assert max(len(part.text) for part in parts) <= MAX_TEXT_CHARACTERS + len(ENGLISH)
    assert max(len(part.lines) for part in parts) - min(len(part.lines) for part in parts) <= 1
    assert split_long_block(block_of(prose(0, 0))) == [block_of(prose(0, 0))]


def glyph_numbers(text: str) -> str:
    """What a text layer says where a font's glyph numbers are taken for characters: "the" becomes "WKH"."""
    return "".join(chr(ord(c) - 29) if c > " " else c for c in text)


def test_shuffled_letters_private_characters_and_replacements_are_garbled() -> None:
    texts = [
        "Straße nach Grünegg, links " * 10,
        "Привет мир " * 20,
        "港口的水深是九米 " * 20,
        "12.5 13.1 88 " * 30,
        "HTTP " * 9,
        "if (a[i] != b[j]) { return f(x, y) + 1; } " * 9,
        "Arrival .................... 12 " * 9,
    ]
    for text in (ENGLISH * 2, *texts):
        assert not is_garbled([line(text, 0, 0)]), text
    for text in (
        glyph_numbers(ENGLISH * 3),
        "\ufffd" * 5 + "abc",
        "\uf0b7\uf0b8\uf0b9 ok",
        "$,)!,%4&274!2*!6,)!6291! " * 9,
    ):
        assert is_garbled([line(text, 0, 0)]), text
    assert not is_garbled([])
    assert not is_garbled([line("\uf0b7 Text of a list with one odd bullet", 0, 0)])


@given(st.lists(st.sampled_from(ENGLISH.split()), min_size=50, max_size=80), st.randoms())
def test_english_is_never_garbled_however_its_words_come(words: list[str], seed: random.Random) -> None:
    seed.shuffle(words)
    assert not is_garbled([line(" ".join([*words, *ENGLISH.split()]), 0, 0)])


@given(st.text(max_size=300))
def test_any_text_can_be_judged(text: str) -> None:
    assert is_garbled([line(f"a {text}", 0, 0)]) in (True, False)


def test_pictures_are_encoded_as_they_are_or_as_jpeg() -> None:
    pixels = canvas((20, 10))
    fill(pixels, (2, 2, 8, 8), (200, 30, 40))
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(encode_image(pixels)))), pixels)
    assert Image.open(io.BytesIO(encode_image(pixels, lossy=True))).format == "JPEG"


def test_a_large_picture_is_read_once_for_all_its_parts(images: ImageStore) -> None:
    pixels = canvas()
    scatter(pixels, (50, 50, 550, 700))
    pixels = written(pixels, "Depth of the pool", 120, 340)

    class Placed(ScriptedOcr):
        def read(self, picture: Raster) -> list[Line]:
            self.crops += 1
            return [line("upper", 100, 100), line("lower", 100, 600)]

    ocr, label = Placed(), prose(50, 720, rows=8)
    page = PageReader(images, ocr).read(RawPage(0, picture(pixels), lines=label))
    assert [element.ocr_text for element in page.elements if element.found_as == "figure"] == [
        "upper\nlower",
        "upper",
        "lower",
    ]
    assert ocr.crops == 1


@pytest.mark.parametrize("read", [[], ["Prt"]])
def test_the_few_words_of_a_page_stay_where_ocr_reads_no_more(images: ImageStore, read: list[str]) -> None:
    reader = PageReader(images, ScriptedOcr([line(text, 100, 100) for text in read]))
    content = reader.read(RawPage(0, picture(canvas()), lines=[line("Part II", 100, 100)]))
    assert (content.source, [element.text for element in content.elements if element.found_as == "text"]) == (
        "text_layer",
        ["Part II"],
    )
    drawn, title = canvas(), line("Part II of the report", 100, 100)
    ink_words(drawn, [title])
    content = PageReader(images, ScriptedOcr([title])).read(RawPage(0, picture(drawn), lines=[line("7", 100, 100)]))
    assert (content.source, content.elements[0].text) == ("ocr", "Part II of the report")


def test_ocr_reads_no_page_that_is_blank_beside_the_words_of_its_text_layer(images: ImageStore) -> None:
    class Counting(ScriptedOcr):
        def read(self, picture: Raster) -> list[Line]:
            self.crops += 1
            return []

    few, drawn, faint = [line("References", 50, 40)], canvas(), canvas()
    ink_words(drawn, few)
    fill(faint, (50, 300, 300, 310), (240, 240, 240))
    ocr = Counting()
    pages = [(canvas(), []), (drawn, few), (faint, []), (drawn, []), (drawn, [line("\ufffd" * 5 + "abc", 50, 40)])]
    reads, texts = [], []
    for pixels, lines in pages:
        before = ocr.crops
        content = PageReader(images, ocr).read(RawPage(0, picture(pixels), lines=lines))
        reads.append(ocr.crops - before)
        texts.append([element.ocr_text for element in content.elements if element.found_as == "page"])
    assert reads == [0, 0, 1, 1, 1]
    assert texts == [[None], [None], [""], [""], [""]]


def test_the_parts_of_a_large_table_say_the_names_of_its_columns(images: ImageStore) -> None:
    pixels = canvas()
    ys = [20 + 20 * i for i in range(39)]
    grid(pixels, [20, 300, 580], ys)
    rows = [line("Quay" if i == 0 else f"quay {i:02d}", 30, y + 5) for i, y in enumerate(ys[:-1])]
    rows += [line("Depth" if i == 0 else str(i), 310, y + 5) for i, y in enumerate(ys[:-1])]
    elements = PageReader(images, None).read(RawPage(0, picture(pixels), lines=rows)).elements
    first, second, *_ = [element for element in elements if element.part]
    assert first.text.startswith("Quay | Depth\nquay 01 | 1\n")
    assert second.text.startswith("Quay | Depth\nquay ")


def test_the_panels_of_a_figure_are_also_given_by_themselves(images: ImageStore) -> None:
    pixels = canvas()
    for left in (50, 300):
        scatter(pixels, (left, 100, left + 200, 300))
    labels = [line("North quay", 100, 305), line("South quay", 350, 305)]
    ink_words(pixels, labels)
    page = PageReader(images, None).read(RawPage(0, picture(pixels), lines=[*labels, *prose(50, 500)]))
    elements = [element for element in page.elements if element.found_as == "figure"]
    assert [(element.part, element.text) for element in elements] == [
        ("", "North quay South quay"),
        ("part 1 of 2", "North quay"),
        ("part 2 of 2", "South quay"),
    ]
    assert elements[1].box[2] < elements[2].box[0]


def test_a_scan_with_a_line_stamped_on_it_is_read_by_ocr(images: ImageStore) -> None:
    """Rows of text that are wide apart make no picture that fills the page."""
    scanned = paragraph(["the harbour was dredged again in early spring and later"] * 6, 50, 100, pitch=40)
    stamp = line("Case 2:18-cv-12857 filed 09/13/18 page 16", 50, 20)
    pixels = canvas()
    for word in (word for row in [stamp, *scanned] for word in row.words):
        fill(pixels, word.box)
    read = PageReader(images, ScriptedOcr([stamp, *scanned])).read(RawPage(0, picture(pixels), lines=[stamp]))
    assert read.source == "ocr"
    assert sum("dredged" in element.text for element in read.elements) > 0
    few = canvas()
    ink_words(few, [stamp])
    kept = PageReader(images, ScriptedOcr([stamp, *scanned])).read(RawPage(0, picture(few), lines=[stamp]))
    assert kept.source == "text_layer"


class TurningOcr:
    """Reads what has red on its left and green at its top; of what stands on its head, something else and unsurely.

    What lies on its side it turns counter-clockwise by itself, as RapidOCR does, and so reads it or something else.
    """

    def read(self, picture: Raster) -> list[Line]:
        lies = picture.pixels[0, -1, 0] == picture.pixels[0, 0, 0]
        pixels = np.rot90(picture.pixels) if lies else picture.pixels
        stands = pixels[0, 0, 0] > pixels[0, -1, 0] and pixels[0, 0, 1] > pixels[-1, 0, 1]
        found = prose(50, 100) if stands else [line("Yt eo tar whu nnt", 50, 100)]
        return [replace(one, upright=not lies, sureness=0.99 if stands else 0.65) for one in found]


@pytest.mark.parametrize(("turns", "corner"), [(0, (50, 100)), (1, (100, 550)), (2, (550, 700)), (3, (700, 50))])
def test_a_scan_that_lies_on_its_side_or_stands_on_its_head_is_turned_to_be_read(
    images: ImageStore, turns: int, corner: tuple[int, int]
) -> None:
    upright = canvas()
    upright[:, :, 0], upright[:, :, 1] = 250 - np.arange(1200) // 5, 250 - (np.arange(1600) // 7)[:, None]
    page = PageReader(images, TurningOcr()).read(RawPage(0, picture(np.rot90(upright, turns))))
    assert page.elements[0].text.startswith("the harbour was dredged again in early spring")
    assert (page.width, page.height) == ((600, 800) if turns % 2 == 0 else (800, 600))
    x1, y1, x2, y2 = page.words.words[0].bbox if page.words else (0, 0, 0, 0)
    assert corner[0] in (x1, x2)
    assert corner[1] in (y1, y2)
    assert page.elements[-1].box == (0, 0, page.width, page.height)


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_digital_page_whose_text_lies_on_its_side_is_read_as_if_upright(
    tmp_path: Path, images: ImageStore, turns: int
) -> None:
    from reportlab.pdfgen.canvas import Canvas

    drawn = Canvas(str(tmp_path / "a.pdf"), pagesize=A4)
    drawn.drawString(40, 20, "7")  # the number of the page, which stands upright
    drawn.translate(*{1: (550, 100), 2: (550, 700), 3: (50, 700)}[turns])
    drawn.rotate({1: -90, 2: 180, 3: 90}[turns] * -1 if turns != 2 else 180)
    for at, row in enumerate(["The harbour was dredged again in early", "spring, and nobody was told of it."]):
        drawn.drawString(0, -14 * at, row)
    drawn.save()
    with open_pdf(tmp_path / "a.pdf", None) as pages:
        page = PageReader(images, None).read(pages.read(0))
    assert "The harbour was dredged again in early spring, and nobody was told of it." in [
        e.text for e in page.elements
    ]
    assert (page.width, page.height) == A4


@pytest.mark.parametrize(
    ("text", "sureness", "told"),
    [("the harbour wall", 0.95, False), ("sex al nhw", 0.6, True), ("el, .oi", 0.95, True)],
)
def test_a_scan_of_which_ocr_is_unsure_is_told(images: ImageStore, text: str, sureness: float, told: bool) -> None:
    read = replace(line(text, 50, 100), sureness=sureness)
    if "," in text:  # of a long line of another script few letters are read
        read = replace(read, box=(50, 100, 400, 110))
    drawn = canvas()
    scatter(drawn, (50, 300, 250, 400))
    page = PageReader(images, ScriptedOcr([read])).read(RawPage(2, picture(drawn)))
    assert [warning for warning in page.warnings if warning.startswith("page 3 was read by OCR, which is unsure")] == (
        [f"page 3 {UNSURE}"] if told else []
    )


@pytest.mark.parametrize(("read", "is_told"), [(20, False), (18, False), (10, True), (0, True)])
def test_a_scan_of_which_ocr_reads_a_part_is_told(images: ImageStore, read: int, is_told: bool) -> None:
    rows, drawn = paragraph(["the harbour was dredged again"] * 20, 50, 100, pitch=30), canvas()
    ink_words(drawn, rows)
    page = PageReader(images, ScriptedOcr(rows[:read])).read(RawPage(2, picture(drawn)))
    assert [warning.startswith(f"page 3 {UNREAD}: ") for warning in page.warnings] == [True] * is_told


def test_a_scan_with_noise_is_not_told_to_have_letters(images: ImageStore) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (208, 161), dtype=np.uint8)
    pixels = np.asarray(Image.fromarray(noise).resize((1275, 1650), Image.Resampling.BICUBIC).convert("RGB"))
    assert PageReader(images, ScriptedOcr([])).read(RawPage(2, Raster(pixels, 150 / 72))).warnings == ()
