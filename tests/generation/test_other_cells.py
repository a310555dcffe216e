"""What a sentence says of another row or column of a table than the cell that holds it."""

import pytest

from quoteweave.generation.gate.contraries.other_cells import find_other_cell
from quoteweave.generation.gate.facts import read_sentence

HOSPITALS = (
    "Hospitals in the region\nHospital | Beds | Staff | Founded | Director\nNorthgate | 540 | 1,820 | 1911 | Holt\n"
    "St Alba | 310 | 960 | 1954 | Reyes\nWestmoor | 125 | 388 | 1987 | Brandt\nIn all, 975 beds"
)
RESULTS = (
    " | 2023 | 2022\nExercise price | 12 | 14\nOptions exercised | 310 | 295\n"
    "Options granted | 41 | 38\nTotal | 351 | 333"
)
GROUPS = "Group | Fever | Rash\nGroup A | 14 | 3\nGroup B | 9 | 5"


def found(sentence: str, *texts: str) -> tuple[str, str, str] | None:
    return find_other_cell(sentence, read_sentence(sentence).amounts, texts, lambda one, other: one.same(other))


@pytest.mark.parametrize(
    ("sentence", "table", "other"),
    [
        ("St Alba has 540 beds.", HOSPITALS, ("540", "Northgate", "St Alba")),
        ("Westmoor has 388 beds.", HOSPITALS, ("388", "Staff", "Beds")),
        ("Westmoor was founded in 1954.", HOSPITALS, ("1954", "St Alba", "Westmoor")),
        ("The director of Northgate is Reyes.", HOSPITALS, ("Reyes", "St Alba", "Northgate")),
        ("In 2022, 310 options were exercised.", RESULTS, ("310", "2023", "2022")),
        ("A rash was seen in 3 of group B.", GROUPS, ("3", "Group A", "Group B")),
    ],
)
def test_a_cell_of_another_row_or_column_is_found(sentence: str, table: str, other: tuple[str, str, str]) -> None:
    assert found(sentence, table) == other


@pytest.mark.parametrize(
    ("sentence", "table"),
    [
        ("St Alba has 310 beds and a staff of 960.", HOSPITALS),
        ("Of the 540 beds in Northgate none is free.", HOSPITALS),
        ("The largest hospital has 540 beds.", HOSPITALS),
        ("Northgate has 540 beds, St Alba 310.", HOSPITALS),
        ("Northgate has 540 beds, more than Westmoor.", HOSPITALS),
        ("The 975 beds of Northgate are new.", HOSPITALS),
        ("Of 351 options in 2023, 41 options were granted.", RESULTS),
        ("The 41 options were granted at the exercise price.", RESULTS),
        ("St Alba has 540 beds.", "St Alba has 540 beds."),
        ("St Alba has 540 beds.", ""),
    ],
)
def test_what_may_be_said_of_its_own_row_and_column_is_not(sentence: str, table: str) -> None:
    assert found(sentence, table) is None


def test_what_another_text_says_is_not_found() -> None:
    assert found("St Alba has 540 beds.", HOSPITALS, "540 beds are planned.") is None
    assert found("St Alba has 540 beds.", HOSPITALS, "Clinic | Beds\nSt Alba | 540") is None
