"""The annual report of a harbour authority: a ruled table, a bar chart, a photograph, lists, running heads."""

# The documents are set as print is, with dashes that ruff takes for slips of the keyboard.

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from samples import harbour_text as says
from samples.annotations import CHART, FIGURE, LAYOUT, TABLE, TEXT, Question, Sample
from samples.charts import Chart, Scale, Series, draw_bars
from samples.flow import Column, Flow, Style
from samples.lighthouse import lighthouse_photo
from samples.sheet import Face, Pen, Sheet
from samples.tables import Table, place_table

PAGE = (595.28, 841.89)
PAGES = 5
MARGIN = 72.0
WIDTH = PAGE[0] - 2 * MARGIN
BLUE = "#1d4e79"

TITLE = Style("Helvetica-Bold", 26, 32, colour=BLUE, after=4)
SUBTITLE = Style("Helvetica", 14, 18, colour="#444444", after=26)
SECTION = Style("Helvetica-Bold", 15, 19, before=16, after=7, keep=44, colour=BLUE)
SUBSECTION = Style("Helvetica-Bold", 11.5, 15, before=9, after=4, keep=40, colour=BLUE)
BODY = Style("Helvetica", 10.2, 14.6, after=7.5)
ITEM = Style("Helvetica", 10.2, 14.6, after=3, hanging=16)
CAPTION = Style("Helvetica-Oblique", 9.2, 12, after=14, colour="#333333")
SMALL = Face("Helvetica", 8.5, "#555555")

# Thousand tonnes in 2021, 2022 and 2023.
CARGO: dict[str, tuple[int, int, int]] = {
    "Grain and animal feed": (486, 512, 547),
    "Timber and forest products": (331, 318, 296),
    "Containers and unit loads": (402, 437, 488),
    "Building aggregates": (275, 290, 281),
    "Fresh and frozen fish": (118, 109, 121),
    "Petroleum products": (204, 187, 163),
}
# Thousand euros in 2022 and 2023.
EXPENDITURE: dict[str, tuple[int, int]] = {
    "Wages and pensions": (4960, 5180),
    "Maintenance and dredging": (3415, 3340),
    "Energy": (1305, 1120),
    "Administration and insurance": (1445, 1490),
    "Depreciation": (1805, 1870),
}
CALLS = Chart(
    categories=("January–March", "April–June", "July–September", "October–December"),
    series=(
        Series("2022", (212, 268, 301, 239), "#a9c4dd"),
        Series("2023", (226, 281, 294, 257), "#2a6ca8"),
    ),
    scale=Scale("Vessel calls", 0, 350, 50),
    font="Helvetica",
    size=8.5,
)

QUESTIONS = (
    Question(
        "Which commodity group handled at Merrow Haven fell by the largest percentage between 2022 and 2023, and by "
        "how much?",
        "Petroleum products, by 12.8 per cent",
        (TABLE,),
        ("cargo table",),
    ),
    Question(
        "In which quarter of 2023 did Merrow Haven receive fewer vessel calls than in the same quarter of 2022?",
        "July to September (294 calls after 301)",
        (CHART,),
        ("calls chart",),
    ),
    Question(
        "What are the colours of the bands on the lighthouse at the head of the West Mole?",
        "Red and white",
        (FIGURE,),
        ("photograph",),
    ),
    Question(
        "What is the most expensive of the works that the harbour board has approved, and what will it cost?",
        "Deepening the approach channel to 9.5 metres, EUR 1.85 million",
        (LAYOUT,),
        ("works list",),
    ),
    Question(
        "What was the operating income of the Merrow Haven Harbour Authority in 2023 for each tonne of cargo handled "
        "over its public quays?",
        "EUR 7.50 (EUR 14.22 million divided by 1,896 thousand tonnes)",
        (TABLE, TEXT),
        ("cargo table", "income"),
    ),
)


def build_harbour_report(path: Path) -> Sample:
    """Write the document; return where its evidence stands."""
    sheet = Sheet(path, PAGE, title="Annual Report 2023", author="Merrow Haven Harbour Authority")
    sheet.decorate(lambda: _running_heads(sheet))
    flow = Flow(sheet, [Column(page, MARGIN, 92, WIDTH, PAGE[1] - 78) for page in range(PAGES)])
    chapters: tuple[Callable[[Flow], None], ...] = (_opening, _cargo, _traffic, _coast, _finances)
    for number, chapter in enumerate(chapters):
        if number:
            flow.next_column()
        chapter(flow)
    sheet.save()
    return Sample(path.name, "Research report / Introduction", PAGE, sheet.marks, QUESTIONS)


def _running_heads(sheet: Sheet) -> None:
    right, foot = PAGE[0] - MARGIN, PAGE[1] - 50
    sheet.label((MARGIN, 52), "Merrow Haven Harbour Authority", SMALL)
    sheet.label((right, 52), "Annual Report 2023", SMALL, "right")
    sheet.line([(MARGIN, 59), (right, 59)], Pen(BLUE, 0.7))
    sheet.line([(MARGIN, foot - 14), (right, foot - 14)], Pen("#999999", 0.4))
    sheet.label((PAGE[0] / 2, foot), f"Page {sheet.page + 1} of {PAGES}", SMALL, "centre")


def _paragraphs(flow: Flow, texts: tuple[str, ...], name: str = "") -> None:
    for text in texts:
        flow.text(text, BODY, name=name)


def _opening(flow: Flow) -> None:
    flow.gap(18)
    flow.text("Annual Report 2023", TITLE)
    flow.text("Merrow Haven Harbour Authority", SUBTITLE)
    flow.text("1 Statement of the Chair", SECTION)
    _paragraphs(flow, says.CHAIR)
    flow.text("2 About the port", SECTION)
    flow.text(says.ABOUT, BODY)
    flow.items(says.ABOUT_ITEMS, ITEM)


def _cargo(flow: Flow) -> None:
    flow.text("3 Cargo", SECTION)
    flow.text(says.CARGO, BODY)
    flow.gap(6)
    place_table(flow, _cargo_table(), "cargo table")
    flow.text("Table 1: Cargo handled over the public quays, in thousand tonnes.", CAPTION)
    flow.text(says.CARGO_AFTER, BODY)
    flow.text("3.1 Dry and liquid bulk", SUBSECTION)
    _paragraphs(flow, says.BULK)
    flow.text("3.2 Fish", SUBSECTION)
    _paragraphs(flow, says.FISH)


def _traffic(flow: Flow) -> None:
    flow.text("4 Vessel traffic", SECTION)
    flow.text(says.TRAFFIC, BODY)
    flow.gap(4)
    flow.block(222, lambda box: draw_bars(flow.sheet, CALLS, box), name="calls chart")
    flow.gap(5)
    flow.text("Figure 1: Vessel calls by quarter in 2022 and 2023.", CAPTION)
    flow.text("4.1 Ferries and cruise ships", SUBSECTION)
    _paragraphs(flow, says.FERRIES)
    flow.text("4.2 Pilotage", SUBSECTION)
    _paragraphs(flow, says.PILOTAGE)


def _coast(flow: Flow) -> None:
    flow.text("5 Coast, environment and safety", SECTION)
    flow.text(says.COAST, BODY)
    flow.gap(4)
    photo = lighthouse_photo()
    flow.block(WIDTH * 640 / 1080, lambda box: flow.sheet.picture(box, photo), name="photograph")
    flow.gap(5)
    flow.text("Figure 2: The head of the West Mole after the repair, seen from the pilot boat.", CAPTION)
    flow.text("5.1 Water and sediment", SUBSECTION)
    _paragraphs(flow, says.WATER)
    flow.text("5.2 Safety", SUBSECTION)
    _paragraphs(flow, says.SAFETY)


def _finances(flow: Flow) -> None:
    flow.text("6 Finances", SECTION)
    _paragraphs(flow, says.INCOME, "income")
    _paragraphs(flow, says.EXPENDITURE)
    flow.gap(6)
    place_table(flow, _expenditure_table(), "expenditure table")
    flow.text("Table 2: Operating expenditure, in thousand euros.", CAPTION)
    flow.text("7 Works approved for 2024", SECTION)
    flow.text(says.WORKS, BODY)
    flow.items(says.WORKS_ITEMS, ITEM, name="works list")
    flow.gap(4)
    flow.text(says.CLOSING, BODY)


def _cargo_table() -> Table:
    rows: list[tuple[str, ...]] = [("Commodity group", "2021", "2022", "2023", "Change 2022–23")]
    totals = tuple(sum(values[year] for values in CARGO.values()) for year in range(3))
    for name, values in (*CARGO.items(), ("Total", totals)):
        rows.append((name, *(f"{value:,}" for value in values), _change(values[1], values[2])))
    return _ruled(rows, (171.28, 60, 60, 60, 100))


def _expenditure_table() -> Table:
    rows: list[tuple[str, ...]] = [("Kind of expenditure", "2022", "2023", "Change")]
    totals = tuple(sum(values[year] for values in EXPENDITURE.values()) for year in range(2))
    for name, values in (*EXPENDITURE.items(), ("Total", totals)):
        rows.append((name, *(f"{value:,}" for value in values), _change(values[0], values[1])))
    return _ruled(rows, (201.28, 80, 80, 90))


def _ruled(rows: list[tuple[str, ...]], widths: tuple[float, ...]) -> Table:
    return Table(rows, widths, "Helvetica", "Helvetica-Bold", 9.5, 20, shade="#dbe6f0")


def _change(before: int, after: int) -> str:
    return f"{(after / before - 1) * 100:+.1f}%".replace("-", "–")
