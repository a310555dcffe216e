"""Gives tables the unit that stands above them: "Sales were as follows ($ in millions):".

Without it a table's numbers are wrong by their scale for whoever sees the table alone: a search, an answer, a model.
"""

from collections.abc import Sequence
from itertools import takewhile

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import BODY_LAYOUTS, ENDS_OF_INTRODUCED, HEADERS_AND_FOOTERS, Quote
from quoteweave.core.text.grammar import introduces
from quoteweave.core.text.references.mentions import leading_label
from quoteweave.core.text.units import stated_unit
from quoteweave.documents.layout.tables.chapter_units import chapter_units

MAX_ABOVE = 6
"""Quotes above a table, at most, that are looked at."""
_REFERS_TO_TABLE = lazy_regex(
    r"\b(?:following|follows|below|table|tabelle|tableau|tabla|folgend\w*|suivant\w*|siguiente\w*)\b"
)
# One sentence at most, with brackets at its end alone: "(U.S. dollars in thousands)", "Sales (in euros)".
_LINE = lazy_regex(r"(?:[^.(\[]|(?<=Mio|Mrd|Tsd)\.)*(?:[(\[][^()\[\]]*[)\]]\s*:?)?\s*\.?\s*")
# A number in a cell that does not say what it is: not "4 %", "12 mm", "$ 3 million" or "12 May 2022".
_BARE_NUMBER = lazy_regex(r"[^\d%]*\d(?:[^\w%]|[\d_])*")


def with_units(quotes: Sequence[Quote]) -> tuple[Quote, ...]:
    """Return the quotes of a document, in reading order, those of tables with the unit that stands above them.

    It is that of the text which introduces the table, with no other text or title between, or else that of its section,
    or of the table above that it goes on with, which has the same head. A table gets none if its caption or a name of a
    column states one, if each number says what it is ("12 mm", "4 %"), or if it has an introduction without a unit.
    Such a table, and a text, gets what is stated of all amounts of its chapter, if that is certain.
    """
    completed: list[Quote] = []
    for quote, chapter_unit in zip(quotes, chapter_units(quotes), strict=True):
        lacks_unit = quote.layout != "table" or _may_lack_unit(quote)
        if lacks_unit and quote.layout == "table" and (unit := _unit_above(quote, completed)):
            completed.append(quote.model_copy(update={"unit": unit}))
        elif lacks_unit and chapter_unit is not None and (statement := chapter_unit.unit_of(quote)):
            completed.append(quote.model_copy(update={"chapter_unit": statement}))
        else:
            completed.append(quote)
    return tuple(completed)


def _may_lack_unit(quote: Quote) -> bool:
    if stated_unit(quote.caption or "") is not None:
        return False
    head, *rows = [line.split(" | ") for line in quote.text.splitlines()] or [[]]
    if any(map(stated_unit, head)) or (head[1:] and all("%" in name for name in head[1:])):
        return False
    return any(_BARE_NUMBER.fullmatch(cell) for _, *cells in rows for cell in cells)


def _unit_above(table: Quote, above: Sequence[Quote]) -> str | None:
    near = [*takewhile(lambda quote: quote.layout not in ENDS_OF_INTRODUCED, reversed(above[-MAX_ABOVE:]))]
    text = next((quote for quote in near if quote.layout in BODY_LAYOUTS), None)
    # A numbered caption makes a table below another one a table of its own.
    is_numbered = leading_label(table.caption or "") is not None
    if text is not None and not (is_numbered and any(quote.layout == "table" for quote in near[: near.index(text)])):
        refers = _REFERS_TO_TABLE.search(text.text.casefold()) is not None
        unit = _introduced_unit(text, table, refers=refers)
        if unit is not None or (refers and introduces(text.text)):
            return unit
    return stated_unit(table.section or "") or (None if is_numbered else _unit_of_first_part(table, above))


def _introduced_unit(text: Quote, table: Quote, *, refers: bool) -> str | None:
    """The unit that a text states for a table below it, or on the next page."""
    is_same_page = text.page == table.page
    is_line = _LINE.fullmatch(text.text) is not None
    if (is_same_page and (is_line or refers)) or (introduces(text.text) and table.page <= text.page + 1):
        return stated_unit(text.text)
    return None


def _unit_of_first_part(table: Quote, above: Sequence[Quote]) -> str | None:
    """The unit of the table above that this one goes on with: on this page, or at the end of the page before."""
    head = table.text.partition("\n")[0]
    is_first = True
    for quote in takewhile(lambda quote: quote.page + 1 >= table.page, reversed(above if " | " in head else ())):
        continues = quote.layout == "table" and quote.text.partition("\n")[0] == head
        if continues and (quote.page == table.page or is_first):
            return quote.unit or stated_unit(quote.caption or "")
        is_first &= quote.layout in HEADERS_AND_FOOTERS
    return None
