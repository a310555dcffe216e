"""Layout analysis of one page from lines and pixels: tables, figures and blocks of text, in reading order."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from quoteweave.core.boxes import Box, area, hull, share_in, union_area
from quoteweave.core.messages import pluralize
from quoteweave.documents.layout.blocks import LineBlock, block_of, group_lines, lines_to_rows, usual_size
from quoteweave.documents.layout.chart_parts import find_legends
from quoteweave.documents.layout.figures import ChartParts, Figure, find_figures
from quoteweave.documents.layout.graphics import MAX_CLUSTERS, PageGraphics, find_graphics
from quoteweave.documents.layout.reading_order import in_reading_order, join_labels
from quoteweave.documents.layout.tables.adjoining import tables_below_years, with_adjoining_rows
from quoteweave.documents.layout.tables.aligned import aligned_tables
from quoteweave.documents.layout.tables.cells import Table, cells_of, numbers_beside
from quoteweave.documents.layout.tables.heads import with_heads
from quoteweave.documents.layout.tables.labelled import labelled_tables
from quoteweave.documents.layout.tables.ruled import MAX_RULES, grid_tables, ruled_tables
from quoteweave.documents.layout.tables.splitting import split_at_gutters
from quoteweave.documents.layout.tables.tagged import tagged_tables
from quoteweave.documents.sources.lines import Line
from quoteweave.documents.sources.raw_page import Raster

# The least number of words of a short text on a picture, such as an address, that is read by itself.
SHORT_TEXT = 6
# A heading on a picture is larger than other text by this factor, or has this size in points if there is no other text.
HEADING_SIZE = 1.3
LARGE_TYPE = 16.0

# The least share of what is inside a table or a cluster of ink for it to belong to that: of a line or a box of ink; of
# a figure, which then is the table's own ink; and of a table, whose rules alone may be outside of its cluster.
MIN_INSIDE, MIN_FIGURE_IN_TABLE, MIN_TABLE_IN_CLUSTER = 0.5, 0.7, 0.9
# If a larger share of one table is inside another, the two are readings of one table.
MAX_OVERLAP = 0.2
# If a grid and a ruled table are in one place, the grid, whose cells are more reliable, counts as this much larger.
GRID_BONUS = 1.2
# The least share of a cluster that its tables must cover together to be parts of one table.
MIN_COVERED_BY_PARTS = 0.5
# The least share of a figure's lines in aligned rows, and of its area that these cover, for it to be a table.
MIN_IN_ROWS, MIN_COVERED_BY_ROWS = 0.7, 0.5

LayoutElement = LineBlock | Figure | Table


class PageLayout(NamedTuple):
    """The layout elements of a page in reading order, and what is left out if there is too much to be examined."""

    elements: list[LayoutElement]
    left_out: tuple[str, ...] = ()
    """Each one continues a sentence that begins with "page 3"."""


def analyse_layout(lines: Sequence[Line], raster: Raster, page_size: tuple[float, float]) -> PageLayout:
    """Return the layout of a page; its size is its width and height in points.

    Every line is in at least one element; a paragraph on a picture is in the picture and in a block of its own.
    """
    graphics = find_graphics(raster, lines)
    tagged = tagged_tables(lines, graphics.clusters)
    untagged = _lines_outside(lines, tagged)
    grids = grid_tables(graphics, untagged)
    ruled = _drop_overlapping(grids or [], ruled_tables(graphics, untagged, page_size[0]))
    tables = _merge_in_cluster(ruled, graphics.clusters, untagged)
    free_lines = _lines_outside(untagged, tables)
    clusters = [box for box in graphics.clusters if not _lies_in_table(box, [*tagged, *tables])]
    specks = [box for box in graphics.specks if not _lies_in_table(box, [*tagged, *tables])]
    legends, has_more = find_legends(raster, clusters, specks, free_lines)
    parts = ChartParts(raster, graphics.bars, legends)
    figures = find_figures(clusters, free_lines, page_size, specks=specks, parts=parts)
    tables += [table for figure in figures if (table := _as_table(figure)) is not None]
    figures = [figure for figure in figures if not _lies_in_table(figure.box, tables, MIN_FIGURE_IN_TABLE)]
    free_lines = _lines_outside(free_lines, [*tables, *figures])
    forms = labelled_tables(free_lines)
    labelled = [form.table for form in forms]
    tables = [*_with_unruled_tables(tables, _lines_outside(free_lines, labelled)), *tagged]
    # Which lines form a block depends on all lines that are below each other.
    blocks = _blocks_outside(group_lines(join_labels(_lines_outside(lines, [*tables, *figures]))), labelled)
    blocks += [block for form in forms for text in form.texts for block in group_lines(text)]
    size = usual_size(lines)
    blocks += [block for figure in figures for block in group_lines(figure.lines) if _is_text_on(figure, block, size)]
    elements: list[LayoutElement] = in_reading_order([*tables, *labelled, *figures, *blocks])
    has_more_rules = grids is None or graphics.rules_left_out > 0 or len(graphics.horizontal) > MAX_RULES
    left_out = _left_out(graphics, has_more_legends=has_more, has_more_rules=has_more_rules and bool(lines))
    return PageLayout(elements, tuple(left_out))


def _with_unruled_tables(tables: Sequence[Table], lines: Sequence[Line]) -> list[Table]:
    """Add the tables that only the alignment of these lines shows; complete all by rows and heads of these lines."""
    # Lines of running text in two columns are beside each other, and would be taken for the rows of a table.
    paragraphs = _running_text(lines)
    aligned = aligned_tables([line for line in _lines_outside(lines, paragraphs) if line.upright])
    tables = [*tables, *aligned]
    tables = with_adjoining_rows(list(split_at_gutters(tables)), _lines_outside(lines, tables))
    tables += tables_below_years(_lines_outside(lines, tables))
    return with_heads(tables, _lines_outside(lines, tables))


def _running_text(lines: Sequence[Line]) -> list[LineBlock]:
    """The paragraphs of more than two lines among the lines outside of tables and pictures."""
    rows = lines_to_rows([line for line in lines if line.upright])
    numbers = {line: number for row in rows for line, number in numbers_beside(row).items()}
    return [
        block
        for block in group_lines(lines)
        if block.prose and len(block.lines) > 2 and not _names_rows(block, numbers)
    ]


def _left_out(graphics: PageGraphics, *, has_more_legends: bool, has_more_rules: bool) -> Iterator[str]:
    for count, kind in ((graphics.left_out, "drawings"), (graphics.specks_left_out, "small drawings")):
        if count:
            smallest = pluralize(count, "smallest was", "smallest were")
            yield f"has more than {MAX_CLUSTERS} {kind}: the {smallest} left out"
    if has_more_legends:
        yield "has more legends of charts than are looked for: a chart may be without its own"
    if has_more_rules:
        yield "has more rules than are looked through for tables: a ruled table may not be read as one"


def _names_rows(block: LineBlock, numbers: Mapping[int, str]) -> bool:
    """Whether most lines are long names of a table's rows, beside `numbers` that do not count the lines."""
    beside = [numbers[id(line)] for line in block.lines if id(line) in numbers]
    counts = [int(number) for number in beside if number.isdecimal()]
    counting = len(counts) == len(beside) and all(lower == upper + 1 for upper, lower in pairwise(counts))
    return 2 * len(beside) > len(block.lines) and not counting


def _lies_in_table(box: Box, tables: Sequence[Table], share: float = MIN_INSIDE) -> bool:
    return any(share_in(box, table.box) > share for table in tables)


def _is_text_on(figure: Figure, block: LineBlock, usual: float) -> bool:
    """Whether a block on a picture is read by itself: a paragraph, heading, item, or a short text that is no label."""
    words = [word.text for line in block.lines for word in line.words]
    if figure.layout == "figure" and block.begins_item and len(words) > 1:
        return True
    if len(block.lines) > 1 and (block.prose or (figure.layout == "figure" and len(words) >= SHORT_TEXT)):
        return True
    letters = sum(character.isalpha() for word in words for character in word)
    return block.size >= min(HEADING_SIZE * usual, LARGE_TYPE) and len(words) > 1 and letters >= 8


def _drop_overlapping(grids: Sequence[Table], ruled: Sequence[Table]) -> list[Table]:
    """Keep the larger of overlapping tables, but prefer a grid of similar size, whose cells are more reliable."""
    rank = [(GRID_BONUS * area(table.box), table) for table in grids] + [(area(table.box), table) for table in ruled]
    kept: list[Table] = []
    for _, table in sorted(rank, key=lambda ranked: -ranked[0]):
        if not any(share_in(table.box, other.box) > MAX_OVERLAP for other in kept):
            kept.append(table)
    return kept


def _merge_in_cluster(tables: Sequence[Table], clusters: Sequence[Box], lines: Sequence[Line]) -> list[Table]:
    """Merge tables within one cluster of ink: rows and columns without rules of their own belong to the same table."""
    merged: list[Table] = []
    remaining = list(tables)
    for cluster in clusters:
        tables_inside = sorted(
            (table for table in remaining if share_in(table.box, cluster) > MIN_TABLE_IN_CLUSTER),
            key=lambda table: table.box[1],
        )
        if union_area([table.box for table in tables_inside]) > MIN_COVERED_BY_PARTS * area(cluster):
            box = hull([cluster, *(table.box for table in tables_inside)])
            outside = _lines_outside(lines, tables_inside)
            further_lines = [line for line in outside if share_in(line.box, box) > MIN_INSIDE]
            all_lines = (*further_lines, *(line for table in tables_inside for line in table.lines))
            if any(table.has_grid for table in tables_inside):
                rows = (*cells_of(further_lines), *(row for table in tables_inside for row in table.rows))
            else:
                rows = cells_of(all_lines)
            merged.append(Table(box, rows, all_lines))
            remaining = [table for table in remaining if table not in tables_inside]
    return [*merged, *remaining]


def _lines_outside(lines: Sequence[Line], elements: Sequence[LayoutElement]) -> list[Line]:
    element_line_ids = {id(line) for element in elements for line in element.lines}
    return [line for line in lines if id(line) not in element_line_ids]


def _blocks_outside(blocks: Sequence[LineBlock], tables: Sequence[Table]) -> list[LineBlock]:
    """The blocks; of those with lines of tables, only the rest."""
    remaining = ((block, _lines_outside(block.lines, tables)) for block in blocks)
    return [block_of(lines) if len(lines) < len(block.lines) else block for block, lines in remaining if lines]


def _as_table(figure: Figure) -> Table | None:
    """Turn a figure into a table if most of its lines are in aligned rows, as in a shaded table.

    The other lines are rows, too: the years above the columns, and the names of groups of rows.
    """
    tables = aligned_tables([line for line in figure.lines if line.upright])
    lines_in_rows = sum(len(table.lines) for table in tables)
    covered = sum(area(table.box) for table in tables)
    is_in_rows = lines_in_rows >= MIN_IN_ROWS * len(figure.lines) and covered >= MIN_COVERED_BY_ROWS * area(figure.box)
    if not tables or not is_in_rows:
        return None
    return Table(figure.box, cells_of(figure.lines), figure.lines)
