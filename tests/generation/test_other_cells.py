"""Sentences that give the content of a table's cell for another row or column."""

from collections.abc import Sequence

import pytest

from quoteweave.core.text.tokens import words
from quoteweave.generation.gate.contraries import other_cells
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
MODELS = "Model | Accuracy\nHeron | 66.9\nHeron + rerank | 68.3"
ACCOUNTS = " | 2023 | 2022\nRevenue | 500 | 450\nProfit before tax | 120 | 90\nCosts | 380 | 360"


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
        ("Profit before tax was 380 in 2023.", ACCOUNTS, ("380", "Costs", "Profit before tax")),
        ("Westmoor, founded in 1987, has 540 beds.", HOSPITALS, ("540", "Northgate", "Westmoor")),
        ("Heron has an accuracy of 68.3.", MODELS, ("68.3", "Heron + rerank", "Heron")),
        ("Heron with rerank has an accuracy of 66.9.", MODELS, ("66.9", "Heron", "Heron + rerank")),
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
        ("At 540 beds, the northern site dwarfs Westmoor.", HOSPITALS),
        ("Of the hospitals that opened before Westmoor, the largest has 540 beds.", HOSPITALS),
        ("The beds of Westmoor are looked after by 388 people.", HOSPITALS),
        ("Revenue was 500, up from 2022.", ACCOUNTS),
        ("Revenue was 500, an increase on 2022.", ACCOUNTS),
        ("Profit before costs was 500.", ACCOUNTS),
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


def test_of_tables_that_hold_a_number_everywhere_each_cell_is_compared_with_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is read of names grows with the cells, not with the cells times the rows."""
    read = 0

    def counted(text: str) -> Sequence[str]:
        nonlocal read
        read += 1
        return words(text)

    monkeypatch.setattr(other_cells, "words", counted)
    rows = "\n".join(f"Person{n} | " + " | ".join(["12"] * 4) for n in range(100))
    table = f"Name | A | B | C | D\n{rows}"
    assert found("Person7zz had 12 points.", table) is None
    assert found("Person7 had 12 points.", table) is None
    assert read < 2 * 100 + 50


def test_nothing_is_looked_for_in_more_cells_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other_cells, "MAX_CELLS", 10)
    assert found("St Alba has 540 beds.", HOSPITALS) is None
