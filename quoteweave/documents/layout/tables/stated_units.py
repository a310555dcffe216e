"""Gives tables the unit that stands above them: "Sales were as follows ($ in millions):".

Without it a table's numbers are wrong by their scale for whoever sees the table alone: a search, an answer, a model.
"""

from collections.abc import Sequence
from itertools import takewhile

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import BODY_LAYOUTS, Quote
from quoteweave.core.text.grammar import introduces
from quoteweave.core.text.units import stated_unit

MAX_ABOVE = 6
"""Quotes above a table, at most, that are looked at."""
_TELLS_OF_TABLE = lazy_regex(
    r"\b(?:following|follows|below|table|tabelle|tableau|tabla|folgend\w*|suivant\w*|siguiente\w*)\b"
)
_NUMBER = lazy_regex(r"\d(?:[\d.,' ]*\d)?(?P<percent>\s*\)?\s*%)?")


def with_units(quotes: Sequence[Quote]) -> tuple[Quote, ...]:
    """Return the quotes of a document, in reading order, those of tables with the unit that stands above them.

    It is that of the text which introduces the table, with no other text between, or else that of its section, or of
    the table above that it goes on with: one with the same head, on the same page. A table whose caption states one, or
    whose numbers are all in per cent, gets none.
    """
    given: list[Quote] = []
    for quote in quotes:
        unit = _unit_above(quote, given) if _may_lack_unit(quote) else None
        given.append(quote if unit is None else quote.model_copy(update={"unit": unit}))
    return tuple(given)


def _may_lack_unit(quote: Quote) -> bool:
    if quote.layout != "table" or stated_unit(quote.caption or "") is not None:
        return False
    head, *rows = [line.split(" | ")[1:] for line in quote.text.splitlines()] or [[]]
    if head and all("%" in name for name in head):
        return False
    return any(match["percent"] is None for row in rows for cell in row for match in _NUMBER.finditer(cell))


def _unit_above(table: Quote, above: Sequence[Quote]) -> str | None:
    text = next((quote for quote in reversed(above[-MAX_ABOVE:]) if quote.layout in BODY_LAYOUTS), None)
    introduced = None if text is None else _introduced_unit(text, table)
    return introduced or stated_unit(table.section or "") or _unit_of_first_part(table, above)


def _introduced_unit(text: Quote, table: Quote) -> str | None:
    """The unit that a text states for a table below it, or at the beginning of the next page."""
    own_page = text.page == table.page
    is_line = own_page and "." not in text.text.strip()[:-1] and "(" not in text.text
    if introduces(text.text) or is_line or (own_page and _TELLS_OF_TABLE.search(text.text.casefold())):
        return stated_unit(text.text)
    return None


def _unit_of_first_part(table: Quote, above: Sequence[Quote]) -> str | None:
    """The unit of the table above that this one goes on with, such as the assets above the liabilities."""
    head = table.text.partition("\n")[0]
    on_page = takewhile(lambda quote: quote.page == table.page, reversed(above))
    parts = (quote for quote in on_page if quote.layout == "table" and quote.text.partition("\n")[0] == head)
    stated = (part.unit or stated_unit(part.caption or "") for part in parts if " | " in head)
    return next(filter(None, stated), None)
