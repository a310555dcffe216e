"""What a document states of all amounts of a chapter: where it holds, of what, and how an answer tells it."""

from pathlib import Path

import pytest
from builders import make_context, make_quote

from quoteweave import Collection, ExtractiveGenerator, LexicalRetriever, Rag, add
from quoteweave.core.records import Quote
from quoteweave.documents.layout.tables.stated_units import with_units
from quoteweave.generation.citations import build_answer
from quoteweave.generation.gate.answer_check import check_citations
from quoteweave.generation.highlights import find_highlights

HEADING = make_quote("Item 7. Discussion (amounts in millions, except per share data)", layout="title", page=2)
SAID = "amounts in millions, except per share data, as page 3 states"
SALES = make_quote("- | 2021 | 2020\nNet sales | $ 192,052 | $ 163,220", layout="table", page=3)
PROSE = make_quote("Net sales were $192,052 in 2021.", page=3)
BARE = make_quote("- | 2021 | 2020\nReceivables | 192,052 | 163,220", layout="table", page=3)
ALL = make_quote("The Group is a company. All amounts are in thousands of euros, unless otherwise stated.")
SAID_OF_ALL = "All amounts are in thousands of euros, unless otherwise stated, as page 1 states"


def told(*quotes: Quote) -> str | None:
    return with_units(quotes)[-1].chapter_unit


@pytest.mark.parametrize(
    "between",
    [
        [],
        [make_quote("Overview", layout="title")],
        [make_quote("Note 1. Policies", layout="title")],
        [make_quote("Item 7 (continued)", layout="title")],
        [make_quote("Item 8. Statements", layout="header")],
    ],
)
def test_a_heading_tells_the_unit_of_all_money_of_its_chapter(between: list[Quote]) -> None:
    assert told(HEADING, *between, SALES) == told(HEADING, *between, PROSE) == SAID


def test_a_heading_may_go_on_in_the_next_line_or_be_followed_by_its_bracket() -> None:
    broken = (
        make_quote("Item 7. Discussion (amounts in millions, except per", page=2),
        make_quote("share data)", page=2),
    )
    assert told(*broken, SALES) == SAID
    plain = make_quote("Item 7. Discussion", layout="title", page=2), make_quote("(in millions)", page=2)
    assert told(*plain, PROSE, SALES) == "in millions, as page 3 states"
    notes = make_quote("NOTES TO CONSOLIDATED FINANCIAL STATEMENTS (in millions)")
    assert told(notes, make_quote("Note 1. Policies", layout="title"), SALES) == "in millions, as page 1 states"


@pytest.mark.parametrize(
    "last",
    [
        make_quote("- | 2021 | 2020\nStaff | 288,000 | 273,000", layout="table"),
        make_quote("- | 2021 | 2020\nSales | $ 3 million | $ 2,500", layout="table"),
        make_quote("- | 2021 | 2020\nPrice | $ 4.99 | $ 5.99", layout="table"),
        make_quote("We opened 22 new shops."),
        make_quote("The dividend was $2 per share, and $3 a share before."),
        make_quote("Debt was $7.5 billion, and $500 was repaid."),
        make_quote("Up to $1,500,000 is insured."),
        make_quote("It was as follows (in thousands): $500 and $300."),
        make_quote("Earnings per share were $11."),
        make_quote("We raised the starting wage to $17."),
        make_quote("It pays $100,000."),
        make_quote("- | 2021\nDividends per share | $ 2", layout="table"),
        make_quote("- | Price | Change\nPetrol | $ 2 | $ 1", layout="table"),
    ],
)
def test_what_may_be_in_another_unit_gets_none(last: Quote) -> None:
    assert told(HEADING, last) is None


def test_an_amount_beside_that_of_one_share_is_told() -> None:
    assert told(HEADING, make_quote("Net income was $5,007, or $11 per share.")) == SAID
    sales_and_share = make_quote("- | 2021\nSales | $ 5,007\nEarnings per share | $ 11", layout="table")
    assert told(HEADING, sales_and_share) == SAID
    assert told(make_quote("Item 7. Discussion (in millions)", layout="title"), sales_and_share) is None


@pytest.mark.parametrize(
    "other",
    [
        make_quote("Five years ($ in thousands)", layout="title"),
        make_quote("In this section figures are in thousands."),
    ],
)
def test_it_ends_where_another_scale_is_stated(other: Quote) -> None:
    assert told(HEADING, other, make_quote("Sales were $500.")) is None


def test_a_line_of_the_contents_states_nothing() -> None:
    contents = make_quote("Contents", layout="title"), make_quote("Item 8. Statements (in thousands)")
    assert told(*contents, make_quote("To our owners", layout="title"), PROSE) is None


@pytest.mark.parametrize("ends", ["Item 7A. Risks", "ITEM 8. STATEMENTS", "Part III", "Appendix A"])
def test_it_ends_with_its_chapter(ends: str) -> None:
    assert told(HEADING, make_quote(ends), SALES) is None


@pytest.mark.parametrize(
    "stated",
    [
        "Revenue (dollars in millions)",
        "Item 7. Discussion (amounts in millions) 41",
        "Item 7. Prices (all in stock)",
    ],
)
def test_no_other_line_is_of_a_chapter(stated: str) -> None:
    assert told(make_quote(stated, layout="title"), make_quote("Overview", layout="title"), SALES) is None


def test_a_sentence_about_all_amounts_is_told_of_what_names_no_other_unit() -> None:
    assert told(ALL, BARE) is None, "beside a table, it may be of that alone"
    assert told(ALL, make_quote("Overview", layout="title"), BARE) == SAID_OF_ALL
    assert told(ALL, make_quote("Debt was €500."), make_quote("Debt was €500.")) == SAID_OF_ALL
    for other in (
        "Members | 500 | 400",
        "Discount | 3.5 | 2.5",
        "Power | MWh | 500",
        "Number of employees | 500 | 400",
        "Sales | $ 500 | $ 400",
    ):
        assert told(ALL, PROSE, make_quote(f"- | 2021 | 2020\n{other}", layout="table")) is None
    assert told(ALL, PROSE) is None, "dollars are no euros"


@pytest.mark.parametrize(
    "sentence",
    [
        "Alle Beträge in Tausend Euro, sofern nicht anders angegeben.",
        "Unless otherwise indicated, figures are in millions of dollars.",
        "Tous les montants sont en milliers d’euros.",
    ],
)
def test_such_sentences_in_other_words(sentence: str) -> None:
    assert told(make_quote(sentence), PROSE, BARE)


@pytest.mark.parametrize(
    "sentence",
    [
        "All amounts in the table below are in thousands.",
        "Amounts in thousands of homes grew.",
        "All amounts are in euros.",
        "All values are in thousands of tonnes.",
        "All amounts were in thousands of francs until the reform.",
        "“All amounts are in thousands.”",
    ],
)
def test_other_sentences_are_not_about_all_amounts(sentence: str) -> None:
    assert told(make_quote(sentence), make_quote("Lamps."), BARE) is None


def test_an_answer_tells_it(tmp_path: Path) -> None:
    (tmp_path / "report.md").write_text(
        "# Item 7. Discussion (amounts in millions, except per share data)\n\n## Sales\n\n"
        "Net sales were $192,052 in 2021.\n\n## Fees\n\n"
        "|  | 2021 | 2020 |\n|-|-|-|\n| Fees for members | $ 3,877 | $ 3,541 |\n"
    )
    with Collection.open_or_create(tmp_path / "c") as collection:
        add(collection, [tmp_path / "report.md"])
        rag = Rag(LexicalRetriever(collection), ExtractiveGenerator())
        of_text = rag.answer("What were net sales in 2021?")
        of_table = rag.answer("What were the fees for members in 2021?")
    said = "amounts in millions, except per share data, as “Item 7. Discussion” states"
    assert f"Net sales were $192,052 in 2021 ({said}) [1]." in of_text.text
    assert f"({said}) lists Fees for members (2021: $ 3,877)" in of_table.text


@pytest.mark.parametrize(
    ("claim", "supported"),
    [("Net sales were $192,052 million [1].", True), ("The company opened 22 million shops [1].", False)],
)
def test_the_gate_knows_it_of_money_alone(claim: str, supported: bool) -> None:
    (_, quote) = with_units([HEADING, make_quote("Net sales were $192,052; the company opened 22 shops.")])
    context = make_context(quote)
    answer = check_citations(build_answer("", claim, context, model="m"), context)
    assert (answer.citations[0].verdict == "supported") is supported


def test_an_answer_with_it_leads_to_the_words_of_the_quote() -> None:
    (_, quote) = with_units([HEADING, PROSE])
    assert find_highlights(f"Net sales were $192,052 in 2021 ({SAID}).", quote) == [(0, len(PROSE.text) - 1)]
