"""Labels and values of charts, paired by geometry; pages drawn by hand, with known bars."""

import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest
from made_files import PROSE
from made_pages import GREY, WHITE, canvas, fill, ink_words, line, picture, prose
from reportlab.pdfgen.canvas import Canvas

from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.boxes import Box
from quoteweave.core.text.word_alignment import WordAlignment
from quoteweave.documents.charts.tokens import amount, chart_tokens, unit
from quoteweave.documents.charts.values import read_chart
from quoteweave.documents.layout.page import PageReader
from quoteweave.documents.parser import DocumentParser, ParserSettings
from quoteweave.documents.sources.lines import Line
from quoteweave.documents.sources.raw_page import Pixels, Raster, RawPage
from quoteweave.generation.highlights import find_highlights

BLUE, RED, GREEN = (40, 80, 160), (190, 60, 50), (90, 170, 90)
CHART: Box = (50.0, 90.0, 500.0, 400.0)
PORTS = (("Rotterdam", 60), ("Antwerp", 45), ("Hamburg", 30), ("Bremen", 15))


def label(text: str, right: float, y: float) -> Line:
    """A line that ends at `right`."""
    width = line(text, 0, 0).box[2]
    return line(text, right - width, y)


def centred(text: str, x: float, y: float) -> Line:
    return line(text, x - line(text, 0, 0).box[2] / 2, y)


def bars(rows: Sequence[tuple[str, int]], pixels: Pixels, *, scale: float = 4.0, unit: str = "%") -> list[Line]:
    """Horizontal bars from x 150, one every 30 points from y 120, with each value at its end."""
    lines = []
    for at, (name, value) in enumerate(rows):
        y = 120 + 30 * at
        fill(pixels, (150, y, 150 + scale * value, y + 14), BLUE)
        lines += [label(name, 145, y + 2), line(f"{value}{unit}", 154 + scale * value, y + 2)]
    return lines


def text_of(pixels: Pixels, lines: Sequence[Line], around: Sequence[Line] | None = None) -> str | None:
    found = read_chart(picture(pixels), CHART, lines, lines if around is None else around)
    return None if found is None else found.text


def test_values_at_the_ends_of_bars_are_paired_with_the_labels_before_them() -> None:
    pixels = canvas()
    lines = [line("Share of containers", 150, 95), *bars(PORTS, pixels), line("Source: port authorities", 60, 380)]
    assert text_of(pixels, lines) == (
        "Rotterdam | 60%\nAntwerp | 45%\nHamburg | 30%\nBremen | 15%\nShare of containers\nSource: port authorities"
    )


def test_values_inside_bars_and_labels_of_two_rows() -> None:
    pixels = canvas()
    lines = []
    for at, (name, value) in enumerate([("Deep sea", 80), ("Short sea", 50), ("Inland", 20)]):
        y = 120 + 40 * at
        fill(pixels, (150, y, 150 + 3 * value, y + 24), BLUE)
        lines += [label(name, 145, y + 1), label("ships", 145, y + 13), line(str(value), 130 + 3 * value, y + 7)]
    assert text_of(pixels, lines) == "Deep sea ships | 80\nShort sea ships | 50\nInland ships | 20"


def columns(pixels: Pixels, values: Sequence[tuple[str, int]]) -> list[Line]:
    lines = []
    for at, (name, value) in enumerate(values):
        x = 120 + 60 * at
        fill(pixels, (x, 350 - 2 * value, x + 30, 350), BLUE)
        lines += [centred(f"${value}M", x + 15, 350 - 2 * value - 12), centred(name, x + 15, 354)]
    return lines


def test_values_above_columns_are_paired_with_the_labels_below_them() -> None:
    pixels = canvas()
    lines = columns(pixels, [("2019", 40), ("2020", 65), ("2021", 90), ("2022", 110)])
    ticks = [line(str(value), 80, 345 - 2 * value) for value in (0, 20, 40, 60, 80, 100)]
    assert (text_of(pixels, [*ticks, *lines]) or "").startswith("2019 | $40M\n2020 | $65M\n2021 | $90M\n2022 | $110M\n")


def grouped(pixels: Pixels, *, swatches: bool) -> list[Line]:
    lines = []
    for at, (name, today, later) in enumerate(
        [("Quay", 50, 35), ("Crane", 45, 46), ("Depot", 36, 31), ("Lock", 20, 8)]
    ):
        y = 120 + 40 * at
        for colour, value, top in ((BLUE, today, y), (RED, later, y + 12)):
            fill(pixels, (150, top, 150 + 4 * value, top + 12), colour)
            lines.append(line(f"{value}%", 154 + 4 * value, top + 1))
        lines.append(label(name, 145, y + 7))
    for colour, x, name in ((BLUE, 160, "Today"), (RED, 230, "In two years")):
        if swatches:
            fill(pixels, (x, 302, x + 7, 309), colour)
        lines.append(line(name, x + 11, 300))
    return lines


def test_grouped_bars_are_named_by_the_swatches_of_their_colours() -> None:
    pixels = canvas()
    lines = grouped(pixels, swatches=True)
    assert text_of(pixels, lines) == (
        "- | Today | In two years\nQuay | 50% | 35%\nCrane | 45% | 46%\nDepot | 36% | 31%\nLock | 20% | 8%"
    )


def test_bars_of_several_colours_without_a_legend_are_not_paired() -> None:
    pixels = canvas()
    assert text_of(pixels, grouped(pixels, swatches=False)) is None


def side_by_side(pixels: Pixels, *, gap: float = 0.0, swatch: float = 7.0) -> list[Line]:
    """Two columns for each of four quarters, and a legend with swatches of that width."""
    lines = []
    for at, (today, later) in enumerate([(50, 35), (45, 46), (36, 31), (20, 8)]):
        x = 100 + 80 * at
        for colour, value, left in ((BLUE, today, x), (RED, later, x + 20 + gap)):
            fill(pixels, (left, 350 - 3 * value, left + 20, 350), colour)
            lines.append(centred(f"{value}", left + 10, 350 - 3 * value - 12))
        lines.append(centred(f"Q{at + 1}", x + 20 + gap / 2, 356))
    for colour, y, name in ((BLUE, 110, "Plan"), (RED, 124, "Actual")):
        fill(pixels, (300, y, 300 + swatch, y + 7), colour)
        lines.append(line(name, 304 + swatch, y - 2))
    return lines


COLUMNS = "- | Plan | Actual\nQ1 | 50 | 35\nQ2 | 45 | 46\nQ3 | 36 | 31\nQ4 | 20 | 8"


@pytest.mark.parametrize(("gap", "swatch"), [(0, 7), (6, 7), (0, 20)], ids=["touching", "apart", "wide swatches"])
def test_columns_side_by_side_are_one_group_with_its_label(gap: float, swatch: float) -> None:
    pixels = canvas()
    assert text_of(pixels, side_by_side(pixels, gap=gap, swatch=swatch)) == COLUMNS


def test_dots_of_a_legend_are_swatches() -> None:
    import cv2

    pixels = canvas()
    lines = side_by_side(pixels)
    for y, colour in ((113.5, BLUE), (127.5, RED)):
        fill(pixels, (300, y - 4, 307, y + 4), WHITE)
        cv2.circle(pixels, (607, round(2 * y)), 8, colour, cv2.FILLED)
    assert text_of(pixels, lines) == COLUMNS


def test_lines_of_a_grid_do_not_cut_bars_but_a_gap_does() -> None:
    pixels = canvas()
    lines = side_by_side(pixels)
    for y in range(210, 350, 20):
        fill(pixels, (90, y, 420, y + 0.5), GREY)
    assert text_of(pixels, lines) == COLUMNS
    for y in range(210, 350, 20):
        fill(pixels, (90, y, 420, y + 1), WHITE)
    assert text_of(pixels, lines) is None


@pytest.mark.parametrize(
    ("title", "size", "paired"), [("Region", 10.0, False), ("Region", 12.0, True), ("Region of the orders", 10.0, True)]
)
def test_the_title_of_an_axis_is_no_part_of_the_label_above_it(title: str, size: float, *, paired: bool) -> None:
    pixels = canvas()
    names = [("North", 40), ("South", 65), ("East", 90)]
    lines = columns(pixels, names)
    width = line(title, 0, 0, size=size).box[2]
    text = text_of(pixels, [*lines, line(title, 195 - width / 2, 366, size=size)])
    rows = "North | $40M\nSouth | $65M\nEast | $90M\n"
    # A single word as small as the labels may as well be the second row of the label in the middle.
    assert (text or "").startswith(rows) if paired else text is None


@pytest.mark.parametrize("size", [10.0, 8.0])
@pytest.mark.parametrize("two", [("North", "South"), ("North", "East"), ("South",)])
def test_the_second_row_of_a_label_is_no_title_of_an_axis(two: Sequence[str], size: float) -> None:
    pixels = canvas()
    bars = columns(pixels, [("North", 40), ("South", 65), ("East", 90)])
    middles = [(word.box[0] + word.box[2]) / 2 for one in bars for word in one.words if word.text in two]
    width = line("side", 0, 0, size=size).box[2]
    text = text_of(pixels, [*bars, *(line("side", middle - width / 2, 366, size=size) for middle in middles)])
    assert text is None or all(f"{name} side |" in text for name in two)


def stacked(pixels: Pixels) -> list[Line]:
    lines = []
    for at, (name, values) in enumerate([("Fleet", (40, 35, 25)), ("Crew", (20, 50, 30)), ("Quay", (30, 30, 40))]):
        x, y = 150.0, 150 + 30 * at
        lines.append(label(name, 145, y + 3))
        for colour, value in zip((BLUE, RED, GREEN), values, strict=True):
            fill(pixels, (x, y, x + 3 * value, y + 16), colour)
            lines.append(centred(str(value), x + 1.5 * value, y + 3))
            x += 3 * value
    return lines


def test_stacked_bars_are_named_by_the_words_above_the_first_row() -> None:
    pixels = canvas()
    names = [centred("Own", 210, 136), centred("Hired", 322, 136), centred("None", 412, 136)]
    lines = [*names, *stacked(pixels)]
    expected = "- | Own | Hired | None\nFleet | 40 | 35 | 25\nCrew | 20 | 50 | 30\nQuay | 30 | 30 | 40"
    assert text_of(pixels, lines) == expected


def test_a_heading_is_taken_whole_or_not_at_all() -> None:
    pixels = canvas()
    names = [centred("Own", 210, 136), centred("Hired", 322, 136), centred("None", 412, 136)]
    above = [centred("Hardly ever", 322, 124)]
    assert (text_of(pixels, [*above, *names, *stacked(pixels)]) or "").startswith("- | Own | Hardly ever Hired | None")
    one_missing = [*names[:2], *stacked(pixels)]
    assert text_of(pixels, one_missing) is None


def test_a_legend_outside_the_chart_is_taken_into_its_box() -> None:
    pixels = canvas()
    inner = stacked(pixels)
    legend = []
    for colour, x, name in ((BLUE, 160, "Own"), (RED, 220, "Hired"), (GREEN, 290, "None")):
        fill(pixels, (x, 102, x + 7, 109), colour)
        legend.append(line(name, x + 11, 100))
    box = (90.0, 145.0, 460.0, 230.0)
    found = read_chart(picture(pixels), box, inner, [*legend, *inner])
    assert found is not None
    assert found.text.startswith("- | Own | Hired | None\nFleet | 40 | 35 | 25")
    assert found.box[1] <= 100 < box[1]
    assert found.box[3] == box[3]


def test_a_number_that_its_bar_denies_is_left_out_of_the_rows() -> None:
    pixels = canvas()
    lines = bars([("Rotterdam", 60), ("Antwerp", 45), ("Hamburg", 30), ("Bremen", 15), ("Emden", 9)], pixels)
    misread = [line("145%", one.box[0], one.box[1]) if one.text == "45%" else one for one in lines]
    # One series: what stands beside the bar is its value, and the chart is not certain without it.
    assert text_of(pixels, misread) is None
    pixels = canvas()
    lines = grouped(pixels, swatches=True)
    misread = [line("156%", one.box[0], one.box[1]) if one.text == "50%" else one for one in lines]
    assert "Quay | - | 35%" in (text_of(pixels, misread) or "")


def test_values_that_do_not_follow_the_bars_are_none() -> None:
    pixels = canvas()
    lengths = bars([("a", 60), ("b", 45), ("c", 30), ("d", 15)], pixels)
    years = [line("12%", one.box[0], one.box[1]) if one.text.endswith("%") else one for one in lengths]
    assert text_of(pixels, years) is None


def test_ticks_of_an_axis_are_no_values() -> None:
    pixels = canvas()
    for at, (_, value) in enumerate(PORTS):
        fill(pixels, (150, 120 + 30 * at, 150 + 4 * value, 134 + 30 * at), BLUE)
    names = [label(name, 145, 122 + 30 * at) for at, (name, _) in enumerate(PORTS)]
    ticks = [line(str(tick), 148 + 4 * tick, 250) for tick in (0, 20, 40, 60, 80)]
    assert text_of(pixels, [*names, *ticks]) is None


def test_boxes_of_a_flow_chart_are_no_bars() -> None:
    pixels = canvas()
    lines = []
    for at, name in enumerate(["Receive", "Check", "Store", "Send"]):
        fill(pixels, (150, 120 + 40 * at, 250, 144 + 40 * at), BLUE)
        lines += [label(name, 145, 127 + 40 * at), line(str(at + 1), 195, 127 + 40 * at)]
    assert text_of(pixels, lines) is None


def test_rows_of_a_table_and_numbers_of_a_map_are_no_chart() -> None:
    pixels = canvas()
    assert text_of(pixels, bars(PORTS, canvas())) is None
    fill(pixels, (100, 100, 180, 190), RED)
    fill(pixels, (181, 100, 300, 150), GREEN)
    numbers = [line(str(n), 110 + 37 * n, 110 + 23 * (n % 3)) for n in range(1, 8)]
    assert text_of(pixels, numbers) is None


def test_labels_that_stand_between_bars_or_twice_make_no_rows() -> None:
    pixels = canvas()
    lines = bars(PORTS, pixels)
    lower = [line(one.text, one.box[0], one.box[1] + 13) if one.text.isalpha() else one for one in lines]
    assert text_of(pixels, lower) is None
    pixels = canvas()
    assert text_of(pixels, bars([("Kiel", 60), ("Kiel", 45), ("Bonn", 30)], pixels)) is None


def test_a_number_that_no_bar_has_beside_a_single_series_leaves_it_unpaired() -> None:
    pixels = canvas()
    lines = bars(PORTS, pixels)
    change = [line(f"+{at}", 440, 122 + 30 * at) for at in range(4)]
    assert text_of(pixels, [*lines, *change]) is None


SHARES = (("Road", 45), ("Rail", 30), ("River", 25))


@pytest.mark.parametrize("way", ["beside", "under", "above"])
def test_percentages_of_a_whole_are_paired_with_the_labels_at_them(way: str) -> None:
    pixels = canvas()
    lines = []
    for at, (name, share) in enumerate(SHARES):
        x, y = 120 + 110 * at, 150 + 60 * at
        if way == "beside":
            lines.append(line(f"{name} {share}%", x, y))
        else:
            up, down = (name, f"{share}%") if way == "under" else (f"{share}%", name)
            lines += [centred(up, x, y), centred(down, x, y + 12)]
    assert text_of(pixels, lines) == "Road | 45%\nRail | 30%\nRiver | 25%"


def test_percentages_that_make_no_whole_or_have_no_label_are_not_paired() -> None:
    pixels = canvas()
    lines = [line(f"{name} {share + 10}%", 120, 150 + 40 * at) for at, (name, share) in enumerate(SHARES)]
    assert text_of(pixels, lines) is None
    alone = [line(f"{share}%", 120, 150 + 40 * at) for at, (_, share) in enumerate(SHARES)]
    assert text_of(pixels, [*alone, line("Road", 300, 300)]) is None


def test_a_bar_in_the_words_of_a_chart_makes_no_cell() -> None:
    pixels = canvas()
    text = text_of(pixels, [*bars(PORTS, pixels), line("Source | port authorities", 60, 380)])
    assert text is not None
    assert text.endswith("Bremen | 15%\nSource port authorities")


@pytest.mark.parametrize(
    ("text", "number", "step", "kind"),
    [
        ("45%", 45, 1, "%"),
        ("$1,310", 1310, 1, "$"),
        ("12.5", 12.5, 0.1, ""),
        ("3,5%", 3.5, 0.1, "%"),
        ("1.234.567", 1234567, 1, ""),
        ("$4.2 Bn", 4.2, 0.1, "$Bn"),
    ],
)
def test_amounts_are_read_as_printed(text: str, number: float, step: float, kind: str) -> None:
    assert list(amount(text)) == pytest.approx([number, step])
    assert unit(text) == kind


def test_a_number_and_its_unit_are_one_token() -> None:
    assert [token.text for token in chart_tokens([line("Rail 30 % or $ 12", 0, 0)])] == ["Rail", "30 %", "or", "$ 12"]


def chart_pdf(path: Path) -> Path:
    """A page with prose and a chart of bars, as reportlab writes it."""
    canvas = Canvas(str(path), pagesize=(612, 792))
    for row, words in enumerate(textwrap.wrap(PROSE * 3, 80)):
        canvas.drawString(72, 720 - 14 * row, words)
    canvas.line(90, 300, 440, 300)
    canvas.line(90, 300, 90, 500)
    for at, (name, value) in enumerate(PORTS):
        x = 100 + 90 * at
        canvas.setFillColorRGB(0.16, 0.31, 0.63)
        canvas.rect(x, 300, 50, 3 * value, stroke=0, fill=1)
        canvas.setFillColorRGB(0, 0, 0)
        canvas.drawCentredString(x + 25, 286, name)
        canvas.drawCentredString(x + 25, 304 + 3 * value, f"{value}%")
    canvas.save()
    return path


def test_a_chart_of_a_pdf_has_rows_whose_words_are_found_on_the_page(tmp_path: Path) -> None:
    parsed = DocumentParser(ImageStore(tmp_path / "images"), ParserSettings(ocr=False)).parse(
        chart_pdf(tmp_path / "chart.pdf")
    )
    (chart,) = [quote for quote in parsed.quotes if quote.kind == "image"]
    assert chart.layout == "chart"
    assert chart.text == "Rotterdam | 60%\nAntwerp | 45%\nHamburg | 30%\nBremen | 15%"
    (label, value) = find_highlights("Antwerp has a share of 45%.", chart)
    assert [chart.text[start:end] for start, end in (label, value)] == ["Antwerp", "45%"]
    placed = WordAlignment(chart.text, chart.bbox, parsed.page_words[0].words)
    ((left, top, right, _),) = placed.boxes(*label)
    assert left < 190 + 25 < right  # the middle of the second column
    assert top > 792 - 300
    ((left, _, right, bottom),) = placed.boxes(*value)
    assert left < 190 + 25 < right
    assert bottom < 792 - 300 - 3 * 45 + 4


class _Reader:
    """Stands in for OCR: always the same lines."""

    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines

    def read(self, picture: Raster) -> list[Line]:
        return self._lines


def test_charts_of_scanned_pages_are_paired_as_well(tmp_path: Path) -> None:
    pixels = canvas()
    lines = [*columns(pixels, [("2019", 40), ("2020", 65), ("2021", 90)]), *prose(60, 480, rows=8)]
    fill(pixels, (110, 350, 290, 351))
    fill(pixels, (110, 140, 111, 351))
    ink_words(pixels, lines)
    page = PageReader(ImageStore(tmp_path), _Reader(lines)).read(RawPage(0, picture(pixels), lines=[]))
    (chart,) = [element for element in page.elements if element.found_as == "chart"]
    assert (chart.text, chart.ocr_text) == ("", "2019 | $40M\n2020 | $65M\n2021 | $90M")
