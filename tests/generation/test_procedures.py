"""Steps under the heading that a question asks for, given as the list that they are."""

import asyncio
import re
from collections.abc import Sequence

import pytest
from harbour_quotes import context, quote
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.answers import Answer
from quoteweave.core.records import Layout, Query, Quote
from quoteweave.generation.extractive.generator import STEPS_GO_ON, ExtractiveGenerator

STRAP = "Replacing the strap"


def ask(question: str, quotes: Sequence[Quote]) -> Answer:
    return asyncio.run(ExtractiveGenerator().answer(Query(text=question), context(quotes)))


def step(text: str, at: int, *, section: str = STRAP, page: int = 4, layout: Layout = "paragraph") -> Quote:
    return quote(text, id=f"w:{page}:{at}", document="watch.pdf", page=page, section=section, layout=layout)


FIRST = step("1 Open the buckle of the strap.", 1)
SECOND = step("2 Push the lever inwards. It clicks.", 2)
THIRD = step("3. Align the new strap", 3)
GOES_ON = step("with the body of the watch.", 4)
REST = step("Straps of leather must not become wet.", 5)


def test_numbered_steps_come_in_their_order_whatever_the_rank_each_with_its_mark() -> None:
    answer = ask("How do I replace the strap?", [THIRD, REST, FIRST, GOES_ON, SECOND])
    assert answer.status == "answered"
    assert answer.text.splitlines() == [
        "Under “Replacing the strap” (page 5):",
        "",
        "1. Open the buckle of the strap [3].",
        "2. Push the lever inwards. It clicks [5].",
        "3. Align the new strap with the body of the watch [1, 4].",
        "",
        "This is from page 5 of watch.pdf.",
    ]
    assert [citation.number for citation in answer.citations] == [3, 5, 1, 4]


def test_a_step_that_was_not_found_is_told() -> None:
    assert "\nStep 2 was not found.\n" in ask("How do I replace the strap?", [THIRD, FIRST]).text
    fourth = step("4. Close the buckle.", 6)
    assert "\nSteps 1 and 2 were not found.\n" in ask("How do I replace the strap?", [THIRD, fourth]).text


def test_documents_that_ask_the_same_each_say_what_to_do() -> None:
    asked = "How do I reset my password?"
    names, sentences = ("mail", "shop", "forum", "copy"), ("Open Settings.", "Call the hotline.", "Press the key.")
    by = [
        quote(text, id=f"{name}:0:1", document=f"{name}.md", section=asked, has_pages=False)
        for name, text in zip(names, (*sentences, sentences[0]), strict=True)
    ]
    other = quote("The password comes by post.", document="cloud.md", section=asked, has_pages=False)
    answer = ask(asked, [*by, other])
    assert [one for one in answer.text.splitlines() if one][:4] == [
        f"Under “{asked}” of mail.md:",
        "- Open Settings [1].",
        f"Under “{asked}” of shop.md:",
        "- Call the hotline [2].",
    ]
    assert [one.document for one in answer.citations] == ["mail.md", "shop.md", "forum.md"]
    assert answer.warnings == ("Another document says something else on this: cloud.md.",)
    assert {one.document for one in ask("How do I reset my password in the forum?", by).citations} == {"forum.md"}


def test_items_of_a_list_are_steps_each() -> None:
    items = step("• Pull the old strap\noutwards.\n• Push the new one in.", 1, layout="list")
    answer = ask("How do I replace the strap?", [items])
    assert "- Pull the old strap outwards [1].\n- Push the new one in [1]." in answer.text


def test_a_line_that_introduces_steps_is_their_heading() -> None:
    quotes = [
        step("To replace the strap:", 1, section="Care"),
        step("Press the button until it clicks.", 2, section="Care"),
    ]
    assert "Under “To replace the strap” (page 5):\n\n- Press the button until it clicks [2]." in (
        ask("How can I replace the strap?", quotes).text
    )


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("To replace the strap was once possible, press the lever.", False),
        ("To replace the strap is hard, and takes an hour.", False),
        ("To replace the strap, one had to open the watch.", False),
        ("To replace the strap, one used to pull the lever.", False),
        ("To replace the strap, pull the lever that is on the back.", True),
        ("To replace the strap you pull the lever.", True),
        ("To replace the strap that is torn, pull the lever.", True),
        ("To replace the strap used to hold the watch, pull the lever.", True),
        ("To replace the strap, pull the lever; it is used to hold it.", True),
    ],
)
def test_an_aim_that_a_sentence_only_tells_of_is_no_step(text: str, answers: bool) -> None:
    assert (ask("How do I replace the strap?", [step(text, 1)]).status == "answered") == answers


@pytest.mark.parametrize(
    ("lines", "answers"),
    [
        (("1. The strap is replaced by the dealer.", "2. The buckle is of steel."), False),
        (("1. Lever", "2. Strap", "3. Cloth"), False),
        (("1. The strap was replaced in 2010.", "2. The dealer found a crack in it."), False),
        (("1. Weekly check by the dealer", "2. Monthly check by the maker"), False),
        (("1. Unbuckle the strap.", "2. The old strap falls off.", "3. The lamp goes out."), True),
        (("1. On the left, press the lever.", "2. Gently tap the pin.", "3. Refit."), True),
        (("1. The pin must be pulled.", "2. The strap must be turned."), True),
        (("1. After that, the pin is pulled.", "2. The strap is turned with care."), True),
        (("1. Die Nadel ist zu ziehen.", "2. Der Riemen wird mit der Hand gedreht."), True),
    ],
)
def test_numbered_lines_are_steps_where_they_say_what_to_do(lines: Sequence[str], answers: bool) -> None:
    quotes = [step(line, at) for at, line in enumerate(lines, start=1)]
    assert (ask("How do I replace the strap?", quotes).status == "answered") == answers


def test_a_heading_of_another_act_does_not_say_how_to_list_or_show() -> None:
    delete = [step("1 Open the strap menu.", 1, section="Delete existing straps")]
    delete += [step("2 Press the strap.", 2, section="Delete existing straps")]
    assert ask("How do I list existing straps?", delete).status == "located"
    listed = [one.model_copy(update={"section": "Listing existing straps"}) for one in delete]
    assert ask("How do I list existing straps?", listed).status == "answered"


def test_what_the_name_of_the_manual_says_need_not_stand_in_the_heading() -> None:
    own = step("Press the knob for ten seconds.", 1, section="Resetting to factory settings")
    care = step("Press the knob to clean it.", 1, section="Care", page=6)
    assert "Under “Resetting to factory settings”" in ask("How do I reset the watch?", [care, own]).text
    changed = step("Pull the strap outwards.", 1, section="Changing the strap")
    assert "Under “Changing the strap”" in ask("How do I replace the strap?", [changed]).text


def test_of_what_only_the_name_of_the_document_says_the_only_steps_are_given() -> None:
    def of(text: str, section: str, page: int) -> Quote:
        return quote(text, id=f"s:{page}:1", document="lentil-soup.md", page=page, section=section, layout="list")

    method = of("1. Chop the onions.\n2. Add the lentils.", "Method", 1)
    other = of("1. Fill the jars.\n2. Close them.", "Keeping", 2)
    assert "Under “Method”" in ask("How do I make lentil soup?", [of("2 onions", "Ingredients", 0), method]).text
    assert ask("How do I make lentil soup?", [method, other]).status != "answered"


def test_of_several_headings_the_one_that_says_what_is_asked_and_no_more_is_given() -> None:
    other = [step("Use the knuckle twice.", at, section="Take a scrolling screenshot", page=7) for at in (1, 2)]
    own = step("Press both buttons.", 1, section="Take a screenshot", page=8)
    assert "Under “Take a screenshot” (page 9)" in ask("How do I take a screenshot?", [*other, own]).text


def test_what_stands_between_two_steps_goes_with_the_first_and_steps_within_a_paragraph_are_read() -> None:
    warning = step("Warning: the spring is tense. 2 Push the lever inwards.", 2)
    answer = ask("How do I replace the strap?", [FIRST, warning, THIRD])
    assert answer.text.splitlines()[2:5] == [
        "1. Open the buckle of the strap. Warning: the spring is tense [1, 2].",
        "2. Push the lever inwards [2].",
        "3. Align the new strap [3].",
    ]


def test_a_heading_that_stands_twice_and_another_aim_begin_another_procedure() -> None:
    far = [step("1 Open the lower door.", 1, page=40), step("2 Take the strap.", 2, page=40)]
    answer = ask("How do I replace the strap?", [FIRST, SECOND, *far])
    assert [line[:2] for line in answer.text.splitlines() if line[:1].isdigit()] == ["1.", "2."]
    other = [step("To clean the strap:", 6), step("Press it into water.", 7)]
    assert "water" not in ask("How do I replace the strap?", [FIRST, SECOND, *other]).text


def test_amounts_are_no_numbers_of_steps() -> None:
    needed = step("2 eggs\n3 cups of flour\n12 V of current", 1, layout="list")
    assert "were not found" not in ask("How do I replace the strap?", [needed]).text


@pytest.mark.parametrize(
    ("question", "quotes"),
    [
        ("How do I replace the battery?", [FIRST, SECOND]),
        ("Why is the strap replaced?", [FIRST, SECOND]),
        ("How do I replace the strap?", [REST]),
        ("How do I replace the strap?", [step(FIRST.text, 1, section="Warranty")]),
        ("How do I replace the strap?", [step(FIRST.text, 1, section="If you cannot replace the strap")]),
        ("How do I not replace the strap?", [FIRST, SECOND]),
        ("How do I turn off the lamp?", [step("Press the lamp.", 1, section="Turn on the lamp")]),
        ("How do I replace the strap?", [step("• 12 34\n• 56 78", 1, layout="list")]),
    ],
    ids=[
        "another thing",
        "another kind of question",
        "nothing that is done",
        "another heading",
        "what went wrong",
        "not",
        "the opposite",
        "items",
    ],
)
def test_nothing_else_is_taken_for_steps(question: str, quotes: Sequence[Quote]) -> None:
    assert not ask(question, quotes).text.startswith("Under")


def test_a_long_procedure_is_cut_at_a_step_and_says_so() -> None:
    steps = [step(f"{at}. Turn the screw {' and the wheel' * 11}.", at) for at in range(1, 9)]
    lines = ask("How do I replace the strap?", steps).text.splitlines()
    assert [line[:2] for line in lines if line[:1].isdigit() and "more" not in line] == ["1.", "2.", "3."]
    assert "5 more steps are there." in lines


@given(st.permutations([FIRST, SECOND, THIRD, GOES_ON, REST]))
def test_the_order_in_which_quotes_are_found_changes_the_marks_alone(found: list[Quote]) -> None:
    one, other = (
        ask("How do I replace the strap?", each).text for each in (found, [FIRST, SECOND, THIRD, GOES_ON, REST])
    )
    assert re.sub(r"\[[\d, ]+\]", "[]", one) == re.sub(r"\[[\d, ]+\]", "[]", other)


MANUAL = "gauge.md"


def part(text: str, at: int, *, section: str, layout: Layout = "paragraph") -> Quote:
    return quote(text, id=f"g:0:{at}", document=MANUAL, section=section, layout=layout, has_pages=False)


def test_code_stands_under_the_step_that_it_belongs_to() -> None:
    quotes = [
        part("Fetch the newest release:", 1, section="Updating the gauge"),
        part("pier-admin fetch --newest\npier-admin verify", 2, section="Updating the gauge"),
        part("Most harbours do this in winter.", 3, section="Updating the gauge"),
        part("If the gauge runs at night, restart it with:", 4, section="Updating the gauge"),
        part("pier-admin restart", 5, section="Updating the gauge"),
    ]
    answer = ask("How do I update the gauge?", quotes)
    assert answer.status == "answered"
    assert "Most harbours" not in answer.text
    assert answer.text.split("\n\n", 1)[1].startswith(
        "- If the gauge runs at night, restart it with [4]:\n\n```\npier-admin restart\n```\n[5]"
    ) or answer.text.split("\n\n", 1)[1].startswith(
        "- Fetch the newest release [1]:\n\n```\npier-admin fetch --newest\npier-admin verify\n```\n[2]"
    )
    assert [citation.number for citation in answer.citations][-2:] == [4, 5]


def test_a_heading_with_the_words_of_two_things_names_neither() -> None:
    quotes = [
        part("Update homebrew and install the gauge:", 1, section="Update homebrew and install the gauge"),
        part("brew update\nbrew install gauge", 2, section="Update homebrew and install the gauge"),
    ]
    assert ask("How do I update the gauge?", quotes).status == "located"
    assert ask("How do I install the gauge?", quotes).status == "answered"


def test_what_are_is_answered_by_the_list_under_that_heading() -> None:
    rules = part(
        "- Each berth has an owner.\n- There is one owner at a time.", 2, section="Ownership rules", layout="list"
    )
    other = part("- Rain\n- Snow", 4, section="Weather", layout="list")
    answer = ask("What are the ownership rules?", [part("Keep these rules in mind.", 1, section="Rules"), other, rules])
    assert answer.status == "answered"
    assert "- Each berth has an owner [3].\n- There is one owner at a time [3]." in answer.text


def test_a_heading_for_one_case_does_not_answer_for_all() -> None:
    steps = [part("Run the setup program.", 1, section="Install the gauge on Windows")]
    assert ask("How do I install the gauge?", steps).status == "located"
    assert ask("How do I install the gauge on Windows?", steps).status == "answered"


def test_code_that_begins_with_a_verb_is_no_step_on_a_page() -> None:
    code = step("use std::thread;\nuse std::time;", 1, section="Starting a thread")
    words = step("To start a thread, we call spawn.", 0, section="Starting a thread")
    answer = ask("How do I start a thread?", [words, code])
    assert not answer.text.startswith("- use")
    assert "- use std" not in answer.text


def test_what_is_done_before_is_not_how_it_is_done() -> None:
    before = [part("Check the name.", 1, section="Before publishing a tide table")]
    assert ask("How do I publish a tide table?", before).status == "located"


def test_a_command_further_down_is_not_the_way_that_a_section_begins_with() -> None:
    quotes = [
        part("Most harbours read the gauge from the quay.", 1, section="Reading the gauge"),
        part("With a telescope, the gauge is seen from the hill:", 2, section="Reading the gauge"),
        part("scope --gauge", 3, section="Reading the gauge"),
    ]
    assert "Under “Reading the gauge”" not in ask("How do I read the gauge?", quotes).text


@pytest.mark.parametrize(
    ("question", "heading", "answers"),
    [
        ("How do I descale the appliance?", "Descaling", True),
        ("How do I descale the machine?", "Descaling", False),
        ("How do I descale my device?", "2. Descaling", True),
        ("How do I descale the kettle?", "Descaling", False),
        ("How do I descale the machine?", "Descaling filters", False),
        ("How do I connect the machine to the tap?", "Connecting", False),
    ],
)
def test_a_section_of_a_manual_is_about_what_the_manual_is_of(question: str, heading: str, answers: bool) -> None:
    steps = [step("1. Fill the tank.", 1, section=heading), step("2. Press the button.", 2, section=heading)]
    assert (ask(question, steps).status == "answered") == answers


def test_the_machine_is_that_of_a_manual_which_alone_was_found_and_calls_it_so() -> None:
    steps = [step("1. Empty the machine.", 1, section="Cleaning"), step("2. Press Start.", 2, section="Cleaning")]
    other = quote("The coffee machine is on page 3.", document="coffee.pdf", page=3)
    assert ask("How do I clean the machine?", steps).status == "answered"
    assert ask("How do I clean the machine?", [*steps, other]).status == "located"


@pytest.mark.parametrize(
    ("first", "second", "lacks"),
    [
        ("\x99 Open the buckle \x99 Push the lever", "or, never, cut the strap with a knife", "never"),
        ("\x99 Open the buckle \x99 Push the lever and", "never cut the strap with a knife", "never"),
        ("\x99 Open the buckle \x99 Push the lever", "www.harbour.org has more on straps", "www"),
    ],
)
def test_a_paragraph_that_is_no_end_of_an_item_is_no_part_of_it(first: str, second: str, lacks: str) -> None:
    answer = ask("How do I replace the strap?", [step(first, 1), step(second, 2)])
    assert lacks not in answer.text or answer.status != "answered"


def test_what_stands_before_the_first_bullet_is_not_lost() -> None:
    answer = ask("How do I replace the strap?", [step("Open the buckle \uf0b7 Push the lever \uf0b7 Close it", 1)])
    assert answer.status != "answered" or "Open the buckle" in answer.text


def test_bullets_of_a_symbol_font_are_items_that_go_on_in_the_next_paragraph() -> None:
    first = step("\x99 Open the buckle \x99 Push the lever with", 1)
    second = step("the small tool \x99 Align the strap, if it is new", 2)
    answer = ask("How do I replace the strap?", [first, second, step("Straps of leather are dear.", 3)])
    assert answer.text.splitlines()[2:5] == [
        "- Open the buckle [1].",
        "- Push the lever with the small tool [1, 2].",
        "- Align the strap, if it is new [2].",
    ]


@pytest.mark.parametrize("cut", [True, False])
def test_steps_of_a_section_that_has_more_than_was_found_may_go_on(cut: bool) -> None:
    own = [step(f"Push lever {at} inwards.", at) for at in range(8)]
    given = context(own).model_copy(update={"cut_sections": (own[7].id,) if cut else ()})
    answer = asyncio.run(ExtractiveGenerator().answer(Query(text="How do I replace the strap?"), given))
    assert (answer.status, STEPS_GO_ON in answer.warnings) == ("answered", cut)


@pytest.mark.parametrize(
    ("question", "heading", "answers"),
    [
        ("How do I switch off the lamp?", "Switch off the alarm", False),
        ("How do I switch off the lamp?", "Switching the lamp off", True),
        ("How do I switch off the lamp?", "3. Switching off", True),
        ("How do I switch off the lamp?", "Switching off manually", True),
        ("How do I clean the lamp?", "Cleaning the shade", False),
        ("How do I clean the lamp?", "Cleaning tips", True),
        ("How do I clean the lamp?", "Cleaning and storing the shade", False),
        ("How do I clean the shade?", "Clean the base and the shade", True),
        ("How do I replace the shade?", "Replace the shade holder", False),
        ("How do I replace the holder?", "Replace the shade holder", True),
        ("How do I change the language?", "Change the language settings", True),
        ("How do I start the lamp?", "Start the program", True),
        ("How do I start the lamp machine?", "2.1 Start lamp machine", True),
        ("How do I remove pictures?", "Remove notes", False),
        ("How do I remove the tables?", "Remove notes", False),
        ("How do I remove pictures?", "Remove the pictures", True),
        ("How do I change the title?", "Change the title", True),
        ("How do I change the title?", "Change the colour", False),
    ],
)
def test_steps_for_another_thing_do_not_answer(question: str, heading: str, answers: bool) -> None:
    lines = enumerate(["1. Hold the key.", "2. Press Start."])
    steps = [quote(text, id=f"l:{at}", document="lamp.md", section=heading) for at, text in lines]
    answer = ask(question, steps)
    assert (answer.status == "answered") == answers
    assert answers or "Under" not in answer.text
