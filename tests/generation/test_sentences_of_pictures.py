"""Sentences within pictures and cells of tables, which are read and checked as those of a text are."""

import pytest
from harbour_quotes import ask, context, image

from quoteweave.core.answers import Answer
from quoteweave.generation.extractive.tables.picture_statements import best_sentences

GESTURES = (
    "Return to the previous screen\nSwipe in from the left or right edges to return to the previous screen.\n"
    "Close an app\nWhen viewing recent tasks, swipe up on an app preview to close the app.\n"
    "Record screen\nKnock twice on the screen with two knuckles to start or end a screen\nrecording."
)
RULES = (
    "Timeline | The oral examination can be attempted after 18 months of study and before the 24th month.\n"
    "Penalty | The stipend of a student who fails is withheld until the end of the year."
)
PLANS = (
    "Plan | Terms | Note\nBasic | The fee is not refunded after the first lesson. | The room is cold.\n"
    "Plus | Half of the fee is refunded until the last lesson of the course. | The room is warm."
)


def asked(question: str, text: str) -> Answer:
    return ask(question, context(images=[image(None, text, layout="table", document="note.md")]))


@pytest.mark.parametrize(
    ("question", "text", "says"),
    [
        ("How do I close an app?", GESTURES, "reads, under “Close an app”, “When viewing recent tasks, swipe up"),
        ("How do I record the screen?", GESTURES, "under “Record screen”, “Knock twice on the screen"),
        ("How do I return to the previous screen?", GESTURES, "“Swipe in from the left"),
        ("When can the oral examination be attempted?", RULES, "under “Timeline”, “The oral examination can be"),
        ("What happens to the stipend of a student who fails?", RULES, "withheld"),
    ],
)
def test_each_sentence_of_a_picture_may_answer(question: str, text: str, says: str) -> None:
    answer = asked(question, text)
    assert answer.status == "answered"
    assert says in answer.text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How do I delete an app?", GESTURES),
        ("How do I record a call?", GESTURES),
        ("How do I close the search bar?", GESTURES),
        ("When was the oral examination introduced?", RULES),
        ("When can the written examination be attempted?", RULES),
        ("Who withheld the stipend of the student?", RULES),
        ("Is the fee refunded in the Gold plan?", PLANS),
    ],
)
def test_sentences_of_pictures_are_checked_as_those_of_texts(question: str, text: str) -> None:
    assert asked(question, text).status != "answered"


def test_a_sentence_has_the_name_of_what_it_stands_below_or_beside() -> None:
    (found,) = best_sentences(PLANS, {"lesson": 0.5, "cours": 0.5})[-1:]
    assert (found.above, found.text) == ("Plus", "Half of the fee is refunded until the last lesson of the course.")
    (found,) = best_sentences(GESTURES, {"knuckl": 1.0})
    assert found.above == "Record screen"
    assert found.text.endswith("to start or end a screen recording.")


def test_a_sentence_that_introduces_lines_is_given_with_them() -> None:
    text = "Courses | All the students have to read the following two courses:\n• Ethics\n• Statistics"
    (found,) = best_sentences(text, {"cours": 1.0})
    assert found.text == "All the students have to read the following two courses: • Ethics • Statistics"


def test_lines_that_are_no_sentences_are_read_together() -> None:
    cover = "The Limes Home\nReport to the board\nDate of the visit: 7 July\nTel: 01983 873655"
    (found,) = best_sentences(cover, {"lime": 0.5, "home": 0.5})
    assert found.text.startswith("The Limes Home")
    assert found.text.endswith("Tel: 01983 873655")
