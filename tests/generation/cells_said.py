"""What is said of the cells that a question asks for."""

from collections.abc import Collection, Mapping

from quoteweave.core.text.question_words import Quantity
from quoteweave.generation.extractive.tables.asked_names import AskedCells
from quoteweave.generation.extractive.tables.cells import find_cells, have_own_names, rows_in_words


def cells_in_words(
    text: str,
    asked: Collection[str],
    weights: Mapping[str, float],
    wanted: Quantity | None = None,
    titled: Collection[str] = (),
) -> str:
    """The cells of a table that are found, in words; "" where rows have one name, so that the result is uncertain."""
    rows = find_cells(text, AskedCells(asked, weights, wanted, titled))
    return rows_in_words(rows) if have_own_names(rows) else ""
