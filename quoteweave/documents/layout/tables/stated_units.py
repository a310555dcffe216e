"""Gives tables the unit that stands above them: "Sales were as follows ($ in millions):".

Without it a table's numbers are wrong by their scale for whoever sees the table alone: a search, an answer, a model.

The unit may also be stated of all amounts of a chapter, in its heading or in a sentence: "Item 7. Discussion (amounts
in millions)"; "All amounts are in thousands of euros, unless otherwise stated". Only of money is it certain that this
holds: what a chapter counts or measures is in no such unit. It is given in the document's own words, with what they
except, and where they stand.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.place_names import PlaceName
from quoteweave.core.records import BODY_LAYOUTS, ENDS_OF_INTRODUCED, HEADERS_AND_FOOTERS, Quote
from quoteweave.core.text.grammar import introduces
from quoteweave.core.text.references.mentions import heading_names, leading_label
from quoteweave.core.text.units import (
    EXCEPTS,
    currencies_in,
    find_unit,
    has_unscaled_money,
    has_unscaled_money_in_cells,
    names_money,
    scales_named,
    stated_unit,
    states_scale,
)

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


MAX_HEADING = 250
"""The most characters of a heading that states a unit, or ends what one states."""
_BRACKET_AT_END = lazy_regex(r"\s*[(\[][^()\[\]]*[)\]]\.?$")
_OPEN_BRACKET = lazy_regex(r"[(\[][^()\[\]]*$")
_NOTES = lazy_regex(r"\bnotes to\b[^.]*\bstatements\b")
_SENTENCE_END = lazy_regex(r"(?<=[.;])\s+")
_AMOUNT_WORDS = (
    *("amounts", "figures", "sums", "values", "numbers", "beträge", "angaben", "zahlen", "werte"),
    *("montants", "chiffres", "données", "importes", "cifras", "cantidades"),
)
_AMOUNTS = rf"(?:{'|'.join(_AMOUNT_WORDS)})\b"
# A text without any of these states no unit of its chapter: neither in a heading's bracket nor in a sentence.
_SIGNS_OF_UNIT = ("(", "[", *_AMOUNT_WORDS)
_NAMES_AMOUNTS = lazy_regex(rf"\b{_AMOUNTS}")
# How a sentence about all amounts begins, in four languages; and what says that it is, if "all" does not.
_ALL_AMOUNTS = lazy_regex(
    r"[^\w\"'“”„«»‘’]*(?:(?:unless|except|sofern|soweit|sauf|salvo)\b[^,]*,\s+)?(?P<all>(?:alle?|tous|toutes|todos|todas)\s)?"
    rf"(?:(?:the|die|les|los|las)\s)?(?:(?:monetary|dollar|financial|tabular)\s)?{_AMOUNTS}"
)
_OF_TABLE = lazy_regex(r"\b(?:tables?|below|following|tabellen?|tableaux?|folgend\w*|tablas?)\b")
_OF_PART = lazy_regex(r"\b(?:section|note|chapter)\b")
_OF_WHAT = lazy_regex(r"[^\W\d_]\s+(?:of|de)\s+|\bd[’']")
# Of other times, as a number tells that is not "'000".
_OF_ONE_TIME = lazy_regex(
    r"\b(?:was|were|until|since|waren|bis|seit|étaient|jusqu\w*|depuis|eran|hasta|desde)\b|\b(?!000\b)\d"
)
# What names of rows of amounts of money are about.
_OF_MONEY = lazy_regex(
    r"\b(?:sales|revenues?|income|costs?|expenses?|profits?|loss(?:es)?|earnings|assets|liabilities|equity|cash|debts?"
    r"|loans?|borrowings|receivables?|payables?|inventor(?:y|ies)|tax(?:es)?|depreciation|goodwill|dividends"
    r"|umsatz\w*|erträge|aufwendungen|kosten|gewinn|verlust|vermögens\w*|eigenkapital|schulden|verbindlichkeiten"
    r"|forderungen|vorräte|steuern|charges|produits|bénéfice|perte|actifs?|passifs?|capitaux|dettes|créances"
    r"|stocks|impôts?|ventas|ingresos|gastos|beneficio|pérdidas?|activos?|pasivos?|patrimonio|deudas?)\b"
)
_COUNTS = lazy_regex(
    r"\b(?:numbers?|no\.|employees|headcount|members|customers|stores|shops|ratios?|shares|anzahl|mitarbeiter\w*|nombre|effectifs?|número|empleados)(?!\w)"
)


@dataclass(frozen=True, slots=True)
class ChapterUnit:
    """What is stated of all amounts of a part of a document."""

    unit: str
    """In the document's words."""
    place: str
    part: PlaceName | None
    """The part that it is of; None for all that follows."""
    is_of_all: bool
    """Whether it says so of all amounts, and is not just a heading."""

    def holds_below(self, heading: str) -> bool:
        """Whether it still holds under a heading, which may open the next part of its kind, or one that encloses it."""
        names = heading_names(heading)
        if not names or self.part is None:
            return True
        if names[0].kind in ("section", self.part.kind):  # for a number alone, "3.2", also of what encloses it
            return self.part.kind != names[0].kind or self.part in names
        return names[0].kind == "note" or self.part.encloses_chapters

    def unit_of(self, quote: Quote) -> str | None:
        """The unit of a quote whose amounts have none, and where it is stated; None where that is not certain."""
        if quote.layout == "table":
            applies = has_unscaled_money_in_cells(quote.text, self.unit) or (
                self.is_of_all and _has_bare_amounts(quote)
            )
        else:
            applies = quote.layout in BODY_LAYOUTS and has_unscaled_money(quote.text, self.unit)
        return f"{self.unit}, as {self.place} states" if applies else None


def chapter_units(quotes: Sequence[Quote]) -> Iterator[ChapterUnit | None]:
    """Yield for each quote of a document, in reading order, what is stated of all amounts there; None for nothing."""
    current: ChapterUnit | None = None
    part: PlaceName | None = None
    last: Quote | None = None
    for at, quote in enumerate(quotes):
        if quote.kind == "text" and quote.layout not in HEADERS_AND_FOOTERS:
            names = heading_names(quote.text) if quote.layout == "title" and len(quote.text) <= MAX_HEADING else []
            part = next((name for name in names if name.kind != "section"), part)
            if current is not None and len(quote.text) <= MAX_HEADING and not current.holds_below(quote.text):
                current = None
            if current is not None and _has_other_scale(quote, current):
                current = None
            # Few texts are searched for a scale, which takes longer.
            may_state = any(map(quote.text.casefold().__contains__, _SIGNS_OF_UNIT))
            if may_state and (states_scale(quote.text) or _OPEN_BRACKET.search(quote.text)):
                later_quotes = (quotes[number] for number in range(at + 1, len(quotes)))
                following = next((later for later in later_quotes if later.layout not in HEADERS_AND_FOOTERS), None)
                context = quote, last, following, part
                current = _unit_in_heading(*context) or _unit_in_sentence(*context) or current
            last = quote
        elif quote.layout == "table":
            last = quote
        yield current


def _has_other_scale(quote: Quote, current: ChapterUnit) -> bool:
    """Whether a heading, or a sentence about amounts, states another scale, for what follows it."""
    is_title = quote.layout == "title"
    stated = [quote.text] if is_title else _SENTENCE_END.split(" ".join(quote.text.split()))
    return any(
        states_scale(text)
        and (is_title or (_NAMES_AMOUNTS.search(text.casefold()) and not _OF_TABLE.search(text.casefold())))
        and not scales_named(text) & scales_named(current.unit)
        for text in stated
    )


def _unit_in_heading(
    quote: Quote, last: Quote | None, following: Quote | None, part: PlaceName | None
) -> ChapterUnit | None:
    """What a heading states in a bracket at its end; it may go on, or the bracket may stand, in the next element."""
    text, heading = " ".join(quote.text.split()), quote.text
    if following is not None and following.layout in (*BODY_LAYOUTS, "title") and _OPEN_BRACKET.search(text):
        text = f"{text} {' '.join(following.text.split())}"
    is_bracket = text[:1] in "([" and following is not None and following.layout != "table"
    if is_bracket and last is not None and last.layout == "title":
        heading = last.text
    unit = stated_unit(text) if len(text) <= MAX_HEADING and _BRACKET_AT_END.search(text) else None
    names = heading_names(heading)
    in_contents = quote.layout != "title" and part is not None and part.kind == "contents"
    if unit is None or in_contents or not states_scale(unit) or not (names or _NOTES.search(heading.casefold())):
        return None
    return ChapterUnit(unit, _place_of(quote, heading), names[0] if names else part, is_of_all=False)


def _unit_in_sentence(
    quote: Quote, last: Quote | None, following: Quote | None, part: PlaceName | None
) -> ChapterUnit | None:
    """What a sentence states of all amounts; beside a table it may be of that alone."""
    if any(neighbour is not None and neighbour.layout == "table" for neighbour in (last, following)):
        return None
    for sentence in _SENTENCE_END.split(" ".join(quote.text.split())):
        folded = sentence.casefold()
        amounts = _ALL_AMOUNTS.match(folded)
        is_general = amounts is not None and (amounts["all"] or EXCEPTS.search(folded))
        is_of_money = names_money(sentence) or not _OF_WHAT.search(folded)
        is_of_other = _OF_TABLE.search(folded) or _OF_PART.search(folded) or _OF_ONE_TIME.search(folded)
        if is_general and is_of_money and states_scale(sentence) and not is_of_other:
            return ChapterUnit(sentence.strip("()[] ").rstrip(".;"), _place_of(quote), part, is_of_all=True)
    return None


def _place_of(quote: Quote, heading: str = "") -> str:
    return quote.place if quote.has_pages else f"“{_BRACKET_AT_END.sub('', heading or quote.heading or quote.text)}”"


def _has_bare_amounts(table: Quote) -> bool:
    """Whether a table of money has neither a currency nor another unit, and does not say that it counts."""
    rows = [line.casefold().split(" | ") for line in table.text.splitlines()]
    return (
        any(_OF_MONEY.search(name) for name, *_ in rows)
        and not any(find_unit(cell.strip()) for row in rows for cell in row)
        and not _COUNTS.search(table.text.casefold())
        and not currencies_in(table.text)
    )
