"""Sentences that mix a word of one part of their evidence into another part."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.generation.gate.contraries.lengths import MAX_CITED
from quoteweave.generation.gate.contraries.mixed_parts import (
    find_crossed_numbers,
    find_mixed_parts,
)

CURED = "The drug cured 40 patients and killed 3."
SALES = "Sales rose 12 % in Europe and 5 % in Asia."
METALS = "The melting points of lead, tin and zinc are 327 °C, 232 °C and 420 °C respectively."
TRIP = "The crew left Cape Town on 4 March and reached Durban within 9 days."
BRIDGE = "The bridge is 1,280 m long and 27 m wide, and its towers stand 227 m above the water."
TAX = "The committee approved the budget and rejected the new tax."
RISK = "Aspirin reduced the risk of stroke but increased the risk of bleeding."
PALMS = "The palm house, finished in 1891, burned down and was rebuilt in steel and glass between 1956 and 1958."


@pytest.mark.parametrize(
    ("sentence", "evidence", "found"),
    [
        ("The drug killed 40 patients.", CURED, ("killed", "cured", "40")),
        ("The drug cured three patients.", CURED, ("cured", "killed", "3")),
        ("Sales in Asia rose 12 %.", SALES, ("Asia", "Europe", "12")),
        ("Sales rose 5 % in Europe.", SALES, ("Europe", "Asia", "5")),
        ("The melting point of tin is 327 °C.", METALS, ("tin", "lead", "327")),
        ("Zinc melts at the point of 232 °C.", METALS, ("zinc", "tin", "232")),
        ("Asia had 3.", "Asia and Europe had 5 and 3, respectively.", ("Asia", "Europe", "3")),
        ("The crew reached Cape Town on 4 March.", TRIP, ("reached", "left", "4")),
        ("The crew left Durban within 9 days.", TRIP, ("left", "reached", "9")),
        ("The bridge is 227 m long.", BRIDGE, ("bridge", "towers", "227")),
        ("The bridge is 1,280 m wide.", BRIDGE, ("wide", "long", "1,280")),
        ("Group A lost 6 kg.", "Group A lost 1 kg and group B lost 6 kg.", ("A", "B", "6")),
        ("The committee rejected the budget.", TAX, ("rejected", "approved", "")),
        ("The committee approved the new tax.", TAX, ("approved", "rejected", "")),
        ("Aspirin reduced the risk of bleeding.", RISK, ("bleeding", "stroke", "")),
        ("Der Umsatz stieg in Asien um 12 %.", "Er stieg in Rom um 12 % und in Asien um 5 %.", ("Asien", "Rom", "12")),
    ],
)
def test_a_word_of_another_part_is_found(sentence: str, evidence: str, found: tuple[str, str, str]) -> None:
    assert find_mixed_parts(sentence, evidence) == found


@pytest.mark.parametrize(
    ("sentence", "evidence"),
    [
        ("The drug cured 40 patients.", CURED),
        ("The drug killed 3 patients.", CURED),
        ("The drug killed 3 patients and cured 40.", CURED),
        ("Sales in Asia rose 5 %.", SALES),
        ("Sales rose 12 % in Europe.", SALES),
        ("The melting point of tin is 232 °C.", METALS),
        ("The crew reached Durban within 9 days.", TRIP),
        ("The towers of the bridge stand 227 m above the water.", BRIDGE),
        ("Up to 12 people were killed.", "At least 70 people were hurt and up to 12 were killed in the collapse."),
        ("The palm house was rebuilt from 1956 to 1958.", PALMS),
        ("The committee rejected the new tax.", TAX),
        ("Aspirin increased the risk of bleeding.", RISK),
        ("A child with a rash stays home.", "A child with fever, vomiting or a rash stays home."),
        ("A child with fever stays home.", "A child with fever, vomiting or a rash stays home."),
        ("Tea in 2019 | 7", "Tea | 5 | and coffee | 7."),
    ],
)
def test_one_part_with_what_is_said_of_all_is_not_mixed(sentence: str, evidence: str) -> None:
    assert find_mixed_parts(sentence, evidence) is None


@given(st.lists(st.sampled_from([*"abA,;", "and", "12", "7 %", "in", "May", "$5", "respectively"]), max_size=12))
def test_any_sentence_is_found_in_itself(parts: list[str]) -> None:
    assert find_mixed_parts(text := f"{' '.join(parts)}.", text) is None


def test_long_sentences_are_not_compared() -> None:
    assert find_mixed_parts("The drug killed 40 patients.", f"{CURED[:-1]}{' more' * MAX_CITED}.") is None


BAKED = "Bake at 220 °C for 15 minutes, then at 190 °C for 25 minutes."


@pytest.mark.parametrize(
    ("sentence", "evidence", "found"),
    [
        ("Bake at 190 °C for 15 minutes.", [BAKED], ("190", "15")),
        ("Bake at 220 °C for 15 minutes.", [BAKED], None),
        ("Bake at 190 °C for 15 minutes.", ["Bake at 220 °C for 15 minutes.", "Then bake at 190 °C."], None),
        ("Bake at 220 °C for 15 minutes, then for 25 minutes.", [BAKED], None),
        (
            "The rate was 0.78 with 80 mg.",
            ["It was 0.61 with 80 mg, 0.78 with 40 mg and 1.02 without."],
            ("0.78", "80"),
        ),
        ("The rate was 0.61 with 80 mg.", ["It was 0.61 with 80 mg, 0.78 with 40 mg and 1.02 without."], None),
    ],
)
def test_two_numbers_that_stand_with_others_of_their_kinds_are_found(
    sentence: str, evidence: list[str], found: tuple[str, str] | None
) -> None:
    assert find_crossed_numbers(sentence, evidence) == found
