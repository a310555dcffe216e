"""Documents for `highlights.py`: ruled tables, columns with hyphens, turned pages and scans; always the same pages."""

import tomllib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

SIZE = (612.0, 792.0)
LINE = 14.0
DPI = 150
LEAN = 0.4
"""Degrees by which the scan is rotated."""

TABLES: Sequence[tuple[str, Sequence[Sequence[str]]]] = (
    (
        "Table 1: Visitors to the town museums, in thousands.",
        (
            ("Museum", "Spring", "Summer", "Autumn", "Winter"),
            ("Maritime Museum", "14.2", "31.5", "12.8", "6.1"),
            ("Textile Mill", "9.4", "12.8", "10.3", "7.7"),
            ("Castle Tower", "21.0", "48.6", "19.2", "3.9"),
            ("Natural History", "16.5", "22.4", "18.1", "14.2"),
        ),
    ),
    (
        "Table 2: Rooms that can be hired.",
        (
            ("Room", "Seats", "Price a day", "Projector", "Opening hours"),
            ("Great Hall", "240", "EUR 650", "yes", "8 to 23"),
            ("Library Room", "36", "EUR 120", "yes", "9 to 18"),
            ("Weaving Loft", "60", "EUR 180", "no", "10 to 22"),
            ("Garden Pavilion", "80", "EUR 310", "no", "10 to 20"),
        ),
    ),
    (
        "Table 3: Tests of rope, mean of ten samples.",
        (
            ("Material", "Diameter (mm)", "Breaking load (kN)", "Stretch (%)"),
            ("Hemp", "12", "10.9", "13"),
            ("Sisal", "12", "8.6", "11"),
            ("Polyester", "10", "19.5", "12"),
            ("Polyamide", "10", "21.8", "28"),
            ("Steel wire", "6", "23.1", "2"),
        ),
    ),
    (
        "Table 4: Staff of the council by department.",
        (
            ("Department", "Full time", "Part time", "Vacant"),
            ("Parks and gardens", "42", "17", "3"),
            ("Schools", "118", "64", "9"),
            ("Roads and bridges", "57", "8", "5"),
            ("Libraries", "23", "31", "2"),
        ),
    ),
)
COLUMNS = (
    "The water tower of Aldermoor was built between 1907 and 1911 by the engineer Henrike Solberg. It holds 460 cubic "
    "metres and stands on eight pillars of red granite. The tower supplied the upper quarter until 1974, when a "
    "pumping station took its place, and it has been a protected monument since 1982.",
    "In 2016 a cooperative of thirty-two members bought the tower for a symbolic price of one crown. The restoration "
    "took four years and cost 5.6 million crowns, of which the county contributed two million. Volunteers gave about "
    "9,000 hours of work. The lift, which had been out of order for decades, was replaced in the last year.",
    "The observation platform is 38 metres above the ground and is open from April to October. On clear days the "
    "transmitter of Kestrel Hill can be seen, which is 74 kilometres away. Admission is free for residents; all "
    "others pay 40 crowns.",
    "Bats have nested below the tank for as long as anyone remembers. A count in June 2021 found 118 adult "
    "pipistrelles, the largest colony in the county. Lighting on the north side is therefore switched off between "
    "May and August, and building work is forbidden during these months.",
    "The former pump room serves as a concert hall for ninety listeners. Its echo lasts for seven seconds, which "
    "suits choirs better than orchestras. Recordings made there have won two national awards, in 2019 and 2023.",
)
TURNED: Sequence[tuple[int, Sequence[str]]] = (
    (
        90,
        (
            "The night train from Lindholm to Port Asker covers 812 kilometres in eleven hours. It carries sleeping "
            "cars with 96 berths and a dining car. The line is electrified as far as Varr, where a diesel engine "
            "takes over.",
            "Reservations open three months before departure. A berth in a cabin for four costs 75 euros, and a "
            "single cabin 190 euros. Passengers who cancel a week ahead get back nine tenths of the fare.",
        ),
    ),
    (
        270,
        (
            "The bridge over the Tverr gorge was opened in 1931 and strengthened in 1998. Trains cross it at 40 "
            "kilometres an hour at most. An inspection in 2022 found corrosion in fourteen of its rivets, all of "
            "which were replaced within a month.",
            "Snow closes the pass on nine days in an average winter. Two rotary ploughs are kept at Varr, each able "
            "to clear a drift of four metres. In January 2010 a train was held up for thirty-one hours with 140 "
            "passengers on board.",
        ),
    ),
    (
        180,
        (
            "Freight makes up 62 per cent of the traffic on the line. Most of it is ore from the mines at Skaland, "
            "which leaves in trains of fifty-two wagons. Timber and fish follow at a distance.",
            "The signalling system dates from 1979 and is to be replaced by 2028 at a cost of 310 million euros. "
            "Until then no more than four trains an hour can run in each direction, and faults delay one train in "
            "twenty-five.",
        ),
    ),
)
UPRIGHT = {
    90: (0, 1, -1, 0, SIZE[1], 0),
    180: (-1, 0, 0, -1, *SIZE),
    270: (0, -1, 1, 0, 0, SIZE[0]),
}
"""By the degrees by which a page is rotated clockwise, the PDF matrix that makes its text upright.

reportlab exchanges width and height of a page that it rotates, so that each page is shown upright.
"""
UPWARD = (
    "Sheet 3 shows the yard at Varr before the fire of 1946. The roundhouse had stalls for eighteen engines, and the "
    "turntable measured 22 metres. Only the water crane and the coal stage survive today."
)
SCANNED = (
    "Log of the lighthouse at Brannock Point, kept by E. Thorsen and his assistant. The lamp was lit at 16:52 and "
    "burned without a fault until 07:31. About 14 litres of oil were used, two more than on the night before.",
    "At 21:15 a schooner under Danish colours was seen three miles to the south-west. She showed no lights. The "
    "signal gun was fired twice, after which she hung out a lantern and altered course to the west.",
    "The barometer fell from 1012 to 987 millibars in nine hours. Wind north-west, force 8, rising to 10 by "
    "midnight. The door of the boathouse was torn from its hinges and 40 metres of fence were blown down.",
    "Stores received on Thursday: 6 barrels of oil, 25 kilograms of flour, a new wick for the lamp and letters for "
    "the assistant. The boat could not land the coal because of the swell and will try again next week.",
)

SCANNED_LETTER = (
    "To the Parish Council of Ostermere. The bell tower was inspected on 14 and 15 March by our surveyor, Ms. "
    "Halloran, and two assistants. Access was gained by the north stair, which is sound but steep.",
    "The oak frame that carries the three bells dates from 1782 and has lost about a fifth of its strength to beetle. "
    "The largest bell, cast in Ghent, weighs 940 kilograms and should not be swung until the frame has been braced.",
    "We estimate the bracing at 18,500 pounds, to which scaffolding adds 4,200 and fees 1,900. The work would take "
    "seven weeks if it began in June; in winter it could not be done at all, since the lime mortar needs warmth.",
    "Rain enters through eleven broken louvres on the west side and has stained the ringing chamber. Until these are "
    "replaced, a tarpaulin should be tied over the opening. The weathercock, regilded in 1996, needs nothing.",
    "Grants may be had from the county, which pays up to 40 per cent for listed towers, and from the Bell Fund, which "
    "meets on the first Monday of each quarter. Applications close on 30 April.",
)
TERMS = (
    "Boats are hired by the half day (four hours) or the day (nine hours). The half day costs 65 euros and the day 110 "
    "euros; children under six travel free, and dogs are welcome on all boats but the sailing dinghies.",
    "A deposit of 150 euros is taken when the key is handed over. It is returned within three working days, less 20 "
    "euros for each lost life jacket and 12 euros for every quarter of an hour by which the boat comes back late.",
    "Bookings can be changed free of charge until the evening before. Whoever cancels on the day itself pays half the "
    "hire, unless the harbour master has closed the lake because of wind or fog.",
    "Speed is limited to six knots, and to three knots within 100 metres of the reed beds, where grebes nest from "
    "March to July. Landing on Heron Island is allowed only at the wooden jetty. Fires, drones and loudspeakers are "
    "forbidden everywhere on the lake.",
    "In an emergency call 112, then the boathouse at 555 0142. Each boat carries a flare, a paddle and a first-aid bag "
    "under the rear bench; fuel lasts for about eleven hours at cruising speed.",
)
LATER = Path(__file__).with_name("highlight_texts.toml")
"""The texts of later pages, by the names of their documents."""


def make_pages(folder: Path) -> None:
    """Write the documents there; the scans are pictures of their pages."""
    later = tomllib.loads(LATER.read_text("utf-8"))
    _drawn(folder / "tables.pdf", partial(_tables, tables=TABLES))
    for name in ("ferries", "bursaries", "springs"):
        _drawn(
            folder / f"{name}.pdf",
            partial(_tables, tables=[(table["caption"], table["rows"]) for table in later[name]]),
        )
    _drawn(folder / "columns.pdf", partial(_columns, paragraphs=COLUMNS, foot=420))
    for name in ("stove-study", "garden", "dam"):
        _drawn(folder / f"{name}.pdf", partial(_columns, paragraphs=later[name], foot=250))
    _drawn(folder / "turned.pdf", _turned)
    for name in ("pump-manual", "tramway", "lift"):
        turned = [(page["angle"], page["paragraphs"]) for page in later[name]]
        _drawn(folder / f"{name}.pdf", partial(_turned_pages, pages=turned))
    for name, paragraphs in (("terms", TERMS), *((name, later[name]) for name in ("travel-policy", "nursery"))):
        _drawn(folder / f"{name}.pdf", partial(_plain, paragraphs=paragraphs, hyphens=True))
    scans = (("made-scan", SCANNED), ("letter-scan", SCANNED_LETTER))
    for name, paragraphs in (*scans, *((name, later[name]) for name in ("minutes-scan", "claim-scan", "watch-scan"))):
        digital = folder / f"{name}.digital"
        _drawn(digital, partial(_plain, paragraphs=paragraphs, hyphens=False))
        _scan(digital, folder / f"{name}.pdf")
        digital.unlink()


def _drawn(path: Path, draw: Callable[[Any], None]) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(path), pagesize=SIZE, invariant=1)
    draw(canvas)
    canvas.save()


def _tables(canvas: Any, tables: Sequence[tuple[str, Sequence[Sequence[str]]]]) -> None:
    for first in range(0, len(tables), 2):
        for place, (caption, rows) in enumerate(tables[first : first + 2]):
            top = SIZE[1] - 90 - 300 * place
            _grid(canvas, rows, top)
            canvas.setFont("Helvetica", 9)
            canvas.drawString(72, top - 24 * len(rows) - 16, caption)
        canvas.showPage()


def _grid(canvas: Any, rows: Sequence[Sequence[str]], top: float) -> None:
    width = 468 / len(rows[0])
    for number, row in enumerate(rows):
        canvas.setFont("Helvetica-Bold" if number == 0 else "Helvetica", 10)
        for at, cell in enumerate(row):
            canvas.drawString(72 + width * at + 5, top - 24 * number - 16, cell)
    rules = [72 + width * at for at in range(len(rows[0]) + 1)]
    canvas.grid(rules, [top - 24 * at for at in range(len(rows) + 1)])


def _columns(canvas: Any, paragraphs: Sequence[str], foot: float) -> None:
    x, y = 60.0, SIZE[1] - 72
    for paragraph in paragraphs:
        lines = _hyphenated(paragraph, 230)
        if y - LINE * len(lines) < foot:
            x, y = 322.0, SIZE[1] - 72
        y = _lines(canvas, lines, x, y) - 10
    canvas.showPage()


def _turned(canvas: Any) -> None:
    _turned_pages(canvas, TURNED)
    canvas.setPageRotation(0)
    canvas.rotate(90)
    _lines(canvas, _hyphenated(UPWARD, 500), 120, -200)
    canvas.showPage()


def _turned_pages(canvas: Any, pages: Sequence[tuple[int, Sequence[str]]]) -> None:
    for angle, paragraphs in pages:
        canvas.setPageRotation(angle)
        canvas.transform(*UPRIGHT[angle])
        y = SIZE[1] - 90
        for paragraph in paragraphs:
            y = _lines(canvas, _hyphenated(paragraph, 440), 72, y) - 12
        canvas.showPage()


def _plain(canvas: Any, paragraphs: Sequence[str], *, hyphens: bool) -> None:
    y = SIZE[1] - 90
    for paragraph in paragraphs:
        y = _lines(canvas, _hyphenated(paragraph, 440, hyphens=hyphens), 80, y) - 16
    canvas.showPage()


def _lines(canvas: Any, lines: Sequence[str], x: float, y: float) -> float:
    """Draw the lines downwards from there; return the y at which the next one would stand."""
    canvas.setFont("Helvetica", 10.5)
    for number, line in enumerate(lines):
        canvas.drawString(x, y - LINE * number, line)
    return y - LINE * len(lines)


def _hyphenated(text: str, width: float, *, hyphens: bool = True) -> list[str]:
    """Lines no wider than that, in points; a word of nine letters or more that does not fit is split in its middle."""
    from reportlab.pdfbase.pdfmetrics import stringWidth

    lines, line = [], ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if stringWidth(longer, "Helvetica", 10.5) <= width:
            line = longer
            continue
        middle = len(word) // 2
        head = f"{line} {word[:middle]}-"
        if hyphens and word.isalpha() and len(word) >= 9 and stringWidth(head, "Helvetica", 10.5) <= width:
            lines.append(head)
            line = word[middle:]
        else:
            lines.append(line)
            line = word
    return [*lines, line]


def _scan(digital: Path, path: Path) -> None:
    """Write the pages as a scanner would produce them: pictures, rotated, grey and a little blurred."""
    import pypdfium2
    from PIL import Image, ImageFilter

    document = pypdfium2.PdfDocument(digital)
    try:
        pages = [page.render(scale=DPI / 72, grayscale=True).to_pil() for page in document]
    finally:
        document.close()
    leaning = [page.rotate(LEAN, Image.Resampling.BICUBIC, fillcolor=255) for page in pages]
    blurred = [page.filter(ImageFilter.GaussianBlur(0.6)).point(lambda grey: 25 + grey * 9 // 10) for page in leaning]
    blurred[0].save(path, "PDF", resolution=DPI, save_all=True, append_images=blurred[1:], quality=70)
