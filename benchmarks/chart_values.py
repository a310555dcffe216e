"""Lists all values of charts that the parser pairs with labels, to be checked against the pictures.

For each chart of a collection with paired values, its page and rows are printed; then the number of such charts, and
that of all pictures whose words have as many numbers.
"""

import re
from pathlib import Path

from common import Table, arguments, machine, print_results
from pydantic import BaseModel

from quoteweave import Collection
from quoteweave.core.records import Quote
from quoteweave.documents.layout.blocks import NUMERIC

MIN_NUMBERS = 3
_PART = re.compile(r"\bpart \d+ of \d+", re.IGNORECASE)


class Chart(BaseModel):
    """A chart with paired values."""

    document: str
    page: int
    """The page, counted from 1."""
    rows: tuple[tuple[str, ...], ...]
    """Cells; the first of each row is its label, `-` is an uncertain value, and the first row may be a header."""

    @property
    def values(self) -> int:
        """How many values are paired."""
        body = self.rows[1:] if self.rows[0][0] == "-" else self.rows
        return sum(cell != "-" for row in body for cell in row[1:])


def main() -> None:
    """Print the rows, and counts."""
    parser = arguments(__doc__)
    parser.add_argument("--collection", type=Path, required=True, metavar="DIR")
    options, host = parser.parse_args(), machine()
    charts, pictures = read_charts(Collection.open(options.collection))
    if not options.json:
        print(*map(_shown, charts), sep="\n")
    values = sum(chart.values for chart in charts)
    cells = [[str(len(charts)), str(values), str(pictures)]]
    table = Table("charts", ("with paired values", "values", f"pictures with {MIN_NUMBERS} numbers"), cells)
    figures = {"charts": [chart.model_dump(mode="json") for chart in charts], "values": values, "pictures": pictures}
    print_results(host, figures, [table], options)


def read_charts(collection: Collection) -> tuple[list[Chart], int]:
    """The charts with paired values, and how many figures and charts hold numbers; parts of large ones left out."""
    charts, pictures = [], 0
    for document, _, quotes in collection.iter_documents_quotes():
        for quote in quotes:
            text = _rows_text(quote)
            if quote.layout not in ("chart", "figure") or _PART.search(quote.caption or ""):
                continue
            pictures += sum(bool(NUMERIC.fullmatch(word)) for word in text.split()) >= MIN_NUMBERS
            rows = tuple(tuple(row.split(" | ")) for row in text.splitlines() if " | " in row)
            if quote.layout == "chart" and len(rows) > 1 and " | " in text.partition("\n")[0]:
                charts.append(Chart(document=document.name, page=quote.page + 1, rows=rows))
    return charts, pictures


def _rows_text(quote: Quote) -> str:
    """The words of the text layer, or those read by OCR if only these are paired."""
    first = quote.text.partition("\n")[0]
    return quote.text if " | " in first or not quote.ocr_text else quote.ocr_text


def _shown(chart: Chart) -> str:
    rows = "\n".join(" | ".join(row) for row in chart.rows)
    return f"{chart.document}, page {chart.page}\n{rows}\n"


if __name__ == "__main__":
    main()
