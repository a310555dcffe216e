"""A page with a term as it is asked comes before those that are found by what the term leads to alone."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from made_collections import made_quote, make_collection

from quoteweave.core.records import Query, Quote
from quoteweave.index import lexical
from quoteweave.retrievers.lexical import LexicalRetriever
from quoteweave.retrievers.pages.terminology import Terminology
from quoteweave.retrievers.terms.terms import finance, read_terms

if TYPE_CHECKING:
    import numpy.typing as npt

ASSETS = """Cash and cash equivalents 40. Accounts receivable 60. Total current assets 120. Total assets 500.
Accounts payable 30. Total current liabilities 70. Total liabilities 210. Retained earnings 190."""
EARNED = """{} 900. Operating income 80. Interest expense 9. Income before income taxes 71.
Income taxes 18. {} 53. Per share, basic 1.06. Per share, diluted 1.05."""
OTHERS = (
    "The winter was mild. Each quay was surveyed. Two cranes were mended. No day was lost to ice. Pilots guide ships."
)
BALANCE, INCOME, SAID = 5, 6, 7
CARGO = """
[[term]]
name = "mean shipload"
also = ["MSL"]
made_of = ["total cargo", "vessel calls"]
[[term]]
name = "total cargo"
stands_in = ["cargo statistics"]
[[term]]
name = "cargo statistics"
made_of = ["grain", "timber", "containers"]
"""


def report(said: str, *, sales: str = "Revenue", earned: str = "Net income") -> list[Quote]:
    """A report with two statements, which call two rows so, and a text."""
    quotes = [made_quote(text, page=page) for page, text in enumerate(OTHERS.split(". "))]
    quotes.append(made_quote(ASSETS, page=BALANCE, layout="table"))
    quotes.append(made_quote(EARNED.format(sales, earned), page=INCOME, layout="table"))
    return [*quotes, made_quote(said, page=SAID)]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What was the ROA?", "Key figures: ROA was 10.6 %."),
        ("ROA 2021", "Key figures: ROA was 10.6 %."),
        ("What was the EBITDA?", "EBITDA rose to 89."),
        ("DSO", "We collect in a DSO of 12 days."),
        ("What is the return on assets?", "Key figures: the return on assets was 10.6 %."),
        ("What was the working capital?", "Working capital was 50."),
        ("What were the COGS?", "COGS fell to 600."),
        ("What was the capex?", "Capex was 31, for two cranes."),
    ],
)
def test_a_page_with_a_term_as_it_is_asked_comes_before_the_statements(
    question: str, said: str, tmp_path: Path
) -> None:
    with make_collection(tmp_path, {"annual.pdf": report(said)}) as collection:
        retriever = LexicalRetriever(collection)
        hits = retriever.search([Query(text=question)], 20)[0]
        reasons = retriever.explain(Query(text=question), hits).reasons
    assert hits[0].quote.page == SAID
    shown = {reason.part: reason.detail for reason in reasons[hits[0].quote.id]}
    assert shown.get("terms", question).casefold() in question.casefold()  # by no other name


def test_a_line_item_in_a_text_comes_first_where_the_statement_calls_it_otherwise(tmp_path: Path) -> None:
    said = "Net income was 53, as more grain was shipped."
    found = {}
    for earned in ("Profit for the year", "Net income"):
        with make_collection(tmp_path / earned, {"annual.pdf": report(said, earned=earned)}) as collection:
            (hits,) = LexicalRetriever(collection).search([Query(text="What was the net income?")], 1)
            found[earned] = hits[0].quote.page
    assert found == {"Profit for the year": SAID, "Net income": INCOME}


def test_a_document_without_statements_that_has_the_ratio_itself_comes_before_the_statements_of_another(
    tmp_path: Path,
) -> None:
    documents = {
        "annual.pdf": report("The board met."),
        "press.pdf": [made_quote("The return on assets was 10.6 %.", page=0), made_quote("The board met.", page=1)],
    }
    with make_collection(tmp_path, documents) as collection:
        (hits,) = LexicalRetriever(collection).search([Query(text="return on assets")], 3)
    assert (hits[0].quote.document, hits[0].quote.page) == ("press.pdf", 0)
    assert {hit.quote.page for hit in hits[1:]} == {BALANCE, INCOME}


def test_so_does_the_acronym_of_a_term_of_one_s_own(tmp_path: Path) -> None:
    path = tmp_path / "port.toml"
    path.write_text(CARGO)
    cargo = "Cargo statistics. Grain 4. Timber 5. Containers 6. Total cargo 15. Vessel calls 3."
    quotes = [made_quote("The chain needs wax.", page=page) for page in range(4)]
    quotes += [made_quote(cargo, page=4, layout="table"), made_quote("MSL: 5 tonnes.", page=5)]
    with make_collection(tmp_path / "ships", {"ships.pdf": quotes}) as collection:
        retriever = LexicalRetriever(collection, terms=[read_terms(path)])
        (hits,) = retriever.search([Query(text="What was the MSL?")], 2)
        explained = retriever.explain(Query(text="What was the MSL?"), hits)
    assert [hit.quote.page for hit in hits] == [5, 4]
    assert explained.interpretation == ("term: MSL = mean shipload, total cargo, vessel calls (in cargo statistics)",)


def test_a_quote_is_read_once_for_a_term_however_often_that_is_asked(tmp_path: Path) -> None:
    read: list[int] = []

    with make_collection(tmp_path, {"annual.pdf": report("Net income was 53.", earned="Profit")}) as collection:
        index = lexical.current_lexical_index(collection)

        def load(at: "npt.NDArray[np.int64]") -> list[Quote]:
            read.extend(at.tolist())
            return [quote for quote in collection.quotes_at(index.rows[at].tolist()) if quote is not None]

        terminology = Terminology(index, load, [finance()])
        tokens = ["net", "incom"]
        scores = index.scores("quotes", tokens), index.scores("pages", tokens)
        first = terminology.terms(tokens, *scores)
        once = sorted(read)
        again = terminology.terms(tokens, *scores)
    assert once
    assert once == sorted(set(once)) == sorted(read)
    assert np.array_equal(first.gained, again.gained)
    assert first.gained.argmax() in (INCOME, SAID)
