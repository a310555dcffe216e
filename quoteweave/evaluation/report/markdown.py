"""Render a report as Markdown."""

import re
from collections.abc import Sequence

from quoteweave.evaluation.report.drawing import Plot
from quoteweave.evaluation.report.sections import Section
from quoteweave.evaluation.report.tables import Cell, Table

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&!$])")


def as_markdown(title: str, parts: Sequence[Section], *, plots: str) -> str:
    """`plots` is the folder of the plots, as seen from the file."""
    blocks = [f"# {plain(title)}", *(block for part in parts for block in _section(part, plots))]
    return "\n\n".join(blocks) + "\n"


def plain(text: str) -> str:
    """Text on one line, none of which is read as markup."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _section(part: Section, plots: str) -> list[str]:
    notes = [f"- {plain(run)}: {plain(note)}" for run, texts in part.notes.items() for note in texts]
    return [
        f"## {plain(part.heading)}",
        *map(plain, part.says),
        *(_plot(plot, plots) for plot in part.plots),
        *map(_table, (*part.tables, *part.folded)),
        *(["\n".join(notes)] if notes else []),
    ]


def _plot(plot: Plot, folder: str) -> str:
    shown = f"![{plain(plot.title)}]({folder}/{plot.name}.svg)\n\n*{plain(plot.title)}.* {plain(plot.says)}".rstrip()
    return shown if plot.table is None else f"{shown}\n\n{_table(plot.table)}"


def _table(table: Table) -> str:
    align = ["---", *["---:"] * (len(table.head) - 1)]
    units = table.units or ("",) * len(table.head)
    head = [
        f"{plain(name)} ({plain(unit)})" if unit else plain(name) for name, unit in zip(table.head, units, strict=True)
    ]
    lines = [head, align, *(map(_cell, row) for row in table.rows)]
    return "\n".join([f"**{plain(table.title)}**", "", *(f"| {' | '.join(line)} |" for line in lines)])


def _cell(cell: Cell) -> str:
    text = f"**{plain(cell.text)}**" if cell.best else plain(cell.text)
    return f"{text} ({plain(cell.detail)})" if cell.detail else text
