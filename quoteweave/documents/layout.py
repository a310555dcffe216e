"""One page, analysed: tables, figures and blocks of text in reading order. Geometry over lines and drawn pixels."""

from collections.abc import Sequence
from dataclasses import dataclass

from quoteweave.core.boxes import Box, area, inside
from quoteweave.documents.blocks import Block, group
from quoteweave.documents.drawing import Drawing, find_drawing
from quoteweave.documents.figures import Figure, find_figures
from quoteweave.documents.lines import Line
from quoteweave.documents.pdf_page import Picture
from quoteweave.documents.reading_order import in_reading_order
from quoteweave.documents.tables import Table, aligned_tables, grid_tables, ruled_tables

Element = Block | Figure | Table


@dataclass(frozen=True, slots=True)
class PageLayout:
    """The elements of one page in reading order. Every line of the page is in at least one of them."""

    elements: tuple[Element, ...]


def analyse(lines: Sequence[Line], picture: Picture, page: tuple[float, float]) -> PageLayout:
    """Find the elements of a page of the given width and height in points."""
    drawing = find_drawing(picture, lines)
    tables = _apart([*grid_tables(drawing, lines), *ruled_tables(drawing, lines, page[0])])
    left = _without(lines, tables)
    clusters = [box for box in drawing.clusters if not any(inside(box, table.box) > 0.5 for table in tables)]
    figures = find_figures(clusters, left, page)
    tables += [table for figure in figures if (table := _table_inside(figure)) is not None]
    figures = [figure for figure in figures if not any(inside(figure.box, table.box) > 0.7 for table in tables)]
    left = _without(left, [*tables, *figures])
    running = {line for block in group(left) if block.prose and len(block.lines) > 2 for line in block.lines}
    tables += aligned_tables([line for line in left if line not in running and line.upright])
    blocks = group(_without(left, tables))
    # Paragraphs set on a picture stay part of it, and can be cited by themselves as well.
    blocks += [block for figure in figures for block in group(figure.lines) if block.prose and len(block.lines) > 1]
    elements: list[Element] = [*tables, *figures, *blocks]
    return PageLayout(tuple(in_reading_order(elements)))


def _apart(tables: Sequence[Table]) -> list[Table]:
    """Of tables that overlap, the larger."""
    kept: list[Table] = []
    for table in sorted(tables, key=lambda table: -area(table.box)):
        if not any(inside(table.box, other.box) > 0.2 for other in kept):
            kept.append(table)
    return kept


def _without(lines: Sequence[Line], elements: Sequence[Table | Figure]) -> list[Line]:
    taken = {id(line) for element in elements for line in element.lines}
    return [line for line in lines if id(line) not in taken]


def _table_inside(figure: Figure) -> Table | None:
    """A shaded table looks like a figure until its lines are read: most of them stand in aligned rows."""
    found = aligned_tables([line for line in figure.lines if line.upright])
    rows = sum(len(table.lines) for table in found)
    spread = sum(area(table.box) for table in found)
    if not found or rows < 0.7 * len(figure.lines) or spread < 0.5 * area(figure.box):
        return None
    return Table(figure.box, tuple(row for table in found for row in table.rows), figure.lines)


def boxes_of(layout: PageLayout) -> list[Box]:
    """The elements' boxes, in reading order."""
    return [element.box for element in layout.elements]


__all__ = ["Drawing", "Element", "PageLayout", "analyse"]
