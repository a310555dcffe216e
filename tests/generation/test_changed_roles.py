"""Who does a thing, and to whom it is done."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.generation.gate.contraries.changed_roles import find_changed_role
from quoteweave.generation.gate.contraries.lengths import MAX_CITED

SUED = "Oracle sued Google over the use of Java."


@pytest.mark.parametrize(
    ("sentence", "evidence", "found"),
    [
        ("Oracle was sued by Google over Java.", SUED, ("sued by Google", "sued Google")),
        ("Google sued Oracle.", "Google was sued by Oracle in May.", ("sued Oracle", "sued by Oracle")),
        ("The landlord pays a deposit.", "The tenant pays the landlord a deposit.", ("landlord pays", "pays landlord")),
    ],
)
def test_a_changed_role_is_found(sentence: str, evidence: str, found: tuple[str, str]) -> None:
    assert find_changed_role(sentence, evidence) == found


@pytest.mark.parametrize(
    ("sentence", "evidence"),
    [
        ("Google was sued by Oracle.", SUED),
        ("Oracle sued Google.", "Google was sued by Oracle in May."),
        ("The landlord is paid a deposit.", "The tenant pays the landlord a deposit."),
        ("Sales increased in Asia.", "The firm reported increased sales in Asia."),
        ("Smith said prices fell.", "Prices fell, said Smith."),
        ("Prices were raised by 5 %.", "The firm raised prices by 5 %."),
        ("Der Hund biss den Mann.", "Den Mann biss der Hund, und er lief davon."),
    ],
)
def test_the_same_role_in_another_order_is_not_changed(sentence: str, evidence: str) -> None:
    assert find_changed_role(sentence, evidence) is None


@given(st.lists(st.sampled_from(["a", "b", "sued", "was", "by", "the", "5"]), max_size=9))
def test_any_sentence_has_the_roles_of_itself(parts: list[str]) -> None:
    assert find_changed_role(text := f"{' '.join(parts)}.", text) is None


def test_long_sentences_are_not_compared() -> None:
    assert find_changed_role("Oracle was sued by Google.", f"{SUED}{' more' * MAX_CITED}") is None
