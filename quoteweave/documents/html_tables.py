"""Tables of HTML: their cells, and the grid of texts that these fill."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

# Columns that the cells of a table may span beyond their first.
MOST_SPANNED = 10_000


@dataclass(slots=True, eq=False)
class Cell:
    """A cell as it is written, with how many columns and rows it spans."""

    columns: int = 1
    rows: int = 1
    is_header: bool = False
    paragraphs: list[str] = field(default_factory=list)

    def texts(self, columns: int) -> Iterator[str]:
        """What stands in each of so many columns: a header is said in all, others in the first alone."""
        text = " ".join(" ".join(self.paragraphs).split())
        return (text if self.is_header or number == 0 else "" for number in range(columns))


def grid(rows: Iterable[Sequence[Cell]]) -> list[list[str]]:
    """The texts of the cells in their columns; what spans several rows is said in each."""
    filled: list[list[str]] = []
    above: dict[int, tuple[str, int]] = {}
    room = MOST_SPANNED
    for cells in rows:
        row = _Row(above)
        for cell in cells:
            columns = min(cell.columns, room + 1)
            room -= columns - 1
            for text in cell.texts(columns):
                row.add(text, cell.rows - 1)
        row.fill()
        filled.append(row.texts)
        above = row.below
    return filled


class _Row:
    """A row while it is filled, and what reaches into it from above, or out of it to rows below, by column."""

    def __init__(self, above: dict[int, tuple[str, int]]) -> None:
        self.texts: list[str] = []
        self.below: dict[int, tuple[str, int]] = {}
        self._above = above

    def add(self, text: str, rows_below: int) -> None:
        """Put a text into the next column that is free."""
        self.fill()
        self._put(text, rows_below)

    def fill(self) -> None:
        """Put in what reaches from above into the next columns."""
        while len(self.texts) in self._above:
            text, rows = self._above[len(self.texts)]
            self._put(text, rows - 1)

    def _put(self, text: str, rows_below: int) -> None:
        if rows_below > 0:
            self.below[len(self.texts)] = text, rows_below
        self.texts.append(text)
