"""Sentences with the words of an answer that are none: prohibitions, statements about other things, a height."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from harbour_quotes import context, quote

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Answer
from quoteweave.core.records import Query, Quote
from quoteweave.documents.ingest import add
from quoteweave.generation.extractive.generator import ExtractiveGenerator
from quoteweave.pipeline.rag import Rag
from quoteweave.pipeline.search import Search
from quoteweave.retrievers.lexical import LexicalRetriever

LISTED = "- Open the winch while it is hot.\n- Unplug the pump to reset the alarm."
OPEN = "How do I open the winch?"


def ask(question: str, quotes: Sequence[Quote | str]) -> Answer:
    return asyncio.run(ExtractiveGenerator().answer(Query(text=question), context(quotes)))


def ask_file(folder: Path, introducing: str, question: str, heading: str = "Care") -> Answer:
    path = folder / "quay.md"
    path.write_text(f"# Quay\n\n## {heading}\n\n{introducing}\n\n{LISTED}\n\nThe winch is old.\n", "utf-8")
    with Collection.create(folder / "made") as made:
        add(made, [path])
        return Rag(Search(LexicalRetriever(made), collection=made), ExtractiveGenerator()).answer(question)


@pytest.mark.parametrize(
    "introducing",
    [
        "Never do any of the following:",
        "When the quay is wet, you must not do these things:",
        "Things to avoid:",
        "The crew does not do the following:",
        "Folgendes ist nie zu tun:",
    ],
)
def test_what_a_list_prohibits_is_shown_with_its_prohibition_alone(tmp_path: Path, introducing: str) -> None:
    answer = ask_file(tmp_path, introducing, OPEN)
    assert answer.status == "located"
    assert 0 <= answer.text.find(introducing) < answer.text.find("Open the winch")


@pytest.mark.parametrize(
    "introducing",
    [
        "Do the following:",
        "If the pump does not start, do the following:",
        "To avoid burns, do the following:",
        "Skippers who have no key do the following:",
    ],
)
def test_a_condition_prohibits_nothing(tmp_path: Path, introducing: str) -> None:
    answer = ask_file(tmp_path, introducing, OPEN)
    assert answer.status == "answered"
    assert "Open the winch while it is hot [" in answer.text


def test_what_a_list_prohibits_is_no_step(tmp_path: Path) -> None:
    assert ask_file(tmp_path, "Never do any of the following:", OPEN, "Opening the winch").status == "located"


@pytest.mark.parametrize("section", ["Care", "Opening the winch"])
def test_what_is_prohibited_within_one_quote_is_shown_with_its_prohibition_alone(section: str) -> None:
    listed = quote(f"Never do any of the following:\n{LISTED}", section=section, layout="list")
    answer = ask(OPEN, [listed])
    assert answer.status == "located"
    assert 0 <= answer.text.find("Never do any") < answer.text.find("Open the winch")


DENYING = ["What you must not do", "5 mistakes to avoid", "Don’ts", "2.1 Prohibited uses", "Was man nie tun darf"]
NOT_DENYING = ["Do not panic", "If the winch does not open", "How to avoid burns", "Dos and don'ts", "No winch"]


@pytest.mark.parametrize("section", DENYING)
@pytest.mark.parametrize("question", [OPEN, "Can I open the winch while it is hot?"])
def test_what_a_heading_prohibits_is_shown_under_it_alone(section: str, question: str) -> None:
    answer = ask(question, [quote(LISTED, section=section, layout="list")])
    assert answer.status == "located"
    assert 0 <= answer.text.find(f"under “{section}”") < answer.text.find("Open the winch")


@pytest.mark.parametrize("section", NOT_DENYING)
def test_a_heading_that_denies_something_else_prohibits_nothing(section: str) -> None:
    assert ask(OPEN, [quote(LISTED, section=section, layout="list")]).status == "answered"


def test_a_sentence_under_a_heading_that_prohibits_answers_where_it_says_so_itself() -> None:
    told = quote("You must never open the winch by night.", section="What you must not do")
    assert ask("Can I open the winch by night?", [told]).status == "answered"


NEVER = "Never do any of the following:"


@pytest.mark.parametrize("question", ["What must never be done?", "Was darf man nicht tun?"])
def test_what_must_not_be_done_is_answered_by_the_list_of_it(tmp_path: Path, question: str) -> None:
    answer = ask_file(tmp_path, "Never do (nicht tun) any of the following:", question)
    assert answer.status == "answered"
    marks = [citation.mark for citation in answer.citations]
    assert len(marks) == 3
    assert (
        f"- Open the winch while it is hot {marks[1]}.\n- Unplug the pump to reset the alarm {marks[2]}." in answer.text
    )


def test_of_a_list_of_prohibitions_only_items_on_the_subject_are_given() -> None:
    listed = quote(f"{NEVER}\n{LISTED}", section="Care", layout="list")
    answer = ask("What must never be done with the pump?", [listed])
    assert answer.status == "answered"
    assert "Unplug the pump" in answer.text
    assert "winch" not in answer.text
    assert ask("What must never be done with the crane?", [listed]).status != "answered"


def test_the_list_under_a_heading_that_prohibits_answers_what_is_prohibited() -> None:
    listed = quote(LISTED, section="What you must not do", layout="list")
    answer = ask("What must I never do?", [listed])
    assert answer.status == "answered"
    assert answer.text.startswith("Under “What you must not do” (page 1):\n\n- Open the winch while it is hot [1].")


@pytest.mark.parametrize("question", ["What may be done with the pump?", "What do I do if the pump does not start?"])
def test_a_question_for_what_is_allowed_is_not_answered_by_prohibitions(question: str) -> None:
    assert ask(question, [quote(f"{NEVER}\n{LISTED}", section="Care", layout="list")]).status != "answered"


def test_what_is_not_denied_answers_no_question_for_what_is() -> None:
    told = "The harbour fund covers storms of any kind."
    assert ask("What does the harbour fund not cover?", [told]).status == "located"
    denied = "The harbour fund does not cover storms in May."
    assert ask("What does the harbour fund not cover?", [denied]).status == "answered"


def test_a_denial_in_another_clause_denies_nothing_that_is_asked() -> None:
    told = "Use the harbour crane by night only when the hook is sound, and when it does not rain."
    assert ask("What must not be used by night in the harbour?", [told]).status == "located"
    denied = "The harbour crane must not be used by night."
    assert ask("What must not be used by night in the harbour?", [denied]).status == "answered"


def test_an_owner_is_no_place_and_an_address_is_one() -> None:
    question = "Where is the harbour statement?"
    assert ask(question, ["Give guests a copy of Merrow's harbour statement."]).status == "located"
    assert ask(question, ["The harbour statement is at https://merrow.example/statement."]).status == "answered"


MIRROR = "The mirror was made in 1901. It was broken in 1950 by Anna. The lens was not. "


@pytest.mark.parametrize(
    ("question", "last"),
    [
        ("When was the mirror sold?", "It was sold in 1960 to Bert."),
        (
            "How much was paid for the mirror at the harbour auction?",
            "It was paid with 40 euros at the harbour auction.",
        ),
    ],
)
def test_a_heading_does_not_say_what_it_stands_for(question: str, last: str) -> None:
    assert ask(question, [quote(MIRROR + last, section="The mirror")]).status == "located"
    of_mirror = quote(f"The lens was kept. The mirror was not. {last}", section="The lens")
    assert ask(question, [of_mirror]).status == "answered"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("The ridge is 900 m high and stands behind the village.", "located"),
        ("The 900-metre-high ridge stands behind the village.", "located"),
        ("The ridge behind the village is nine hundred metres wide.", "located"),
        ("The ridge is 900 m high and 4 km from the village.", "answered"),
    ],
)
def test_a_height_or_width_is_no_distance(text: str, status: str) -> None:
    assert ask("How far is the village from the ridge?", [text]).status == status
