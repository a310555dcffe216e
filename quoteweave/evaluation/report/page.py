"""A report as one self-contained HTML page, light or dark as its reader has it.

The page asks nothing of the network and runs no script: its Content-Security-Policy forbids both. All text of runs,
datasets and models is escaped, and no address is made of it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from quoteweave.evaluation.report.questions import Ends
from quoteweave.evaluation.report.sections import Section

_TEMPLATES = Path(__file__).parent / "templates"


def as_page(title: str, parts: Sequence[Section], ends: Mapping[str, Ends], *, by: str) -> str:
    """A whole HTML document, to be written as UTF-8; `ends` is run to its questions, worst and best by `by`."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2").render(
        title=title,
        parts=parts,
        ends=ends,
        by=by,
        # These alone go in unescaped: a file of ours, and plots in which matplotlib escaped what is written.
        style=Markup((_TEMPLATES / "report.css").read_text("utf-8")),  # noqa: S704
        drawn={plot.name: Markup(plot.inline()) for part in parts for plot in part.plots},  # noqa: S704
    )
