"""An amount that a sentence gives for another year than its evidence does."""

import pytest
from builders import make_context
from hypothesis import given
from hypothesis import strategies as st
from made_gate_answers import built

from quoteweave.generation.gate.contraries.amounts_of_years import find_other_year
from quoteweave.generation.gate.sentence_check import check_sentence

SALES = "Net sales were $1,204 million in 2021 and $988 million in 2020."
LISTED = "Net sales were $192,052, $163,220 and $149,351 in 2021, 2020 and 2019, respectively."
YEARS_FIRST = "In 2021, 2020 and 2019, net sales were $192,052, $163,220 and $149,351, respectively."
GRAIN = "Grain rose from 486 tonnes in 2021 to 512 tonnes in 2022."


@pytest.mark.parametrize(
    ("statement", "evidence", "of_year", "said_year", "instead"),
    [
        ("Net sales in 2021 were $988 million.", SALES, "2020", "2021", "$1,204 million"),
        ("Net sales fell to $988 million in fiscal 2021.", SALES, "2020", "2021", "$1,204 million"),
        ("In 2021 net sales reached about 988 million dollars.", SALES, "2020", "2021", "$1,204 million"),
        ("Net sales were $192,052 in 2020.", LISTED, "2021", "2020", "$163,220"),
        ("In 2019 net sales were $163,220.", YEARS_FIRST, "2020", "2019", "$149,351"),
        ("Grain was 486 tonnes in 2022.", GRAIN, "2021", "2022", "512 tonnes"),
    ],
)
def test_an_amount_of_another_year_is_found(
    statement: str, evidence: str, of_year: str, said_year: str, instead: str
) -> None:
    found = find_other_year(statement, ["It is a port.", evidence])
    assert found is not None
    assert (found.year, found.said_year, found.instead) == (of_year, said_year, instead)


@pytest.mark.parametrize(
    ("statement", "evidence"),
    [
        ("Net sales in 2021 were $1,204 million.", SALES),
        ("Net sales rose from $988 million in 2020 to $1,204 million in 2021.", SALES),
        ("In 2021, net sales rose from $988 million to $1,204 million.", SALES),
        ("In 2020 net sales were $988 million, and in 2021 they were $1,204 million.", SALES),
        ("Net sales of 2021 exceeded $988 million.", SALES),
        ("The 2021 report gives net sales of $988 million.", SALES),
        ("Net sales were $163,220 in 2020, compared with $149,351 in 2019.", LISTED),
        ("Grain was 486 tonnes in 2022.", "Grain rose from 486 tonnes in 2021 to 512."),
        ("By 2022 grain had grown by 26 from 486 tonnes.", GRAIN),
        ("Grain was 486 tonnes in 2022.", f"{GRAIN} Coal came to 486 tonnes."),
    ],
)
def test_what_may_be_true_is_not_taken_for_another_year(statement: str, evidence: str) -> None:
    assert find_other_year(statement, evidence.split(". ")) is None


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(2001, 2009)), min_size=1, max_size=4))
def test_no_sentence_contradicts_itself(pairs: list[tuple[int, int]]) -> None:
    sentence = f"There were {' and '.join(f'{amount} ships in {year}' for amount, year in pairs)}."
    assert find_other_year(sentence, [sentence]) is None


def test_the_gate_says_what_it_has_for_either_year() -> None:
    sentence = "Net sales in 2021 were $988 million [1]."
    context = make_context(SALES)
    (citation,) = check_sentence(sentence, built(sentence, context).citations, context)
    assert citation.verdict == "unsupported"
    assert citation.reason == "What it cites has $988 million for 2020, and for 2021 $1,204 million."
