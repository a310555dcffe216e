"""Statements with all words of a question that tell of another act, and those that tell of it in another form."""

import asyncio

import pytest
from harbour_quotes import context

from quoteweave.core.answers import Answer
from quoteweave.core.records import Query
from quoteweave.generation.extractive.generator import ExtractiveGenerator


def ask(question: str, *texts: str) -> Answer:
    return asyncio.run(ExtractiveGenerator().answer(Query(text=question), context(texts)))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Can I use the crane while loading?", "The crane can be loaded from the quay using the supplied hook."),
        ("Can I use the crane while loading?", "If the crane is not used for a month, loading may take longer."),
        ("Can the crane be used without a licence?", "The use of a licence is common, and the crane is red."),
        ("Do pilots approve of the crane?", "Only a quarter of all visitors approved of the crane."),
        ("When was the survey conducted?", "Surveys conducted in December 2015 and in January 2014."),
        ("What training do pilots receive?", "The failure to ensure that pilots received training was a breach."),
        ("What trips are offered to guests?", "We asked whether trips were offered to guests on Sundays."),
        ("Which key opens the lock gate?", "To open the lock gate you have to press a key or key combination."),
    ],
)
def test_another_act_does_not_answer(question: str, text: str) -> None:
    assert ask(question, text).status != "answered"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What must be in the harbour log?", "The harbour log must list each ship and its berth."),
        ("When must the permit be submitted?", "The permit must be submitted by 3 May 2020."),
        ("When must the permit be submitted?", "A permit, submitted no later than 3 May 2020, is valid for a year."),
        ("Can I use the crane while loading?", "You can use the crane while loading a ship."),
        ("Can I use the crane while loading?", "The crane can be used while loading."),
        ("Can I replace the crane battery?", "The battery of the crane is replaceable by the maker."),
        ("Can the crane be used without a licence?", "The use of the crane without a licence is forbidden."),
        ("Can the crane be used without a licence?", "The crane may be used without a licence."),
        ("Do pilots approve of the crane?", "Most pilots approve of the crane."),
        ("Does the ferry carry cars?", "Cars are carried by the ferry."),
        ("May I sell copies of the map?", "If you honour the rules, it is allowed to sell copies of the map."),
        ("Are ships built in parallel?", "Ships are always built in parallel at the yard."),
        ("What fees were declared?", "The fees declared were a berth fee and a crane fee."),
        ("How are berths allotted?", "Berths are allotted by the harbour master in the order of arrival."),
        ("How are berths allotted?", "The harbour master allots berths by the length of the ship."),
        ("When was the special fee paid?", "The special fee was paid on 3 May 2021."),
        ("When was the special fee paid?", "In May 2021, the special fee was paid to the port."),
        ("When was the survey conducted?", "The survey was conducted in December 2015."),
        ("Which key opens the lock gate?", "The F2 key opens the lock gate."),
        ("Which file opens the lock gate?", "Any file named Override.xml opens the lock gate."),
        (
            "What must ships do after passing the lock?",
            "After passing or mooring at the lock, ships MUST sound the horn.",
        ),
        ("Is the ferry faster than the train?", "The ferry is faster than the train on most days."),
        ("Can the crane be used in fog?", "All who are using a berth must wait; the crane does not work in fog."),
        ("Which lock is the default?", "The western lock is the default lock."),
        ("Can a berth hold two ships?", "A berth should not normally hold two ships."),
        ("How were samples analysed?", "We analysed samples with a mass spectrometer."),
        ("How was the network trained?", "The authors trained the network for 30 epochs with Adam."),
        ("What was the conclusion of the study?", "The conclusion of the study is that ships can enter at any tide."),
        ("What was the price of the crane?", "The price of the crane is 400 euros, which can go up."),
        ("When must the annual fee be paid?", "Members pay the annual fee by 31 March."),
        ("What must the application form contain?", "The application form contains the name and the address."),
        ("Must boats be registered?", "Owners register their boats at the office."),
        ("When was the bridge repaired?", "In 2019, there was a flood, and the town repaired the bridge."),
        ("Which study found mercury in the harbour?", "A study by Ada Brask found mercury in the harbour."),
        ("Is oak harder than ash?", "Next to ash, no wood of the yard is harder than oak."),
        ("Did the council approve the budget?", "Approval of the budget by the council came in May."),
        (
            "Is a refund given for returned tickets?",
            "A refund is given if the ticket is returned within 14 days.",
        ),
    ],
)
def test_the_act_in_another_form_answers(question: str, text: str) -> None:
    assert ask(question, text).status == "answered"


@pytest.mark.parametrize(
    ("question", "says", "does_not"),
    [
        (
            "What dividends were declared?",
            "In 2020 dividends of 3 euros a share were declared.",
            "Payment of dividends is subject to declaration by the board.",
        ),
        (
            "How are clusters summarized?",
            "We summarize each cluster with a language model.",
            "These summarized texts are then embedded, and the cycle of clusters goes on.",
        ),
        (
            "How are clusters summarized?",
            "Clusters are summarized by a language model.",
            "For the tree, we used our usual clustering and summarization process.",
        ),
        (
            "When must the thesis be submitted?",
            "The thesis must be submitted once the results are known.",
            "Candidates have to log in once the thesis is ready for submission.",
        ),
        (
            "Do members approve of the chairman?",
            "Most members approve of the chairman.",
            "The members know the approval rating of the chairman, which is more polarized than any before.",
        ),
    ],
)
def test_the_act_is_said_by_a_verb(question: str, says: str, does_not: str) -> None:
    assert ask(question, says).status == "answered"
    assert ask(question, does_not).status != "answered"


def test_dates_of_several_are_not_that_of_one() -> None:
    one = "Source: Survey of sailors conducted Oct. 21, 2015"
    assert ask("When was the survey conducted?", f"{one}.").status == "answered"
    several = f"{one}; surveys conducted Dec. 8, 2015, and Oct. 9, 2008."
    assert ask("When was the survey conducted?", several).status == "located"
    others = "The survey was conducted on 21 October 2015; the surveys of 2008 were larger."
    assert ask("When was the survey conducted?", others).status == "answered"


def test_an_entry_of_a_list_of_references_answers_nothing() -> None:
    entry = "(162) I. Holm, “Evaluating boats part i: How to evaluate sails of boats,” https://example.org/boats, 2023."
    assert ask("How are boats evaluated?", entry).status == "located"
