"""Prints tables on a terminal: words wrap if it is narrow, numbers are never cut."""

import re
from collections.abc import Collection, Sequence

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from quoteweave.cli.console import plain

UNDEFINED = "-"
"""The cell of a figure that has no value."""


def make_table(
    columns: Sequence[str], *, words: Collection[str] = (), title: str = "", padding: int = 1, ruled: bool = True
) -> Table:
    """A table whose columns of `words` are left-aligned and may fold; all others are right-aligned and never fold."""
    table = Table(
        title=plain(title) if title else None,
        title_justify="left",
        box=SIMPLE_HEAD if ruled else None,
        pad_edge=ruled,
        padding=(0, padding) if ruled else (0, 2 * padding, 0, 0),
    )
    for name in columns:
        if name in words:
            table.add_column(plain(name), overflow="fold")
        else:
            table.add_column(plain(name), justify="right", no_wrap=True)
    return table


def show_table(terminal: Console, table: Table) -> None:
    """Print the table; if needed, columns of words are folded between words.

    If the terminal is too narrow even for that, each row is printed as lines of heading and value.
    """
    folding = [column for column in table.columns if not column.no_wrap]
    min_widths = [_longest(terminal, column, "\n ") for column in folding]
    lacking = [_longest(terminal, column, "\n") - width for column, width in zip(folding, min_widths, strict=True)]
    natural = table.__rich_measure__(terminal, terminal.options.update(max_width=1_000_000)).maximum
    remaining = terminal.width - (natural - sum(lacking))
    if remaining < 0:
        _show_rows(terminal, table)
        return
    # The remaining width is given to the columns of words, first to those that lack least. Without fixed widths, rich
    # would make some columns narrower than a word.
    for index in sorted(range(len(folding)), key=lacking.__getitem__):
        added = min(lacking[index], remaining // sum(column.width is None for column in folding))
        folding[index].width, remaining = min_widths[index] + added, remaining - added
    terminal.print(table)


def _show_rows(terminal: Console, table: Table) -> None:
    # Headings whose words are hyphenated for a narrow column are joined again.
    texts = (_text(terminal, column.header).plain.replace("-\n", "") for column in table.columns)
    headings = [" ".join(text.split()) for text in texts]
    # A row is named by its first column of words and the columns before it.
    name_columns = next((index for index, column in enumerate(table.columns) if not column.no_wrap), 0) + 1
    if table.title:
        terminal.print(_text(terminal, table.title))
    for row in zip(*(column.cells for column in table.columns), strict=True):
        cells = [_text(terminal, cell) for cell in row]
        terminal.print(*cells[:name_columns], soft_wrap=True)
        for heading, cell in zip(headings[name_columns:], cells[name_columns:], strict=True):
            if cell.plain.strip():
                terminal.print(_on_one_line(heading, cell), soft_wrap=True)
    if table.caption:
        terminal.print(_text(terminal, table.caption))


def _on_one_line(heading: str, cell: Text) -> Text:
    value, *details = cell.split("\n")
    below = Text("; ").join(details)
    if below.plain and not below.plain.startswith("("):
        below = Text.assemble("(", below, ")")
    return Text.assemble("  ", heading, ": " if heading else "", value, " " if below.plain else "", below)


def _longest(terminal: Console, column: Column, between: str) -> int:
    """The width of the longest part of a column's cells, if they are split at these characters."""
    cells = (_text(terminal, cell).plain for cell in (column.header, *column.cells))
    return max(cell_len(part) for cell in cells for part in re.split(f"[{between}]", cell))


def _text(terminal: Console, cell: object) -> Text:
    return cell if isinstance(cell, Text) else terminal.render_str(str(cell))
