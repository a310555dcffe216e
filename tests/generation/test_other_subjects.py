"""Sentences that apply a statement of their evidence to another subject than the name or pronoun there."""

import pytest

from quoteweave.generation.gate.contraries.other_subjects import find_other_subject
from quoteweave.generation.sentences import split_sentences

MILLS = "The Alder mill employs 140 people. The Birch mill, which is older, employs 96. It closed in May."
GROUPS = "Group A was given the vaccine. Group B was given a placebo. In Group A, 14 of 220 had a fever."
MUSEUM = "Maria Holt led the museum. Her successor, Jan Verbeek, added a wing. He retired in 2021."
LAKE = "The lake is above a reservoir. The reservoir was built in 1972. It holds 210 tonnes."
CITY = "Rome lies on the Tiber. The city is old. It has 2.8 million inhabitants."
LAW = "The Authority decides within 20 days, and the party may turn to the Tribunal within 14 days."


@pytest.mark.parametrize(
    ("sentence", "evidence", "said"),
    [
        ("The Birch mill employs 140 people.", MILLS, "Birch"),
        ("In Group B, 14 of 220 had a fever.", GROUPS, "Group B"),
        ("Maria Holt added a wing.", MUSEUM, "Maria Holt"),
        ("Maria Holt retired in 2021.", MUSEUM, "Maria"),
        ("The lake holds 210 tonnes.", LAKE, "lake"),
        ("The Alder mill closed in May.", MILLS, "Alder"),
    ],
)
def test_what_is_said_of_another_is_found(sentence: str, evidence: str, said: str) -> None:
    found = find_other_subject(sentence, [one.text for one in split_sentences(evidence)])
    assert found is not None
    assert found.stated == said


@pytest.mark.parametrize(
    ("sentence", "evidence"),
    [
        ("The Alder mill employs 140 people.", MILLS),
        ("The Birch mill closed in May.", MILLS),
        ("In Group A, 14 of 220 had a fever.", GROUPS),
        ("Jan Verbeek retired in 2021.", MUSEUM),
        ("The reservoir holds 210 tonnes.", LAKE),
        ("The Tribunal is turned to within 14 days.", LAW),
        ("Rome has 2.8 million inhabitants.", CITY),
        ("Jan Verbeek retired in 2021.", "Jan Verbeek led it. Verbeek added a wing. He retired in 2021."),
        ("Acme opened 5 shops.", "Acme did well in May. It opened 5 shops in Texas."),
        ("The lake holds 210 tonnes.", "Lake\nThe reservoir | 1972\nIt holds 210 tonnes."),
        ("The Alder mill employs 140 people.", "The Alder mill employs 140 people."),
    ],
)
def test_what_is_said_of_the_same_is_not_found(sentence: str, evidence: str) -> None:
    assert find_other_subject(sentence, [one.text for one in split_sentences(evidence)]) is None
