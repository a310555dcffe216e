"""The unit that stands above a table and not in it: in the text before, or in the title of its section."""

from pathlib import Path

import pytest
from builders import make_quote

from quoteweave import Collection, ExtractiveGenerator, LexicalRetriever, Rag, add
from quoteweave.core.records import Quote
from quoteweave.core.text.units import stated_unit
from quoteweave.documents.layout.tables.stated_units import with_units
from quoteweave.generation.extractive.statements import unit_of

SALES = "Product | 2022 | 2023\nLamps | 412 | 498\nChairs | 96 | 88"
INTRODUCTION = "Sales were as follows ($ in millions, except per share amounts):"
TABLE = make_quote(SALES, layout="table")


def units(*quotes: Quote) -> list[str | None]:
    return [quote.unit for quote in with_units(quotes) if quote.layout == "table"]


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("Revenue by region (EUR million)", "EUR million"),
        (
            "Consolidated balance sheets\n$ in millions, except per share amounts",
            "$ in millions, except per share amounts",
        ),
        ("Angaben in Tausend Euro", "in Tausend Euro"),
        ("Chiffre d’affaires (en milliers d’euros)", "en milliers d’euros"),
        ("Ingresos (en millones de euros)", "en millones de euros"),
        ("Ricavi (in milioni di euro)", "in milioni di euro"),
        ("Turnover ($’000)", "$’000"),
        ("Sizes [in mm]:", "in mm"),
        ("All prices in euros.", "All prices in euros"),
        ("Sizes are given in mm", "Sizes are given in mm"),
        ("Equity $ and shares in millions", "$ and shares in millions"),
        ("Revenue, £m", "£m"),
        ("Beträge in TEUR", "TEUR"),
        ("Températures en °C", "Températures en °C"),
        ("Minnesota (MN)", None),
        ("Cities in TN", None),
        ("Manganese (Mn)", None),
        ("They are used in thousands of homes:", None),
        ("Our shops (you can be there in minutes) are these:", None),
        ("It is known (in March) and sold in part.", None),
        ("It lost 2 in millions.", None),
        ("Millions of people live there.", None),
    ],
)
def test_what_states_a_unit(text: str, unit: str | None) -> None:
    assert stated_unit(text) == unit


def test_the_text_that_introduces_a_table_gives_it_its_unit() -> None:
    said = "$ in millions, except per share amounts"
    assert units(make_quote(INTRODUCTION), TABLE) == [said]
    assert units(make_quote(INTRODUCTION), make_quote("Lamps", layout="caption"), TABLE, TABLE) == [said, said]
    assert units(make_quote("In thousands of euros"), TABLE) == ["In thousands of euros"]
    assert units(make_quote("(U.S. dollars in thousands)"), TABLE) == ["U.S. dollars in thousands"]
    assert units(make_quote("Angaben in Mio. EUR"), TABLE) == ["in Mio. EUR"]
    assert units(make_quote("The following data (in thousands) are ours. Read on."), TABLE) == ["in thousands"]


def test_it_may_stand_at_the_end_of_the_page_before_if_it_ends_with_a_colon() -> None:
    foot, below = make_quote("3", layout="footer"), make_quote(SALES, layout="table", page=1)
    assert units(make_quote(INTRODUCTION), foot, below) == ["$ in millions, except per share amounts"]
    assert units(make_quote("The following data (in thousands) are ours."), foot, below) == [None]


def test_the_title_of_the_section_does_where_no_text_does() -> None:
    headed = make_quote(SALES, layout="table", section="Revenue (dollars in millions)")
    assert units(make_quote("Lamps sold well."), headed) == ["dollars in millions"]
    assert units(make_quote("Sales were (in thousands):"), headed) == ["in thousands"]


def test_a_table_that_goes_on_below_has_the_unit_of_its_first_part() -> None:
    first = make_quote(SALES, layout="table", caption="Sales (in thousands)")
    title = make_quote("Chairs", layout="title")
    on_next_page = make_quote(SALES, layout="table", page=1)
    other = make_quote("Town | Shops\nMo | 2", layout="table")
    assert units(first, title, TABLE, make_quote("Lamps sold well."), TABLE) == [None, "in thousands", "in thousands"]
    assert units(first, title, other, on_next_page) == [None, None, None]
    assert units(first, make_quote("3", layout="footer"), on_next_page) == [None, "in thousands"]


def test_a_table_of_its_own_below_another_has_no_unit_of_it() -> None:
    introduced, staff = make_quote(INTRODUCTION), make_quote(SALES, layout="table", caption="Table 2. Staff")
    assert units(introduced, TABLE, staff) == ["$ in millions, except per share amounts", None]
    told = make_quote("Employees were as follows:")
    assert units(introduced, TABLE, told, TABLE, TABLE) == ["$ in millions, except per share amounts", None, None]


@pytest.mark.parametrize(
    "quotes",
    [
        (make_quote(INTRODUCTION), make_quote("Lamps sold well."), TABLE),
        (make_quote(INTRODUCTION), make_quote("Staff", layout="title"), TABLE),
        (make_quote(INTRODUCTION), make_quote(SALES, layout="table", page=2)),
        (make_quote(INTRODUCTION), make_quote("Lamp | Height (in mm)\nMo | 12", layout="table")),
        (
            make_quote(INTRODUCTION),
            make_quote("Lamp | Is\nMo | 12 mm\nBo | $ 3 million\nDo | 2 May 2022", layout="table"),
        ),
        (make_quote("Staff was as follows:"), make_quote(SALES, layout="table", section="Sales (in thousands)")),
        (make_quote("Lamps sold well, and (in millions of homes) gave light. Chairs did not."), TABLE),
        (make_quote(INTRODUCTION), make_quote("Product | 2022\nLamps | 4.2%\nChairs | (3) %", layout="table")),
        (make_quote(INTRODUCTION), make_quote("Product | % change 2022\nLamps | 4\nChairs | 3", layout="table")),
        (make_quote(INTRODUCTION), make_quote(SALES, layout="table", caption="Table 1. Sales (in thousands)")),
        (make_quote(INTRODUCTION), make_quote("Lamps 2022", layout="figure")),
    ],
)
def test_nothing_else_gives_one(quotes: tuple[Quote, ...]) -> None:
    assert not any(quote.unit for quote in with_units(quotes))


def test_an_answer_of_a_table_says_its_unit(tmp_path: Path) -> None:
    rows = "\n".join(f"| {line} |" for line in [SALES.splitlines()[0], "-|-|-", *SALES.splitlines()[1:]])
    (tmp_path / "sales.md").write_text(f"# Report\n\nSales were as follows ($ in millions):\n\n{rows}\n")
    with Collection.open_or_create(tmp_path / "c") as collection:
        add(collection, [tmp_path / "sales.md"])
        rag = Rag(LexicalRetriever(collection), ExtractiveGenerator())
        answer = rag.answer("What were the sales of lamps in 2023?")
        located = rag.answer("How many lamps were sold in 2023?")
    assert "($ in millions) lists Lamps (2023: 498)" in answer.text
    assert "2023: 498; Chairs, 2022: 96, 2023: 88” ($ in millions)" in located.text


@pytest.mark.parametrize(
    ("table", "unit"),
    [
        (make_quote("Time in seconds | Speed\n2 | 19.6", layout="table"), ""),
        (make_quote("$ in millions | Sales\n2022 | 412", layout="table"), "$ in millions"),
        (TABLE.model_copy(update={"unit": "in tons", "section": "Sales (in tons)", "has_pages": False}), ""),
    ],
)
def test_an_answer_says_a_unit_of_all_numbers_and_once(table: Quote, unit: str) -> None:
    assert unit_of(table) == unit
