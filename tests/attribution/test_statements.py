"""Which sentences of a draft a source is looked for."""

import pytest

from quoteweave.attribution.statements import is_statement


@pytest.mark.parametrize(
    "sentence",
    [
        "Coral reefs recover slowly after bleaching.",
        "Wild salmon are often infected by lice from nearby farms.",
        "It has long been known that reefs recover slowly after bleaching.",
        "Throughout the valley, copper was smelted long before iron.",
        "Noise from ships probably drives whales away.",
        "We handled 18 ships a day at the new quay.",
        "In May it shipped 4,210 tonnes",
        "Penicillin was discovered by Alexander Fleming.",
        "Die Erholung der Riffe dauert nach einer Bleiche viele Jahre.",
    ],
)
def test_what_states_something_is_a_statement(sentence: str) -> None:
    assert is_statement(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Why do coral reefs recover so slowly?",
        "Coral reefs recover slowly for these reasons:",
        "# Recovery of 12 reefs",
        "Recovery of coral reefs after bleaching",
        "Install the package and restart the server.",
        "Note that reefs recover slowly after bleaching.",
        "In this paper we study how reefs recover after bleaching.",
        "Our method first segments the page and then reads each block.",
        "The government should protect these forests from fires.",
        "Unfortunately, the debate has become far too heated lately.",
        "It remains unclear how far this result generalises to reefs.",
        "The next section describes the data and the method.",
        "As mentioned above, the sample of reefs is rather small.",
        "Many thanks to the patient staff of the archive.",
        "Hardly surprising.",
        "",
    ],
)
def test_questions_headings_plans_opinions_and_what_is_of_the_text_are_none(sentence: str) -> None:
    assert not is_statement(sentence)
