"""The small guide to a mountain railway: page labels, numbered steps, timetables, a map with lettering."""

# The documents are set as print is, with dashes that ruff takes for slips of the keyboard.

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from samples import guide_text as says
from samples.annotations import FIGURE, TABLE, Question, Sample
from samples.flow import Column, Flow, Style
from samples.route_map import HEIGHT, STATIONS, WIDTH, route_map
from samples.sheet import Face, Pen, Sheet
from samples.tables import Table, place_table

PAGE = (419.53, 595.28)
FOLIOS = ("i", "ii", "1", "2")
FRONT_PAGES = 2
MARGIN = 46.0
ROOM = PAGE[0] - 2 * MARGIN
GREEN = "#1f5b3a"

TITLE = Style("Times-Bold", 24, 28, "centre", after=4, colour=GREEN)
SUBTITLE = Style("Times-Italic", 13, 17, "centre", after=34, colour="#444444")
SECTION = Style("Helvetica-Bold", 12.5, 16, before=11, after=4, keep=30, colour=GREEN)
BODY = Style("Times-Roman", 10.5, 13.4, "justify", after=5)
ITEM = Style("Times-Roman", 10.5, 13.4, after=2, hanging=17)
CAPTION = Style("Helvetica-Oblique", 8, 10.5, after=6)
FOLIO = Face("Times-Roman", 10)

# Minutes after the first stop, uphill and downhill, at the stations in the order of the map.
UPHILL, DOWNHILL = (0, 9, 21, 34, 48, 61), (56, 48, 37, 25, 12, 0)
DEPARTURES_UP = (7 * 60 + 40, 9 * 60 + 10, 10 * 60 + 40, 12 * 60 + 10, 13 * 60 + 40, 15 * 60 + 40)
DEPARTURES_DOWN = (9 * 60, 10 * 60 + 30, 12 * 60, 13 * 60 + 30, 15 * 60, 17 * 60 + 10)
SKIPPED = (10 * 60 + 40, "Brünn")

QUESTIONS = (
    Question(
        "At what time does the train that leaves Sölmatt at 10:40 arrive at Grünegg?",
        "11:28",
        (TABLE,),
        ("uphill table",),
    ),
    Question(
        "On the route map of the Grünhorn Railway, at which station does the footpath to the Lac d'Émeraude begin?",
        "Käsern",
        (FIGURE,),
        ("map",),
    ),
)


def build_visitor_guide(path: Path) -> Sample:
    """Write the document; return where its evidence stands."""
    sheet = Sheet(path, PAGE, title="The Grünhorn Railway: a visitor's guide", author="Grünhorn Railway")
    sheet.number_pages(0, "ROMAN_LOWER")
    sheet.number_pages(FRONT_PAGES, "ARABIC")
    sheet.decorate(lambda: _folio(sheet))
    flow = Flow(sheet, [Column(page, MARGIN, 46, ROOM, PAGE[1] - 52) for page in range(len(FOLIOS))])
    parts: tuple[Callable[[Flow], None], ...] = (_welcome, _before, _travel, _route)
    for number, part in enumerate(parts):
        if number:
            flow.next_column()
        part(flow)
    sheet.save()
    return Sample(path.name, "Guidebook", PAGE, sheet.marks, QUESTIONS)


def _folio(sheet: Sheet) -> None:
    sheet.label((PAGE[0] / 2, PAGE[1] - 28), FOLIOS[sheet.page], FOLIO, "centre")


def _welcome(flow: Flow) -> None:
    flow.gap(60)
    flow.text("The Grünhorn Railway", TITLE)
    flow.text("A visitor's guide", SUBTITLE)
    flow.block(2, lambda box: flow.sheet.line([(box.x + 110, box.top), (box.right - 110, box.top)], Pen(GREEN, 1.2)))
    flow.gap(30)
    flow.text("Welcome", SECTION)
    for text in says.WELCOME:
        flow.text(text, BODY)


def _before(flow: Flow) -> None:
    for heading, texts in (
        ("Tickets", says.TICKETS),
        ("Luggage, bicycles and dogs", says.LUGGAGE),
        ("Getting on without steps", says.ACCESS),
    ):
        flow.text(heading, SECTION)
        for text in texts:
            flow.text(text, BODY)
    flow.text("How to load a bicycle", SECTION)
    flow.text(says.STEPS_INTRO, BODY)
    flow.items(says.STEPS, ITEM, name="steps", numbered=True)


def _travel(flow: Flow) -> None:
    flow.text("When the trains run", SECTION)
    flow.text(says.TIMES, BODY)
    flow.gap(4)
    names = [station[0] for station in STATIONS]
    uphill = _timetable(names, UPHILL, DEPARTURES_UP)
    downhill = _timetable(names[::-1], DOWNHILL[::-1], DEPARTURES_DOWN)
    for table, name, caption in (
        (uphill, "uphill table", "Table 1: Trains up the mountain. The last line gives the arrival."),
        (downhill, "downhill table", "Table 2: Trains down the mountain. The last line gives the arrival."),
    ):
        place_table(flow, table, name)
        flow.text(caption, CAPTION)
        flow.gap(8)
    flow.text("Connections", SECTION)
    for text in says.CONNECTIONS:
        flow.text(text, BODY)


def _route(flow: Flow) -> None:
    flow.text("The line", SECTION)
    flow.text(says.MAP, BODY)
    flow.gap(3)
    picture = route_map()
    flow.block(ROOM * HEIGHT / WIDTH, lambda box: flow.sheet.picture(box, picture), name="map")
    flow.gap(4)
    flow.text("Figure 1: The route from Sölmatt to Grünhorn, with the heights of the stations.", CAPTION)
    flow.text("At the top", SECTION)
    flow.text(says.SUMMIT, BODY)


def _timetable(names: list[str], minutes: tuple[int, ...], departures: tuple[int, ...]) -> Table:
    rows: list[tuple[str, ...]] = [("Station", *(f"Train {number}" for number in range(1, len(departures) + 1)))]
    for name, offset in zip(names, minutes, strict=True):
        cells = ("–" if (start, name) == SKIPPED else _clock(start + offset) for start in departures)
        rows.append((name, *cells))
    widths = (ROOM - 43.5 * len(departures), *(43.5 for _ in departures))
    return Table(rows, widths, "Helvetica", "Helvetica-Bold", 8.5, 17.5, shade="#dcebdf", total=False)


def _clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"
