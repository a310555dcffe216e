"""A long PDF for measuring memory: text, a table and a chart on each page, no two pages alike.

With `--scanned` each page is a picture of such a page, without a text layer.
"""

import argparse
import io
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PROSE = """
harbour vessel tide cargo quay lantern signal storm anchor crew north channel depth pilot weather iron timber grain rope
winter summer season record office ledger measure increase decline between among during report annual inspection repair
"""
WORDS = PROSE.split()
DPI = 150


def make_long_pdf(path: Path, pages: int, *, scanned: bool = False, seed: int = 0) -> None:
    """Write a PDF of that many A4 pages; the same arguments give the same pages."""
    if not scanned:
        _draw(path, pages, random.Random(seed))
        return
    digital = path.with_suffix(".digital.pdf")
    _draw(digital, pages, random.Random(seed))
    try:
        _photograph(digital, path)
    finally:
        digital.unlink()


def _draw(path: Path, pages: int, chance: random.Random) -> None:
    from reportlab.lib.pagesizes import A4
    from reportlab.platypus import SimpleDocTemplate

    SimpleDocTemplate(str(path), pagesize=A4, invariant=1).build(list(_story(pages, chance)))


def _story(pages: int, chance: random.Random) -> Iterator[Any]:
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import PageBreak, Paragraph, Spacer

    styles = getSampleStyleSheet()
    for number in range(1, pages + 1):
        yield Paragraph(f"Section {number}: {_prose(chance, 4)}", styles["Heading2"])
        for _ in range(3):
            yield Paragraph(". ".join(_prose(chance, 14).capitalize() for _ in range(5)) + ".", styles["BodyText"])
        yield Spacer(0, 10)
        yield _table(chance)
        yield Paragraph(f"Table {number}: {_prose(chance, 6)}", styles["BodyText"])
        yield _chart(chance)
        yield Paragraph(f"Figure {number}: {_prose(chance, 6)}", styles["BodyText"])
        yield PageBreak()


def _prose(chance: random.Random, length: int) -> str:
    return " ".join(chance.choices(WORDS, k=length))


def _table(chance: random.Random) -> Any:
    from reportlab.lib import colors
    from reportlab.platypus import Table

    head = ["year", *chance.sample(WORDS, 4)]
    rows = [[str(year), *(f"{chance.random() * 100:.1f}" for _ in range(4))] for year in range(2015, 2023)]
    return Table([head, *rows], colWidths=80, style=[("GRID", (0, 0), (-1, -1), 0.5, colors.grey)])


def _chart(chance: random.Random) -> Any:
    from reportlab.graphics.charts.barcharts import VerticalBarChart
    from reportlab.graphics.shapes import Drawing

    drawing, chart = Drawing(400, 160), VerticalBarChart()
    chart.x, chart.y, chart.width, chart.height = 30, 20, 350, 130
    chart.data = [[chance.random() * 100 for _ in range(8)] for _ in range(2)]
    chart.categoryAxis.categoryNames = [str(year) for year in range(2015, 2023)]
    drawing.add(chart)
    return drawing


def _photograph(digital: Path, path: Path) -> None:
    import pypdfium2
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(path), invariant=1)
    with pypdfium2.PdfDocument(digital) as document:
        for number in range(len(document)):
            page = document[number]
            size = page.get_size()
            picture = io.BytesIO()
            page.render(scale=DPI / 72).to_pil().convert("RGB").save(picture, "JPEG", quality=80)
            page.close()
            picture.seek(0)
            canvas.setPageSize(size)
            canvas.drawImage(ImageReader(picture), 0, 0, *size)
            canvas.showPage()
    canvas.save()


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--scanned", action="store_true")
    options = parser.parse_args()
    make_long_pdf(options.path, options.pages, scanned=options.scanned)


if __name__ == "__main__":
    main()
