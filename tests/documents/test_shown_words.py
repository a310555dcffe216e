"""Text layers with other words than the page shows: found without OCR, compared by OCR, read by OCR and told."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from made_files import HELVETICA, one_page_pdf, page_pdf, stream
from made_pages import line, paragraph
from PIL import Image, ImageDraw, ImageFont

from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.boxes import hull
from quoteweave.documents.layout.page import PageContent, PageReader
from quoteweave.documents.layout.used_lines import MISDRAWN, OTHER_WORDS, PARTLY_OTHER
from quoteweave.documents.sources.lines import Line, translated
from quoteweave.documents.sources.ocr import Ocr, RapidOcr
from quoteweave.documents.sources.pdf import open_pdf
from quoteweave.documents.sources.raw_page import Doubt, Doubtful, Raster, RawPage
from quoteweave.documents.sources.shown_words import Shown, compare_with_shown

SHOWN = (
    "The harbour was dredged in spring",
    "and the cranes were moved to the quay",
    "Ferries kept to their hours all year",
    "while the old pilots were sent home",
    "No ship was lost in that long winter",
    "The dues were paid before the autumn",
)
OTHERS = (
    "Mushrooms grow quickly under oaks",
    "Boil them with butter, salt and pepper",
    "Serve hot beside a glass of red wine",
    "Some kinds should never be gathered",
    "Ask your chemist if anything is unclear",
    "Books about fungi help beginners much",
)
SIZE = (400.0, 300.0)


def places_of_pixels() -> Raster:
    """A picture whose pixels say where they are."""
    height, width = int(2 * SIZE[1]), int(2 * SIZE[0])
    y, x = np.mgrid[:height, :width]
    return Raster(np.stack([y // 4, x // 4, y % 4 + 4 * (x % 4)], axis=2).astype(np.uint8), 2.0)


@dataclass
class Reader:
    """OCR that reads these lines where they are on `places_of_pixels`; only their words within a crop."""

    lines: Sequence[Line]
    readings: int = 0

    def read(self, picture: Raster) -> list[Line]:
        self.readings += 1
        first, last = picture.pixels[0, 0].astype(float), picture.pixels[-1, -1].astype(float)
        y1, x1, y2, x2 = 2 * first[0], 2 * first[1], 2 * last[0] + 2, 2 * last[1] + 2
        read = []
        for shown in self.lines:
            words = tuple(
                word
                for word in shown.words
                if x1 <= sum(word.box[::2]) / 2 <= x2 and y1 <= sum(word.box[1::2]) / 2 <= y2
            )
            if words:
                read.append(translated(replace(shown, words=words, box=hull(word.box for word in words)), -x1, -y1))
        return read


def rows(texts: Sequence[str], y: float = 20.0) -> list[Line]:
    return paragraph(texts, 20, y, pitch=24)


def not_drawn(lines: Sequence[Line]) -> list[Doubtful]:
    return [Doubtful(line.box, Doubt.NOT_DRAWN) for line in lines]


def compared(layer: Sequence[Line], shown: Sequence[Line], doubtful: Sequence[Doubtful] | None = None) -> Shown:
    doubtful = not_drawn(layer) if doubtful is None else doubtful
    return compare_with_shown(layer, doubtful, places_of_pixels(), Reader(shown))


def misread(text: str) -> str:
    """Every seventh letter as an older program might read it."""
    return "".join("c" if at % 7 == 3 and letter.isalpha() else letter for at, letter in enumerate(text))


@pytest.mark.parametrize(
    ("layer", "shown", "verdict"),
    [
        pytest.param(SHOWN, SHOWN, Shown.AS_READ, id="the same words"),
        pytest.param([misread(text) for text in SHOWN], SHOWN, Shown.AS_READ, id="some letters misread"),
        pytest.param([text.upper() for text in SHOWN], SHOWN, Shown.AS_READ, id="capitals"),
        pytest.param(OTHERS, SHOWN, Shown.MOSTLY_OTHER, id="the layer of another page"),
        pytest.param((*SHOWN[:4], *OTHERS[4:]), SHOWN, Shown.AS_READ, id="mostly right"),
        pytest.param(SHOWN, (), Shown.AS_READ, id="nothing that OCR reads"),
        pytest.param((), SHOWN, Shown.AS_READ, id="an empty layer"),
        pytest.param(["В гавани весной углубили дно"] * 4, SHOWN, Shown.AS_READ, id="a script that OCR lacks"),
        pytest.param(
            ["Ôté à présent, où l'été naît"] * 4, ["Ote a present, ou l'ete nait"] * 4, Shown.AS_READ, id="accents"
        ),
    ],
)
def test_a_layer_is_compared_with_what_ocr_reads(layer: Sequence[str], shown: Sequence[str], verdict: Shown) -> None:
    assert compared(rows(layer), rows(shown)) is verdict


@pytest.mark.parametrize("extent", [1.0, 250.0])
def test_a_place_is_found_beside_higher_ones(extent: float) -> None:
    layer = rows(OTHERS)
    high = Doubtful((390.0, 0.0, 395.0, extent), Doubt.NOT_DRAWN)
    assert compared(layer, rows(SHOWN), [*not_drawn(layer)[::-1], high]) is Shown.MOSTLY_OTHER


def test_ten_thousand_words_are_compared_in_seconds() -> None:
    layer = [line("harbour", 20 * (at % 100), 5 * (at // 100), size=3) for at in range(10_000)]
    start = time.process_time()
    assert compared(layer, ()) is Shown.AS_READ
    assert time.process_time() - start < 4


def test_what_ocr_is_unsure_of_says_nothing() -> None:
    unsure = [replace(line, sureness=0.7) for line in rows(SHOWN)]
    assert compared(rows(OTHERS), unsure) is Shown.AS_READ


def test_a_right_layer_that_lies_beside_what_is_shown_stays() -> None:
    assert compared(rows(SHOWN), [*rows(SHOWN[::-1])]) is Shown.AS_READ


def test_few_words_are_a_reason_to_tell_but_not_to_read_the_page() -> None:
    layer = [*rows(SHOWN), line("Mushrooms grow quickly", 20, 200)]
    shown = [*rows(SHOWN), line("Stone pier of the ferry", 20, 200)]
    assert compared(layer, shown, not_drawn(layer[-1:])) is Shown.PARTLY_OTHER
    assert compared(layer, layer, not_drawn(layer[-1:])) is Shown.AS_READ


def test_a_number_that_is_named_otherwise_is_noticed_with_all_its_digits() -> None:
    layer, shown = ([*rows(SHOWN), line(f"Dues in all {sum}", 20, 200)] for sum in ("7,500", "1,500"))
    renamed = [Doubtful(layer[-1].words[-1].box, Doubt.RENAMED)]
    assert compared(layer, shown, renamed) is Shown.PARTLY_OTHER
    assert compared(layer, layer, renamed) is Shown.AS_READ
    assert compared(layer, shown, not_drawn(layer[-1:])) is Shown.AS_READ  # as OCR misreads digits of scans


def test_two_lines_that_agree_suffice() -> None:
    reader = Reader(rows(SHOWN))
    compare_with_shown(rows(SHOWN), not_drawn(rows(SHOWN)), places_of_pixels(), reader)
    assert reader.readings == 2
    compare_with_shown(rows(SHOWN), (), places_of_pixels(), reader)
    assert reader.readings == 2


def font(names: str) -> str:
    letters = f"1 beginbfrange\n<20> <7e> <0020>\nendbfrange\n{names}"
    return f"begincmap\n1 begincodespacerange <00> <ff> endcodespacerange\n{letters}\nendcmap"


SWAPPED = "2 beginbfchar\n<31> <0037>\n<37> <0031>\nendbfchar"


def font_pdf(path: Path, content: str, names: str = "") -> Path:
    """A page in Helvetica whose characters are named as usual, but for `names`."""
    named = HELVETICA.replace(">>", " /ToUnicode 6 0 R>>")
    return page_pdf(path, content, named, stream(font(names)), page="/MediaBox [0 0 400 300]")


def raw_page(path: Path) -> RawPage:
    with open_pdf(path, None) as pages:
        return pages.read(0)


def doubts(path: Path) -> set[Doubt]:
    return {place.doubt for place in raw_page(path).doubtful}


def text(words: str, y: float = 200, more: str = "") -> str:
    return f"BT /F1 12 Tf {more} 1 0 0 1 40 {y} Tm ({words}) Tj ET "


def test_only_suspicious_words_are_doubtful(tmp_path: Path) -> None:
    number = text("0123456789 ferries, 1711 in all")
    assert doubts(font_pdf(tmp_path / "right.pdf", number)) == set()
    assert doubts(font_pdf(tmp_path / "invisible.pdf", text("A ferry", more="3 Tr"))) == {Doubt.NOT_DRAWN}
    assert doubts(font_pdf(tmp_path / "swapped.pdf", number, SWAPPED)) == {Doubt.MISDRAWN}


@pytest.mark.parametrize(
    ("named", "shown", "is_doubtful"),
    [("two quays", "one ferry", True), ("7", "1", True), ("fi", "x", False), ("-", "x", False)],
)
def test_words_and_digits_named_in_place_of_others_are_doubtful(
    tmp_path: Path, named: str, shown: str, is_doubtful: bool
) -> None:
    path = font_pdf(tmp_path / "named.pdf", f"/Span <</ActualText ({named})>> BDC {text(shown)} EMC")
    assert doubts(path) == ({Doubt.RENAMED} if is_doubtful else set())


def test_the_letters_of_other_scripts_are_not_taken_for_misdrawn(tmp_path: Path) -> None:
    assert doubts(one_page_pdf(tmp_path / "hebrew.pdf", text("ABC 10"))) == set()


def scan(path: Path, layer: Sequence[str], *, turned: int = 0, is_covered: bool = False) -> Path:
    """A picture of `SHOWN` with a text layer, invisible or under it, on a page that is turned for reading."""
    from reportlab.pdfgen.canvas import Canvas

    picture = Image.new("RGB", (800, 600), "white")
    for row, shown in enumerate(SHOWN):
        ImageDraw.Draw(picture).text((60, 60 + 60 * row), shown, fill="black", font=ImageFont.load_default(28))
    canvas = Canvas(str(path), pagesize=SIZE)
    canvas.setPageRotation(turned)
    if not is_covered:
        canvas.drawInlineImage(picture, 0, 0, *SIZE)
    for row, words in enumerate(layer):
        written = canvas.beginText(30, SIZE[1] - 43 - 30 * row)
        written.setFont("Helvetica", 14)
        written.setTextRenderMode(0 if is_covered else 3)
        written.textOut(words)
        canvas.drawText(written)
    if is_covered:
        canvas.drawInlineImage(picture, 0, 0, *SIZE)
    canvas.save()
    return path


def read(path: Path, ocr: Ocr | None) -> tuple[PageContent, str]:
    page = PageReader(ImageStore(path.parent / "images"), ocr).read(raw_page(path))
    return page, " ".join(element.text or element.ocr_text or "" for element in page.elements)


@pytest.mark.parametrize(
    ("turned", "is_covered"),
    [(0, False), (0, True), (90, False), (180, False)],
    ids=["scan", "covered", "on its side", "over"],
)
def test_a_scan_with_the_layer_of_another_page_is_read_by_ocr_and_told(
    tmp_path: Path, turned: int, is_covered: bool
) -> None:
    page, words = read(scan(tmp_path / "wrong.pdf", OTHERS, turned=turned, is_covered=is_covered), RapidOcr())
    assert (page.source, page.warnings) == ("ocr", (f"page 1 {OTHER_WORDS}",))
    assert "cranes were moved" in words
    assert "Mushrooms" not in words


@pytest.mark.parametrize("turned", [0, 90])
def test_a_scan_with_a_right_layer_keeps_it(tmp_path: Path, turned: int) -> None:
    page, words = read(scan(tmp_path / "right.pdf", [misread(text) for text in SHOWN], turned=turned), RapidOcr())
    assert (page.source, page.warnings) == ("text_layer", ())
    assert misread(SHOWN[1]) in words


def test_without_ocr_a_wrong_layer_is_used_as_it_is(tmp_path: Path) -> None:
    page, words = read(scan(tmp_path / "wrong.pdf", OTHERS), None)
    assert (page.source, page.warnings) == ("text_layer", ())
    assert "Mushrooms" in words


def test_a_page_whose_digits_are_named_falsely_is_read_by_ocr_and_told_without_it(tmp_path: Path) -> None:
    content = "".join(text(f"Ferry {at} took 171{at} people in 17 days", 250 - 30 * at) for at in range(2, 7))
    path = font_pdf(tmp_path / "swapped.pdf", content, SWAPPED)
    page, words = read(path, None)
    assert (page.source, page.warnings) == ("text_layer", (f"page 1 {MISDRAWN}: 25",))
    assert "7172 people in 71" in words
    page, words = read(path, RapidOcr())
    assert (page.source, page.warnings) == ("ocr", (f"page 1 {OTHER_WORDS}",))
    assert "1712 people in 17" in words


def test_an_amount_that_is_named_otherwise_is_told(tmp_path: Path) -> None:
    content = "".join(text(words, 250 - 30 * row) for row, words in enumerate(SHOWN))
    content += f"/Span <</ActualText (Dues paid: 7,500)>> BDC {text('Dues paid: 1,200', 50)} EMC"
    page, words = read(font_pdf(tmp_path / "named.pdf", content), RapidOcr())
    assert (page.source, page.warnings) == ("text_layer", (f"page 1 {PARTLY_OTHER}",))
    assert "7,500" in words
