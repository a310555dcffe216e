"""Which sentences of a draft a source is looked for."""

import pytest

from quoteweave.attribution.drafts.post_hoc import is_statement


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
        "Plants must open their stomata to take in carbon dioxide.",
        "World War I destroyed the old order of the continent.",
        "Collagen of type I gives bones their strength.",
        "Complexes III and I pump protons across the membrane.",
        "Thus the rivers carry less sediment to the sea.",
        "Almost a third of the forest was lost to fire.",
        "Neither the drug nor the diet lowered mortality.",
        "It is widespread in farmed salmon.",
        "This is the largest freshwater lake by volume.",
        "The last report of the commission blamed the captain.",
        "Recall bias distorts surveys of what people eat.",
        "Thanks to cheaper fertiliser, harvests rose.",
        "Smoking causes cancer.",
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
        "Thanks to everyone who read earlier drafts of this text.",
        "As I have argued elsewhere, the map was drawn twice.",
        "And I doubt that anybody read the letters at all.",
        "It is unclear whether the younger brother ever replied.",
        "This is an interesting question for later historians.",
        "Choose a value that is larger than all the others.",
        "Hardly surprising.",
        "",
    ],
)
def test_questions_headings_plans_opinions_and_what_is_of_the_text_are_none(sentence: str) -> None:
    assert not is_statement(sentence)
