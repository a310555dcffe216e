"""Prints the hits of a search, which was made in this process or by a server."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import typer
from rich.text import Text

from quoteweave.cli.console import console, place, plain, snippet
from quoteweave.core.protocols import Reason
from quoteweave.core.records import Filter, Hit, Layout

PAGES_COUNTED = "--pages counts the pages of a file from 1, whatever numbers are printed on them"
"""The note if nothing was found in the pages that the user chose."""


class ShownHit(NamedTuple):
    """The parts of a hit that are printed."""

    rank: int
    score: float
    quote_id: str
    place: str
    layout: Layout
    snippet: str


def shown_hit(hit: Hit) -> ShownHit:
    """Return the printed parts of a hit that was found in this process."""
    quote = hit.quote
    return ShownHit(hit.rank, hit.score, quote.id, place(quote), quote.layout, snippet(quote.all_text(), quote.layout))


def print_hits(hits: Sequence[ShownHit], reasons: Mapping[str, Sequence[Reason]], where: Filter) -> None:
    """Print hits with the reasons of their ranks, by quote id, where there are any."""
    if not hits:
        typer.echo("nothing found" if where.first_page is None else f"nothing found; {PAGES_COUNTED}", err=True)
    stdout = console()
    for hit in hits:
        line = plain(hit.place, "bold").append(f"  {hit.layout}  {hit.score:.2f}  {hit.quote_id}\n", style="dim")
        line.append_text(plain(hit.snippet)).append_text(reasons_below(reasons.get(hit.quote_id, ())))
        stdout.print(indented_behind(f"{hit.rank:>2}  ", line, stdout.width))


def indented_behind(head: str, text: Text, width: int) -> Text:
    """A text behind a head, each of its lines beginning below the first, also where a line is broken."""
    lines = text.wrap(console(), max(1, width - len(head)))
    for line in lines:
        line.rstrip()
    return plain("").append(head, style="bold").append_text(Text("\n" + " " * len(head)).join(lines))


def reasons_below(reasons: Sequence[Reason]) -> Text:
    """The reasons for a rank, each on a line below that of its quote."""
    lines = plain("")
    for reason in reasons:
        detail = f": {reason.detail}" if reason.detail else ""
        lines.append_text(plain(f"\n      {reason.points:>6.2f}  {reason.part}{detail}", "dim"))
    return lines
