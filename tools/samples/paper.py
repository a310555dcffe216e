"""A paper in two columns: an equation, a line chart, a table with few rules, a diagram across the page."""

# The documents are set as print is, with dashes and Greek letters that ruff takes for slips of the keyboard.

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reportlab.pdfbase.pdfmetrics import stringWidth

from samples import paper_text as says
from samples.annotations import CHART, FIGURE, TEXT, Question, Sample
from samples.charts import Chart, Scale, Series, draw_lines
from samples.flow import Column, Flow, Style
from samples.paper_diagram import DIAGRAM_HEIGHT, draw_diagram
from samples.sheet import Face, Rect, Sheet
from samples.tables import Table, draw_table

PAGE = (612.0, 792.0)
PAGES = 3
MARGIN, TOP, FOOT = 54.0, 62.0, 64.0
GUTTER = 20.0
WIDE = PAGE[0] - 2 * MARGIN
NARROW = (WIDE - GUTTER) / 2
FIRST_TOP = 270.0
DIAGRAM_ROOM = DIAGRAM_HEIGHT + 44
CHART_HEIGHT = 168.0
# Where the columns of the last page end, so that they are about equally long.
LAST_BOTTOM = 470.0

TITLE = Style("Times-Bold", 17, 21, "centre", after=8)
AUTHORS = Style("Times-Roman", 11.5, 15, "centre")
PLACE = Style("Times-Italic", 10.5, 14, "centre", after=14)
ABSTRACT = Style("Times-Roman", 9.5, 11.6, "justify")
SECTION = Style("Times-Bold", 11.5, 14, before=9, after=4, keep=26)
SUBSECTION = Style("Times-Bold", 10, 12.5, before=6, after=3, keep=26)
FIRST = Style("Times-Roman", 10, 12.1, "justify")
BODY = Style("Times-Roman", 10, 12.1, "justify", indent=11)
CAPTION = Style("Times-Roman", 8.8, 10.6, "justify")
REFERENCE = Style("Times-Roman", 8.8, 10.6, hanging=17, after=1.5)
FOLIO = Face("Times-Roman", 9)

ERRORS = Chart(
    categories=("1", "2", "3", "4", "6", "8"),
    series=(
        Series("Degree-days", (4.3, 4.1, 4.0, 3.9, 3.9, 3.8), "#7a7a7a", (4, 2), "square"),
        Series("Regression", (4.9, 3.8, 3.3, 3.0, 2.7, 2.6), "#c8662a", (1.5, 1.5), "triangle"),
        Series("LagStage", (3.6, 2.8, 2.4, 2.1, 1.9, 1.9), "#1f5f9e"),
    ),
    scale=Scale("Mean absolute error (days)", 0, 6, 1),
    font="Helvetica",
    size=7.5,
    category_title="Thermistor strings per reach",
)
REACHES = (
    ("Reach", "Length (km)", "Degree-days", "Regression", "LagStage"),
    ("Orsa", "12.4", "3.1", "2.6", "1.7"),
    ("Upper Vellin", "8.9", "4.4", "3.3", "2.4"),
    ("Lower Vellin", "15.2", "3.6", "2.7", "1.9"),
    ("Tarn", "6.7", "4.8", "3.7", "2.6"),
    ("Skelde", "10.8", "3.6", "2.7", "1.9"),
    ("Mean", "10.8", "3.9", "3.0", "2.1"),
)
ROMAN, ITALIC, GREEK = Face("Times-Roman", 11), Face("Times-Italic", 11), Face("Symbol", 11)
SMALL_ROMAN, SMALL_ITALIC = Face("Times-Roman", 7.5), Face("Times-Italic", 7.5)


@dataclass(frozen=True)
class Piece:
    """A piece of the equation, in the order of reading."""

    text: str
    face: Face
    rise: float = 0.0
    shift: float = 0.0
    """A step before it; backwards where limits stand one above the other."""


EQUATION = (
    Piece("B", ITALIC),
    Piece("(", ROMAN),
    Piece("t", ITALIC),
    Piece(")  =", ROMAN),
    Piece("Σ", Face("Symbol", 15), -1, 8),
    Piece("i", SMALL_ITALIC, -4.5),
    Piece("=1", SMALL_ROMAN, -4.5),
    Piece("n", SMALL_ITALIC, 7, -10),
    Piece("w", ITALIC, 0, 8),
    Piece("i", SMALL_ITALIC, -2.5),
    Piece("[", ROMAN, 0, 3),
    Piece("T", ITALIC),
    Piece("i", SMALL_ITALIC, -2.5),
    Piece("(", ROMAN),
    Piece("t", ITALIC),
    Piece(" – ", ROMAN),
    Piece("τ", GREEK),
    Piece("i", SMALL_ITALIC, -2.5),
    Piece(") – ", ROMAN),
    Piece("T", ITALIC),
    Piece("0", SMALL_ROMAN, -2.5),
    Piece("]", ROMAN),
    Piece("+", SMALL_ROMAN, 4.5),
    Piece("  +  ", ROMAN),
    Piece("α", GREEK),
    Piece("Δ", GREEK, 0, 3),
    Piece("h", ITALIC),
    Piece("(", ROMAN),
    Piece("t", ITALIC),
    Piece(")", ROMAN),
)

QUESTIONS = (
    Question(
        "At what value is the base temperature of the LagStage index fixed, and why not lower?",
        "–0.4 °C; below that value the readings say little about melting, because the thermistors are shaded by the "
        "cover and lag behind its surface",
        (TEXT,),
        ("base temperature",),
    ),
    Question(
        "From how many thermistor strings per reach on is the error of the regression smaller than that of the "
        "degree-day sums?",
        "Two (with one string the regression is worse)",
        (CHART,),
        ("errors chart",),
    ),
    Question(
        "In the diagram of the LagStage system, which source of data is connected directly to the break-up index?",
        "The stage gauge (its daily rise)",
        (FIGURE,),
        ("diagram",),
    ),
)


def build_paper(path: Path) -> Sample:
    """Write the document; return where its evidence stands."""
    sheet = Sheet(path, PAGE, title=says.TITLE, author=says.AUTHORS)
    sheet.decorate(lambda: _furnish(sheet))
    flow = Flow(sheet, _columns())
    for heading, paragraphs in says.SECTIONS:
        flow.text(heading, SUBSECTION if "." in heading.split()[0] else SECTION)
        for number, paragraph in enumerate(paragraphs):
            _paragraph(sheet, flow, paragraph, first=number == 0)
    flow.text("References", SECTION)
    for number, reference in enumerate(says.REFERENCES, start=1):
        flow.text(reference, REFERENCE, bullet=f"[{number}]")
    sheet.save()
    return Sample(path.name, "Academic paper", PAGE, sheet.marks, QUESTIONS)


def _columns() -> list[Column]:
    """The room that the title, the figures and the table leave to the text."""
    left, right, bottom = MARGIN, MARGIN + NARROW + GUTTER, PAGE[1] - FOOT
    return [
        Column(0, left, FIRST_TOP, NARROW, bottom),
        Column(0, right, FIRST_TOP + CHART_HEIGHT + 42, NARROW, bottom),
        Column(1, left, TOP + DIAGRAM_ROOM, NARROW, bottom),
        Column(1, right, TOP + DIAGRAM_ROOM, NARROW, bottom),
        Column(2, left, TOP + _reaches().height + 34, NARROW, LAST_BOTTOM),
        Column(2, right, TOP, NARROW, LAST_BOTTOM),
    ]


def _paragraph(sheet: Sheet, flow: Flow, paragraph: str, *, first: bool) -> None:
    if paragraph == says.EQUATION:
        flow.gap(5)
        flow.block(24, lambda box: _equation(sheet, box), name="equation")
        flow.gap(5)
        return
    # What follows an equation goes on with its sentence and is not indented.
    style = FIRST if first or paragraph.startswith("where") else BODY
    name = "base temperature" if paragraph.startswith("The base temperature") else ""
    flow.text(paragraph, style, name=name)


def _furnish(sheet: Sheet) -> None:
    """What stands on a page apart from the running text."""
    sheet.label((PAGE[0] / 2, PAGE[1] - 36), str(sheet.page + 1), FOLIO, "centre")
    (_front, _second, _third)[sheet.page](sheet)


def _front(sheet: Sheet) -> None:
    head = Flow(sheet, [Column(0, MARGIN + 30, 66, WIDE - 60, FIRST_TOP)])
    head.text(says.TITLE, TITLE)
    head.text(says.AUTHORS, AUTHORS)
    head.text(says.PLACE, PLACE)
    head.text(says.ABSTRACT, ABSTRACT)
    chart = Rect(MARGIN + NARROW + GUTTER, FIRST_TOP, NARROW, CHART_HEIGHT)
    draw_lines(sheet, ERRORS, chart)
    sheet.mark("errors chart", chart)
    _caption(sheet, Rect(chart.x, chart.bottom + 6, NARROW, 26), says.LINES_CAPTION)


def _second(sheet: Sheet) -> None:
    diagram = Rect(MARGIN, TOP, WIDE, DIAGRAM_HEIGHT)
    draw_diagram(sheet, diagram)
    sheet.mark("diagram", diagram)
    _caption(sheet, Rect(MARGIN, diagram.bottom + 6, WIDE, 24), says.DIAGRAM_CAPTION)


def _third(sheet: Sheet) -> None:
    _caption(sheet, Rect(MARGIN, TOP, NARROW, 14), says.TABLE_CAPTION)
    sheet.mark("reaches table", draw_table(sheet, _reaches(), MARGIN, TOP + 15))


def _caption(sheet: Sheet, box: Rect, text: str) -> None:
    Flow(sheet, [Column(sheet.page, box.x, box.top, box.width, PAGE[1])]).text(text, CAPTION)


def _reaches() -> Table:
    widths = (NARROW - 182, 48, 49, 46, 39)
    return Table(REACHES, widths, "Times-Roman", "Times-Bold", 8.2, 13.5, "horizontal")


def _equation(sheet: Sheet, box: Rect) -> None:
    baseline = box.top + 15
    widths = [stringWidth(piece.text, piece.face.font, piece.face.size) for piece in EQUATION]
    length = sum(widths) + sum(piece.shift for piece in EQUATION)
    x = box.x + (box.width - 18 - length) / 2
    for piece, width in zip(EQUATION, widths, strict=True):
        x += piece.shift
        sheet.label((x, baseline - piece.rise), piece.text, piece.face)
        x += width
    sheet.label((box.right, baseline), "(1)", Face("Times-Roman", 10.5), "right")
