"""The style of plots, and their export as SVG and PDF."""

import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pydantic import Field

from quoteweave.core.errors import MissingExtra
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Record
from quoteweave.evaluation.report.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, GRID, FAINT, SHEET = "#1c2126", "#dde1e5", "#b4bcc4", "#fefefe"
HIGHLIGHT, BAR = "#0072b2", "#56b4e9"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f")
"""The colours of Okabe and Ito that are visible on white and on black, and distinguishable for the colour-blind."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "*")
"""With a different marker for each, seven colours distinguish 84 runs."""
WIDTH = 7.2
"""Width of a plot in inches: the two columns of a paper."""

_THEME_COLOURS: Mapping[str, str] = {INK: "currentColor", GRID: "var(--line)", FAINT: "var(--faint)", SHEET: "none"}
_STYLE: Mapping[Any, Any] = {
    **{"font.size": 8.5, "axes.titlesize": 8.5, "axes.labelsize": 8.5, "legend.fontsize": 8},
    **{"axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True, "axes.titlelocation": "left"},
    **{"axes.facecolor": "none", "figure.facecolor": SHEET, "savefig.facecolor": SHEET, "legend.frameon": False},
    **{"axes.grid": True, "grid.color": GRID, "grid.linewidth": 0.6, "axes.edgecolor": FAINT},
    **{"text.color": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK},
    **{"xtick.major.size": 0, "ytick.major.size": 0, "figure.constrained_layout.use": True},
    # Names of runs and groups must never be read as formulas; text stays text, so that it can be searched and copied.
    **{"text.parse_math": False, "svg.fonttype": "none", "pdf.fonttype": 42},
}
_ID = lazy_regex(r'(\bid="|href="#|url\(#)')
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


class Plot(Record):
    """One plot, drawn."""

    name: str = Field(description="of its files, without suffix")
    title: str
    says: str = Field(description="how to read it; may be empty where its section tells")
    svg: str = Field(description="a whole SVG file")
    pdf: bytes
    table: Table | None = Field(default=None, description="the numbers that it shows, where no other table has them")

    def inline(self) -> str:
        """The SVG as an element of an HTML page, in the page's own colours; its ids differ from those of others."""
        body = self.svg[self.svg.index("<svg") :]
        body = re.sub(r"<defs>\s*<style[^>]*>.*?</style>\s*</defs>", "", body, flags=re.DOTALL)
        body = _ID.sub(rf"\g<1>{self.name}-", body)
        for colour, themed in _THEME_COLOURS.items():
            body = body.replace(colour, themed)
        return body


@contextmanager
def style(name: str) -> Iterator[None]:
    """Draw in the report's style; the same data give the same file. Raises MissingExtra without matplotlib."""
    require_matplotlib()
    import matplotlib as mpl

    with mpl.rc_context({**_STYLE, "svg.hashsalt": name}):
        yield


def require_matplotlib() -> None:
    """Raise MissingExtra if plots cannot be drawn."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise MissingExtra("matplotlib", "report") from error


def make_plot(figure: "Figure", name: str, *, title: str, says: str = "", table: Table | None = None) -> Plot:
    """Make the plot of a figure; call it within the style in which the figure was drawn."""
    import matplotlib as mpl

    svg, pdf = io.BytesIO(), io.BytesIO()
    figure.savefig(svg, format="svg", metadata=_NO_METADATA)
    # The layout that was computed once is used for both files. Without any engine, not even the one called "none",
    # matplotlib does not draw the figure once more to compute it.
    with mpl.rc_context({"figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)
    figure.savefig(pdf, format="pdf", metadata={"Creator": None, "Producer": None, "CreationDate": None})
    title = title[:1].upper() + title[1:]
    return Plot(name=name, title=title, says=says, svg=svg.getvalue().decode("utf-8"), pdf=pdf.getvalue(), table=table)


def panels(
    number: int, *, height: float, extra: float = 0.5, columns: int = 3, common: bool = True
) -> "tuple[Figure, list[Any]]":
    """A figure with that number of panels side by side; `height` is that of one panel, in inches.

    `common`: whether all panels have the same axes.
    """
    from matplotlib.figure import Figure

    columns = min(columns, number)
    rows = -(-number // columns)
    figure = Figure(figsize=(WIDTH, rows * height + extra))
    axes = list(figure.subplots(rows, columns, squeeze=False, sharex=common, sharey=common).flat)
    for unused in axes[number:]:
        unused.remove()
    for position in range(max(0, number - columns), number):
        # If the last row is not full, the panels above its gaps are the lowest of their columns.
        axes[position].tick_params(labelbottom=True)
    return figure, axes[:number]


def shortened(name: str, length: int = 34) -> str:
    """The name, cut to leave room for the plot."""
    return name if len(name) <= length else f"{name[: length - 1]}…"
