"""Charts as browsers and plotting libraries draw them: bars without axes, ticks and legends that stand apart."""

import colorsys
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest
from made_files import PROSE
from reportlab.pdfgen.canvas import Canvas

from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.boxes import Box
from quoteweave.core.records import ParsedDocument, Quote
from quoteweave.documents.layout.chart_parts import bars_on_one_base
from quoteweave.documents.parser import DocumentParser, ParserSettings

COLOURS = ((0.31, 0.47, 0.65), (0.95, 0.56, 0.17), (0.88, 0.34, 0.35), (0.35, 0.63, 0.31))
HARBOURS = (("Emden", 60), ("Bremen", 110), ("Kiel", 82), ("Husum", 45))


class Page:
    """A page with running text above and below the place of a chart, which is between y 300 and 560 from below."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.canvas = Canvas(str(path), pagesize=(612, 792))
        for bottom in (700, 200):
            for row, words in enumerate(textwrap.wrap(PROSE * 3, 80)):
                self.text(72, bottom - 14 * row, words, size=11)

    def fill(self, box: Box, colour: Sequence[float]) -> None:
        """A rectangle by its left, bottom, width and height."""
        self.canvas.setFillColorRGB(*colour)
        self.canvas.rect(*box, stroke=0, fill=1)
        self.canvas.setFillColorRGB(0, 0, 0)

    def text(self, x: float, y: float, text: str, *, size: float = 9, centred: bool = False) -> None:
        self.canvas.setFont("Helvetica", size)
        (self.canvas.drawCentredString if centred else self.canvas.drawString)(x, y, text)

    def parsed(self) -> ParsedDocument:
        self.canvas.save()
        return DocumentParser(ImageStore(self._path.parent / "images"), ParserSettings(ocr=False)).parse(self._path)

    def pictures(self) -> list[Quote]:
        """The figures and charts that are found on it."""
        return [quote for quote in self.parsed().quotes if quote.kind == "image"]


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return Page(tmp_path / "chart.pdf")


@pytest.mark.parametrize("thickness", [14, 40])
def test_columns_without_an_axis_are_one_chart(page: Page, thickness: int) -> None:
    for at, (name, value) in enumerate(HARBOURS):
        page.fill((120 + 80 * at, 320, thickness, 1.5 * value), COLOURS[0])
        page.text(120 + 80 * at + thickness / 2, 305, name, centred=True)
        page.text(120 + 80 * at + thickness / 2, 324 + 1.5 * value, str(value), centred=True)
    (chart,) = page.pictures()
    assert chart.text == "Emden | 60\nBremen | 110\nKiel | 82\nHusum | 45"


def test_horizontal_bars_without_an_axis_are_one_chart_with_labels_far_left(page: Page) -> None:
    for at, (name, value) in enumerate(HARBOURS):
        page.fill((180, 480 - 30 * at, 2 * value, 11), COLOURS[1])
        page.text(90, 482 - 30 * at, name)
        page.text(184 + 2 * value, 482 - 30 * at, f"{value}%")
    (chart,) = page.pictures()
    assert chart.text == "Emden | 60%\nBremen | 110%\nKiel | 82%\nHusum | 45%"


def test_bars_in_the_rows_of_a_table_leave_it_a_table(page: Page) -> None:
    for at, (name, value) in enumerate(HARBOURS):
        page.text(90, 482 - 20 * at, name)
        page.fill((180, 482 - 20 * at, value, 8), COLOURS[1])
        page.text(310, 482 - 20 * at, f"{value}%")
        page.text(360, 482 - 20 * at, f"Berth {at}")
    (table,) = page.pictures()
    assert table.layout == "table"
    assert table.text.splitlines()[0] == "Emden | 60% | Berth 0"


def test_a_caption_right_below_the_labels_of_an_axis_is_no_part_of_the_chart(page: Page) -> None:
    page.canvas.line(100, 320, 440, 320)
    for at, (name, value) in enumerate(HARBOURS):
        page.fill((120 + 80 * at, 320, 40, 1.5 * value), COLOURS[0])
        page.text(140 + 80 * at, 305, name, centred=True)
        page.text(140 + 80 * at, 324 + 1.5 * value, str(value), centred=True)
    page.text(260, 292, "Figure 2: Calls at the harbours.", centred=True)
    (chart,) = page.pictures()
    assert chart.caption == "Figure 2: Calls at the harbours."
    assert "Figure" not in chart.text


def test_bars_are_alike_in_thickness_evenly_apart_and_unlike_in_length() -> None:
    bars = [(100.0 + 60 * at, 300.0 - length, 120.0 + 60 * at, 300.0) for at, length in enumerate((80, 40, 60))]
    assert [*bars_on_one_base(bars)] == [bars]
    bullets = [(100.0, 100.0 + 20 * at, 106.0, 106.0 + 20 * at) for at in range(5)]
    assert not [*bars_on_one_base(bullets)]
    uneven = [*bars[:2], (290.0, 240.0, 310.0, 300.0)]
    assert not [*bars_on_one_base(uneven)]
    wider = [*bars[:2], (220.0, 240.0, 260.0, 300.0)]
    assert not [*bars_on_one_base(wider)]


def test_lines_of_text_drawn_as_outlines_are_no_bars(page: Page) -> None:
    for row, width in enumerate((300, 260, 320, 180)):
        for letter in range(width // 8):
            page.fill((110 + 8 * letter, 500 - 20 * row, 1.2, 9), (0, 0, 0))
            page.fill((110 + 8 * letter, 504 - 20 * row, 6.5, 1), (0, 0, 0))
    assert page.pictures() == []


def lines_drawn(page: Page) -> None:
    """Two lines over a grid that is too faint to be seen."""
    page.canvas.setLineWidth(2)
    for colour, ends in ((COLOURS[0], (340, 500)), (COLOURS[1], (430, 360))):
        page.canvas.setStrokeColorRGB(*colour)
        page.canvas.line(150, ends[0], 450, ends[1])


def test_ticks_evenly_apart_belong_to_their_drawing_from_further_off(page: Page) -> None:
    lines_drawn(page)
    for at in range(5):
        page.text(110, 330 + 40 * at, str(10 * at))
        page.text(150 + 75 * at, 318, str(2018 + at), centred=True)
    (chart,) = page.pictures()
    assert chart.text.split() == ["40", "30", "20", "10", "0", "2018", "2019", "2020", "2021", "2022"]


def pie(page: Page, colours: Sequence[Sequence[float]] = COLOURS) -> None:
    start = 90.0
    for share, colour in zip((40, 30, 20, 10), colours, strict=True):
        page.canvas.setFillColorRGB(*colour)
        page.canvas.wedge(120, 340, 280, 500, start, -3.6 * share, stroke=0, fill=1)
        start -= 3.6 * share
    page.canvas.setFillColorRGB(0, 0, 0)


def legend(page: Page, *, colours: Sequence[Sequence[float]] = COLOURS, step: float = 20, dots: bool = False) -> None:
    for at, ((name, _), colour) in enumerate(zip(HARBOURS, colours, strict=True)):
        y = 450 - step * at
        if dots:
            page.canvas.setFillColorRGB(*colour)
            page.canvas.circle(354, y + 4, 4.5, stroke=0, fill=1)
            page.canvas.setFillColorRGB(0, 0, 0)
        else:
            page.fill((350, y, 9, 9), colour)
        page.text(364, y + 1, name)


@pytest.mark.parametrize("way", ["apart", "close", "dots", "framed"])
def test_a_legend_beside_a_chart_is_part_of_it(page: Page, way: str) -> None:
    pie(page)
    legend(page, step=14 if way == "close" else 22, dots=way == "dots")
    if way == "framed":
        page.canvas.rect(340, 370, 80, 100)
    (chart,) = page.pictures()
    assert chart.bbox[2] > 364
    assert {name for name, _ in HARBOURS} <= set(chart.text.split())


def test_bullets_and_swatches_of_other_colours_are_no_legend(page: Page) -> None:
    pie(page)
    legend(page, colours=[(0, 0, 0)] * 4)
    (chart,) = page.pictures()
    assert chart.bbox[2] < 300


def test_rings_in_front_of_words_are_no_swatches(page: Page) -> None:
    pie(page)
    for at, ((name, _), colour) in enumerate(zip(HARBOURS, COLOURS, strict=True)):
        page.canvas.setStrokeColorRGB(*colour)
        page.canvas.circle(354, 454 - 22 * at, 4.5, stroke=1, fill=0)
        page.text(364, 451 - 22 * at, name)
    (chart,) = page.pictures()
    assert chart.bbox[2] < 300


def test_a_legend_belongs_to_the_chart_that_has_its_colours(page: Page) -> None:
    pie(page, [(0.1 * at, 0.2, 0.8) for at in range(4)])
    legend(page)
    (chart,) = page.pictures()
    assert chart.bbox[2] < 300


def dots(page: Page, count: int, *, side: float, step: float) -> None:
    """Draw dots in rows from the top left corner of the page, each of another colour than the one before."""
    in_row = int(580 / step)
    for at in range(count):
        colour = COLOURS[at % len(COLOURS)]
        page.fill((16 + step * (at % in_row), 792 - step * (at // in_row + 1), side, side), colour)


def test_a_legend_is_found_on_a_page_with_hundreds_of_dots(page: Page) -> None:
    page.canvas.showPage()
    dots(page, 250, side=10, step=22)
    pie(page)
    legend(page)
    of_pie = [quote for quote in page.pictures() if quote.page == 1 and "Emden" in quote.text]
    assert [quote.bbox[0] < 130 for quote in of_pie] == [True]


def test_more_legends_than_are_looked_for_are_told(page: Page) -> None:
    page.canvas.showPage()
    for at in range(210):
        x, y = 30 + 80 * (at % 7), 760 - 24 * (at // 7)
        page.fill((x, y, 8, 8), COLOURS[at % len(COLOURS)])
        page.text(x + 12, y + 1, "name")
    expected = "page 2 has more legends of charts than are looked for: a chart may be without its own"
    assert page.parsed().warnings == (expected,)


def test_more_drawings_than_are_looked_at_are_told(page: Page) -> None:
    page.canvas.showPage()
    dots(page, 17 * 20, side=22.5, step=34)
    assert page.parsed().warnings[0] == "page 2 has more than 300 drawings: the 40 smallest were left out"


@pytest.mark.parametrize(("count", "rows"), [(20, 20), (28, 0)])
def test_bars_of_more_colours_than_are_looked_at_are_not_paired_in_part(page: Page, count: int, rows: int) -> None:
    for at in range(count):
        value = 20 + 7 * at % 40
        page.fill((70 + 17 * at, 320, 10, 3 * value), colorsys.hsv_to_rgb(at / count, 0.75, 0.8))
        page.text(75 + 17 * at, 311, f"{chr(65 + at % 26)}{chr(97 + at % 25)}", size=6, centred=True)
        page.text(75 + 17 * at, 322 + 3 * value, str(value), size=6, centred=True)
    assert sum(quote.text.count(" | ") for quote in page.pictures() if not quote.text.startswith("Part")) == rows
