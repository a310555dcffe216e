"""Amounts of money that a sentence rounds, or writes in another scale than its source."""

import pytest
from builders import make_quote
from made_gate_answers import verdict

from quoteweave.attribution.checked_passages import check_passage
from quoteweave.core.records import Hit, Quote
from quoteweave.core.text.tokens import words

REVENUE = "Total revenue was $4,802 million in fiscal 2015 and $4,147 million in fiscal 2014."
RESULTS = make_quote(
    "- | 2015 | 2014\nRevenue | $ 4,802 | $ 4,147\nResearch and development | 1,234 | 1,050",
    layout="table",
    unit="$ in millions",
)
CHAPTER = make_quote(
    "Net sales were $192,052. A ticket costs $4.99, a share $5 per year.",
    chapter_unit="amounts in millions, as page 3 states",
)
IN_EUROS = make_quote("Sales were €900, costs $80.", chapter_unit="in thousands of euros, as page 3 states")
CASES = [
    ("Net sales were $192.1 billion.", CHAPTER, "supported"),
    ("A ticket costs $4.99 million.", CHAPTER, "unsupported"),
    ("A share costs $5 million per year.", CHAPTER, "unsupported"),
    ("Sales were €900 thousand.", IN_EUROS, "supported"),
    ("Costs were $80 thousand.", IN_EUROS, "unsupported"),
    ("In fiscal 2015 total revenue was $4.80 billion.", REVENUE, "supported"),
    ("In fiscal 2015 total revenue was $4.8 billion.", REVENUE, "supported"),
    ("In fiscal 2015 total revenue was $4.802 billion.", REVENUE, "supported"),
    ("In 2015 revenue was $4.80 billion.", RESULTS, "supported"),
    ("In 2015 research and development was $1.23 billion.", RESULTS, "supported"),
    ("In fiscal 2015 total revenue was $4.15 billion.", REVENUE, "unsupported"),  # of another year
    ("In fiscal 2015 total revenue was $4.81 billion.", REVENUE, "unsupported"),
    ("In fiscal 2015 total revenue was $4.80 million.", REVENUE, "unsupported"),
    ("In fiscal 2015 total revenue was €4.80 billion.", REVENUE, "unsupported"),
    ("In 2015 research and development was €1.23 billion.", RESULTS, "unchecked"),
    ("In fiscal 2015 total revenue was $5 billion.", REVENUE, "unchecked"),  # too many amounts are that when rounded
    ("Total revenue was A$4.80 billion in fiscal 2015.", REVENUE, "unchecked"),
    ("Sales were $10 million.", "Sales were $9.6 million.", "unsupported"),
    ("The fee is $13.", "The fee is $12.90.", "unchecked"),
    ("Sales were $13 million.", "Sales were $12.9 million.", "supported"),
    ("In fiscal 2015 total revenue was 4.80 billion.", REVENUE, "unchecked"),
    ("Total revenue was $4.8 billion.", "Revenue was $4,802 million, total costs were $4,813 million.", "unchecked"),
]


@pytest.mark.parametrize(("sentence", "quote", "expected"), CASES)
def test_a_correctly_rounded_amount_is_that_of_its_source(sentence: str, quote: Quote | str, expected: str) -> None:
    assert verdict(sentence, quote) == expected


@pytest.mark.parametrize(("sentence", "quote", "expected"), CASES)
def test_its_source_is_found(sentence: str, quote: Quote | str, expected: str) -> None:
    quote = make_quote(quote) if isinstance(quote, str) else quote
    found = check_passage(sentence, Hit(quote=quote, rank=1, score=1.0), dict.fromkeys(words(sentence), 1.0))
    assert (found.outcome == "supported") is (expected == "supported")
